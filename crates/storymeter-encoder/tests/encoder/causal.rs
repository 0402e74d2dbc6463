//! Training of causal language models: every operation compared with finite differences, and a
//! training step of tiny models with PyTorch (`fixtures/causal_steps.json`).

use crate::differences::{check, gradients, numbers, store, with_gradients};
use crate::next_token::learn;
use crate::tiny::{Tiny, tiny};
use serde_json::Value;
use storymeter_encoder::train::{
    AdamW, Backend, Cpu, Dropout, ForwardOptions, Linear, Network, Norm, Optimiser, Rotary,
    TableRows,
};
use storymeter_encoder::{
    Activation, Batch, Config, Error, Isa, Model, Outputs, Parameters, Precision, Stream,
};

const MODELS: [&str; 3] = ["gpt2", "llama", "llama_tied"];
const PLAIN: ForwardOptions = ForwardOptions { dropout: None, recompute: false, first_row: 0 };

#[test]
fn embedding_with_and_without_positions() {
    let cpu = Cpu::default();
    let dropout = Dropout { rate: 0.2, stream: Stream::new(8) };
    let rows = TableRows { words: vec![3, 1, 3, 0], positions: vec![0, 1, 2, 0], segments: None };
    for tables in [(0, Some(1)), (0, None)] {
        let tensors = if tables.1.is_some() { 2 } else { 1 };
        check(
            "embedding",
            &[numbers(4 * 6, 1), numbers(3 * 6, 2)][..tensors],
            |x| cpu.embed_plain(&store(&cpu, x), tables, 6, &rows, dropout),
            |x, d| {
                let mut store = store(&cpu, x);
                cpu.embed_plain_backward(&mut store, tables, 6, &rows, d.to_vec(), dropout);
                gradients(&cpu, &store, tensors)
            },
        );
    }
}

#[test]
fn layer_norm_and_rms_norm() {
    let cpu = Cpu::default();
    for shift in [None, Some(1)] {
        let norm = Norm { gain: 0, shift, width: 19, eps: 1e-5 };
        let mut inputs = vec![numbers(70 * 19, 1), numbers(19, 2)];
        inputs.extend(shift.map(|_| numbers(19, 3)));
        let tensors = inputs.len() - 1;
        check(
            "norm",
            &inputs,
            |x| cpu.norm(&store(&cpu, &x[1..]), norm, &x[0]),
            |x, d| {
                let (mut store, mut d_x) = (store(&cpu, &x[1..]), cpu.zeros(70 * 19));
                cpu.norm_backward(&mut store, norm, &x[0], &d.to_vec(), &mut d_x);
                with_gradients(&cpu, &store, tensors, d_x)
            },
        );
        // The gradient is added to what there is.
        let mut store = store(&cpu, &inputs[1..]);
        let d = numbers(70 * 19, 5);
        let (mut fresh, mut added) = (cpu.zeros(70 * 19), vec![2.0; 70 * 19]);
        cpu.norm_backward(&mut store, norm, &inputs[0], &d, &mut fresh);
        cpu.norm_backward(&mut store, norm, &inputs[0], &d, &mut added);
        let same = fresh.iter().zip(&added).all(|(a, b)| (a + 2.0 - b).abs() < 1e-5);
        assert!(same, "2 is added everywhere");
    }
}

#[test]
fn sum_with_dropout() {
    let cpu = Cpu::default();
    let dropout = Dropout { rate: 0.3, stream: Stream::new(8) };
    check(
        "sum",
        &[numbers(50, 1), numbers(50, 2)],
        |x| cpu.add(x[0].clone(), &x[1], dropout),
        |_, d| vec![cpu.dropped(&d.to_vec(), dropout), d.to_vec()],
    );
}

#[test]
fn gated_product() {
    let cpu = Cpu::default();
    for activation in [Activation::Silu, Activation::GeluTanh] {
        check(
            "gated product",
            &[numbers(90, 1), numbers(90, 2)],
            |x| cpu.gated(&x[0], &x[1], activation),
            |x, d| cpu.gated_backward(&x[0], &x[1], activation, &d.to_vec()).to_vec(),
        );
    }
}

#[test]
fn turned_and_shared_heads() {
    let cpu = Cpu::default();
    let (rows, angles) = (5, numbers(4 * 6, 7));
    let places = vec![0, 1, 2, 3, 0];
    for key_heads in [1, 2, 4] {
        let rotary = Rotary { heads: 4, key_heads, head_width: 6 };
        let (queries, keys) = (rows * rotary.queries(), rows * rotary.keys());
        let whole = |x: &[Vec<f32>]| [x[0].clone(), x[1].clone(), x[2].clone()];
        check(
            "turned heads",
            &[numbers(queries, 1), numbers(keys, 2), numbers(keys, 3)],
            |x| cpu.turn(rotary, whole(x), &angles, &places).concat(),
            |_, d| {
                let d = [0, 1, 2].map(|part| d[part * queries..(part + 1) * queries].to_vec());
                cpu.turn_backward(rotary, d, &angles, &places).to_vec()
            },
        );
    }
    // Heads that share a head of keys see the same one.
    let rotary = Rotary { heads: 4, key_heads: 2, head_width: 2 };
    let values = vec![1.0, 2.0, 3.0, 4.0];
    let still = vec![1.0, 0.0];
    let [_, _, spread] = cpu.turn(rotary, [vec![0.0; 8], vec![0.0; 4], values], &still, &vec![0]);
    assert_eq!(spread, [1.0, 2.0, 1.0, 2.0, 3.0, 4.0, 3.0, 4.0]);
}

#[test]
fn linear_map_without_bias() {
    let cpu = Cpu::default();
    let map = Linear { weight: 0, bias: None, inputs: 9, outputs: 35 };
    check(
        "linear",
        &[numbers(13 * 9, 1), numbers(35 * 9, 2)],
        |x| cpu.linear(&store(&cpu, &x[1..]), map, &x[0], 13),
        |x, d| {
            let mut store = store(&cpu, &x[1..]);
            let d_x = cpu.linear_backward(&mut store, map, &x[0], 13, &d.to_vec());
            with_gradients(&cpu, &store, 1, d_x)
        },
    );
}

fn fixture() -> Value {
    serde_json::from_str(include_str!("../fixtures/causal_steps.json")).unwrap()
}

fn sequences(fixture: &Value) -> Vec<Vec<u32>> {
    serde_json::from_value(fixture["sequences"].clone()).unwrap()
}

fn network(tiny: &Tiny) -> Network<Cpu> {
    let parameters = Parameters::of_language_model(&tiny.config, &tiny.weights).unwrap();
    Network::new(Cpu::default(), tiny.config.clone(), &parameters, &[]).unwrap()
}

#[test]
fn loss_and_gradients_of_a_step_are_pytorchs() {
    let fixture = fixture();
    for name in MODELS {
        let (tiny, expected) = (tiny(name), &fixture["models"][name]);
        for recompute in [false, true] {
            let mut network = network(&tiny);
            let options = ForwardOptions { recompute, ..PLAIN };
            let loss = learn(&mut network, &sequences(&fixture), options);
            let truth = expected["loss"].as_f64().unwrap();
            assert!((loss - truth).abs() < 1e-5 * truth, "{name}: loss {loss}, PyTorch {truth}");
            let found = network.gradients().unwrap().into_language_model(&tiny.config).tensors;
            let gradients = expected["gradients"].as_object().unwrap();
            assert_eq!(found.len(), gradients.len(), "{name}: as many tensors as PyTorch");
            for tensor in found {
                let truth = &gradients[&tensor.name];
                let label = format!("{name} {}", tensor.name);
                let norm = truth["norm"].as_f64().unwrap();
                let tolerance = 1e-4 * norm.max(1e-3);
                let near = |got: f64, truth: &Value, what: &str| {
                    let truth = truth.as_f64().unwrap();
                    assert!((got - truth).abs() < tolerance, "{label}, {what}: {got}, not {truth}");
                };
                let data = || tensor.data.iter().map(|g| f64::from(*g));
                near(data().map(|g| g * g).sum::<f64>().sqrt(), &truth["norm"], "norm");
                let mixed = data().enumerate().map(|(i, g)| g * ((i + 1) as f64).cos()).sum();
                near(mixed, &truth["mixed"], "mixture");
                let step = truth["step"].as_u64().unwrap() as usize;
                for (got, truth) in data().step_by(step).zip(truth["values"].as_array().unwrap()) {
                    near(got, truth, "number");
                }
            }
        }
    }
}

#[test]
fn twelve_steps_follow_pytorchs_loss() {
    let fixture = fixture();
    let rate = fixture["rate"].as_f64().unwrap() as f32;
    for name in MODELS {
        let mut network = network(&tiny(name));
        let mut optimiser = Optimiser::new(AdamW::default());
        let losses = fixture["models"][name]["losses"].as_array().unwrap();
        for (step, expected) in losses.iter().enumerate() {
            network.clear_gradients();
            let loss = learn(&mut network, &sequences(&fixture), PLAIN);
            let expected = expected.as_f64().unwrap();
            assert!(
                (loss - expected).abs() < 1e-3,
                "{name}, step {step}: loss {loss}, PyTorch {expected}"
            );
            optimiser.step(&mut network, rate);
        }
        assert!(losses[11].as_f64() < losses[0].as_f64(), "the loss falls");
    }
}

#[test]
fn the_network_in_training_is_the_one_of_inference() {
    let sequences = sequences(&fixture());
    for name in MODELS {
        let tiny = tiny(name);
        let batch: Batch = sequences.iter().map(Vec::as_slice).collect();
        let network = network(&tiny);
        let trace = network.forward(&batch, PLAIN).unwrap();
        assert_eq!(trace.hidden(), &network.encode(&batch).unwrap());
        let layers = tiny.config.layers;
        // The weights go back to the layout of files, and through inference.
        let written = network.parameters().unwrap().into_language_model(&tiny.config);
        let model =
            Model::on_cpu(tiny.config.clone(), &written, Precision::F32, Isa::detect()).unwrap();
        let run = model.run(&batch, &Outputs::new().layers([layers])).unwrap();
        let hidden = (0..batch.len()).flat_map(|i| run.layer(layers).sequence(i));
        let pairs = trace.hidden().iter().zip(hidden);
        let worst = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-5, "{name}: {worst}");
    }
}

#[test]
fn weights_go_to_files_and_back_without_a_change() {
    for name in MODELS {
        let tiny = tiny(name);
        let parameters = Parameters::of_language_model(&tiny.config, &tiny.weights).unwrap();
        let mut written = parameters.clone().into_language_model(&tiny.config).tensors;
        written.sort_by(|a, b| a.name.cmp(&b.name));
        assert!(written == tiny.weights.tensors, "{name}: the tensors of the file");
        let again =
            Parameters::of_language_model(&tiny.config, &Parameters { tensors: written }).unwrap();
        assert!(again == parameters, "{name}: the tensors of training");
    }
}

#[test]
fn the_bytes_do_not_depend_on_threads_or_recomputing_and_later_tokens_change_nothing() {
    let fixture = fixture();
    let many: Vec<Vec<u32>> = sequences(&fixture).into_iter().cycle().take(9).collect();
    for name in MODELS {
        let tiny = tiny(name);
        let run = |threads: usize, recompute: bool| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut network = network(&tiny);
                let options = ForwardOptions { dropout: Some(Stream::new(1)), recompute, ..PLAIN };
                let loss = learn(&mut network, &many, options);
                (loss.to_bits(), network.gradients().unwrap())
            })
        };
        let one = run(1, false);
        assert!(one == run(3, false), "{name}: three threads differ from one");
        assert!(one == run(2, true), "{name}: recomputing differs from keeping");

        // A token does not see those after it, nor those of other sequences.
        let hidden = |ids: &[&[u32]]| {
            let batch: Batch = ids.iter().copied().collect();
            network(&tiny).encode(&batch).unwrap()
        };
        let width = tiny.config.hidden;
        let (short, long) = (&many[1][..7], &many[1][..30]);
        let first = 5 * width;
        let alone = hidden(&[short]);
        let among = hidden(&[&many[0][..5], long]);
        let worst =
            alone.iter().zip(&among[first..]).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-5, "{name}: {worst}");
    }
}

#[test]
fn llama_drops_nothing_unless_its_configuration_says_so() {
    let llama = tiny("llama");
    assert_eq!((llama.config.hidden_dropout, llama.config.attention_dropout), (0.0, 0.0));
    let gpt2 = tiny("gpt2");
    assert_eq!((gpt2.config.hidden_dropout, gpt2.config.attention_dropout), (0.1, 0.1));
    let mut fields = llama.config.source.clone();
    fields.insert("attention_dropout".into(), 0.2.into());
    let config = Config::from_fields(fields, "config.json".into()).unwrap();
    assert_eq!(config.attention_dropout, 0.2);
}

#[test]
fn models_that_predict_no_next_token_are_refused() {
    let refused = |name: &'static str| {
        let tiny = tiny(name);
        match Parameters::of_language_model(&tiny.config, &tiny.weights) {
            Err(Error::Mismatch(problem)) => problem,
            other => panic!("{name}: {other:?}"),
        }
    };
    assert_eq!(refused("bert"), "a model of the type bert is not a causal language model");
    assert_eq!(
        refused("bart"),
        "a model of the type bart cannot be trained; encoders such as BERT and causal language \
         models can"
    );
}
