//! Compiles WordNet 3.0 and a table of newer antonyms to the lexicon the crate embeds.
//!
//! ```text
//! cargo run --release -p storymeter-text --example build_lexicon -- \
//!     /usr/share/wordnet oewn_antonyms.tsv
//! ```
//!
//! The first argument is the folder of WordNet's database (`index.*`, `data.*`, `*.exc`,
//! `cntlist.rev`; the Debian package `wordnet-base` has it). The second has lines `lemma TAB
//! antonym TAB pos` (n, v, a, s or r), taken from Open English WordNet. The third, optional, is
//! where to write; default: the crate's `data/lexicon.bin`. The layout is described in
//! `storymeter_text::lexicon::format`. The same input gives the same bytes.
#![allow(clippy::print_stdout)]

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use storymeter_text::lexicon::format::{HEADER_BYTES, MAGIC, fold_sign, hash, write_varint};

/// The suffixes of the database files, in the order of `PartOfSpeech`.
const PARTS: [&str; 4] = ["noun", "verb", "adj", "adv"];

type Synset = (usize, String);

#[derive(Default)]
struct Lemma {
    /// In WordNet's order: most usual sense first.
    senses: Vec<Synset>,
    /// (rank of the sense, antonym); newer antonyms follow WordNet's.
    antonyms: Vec<(usize, String)>,
    /// How often each of the senses is counted, in their order.
    counts: Vec<u32>,
    /// How often the lemma is counted, with senses that WordNet 3.0 no longer has.
    uses: u32,
}

#[derive(Default)]
struct Word {
    lemmas: [Option<Lemma>; 4],
    exceptions: [Vec<String>; 4],
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (wordnet, antonyms) = match arguments.as_slice() {
        [wordnet, antonyms, ..] => (Path::new(wordnet), Path::new(antonyms)),
        _ => return Err("usage: build_lexicon WORDNET_FOLDER ANTONYMS_TSV [OUTPUT]".into()),
    };
    let output = arguments.get(2).map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("data/lexicon.bin"),
        |path| PathBuf::from(path.as_str()),
    );

    let mut words = BTreeMap::new();
    for part in 0..4 {
        read_index(&mut words, wordnet, part)?;
        read_exceptions(&mut words, wordnet, part)?;
    }
    read_counts(&mut words, wordnet)?;
    for part in 0..4 {
        read_antonyms(&mut words, wordnet, part)?;
    }
    read_newer_antonyms(&mut words, antonyms)?;

    let bytes = encode(&words)?;
    fs::write(&output, &bytes)?;
    let antonym_pairs: usize = words
        .values()
        .flat_map(|word| word.lemmas.iter().flatten())
        .map(|lemma| lemma.antonyms.len())
        .sum();
    println!(
        "{}: {} words, {} antonyms, {} bytes",
        output.display(),
        words.len(),
        antonym_pairs,
        bytes.len()
    );
    Ok(())
}

/// The spelling of a single-word lemma in the lexicon; `None` for a phrase.
fn single_word(lemma: &str) -> Option<String> {
    // Adjectives carry their syntactic position: "galore(ip)".
    let lemma = lemma.split('(').next().unwrap_or(lemma);
    let usable = !lemma.is_empty() && lemma.len() < 256 && !lemma.contains(['_', ' ']);
    usable.then(|| lemma.to_lowercase())
}

/// Lines of a WordNet file, without the licence at its head (lines that begin with a space).
fn read_lines(wordnet: &Path, name: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let path = wordnet.join(name);
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(text.lines().filter(|line| !line.starts_with(' ')).map(str::to_owned).collect())
}

/// `lemma pos synset_cnt p_cnt [ptr_symbol...] sense_cnt tagsense_cnt synset_offset...`
fn read_index(
    words: &mut BTreeMap<String, Word>,
    wordnet: &Path,
    part: usize,
) -> Result<(), Box<dyn Error>> {
    for line in read_lines(wordnet, &format!("index.{}", PARTS[part]))? {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let Some(word) = single_word(fields[0]) else { continue };
        let senses: usize = fields[2].parse()?;
        let lemma = words.entry(word).or_default().lemmas[part].get_or_insert_default();
        lemma.senses =
            fields[fields.len() - senses..].iter().map(|&at| (part, at.to_owned())).collect();
        lemma.counts = vec![0; senses];
    }
    Ok(())
}

/// `inflected_form base_form...`
fn read_exceptions(
    words: &mut BTreeMap<String, Word>,
    wordnet: &Path,
    part: usize,
) -> Result<(), Box<dyn Error>> {
    for line in read_lines(wordnet, &format!("{}.exc", PARTS[part]))? {
        let mut forms = line.split_whitespace().filter_map(single_word);
        let Some(form) = forms.next() else { continue };
        for lemma in forms {
            let known = words.get(&lemma).is_some_and(|word| word.lemmas[part].is_some());
            if known && lemma != form {
                let exceptions = &mut words.entry(form.clone()).or_default().exceptions[part];
                if !exceptions.contains(&lemma) {
                    exceptions.push(lemma);
                }
            }
        }
    }
    Ok(())
}

/// `sense_key sense_number tag_cnt`, where a sense key is
/// `lemma%ss_type:lex_filenum:lex_id:head_word:head_id`.
///
/// The sense is found by its key. The sense number will not do: `cntlist.rev` still counts senses
/// of earlier versions of WordNet, and after such a sense its numbers are not those of the index.
/// A key that WordNet 3.0 does not have adds to the uses of the lemma only.
fn read_counts(words: &mut BTreeMap<String, Word>, wordnet: &Path) -> Result<(), Box<dyn Error>> {
    let keys = read_sense_keys(wordnet)?;
    let (mut all, mut found) = (0, 0);
    for line in read_lines(wordnet, "cntlist.rev")? {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let Some((lemma, rest)) = fields[0].split_once('%') else { continue };
        let part = match &rest[..1] {
            "1" => 0,
            "2" => 1,
            "4" => 3,
            _ => 2,
        };
        let (number, count): (usize, u32) = (fields[1].parse()?, fields[2].parse()?);
        let Some(lemma) = words.get_mut(lemma).and_then(|word| word.lemmas[part].as_mut()) else {
            continue;
        };
        lemma.uses += count;
        all += count;
        let synsets = keys.get(&without_positions(fields[0])).map_or(&[][..], Vec::as_slice);
        let mut ranks = synsets
            .iter()
            .filter_map(|synset| lemma.senses.iter().position(|sense| sense == synset));
        // Spellings that differ in capitals only may have the same key. The number decides.
        let rank = ranks.clone().find(|rank| rank + 1 == number).or_else(|| ranks.next());
        if let Some(rank) = rank {
            lemma.counts[rank] += count;
            found += count;
        }
    }
    println!("{found} of {all} counted uses of single words belong to a sense of WordNet 3.0");
    Ok(())
}

/// The synsets of every sense key of the database.
fn read_sense_keys(wordnet: &Path) -> Result<BTreeMap<String, Vec<Synset>>, Box<dyn Error>> {
    let mut keys: BTreeMap<String, Vec<Synset>> = BTreeMap::new();
    for (part, name) in PARTS.iter().enumerate() {
        let lines = read_lines(wordnet, &format!("data.{name}"))?;
        let places: BTreeMap<&str, &str> = lines.iter().map(|line| (&line[..8], &**line)).collect();
        for line in &lines {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let kind = 1 + "nvars".find(fields[2]).ok_or("an unknown kind of synset")?;
            // The key of a satellite adjective ends with the first word of its head.
            let head = if fields[2] == "s" {
                let similar = fields.iter().position(|field| *field == "&");
                let place = similar.and_then(|at| fields.get(at + 1));
                let head = place.and_then(|place| places.get(place)).ok_or("no head")?;
                let head: Vec<&str> = head.split_whitespace().skip(4).take(2).collect();
                format!("{}:{:02}", head[0], u8::from_str_radix(head[1], 16)?)
            } else {
                ":".to_owned()
            };
            for (i, member) in members(line)?.into_iter().enumerate() {
                let id = u8::from_str_radix(fields[5 + 2 * i], 16)?;
                let key = format!("{member}%{kind}:{}:{id:02}:{head}", fields[1]).to_lowercase();
                keys.entry(without_positions(&key)).or_default().push((part, line[..8].to_owned()));
            }
        }
    }
    Ok(keys)
}

/// A sense key without the syntactic positions of adjectives: "only%5:00:00:single(a):00". The two
/// files do not always agree on them.
fn without_positions(key: &str) -> String {
    ["(a)", "(p)", "(ip)"].iter().fold(key.to_owned(), |key, position| key.replace(position, ""))
}

/// `offset lex_filenum ss_type w_cnt (word lex_id)... p_cnt (symbol offset pos source/target)... |
/// gloss`
fn read_antonyms(
    words: &mut BTreeMap<String, Word>,
    wordnet: &Path,
    part: usize,
) -> Result<(), Box<dyn Error>> {
    let lines = read_lines(wordnet, &format!("data.{}", PARTS[part]))?;
    let members: BTreeMap<&str, Vec<&str>> = lines
        .iter()
        .map(|line| Ok((&line[..8], members(line)?)))
        .collect::<Result<_, Box<dyn Error>>>()?;
    for line in &lines {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let own = &members[&line[..8]];
        let pointers_at = 4 + 2 * own.len();
        let pointers: usize = fields[pointers_at].parse()?;
        for pointer in fields[pointers_at + 1..][..4 * pointers].chunks_exact(4) {
            if pointer[0] != "!" {
                continue;
            }
            // Antonymy holds between words: two hexadecimal digits each for source and target.
            let source = usize::from_str_radix(&pointer[3][..2], 16)?;
            let target = usize::from_str_radix(&pointer[3][2..], 16)?;
            let (Some(source), Some(target)) =
                (single_word(own[source - 1]), single_word(members[pointer[1]][target - 1]))
            else {
                continue;
            };
            let lemma = words.get_mut(&source).and_then(|word| word.lemmas[part].as_mut());
            let lemma = lemma
                .ok_or_else(|| format!("{source} is in data.{0} but not index.{0}", PARTS[part]))?;
            let rank =
                lemma.senses.iter().position(|(_, at)| *at == line[..8]).unwrap_or(usize::MAX);
            lemma.antonyms.push((rank, target));
        }
    }
    Ok(())
}

fn members(line: &str) -> Result<Vec<&str>, Box<dyn Error>> {
    let mut fields = line.split_whitespace().skip(3);
    let count = usize::from_str_radix(fields.next().ok_or("a synset without words")?, 16)?;
    Ok(fields.step_by(2).take(count).collect())
}

fn read_newer_antonyms(
    words: &mut BTreeMap<String, Word>,
    path: &Path,
) -> Result<(), Box<dyn Error>> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[lemma, antonym, part] = fields.as_slice() else {
            return Err(format!("{}: not three fields: {line}", path.display()).into());
        };
        let part = match part {
            "n" => 0,
            "v" => 1,
            "a" | "s" => 2,
            "r" => 3,
            _ => return Err(format!("{}: unknown part of speech: {line}", path.display()).into()),
        };
        let (Some(lemma), Some(antonym)) = (single_word(lemma), single_word(antonym)) else {
            continue;
        };
        words.entry(antonym.clone()).or_default().lemmas[part].get_or_insert_default();
        let lemma = words.entry(lemma).or_default().lemmas[part].get_or_insert_default();
        if lemma.antonyms.iter().all(|(_, known)| *known != antonym) {
            lemma.antonyms.push((usize::MAX, antonym));
        }
    }
    for lemma in words.values_mut().flat_map(|word| word.lemmas.iter_mut().flatten()) {
        lemma.antonyms.sort();
        let mut seen = BTreeSet::new();
        lemma.antonyms.retain(|(_, antonym)| seen.insert(antonym.clone()));
    }
    Ok(())
}

/// Numbers the synsets: first those that several words share, each group in database order.
fn number_synsets(words: &BTreeMap<String, Word>) -> (BTreeMap<&Synset, u32>, Vec<Vec<&str>>) {
    let mut members: BTreeMap<&Synset, Vec<&str>> = BTreeMap::new();
    for (word, lemma) in
        words.iter().flat_map(|(word, w)| w.lemmas.iter().flatten().map(move |l| (word, l)))
    {
        for synset in &lemma.senses {
            members.entry(synset).or_default().push(word);
        }
    }
    let (shared, alone): (Vec<_>, Vec<_>) =
        members.into_iter().partition(|(_, members)| members.len() > 1);
    let numbers = shared
        .iter()
        .chain(&alone)
        .enumerate()
        .map(|(i, (synset, _))| (*synset, i as u32))
        .collect();
    (numbers, shared.into_iter().map(|(_, members)| members).collect())
}

fn encode(words: &BTreeMap<String, Word>) -> Result<Vec<u8>, Box<dyn Error>> {
    let (numbers, shared) = number_synsets(words);
    // The length of a record depends on the places that it refers to, so this repeats until no
    // record moves.
    let mut places: BTreeMap<&str, u32> = words.keys().map(|word| (word.as_str(), 0)).collect();
    let mut out;
    loop {
        out = Vec::from(MAGIC);
        out.resize(HEADER_BYTES, 0);
        let mut moved = false;
        for (word, content) in words {
            let place = out.len() as u32;
            moved |= places.insert(word, place) != Some(place);
            encode_record(&mut out, word, content, &numbers, &places);
        }
        if !moved {
            break;
        }
    }

    let synsets_at = out.len();
    let mut lists = Vec::new();
    for members in &shared {
        let list_at = synsets_at + 3 * shared.len() + lists.len();
        out.extend(&(list_at as u32).to_le_bytes()[..3]);
        write_records(&mut lists, members.iter().copied(), &places);
    }
    out.extend(lists);

    let slots_at = out.len();
    let slots = (words.len() * 3 / 2).next_power_of_two();
    let mut table = vec![0u32; slots];
    for (word, &place) in &places {
        let mut slot = hash(word) as usize & (slots - 1);
        while table[slot] != 0 {
            slot = (slot + 1) & (slots - 1);
        }
        table[slot] = place;
    }
    for place in table {
        out.extend(&place.to_le_bytes()[..3]);
    }
    if out.len() >= 1 << 24 {
        return Err("the lexicon outgrew places of three bytes".into());
    }
    for (field, value) in [slots, shared.len(), slots_at, synsets_at].into_iter().enumerate() {
        out[MAGIC.len() + 4 * field..][..4].copy_from_slice(&u32::try_from(value)?.to_le_bytes());
    }
    Ok(out)
}

fn encode_record(
    out: &mut Vec<u8>,
    word: &str,
    content: &Word,
    numbers: &BTreeMap<&Synset, u32>,
    places: &BTreeMap<&str, u32>,
) {
    out.push(word.len() as u8);
    out.extend(word.as_bytes());
    let bit = |present: bool, at: usize| u8::from(present) << at;
    out.push((0..4).fold(0, |mask, part| {
        mask | bit(content.lemmas[part].is_some(), part)
            | bit(!content.exceptions[part].is_empty(), 4 + part)
    }));
    for lemma in content.lemmas.iter().flatten() {
        out.push((8.0 * f64::from(1 + lemma.uses).log2()).ceil().min(255.0) as u8);
        write_varint(out, lemma.senses.len() as u32);
        let mut last = 0;
        for sense in &lemma.senses {
            let synset = numbers[sense] as i32;
            write_varint(out, fold_sign(synset - last));
            last = synset;
        }
        let counted = lemma.counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
        write_varint(out, counted as u32);
        for count in &lemma.counts[..counted] {
            write_varint(out, *count);
        }
        write_records(out, lemma.antonyms.iter().map(|(_, antonym)| antonym.as_str()), places);
    }
    for lemmas in content.exceptions.iter().filter(|lemmas| !lemmas.is_empty()) {
        write_records(out, lemmas.iter().map(String::as_str), places);
    }
}

fn write_records<'a>(
    out: &mut Vec<u8>,
    words: impl ExactSizeIterator<Item = &'a str>,
    places: &BTreeMap<&str, u32>,
) {
    write_varint(out, words.len() as u32);
    for word in words {
        write_varint(out, places[word]);
    }
}
