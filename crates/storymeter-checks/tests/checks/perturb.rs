//! Negative samples on the real corpora.

use std::path::Path;

use rayon::prelude::*;
use storymeter_checks::{Result, shared};
use storymeter_core::Story;
use storymeter_core::read::{ReadOptions, open};
use storymeter_core::rng::StreamId;
use storymeter_perturb::negation::alterations;
use storymeter_perturb::{
    CheckedConfig, Config, DEFAULT_SAMPLE, DamageCounts, DonorSampler, Donors, Perturber, Preset,
    Technique, apply, undo,
};
use storymeter_text::lexicon::Lexicon;
use storymeter_text::tagger::Tagger;
use storymeter_text::{Span, sentence, treebank};

const SEED: u64 = 20;

fn first_draw(record: usize) -> StreamId {
    StreamId::Draw { record: record as u64, draw: 0 }
}

fn read(path: &Path) -> Vec<Story> {
    open(&[path.to_owned()], &ReadOptions::default())
        .unwrap()
        .map(|record| record.unwrap().story)
        .collect()
}

fn donors(stories: &[Story]) -> Donors {
    let mut sampler = DonorSampler::new(SEED, DEFAULT_SAMPLE);
    for (record, story) in stories.iter().enumerate() {
        sampler.offer(record as u64, story);
    }
    sampler.finish(Tagger::embedded(), Lexicon::embedded())
}

fn roc_negatives_have_the_shares_asked_for_and_can_be_undone() -> Result {
    let path = shared("data/roc/stories.tsv.gz")?;
    let stories = read(&path);
    assert_eq!(stories.len(), 60_802);
    let donors = donors(&stories);
    for preset in [Preset::Paper, Preset::ReleasedCode] {
        let config = Config { preset, ..Config::default() }.checked().unwrap();
        let perturber = Perturber::new(config, &donors, Lexicon::embedded(), Tagger::embedded());
        let counts = stories
            .par_iter()
            .enumerate()
            .map(|(record, story)| {
                let outcome = perturber.perturb(story, SEED, first_draw(record));
                let mut counts = DamageCounts::default();
                counts.add(&outcome);
                if let Ok(sample) = outcome {
                    assert_ne!(sample.story, story.text);
                    assert_eq!(apply(&story.text, &sample.edits).unwrap(), sample.story);
                    assert_eq!(undo(&sample.story, &sample.edits).unwrap(), story.text);
                    let first = &story.text[story.sentences[0].clone()];
                    assert!(
                        sample.story.starts_with(first),
                        "sentence 1 changed: {}",
                        sample.story
                    );
                    assert!(sample.edits.iter().all(|edit| (1..5).contains(&edit.sentence())));
                }
                counts
            })
            .reduce(DamageCounts::default, |mut a, b| {
                a.merge(&b);
                a
            });
        eprintln!("{preset}:\n{}", counts.report(perturber.config()));
        assert_shares(&counts, perturber.config());
        if preset == Preset::Paper {
            assert_eq!(counts.samples, 60_802, "every ROC story can be damaged");
        }
    }
    Ok(())
}

/// Asserts that every share is within one point of what was asked for.
fn assert_shares(counts: &DamageCounts, config: &CheckedConfig) {
    let all = counts.samples as f64;
    for (asked, came) in config.expected_counts().iter().zip(counts.by_number) {
        assert!((asked - came as f64 / all).abs() < 0.01, "number of techniques: {asked} {came}");
    }
    for (technique, implied) in Technique::ALL.into_iter().zip(config.expected_techniques()) {
        let came = counts.techniques[technique.index()] as f64 / all;
        assert!((implied - came).abs() < 0.01, "{technique}: {implied} {came}");
    }
}

/// Without the sentence boundaries of the file, the splitter must find as many sentences after the
/// damage as before it. The few exceptions are sentences that it reads differently next to other
/// neighbours.
fn five_sentences_stay_five() -> Result {
    let path = shared("data/roc/stories.tsv.gz")?;
    let stories = read(&path);
    let donors = donors(&stories);
    let perturber =
        Perturber::new(CheckedConfig::default(), &donors, Lexicon::embedded(), Tagger::embedded());
    let counts: Vec<(usize, usize)> = stories
        .par_iter()
        .enumerate()
        .filter_map(|(record, story)| {
            let sample = perturber.perturb(story, SEED, first_draw(record)).ok()?;
            Some((sentence::split(&story.text).len(), sentence::split(&sample.story).len()))
        })
        .collect();
    let five_before = counts.iter().filter(|(before, _)| *before == 5).count();
    let five_after = counts.iter().filter(|(before, after)| *before == 5 && *after == 5).count();
    let share = five_after as f64 / five_before as f64;
    eprintln!(
        "the splitter finds five sentences in {five_before} stories, and in {five_after} of them \
         ({:.2}%) after the damage",
        100.0 * share
    );
    assert!(five_before > 50_000 && share > 0.99, "{five_after} of {five_before}");
    Ok(())
}

fn long_stories_can_be_damaged_too() -> Result {
    let path = shared("data/long/stories.jsonl.gz")?;
    let stories: Vec<Story> = read(&path).into_iter().take(3_000).collect();
    assert_eq!(stories.len(), 3_000);
    let donors = donors(&stories);
    let perturber =
        Perturber::new(CheckedConfig::default(), &donors, Lexicon::embedded(), Tagger::embedded());
    let made = stories
        .par_iter()
        .enumerate()
        .filter(|(record, story)| match perturber.perturb(story, SEED, first_draw(*record)) {
            Ok(sample) => {
                assert_eq!(undo(&sample.story, &sample.edits).unwrap(), story.text);
                true
            }
            Err(_) => false,
        })
        .count();
    eprintln!("{made} of {} long stories damaged", stories.len());
    assert!(made * 100 >= stories.len() * 99);
    Ok(())
}

/// Almost every alteration is taken back, letter for letter, by some alteration of its result.
fn negating_twice_gives_the_sentence_back() -> Result {
    let path = shared("data/pos/ewt_dev.tsv.gz")?;
    let sentences = treebank_sentences(&path);
    let mut done = 0;
    let mut tried = 0;
    let mut back = 0;
    for sentence in &sentences {
        let results = altered(sentence);
        if results.is_empty() {
            continue;
        }
        for result in results {
            tried += 1;
            let returned = altered(&result).iter().any(|again| again == sentence);
            back += usize::from(returned);
        }
        done += 1;
        if done == 300 {
            break;
        }
    }
    let share = back as f64 / tried as f64;
    eprintln!(
        "negating twice: {back} of {tried} alterations of {done} sentences are taken back ({:.1}%)",
        100.0 * share
    );
    assert_eq!(done, 300);
    assert!(share >= 0.97);
    Ok(())
}

/// Every sentence that is one alteration away.
fn altered(sentence: &str) -> Vec<String> {
    let tokens: Vec<Span> = treebank::tokenize(sentence).iter().map(|token| token.span).collect();
    let words: Vec<&str> = tokens.iter().map(|token| token.of(sentence)).collect();
    let tags = Tagger::embedded().tag(&words);
    let write = |span: Span, after: &str| {
        format!("{}{after}{}", &sentence[..span.start], &sentence[span.end..])
    };
    alterations(sentence, &tokens, &tags, true)
        .iter()
        .flat_map(|a| {
            [Some(write(a.span, &a.plain)), a.short.as_deref().map(|short| write(a.span, short))]
        })
        .flatten()
        .collect()
}

/// The sentences of a treebank file, their tokens joined by spaces. The file has one token and its
/// tag per line, and an empty line between sentences.
fn treebank_sentences(path: &Path) -> Vec<String> {
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap();
    std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(file), &mut text).unwrap();
    text.split("\n\n")
        .map(|block| {
            block.lines().filter_map(|line| line.split('\t').next()).collect::<Vec<_>>().join(" ")
        })
        .filter(|sentence| !sentence.trim().is_empty())
        .collect()
}

storymeter_checks::checks!(
    roc_negatives_have_the_shares_asked_for_and_can_be_undone,
    five_sentences_stay_five,
    long_stories_can_be_damaged_too,
    negating_twice_gives_the_sentence_back,
);
