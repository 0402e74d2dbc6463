//! Compares a regression on BERT's pooler, with two segments, with PyTorch, and shows that a part
//! of a batch has the dropout of the whole.

use serde_json::Value;
use std::path::Path;
use storymeter_encoder::train::{Cpu, ForwardOptions, HostLoss, LabelLoss, Network, Selection};
use storymeter_encoder::{Batch, Config, Error, Stream, Tensor, load_parameters};

const PLAIN: ForwardOptions = ForwardOptions { dropout: None, recompute: false, first_row: 0 };

fn fixture(file: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bert");
    serde_json::from_slice(&std::fs::read(folder.join(file)).unwrap()).unwrap()
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

/// The weights of tools/pooled_fixtures.py that need no file.
fn waves(name: &str, shape: &[usize], scale: f64, phase: f64) -> Tensor {
    let count = shape.iter().product::<usize>();
    let data = (0..count).map(|i| (scale * (i as f64 + phase).cos()) as f32).collect();
    Tensor { name: name.into(), shape: shape.into(), data }
}

/// The tiny BERT with a pooler and one output.
fn network() -> Network<Cpu> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bert");
    let config = Config::load(&folder).unwrap();
    let parameters = load_parameters(&folder, &config).unwrap();
    let h = config.hidden;
    let bias = Tensor { name: "classifier.bias".into(), shape: vec![1], data: vec![0.15] };
    let heads = [
        waves("pooler.dense.weight", &[h, h], 0.2, 0.0),
        waves("pooler.dense.bias", &[h], 0.1, 1.0),
        waves("classifier.weight", &[1, h], 0.3, 2.0),
        bias,
    ];
    Network::new(Cpu::default(), config, &parameters, &heads).unwrap()
}

/// Pairs of the fixture's stories, and where each begins.
fn pairs() -> (Batch, Vec<u32>) {
    let ids = |story: &Value| -> Vec<u32> {
        numbers(&story["ids"]).iter().map(|id| *id as u32).collect()
    };
    let stories: Vec<Vec<u32>> =
        fixture("expected.json")["stories"].as_array().unwrap().iter().map(ids).collect();
    let mut batch = Batch::new();
    for pair in stories.windows(2).take(3) {
        batch.push_pair(&[&pair[0], &pair[1][1..]].concat(), pair[0].len());
    }
    let rows = (0..batch.len()).map(|i| batch.span(i).start as u32).collect();
    (batch, rows)
}

/// The loss of all pairs. Gradients are added.
fn learn(
    network: &mut Network<Cpu>,
    (batch, rows): (&Batch, &[u32]),
    (targets, weights): (&[f32], &[f32]),
    options: ForwardOptions,
) -> f64 {
    let trace = network.forward(batch, options).unwrap();
    let (mut states, head) = (network.states(&trace), network.pooled_head(0));
    let kind = LabelLoss::SquaredError;
    network.pooled_loss(&mut states, head, rows, (targets, weights), kind, 5);
    let d_hidden = states.into_gradient();
    network.backward(trace, d_hidden);
    network.take_losses().unwrap()[5]
}

#[test]
fn outputs_loss_and_gradients_are_pytorchs() {
    let (expected, (batch, rows), mut network) = (fixture("pooled.json"), pairs(), network());
    let outputs = network.pooled_outputs(&batch, network.pooled_head(0), &rows).unwrap();
    for (found, expected) in outputs.iter().zip(numbers(&expected["outputs"])) {
        assert!((f64::from(*found) - expected).abs() < 1e-5, "{found}, PyTorch {expected}");
    }
    let targets: Vec<f32> = numbers(&expected["targets"]).iter().map(|t| *t as f32).collect();
    let loss = learn(&mut network, (&batch, &rows), (&targets, &[1.0 / 3.0; 3]), PLAIN);
    let truth = expected["loss"].as_f64().unwrap();
    assert!((loss - truth).abs() < 1e-5 * truth, "loss {loss}, PyTorch {truth}");
    let gradients = network.gradients().unwrap().tensors;
    assert_eq!(gradients.len(), expected["gradients"].as_object().unwrap().len());
    for Tensor { name, data, .. } in gradients {
        let truth = &expected["gradients"][&name];
        let (norm, mixed) = (truth["norm"].as_f64().unwrap(), truth["mixed"].as_f64().unwrap());
        let found = data.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
        // The gradient of the bias of a key is zero but for rounding.
        let tolerance = 1e-4 * norm.max(1e-3);
        assert!((found - norm).abs() < tolerance, "{name}: norm {found}, PyTorch {norm}");
        let waves = data.iter().enumerate().map(|(i, g)| f64::from(*g) * ((i + 1) as f64).cos());
        let found: f64 = waves.sum();
        assert!((found - mixed).abs() < tolerance, "{name}: {found}, PyTorch {mixed}");
    }
}

#[test]
fn a_part_of_a_batch_has_the_dropout_of_the_whole() {
    let ((batch, rows), targets) = (pairs(), [0.2, 0.9, -0.4]);
    let options = ForwardOptions { dropout: Some(Stream::new(3)), ..PLAIN };
    let mut whole = network();
    let loss = learn(&mut whole, (&batch, &rows), (&targets, &[1.0; 3]), options);
    let plain = learn(&mut network(), (&batch, &rows), (&targets, &[1.0; 3]), PLAIN);
    assert!((loss - plain).abs() > 1e-3, "dropout does something: {loss} and {plain}");
    let mut parts = network();
    let (mut sum, mut first_row) = (0.0, 0);
    for pair in 0..3 {
        let ids = &batch.ids()[batch.span(pair)];
        // The second segment begins after the first closing mark.
        let closing = ids.last().unwrap();
        let at = ids.iter().position(|id| id == closing).unwrap() + 1;
        let mut part = Batch::new();
        part.push_pair(ids, at);
        let options = ForwardOptions { first_row, ..options };
        sum += learn(&mut parts, (&part, &[0]), (&targets[pair..=pair], &[1.0]), options);
        first_row += ids.len();
    }
    assert!((sum - loss).abs() < 1e-5, "the whole {loss}, in parts {sum}");
    let pairs =
        whole.gradients().unwrap().tensors.into_iter().zip(parts.gradients().unwrap().tensors);
    for (one, other) in pairs {
        let apart =
            one.data.iter().zip(&other.data).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(apart < 1e-4, "{}: {apart}", one.name);
    }
}

#[test]
fn a_model_of_one_segment_refuses_pairs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/mpnet");
    let config = Config::load(&folder).unwrap();
    let parameters = load_parameters(&folder, &config).unwrap();
    let network = Network::new(Cpu::default(), config, &parameters, &[]).unwrap();
    let mut batch = Batch::new();
    batch.push_pair(&[0, 7, 2, 8, 2], 3);
    let refused = network.forward(&batch, PLAIN).err().unwrap();
    assert!(matches!(refused, Error::Batch { story: 0, .. }), "{refused}");
    assert!(refused.to_string().contains("two segments"), "{refused}");
}

#[test]
fn a_loss_on_the_host_is_the_same_loss_on_the_device() {
    let (batch, rows) = pairs();
    let options = PLAIN;
    let targets = [0.2, 0.9, -0.4];
    // The squared error, once as the device knows it and once as a function on the host.
    let mut device = network();
    let head = device.head_named("classifier").unwrap();
    let trace = device.forward(&batch, options).unwrap();
    let mut states = device.states(&trace);
    let selection = Selection::Rows(&rows);
    let kind = LabelLoss::SquaredError;
    device.label_loss(&mut states, head, selection, (&targets, &[0.5; 3]), kind, 5);
    let d_hidden = states.into_gradient();
    device.backward(trace, d_hidden);

    let mut host = network();
    let trace = host.forward(&batch, options).unwrap();
    let mut states = host.states(&trace);
    let squares = |outputs: &[f32]| {
        let away = || outputs.iter().zip(targets).map(|(output, target)| output - target);
        HostLoss {
            losses: away().map(|away| 0.5 * away * away).collect(),
            gradients: away().collect(),
        }
    };
    host.host_loss(&mut states, head, Selection::Rows(&rows), 5, squares).unwrap();
    let d_hidden = states.into_gradient();
    host.backward(trace, d_hidden);

    let (one, other) = (device.take_losses().unwrap()[5], host.take_losses().unwrap()[5]);
    assert!((one - other).abs() < 1e-6, "{one} {other}");
    let (one, other) = (device.gradients().unwrap().tensors, host.gradients().unwrap().tensors);
    assert!(one.iter().any(|tensor| tensor.data.iter().any(|g| g.abs() > 1e-3)));
    for (one, other) in one.iter().zip(&other) {
        let far = one.data.iter().zip(&other.data).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(far < 1e-5, "{}: {far}", one.name);
    }
}
