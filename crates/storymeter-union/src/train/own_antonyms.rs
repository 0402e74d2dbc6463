//! Tests that training takes antonyms and keywords from the given lexicon, and from nowhere else.

use std::collections::BTreeSet;
use std::sync::Mutex;

use storymeter_core::Story;
use storymeter_encoder::train::{Alone, Cpu};
use storymeter_encoder::{Config, Tokenizer};
use storymeter_perturb::Technique;
use storymeter_text::lexicon::Lexicon;

use super::feed::Make;
use super::{Job, Settings, together, train_making};

/// Stories in which nothing is red.
fn stories() -> Vec<Story> {
    let story = |i: usize| {
        let pick = |list: [&'static str; 3], by: usize| list[i / by % 3];
        let mut story = Story { id: i.to_string(), ..Story::default() };
        for sentence in [
            format!("Mira lost her {}.", pick(["kite", "bread", "raft"], 1)),
            format!("She looked in the {}.", pick(["barn", "old barn", "cafe"], 3)),
            "The old kite hung in the barn.".to_owned(),
            format!("They {} the old bread again.", pick(["lost", "looked", "hung"], 9)),
        ] {
            story.push_sentence(&sentence);
        }
        story
    };
    (0..120).map(story).collect()
}

/// Trains for two epochs with substitutions alone. Returns the words of the negatives that no human
/// story has.
fn new_words(lexicon: &Lexicon) -> BTreeSet<String> {
    let settings =
        Settings { epochs: 2, max_tokens: 40, tokens_a_batch: 300, ..Settings::default() };
    let settings = [Technique::Repetition, Technique::Reordering, Technique::Negation]
        .into_iter()
        .fold(settings, Settings::without_technique);
    let (init, stories, out) = (together::encoder(), stories(), tempfile::tempdir().unwrap());
    let job = together::job((&init, &stories), out.path(), &settings, false);
    let seen = Mutex::new((BTreeSet::new(), BTreeSet::new()));
    let make: Make<'_> = &|maker, records, epoch| {
        let made = maker.make_epoch(records, epoch);
        let (human, damaged) = &mut *seen.lock().unwrap();
        for [a, b] in &made.pairs {
            human.extend(a.ids.iter().copied());
            damaged.extend(b.ids.iter().copied());
        }
        made
    };
    let job = Job { lexicon, ..job };
    let reports =
        train_making((&Cpu::default(), &Alone), "cpu", &job, &mut |_| Ok(()), make).unwrap();
    assert!(reports.iter().all(|report| report.steps > 0), "steps were taken");
    let tokenizer = Tokenizer::load(&init, &Config::load(&init).unwrap()).unwrap();
    let (human, damaged) = seen.into_inner().unwrap();
    let new = damaged.difference(&human);
    new.map(|id| tokenizer.piece(*id).unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_lexicon_of_one_pair_gives_negatives_with_that_pair_alone() {
    let table = "old|||/r/Antonym|||red";
    let lexicon = Lexicon::from_conceptnet(table.as_bytes(), "table.txt").unwrap();
    assert_eq!(new_words(&lexicon), BTreeSet::from(["red".to_owned()]));
}

#[test]
fn a_list_of_keywords_without_an_antonym_brings_in_nothing_new() {
    let lexicon = Lexicon::from_conceptnet("up|||/r/Antonym|||down".as_bytes(), "table.txt")
        .and_then(|lexicon| lexicon.with_keywords("kite\nbread\n".as_bytes(), "keywords.txt"))
        .unwrap();
    assert_eq!(new_words(&lexicon), BTreeSet::new());
}
