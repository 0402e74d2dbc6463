//! Every architecture gives the numbers of `transformers` for tiny models whose weights are given
//! by a formula, and a sequence never influences another.
//!
//! The expected numbers of BERT, BART and GPT-2 are those of `transformers` 4.44.2 in f32.

mod tiny;

use storymeter_encoder::{Batch, Head, Isa, Model, Outputs, Precision};
use tiny::Tiny;

#[track_caller]
fn assert_close(found: &[f32], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let error = (f64::from(*found) - expected).abs();
        assert!(error < tolerance, "{found} instead of {expected}");
    }
}

fn mean(numbers: &[f32]) -> f64 {
    numbers.iter().map(|x| f64::from(*x)).sum::<f64>() / numbers.len() as f64
}

fn batch_of(sequences: &[&[u32]]) -> Batch {
    sequences.iter().copied().collect()
}

#[test]
fn the_formula_fills_the_tensors_as_it_should() {
    let tiny = tiny::masked_lm(false);
    assert_eq!(tiny.weights.tensors.len(), 42);
    let words = tiny.weights.tensors.iter().find(|t| t.name.ends_with("word_embeddings.weight"));
    let expected = [0.041_342_113_167_047_5, -0.043_159_432_709_217_07, -0.232_553_124_427_795_4];
    assert_close(&words.unwrap().data[..3], &expected, 1e-8);
    assert_eq!(tiny::bart().weights.tensors.len(), 91);
    assert_eq!(tiny::gpt2().weights.tensors.len(), 28);
}

#[test]
fn bert_predicts_a_masked_word() {
    let tiny = tiny::masked_lm(false);
    let batch = batch_of(&[&[101, 1996, 103, 102]]);
    for isa in Isa::available() {
        let model = tiny.model_on(Precision::F32, isa);
        let run = model.run(&batch, &Outputs::new().logits(Head::MaskedWord, [(0, 2)])).unwrap();
        let logits = run.logits(0);
        let expected = [0.446_150_630_7, -1.098_321_914_7, 0.280_663_251_9, 0.352_149_039_5];
        assert_close(&logits[..4], &expected, 1e-5);
        let best = (0..logits.len()).max_by(|a, b| logits[*a].total_cmp(&logits[*b])).unwrap();
        assert_eq!(best, 11494);
        assert_close(&logits[best..][..1], &[3.396_602_630_6], 1e-5);
    }
}

#[test]
fn bart_gives_the_probability_of_a_target() {
    let model = tiny::bart().model(Precision::F32);
    let x: &[u32] = &[0, 10, 20, 30, 40, 50, 2];
    let mut batch = batch_of(&[x]);
    batch.push_target(0, &[0, 11, 21, 31, 2]);
    batch.push_target(0, x);
    let run = model.run(&batch, &Outputs::new().likelihoods()).unwrap();
    let expected =
        [-5.239_071_369_2, -4.729_831_218_7, -6.249_547_958_4, -5.564_707_756, -8.006_878_852_8];
    assert_close(run.likelihoods(0), &expected, 1e-5);
    assert!((mean(run.likelihoods(0)) - -5.958_007_431).abs() < 1e-5);
    assert!((mean(run.likelihoods(1)) - -5.806_986_195_7).abs() < 1e-5);
}

#[test]
fn gpt2_gives_the_probability_of_each_token() {
    let model = tiny::gpt2().model(Precision::F32);
    let batch = batch_of(&[&[5, 17, 101, 42, 7, 9, 9, 150]]);
    let run = model.run(&batch, &Outputs::new().likelihoods()).unwrap();
    let found = run.likelihoods(0);
    assert_eq!(found.len(), 7);
    assert!((-mean(found) - 6.141_297_340_4).abs() < 1e-5, "{found:?}");
    assert!((-mean(&found[3..]) - 6.126_346_588_1).abs() < 1e-5, "{found:?}");
}

#[test]
fn likelihoods_are_those_of_the_logits() {
    let ids: &[u32] = &[5, 17, 101, 42, 7, 9, 9, 150];
    for tiny in [tiny::gpt2(), tiny::llama()] {
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
    for tiny in [tiny::gpt2(), tiny::llama()] {
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
    for tiny in [tiny::masked_lm(false), tiny::roberta(), tiny::gpt2(), tiny::llama(), tiny::bart()]
    {
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

#[test]
fn padding_is_computed_and_never_attended_to() {
    let model = tiny::masked_lm(true).model(Precision::F32);
    let ids: &[u32] = &[101, 7, 102, 8, 9, 102, 0, 0, 0];
    let mut batch = Batch::new();
    batch.push_padded(ids, 3, 6);
    batch.push_pair(&ids[..6], 3);
    batch.push(&ids[..6]);
    let positions = (0..9).map(|token| (0, token)).chain((0..6).map(|token| (1, token)));
    let outputs = Outputs::new().layers([2]).logits(Head::Answer, positions);
    let run = model.run(&batch, &outputs).unwrap();
    let states = run.layer(2);
    let plain = 6 * states.width();
    assert_eq!(states.sequence(0)[..plain], *states.sequence(1));
    assert_ne!(states.sequence(1), states.sequence(2), "segments matter");
    assert_eq!(run.logits(4), run.logits(9 + 4));
    assert_eq!(run.logits(8).len(), 2);
    assert!(run.logits(8).iter().all(|x| x.is_finite()));
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
    let tinies: [Tiny; 5] =
        [tiny::masked_lm(false), tiny::roberta(), tiny::gpt2(), tiny::llama(), tiny::bart()];
    for tiny in tinies {
        for precision in [Precision::F32, Precision::Int8] {
            let model = tiny.model(precision);
            let family = tiny.config.family;
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
                        assert_eq!(found[place], alone[*i], "{family:?} {precision:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn int8_is_close_to_f32_and_the_same_bytes_on_every_instruction_level() {
    let ids: Vec<u32> = (0..60).map(|i| i * 29 % 200).collect();
    for tiny in [tiny::gpt2(), tiny::llama(), tiny::bart()] {
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
            assert_eq!(found, small, "{:?} on {}", tiny.config.family, isa.name());
        }
        let difference = (mean(&exact) - mean(&small)).abs();
        assert!(difference < 0.05, "{:?}: {difference}", tiny.config.family);
    }
}

#[test]
fn what_a_model_does_not_have_is_an_error() {
    let problem = |tiny: Tiny, outputs: Outputs| {
        let model = tiny.model(Precision::F32);
        model.run(&batch_of(&[&[5, 6]]), &outputs).unwrap_err().to_string()
    };
    let next = Outputs::new().likelihoods();
    assert_eq!(problem(tiny::roberta(), next), "the model has no head for the next token");
    let answer = Outputs::new().logits(Head::Answer, [(0, 0)]);
    assert_eq!(problem(tiny::gpt2(), answer), "the model has no head for answers");
    let layer = Outputs::new().layers([3]);
    assert_eq!(
        problem(tiny::llama(), layer),
        "the model has 2 layers, so that there is no layer 3"
    );
    let far = Outputs::new().logits(Head::NextToken, [(0, 2)]);
    assert_eq!(problem(tiny::llama(), far), "story 0 of the batch: it has no token 2");

    let model = tiny::gpt2().model(Precision::F32);
    let mut batch = batch_of(&[&[5, 6]]);
    batch.push_target(0, &[7]);
    let error = model.run(&batch, &Outputs::new().likelihoods()).unwrap_err().to_string();
    assert_eq!(error, "story 0 of the batch: target 0: the model has no decoder");
    let mut batch = Batch::new();
    batch.push_pair(&[5, 6], 1);
    let error = model.run(&batch, &Outputs::new().layers([1])).unwrap_err().to_string();
    assert_eq!(error, "story 0 of the batch: it has two segments, but the model has one");
}
