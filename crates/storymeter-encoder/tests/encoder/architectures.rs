//! Every architecture gives the numbers of `transformers` for tiny models whose weights are given
//! by a formula, and a sequence never influences another.
//!
//! The expected numbers are those of `transformers` 4.44.2 in f32.

use crate::tiny::{Tiny, tiny};
use serde_json::{Value, json};
use storymeter_encoder::{Batch, Head, Isa, Model, Outputs, Precision};

#[track_caller]
fn assert_close(found: &[f32], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        let error = (f64::from(*found) - expected).abs();
        assert!(error < 1e-5, "{what}: {found} instead of {expected}");
    }
}

fn mean(numbers: &[f32]) -> f64 {
    numbers.iter().map(|x| f64::from(*x)).sum::<f64>() / numbers.len() as f64
}

fn batch_of(sequences: &[&[u32]]) -> Batch {
    sequences.iter().copied().collect()
}

/// One model of every family.
const FAMILIES: [&str; 7] = ["bert", "roberta", "distilbert", "mpnet", "gpt2", "llama", "bart"];

fn list<T: serde::de::DeserializeOwned>(value: &Value) -> Vec<T> {
    serde_json::from_value(value.clone()).unwrap()
}

#[test]
fn the_formula_fills_the_tensors_as_it_should() {
    let bert = tiny("bert");
    assert_eq!(bert.weights.tensors.len(), 42);
    let words = bert.weights.tensors.iter().find(|t| t.name.ends_with("word_embeddings.weight"));
    let expected = [0.041_342_113_167_047_5, -0.043_159_432_709_217_07, -0.232_553_124_427_795_4];
    assert_close(&words.unwrap().data[..3], &expected, "words");
    assert_eq!(tiny("bart").weights.tensors.len(), 91);
    assert_eq!(tiny("gpt2").weights.tensors.len(), 28);
}

#[test]
fn states_and_masked_words_are_those_of_transformers() {
    for tiny in ["bert", "roberta", "distilbert", "mpnet"].map(tiny) {
        for isa in Isa::available() {
            let model = tiny.model_on(Precision::F32, isa);
            let width = model.config().hidden;
            for case in &tiny.cases {
                let ids: Vec<u32> = list(&case["ids"]);
                let (tokens, positions): (Vec<usize>, Vec<usize>) =
                    (list(&case["tokens"]), list(&case["positions"]));
                let places = positions.iter().map(|position| (0, *position));
                let outputs = Outputs::new().layers([0, 1, 2]).logits(Head::MaskedWord, places);
                let run = model.run(&batch_of(&[&ids]), &outputs).unwrap();
                let layers: Vec<Vec<Vec<f64>>> = list(&case["states"]);
                for (layer, rows) in layers.iter().enumerate() {
                    for (token, expected) in tokens.iter().zip(rows) {
                        let found = &run.layer(layer).sequence(0)[token * width..][..width];
                        assert_close(&found[..expected.len()], expected, tiny.name);
                    }
                }
                let logits: Vec<Vec<f64>> = list(&case["logits"]);
                let largest: Vec<usize> = list(&case["largest"]);
                for (n, (expected, largest)) in logits.iter().zip(largest).enumerate() {
                    let found = run.logits(n);
                    assert_close(&found[..expected.len()], expected, tiny.name);
                    let best = (0..found.len()).max_by(|a, b| found[*a].total_cmp(&found[*b]));
                    assert_eq!(best, Some(largest), "{}", tiny.name);
                }
            }
        }
    }
}

#[test]
fn likelihoods_of_language_models_are_those_of_transformers() {
    for tiny in ["gpt2", "llama", "llama_tied"].map(tiny) {
        for isa in Isa::available() {
            let model = tiny.model_on(Precision::F32, isa);
            for case in &tiny.cases {
                let ids: Vec<u32> = list(&case["ids"]);
                let last = ids.len() - 1;
                let outputs = Outputs::new().layers([0, 1, 2]).likelihoods();
                let outputs = outputs.logits(Head::NextToken, [(0, last)]);
                let run = model.run(&batch_of(&[&ids]), &outputs).unwrap();
                assert_close(run.likelihoods(0), &list::<f64>(&case["likelihoods"]), tiny.name);
                let logits: Vec<f64> = list(&case["logits_at_the_last_token"]);
                assert_close(&run.logits(0)[..logits.len()], &logits, tiny.name);
                let states: Vec<Vec<f64>> = list(&case["states_of_the_last_token"]);
                for (layer, expected) in states.iter().enumerate() {
                    let found = &run.layer(layer).sequence(0)[last * 32..];
                    assert_close(&found[..expected.len()], expected, tiny.name);
                }
            }
        }
    }
}

#[test]
fn gpt2_has_the_golden_perplexity() {
    let model = tiny("gpt2").model(Precision::F32);
    let batch = batch_of(&[&[5, 17, 101, 42, 7, 9, 9, 150]]);
    let run = model.run(&batch, &Outputs::new().likelihoods()).unwrap();
    let found = run.likelihoods(0);
    assert_eq!(found.len(), 7);
    assert!((-mean(found) - 6.141_297_340_4).abs() < 1e-5, "{found:?}");
    assert!((-mean(&found[3..]) - 6.126_346_588_1).abs() < 1e-5, "{found:?}");
}

#[test]
fn answers_to_padded_pairs_are_those_of_transformers() {
    let tiny = tiny("bert_answer");
    let model = tiny.model(Precision::F32);
    for case in &tiny.cases {
        let ids: Vec<u32> = list(&case["ids"]);
        let place = |field: &str| case[field].as_u64().unwrap() as usize;
        let mut batch = Batch::new();
        batch.push_padded(&ids, place("second"), place("attended"));
        let everywhere = (0..ids.len()).map(|token| (0, token));
        let run = model.run(&batch, &Outputs::new().logits(Head::Answer, everywhere)).unwrap();
        for (column, field) in ["start", "end"].into_iter().enumerate() {
            let found: Vec<f32> = (0..ids.len()).map(|n| run.logits(n)[column]).collect();
            assert_close(&found, &list::<f64>(&case[field]), field);
        }
    }
}

#[test]
fn likelihoods_of_targets_are_those_of_transformers() {
    let tiny = tiny("bart");
    for isa in Isa::available() {
        let model = tiny.model_on(Precision::F32, isa);
        // The first two targets belong to the same sequence, which is encoded once.
        let sources: [Vec<u32>; 2] = [0, 2].map(|case| list(&tiny.cases[case]["source"]));
        let mut batch = batch_of(&[&sources[0], &sources[1]]);
        for (case, source) in tiny.cases.iter().zip([0, 0, 1]) {
            batch.push_target(source, &list::<u32>(&case["target"]));
        }
        let run = model.run(&batch, &Outputs::new().layers([0, 1, 2]).likelihoods()).unwrap();
        for (i, case) in tiny.cases.iter().enumerate() {
            assert_close(run.likelihoods(i), &list::<f64>(&case["likelihoods"]), "likelihoods");
        }
        for (sequence, case) in [0, 2].into_iter().enumerate() {
            let states: Vec<Vec<f64>> = list(&tiny.cases[case]["encoder_states_of_the_last_token"]);
            for (layer, expected) in states.iter().enumerate() {
                let last = run.layer(layer).sequence(sequence);
                assert_close(&last[last.len() - 32..][..expected.len()], expected, "states");
            }
        }
        assert!((mean(run.likelihoods(0)) - -5.958_007_431).abs() < 1e-5);
        assert!((mean(run.likelihoods(1)) - -5.806_986_195_7).abs() < 1e-5);
    }
}

#[test]
fn likelihoods_are_those_of_the_logits() {
    let ids: &[u32] = &[5, 17, 101, 42, 7, 9, 9, 150];
    for tiny in ["gpt2", "llama"].map(tiny) {
        for precision in [Precision::F32, Precision::Int8] {
            let model = tiny.model(precision);
            let positions = (0..7).map(|token| (0, token));
            let outputs = Outputs::new().likelihoods().logits(Head::NextToken, positions);
            let run = model.run(&batch_of(&[ids]), &outputs).unwrap();
            for (i, found) in run.likelihoods(0).iter().enumerate() {
                let logits = run.logits(i);
                let sum: f64 = logits.iter().map(|x| f64::from(*x).exp()).sum();
                let exact = f64::from(logits[ids[i + 1] as usize]) - sum.ln();
                assert!((f64::from(*found) - exact).abs() < 2e-5, "{found} instead of {exact}");
            }
        }
    }
}

#[test]
fn a_token_of_a_causal_model_does_not_see_those_after_it() {
    for tiny in ["gpt2", "llama"].map(tiny) {
        let model = tiny.model(Precision::F32);
        let likelihoods = |ids: &[u32]| {
            let run = model.run(&batch_of(&[ids]), &Outputs::new().likelihoods()).unwrap();
            run.likelihoods(0).to_vec()
        };
        let long: Vec<u32> = (0..60).map(|i| i * 37 % 200).collect();
        assert_eq!(likelihoods(&long[..23]), likelihoods(&long)[..22]);
        assert!(likelihoods(&[7]).is_empty() && likelihoods(&[]).is_empty());
    }
}

#[test]
fn blocks_after_the_last_layer_that_is_wanted_change_nothing() {
    for tiny in FAMILIES.map(tiny) {
        let model = tiny.model(Precision::F32);
        let batch = batch_of(&[&[0, 7, 8, 9, 2], &[0, 2]]);
        let all = model.run(&batch, &Outputs::new().layers([0, 1, 2])).unwrap();
        for layer in 0..3 {
            let one = model.run(&batch, &Outputs::new().layers([layer])).unwrap();
            for i in 0..2 {
                assert_eq!(one.layer(layer).sequence(i), all.layer(layer).sequence(i));
            }
        }
    }
}

/// All numbers that a model can give for some sequences.
fn everything(model: &Model, sequences: &[&[u32]], order: &[usize]) -> Vec<Vec<u32>> {
    let mut batch = Batch::new();
    for i in order {
        batch.push(sequences[*i]);
    }
    let decoder = model.config().has_decoder();
    for (place, i) in order.iter().enumerate().filter(|_| decoder) {
        batch.push_target(place, sequences[(i + 1) % sequences.len()]);
        batch.push_target(place, sequences[*i]);
    }
    let mut outputs = Outputs::new().layers([0, 1, 2]);
    if model.has(Head::NextToken) {
        outputs = outputs.likelihoods();
    }
    if model.has(Head::MaskedWord) {
        let firsts = (0..order.len()).map(|place| (place, 0));
        outputs = outputs.logits(Head::MaskedWord, firsts);
    }
    let run = model.run(&batch, &outputs).unwrap();
    let bits = |numbers: &[f32]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let of_place = |place: usize| {
        let mut found: Vec<u32> =
            (0..3).flat_map(|layer| bits(run.layer(layer).sequence(place))).collect();
        if decoder {
            found.extend(bits(run.likelihoods(2 * place)));
            found.extend(bits(run.likelihoods(2 * place + 1)));
        } else if model.has(Head::NextToken) {
            found.extend(bits(run.likelihoods(place)));
        } else {
            found.extend(bits(run.logits(place)));
        }
        found
    };
    (0..order.len()).map(of_place).collect()
}

#[test]
fn a_sequence_has_the_same_bytes_in_any_batch_and_with_any_number_of_threads() {
    let pools = [1, 2, 3].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap());
    let ids: Vec<u32> = (0..64).map(|i| i * 29 % 200).collect();
    let sequences = [&ids[..], &ids[3..20], &ids[7..9], &ids[30..61]];
    for tiny in FAMILIES.map(tiny) {
        for precision in [Precision::F32, Precision::Int8] {
            let (model, name) = (tiny.model(precision), tiny.name);
            let alone: Vec<Vec<u32>> = (0..4)
                .map(|i| pools[0].install(|| everything(&model, &sequences, &[i])).remove(0))
                .collect();
            // From a handful of tokens, where threads share the rows of a sequence, to thousands,
            // where each thread takes sequences of its own.
            for count in [4, 7, 90] {
                let order: Vec<usize> = (0..count).map(|i| (i * 3 + i / 5) % 4).collect();
                for pool in &pools {
                    let found = pool.install(|| everything(&model, &sequences, &order));
                    for (place, i) in order.iter().enumerate() {
                        assert_eq!(found[place], alone[*i], "{name} {precision:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn int8_is_close_to_f32_and_the_same_bytes_on_every_instruction_level() {
    let ids: Vec<u32> = (0..60).map(|i| i * 29 % 200).collect();
    for tiny in ["gpt2", "llama", "bart"].map(tiny) {
        let mut batch = batch_of(&[&ids]);
        if tiny.config.has_decoder() {
            batch.push_target(0, &ids[5..40]);
        }
        let likelihoods = |model: Model| {
            model.run(&batch, &Outputs::new().likelihoods()).unwrap().likelihoods(0).to_vec()
        };
        let exact = likelihoods(tiny.model(Precision::F32));
        let small = likelihoods(tiny.model(Precision::Int8));
        for isa in Isa::available() {
            let found = likelihoods(tiny.model_on(Precision::Int8, isa));
            assert_eq!(found, small, "{} on {}", tiny.name, isa.name());
        }
        let difference = (mean(&exact) - mean(&small)).abs();
        assert!(difference < 0.05, "{}: {difference}", tiny.name);
    }
}

#[test]
fn what_a_model_does_not_have_is_an_error() {
    let problem = |tiny: Tiny, outputs: Outputs| {
        let model = tiny.model(Precision::F32);
        model.run(&batch_of(&[&[5, 6]]), &outputs).unwrap_err().to_string()
    };
    let next = Outputs::new().likelihoods();
    assert_eq!(problem(tiny("roberta"), next), "the model has no head for the next token");
    let answer = Outputs::new().logits(Head::Answer, [(0, 0)]);
    assert_eq!(problem(tiny("gpt2"), answer), "the model has no head for answers");
    let layer = Outputs::new().layers([3]);
    assert_eq!(
        problem(tiny("llama"), layer),
        "the model has 2 layers, so that there is no layer 3"
    );
    let far = Outputs::new().logits(Head::NextToken, [(0, 2)]);
    assert_eq!(problem(tiny("llama"), far), "story 0 of the batch: it has no token 2");

    let model = tiny("gpt2").model(Precision::F32);
    let mut batch = batch_of(&[&[5, 6]]);
    batch.push_target(0, &[7]);
    let error = model.run(&batch, &Outputs::new().likelihoods()).unwrap_err().to_string();
    assert_eq!(error, "story 0 of the batch: target 0: the model has no decoder");
    let mut batch = Batch::new();
    batch.push_pair(&[5, 6], 1);
    let error = model.run(&batch, &Outputs::new().layers([1])).unwrap_err().to_string();
    assert_eq!(error, "story 0 of the batch: it has two segments, but the model has one");
}

#[test]
fn a_configuration_that_makes_no_sense_names_the_field() {
    let cases: [(&str, &str, Value, &str); 13] = [
        ("llama", "num_key_value_heads", json!(3), "4 attention heads are not a multiple of 3"),
        ("llama", "num_key_value_heads", json!(0), "expected a positive whole number, found 0"),
        ("llama", "head_dim", json!(7), "heads of 7 channels cannot be turned"),
        ("llama", "head_dim", json!(16), "has shape [32, 32], expected [64, 32]"),
        ("llama", "rope_theta", json!(-1), "expected a positive number, found -1"),
        ("llama", "rope_scaling", json!({"rope_type": "yarn"}), "is not one of default, linear"),
        ("llama", "rope_scaling", json!({"type": "linear"}), "factor: is missing"),
        ("llama", "rope_scaling", json!(3), "rope_scaling: expected an object"),
        ("bart", "decoder_attention_heads", json!(5), "32 channels are not a multiple of 5"),
        ("bart", "decoder_start_token_id", json!(200), "the vocabulary has 200 entries"),
        ("bart", "scale_embedding", json!(true), "scale_embedding: true is not supported"),
        ("bart", "decoder_layers", json!(1), "config.json has only 1 layers (0 to 0)"),
        ("gpt2", "n_inner", json!(16_777_216), "expected [16777216] by config.json"),
    ];
    for (model, field, value, expected) in cases {
        let found = tiny(model).complaint(field, value);
        assert!(found.contains(expected), "{model}, {field}: {found}");
    }
}
