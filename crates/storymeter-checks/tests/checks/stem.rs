//! The stemmers on every word of the shared stories, against the programs that they follow
//! (`tools/stem_fixture.py`).

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};

use flate2::read::GzDecoder;
use storymeter_checks::{Result, shared};
use storymeter_text::stem::{porter, porter2};

/// Every run of ASCII letters, digits and apostrophes, in lower case.
fn words() -> Result<BTreeSet<String>> {
    let mut words = BTreeSet::new();
    for file in
        ["annotated/hanna/stories_first48.jsonl.gz", "roc/stories.tsv.gz", "long/stories.jsonl.gz"]
    {
        let file = File::open(shared(&format!("data/{file}"))?)?;
        for line in BufReader::new(GzDecoder::new(file)).lines() {
            let line = line?.to_lowercase();
            for word in line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '\'')) {
                if !words.contains(word) {
                    words.insert(word.to_owned());
                }
            }
        }
    }
    words.remove("");
    Ok(words)
}

/// The FNV-1a hash of all lines.
fn checksum(lines: impl Iterator<Item = String>) -> u64 {
    let bytes = lines.flat_map(|line| (line + "\n").into_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

fn every_word_has_the_stem_the_peers_give_it() -> Result {
    let words = words()?;
    let plain = || words.iter().filter(|word| !word.contains('\''));
    let ours = [
        ("rouge", plain().count(), checksum(plain().map(|word| porter::rouge(word)))),
        ("nltk", words.len(), checksum(words.iter().map(|word| porter::nltk(word)))),
        ("porter2", words.len(), checksum(words.iter().map(|word| porter2::stem(word)))),
    ];
    let lines: Vec<String> =
        ours.iter().map(|(name, count, sum)| format!("{name} {count} {sum:016x}")).collect();
    let theirs: Vec<&str> = include_str!("../fixtures/stems.txt").lines().skip(1).collect();
    assert_eq!(lines, theirs);
    Ok(())
}

storymeter_checks::checks!(every_word_has_the_stem_the_peers_give_it,);
