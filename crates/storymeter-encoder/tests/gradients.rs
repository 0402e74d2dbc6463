//! Every operation's gradient against finite differences, and the whole loss against PyTorch.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use storymeter_encoder::train::{
    AdamW, AttentionShape, Backend, Cpu, Dropout, ForwardOptions, HeadTensors, LinearShape, Network,
    Optimiser, Selection, States, label_loss, token_loss, warm_up_then_linear,
};
use storymeter_encoder::{
    Activation, Batch, Config, Encoder, Isa, Parameters, Precision, Stream, Workspace, load_parameters,
};

/// Compares the derivative along random directions with the difference of two values close by.
///
/// `f` is a function of several inputs; `gradients` are those of `sum(cotangent * f)`.
fn check(
    name: &str,
    inputs: &[Vec<f32>],
    f: impl Fn(&[Vec<f32>]) -> Vec<f32>,
    gradients: impl Fn(&[Vec<f32>], &[f32]) -> Vec<Vec<f32>>,
) {
    let cotangent = numbers(f(inputs).len(), 99);
    let value = |inputs: &[Vec<f32>]| -> f64 {
        f(inputs).iter().zip(&cotangent).map(|(v, c)| f64::from(*v) * f64::from(*c)).sum()
    };
    let found = gradients(inputs, &cotangent);
    assert_eq!(found.len(), inputs.len(), "{name}: a gradient an input");
    for (place, gradient) in found.iter().enumerate() {
        for seed in 0..3 {
            let direction = numbers(inputs[place].len(), 1000 + seed);
            let moved = |size: f32| {
                let mut inputs = inputs.to_vec();
                inputs[place].iter_mut().zip(&direction).for_each(|(x, d)| *x += size * d);
                value(&inputs)
            };
            // Two step sizes cancel the third-order term of the differences (Richardson).
            let difference = |size: f32| (moved(size) - moved(-size)) / (2.0 * f64::from(size));
            let expected = (4.0 * difference(0.005) - difference(0.01)) / 3.0;
            let got: f64 = gradient.iter().zip(&direction).map(|(g, d)| f64::from(*g) * f64::from(*d)).sum();
            let scale: f64 = gradient.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
            assert!(
                (got - expected).abs() < 2e-3 * scale.max(0.1),
                "{name}, input {place}: {got} but the difference is {expected} (norm {scale})"
            );
        }
    }
}

fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let stream = Stream::new(seed);
    (0..count as u64).map(|i| 0.7 * stream.normal(i)).collect()
}

#[test]
fn linear() {
    let cpu = Cpu::default();
    let shape = LinearShape { rows: 13, inputs: 9, outputs: 35 };
    let inputs = [numbers(13 * 9, 1), numbers(35 * 9, 2), numbers(35, 3)];
    check(
        "linear",
        &inputs,
        |x| cpu.linear(&x[0], &x[1], &x[2], shape),
        |x, d| {
            let mut g = [cpu.zeros(13 * 9), cpu.zeros(35 * 9), cpu.zeros(35)];
            let [d_x, d_weight, d_bias] = &mut g;
            cpu.linear_backward(&x[0], &x[1], shape, &d.to_vec(), Some(d_x), d_weight, d_bias);
            g.to_vec()
        },
    );
}

#[test]
fn layer_norm() {
    let cpu = Cpu::default();
    let inputs = [numbers(70 * 19, 1), numbers(19, 2), numbers(19, 3)];
    check(
        "norm",
        &inputs,
        |x| cpu.norm(&x[0], &x[1], &x[2], 1e-5),
        |x, d| {
            let (mut d_gain, mut d_shift) = (cpu.zeros(19), cpu.zeros(19));
            let d_x = cpu.norm_backward(&x[0], &x[1], 1e-5, &d.to_vec(), &mut d_gain, &mut d_shift);
            vec![d_x, d_gain, d_shift]
        },
    );
}

#[test]
fn activations() {
    let cpu = Cpu::default();
    for activation in [Activation::GeluErf, Activation::GeluTanh, Activation::Relu] {
        let mut x = numbers(500, 4);
        // Away from the kink of the rectifier, where there is no derivative.
        x.iter_mut().for_each(|x| *x = x.signum() * (x.abs() + 0.05));
        check(
            "activation",
            &[x],
            |x| cpu.activate(&x[0], activation),
            |x, d| {
                let mut d = d.to_vec();
                cpu.activate_backward(&x[0], activation, &mut d);
                vec![d]
            },
        );
    }
}

#[test]
fn attention_with_and_without_relative_bias_and_dropout() {
    let cpu = Cpu::default();
    let (heads, width) = (2, 10);
    // One story has a single token, one has none.
    let bounds = [0, 7, 7, 8, 20];
    for rate in [0.0, 0.3] {
        let dropout = Dropout { rate, stream: Stream::new(8) };
        let shape = AttentionShape { bounds: &bounds, heads, width, longest: 16, dropout };
        let qkv = [numbers(20 * width, 1), numbers(20 * width, 2), numbers(20 * width, 3)];
        check(
            "attention",
            &qkv,
            |x| cpu.attention(&x[0], &x[1], &x[2], None, shape),
            |x, d| cpu.attention_backward(&x[0], &x[1], &x[2], None, shape, &d.to_vec()).to_vec(),
        );
        let with_bias: Vec<Vec<f32>> = qkv.iter().cloned().chain([numbers(8 * heads, 4)]).collect();
        check(
            "attention with relative bias",
            &with_bias,
            |x| cpu.attention(&x[0], &x[1], &x[2], Some(&x[3]), shape),
            |x, d| {
                let mut d_bias = cpu.zeros(8 * heads);
                let relative = Some((&x[3], &mut d_bias));
                let mut all =
                    cpu.attention_backward(&x[0], &x[1], &x[2], relative, shape, &d.to_vec()).to_vec();
                all.push(d_bias);
                all
            },
        );
    }
}

#[test]
fn embedding() {
    let cpu = Cpu::default();
    let (ids, places) = ([3, 1, 3, 0], [0, 1, 2, 0]);
    let inputs = [numbers(4 * 6, 1), numbers(3 * 6, 2), numbers(2 * 6, 3)];
    check(
        "embedding",
        &inputs,
        |x| cpu.embed(&ids, &places, (&x[0], &x[1], Some(&x[2])), 6),
        |_, d| {
            let mut g = [cpu.zeros(4 * 6), cpu.zeros(3 * 6), cpu.zeros(2 * 6)];
            let [words, positions, segments] = &mut g;
            cpu.embed_backward(&ids, &places, &d.to_vec(), (words, positions, Some(segments)), 6);
            g.to_vec()
        },
    );
}

#[test]
fn means_over_stories() {
    let cpu = Cpu::default();
    let bounds = [0, 3, 4, 9];
    check(
        "story means",
        &[numbers(9 * 5, 1)],
        |x| cpu.story_means(&x[0], &bounds, 5),
        |_, d| {
            let mut d_x = cpu.zeros(9 * 5);
            cpu.story_means_backward(&d.to_vec(), &bounds, &mut d_x, 5);
            vec![d_x]
        },
    );
}

#[test]
fn dropout_keeps_the_mean_and_repeats_itself() {
    let cpu = Cpu::default();
    let dropout = Dropout { rate: 0.25, stream: Stream::new(3) };
    let mut x = vec![1.0; 40_000];
    cpu.dropout(&mut x, dropout);
    let dropped = x.iter().filter(|x| **x == 0.0).count();
    assert!((9_600..10_400).contains(&dropped), "{dropped} of 40000 dropped at 0.25");
    assert!(x.iter().all(|x| *x == 0.0 || (*x - 4.0 / 3.0).abs() < 1e-6));
    let apply = |x: &[Vec<f32>]| {
        let mut x = x[0].clone();
        cpu.dropout(&mut x, dropout);
        x
    };
    check("dropout", &[numbers(300, 1)], apply, |_, d| vec![apply(&[d.to_vec()])]);
}

#[test]
fn cross_entropies() {
    let cpu = Cpu::default();
    let (targets, weights) = ([4, 0, 18], [1.0, 0.5, 2.0]);
    check(
        "cross-entropy",
        &[numbers(3 * 19, 1)],
        |x| vec![cpu.cross_entropy(&mut x[0].clone(), &targets, &weights) as f32],
        |x, d| {
            let mut g = x[0].clone();
            cpu.cross_entropy(&mut g, &targets, &weights);
            vec![g.iter().map(|g| g * d[0]).collect()]
        },
    );
    let labels = [1.0, 0.0, 1.0];
    check(
        "binary cross-entropy",
        &[numbers(3, 1)],
        |x| vec![cpu.binary_cross_entropy(&mut x[0].clone(), &labels, &weights) as f32],
        |x, d| {
            let mut g = x[0].clone();
            cpu.binary_cross_entropy(&mut g, &labels, &weights);
            vec![g.iter().map(|g| g * d[0]).collect()]
        },
    );
}

/// The tiny models, their stories and the loss of tools/encoder_fixtures.py.
struct Task {
    config: Config,
    parameters: Parameters,
    stories: Vec<Vec<u32>>,
    expected: Value,
}

/// The heads beside the encoder, with their gradients: weight and bias of the label, bias of the vocabulary.
struct Heads {
    weights: [Vec<f32>; 3],
    gradients: [Vec<f32>; 3],
}

impl Task {
    fn load(model: &str) -> Task {
        let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(model);
        let read = |file: &str| -> Value {
            serde_json::from_slice(&std::fs::read(folder.join(file)).unwrap()).unwrap()
        };
        let config = Config::load(&folder).unwrap();
        let ids = |story: &Value| {
            story["ids"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as u32).collect()
        };
        Task {
            parameters: load_parameters(&folder, &config).unwrap(),
            stories: read("expected.json")["stories"].as_array().unwrap().iter().map(ids).collect(),
            expected: read("training.json"),
            config,
        }
    }

    fn heads(&self) -> Heads {
        let head =
            self.expected["head"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap() as f32).collect();
        let weights = [head, vec![0.0], vec![0.0; self.config.vocabulary]];
        let gradients = weights.each_ref().map(|w| vec![0.0; w.len()]);
        Heads { weights, gradients }
    }

    /// The loss of some stories; gradients are added.
    fn loss(
        &self,
        network: &mut Network<Cpu>,
        heads: &mut Heads,
        stories: &[usize],
        options: ForwardOptions,
    ) -> f64 {
        let batch: Batch = stories.iter().map(|&i| self.stories[i].as_slice()).collect();
        let trace = network.forward(&batch, options);
        let firsts: Vec<u32> = (0..batch.len()).map(|i| batch.span(i).start as u32).collect();
        let labels: Vec<f32> = stories.iter().map(|i| (i % 2) as f32).collect();
        let rows: Vec<u32> =
            (0..batch.len()).flat_map(|i| batch.span(i).skip(1).step_by(2).map(|row| row as u32)).collect();
        let targets: Vec<u32> = rows.iter().map(|&row| batch.ids()[row as usize - 1]).collect();
        let cpu = *network.backend();
        let mut d_hidden = cpu.zeros(trace.hidden().len());
        let mut states =
            States { hidden: trace.hidden(), d_hidden: &mut d_hidden, width: self.config.hidden };
        let Heads { weights: [head, head_bias, bias], gradients: [d_head, d_head_bias, d_bias] } = heads;
        let mut label_head =
            HeadTensors { weight: head, bias: head_bias, d_weight: d_head, d_bias: d_head_bias };
        let each = vec![1.0 / labels.len() as f32; labels.len()];
        let mut loss =
            label_loss(&cpu, &mut states, &mut label_head, Selection::Rows(&firsts), &labels, &each);
        let (_, words, d_words) = network.words();
        let mut token_head = HeadTensors { weight: words, bias, d_weight: d_words, d_bias };
        let each = vec![0.1 / rows.len() as f32; rows.len()];
        loss +=
            token_loss(&cpu, &mut states, &mut token_head, self.config.vocabulary, &rows, &targets, &each);
        network.backward(trace, d_hidden);
        loss
    }
}

const PLAIN: ForwardOptions = ForwardOptions { dropout: None, recompute: false };
const MODELS: [&str; 3] = ["bert", "distilbert", "mpnet"];

#[test]
fn gradients_of_the_whole_loss_are_pytorchs() {
    for model in MODELS {
        let task = Task::load(model);
        for recompute in [false, true] {
            let mut network = Network::new(Cpu::default(), task.config.clone(), &task.parameters);
            let mut heads = task.heads();
            let all: Vec<usize> = (0..task.stories.len()).collect();
            let loss = task.loss(&mut network, &mut heads, &all, ForwardOptions { recompute, ..PLAIN });
            let expected = task.expected["loss"].as_f64().unwrap();
            assert!((loss - expected).abs() < 1e-5 * expected, "{model}: loss {loss}, PyTorch {expected}");
            let mut found: BTreeMap<String, Vec<f32>> =
                network.gradients().tensors.into_iter().map(|t| (t.name, t.data)).collect();
            for (name, gradient) in ["head", "head_bias", "bias"].iter().zip(heads.gradients) {
                found.insert((*name).into(), gradient);
            }
            let expected = task.expected["gradients"].as_object().unwrap();
            assert_eq!(expected.len(), found.len(), "{model}: as many tensors as PyTorch");
            for (name, truth) in expected {
                let gradient = &found[name];
                let norm = truth["norm"].as_f64().unwrap();
                let got = gradient.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
                // The gradient of a key's bias is zero but for rounding: softmax does not see a shift.
                let tolerance = 1e-4 * norm.max(1e-3);
                assert!((got - norm).abs() < tolerance, "{model} {name}: norm {got}, PyTorch {norm}");
                let mixed: f64 =
                    gradient.iter().enumerate().map(|(i, g)| f64::from(*g) * ((i + 1) as f64).cos()).sum();
                let expected = truth["mixed"].as_f64().unwrap();
                assert!((mixed - expected).abs() < tolerance, "{model} {name}: {mixed}, PyTorch {expected}");
                let step = truth["step"].as_u64().unwrap() as usize;
                for (got, expected) in gradient.iter().step_by(step).zip(truth["values"].as_array().unwrap())
                {
                    let error = (f64::from(*got) - expected.as_f64().unwrap()).abs();
                    assert!(error < tolerance, "{model} {name}: {got}, PyTorch {expected}");
                }
            }
        }
    }
}

#[test]
fn thirty_steps_of_training_follow_pytorchs_loss() {
    for model in MODELS {
        let task = Task::load(model);
        let losses = task.expected["losses"].as_array().unwrap();
        let (steps, warm_up) = (losses.len() as u64, task.expected["warm_up"].as_u64().unwrap());
        let peak = task.expected["peak"].as_f64().unwrap() as f32;
        let mut network = Network::new(Cpu::default(), task.config.clone(), &task.parameters);
        let mut heads = task.heads();
        let mut optimiser = Optimiser::new(AdamW::default());
        for (step, expected) in losses.iter().enumerate() {
            network.clear_gradients();
            heads.gradients.iter_mut().for_each(|g| g.fill(0.0));
            let stories: Vec<usize> = (step % 2..task.stories.len()).step_by(2).collect();
            let loss = task.loss(&mut network, &mut heads, &stories, PLAIN);
            let expected = expected.as_f64().unwrap();
            assert!((loss - expected).abs() < 1e-3, "{model}, step {step}: loss {loss}, PyTorch {expected}");
            let rate = warm_up_then_linear(peak, step as u64, warm_up, steps);
            let cpu = *network.backend();
            let extra = heads.weights.iter_mut().zip(&heads.gradients).zip([true, false, false]);
            let tensors = network.tensors().chain(extra.map(|((w, g), decays)| (w, g, decays)));
            optimiser.step(&cpu, rate, tensors);
        }
    }
}

#[test]
fn a_run_resumed_in_the_middle_ends_with_the_same_weights() {
    let task = Task::load("bert");
    let run = |stop_at: Option<usize>| {
        let mut network = Network::new(Cpu::default(), task.config.clone(), &task.parameters);
        let mut optimiser = Optimiser::new(AdamW::bert());
        for step in 0..6 {
            if stop_at == Some(step) {
                let (weights, state) = (network.parameters(), optimiser.state(network.backend()));
                network = Network::new(Cpu::default(), task.config.clone(), &weights);
                optimiser = Optimiser::resume(network.backend(), AdamW::bert(), &state);
            }
            network.clear_gradients();
            let options =
                ForwardOptions { dropout: Some(Stream::new(4).child(step as u64)), recompute: false };
            task.loss(&mut network, &mut task.heads(), &[0, 3, step % 3], options);
            let cpu = *network.backend();
            optimiser.step(&cpu, 1e-3, network.tensors());
        }
        network.parameters()
    };
    let unbroken = run(None);
    assert!(unbroken == run(Some(3)), "the resumed run differs");
    assert!(unbroken != task.parameters, "the weights have moved");
}

#[test]
fn training_is_the_same_bytes_for_any_number_of_threads_and_with_recomputing() {
    let task = Task::load("mpnet");
    let run = |threads: usize, recompute: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut network = Network::new(Cpu::default(), task.config.clone(), &task.parameters);
            let options = ForwardOptions { dropout: Some(Stream::new(1)), recompute };
            let all: Vec<usize> = (0..task.stories.len()).chain(0..5).collect();
            let loss = task.loss(&mut network, &mut task.heads(), &all, options);
            (loss.to_bits(), network.gradients())
        })
    };
    let one = run(1, false);
    assert!(one == run(3, false), "three threads differ from one");
    assert!(one == run(2, true), "recomputing differs from keeping");
    let plain = task.loss(
        &mut Network::new(Cpu::default(), task.config.clone(), &task.parameters),
        &mut task.heads(),
        &[0, 1],
        PLAIN,
    );
    assert_ne!(plain.to_bits(), one.0, "dropout does something");
}

#[test]
fn the_network_in_training_is_the_one_of_inference() {
    for model in MODELS {
        let task = Task::load(model);
        let batch: Batch = task.stories.iter().map(Vec::as_slice).collect();
        let network = Network::new(Cpu::default(), task.config.clone(), &task.parameters);
        let trace = network.forward(&batch, PLAIN);
        let encoder = Encoder::new(task.config.clone(), &network.parameters(), Precision::F32, Isa::detect());
        let mut workspace = Workspace::new();
        let hidden = encoder.encode(&batch, &mut workspace).unwrap();
        let worst =
            trace.hidden().iter().zip(hidden.states()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-5, "{model}: {worst}");
    }
}
