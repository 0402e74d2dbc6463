//! The questions about the texts of the golden numbers, and what the tiny model answers.

use storymeter_encoder::train::Cpu;
use storymeter_encoder::{Config, Device, Model, Precision, Tokenizer};
use tempfile::TempDir;

use super::tune::Pupil;
use super::*;
use crate::masked::Masked;
use crate::support::{A, Q, VOCABULARY, write_masked_model};

/// A folder with the tiny model, and its tokeniser.
fn folder() -> (TempDir, Tokenizer) {
    let folder = tempfile::tempdir().unwrap();
    write_masked_model(folder.path());
    let config = Config::load(folder.path()).unwrap();
    let tokenizer = Tokenizer::load(folder.path(), &config).unwrap();
    (folder, tokenizer)
}

fn hidden(questions: &[Question]) -> usize {
    questions.iter().map(|question| question.answers.len()).sum()
}

#[test]
fn the_questions_of_help_have_the_prompt_or_full_stops_before_the_sentence() {
    let (_folder, tokenizer) = folder();
    let vocabulary = Vocabulary::new(&tokenizer, 512, PunktQuotes::All).unwrap();
    let (document, help) = (vocabulary.sentences(A), vocabulary.sentences(Q));
    let (with, without) = vocabulary.with_and_without_help(&document, &help);
    assert_eq!(with.questions.len() + without.len(), 12);
    assert_eq!((hidden(&with.questions), hidden(&without), with.cut), (20, 20, false));

    let Question { masked: Masked { ids, hidden: places }, answers } = &with.questions[0];
    assert_eq!(places, &[16, 18, 20, 22]);
    assert_eq!(answers, &[10171, 6589, 5108, 2305], "lighthouse, climbed, stairs, night");
    assert_eq!(ids[..4], [101, 4339, 2055, 1037]);
    assert_eq!(ids[13..], [1012, 1996, 2214, 103, 10684, 103, 1996, 103, 2296, 103, 1012, 102]);
    let filled = &without[0].masked.ids;
    assert_eq!(filled[..14], [&[101][..], &[1012; 13]].concat());
    assert_eq!(filled[14..], ids[14..]);

    let asked = vocabulary.questions(&help);
    assert_eq!(hidden(&asked.questions), 7);
    assert!(asked.questions.iter().all(|question| question.masked.ids.len() == 15));
}

#[test]
fn the_tiny_model_answers_like_blanc() {
    let (folder, tokenizer) = folder();
    let vocabulary = Vocabulary::new(&tokenizer, 512, PunktQuotes::All).unwrap();
    let (document, help) = (vocabulary.sentences(A), vocabulary.sentences(Q));
    let (with, without) = vocabulary.with_and_without_help(&document, &help);
    let expected = ([4072, 12218, 13673, 29662], [4072, 25227, 13673, 29662]);

    let weights = MaskedWordWeights::open(folder.path()).unwrap();
    let pupil = Pupil::new(Cpu::default(), &weights).unwrap();
    assert_eq!(pupil.predictions(&with.questions[..1]).unwrap(), expected.0);
    assert_eq!(pupil.predictions(&without[..1]).unwrap(), expected.1);

    let model = Model::open(folder.path(), Device::Cpu, Precision::F32).unwrap();
    let guess = |questions: &[Question]| {
        let mut guesses = Vec::new();
        masked::predict(&model, questions, |_: &[&Question], logits| {
            guesses.extend(logits.iter().map(|logits| most_probable(logits)));
        })
        .unwrap();
        guesses
    };
    assert_eq!(guess(&with.questions)[..4], expected.0);
    assert_eq!(guess(&without)[..4], expected.1);
    let outcome = Outcome::new(&without, &guess(&without), &guess(&with.questions), false);
    assert_eq!(outcome, Outcome { hidden: 20, ..Outcome::default() }, "0 of 20");
}

#[test]
fn lessons_are_masked_chunks() {
    let (_folder, tokenizer) = folder();
    let vocabulary = Vocabulary::new(&tokenizer, 512, PunktQuotes::All).unwrap();
    let lessons = vocabulary.lessons(&vocabulary.tokens(A), Stream::new(1));
    let lengths: Vec<usize> = lessons.iter().map(|lesson| lesson.masked.ids.len()).collect();
    assert_eq!(lengths, [41, 41, 9, 9, 34, 34]);
    assert_eq!(hidden(&lessons), 40, "20 in the whole, 3 in the end, 17 in the beginning");
}

#[test]
fn a_tenth_of_the_hidden_words_is_replaced_and_a_tenth_is_visible() {
    let (_folder, tokenizer) = folder();
    let vocabulary = Vocabulary::new(&tokenizer, 512, PunktQuotes::All).unwrap();
    let text = vocabulary.tokens(&format!("{A} ").repeat(100));
    let lessons = vocabulary.lessons(&text, Stream::new(1));
    assert_eq!(lessons, vocabulary.lessons(&text, Stream::new(1)));
    assert_ne!(lessons, vocabulary.lessons(&text, Stream::new(2)));
    let (mut masks, mut visible, mut replaced) = (0, 0, 0);
    for Question { masked: Masked { ids, hidden }, answers } in &lessons {
        for (&at, &answer) in hidden.iter().zip(answers) {
            match ids[at] {
                103 => masks += 1,
                id if id == answer => visible += 1,
                id => {
                    assert!((1000..30_000).contains(&id), "{id}");
                    replaced += 1;
                }
            }
        }
    }
    let all = f64::from(masks + visible + replaced);
    for (count, share) in [(masks, 0.8), (visible, 0.1), (replaced, 0.1)] {
        assert!((f64::from(count) / all - share).abs() < 0.015, "{count} of {all}");
    }
}

#[test]
fn compatible_characters_are_one_when_words_are_guessed_but_not_when_they_are_learnt() {
    let (_folder, tokenizer) = folder();
    let vocabulary = Vocabulary::new(&tokenizer, 512, PunktQuotes::All).unwrap();
    assert_eq!(vocabulary.sentences("ﬂame"), [[8457]]);
    assert_eq!(vocabulary.tokens("ﬂame"), [tokenizer.unk().unwrap()]);
    assert_eq!(vocabulary.sentences(" \n"), Vec::<Vec<u32>>::new());
    assert_eq!(tokenizer.vocabulary(), VOCABULARY);
}

#[test]
fn the_first_of_equal_logits_is_the_guess() {
    assert_eq!(most_probable(&[0.5, 2.0, -1.0, 2.0]), 1);
    assert_eq!(most_probable(&[f32::NEG_INFINITY; 3]), 0);
}

#[test]
fn outcomes_count_what_help_gains_and_loses() {
    let masked = Masked { ids: vec![101, 103, 103, 103, 103, 102], hidden: vec![1, 2, 3, 4] };
    let question = [Question { masked, answers: vec![7, 8, 9, 10] }];
    let outcome = Outcome::new(&question, &[7, 0, 0, 10], &[7, 8, 9, 0], false);
    assert_eq!((outcome.gained, outcome.lost, outcome.hidden), (2, 1, 4));
    assert_eq!(outcome.score(), Some(0.25));
    assert_eq!(Outcome::default().score(), None);
}
