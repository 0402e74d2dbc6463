//! Compares tokens and hidden states of tiny random models with PyTorch (see
//! tools/encoder_fixtures.py).

use serde_json::Value;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use storymeter_encoder::{
    Batch, Config, Isa, Model, Outputs, Precision, Tokenizer, load_parameters,
};

const MODELS: [&str; 3] = ["bert", "distilbert", "mpnet"];

fn folder(model: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(model)
}

struct Story {
    text: String,
    ids: Vec<u32>,
    spans: Vec<(usize, usize)>,
    hidden: Vec<f32>,
}

fn expected(model: &str) -> Vec<Story> {
    let text = std::fs::read(folder(model).join("expected.json")).unwrap();
    let json: Value = serde_json::from_slice(&text).unwrap();
    let numbers = |value: &Value| -> Vec<f64> {
        value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
    };
    let stories = json["stories"].as_array().unwrap().iter();
    stories
        .map(|story| Story {
            text: story["text"].as_str().unwrap().to_owned(),
            ids: numbers(&story["ids"]).into_iter().map(|v| v as u32).collect(),
            spans: story["spans"]
                .as_array()
                .unwrap()
                .iter()
                .map(|span| {
                    (span[0].as_u64().unwrap() as usize, span[1].as_u64().unwrap() as usize)
                })
                .collect(),
            hidden: numbers(&story["hidden"]).into_iter().map(|v| v as f32).collect(),
        })
        .collect()
}

fn encoder(model: &str, precision: Precision, isa: Isa) -> Model {
    let config = Config::load(&folder(model)).unwrap();
    let parameters = load_parameters(&folder(model), &config).unwrap();
    Model::on_cpu(config, &parameters, precision, isa).unwrap()
}

/// The last hidden states of every sequence.
fn states(model: &Model, batch: &Batch) -> Vec<Vec<f32>> {
    let layers = model.config().layers;
    let run = model.run(batch, &Outputs::new().layers([layers])).unwrap();
    (0..batch.len()).map(|i| run.layer(layers).sequence(i).to_vec()).collect()
}

#[test]
fn tokens_and_their_places_are_those_of_hugging_face() {
    for model in MODELS {
        let config = Config::load(&folder(model)).unwrap();
        let tokenizer = Tokenizer::load(&folder(model), &config).unwrap();
        for story in expected(model) {
            let (ids, left_out) = tokenizer.encode(&story.text, config.max_tokens());
            assert_eq!((ids, left_out), (story.ids.clone(), 0), "{model}: {:?}", story.text);
            let tokens = tokenizer.tokenize(&story.text);
            let spans: Vec<_> = tokens.iter().map(|token| (token.start, token.end)).collect();
            assert_eq!(spans, story.spans[1..story.spans.len() - 1], "{model}: {:?}", story.text);
        }
    }
}

#[test]
fn hidden_states_in_f32_are_those_of_pytorch_on_every_instruction_level() {
    for model in MODELS {
        let stories = expected(model);
        let batch: Batch = stories.iter().map(|story| story.ids.as_slice()).collect();
        for isa in Isa::available() {
            let encoder = encoder(model, Precision::F32, isa);
            let hidden = states(&encoder, &batch);
            for (i, story) in stories.iter().enumerate() {
                let worst = largest_difference(&hidden[i], &story.hidden);
                assert!(worst < 2e-5, "{model} on {}: story {i} differs by {worst}", isa.name());
            }
        }
    }
}

#[test]
fn int8_is_close_to_f32_and_the_same_bytes_on_every_instruction_level() {
    for model in MODELS {
        let stories = expected(model);
        let batch: Batch = stories.iter().map(|story| story.ids.as_slice()).collect();
        let all: Vec<Vec<f32>> = Isa::available()
            .into_iter()
            .map(|isa| states(&encoder(model, Precision::Int8, isa), &batch).concat())
            .collect();
        let truth: Vec<f32> = stories.iter().flat_map(|story| story.hidden.clone()).collect();
        let width = encoder(model, Precision::Int8, Isa::detect()).config().hidden;
        for (states, isa) in all.iter().zip(Isa::available()) {
            assert_eq!(
                bits(states),
                bits(&all[0]),
                "{model}: {} and {}",
                isa.name(),
                Isa::available()[0].name()
            );
            let cosine = mean_cosine(states, &truth, width);
            assert!(cosine > 0.998, "{model} on {}: mean cosine {cosine}", isa.name());
        }
    }
}

#[test]
fn a_story_has_the_same_bytes_alone_in_any_batch_and_with_any_number_of_threads() {
    let pools =
        [1, 2, 3, 5].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap());
    for precision in [Precision::F32, Precision::Int8] {
        for model in MODELS {
            let encoder = encoder(model, precision, Isa::detect());
            let stories = expected(model);
            let alone: Vec<Vec<u32>> = stories
                .iter()
                .map(|story| {
                    let batch: Batch = [story.ids.as_slice()].into_iter().collect();
                    pools[0].install(|| bits(&states(&encoder, &batch)[0]))
                })
                .collect();
            // From a handful of tokens, where threads share the rows of a story, to thousands,
            // where each thread takes stories of its own.
            for copies in [1, 3, 60] {
                let order: Vec<usize> =
                    (0..copies * stories.len()).map(|i| (i * 5 + i / 7) % stories.len()).collect();
                let batch: Batch = order.iter().map(|&i| stories[i].ids.as_slice()).collect();
                for pool in &pools {
                    pool.install(|| {
                        let hidden = states(&encoder, &batch);
                        for (place, &story) in order.iter().enumerate() {
                            assert_eq!(bits(&hidden[place]), alone[story], "{model} {precision:?}");
                        }
                    });
                }
            }
        }
    }
}

#[test]
fn an_encoder_put_together_from_its_parts_gives_the_same_bytes() {
    for model in MODELS {
        let whole = encoder(model, Precision::Int8, Isa::detect());
        let parts = whole.parts().unwrap();
        let find =
            |name: &str| parts.iter().find(|(n, _)| n == name).map(|(_, b)| Cow::Owned(b.clone()));
        let config = whole.config().clone();
        let again = Model::from_parts(config.clone(), &find, Path::new("m")).unwrap();
        let stories = expected(model);
        let batch: Batch = stories.iter().map(|story| story.ids.as_slice()).collect();
        let found = bits(&states(&whole, &batch).concat());
        assert_eq!(found, bits(&states(&again, &batch).concat()), "{model}");
        assert!(encoder(model, Precision::F32, Isa::detect()).parts().is_none());

        for (lost, _) in &parts {
            let part = |name: &str| if name == lost { None } else { find(name) };
            let error = Model::from_parts(config.clone(), &part, Path::new("m"));
            assert_eq!(error.err().unwrap().to_string(), format!("m: tensor {lost}: is missing"));
        }
        let cut = |name: &str| find(name).map(|part| Cow::Owned(part[1..].to_vec()));
        let error = Model::from_parts(config, &cut, Path::new("m")).err().unwrap();
        assert!(error.to_string().starts_with("m: tensor words: has "), "{error}");
    }
}

#[test]
fn a_batch_the_model_has_no_entries_for_is_an_error() {
    let encoder = encoder("bert", Precision::F32, Isa::detect());
    let last = Outputs::new().layers([encoder.config().layers]);
    let long: Batch = [&[2, 3][..], &[1; 97]].into_iter().collect();
    let error = encoder.run(&long, &last).err().unwrap();
    assert_eq!(
        error.to_string(),
        "story 1 of the batch: 97 tokens, but the model has 96 positions"
    );
    let odd: Batch = [&[2, 90_000, 3][..]].into_iter().collect();
    let error = encoder.run(&odd, &last).err().unwrap();
    let expected =
        format!("token 90000, but the vocabulary has {} entries", encoder.config().vocabulary);
    assert!(error.to_string().ends_with(&expected), "{error}");
    assert!(states(&encoder, &Batch::new()).is_empty());
}

fn bits(states: &[f32]) -> Vec<u32> {
    states.iter().map(|v| v.to_bits()).collect()
}

fn largest_difference(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

fn mean_cosine(a: &[f32], b: &[f32], width: usize) -> f64 {
    assert_eq!(a.len(), b.len());
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum::<f64>();
    let rows = a.chunks_exact(width).zip(b.chunks_exact(width));
    let cosines: Vec<f64> = rows.map(|(a, b)| dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()).collect();
    cosines.iter().sum::<f64>() / cosines.len() as f64
}

#[test]
fn int8_weights_become_numbers_again() {
    for model in MODELS {
        let (folder, packed) = (folder(model), encoder(model, Precision::Int8, Isa::detect()));
        let config = packed.config().clone();
        let exact = load_parameters(&folder, &config).unwrap();
        let numbers = packed.parameters().unwrap();
        for (found, exact) in numbers.tensors.iter().zip(&exact.tensors) {
            assert_eq!((&found.name, &found.shape), (&exact.name, &exact.shape));
            // Packing adds the segments to the positions.
            if found.name.contains("position_embeddings") || found.name.contains("token_type") {
                continue;
            }
            let largest = exact.data.iter().fold(0f32, |most, x| most.max(x.abs()));
            let step = if exact.shape.len() > 1 { largest / 127.0 } else { 0.0 };
            // Buckets of distances beyond the longest story of this model have no number in a
            // packed encoder.
            let unused = |a: f32| a == 0.0 && found.name.contains("relative_attention_bias");
            let mut pairs = found.data.iter().zip(&exact.data);
            let close = pairs.all(|(a, b)| (a - b).abs() <= 0.501 * step || unused(*a));
            assert!(close, "{model}: {}", found.name);
        }
        // Packed again they are the same integers; a scale may differ in its last bit.
        let again = Model::on_cpu(config, &numbers, Precision::Int8, Isa::detect()).unwrap();
        for ((name, a), (_, b)) in packed.parts().unwrap().iter().zip(&again.parts().unwrap()) {
            assert!(a == b || name.ends_with("scales"), "{model}: {name}");
        }
        assert!(encoder(model, Precision::F32, Isa::detect()).parameters().is_none());
    }
}
