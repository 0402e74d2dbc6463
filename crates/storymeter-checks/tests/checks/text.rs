//! Splitter, tokeniser and tagger on the shared data.

#[path = "../../../storymeter-text/examples/support/tagged.rs"]
mod tagged;

use std::io::{BufRead, BufReader};

use flate2::read::MultiGzDecoder;
use storymeter_checks::{Result, shared};
use storymeter_text::tagger::Tagger;
use storymeter_text::{sentence, treebank};

/// Tags a file, prints the result, and returns the percentage of right tags in the text as written
/// and in lower case.
fn accuracy(file: &str) -> Result<(f64, f64)> {
    let sentences = tagged::read(&shared(file)?).unwrap_or_else(|e| panic!("{e}"));
    let tagger = Tagger::embedded();
    let score = tagged::evaluate(tagger, &sentences, 5);
    let lower = tagged::evaluate(tagger, &tagged::lower_cased(&sentences), 1);
    println!(
        "{file}: {:.2}% of {} tags right, {:.2}% lower-cased; {:.0} tokens per second",
        score.percent(),
        score.total,
        lower.percent(),
        score.speed()
    );
    Ok((score.percent(), lower.percent()))
}

fn the_tagger_holds_its_bars() -> Result {
    // The file, and the least percentage of right tags as written and in lower case.
    for (file, bar, lower_bar) in [
        ("data/pos/ewt_test.tsv.gz", 93.5, 92.0),
        ("data/pos/gum_fiction.tsv.gz", 91.0, 90.0),
        ("data/pos/gum_test.tsv.gz", 90.0, 88.0),
    ] {
        let (percent, lower) = accuracy(file)?;
        assert!(percent >= bar, "{file}: {percent:.2}% is below {bar}%");
        assert!(lower >= lower_bar, "{file}, lower-cased: {lower:.2}% is below {lower_bar}%");
    }
    Ok(())
}

fn stories_joined_from_five_sentences_are_split_into_them_again() -> Result {
    let path = shared("data/roc/stories.tsv.gz")?;
    let file = std::fs::File::open(&path)?;
    let (mut stories, mut same, mut tokens) = (0, 0, 0);
    for line in BufReader::new(MultiGzDecoder::new(file)).lines().skip(1) {
        let line = line?;
        let sentences: Vec<&str> = line.split('\t').skip(1).map(str::trim).collect();
        let text = sentences.join(" ");
        let spans = sentence::split(&text);
        stories += 1;
        same += usize::from(spans.iter().map(|s| s.of(&text)).eq(sentences.iter().copied()));
        for span in spans {
            let found = treebank::tokenize_sentence(&text, span);
            tokens += found.len();
            let length: usize = found.iter().map(|t| t.span.len()).sum();
            let written = span
                .of(&text)
                .chars()
                .filter(|c| !c.is_whitespace())
                .map(char::len_utf8)
                .sum::<usize>();
            assert_eq!(length, written, "tokens must cover {:?}", span.of(&text));
        }
    }
    let share = 100.0 * same as f64 / stories as f64;
    println!(
        "{same} of {stories} stories split into their five sentences ({share:.2}%); {tokens} tokens"
    );
    assert_eq!(stories, 60_802);
    assert!(share >= 95.0, "only {share:.2}% of the stories are split into their five sentences");
    Ok(())
}

storymeter_checks::checks!(
    the_tagger_holds_its_bars,
    stories_joined_from_five_sentences_are_split_into_them_again,
);
