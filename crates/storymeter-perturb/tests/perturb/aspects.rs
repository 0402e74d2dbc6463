//! The twins of the test suite for metrics: what each rule does, and what holds for all of them.

use proptest::prelude::*;
use storymeter_core::{Aspect, Story};
use storymeter_perturb::aspect::{NoTwin, Paraphrases, TableError, Triples, Twin, TwinMaker};
use storymeter_perturb::{DonorSampler, Donors, apply, sentences_of, undo};
use storymeter_text::lexicon::Lexicon;
use storymeter_text::tagger::Tagger;

const DONORS: [&str; 4] = [
    "The ship left the harbor. A whale followed the sailors to the island.",
    "The pianist opened the concert. The violin and the trumpet filled the theater.",
    "Snow covered the mountain. The goats searched the valley for grass.",
    "The baker lit the oven. He sold pretzels and muffins to the tourists.",
];

fn donors() -> Donors {
    let mut sampler = DonorSampler::new(0, 100);
    for (number, text) in (0..).zip(DONORS) {
        sampler.offer(number, &Story::from(text));
    }
    sampler.finish_without_keywords()
}

/// The twin for a seed.
fn twin_of(text: &str, aspect: Aspect, seed: u64) -> Result<Twin, NoTwin> {
    let donors = donors();
    let maker = TwinMaker::new(&donors, Lexicon::embedded(), Tagger::embedded());
    maker.open(&Story::from(text)).twin(aspect, seed, 0)
}

/// All different twins of twenty seeds, with their rules.
fn twins(text: &str, aspect: Aspect) -> Vec<(String, &'static str)> {
    let mut found: Vec<_> = (0..20)
        .filter_map(|seed| twin_of(text, aspect, seed).ok())
        .map(|twin| (twin.text, twin.rule))
        .collect();
    found.sort();
    found.dedup();
    found
}

/// The only twin of twenty seeds.
fn only(text: &str, aspect: Aspect) -> (String, &'static str) {
    let found = twins(text, aspect);
    assert_eq!(found.len(), 1, "{found:#?}");
    found.into_iter().next().unwrap()
}

#[test]
fn repetition_says_a_phrase_or_a_sentence_again() {
    let found = twins("Ken woke up. He ran to the lake.", Aspect::LexicalRepetition);
    assert_eq!(
        found,
        [
            ("Ken woke up. He ran to the lake and ran to the lake.".to_owned(), "phrase"),
            ("Ken woke up. Ken woke up.".to_owned(), "sentence"),
        ]
    );
}

#[test]
fn cause_and_effect_change_places() {
    let cause = |text: &str| only(text, Aspect::Cause);
    assert_eq!(
        cause("Ann had a cold. She stayed in bed because the rain had soaked her."),
        (
            "Ann had a cold. The rain had soaked her because she stayed in bed.".to_owned(),
            "because"
        )
    );
    assert_eq!(
        cause("Ann had a cold. She was out of tea, so she went to the store."),
        ("Ann had a cold. She went to the store, so she was out of tea.".to_owned(), "so")
    );
    // A name keeps its capital, and small letters stay small.
    assert_eq!(
        cause("It was late. Tom was out of money so he walked home.").0,
        "It was late. He walked home so Tom was out of money."
    );
    assert_eq!(
        cause("it was late . tom was out of money so he walked home .").0,
        "it was late . he walked home so tom was out of money ."
    );
}

#[test]
fn so_and_because_with_other_meanings_are_left_alone() {
    for text in [
        "It was noon. She was so hungry.",
        "It was noon. He saved money so he could buy a car.",
        "It was noon. It was because of that.",
        "It was noon. He said so.",
        "Tom slept because he was ill.",
    ] {
        assert_eq!(
            twin_of(text, Aspect::Cause, 0).unwrap_err(),
            match text.starts_with("Tom") {
                true => NoTwin::OnlyContext,
                false => NoTwin::NoRule,
            }
        );
    }
}

#[test]
fn time_runs_backwards() {
    assert_eq!(
        only("Ann wrote a letter. Two weeks later she got an answer.", Aspect::Time),
        ("Ann wrote a letter. Two weeks earlier she got an answer.".to_owned(), "word")
    );
    assert_eq!(
        only("Ann was late. She waited for an hour.", Aspect::Time),
        ("Ann was late. She waited for a century.".to_owned(), "word")
    );
    assert!(twins("Ann was born second. She had a second helping.", Aspect::Time).is_empty());
}

#[test]
fn the_wrong_character_acts() {
    assert_eq!(
        only("It was noon. She ate the cake.", Aspect::CharacterBehaviour),
        ("It was noon. The cake ate her.".to_owned(), "roles")
    );
    // With three kinds of pronouns, each becomes another one, and verbs agree.
    let text = "Tom met Ann. She was glad that he had it with him.";
    for (twin, rule) in twins(text, Aspect::CharacterBehaviour) {
        assert_eq!(rule, "pronouns");
        assert!(twin.starts_with("Tom met Ann. ") && !twin.contains("She was"), "{twin}");
    }
}

#[test]
fn a_statement_is_denied_or_reversed_where_the_story_depends_on_it() {
    let story = "Ann was bored. She bought a kite. It was red.";
    let found = twins(story, Aspect::Consistency);
    let twin = |end: &str, rule: &'static str| (format!("Ann was bored. {end}"), rule);
    for expected in [
        twin("She bought a kite. She did not buy a kite.", "denied"),
        twin("She didn't buy a kite. It was red.", "negation"),
        ("Ann was bored. Ann wasn't bored. It was red.".to_owned(), "denied"),
    ] {
        assert!(found.contains(&expected), "{expected:?} is not among {found:#?}");
    }
    let found = twins("Ann won. She sang all day. Everyone was happy.", Aspect::Consistency);
    let unhappy = "Ann won. She sang all day. Everyone was unhappy.";
    assert!(found.contains(&(unhappy.to_owned(), "prefix")), "{found:#?}");
}

#[test]
fn foreign_events_come_from_other_stories() {
    let text = "Ann lost her kite. She looked under the bed. Her brother had it.";
    for (twin, rule) in twins(text, Aspect::Relatedness) {
        assert!(twin.starts_with("Ann lost her kite."), "{twin}");
        if rule == "sentence" {
            let foreign = DONORS.iter().any(|donor| {
                donor.split_inclusive('.').any(|sentence| twin.contains(sentence.trim()))
            });
            assert!(foreign, "{twin}");
        }
    }
}

#[test]
fn harmless_twins_mean_the_same() {
    let text = "Ann went out. She bought a large kite.";
    for (twin, rule) in twins(text, Aspect::Synonym) {
        assert_eq!(rule, "synonym");
        let words = ["purchased", "big"];
        assert!(words.iter().any(|word| twin.contains(word)), "{twin}");
    }
    assert_eq!(
        only(
            "Ann went out. She didn't see that it's late, and Tom's dog barked.",
            Aspect::Contraction
        ),
        (
            "Ann went out. She did not see that it is late, and Tom's dog barked.".to_owned(),
            "expanded"
        )
    );
    assert_eq!(
        only("ann went out . she did not see him .", Aspect::Contraction).0,
        "ann went out . she did n't see him ."
    );
    assert_eq!(
        only("Ann left. \"No,\" she said, \"it is two-thirds of 1,000.\"", Aspect::Punctuation).0,
        "Ann left. No she said it is two-thirds of 1,000."
    );
}

#[test]
fn a_typo_is_no_other_word_and_no_other_name() {
    let text = "Ann left. Keiran found the garden where the yellow flowers grew.";
    for seed in 0..200 {
        let twin = twin_of(text, Aspect::Typo, seed).unwrap();
        assert!(twin.text.starts_with("Ann left. Keiran "), "{}", twin.text);
        for edit in &twin.edits {
            assert!(!Lexicon::embedded().is_known_form(edit.after()), "{edit:?}");
            assert_eq!(edit.before().chars().next(), edit.after().chars().next());
        }
    }
}

#[test]
fn tables_of_the_user_make_three_more_aspects() {
    let donors = donors();
    let paraphrases = "She took the bus to town.\tShe rode into town by bus.\n";
    let paraphrases = Paraphrases::parse(paraphrases, "table.tsv").unwrap();
    let facts = "bread|||UsedFor|||eat\ncloud|||AtLocation|||sky\ndog|||CapableOf|||bark\n";
    let triples = Triples::parse(facts, "facts.txt").unwrap();
    let story = Story::from("Ann was late. She took the bus to town. Her dog ate the bread.");
    let plain = TwinMaker::new(&donors, Lexicon::embedded(), Tagger::embedded());
    let maker = plain.with_paraphrases(&paraphrases).with_triples(&triples);
    let twin = |aspect| maker.open(&story).twin(aspect, 0, 0).map(|twin| twin.text);
    assert_eq!(
        twin(Aspect::Paraphrase).unwrap(),
        "Ann was late. She rode into town by bus. Her dog ate the bread."
    );
    assert_eq!(
        twin(Aspect::SemanticRepetition).unwrap(),
        "Ann was late. She took the bus to town. She rode into town by bus."
    );
    let absurd = twin(Aspect::CommonSense).unwrap();
    assert!(["ate the cloud.", "ate the sky."].iter().any(|end| absurd.ends_with(end)), "{absurd}");
    for aspect in [Aspect::Paraphrase, Aspect::SemanticRepetition, Aspect::CommonSense] {
        assert_eq!(plain.open(&story).twin(aspect, 0, 0), Err(NoTwin::NoTable));
        let other = Story::from("Rain fell. The lamp went out.");
        assert_eq!(maker.open(&other).twin(aspect, 0, 0), Err(NoTwin::NotInTable));
    }
}

#[test]
fn tables_in_every_form_are_read_and_bad_lines_are_named() {
    let sentence = "It rained.";
    for table in [
        "It rained.\tRain fell.\n",
        r#"{"It rained.": "Rain fell."}"#,
        r#"[{"It rained.": {"score": 0.5, "trans": "Rain fell."}}]"#,
        r#"{"sentence": "it rained .", "paraphrase": "Rain fell."}"#,
        "{\"sentence\": \"It rained.\", \"paraphrase\": \"Rain fell.\"}\n\
         {\"sentence\": \"It snowed.\", \"paraphrase\": \"Snow fell.\", \"score\": 0.6}\n",
    ] {
        assert_eq!(Paraphrases::parse(table, "t").unwrap().of(sentence), ["Rain fell."], "{table}");
    }
    let far = r#"{"It rained.": {"score": 0.9, "trans": "It rained!"}}"#;
    assert_eq!(Paraphrases::parse(far, "t").unwrap().left_out, 1);
    let message = |result: Result<Paraphrases, TableError>| result.unwrap_err().to_string();
    assert_eq!(
        message(Paraphrases::parse("a\tb\nno tab\n", "t.tsv")),
        "t.tsv:2: 0 tabs in the line; a line is a sentence, one tab and its paraphrase"
    );
    assert_eq!(message(Paraphrases::parse("", "t.tsv")), "t.tsv:1: the table has no paraphrase");
    assert!(
        message(Paraphrases::parse("{\"a\": 3}", "t")).contains("neither a text nor an object")
    );

    for line in [
        "bread|||AtLocation|||the oven",
        "bread\tAtLocation\toven",
        "bread,AtLocation,oven",
        "/a/[x]\t/r/AtLocation\t/c/en/bread/n\t/c/en/oven\t{}",
    ] {
        assert_eq!(Triples::parse(line, "t").unwrap().of("oven"), ["bread"], "{line}");
    }
    let error = Triples::parse("bread|||AtLocation|||oven\nbread\n", "facts.txt").unwrap_err();
    assert_eq!(error.to_string(), "facts.txt:2: not a fact; a line is head|||relation|||tail");
    assert!(Triples::parse("/a/[x]\t/r/IsA\t/c/fr/pain\t/c/fr/chose\t{}", "t").is_err());
}

#[test]
fn chat_stands_around_the_story_and_never_in_it() {
    let story = "Ken woke up. He ran to the lake.";
    let found = twins(story, Aspect::Chat);
    let rules: std::collections::BTreeSet<&str> = found.iter().map(|(_, rule)| *rule).collect();
    assert_eq!(
        rules.into_iter().collect::<Vec<_>>(),
        ["offer", "preamble", "the end", "title", "token", "wish"]
    );
    for (twin, rule) in &found {
        let (before, behind) = twin.split_once(story).unwrap();
        let is_before = matches!(*rule, "preamble" | "title");
        assert_eq!((before.is_empty(), behind.is_empty()), (!is_before, is_before), "{twin}");
    }
}

/// Checks what holds for every twin.
fn check(story: &Story, seed: u64) {
    let donors = donors();
    let maker = TwinMaker::new(&donors, Lexicon::embedded(), Tagger::embedded());
    let open = maker.open(story);
    for aspect in Aspect::ALL {
        let Ok(twin) = open.twin(aspect, seed, 3) else { continue };
        assert_ne!(twin.text, story.text, "{aspect}");
        assert_eq!(apply(&story.text, &twin.edits).unwrap(), twin.text, "{aspect}");
        assert_eq!(undo(&twin.text, &twin.edits).unwrap(), story.text, "{aspect}");
        let first = sentences_of(story)[0];
        let whole = aspect == Aspect::Chat && twin.text.contains(story.text.trim());
        let begins = twin.text.starts_with(&story.text[..first.end]);
        assert!(whole || begins, "{aspect}: {}", twin.text);
        assert_eq!(open.twin(aspect, seed, 3).unwrap(), twin, "{aspect}");
    }
}

#[test]
fn strange_stories_have_fewer_twins_and_break_nothing() {
    for text in [
        "",
        " ",
        "One sentence without an end",
        "ANN WAS ILL. SHE STAYED IN BED BECAUSE THE RAIN HAD SOAKED HER. THEN SHE ATE THE CAKE.",
        "ann was ill she stayed in bed because she was weak then she slept for two hours",
        "😀 😀. 😀 so 😀 because 😀! Then 😀.",
        "...!!! ??? ,,, \"\" '' -- ( ) .",
        "I. I. I. I've. You'd've. It's its'. 'Tis. Then.",
        "[MALE] met [FEMALE] . she 'd n't go . [MALE] ate the [NEUTRAL] because , so .",
        "Ann was ill.\u{0}\u{202e} She ate the cake.\r\n\tThen she ate it.\u{feff}",
        "雨が降った。彼は家に帰った。because so then.",
        "Because. So. Then. After. Never. Not. Cause. An hour. A. The.",
    ] {
        for seed in 0..20 {
            check(&Story::from(text), seed);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn every_twin_can_be_undone_and_begins_as_its_story(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "Tom", "she", "He", "it", "them", "her", "ate", "was", "did", "n't", "not", "the",
                "a", "an", "cake", "dog", "hour", "years", "later", "because", "so", "Then", "then",
                "and", ",", ".", "!", "?", "\"", "'s", "'d", "I", "happy", "bought", "never", "é",
                "😀", "-", "(", "after", "weeks", "of", "caused", "[MALE]", "run", "to", "store",
            ]),
            0..60,
        ),
        seed in 0u64..1000,
        glued in any::<bool>(),
    ) {
        let text = if glued { words.concat() } else { words.join(" ") };
        check(&Story::from(text), seed);
    }

    #[test]
    fn any_text_is_a_story(text in "(\\PC|[ .,'\"\n\t’]){0,80}", seed in 0u64..1000) {
        check(&Story::from(text), seed);
    }
}
