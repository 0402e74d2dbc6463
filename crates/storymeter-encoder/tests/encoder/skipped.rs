//! A step whose gradients are not finite moves nothing and is counted, and many of them in a row
//! end training.

use serde_json::json;
use storymeter_encoder::train::{
    AdamStep, AdamW, Backend, Cpu, ForwardOptions, Given, MOST_SKIPPED, Network, Optimiser, Part,
    Skipped,
};
use storymeter_encoder::{Batch, Config, Error, Parameters, Stream};

#[test]
fn a_gradient_that_is_not_finite_moves_nothing() {
    let cpu = Cpu::default();
    let sizes = [1001, 7];
    let numbers = |n: usize, seed| (0..n as u64).map(|i| Stream::new(seed).normal(i)).collect();
    let tensors: [Vec<f32>; 2] = sizes.map(|n| numbers(n, n as u64));
    let given = tensors.each_ref().map(|data| Given { data, decays: true });
    let mut store = cpu.store(&given, &[0, 1]).unwrap();
    let all = |store: &_| -> Vec<Vec<f32>> {
        let parts = [Part::Weights, Part::Means, Part::Squares];
        let read = |part| (0..2).map(move |i| (part, i));
        parts.into_iter().flat_map(read).map(|(p, i)| cpu.read(store, p, i).unwrap()).collect()
    };
    let step = |store: &mut _, odd: Option<f32>| {
        for (i, n) in sizes.iter().enumerate() {
            let mut gradient: Vec<f32> = numbers(*n, 5);
            gradient[3] = odd.unwrap_or(gradient[3]);
            cpu.write(store, Part::Gradients, i, &gradient).unwrap();
        }
        let (rate, eps, decay, clip) = (1e-2, 1e-8, 0.1, 1.0);
        let (beta1, beta2, correction1, correction2) = (0.9, 0.999, 1.0, 1.0);
        cpu.step(
            store,
            AdamStep { rate, beta1, beta2, eps, decay, correction1, correction2, clip },
        );
        cpu.steps(store).unwrap().1
    };
    assert_eq!(step(&mut store, None), Skipped::default());
    let before = all(&store);
    for (count, odd) in (1..).zip([f32::NAN, f32::INFINITY, f32::NEG_INFINITY]) {
        assert_eq!(step(&mut store, Some(odd)), Skipped { all: count, in_a_row: count });
        assert_eq!(all(&store), before, "{odd}");
        assert!(!cpu.steps(&store).unwrap().0.is_finite());
    }
    assert_eq!(step(&mut store, None), Skipped { all: 3, in_a_row: 0 });
    assert_ne!(all(&store), before);
    assert!(all(&store).iter().flatten().all(|x| x.is_finite()));
    cpu.set_skipped(&mut store, Skipped { all: 9, in_a_row: 5 });
    assert_eq!(step(&mut store, Some(f32::NAN)), Skipped { all: 10, in_a_row: 6 });
}

fn network() -> Network<Cpu> {
    let fields = json!({
        "model_type": "bert", "vocab_size": 20, "hidden_size": 8, "num_hidden_layers": 1,
        "num_attention_heads": 2, "intermediate_size": 16, "max_position_embeddings": 16,
    });
    let fields = fields.as_object().cloned().unwrap();
    let config = Config::from_fields(fields, "config.json".into()).unwrap();
    let parameters = Parameters::random(&config, 3);
    Network::new(Cpu::default(), config, &parameters, &[]).unwrap()
}

/// A step with this gradient of every hidden state.
fn step(network: &mut Network<Cpu>, optimiser: &mut Optimiser, gradient: f32) {
    let batch: Batch = [&[1, 2, 3, 4][..]].into_iter().collect();
    network.clear_gradients();
    let trace = network.forward(&batch, ForwardOptions::default()).unwrap();
    let d_hidden = (0..4 * 8).map(|i| gradient * (i as f32).sin()).collect::<Vec<_>>();
    let d_hidden = network.backend().upload(&d_hidden);
    network.backward(trace, d_hidden);
    optimiser.step(network, 1e-3);
}

#[test]
fn many_steps_in_a_row_that_cannot_be_taken_are_an_error_after_resuming_too() {
    let (mut network, mut optimiser) = (network(), Optimiser::new(AdamW::default()));
    for _ in 1..MOST_SKIPPED {
        step(&mut network, &mut optimiser, f32::NAN);
    }
    let most = MOST_SKIPPED - 1;
    assert_eq!(network.steps().unwrap().1, Skipped { all: most, in_a_row: most });
    let state = optimiser.state(&network).unwrap();
    assert_eq!((state.steps, state.skipped.all), (most, most), "a skipped step counts as a step");

    step(&mut network, &mut optimiser, 1.0);
    assert_eq!(network.steps().unwrap().1, Skipped { all: most, in_a_row: 0 });
    assert!(network.parameters().unwrap().tensors.iter().all(|t| t.data[0].is_finite()));

    let mut resumed = self::network();
    let mut optimiser = Optimiser::resume(&mut resumed, AdamW::default(), &state).unwrap();
    step(&mut resumed, &mut optimiser, f32::NAN);
    let error = resumed.steps().unwrap_err();
    assert!(matches!(error, Error::GradientsNotFinite { steps: MOST_SKIPPED }), "{error}");
}
