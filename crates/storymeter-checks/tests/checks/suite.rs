//! The test suite for metrics on real stories.

use std::time::Instant;

use rayon::prelude::*;
use storymeter::Scorer;
use storymeter::suite::{Pair, Suite, SuiteAspect, SuiteText};
use storymeter_checks::{Result, shared};
use storymeter_core::read::{ReadOptions, open};
use storymeter_core::{Aspect, Progress, Story};
use storymeter_meta::suite::SuiteOptions;
use storymeter_perturb::aspect::TwinMaker;
use storymeter_perturb::{DonorSampler, Donors, apply, undo};
use storymeter_text::lexicon::Lexicon;
use storymeter_text::tagger::Tagger;

/// Every so many-th story of the corpus.
const STEP: usize = 15;

fn stories() -> Result<Vec<Story>> {
    let path = shared("data/roc/stories.tsv.gz")?;
    let records = open(&[path], &ReadOptions::default()).unwrap();
    Ok(records.map(|record| record.unwrap().story).step_by(STEP).take(4000).collect())
}

fn donors(stories: &[Story]) -> Donors {
    let mut sampler = DonorSampler::new(0, 4000);
    for (record, story) in stories.iter().enumerate() {
        sampler.offer(record as u64, story);
    }
    sampler.finish_without_keywords()
}

/// The fewest pairs that each aspect gives on 4,000 stories.
const FEWEST: [(Aspect, usize); 10] = [
    (Aspect::LexicalRepetition, 3900),
    (Aspect::CharacterBehaviour, 1000),
    (Aspect::Consistency, 3000),
    (Aspect::Relatedness, 3500),
    (Aspect::Cause, 40),
    (Aspect::Time, 250),
    (Aspect::Synonym, 1500),
    (Aspect::Punctuation, 150),
    (Aspect::Contraction, 1200),
    (Aspect::Typo, 3900),
];

fn every_twin_of_4000_stories_can_be_undone_and_begins_as_its_story() -> Result {
    let stories = stories()?;
    let donors = donors(&stories);
    let maker = TwinMaker::new(&donors, Lexicon::embedded(), Tagger::embedded());
    let start = Instant::now();
    let twins: Vec<Vec<_>> = stories
        .par_iter()
        .enumerate()
        .map(|(record, story)| {
            let open = maker.open(story);
            FEWEST.map(|(aspect, _)| open.twin(aspect, 0, record as u64).ok()).to_vec()
        })
        .collect();
    let speed = stories.len() as f64 / start.elapsed().as_secs_f64();
    eprintln!("{speed:.0} stories per second, all aspects together");
    for (at, (aspect, fewest)) in FEWEST.into_iter().enumerate() {
        let mut pairs = 0;
        for (story, twins) in stories.iter().zip(&twins) {
            let Some(twin) = &twins[at] else { continue };
            pairs += 1;
            assert_eq!(apply(&story.text, &twin.edits).unwrap(), twin.text);
            assert_eq!(undo(&twin.text, &twin.edits).unwrap(), story.text);
            assert!(
                twin.text.starts_with(&story.text[story.sentences[0].clone()]),
                "{}",
                twin.text
            );
        }
        eprintln!("{aspect}: {pairs} pairs");
        assert!(pairs >= fewest, "{aspect}: {pairs}");
    }
    Ok(())
}

/// A suite of one aspect, in memory.
fn suite(stories: &[Story], aspect: Aspect) -> Suite {
    let donors = donors(stories);
    let maker = TwinMaker::new(&donors, Lexicon::embedded(), Tagger::embedded());
    let mut suite = Suite::default();
    let mut own = SuiteAspect {
        aspect,
        pairing: storymeter_meta::suite::Pairing::Paired,
        originals: Vec::new(),
        twins: Vec::new(),
        stories: stories.len(),
        left_out: Vec::new(),
        rules: Vec::new(),
        pairs: Vec::<Pair>::new(),
    };
    for (record, story) in stories.iter().enumerate() {
        let Ok(twin) = maker.open(story).twin(aspect, 0, record as u64) else { continue };
        own.originals.push(suite.texts.len());
        suite.texts.push(SuiteText { aspect: None, story: story.clone() });
        own.twins.push(suite.texts.len());
        let story = Story::from(twin.text);
        suite.texts.push(SuiteText { aspect: Some(aspect), story });
    }
    suite.aspects.push(own);
    suite
}

fn the_embedded_model_sees_repetition_and_stays_calm_at_contractions() -> Result {
    let stories: Vec<Story> = stories()?.into_iter().step_by(13).collect();
    let scorer = Scorer::new().build().unwrap();
    let cell = |aspect: Aspect| {
        let suite = suite(&stories, aspect);
        let scores = suite.score(&scorer, &Progress::unwatched()).unwrap();
        let result = scores.analyse(&suite, &SuiteOptions::default()).unwrap();
        let cell = result.cell("union", aspect).unwrap().clone();
        eprintln!("{aspect}: {} pairs, AUC {:?}, shift {:?}", cell.pairs, cell.auc, cell.shift);
        cell
    };
    assert!(cell(Aspect::LexicalRepetition).auc.unwrap() >= 0.95);
    assert!(cell(Aspect::Contraction).shift.unwrap().abs() < 0.3);
    Ok(())
}

storymeter_checks::checks!(
    every_twin_of_4000_stories_can_be_undone_and_begins_as_its_story,
    the_embedded_model_sees_repetition_and_stays_calm_at_contractions,
);
