//! Compares the gradient of every operation with finite differences, and that of the whole loss
//! with PyTorch.

use crate::differences::{check, gradients, numbers, store, with_gradients};
use crate::loss::{head_tensors, learn};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use storymeter_encoder::train::{
    AdamW, Attention, Backend, Cpu, CpuStore, Dropout, ForwardOptions, LabelLoss, Linear, Network,
    Norm, Optimiser, TableRows, Tables, warm_up_then_linear,
};
use storymeter_encoder::{
    Activation, Batch, Config, Error, Isa, Model, Outputs, Parameters, Precision, Stream, Tensor,
    load_parameters,
};

const LINEAR: Linear = Linear { weight: 0, bias: Some(1), inputs: 9, outputs: 35 };

#[test]
fn linear() {
    let cpu = Cpu::default();
    let inputs = [numbers(13 * 9, 1), numbers(35 * 9, 2), numbers(35, 3)];
    check(
        "linear",
        &inputs,
        |x| cpu.linear(&store(&cpu, &x[1..]), LINEAR, &x[0], 13),
        |x, d| {
            let mut store = store(&cpu, &x[1..]);
            let d_x = cpu.linear_backward(&mut store, LINEAR, &x[0], 13, &d.to_vec());
            with_gradients(&cpu, &store, 2, d_x)
        },
    );
}

#[test]
fn linear_with_activations() {
    let cpu = Cpu::default();
    use Activation::{GeluErf, GeluTanh, Relu, Silu, Tanh};
    for activation in [GeluErf, GeluTanh, Relu, Silu, Tanh] {
        // A large bias keeps away from the kink of the rectifier, where there is no derivative.
        let bias = numbers(35, 3).iter().map(|b| b.signum() * 30.0).collect();
        let bias = if activation == Relu { bias } else { numbers(35, 3) };
        check(
            "activation",
            &[numbers(13 * 9, 1), numbers(35 * 9, 2), bias],
            |x| {
                let [_, out] =
                    cpu.linear_activate(&store(&cpu, &x[1..]), LINEAR, &x[0], 13, activation);
                out
            },
            |x, d| {
                let mut store = store(&cpu, &x[1..]);
                let [before, _] = cpu.linear_activate(&store, LINEAR, &x[0], 13, activation);
                let (mut d_x, d) = (cpu.zeros(13 * 9), d.to_vec());
                cpu.linear_activate_backward(
                    &mut store, LINEAR, &x[0], 13, &before, activation, d, &mut d_x,
                );
                with_gradients(&cpu, &store, 2, d_x)
            },
        );
    }
}

#[test]
fn sum_and_layer_norm_with_and_without_dropout() {
    let cpu = Cpu::default();
    let norm = Norm { gain: 0, shift: Some(1), width: 19, eps: 1e-5 };
    let inputs = [numbers(70 * 19, 1), numbers(70 * 19, 4), numbers(19, 2), numbers(19, 3)];
    for rate in [0.0, 0.3] {
        let dropout = Dropout { rate, stream: Stream::new(8) };
        let forward = |x: &[Vec<f32>]| {
            cpu.add_norm(&store(&cpu, &x[2..]), norm, x[1].clone(), &x[0], dropout)
        };
        check(
            "norm",
            &inputs,
            |x| forward(x)[1].clone(),
            |x, d| {
                let mut store = store(&cpu, &x[2..]);
                let [sum, _] = forward(x);
                let [d_residual, d_branch] =
                    cpu.add_norm_backward(&mut store, norm, &sum, &d.to_vec(), dropout);
                [d_residual, d_branch].into_iter().chain(gradients(&cpu, &store, 2)).collect()
            },
        );
    }
}

#[test]
fn projection() {
    let cpu = Cpu::default();
    let maps =
        [0, 2, 4].map(|weight| Linear { weight, bias: Some(weight + 1), inputs: 9, outputs: 9 });
    let tensors = (0..6).map(|i| numbers(if i % 2 == 0 { 81 } else { 9 }, 10 + i));
    let inputs: Vec<Vec<f32>> = std::iter::once(numbers(13 * 9, 1)).chain(tensors).collect();
    check(
        "projection",
        &inputs,
        |x| cpu.project(&store(&cpu, &x[1..]), maps, &x[0], 13).concat(),
        |x, d| {
            let (mut store, mut d_x) = (store(&cpu, &x[1..]), cpu.zeros(13 * 9));
            let d = [0, 1, 2].map(|i| d[i * 13 * 9..(i + 1) * 13 * 9].to_vec());
            cpu.project_backward(&mut store, maps, &x[0], 13, d, &mut d_x);
            with_gradients(&cpu, &store, 6, d_x)
        },
    );
}

#[test]
fn attention_with_and_without_mask_relative_bias_and_dropout() {
    let cpu = Cpu::default();
    let (heads, width) = (2, 10);
    // One story has a single token, one has none.
    let bounds = vec![0, 7, 7, 8, 20];
    for rate in [0.0, 0.3] {
        let dropout = Dropout { rate, stream: Stream::new(8) };
        for (relative, causal) in [(None, false), (Some(0), false), (None, true), (Some(0), true)] {
            let shape = Attention { heads, width, longest: 16, causal, relative, dropout };
            let mut inputs =
                vec![numbers(20 * width, 1), numbers(20 * width, 2), numbers(20 * width, 3)];
            inputs.extend(relative.map(|_| numbers(8 * heads, 4)));
            let qkv = |x: &[Vec<f32>]| [x[0].clone(), x[1].clone(), x[2].clone()];
            check(
                "attention",
                &inputs,
                |x| cpu.attention(&store(&cpu, &x[3..]), shape, &bounds, &qkv(x)).0,
                |x, d| {
                    let (mut store, qkv, d) = (store(&cpu, &x[3..]), qkv(x), d.to_vec());
                    let all =
                        cpu.attention_backward(&mut store, shape, &bounds, &qkv, &(), &vec![], &d);
                    all.into_iter().chain(gradients(&cpu, &store, x.len() - 3)).collect()
                },
            );
        }
    }
}

#[test]
fn embedding() {
    let cpu = Cpu::default();
    let tables = Tables { words: 0, positions: 1, segments: Some(2) };
    let norm = Norm { gain: 3, shift: Some(4), width: 6, eps: 1e-5 };
    let dropout = Dropout { rate: 0.2, stream: Stream::new(8) };
    let inputs =
        [numbers(4 * 6, 1), numbers(3 * 6, 2), numbers(2 * 6, 3), numbers(6, 4), numbers(6, 5)];
    let segments =
        |segments| TableRows { words: vec![3, 1, 3, 0], positions: vec![0, 1, 2, 0], segments };
    for rows in [segments(None), segments(Some(vec![0, 1, 1, 0]))] {
        check(
            "embedding",
            &inputs,
            |x| {
                let [_, out] = cpu.embed(&store(&cpu, x), tables, norm, &rows, dropout);
                out
            },
            |x, d| {
                let (mut store, d) = (store(&cpu, x), d.to_vec());
                let [sum, _] = cpu.embed(&store, tables, norm, &rows, dropout);
                cpu.embed_backward(&mut store, tables, norm, &rows, &sum, d, dropout);
                gradients(&cpu, &store, 5)
            },
        );
    }
}

#[test]
fn means_over_stories() {
    let cpu = Cpu::default();
    let bounds = vec![0, 3, 4, 9];
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
    let store = store(&cpu, &[vec![1.0; 100], vec![0.0; 100]]);
    let norm = Norm { gain: 0, shift: Some(1), width: 100, eps: 1e-5 };
    let [x, _] = cpu.add_norm(&store, norm, vec![1.0; 40_000], &vec![0.0; 40_000], dropout);
    let dropped = x.iter().filter(|x| **x == 0.0).count();
    assert!((9_600..10_400).contains(&dropped), "{dropped} of 40000 dropped at 0.25");
    assert!(x.iter().all(|x| *x == 0.0 || (*x - 4.0 / 3.0).abs() < 1e-6));
    let [again, _] = cpu.add_norm(&store, norm, vec![1.0; 40_000], &vec![0.0; 40_000], dropout);
    assert_eq!(x, again);
}

#[test]
fn losses() {
    let cpu = Cpu::default();
    let (targets, weights) = (vec![4, 0, 18], vec![1.0, 0.5, 2.0]);
    let map = Linear { weight: 0, bias: Some(1), inputs: 7, outputs: 19 };
    let loss = |cpu: &Cpu, store: &mut CpuStore| vec![cpu.take_losses(store).unwrap()[2] as f32];
    let scaled = |list: Vec<Vec<f32>>, by: f32| -> Vec<Vec<f32>> {
        list.into_iter().map(|numbers| numbers.iter().map(|x| x * by).collect()).collect()
    };
    check(
        "softmax cross-entropy",
        &[numbers(3 * 7, 1), numbers(19 * 7, 2), numbers(19, 3)],
        |x| {
            let mut store = store(&cpu, &x[1..]);
            cpu.softmax_loss(&mut store, map, &x[0], 3, &targets, &weights, 2);
            loss(&cpu, &mut store)
        },
        |x, d| {
            let mut store = store(&cpu, &x[1..]);
            let d_x = cpu.softmax_loss(&mut store, map, &x[0], 3, &targets, &weights, 2);
            scaled(with_gradients(&cpu, &store, 2, d_x), d[0])
        },
    );
    let (map, labels) = (Linear { outputs: 1, ..map }, vec![1.0, 0.0, 1.0]);
    for kind in [LabelLoss::CrossEntropy, LabelLoss::SquaredError] {
        check(
            &format!("{kind:?}"),
            &[numbers(3 * 7, 1), numbers(7, 2), numbers(1, 3)],
            |x| {
                let mut store = store(&cpu, &x[1..]);
                cpu.label_loss(&mut store, map, &x[0], 3, &labels, &weights, kind, 2);
                loss(&cpu, &mut store)
            },
            |x, d| {
                let mut store = store(&cpu, &x[1..]);
                let d_x = cpu.label_loss(&mut store, map, &x[0], 3, &labels, &weights, kind, 2);
                scaled(with_gradients(&cpu, &store, 2, d_x), d[0])
            },
        );
    }
}

/// The head is small and sits on a whole encoder, so that its gradients are compared with finite
/// differences together with those of the table of words, which it shares with the encoder.
#[test]
fn masked_word_head() {
    let task = Task::load("bert");
    let (hidden, vocabulary) = (task.config.hidden, task.config.vocabulary);
    let shapes = [vec![hidden, hidden], vec![hidden], vec![hidden], vec![hidden], vec![vocabulary]];
    let words = task.parameters.tensors[0].data.clone();
    let mut inputs = vec![words];
    for (seed, shape) in (20..).zip(&shapes) {
        inputs.push(numbers(shape.iter().product(), seed));
    }
    let network = |x: &[Vec<f32>]| {
        let mut parameters = task.parameters.clone();
        parameters.tensors[0].data.clone_from(&x[0]);
        let heads = shapes.iter().zip(&x[1..]).enumerate().map(|(i, (shape, data))| Tensor {
            name: format!("head {i}"),
            shape: shape.clone(),
            data: data.clone(),
        });
        let heads: Vec<Tensor> = heads.collect();
        Network::new(Cpu::default(), task.config.clone(), &parameters, &heads).unwrap()
    };
    let batch: Batch = task.stories.iter().take(2).map(Vec::as_slice).collect();
    let rows: Vec<u32> = (0..batch.ids().len() as u32).step_by(3).collect();
    let targets: Vec<u32> = rows.iter().map(|&row| batch.ids()[row as usize]).collect();
    let weights = vec![1.0 / rows.len() as f32; rows.len()];
    let loss = |network: &mut Network<Cpu>| {
        let trace = network.forward(&batch, PLAIN).unwrap();
        let (mut states, head) = (network.states(&trace), network.masked_word_head(0));
        network.masked_word_loss(&mut states, head, (&rows, &targets, &weights), 3);
        let d_hidden = states.into_gradient();
        network.backward(trace, d_hidden);
        network.take_losses().unwrap()[3]
    };
    check(
        "masked-word head",
        &inputs,
        |x| vec![loss(&mut network(x)) as f32],
        |x, d| {
            let mut network = network(x);
            loss(&mut network);
            let found = network.gradients().unwrap().tensors;
            let encoder = task.parameters.tensors.len();
            let scaled = |tensor: &Tensor| tensor.data.iter().map(|g| g * d[0]).collect();
            std::iter::once(&found[0]).chain(&found[encoder..]).map(scaled).collect()
        },
    );

    // The logits are those whose loss was computed.
    let mut network = network(&inputs);
    let head = network.masked_word_head(0);
    let logits = network.masked_word_logits(&batch, head, &rows).unwrap();
    let by_hand: f64 = logits
        .chunks_exact(vocabulary)
        .zip(&targets)
        .map(|(row, &target)| {
            let total: f64 = row.iter().map(|logit| f64::from(*logit).exp()).sum();
            total.ln() - f64::from(row[target as usize])
        })
        .sum();
    let expected = by_hand / rows.len() as f64;
    let found = loss(&mut network);
    assert!((found - expected).abs() < 1e-4 * expected, "loss {found}, by hand {expected}");
}

/// The tiny models, their stories and the loss of tools/encoder_fixtures.py.
struct Task {
    config: Config,
    parameters: Parameters,
    stories: Vec<Vec<u32>>,
    expected: Value,
}

impl Task {
    fn load(model: &str) -> Task {
        let folder: PathBuf =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(model);
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

    /// The network with its heads: weight and bias of the label, bias of the vocabulary.
    fn network(&self) -> Network<Cpu> {
        let head: Vec<f32> = self.expected["head"]
            .as_array()
            .unwrap()
            .iter()
            .map(|v| v.as_f64().unwrap() as f32)
            .collect();
        let heads = head_tensors(self.config.hidden, self.config.vocabulary, head);
        Network::new(Cpu::default(), self.config.clone(), &self.parameters, &heads).unwrap()
    }

    /// The loss of some stories. Gradients are added.
    fn loss(&self, network: &mut Network<Cpu>, stories: &[usize], options: ForwardOptions) -> f64 {
        let labels: Vec<f32> = stories.iter().map(|i| (i % 2) as f32).collect();
        let stories: Vec<&[u32]> = stories.iter().map(|&i| self.stories[i].as_slice()).collect();
        learn(network, &stories, &labels, options)
    }
}

const PLAIN: ForwardOptions = ForwardOptions { dropout: None, recompute: false, first_row: 0 };
const MODELS: [&str; 3] = ["bert", "distilbert", "mpnet"];

#[test]
fn gradients_of_the_whole_loss_are_pytorchs() {
    for model in MODELS {
        let task = Task::load(model);
        for recompute in [false, true] {
            let mut network = task.network();
            let all: Vec<usize> = (0..task.stories.len()).collect();
            let loss = task.loss(&mut network, &all, ForwardOptions { recompute, ..PLAIN });
            let expected = task.expected["loss"].as_f64().unwrap();
            assert!(
                (loss - expected).abs() < 1e-5 * expected,
                "{model}: loss {loss}, PyTorch {expected}"
            );
            let found: BTreeMap<String, Vec<f32>> = network
                .gradients()
                .unwrap()
                .tensors
                .into_iter()
                .map(|t| (t.name, t.data))
                .collect();
            let expected = task.expected["gradients"].as_object().unwrap();
            assert_eq!(expected.len(), found.len(), "{model}: as many tensors as PyTorch");
            for (name, truth) in expected {
                let gradient = &found[name];
                let norm = truth["norm"].as_f64().unwrap();
                let got = gradient.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
                // The gradient of the bias of a key is zero but for rounding, because softmax does
                // not see a shift.
                let tolerance = 1e-4 * norm.max(1e-3);
                assert!(
                    (got - norm).abs() < tolerance,
                    "{model} {name}: norm {got}, PyTorch {norm}"
                );
                let mixed: f64 = gradient
                    .iter()
                    .enumerate()
                    .map(|(i, g)| f64::from(*g) * ((i + 1) as f64).cos())
                    .sum();
                let expected = truth["mixed"].as_f64().unwrap();
                assert!(
                    (mixed - expected).abs() < tolerance,
                    "{model} {name}: {mixed}, PyTorch {expected}"
                );
                let step = truth["step"].as_u64().unwrap() as usize;
                for (got, expected) in
                    gradient.iter().step_by(step).zip(truth["values"].as_array().unwrap())
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
        let mut network = task.network();
        let mut optimiser = Optimiser::new(AdamW::default());
        for (step, expected) in losses.iter().enumerate() {
            network.clear_gradients();
            let stories: Vec<usize> = (step % 2..task.stories.len()).step_by(2).collect();
            let loss = task.loss(&mut network, &stories, PLAIN);
            let expected = expected.as_f64().unwrap();
            assert!(
                (loss - expected).abs() < 1e-3,
                "{model}, step {step}: loss {loss}, PyTorch {expected}"
            );
            let rate = warm_up_then_linear(peak, step as u64, warm_up, steps);
            optimiser.step(&mut network, rate);
        }
    }
}

#[test]
fn a_run_resumed_in_the_middle_ends_with_the_same_weights() {
    let task = Task::load("bert");
    let run = |stop_at: Option<usize>| {
        let mut network = task.network();
        let mut optimiser = Optimiser::new(AdamW::bert());
        for step in 0..6 {
            if stop_at == Some(step) {
                let (weights, heads) = (network.parameters().unwrap(), network.heads().unwrap());
                let state = optimiser.state(&network).unwrap();
                network =
                    Network::new(Cpu::default(), task.config.clone(), &weights, &heads).unwrap();
                optimiser = Optimiser::resume(&mut network, AdamW::bert(), &state).unwrap();
            }
            network.clear_gradients();
            let options =
                ForwardOptions { dropout: Some(Stream::new(4).child(step as u64)), ..PLAIN };
            task.loss(&mut network, &[0, 3, step % 3], options);
            optimiser.step(&mut network, 1e-3);
        }
        network.parameters().unwrap()
    };
    let unbroken = run(None);
    assert!(unbroken == run(Some(3)), "the resumed run differs");
    assert!(unbroken != task.parameters, "the weights have moved");
}

#[test]
fn weights_and_states_of_another_network_are_refused() {
    let task = Task::load("bert");
    let mut fewer = task.parameters.clone();
    fewer.tensors.pop();
    let refused = Network::new(Cpu::default(), task.config.clone(), &fewer, &[]);
    assert!(matches!(refused.err(), Some(Error::Mismatch(_))));
    let mut network = task.network();
    let whole = Optimiser::new(AdamW::bert()).state(&network).unwrap();
    let mut fewer = whole.clone();
    fewer.means.pop();
    let mut shorter = whole;
    shorter.means[0].1.pop();
    for state in [fewer, shorter] {
        let refused = Optimiser::resume(&mut network, AdamW::bert(), &state);
        assert!(matches!(refused.err(), Some(Error::Mismatch(_))));
    }
}

#[test]
fn training_is_the_same_bytes_for_any_number_of_threads_and_with_recomputing() {
    let task = Task::load("mpnet");
    let run = |threads: usize, recompute: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut network = task.network();
            let options = ForwardOptions { dropout: Some(Stream::new(1)), recompute, ..PLAIN };
            let all: Vec<usize> = (0..task.stories.len()).chain(0..5).collect();
            let loss = task.loss(&mut network, &all, options);
            (loss.to_bits(), network.gradients().unwrap())
        })
    };
    let one = run(1, false);
    assert!(one == run(3, false), "three threads differ from one");
    assert!(one == run(2, true), "recomputing differs from keeping");
    let plain = task.loss(&mut task.network(), &[0, 1], PLAIN);
    assert_ne!(plain.to_bits(), one.0, "dropout does something");
}

#[test]
fn the_network_in_training_is_the_one_of_inference() {
    for model in MODELS {
        let task = Task::load(model);
        let batch: Batch = task.stories.iter().map(Vec::as_slice).collect();
        let network = task.network();
        let trace = network.forward(&batch, PLAIN).unwrap();
        assert_eq!(trace.hidden(), &network.encode(&batch).unwrap());
        let parameters = network.parameters().unwrap();
        let (config, isa) = (task.config.clone(), Isa::detect());
        let layers = config.layers;
        let inference = Model::on_cpu(config, &parameters, Precision::F32, isa).unwrap();
        let run = inference.run(&batch, &Outputs::new().layers([layers])).unwrap();
        let hidden = (0..batch.len()).flat_map(|i| run.layer(layers).sequence(i));
        let pairs = trace.hidden().iter().zip(hidden);
        let worst = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-5, "{model}: {worst}");
    }
}
