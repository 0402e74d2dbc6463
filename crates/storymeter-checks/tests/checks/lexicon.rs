//! The lexicon, the verb forms and the names, on the shared tables and stories.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;

use flate2::read::MultiGzDecoder;
use storymeter_checks::{Result, shared};
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

fn the_conceptnet_table_is_read_whole() -> Result {
    let path = shared("data/lexicon/conceptnet_antonym.txt")?;
    let lexicon = Lexicon::from_conceptnet(
        BufReader::new(File::open(&path).unwrap()),
        "conceptnet_antonym.txt",
    )
    .unwrap();
    // Counted here in the plainest way: all different tails of a head, without the head itself.
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
    Ok(())
}

fn the_embedded_lexicon_knows_most_heads_of_the_conceptnet_table() -> Result {
    let path = shared("data/lexicon/conceptnet_antonym.txt")?;
    let lexicon = Lexicon::embedded();
    let text = text(path);
    let heads: BTreeSet<&str> = text.lines().filter_map(|line| line.split("|||").next()).collect();
    let known = heads.iter().filter(|head| lexicon.is_keyword_word(head)).count();
    let opposed = heads
        .iter()
        .filter(|head| PartOfSpeech::ALL.iter().any(|&pos| !lexicon.antonyms(head, pos).is_empty()))
        .count();
    println!(
        "of {} ConceptNet heads, {:.1}% are keywords of ours and {:.1}% have an antonym in WordNet",
        heads.len(),
        100.0 * share(known, heads.len()),
        100.0 * share(opposed, heads.len())
    );
    // A third of the heads are coinages such as "unfannish".
    assert_eq!(heads.len(), 8_937);
    assert!(share(known, heads.len()) > 0.66 && share(opposed, heads.len()) > 0.26);
    Ok(())
}

fn all_single_word_antonyms_of_open_english_wordnet_are_embedded() -> Result {
    let path = shared("data/lexicon/oewn_antonyms.tsv")?;
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
    Ok(())
}

fn the_negation_words_are_the_single_tokens_of_the_authors_list() -> Result {
    let path = shared("data/lexicon/negation.txt")?;
    let text = text(path);
    let entries = text.lines().filter_map(|line| line.split_once(' ')).map(|(_, entry)| entry);
    let theirs: BTreeSet<&str> = entries.filter(|entry| !entry.contains(' ')).collect();
    assert_eq!(theirs, BTreeSet::from(NEGATION_WORDS));
    Ok(())
}

fn verbs_of_the_treebank_come_back_from_their_base() -> Result {
    for (file, floor) in [("ewt_dev.tsv.gz", 0.98), ("gum_fiction.tsv.gz", 0.98)] {
        let path = shared(&format!("data/pos/{file}"))?;
        let (mut all, mut same) = (0, 0);
        let mut different = BTreeMap::new();
        for line in text(path).lines() {
            let Some((word, tag)) = line.split_once('\t') else { continue };
            let Some(form) = VerbForm::from_penn(tag) else { continue };
            let word = word.to_lowercase();
            let base = base_as(&word, form);
            // The verb "be" and the short forms of auxiliaries have more forms than a tag can name.
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
            "{file}: {:.2}% of {all} verbs come back; the others are {different:?}",
            100.0 * share(same, all)
        );
        assert!(all > 1_000 && share(same, all) > floor, "{same} of {all}");
    }
    Ok(())
}

fn names_of_the_stories_are_masked_about_as_often_as_by_the_authors() -> Result {
    let path = shared("data/roc/stories.tsv.gz")?;
    let delexicaliser = Delexicaliser::embedded();
    let mut rows: BTreeMap<String, Masked> = BTreeMap::new();
    for line in text(path).lines().skip(1) {
        let (form, sentences) = line.split_once('\t').unwrap();
        let story = sentences.replace('\t', " ");
        let masked = delexicaliser.delexicalise(&story);
        assert_eq!(masked.restore(), story);
        // Stories that the authors masked are counted as they are.
        rows.entry(form.to_owned()).or_default().add(if form == "delexicalised" {
            &story
        } else {
            &masked.text
        });
    }
    for (form, row) in &rows {
        println!("{form}: {row:?}; {:.2} names per story that has any", row.rate());
    }
    // The authors' masked stories are not the same as the cased ones, and all of them have a name.
    // So only stories with a name are compared.
    let (ours, theirs) = (&rows["cased"], &rows["delexicalised"]);
    assert!((ours.rate() - theirs.rate()).abs() < 0.25);
    assert!(share(ours.named, ours.stories) > 0.7);
    assert!((share(ours.female, ours.names()) - share(theirs.female, theirs.names())).abs() < 0.1);
    Ok(())
}

/// Counts of stories, of stories with a placeholder, and of placeholders of each kind.
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

storymeter_checks::checks!(
    the_conceptnet_table_is_read_whole,
    the_embedded_lexicon_knows_most_heads_of_the_conceptnet_table,
    all_single_word_antonyms_of_open_english_wordnet_are_embedded,
    the_negation_words_are_the_single_tokens_of_the_authors_list,
    verbs_of_the_treebank_come_back_from_their_base,
    names_of_the_stories_are_masked_about_as_often_as_by_the_authors,
);
