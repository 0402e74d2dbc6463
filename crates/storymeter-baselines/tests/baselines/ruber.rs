//! Training RUBER: the steps of PyTorch, and a whole run with a tiny encoder.

use std::fs;
use std::path::{Path, PathBuf};

use storymeter_baselines::Error;
use storymeter_baselines::ruber::{AdamSettings, Event, Job, Learner, Settings, train};
use storymeter_core::Story;
use storymeter_encoder::Device;
use storymeter_neural::ruber::{CARD, Card, HEAD, Head};

#[test]
fn two_steps_equal_those_of_pytorch() {
    let fixture: serde_json::Value =
        serde_json::from_str(include_str!("../fixtures/ruber_step.json")).unwrap();
    let numbers = |value: &serde_json::Value| -> Vec<f64> {
        value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    };
    let floats = |value| numbers(value).into_iter().map(|x| x as f32).collect::<Vec<f32>>();
    let width = 5;
    let mut head = Head::zeros(width);
    // The formula of tools/neural_tiny.py: tensors in the order of their names.
    let mut order: Vec<usize> = (0..5).collect();
    order.sort_by_key(|&at| Head::NAMES[at]);
    for (k, &at) in order.iter().enumerate() {
        for (i, number) in head.tensors_mut()[at].iter_mut().enumerate() {
            let z = split_mix(((k as u64) << 32) + i as u64);
            *number = (0.3 * (2.0 * (z >> 11) as f64 / 2f64.powi(53) - 1.0)) as f32;
        }
    }
    let adam = AdamSettings {
        rate: fixture["rate"].as_f64().unwrap() as f32,
        clip: fixture["clip"].as_f64().unwrap(),
        ..AdamSettings::default()
    };
    let labels: Vec<bool> = numbers(&fixture["labels"]).iter().map(|&x| x == 1.0).collect();
    let (q, r) = (floats(&fixture["contexts"]), floats(&fixture["continuations"]));
    let mut learner = Learner::new(head, adam);
    for expected in numbers(&fixture["losses"]) {
        let loss = learner.learn(&q, &r, &labels);
        assert!((loss - expected).abs() < 1e-6, "{loss} is not {expected}");
    }
    for (name, tensor) in Head::NAMES.iter().zip(learner.head().tensors()) {
        for (&found, expected) in tensor.iter().zip(numbers(&fixture["weights"][name])) {
            assert!(
                (f64::from(found) - expected).abs() < 2e-6,
                "{name}: {found} is not {expected}"
            );
        }
    }
}

/// SplitMix64 of Steele, Lea and Flood (2014).
fn split_mix(number: u64) -> u64 {
    let z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn encoder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../storymeter-encoder/tests/fixtures/bert")
}

/// Stories in which the continuation repeats a word of the context.
fn stories(count: usize) -> Vec<Story> {
    let words = ["kite", "barn", "bread", "brother"];
    let story = |at: usize| {
        let (word, number) = (words[at % 4], at / 4);
        Story::from(format!("Mira {number} looked for the {word}. The {word} hung there {number}."))
    };
    (0..count).map(story).collect()
}

fn run(stories: &[Story], settings: &Settings, out: &Path) -> Result<(Vec<f64>, usize), Error> {
    let (init, files) = (encoder(), [("stories.tsv".to_owned(), stories.len())]);
    let job = Job { init: &init, stories, files: &files, out, settings, device: Device::Cpu };
    let mut encoded = 0;
    let reports = train(&job, &mut |event| {
        if let Event::Encoded(done, _) = event {
            encoded = done;
        }
        Ok(())
    })?;
    Ok((reports.iter().map(|report| report.dev_loss).collect(), encoded))
}

#[test]
fn a_trained_folder_is_whole_and_the_same_for_any_number_of_threads() {
    let stories = stories(120);
    let settings = Settings { epochs: 4, learning_rate: 1e-2, ..Settings::default() };
    let train = |threads: usize| {
        let out = tempfile::tempdir().unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (losses, encoded) = pool.install(|| run(&stories, &settings, out.path())).unwrap();
        let read = |name| fs::read(out.path().join(name)).unwrap();
        (losses, encoded, read(HEAD), read(CARD), out)
    };
    let (losses, encoded, head, card, out) = train(1);
    assert!((2..=4).contains(&losses.len()) && encoded > 200, "{losses:?} {encoded}");
    let again = train(3);
    assert_eq!((&again.0, &again.2, &again.3), (&losses, &head, &card));
    for name in ["config.json", "model.safetensors", "vocab.txt"] {
        let (copy, original) = (out.path().join(name), encoder().join(name));
        assert_eq!(fs::read(copy).unwrap(), fs::read(original).unwrap(), "{name}");
    }
    let written: serde_json::Value = serde_json::from_slice(&card).unwrap();
    let weights = written["encoder_weights"].as_str().unwrap();
    let width = written["width"].as_u64().unwrap() as usize;
    let (card, _) = Card::load(out.path(), width, weights).unwrap();
    assert!(card.delexicalise && card.encoder == "bert");
    let signature = card.training["signature"].as_str().unwrap();
    assert!(signature.starts_with("ruber-training|encoder:"), "{signature}");
}

#[test]
fn weights_of_an_earlier_model_do_not_stay_beside_the_new_ones() {
    let out = tempfile::tempdir().unwrap();
    fs::write(out.path().join("pytorch_model.bin"), "old").unwrap();
    fs::write(out.path().join("notes.txt"), "mine").unwrap();
    let settings = Settings { epochs: 1, ..Settings::default() };
    run(&stories(80), &settings, out.path()).unwrap();
    assert!(!out.path().join("pytorch_model.bin").exists());
    assert!(out.path().join("notes.txt").exists());
}

#[test]
fn what_cannot_be_trained_is_an_error() {
    let out = tempfile::tempdir().unwrap();
    let error = |stories: &[Story], settings: Settings| {
        run(stories, &settings, out.path()).expect_err("wrong").to_string()
    };
    let few = error(&stories(10), Settings::default());
    assert!(
        few.starts_with("training: there are 9 examples to learn from and 0 to choose"),
        "{few}"
    );
    let zero = Settings { epochs: 0, ..Settings::default() };
    assert_eq!(error(&stories(80), zero), "training: epochs must be from 1 to 1000000, but is 0");
    assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0, "nothing is written");
}
