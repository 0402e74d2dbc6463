//! Properties that hold for every story, seed and preset.

use proptest::prelude::*;
use storymeter_core::Story;
use storymeter_core::rng::StreamId;
use storymeter_perturb::{
    CheckedConfig, Config, DamageCounts, DonorSampler, Donors, Perturbation, Perturber, Preset,
    Technique, Unchanged, apply, undo,
};
use storymeter_text::lexicon::Lexicon;
use storymeter_text::tagger::Tagger;

fn story(text: &str) -> Story {
    Story { text: text.into(), ..Story::default() }
}

fn donors() -> Donors {
    let mut sampler = DonorSampler::new(1, 10);
    let texts = [
        "Mia baked a cake. The oven was too hot. The cake burned. She ordered a pie instead.",
        "The bus was late. Omar walked to school. A dog followed him. He shared his lunch with it.",
        "we planted beans . the rain did n't stop . all the beans drowned . we bought some .",
    ];
    for (record, text) in texts.iter().enumerate() {
        sampler.offer(record as u64, &story(text));
    }
    sampler.finish(Tagger::embedded(), Lexicon::embedded())
}

fn perturb(config: Config, story: &Story, draw: u64) -> Result<Perturbation, Unchanged> {
    let donors = donors();
    let config = config.checked().unwrap();
    Perturber::new(config, &donors, Lexicon::embedded(), Tagger::embedded()).perturb(
        story,
        3,
        StreamId::Draw { record: 0, draw },
    )
}

fn preset(preset: Preset) -> Config {
    Config { preset, ..Config::default() }
}

/// Settings that use everything beyond the paper.
fn beyond() -> Config {
    Config { garbled: 1.0, spliced: 1.0, ..Config::default() }
}

const DONATED: &str = "Mia baked a large cake. The oven was far too hot. Her cake burned to ashes. \
                       She ordered a pie instead.";

const KEN: &str = "Ken was out jogging one morning. The weather was crisp and cool. Ken felt good and \
                   energetic. He decided to keep jogging longer than normal. Ken went several more miles out of \
                   his way.";

#[test]
fn the_leading_sentence_stays_and_five_sentences_stay_five() {
    for config in [preset(Preset::Paper), preset(Preset::ReleasedCode), beyond()] {
        for draw in 0..300 {
            let Ok(sample) = perturb(config.clone(), &story(KEN), draw) else { continue };
            assert!(
                sample.story.starts_with("Ken was out jogging one morning. "),
                "{}",
                sample.story
            );
            let sentences = storymeter_text::sentence::split(&sample.story);
            assert_eq!(sentences.len(), 5, "{config:?}: {}", sample.story);
            assert_ne!(sample.story, KEN);
        }
    }
}

#[test]
fn a_spliced_sentence_begins_as_it_did_and_ends_as_a_donor_s() {
    let spliced = beyond().only("substitution").and_then(Config::checked).unwrap();
    let ends: Vec<String> = storymeter_text::sentence::split(DONATED)
        .iter()
        .flat_map(|sentence| {
            let sentence = sentence.of(DONATED);
            sentence.match_indices(' ').map(|(blank, _)| sentence[blank + 1..].to_owned())
        })
        .collect();
    let mut sampler = DonorSampler::new(1, 10);
    sampler.offer(0, &story(DONATED));
    let donors = sampler.finish(Tagger::embedded(), Lexicon::embedded());
    let perturber = Perturber::new(spliced, &donors, Lexicon::embedded(), Tagger::embedded());
    for draw in 0..100 {
        let sample = perturber.perturb(&story(KEN), 3, StreamId::Draw { record: 0, draw }).unwrap();
        assert!(!sample.edits.is_empty() && sample.edits.len() <= 2);
        for edit in &sample.edits {
            let end = ends
                .iter()
                .filter(|end| edit.after().ends_with(end.as_str()))
                .max_by_key(|end| end.len());
            let beginning = edit.after().strip_suffix(end.unwrap().as_str()).unwrap().trim_end();
            assert!(edit.before().starts_with(beginning) && beginning.contains(' '), "{edit:?}");
        }
    }
}

#[test]
fn a_story_is_not_spliced_with_itself() {
    let mut sampler = DonorSampler::new(1, 10);
    sampler.offer(0, &story(KEN));
    let donors = sampler.finish(Tagger::embedded(), Lexicon::embedded());
    let spliced = beyond().only("substitution").and_then(Config::checked).unwrap();
    let perturber = Perturber::new(spliced, &donors, Lexicon::embedded(), Tagger::embedded());
    let unspliced = Config::default().only("substitution").and_then(Config::checked).unwrap();
    let words_alone = Perturber::new(unspliced, &donors, Lexicon::embedded(), Tagger::embedded());
    let lengths = |perturber: &Perturber<'_>, draw: u64| -> Vec<usize> {
        let sample = perturber.perturb(&story(KEN), 3, StreamId::Draw { record: 0, draw }).unwrap();
        sample.story.split(". ").map(|sentence| sentence.split(' ').count()).collect()
    };
    for draw in 0..100 {
        assert_eq!(
            lengths(&perturber, draw),
            lengths(&words_alone, 0),
            "keywords alone are replaced"
        );
    }
}

#[test]
fn techniques_that_have_nothing_beyond_the_paper_draw_as_ever() {
    for draw in 0..50 {
        let with = beyond().only("repetition,negation").unwrap();
        let without = Config::default().only("repetition,negation").unwrap();
        assert_eq!(perturb(with, &story(KEN), draw), perturb(without, &story(KEN), draw));
    }
}

#[test]
fn a_seed_s_sample_by_the_paper_s_rules_stays_what_it_is() {
    let sample = perturb(Config::default(), &story(KEN), 0).unwrap();
    let expected = "Ken was out jogging one morning. Ken went several more miles out of his way. The cake burned. The weather \
                    was not crisp and cool. Ken felt good and energetic.";
    assert_eq!(sample.story, expected);
}

#[test]
fn with_a_prompt_of_its_own_the_whole_text_is_open() {
    let mut story = story("The weather was crisp and cool. Ken felt good.");
    story.prompt = Some("Ken was out jogging.".into());
    let moved = Config::default().only("reordering").unwrap();
    let sample = perturb(moved, &story, 0).unwrap();
    assert_eq!(sample.story, "Ken felt good. The weather was crisp and cool.");
}

#[test]
fn a_text_that_begins_with_its_prompt_keeps_it() {
    let mut story = story("Ken was out. He ran. It rained. He slept.");
    story.prompt = Some("Ken was out. He ran.".into());
    for draw in 0..50 {
        let sample = perturb(Config::default(), &story, draw).unwrap();
        assert!(sample.story.starts_with("Ken was out. He ran. "), "{}", sample.story);
    }
}

#[test]
fn a_story_of_one_sentence_has_nothing_to_damage() {
    assert_eq!(perturb(Config::default(), &story("Ken slept."), 0), Err(Unchanged::OnlyContext));
    assert_eq!(perturb(Config::default(), &story(""), 0), Err(Unchanged::OnlyContext));
}

#[test]
fn what_cannot_be_changed_is_said_to_be_unchanged() {
    let negation = Config::default().only("negation").unwrap();
    assert_eq!(perturb(negation, &story("Ken slept. A long day."), 0), Err(Unchanged::NoEffect));
    let moved = Config::default().only("reordering").unwrap();
    assert_eq!(perturb(moved, &story("Ken slept. A long day."), 0), Err(Unchanged::NoEffect));
}

#[test]
fn a_technique_without_effect_is_counted_and_not_claimed() {
    // One open sentence without a verb: it can be repeated inside or replaced, not reordered or
    // negated.
    let config = Config { counts: [0.0, 0.0, 0.0, 1.0], ..Config::default() };
    let outcome = perturb(config.clone(), &story("Ken slept. A long day."), 0);
    let sample = outcome.as_ref().unwrap();
    assert!(sample.ineffective.contains(&Technique::Reordering));
    assert!(!sample.techniques.contains(&Technique::Reordering));
    let mut counts = DamageCounts::default();
    counts.add(&outcome);
    assert_eq!(counts.ineffective[Technique::Reordering.index()], 1);
    assert!(counts.report(&config.checked().unwrap()).to_string().contains("reordering"));
}

#[test]
fn words_and_sentences_of_another_way_of_writing_are_not_mixed_in() {
    let substitution = Config::default().only("substitution").unwrap();
    let raw = story("Ken woke. He ate an apple. He left. He waved.");
    for draw in 0..100 {
        let sample = perturb(substitution.clone(), &raw, draw).unwrap();
        assert!(!sample.story.contains(" ."), "{}", sample.story);
    }
}

#[test]
fn the_word_of_table_3_is_replaced_by_its_antonym() {
    let antonyms = Config::default().only("substitution").unwrap();
    let text = "Ken was out jogging one morning. Ken felt good.";
    let found = (0..400).filter_map(|draw| perturb(antonyms.clone(), &story(text), draw).ok());
    assert!(found.into_iter().any(|sample| sample.story.ends_with("Ken felt bad.")));
}

#[test]
fn a_prepared_donor_file_gives_the_same_samples_and_damage_is_noticed() {
    let original = donors();
    let mut file = Vec::new();
    original.write_to(&mut file).unwrap();
    let read = Donors::read_from(&mut file.as_slice()).unwrap();
    let sample = |donors: &Donors| {
        let perturber = Perturber::new(
            CheckedConfig::default(),
            donors,
            Lexicon::embedded(),
            Tagger::embedded(),
        );
        (0..50)
            .map(|draw| perturber.perturb(&story(KEN), 9, StreamId::Draw { record: 4, draw }))
            .collect::<Vec<_>>()
    };
    assert_eq!(sample(&original), sample(&read));

    for length in [0, 10, 25, file.len() / 2, file.len() - 1] {
        assert!(Donors::read_from(&mut &file[..length]).is_err(), "cut at {length}");
    }
    let last = file.len() - 1;
    file[last] ^= 1;
    assert!(Donors::read_from(&mut file.as_slice()).is_err());
}

#[test]
fn the_donor_sample_is_bounded_and_does_not_depend_on_the_order_of_reading() {
    let fill = |records: &mut dyn Iterator<Item = u64>| {
        let mut sampler = DonorSampler::new(5, 7);
        for record in records {
            sampler.offer(record, &story(&format!("Number {record} came. It left.")));
        }
        let mut file = Vec::new();
        let donors = sampler.finish(Tagger::embedded(), Lexicon::embedded());
        assert_eq!(donors.len(), 7);
        donors.write_to(&mut file).unwrap();
        file
    };
    assert_eq!(fill(&mut (0..100)), fill(&mut (0..100).rev()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn edits_lead_from_the_original_to_the_sample_and_back(
        text in r#"([A-Za-z]{1,8}( |, |\. |! |… |’s | n't | "|\[MALE\] |é|漢){1,2}){0,30}"#,
        draw in 0u64..1000,
        config in prop::sample::select(vec![preset(Preset::Paper), preset(Preset::ReleasedCode), beyond()]),
    ) {
        if let Ok(sample) = perturb(config, &story(&text), draw) {
            prop_assert_ne!(&sample.story, &text);
            prop_assert_eq!(&apply(&text, &sample.edits).unwrap(), &sample.story);
            prop_assert_eq!(&undo(&sample.story, &sample.edits).unwrap(), &text);
            prop_assert!(!sample.techniques.is_empty());
            prop_assert!(sample.edits.iter().all(|edit| sample.techniques.contains(&edit.technique())));
        }
    }
}
