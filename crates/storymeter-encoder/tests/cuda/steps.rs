//! Training steps compared with those of PyTorch.

use super::loss::{head_tensors, learn};
use super::report::Report;
use safetensors::SafeTensors;
use serde_json::Value;
use std::path::{Path, PathBuf};
use storymeter_encoder::train::{
    AdamW, Backend, ForwardOptions, Network, Optimiser, warm_up_then_linear,
};
use storymeter_encoder::{Config, Tensor, load_parameters};

/// The folder of a fixture. It is also found by a binary that was built elsewhere and runs in the
/// root of the repository.
pub(super) fn fixture(model: &str) -> PathBuf {
    let crates = [Path::new(env!("CARGO_MANIFEST_DIR")), Path::new("crates/storymeter-encoder")];
    let crates = crates.into_iter().find(|path| path.exists()).unwrap_or(crates[0]);
    crates.join("tests/fixtures").join(model)
}

/// How far the losses of steps may be from those of PyTorch in f32.
#[derive(Clone, Copy)]
pub(super) enum Leeway {
    /// This far.
    Within(f64),
    /// This far, or twice as far as PyTorch's own bf16 autocast if that is more: in sixteen bits
    /// the fixtures, whose weights are large and whose batches are small on purpose, follow nobody
    /// closely.
    OrTwiceAutocast(f64),
}

/// What PyTorch computed, from a folder that tools/encoder_fixtures.py or tools/training_steps.py
/// wrote.
pub(super) struct Steps {
    folder: PathBuf,
    stories: Vec<Vec<u32>>,
    expected: Value,
}

impl Steps {
    pub(super) fn read(folder: &Path) -> Steps {
        let path = folder.join("training.json");
        let text = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let expected = serde_json::from_slice(&text).unwrap();
        let read: Value =
            serde_json::from_slice(&std::fs::read(folder.join("expected.json")).unwrap()).unwrap();
        let ids = |story: &Value| -> Vec<u32> {
            story["ids"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as u32).collect()
        };
        let stories = read["stories"].as_array().unwrap().iter().map(ids).collect();
        Steps { folder: folder.into(), stories, expected }
    }

    fn numbers(&self, name: &str) -> Option<Vec<f64>> {
        Some(self.expected[name].as_array()?.iter().map(|v| v.as_f64().unwrap()).collect())
    }

    fn network<B: Backend>(&self, backend: B) -> Network<B> {
        let config = Config::load(&self.folder).unwrap();
        let head = self.numbers("head").unwrap().iter().map(|x| *x as f32).collect();
        let heads = head_tensors(config.hidden, config.vocabulary, head);
        let parameters = load_parameters(&self.folder, &config).unwrap();
        Network::new(backend, config, &parameters, &heads).unwrap()
    }

    /// The loss of step `step`. Its gradients are in the network then.
    fn learn<B: Backend>(&self, network: &mut Network<B>, step: usize) -> f64 {
        // The labels of the fixtures follow from the number of the story.
        let label = |i: usize| self.expected["labels"][i].as_f64().unwrap_or((i % 2) as f64) as f32;
        let chosen: Vec<usize> = (step % 2..self.stories.len()).step_by(2).collect();
        let labels: Vec<f32> = chosen.iter().map(|i| label(*i)).collect();
        let chosen: Vec<&[u32]> = chosen.iter().map(|i| self.stories[*i].as_slice()).collect();
        network.clear_gradients();
        learn(network, &chosen, &labels, ForwardOptions::default())
    }

    /// The losses of as many steps as PyTorch took.
    fn losses<B: Backend>(&self, backend: B) -> Vec<f64> {
        let mut network = self.network(backend);
        let mut optimiser = Optimiser::new(AdamW::default());
        let steps = self.numbers("losses").unwrap().len();
        let (peak, warm_up) = (
            self.expected["peak"].as_f64().unwrap() as f32,
            self.expected["warm_up"].as_u64().unwrap(),
        );
        let total = self.expected["total"].as_u64().unwrap_or(steps as u64);
        let step = |step: usize| {
            let loss = self.learn(&mut network, step);
            optimiser.step(&mut network, warm_up_then_linear(peak, step as u64, warm_up, total));
            loss
        };
        (0..steps).map(step).collect()
    }

    /// The relative error of every gradient of the first step compared with PyTorch in f64, the
    /// largest first.
    pub(super) fn gradient_errors<B: Backend>(&self, backend: B) -> Option<Vec<(f64, String)>> {
        let file = std::fs::read(self.folder.join("gradients.safetensors")).ok()?;
        let file = SafeTensors::deserialize(&file).unwrap();
        let mut network = self.network(backend);
        self.learn(&mut network, 0);
        let mut errors = Vec::new();
        for Tensor { name, data, .. } in network.gradients().unwrap().tensors {
            // Zero but for rounding, because softmax does not see a shift.
            if name.ends_with("key.bias") || name.ends_with(".k.bias") {
                continue;
            }
            let Ok(truth) = file.tensor(&name) else { continue };
            let truth = truth
                .data()
                .as_chunks::<4>()
                .0
                .iter()
                .map(|bytes| f64::from(f32::from_le_bytes(*bytes)));
            let pairs: Vec<(f64, f64)> = truth.zip(data.iter().map(|x| f64::from(*x))).collect();
            let length = |of: fn(&(f64, f64)) -> f64| {
                pairs.iter().map(|p| of(p).powi(2)).sum::<f64>().sqrt()
            };
            errors.push((length(|(a, b)| a - b) / length(|(a, _)| *a).max(1e-30), name));
        }
        assert!(errors.len() > 10, "only {} gradients have PyTorch's beside them", errors.len());
        errors.sort_by(|a, b| b.0.total_cmp(&a.0));
        Some(errors)
    }
}

/// The largest difference, which is infinite if there is a NaN.
fn strays(truth: &[f64], found: &[f64]) -> f64 {
    let differences = truth.iter().zip(found).map(|(a, b)| (a - b).abs());
    differences.fold(0f64, |most, d| if d.is_nan() { f64::INFINITY } else { most.max(d) })
}

/// Compares the losses of training steps with those of PyTorch.
pub(super) fn pytorchs_losses<B: Backend>(
    report: &mut Report,
    backend: B,
    folder: &Path,
    leeway: Leeway,
) {
    let steps = Steps::read(folder);
    let (model, precision) = (folder.file_name().unwrap_or_default().display(), report.precision);
    let (losses, autocast) =
        (steps.numbers("losses").unwrap(), steps.numbers("losses_bf16").unwrap());
    let autocast = strays(&losses, &autocast);
    let tolerance = match leeway {
        Leeway::Within(tolerance) => tolerance,
        Leeway::OrTwiceAutocast(tolerance) => tolerance.max(2.0 * autocast),
    };
    let found = steps.losses(backend);
    let worst = strays(&losses, &found);
    // If f64 shows that PyTorch's f32 is further from the truth than we are, the difference is not
    // our fault.
    let truth = steps.numbers("losses_f64");
    let nearer =
        truth.as_ref().is_some_and(|truth| strays(truth, &found) <= strays(truth, &losses));
    let fine = worst < tolerance || nearer;
    let mark = if fine { "ok  " } else { "FAIL" };
    let line = format!(
        "{mark} {precision} {model}: {} steps compared with PyTorch's f32: largest difference \
         {worst:.2e} (PyTorch's own bf16 autocast: {autocast:.2e})",
        losses.len()
    );
    println!("{line}");
    if let Some(truth) = truth {
        let list: Vec<String> = found.iter().map(|loss| format!("{loss:.5}")).collect();
        let (ours, theirs) = (strays(&truth, &found), strays(&truth, &losses));
        println!(
            "     from PyTorch's f64: {ours:.2e}, PyTorch's f32 {theirs:.2e}; losses {}",
            list.join(" ")
        );
    }
    if !fine {
        report.failures.push(line);
    }
}
