//! Steps of training whose gradients are not finite: they are skipped and counted, also after an
//! interruption, and a run in which nothing can be learned ends with an error.

use std::path::Path;

use serde_json::{Map, Value, json};
use storymeter_baselines::fine_tune::{
    Beginning, EpochReport, Event, Identity, Job, Plan, Quality, Task, fine_tune,
};
use storymeter_baselines::{Device, Error, Result};
use storymeter_encoder::train::{AdamW, Backend, ForwardOptions, Network};
use storymeter_encoder::{Batch, Config, Parameters};

/// Learns the next token of short sequences. The gradients of some of them are not numbers.
struct Odd<'a> {
    odd: fn(usize) -> bool,
    out: &'a Path,
}

const EXAMPLES: usize = 8;

fn ids(example: usize) -> [u32; 4] {
    [1, 2, 3 + example as u32, 4]
}

impl Task for Odd<'_> {
    fn examples(&self) -> usize {
        EXAMPLES
    }

    fn dev_examples(&self) -> usize {
        1
    }

    fn tokens(&self, _: usize) -> usize {
        4
    }

    fn learn<B: Backend>(
        &self,
        network: &mut Network<B>,
        examples: &[usize],
        options: ForwardOptions,
    ) -> Result<()> {
        let ids = ids(examples[0]);
        let batch: Batch = [&ids[..]].into_iter().collect();
        let trace = network.forward(&batch, options)?;
        let (mut states, head) = (network.states(&trace), network.next_token_head());
        network.token_loss(&mut states, head, (&[0, 1, 2], &ids[1..], &[0.3; 3]), 0);
        let mut gradient = states.into_gradient();
        if (self.odd)(examples[0]) {
            gradient = network.backend().upload(&[f32::NAN; 4 * 8]);
        }
        network.backward(trace, gradient);
        Ok(())
    }

    fn evaluate<B: Backend>(&self, _: &mut Network<B>) -> Result<Quality> {
        Ok(Quality::of_loss(1.0))
    }

    fn keeps_last_epoch(&self) -> bool {
        true
    }

    fn save<B: Backend>(&self, network: &mut Network<B>, _: Map<String, Value>) -> Result<()> {
        let weights = network.parameters()?.tensors.into_iter().flat_map(|tensor| tensor.data);
        let bytes: Vec<u8> = weights.flat_map(f32::to_le_bytes).collect();
        std::fs::write(self.out.join("weights"), bytes).unwrap();
        Ok(())
    }
}

fn beginning() -> Beginning {
    let fields = json!({
        "model_type": "gpt2", "n_embd": 8, "n_layer": 1, "n_head": 2, "n_positions": 16,
        "vocab_size": 20,
    });
    let config = Config::from_fields(fields.as_object().cloned().unwrap(), "x".into()).unwrap();
    let parameters = Parameters::random(&config, 5);
    (config, parameters, Vec::new())
}

/// Trains for `epochs`, of three that are planned, and then stops.
fn run(
    odd: fn(usize) -> bool,
    out: &Path,
    (epochs, resume): (u64, bool),
) -> (Result<Vec<EpochReport>>, u64) {
    let plan = Plan {
        seed: 1,
        epochs: 3,
        patience: 0,
        examples_a_batch: 1,
        tokens_a_batch: 100,
        learning_rate: 1e-2,
        warm_up: 0.0,
        optimiser: AdamW::default(),
        dropout: false,
        recompute: false,
        checkpoints: true,
    };
    let identity = Identity {
        kind: "odd".into(),
        settings: Value::Null,
        stories_sha256: "0".repeat(64),
        init_sha256: "0".repeat(64),
    };
    let job = Job { device: Device::Cpu, plan, identity: &identity, out, resume };
    let mut skipped = 0;
    let reports = fine_tune(&job, beginning(), &Odd { odd, out }, &mut |event| match event {
        Event::Epoch(report) if report.epoch == epochs && epochs < 3 => {
            Err(Error::Ratings { problem: "stopped".into() })
        }
        Event::End(end) => {
            skipped = end.skipped;
            Ok(())
        }
        _ => Ok(()),
    });
    (reports, skipped)
}

#[test]
fn odd_steps_are_skipped_and_counted_and_a_resumed_run_is_the_same() {
    let odd = |example: usize| example % 4 == 3;
    let whole = tempfile::tempdir().unwrap();
    let (reports, skipped) = run(odd, whole.path(), (3, false));
    let counts: Vec<(u64, u64)> = reports.unwrap().iter().map(|r| (r.steps, r.skipped)).collect();
    assert_eq!((counts, skipped), (vec![(8, 2); 3], 6));
    let weights = |folder: &Path| std::fs::read(folder.join("weights")).unwrap();
    let saved = weights(whole.path());
    assert!(saved.as_chunks().0.iter().all(|bytes| f32::from_le_bytes(*bytes).is_finite()));

    let parts = tempfile::tempdir().unwrap();
    assert!(run(odd, parts.path(), (1, false)).0.is_err());
    let (reports, skipped) = run(odd, parts.path(), (3, true));
    assert_eq!(reports.unwrap().iter().map(|r| r.skipped).collect::<Vec<_>>(), [2, 2, 2]);
    assert_eq!(skipped, 6);
    assert!(weights(parts.path()) == saved, "the resumed run differs");
}

#[test]
fn a_run_that_learns_nothing_ends_with_an_error() {
    let expected = "training: the gradients of 24 steps in a row were not finite, so that nothing \
                    was learned from them; try a smaller learning rate";
    let whole = tempfile::tempdir().unwrap();
    assert_eq!(run(|_| true, whole.path(), (3, false)).0.unwrap_err().to_string(), expected);
    // The steps before an interruption count.
    let parts = tempfile::tempdir().unwrap();
    assert!(run(|_| true, parts.path(), (2, false)).0.is_err());
    assert_eq!(run(|_| true, parts.path(), (3, true)).0.unwrap_err().to_string(), expected);
}
