//! The lexicon, verb forms and names on the shared tables and stories.
#![allow(clippy::print_stdout)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;

use flate2::read::MultiGzDecoder;
use storymeter_checks::shared;
use storymeter_text::lexicon::{Lexicon, PartOfSpeech};
use storymeter_text::morphology::verb::{VerbForm, base_as, inflect};
use storymeter_text::names::Delexicaliser;
use storymeter_text::negation::NEGATION_WORDS;

fn text(path: PathBuf) -> String {
    let file = File::open(&path).unwrap();
    let mut text = String::new();
    let read = match path.extension().is_some_and(|extension| extension == "gz") {
        true => MultiGzDecoder::new(file).read_to_string(&mut text),
        false => BufReader::new(file).read_to_string(&mut text),
    };
    read.unwrap();
    text
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

#[test]
fn the_conceptnet_table_is_read_whole() {
    let Some(path) = shared("data/lexicon/conceptnet_antonym.txt") else { return };
    let lexicon = Lexicon::from_conceptnet(
        BufReader::new(File::open(&path).unwrap()),
        "conceptnet_antonym.txt",
    )
    .unwrap();
    // Counted here in the plainest way: the different tails of all relations of a head, without the head.
    let mut tails: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in BufReader::new(File::open(&path).unwrap()).lines() {
        let line = line.unwrap().to_lowercase();
        let fields: Vec<&str> = line.split("|||").collect();
        tails
            .entry(fields[0].to_owned())
            .or_default()
            .extend(fields[2].split(' ').map(str::to_owned));
    }
    assert_eq!(tails.len(), 8_937);
    for (head, mut expected) in tails {
        expected.remove(&head);
        expected.remove("");
        let found: BTreeSet<String> =
            lexicon.antonyms(&head, PartOfSpeech::Noun).into_iter().map(str::to_owned).collect();
        assert_eq!(found, expected, "{head}");
    }
}

#[test]
fn the_embedded_lexicon_knows_most_heads_of_the_conceptnet_table() {
    let Some(path) = shared("data/lexicon/conceptnet_antonym.txt") else { return };
    let lexicon = Lexicon::embedded();
    let text = text(path);
    let heads: BTreeSet<&str> = text.lines().filter_map(|line| line.split("|||").next()).collect();
    let known = heads.iter().filter(|head| lexicon.is_keyword_word(head)).count();
    let opposed = heads
        .iter()
        .filter(|head| PartOfSpeech::ALL.iter().any(|&pos| !lexicon.antonyms(head, pos).is_empty()))
        .count();
    println!(
        "of {} ConceptNet heads {:.1}% are keywords of ours, {:.1}% have an antonym in WordNet",
        heads.len(),
        100.0 * share(known, heads.len()),
        100.0 * share(opposed, heads.len())
    );
    // A third of the heads are coinages such as "unfannish".
    assert!(share(known, heads.len()) > 0.66 && share(opposed, heads.len()) > 0.26);
}

#[test]
fn all_single_word_antonyms_of_open_english_wordnet_are_embedded() {
    let Some(path) = shared("data/lexicon/oewn_antonyms.tsv") else { return };
    let lexicon = Lexicon::embedded();
    let mut checked = 0;
    for line in text(path).lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        if fields[0].contains(' ') || fields[1].contains(' ') {
            continue;
        }
        let pos = match fields[2] {
            "n" => PartOfSpeech::Noun,
            "v" => PartOfSpeech::Verb,
            "a" => PartOfSpeech::Adjective,
            _ => PartOfSpeech::Adverb,
        };
        assert!(
            lexicon.antonyms(fields[0], pos).contains(&fields[1].to_lowercase().as_str()),
            "{line}"
        );
        checked += 1;
    }
    println!("{checked} antonyms of Open English WordNet found");
    assert_eq!(checked, 6_773);
}

#[test]
fn the_negation_words_are_the_single_tokens_of_the_authors_list() {
    let Some(path) = shared("data/lexicon/negation.txt") else { return };
    let text = text(path);
    let entries = text.lines().filter_map(|line| line.split_once(' ')).map(|(_, entry)| entry);
    let theirs: BTreeSet<&str> = entries.filter(|entry| !entry.contains(' ')).collect();
    assert_eq!(theirs, BTreeSet::from(NEGATION_WORDS));
}

#[test]
fn verbs_of_the_treebank_come_back_from_their_base() {
    for (file, floor) in [("ewt_dev.tsv.gz", 0.98), ("gum_fiction.tsv.gz", 0.98)] {
        let Some(path) = shared(&format!("data/pos/{file}")) else { return };
        let (mut all, mut same) = (0, 0);
        let mut different = BTreeMap::new();
        for line in text(path).lines() {
            let Some((word, tag)) = line.split_once('\t') else { continue };
            let Some(form) = VerbForm::from_penn(tag) else { continue };
            let word = word.to_lowercase();
            let base = base_as(&word, form);
            // be, and the short forms of auxiliaries, have more forms than inflecting can choose from.
            if base == "be" || word.contains(['\'', '’']) {
                continue;
            }
            all += 1;
            if inflect(&base, form) == word {
                same += 1;
            } else {
                *different
                    .entry(format!("{word} {tag}: {base} {}", inflect(&base, form)))
                    .or_insert(0) += 1;
            }
        }
        println!(
            "{file}: of {all} verbs {:.2}% come back; the others: {different:?}",
            100.0 * share(same, all)
        );
        assert!(share(same, all) > floor);
    }
}

#[test]
fn names_of_the_stories_are_masked_about_as_often_as_by_the_authors() {
    let Some(path) = shared("data/roc/stories.tsv.gz") else { return };
    let delexicaliser = Delexicaliser::embedded();
    let mut rows: BTreeMap<String, Masked> = BTreeMap::new();
    for line in text(path).lines().skip(1) {
        let (form, sentences) = line.split_once('\t').unwrap();
        let story = sentences.replace('\t', " ");
        let masked = delexicaliser.delexicalise(&story);
        assert_eq!(masked.restore(), story);
        // What the authors masked is counted as it stands.
        rows.entry(form.to_owned()).or_default().add(if form == "delexicalised" {
            &story
        } else {
            &masked.text
        });
    }
    for (form, row) in &rows {
        println!("{form}: {row:?}; {:.2} names in a story that has any", row.rate());
    }
    // The authors' masked stories are others than the cased ones, and all have a name: compare those that do.
    let (ours, theirs) = (&rows["cased"], &rows["delexicalised"]);
    assert!((ours.rate() - theirs.rate()).abs() < 0.25);
    assert!(share(ours.named, ours.stories) > 0.7);
    assert!((share(ours.female, ours.names()) - share(theirs.female, theirs.names())).abs() < 0.1);
}

/// Stories, those with a placeholder, and placeholders of each kind.
#[derive(Debug, Default)]
struct Masked {
    stories: usize,
    named: usize,
    male: usize,
    female: usize,
    neutral: usize,
}

impl Masked {
    fn add(&mut self, story: &str) {
        let count = |placeholder| story.matches(placeholder).count();
        let before = self.names();
        self.male += count("[MALE]");
        self.female += count("[FEMALE]");
        self.neutral += count("[NEUTRAL]");
        self.stories += 1;
        self.named += usize::from(self.names() > before);
    }

    fn names(&self) -> usize {
        self.male + self.female + self.neutral
    }

    fn rate(&self) -> f64 {
        share(self.names(), self.named)
    }
}
