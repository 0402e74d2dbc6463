//! The questions, guesses and lessons of blanc 0.3.4 on the project's own texts (blanc.json, made
//! by tools/neural_fixtures_masked.py).
//!
//! The vocabulary has the pieces of these texts at their places in that of BERT.

use std::fs;
use std::path::Path;

use serde_json::Value;
use storymeter_encoder::train::Cpu;
use storymeter_encoder::{Config, Tokenizer};
use tempfile::TempDir;

use super::tune::Pupil;
use super::*;
use crate::support::write_masked_model;

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

fn fixture(name: &str) -> Value {
    serde_json::from_str(&read(&format!("tests/fixtures/{name}"))).unwrap()
}

/// A text by its name in the fixtures: one of bertscore.json, or an example story.
fn text(name: &str) -> String {
    if let Some(text) = fixture("bertscore.json")["texts"][name].as_str() {
        return text.to_owned();
    }
    let stories: Vec<Value> = read("../../examples/stories.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let is_wanted = |story: &&Value| match name {
        "long" => story["id"].as_str().unwrap().ends_with("-sound"),
        _ => story["id"] == name,
    };
    let found: Vec<&str> =
        stories.iter().filter(is_wanted).map(|story| story["story"].as_str().unwrap()).collect();
    assert!(!found.is_empty(), "no text {name}");
    found.join(" ")
}

/// A folder with the tiny model and the words of the texts, and the cases.
fn cases() -> (TempDir, Tokenizer, Vec<Value>) {
    let folder = tempfile::tempdir().unwrap();
    write_masked_model(folder.path());
    let fixture = fixture("blanc.json");
    let vocabulary = folder.path().join("vocab.txt");
    let known = fs::read_to_string(&vocabulary).unwrap();
    let mut pieces: Vec<&str> = known.lines().collect();
    for (piece, id) in fixture["pieces"][0].as_object().unwrap() {
        pieces[id.as_u64().unwrap() as usize] = piece;
    }
    fs::write(vocabulary, pieces.join("\n")).unwrap();
    let cases = fixture["cases"].as_array().unwrap().clone();
    let config = Config::load(folder.path()).unwrap();
    let tokenizer = Tokenizer::load(folder.path(), &config).unwrap();
    (folder, tokenizer, cases)
}

fn lengths(questions: &[Question]) -> Vec<usize> {
    questions.iter().map(|question| question.masked.ids.len()).collect()
}

fn numbers(values: &Value) -> Vec<usize> {
    values.as_array().unwrap().iter().map(|value| value.as_u64().unwrap() as usize).collect()
}

/// Guesses as the fixture has them: for each question, the places and what was guessed there.
fn placed(questions: &[Question], guesses: &[u32]) -> Value {
    let mut guesses = guesses.iter();
    let of_one = |question: &Question| -> Value {
        let places = question.masked.hidden.iter();
        places
            .zip(guesses.by_ref())
            .map(|(place, guess)| Value::from(vec![*place, *guess as usize]))
            .collect()
    };
    questions.iter().map(of_one).collect()
}

#[test]
fn questions_and_guesses_are_those_of_blanc() {
    let (folder, tokenizer, cases) = cases();
    let vocabulary = Vocabulary::new(&tokenizer, 512, PunktQuotes::All).unwrap();
    let weights = MaskedWordWeights::open(folder.path()).unwrap();
    let pupil = Pupil::new(Cpu::default(), &weights).unwrap();
    for case in cases {
        let name = |key: &str| case[key].as_str().unwrap().to_owned();
        let what = format!("{} with {}", name("document"), name("summary"));
        let document = vocabulary.sentences(&text(&name("document")));
        let help = vocabulary.sentences(&text(&name("summary")));
        let (with, without) = vocabulary.with_and_without_help(&document, &help);
        let hidden: usize = without.iter().map(|question| question.answers.len()).sum();
        assert_eq!(hidden as u64, case["eligible"], "{what}");
        let twice: Vec<usize> =
            lengths(&with.questions).into_iter().flat_map(|length| [length; 2]).collect();
        assert_eq!(twice, numbers(&case["help_lengths"]), "{what}");
        let first = [&with.questions[0].masked.ids, &without[0].masked.ids];
        assert_eq!(serde_json::json!(first), case["help_inputs"], "{what}");
        for (questions, key) in
            [(&with.questions, "help_predictions"), (&without, "filler_predictions")]
        {
            let guesses = pupil.predictions(questions).unwrap();
            assert_eq!(placed(questions, &guesses), case[key], "{what}");
        }
        let lessons =
            vocabulary.lessons(&vocabulary.tokens(&text(&name("summary"))), Stream::new(0));
        assert_eq!(lengths(&lessons), numbers(&case["tune_lengths"]), "{what}");
    }
}

#[test]
fn a_model_that_has_learnt_a_text_answers_like_that_of_blanc() {
    let (folder, tokenizer, cases) = cases();
    let vocabulary = Vocabulary::new(&tokenizer, 512, PunktQuotes::All).unwrap();
    let weights = MaskedWordWeights::open(folder.path()).unwrap();
    let mut seen = 0;
    for case in cases.iter().filter(|case| !case["tuned"].is_null()) {
        let name = |key: &str| case[key].as_str().unwrap().to_owned();
        let expected = &case["tuned"][0];
        assert_eq!(expected["learning_rate"], 5e-5);
        let document = vocabulary.sentences(&text(&name("document")));
        let first = &vocabulary.questions(&document).questions[..1];
        assert_eq!(serde_json::json!(first[0].masked.ids), expected["input"]);
        let mut lessons =
            vocabulary.lessons(&vocabulary.tokens(&text(&name("summary"))), Stream::new(0));
        // In the fixture, every hidden word is hidden by the mask.
        let mask = tokenizer.mask().unwrap();
        for Question { masked, .. } in &mut lessons {
            masked.hidden.iter().for_each(|&place| masked.ids[place] = mask);
        }
        let mut pupil = Pupil::new(Cpu::default(), &weights).unwrap();
        pupil.learn(&lessons, 1, None).unwrap();
        let mut guesses = Vec::new();
        let mut take = |logits: &[f32]| {
            let guess = most_probable(logits);
            guesses.push((guess, f64::from(logits[guess as usize])));
        };
        pupil.each_logits(first, &mut take).unwrap();
        let largest = expected["largest"].as_array().unwrap();
        assert_eq!(guesses.len(), largest.len());
        for ((guess, logit), expected) in guesses.iter().zip(largest) {
            assert_eq!(*guess as u64, expected[0], "{guesses:?}, not {largest:?}");
            let expected = expected[1].as_f64().unwrap();
            assert!((logit - expected).abs() < 1e-3, "{logit}, not {expected}");
        }
        seen += 1;
    }
    assert!(seen > 0);
}
