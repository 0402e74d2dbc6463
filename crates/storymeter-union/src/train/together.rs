//! Tests that two ranks train together: two threads on the CPU exchange sums through shared memory,
//! as GPUs do through NCCL.

use std::path::{Path, PathBuf};
use std::sync::{Barrier, Mutex};

use storymeter_core::Story;
use storymeter_encoder::train::{Alone, Backend, Cpu, CpuStore, Exchange, Part, Rank};
use storymeter_text::lexicon::Lexicon;

use super::{Device, EpochReport, Job, Settings, train_on};
use crate::{Error, Model};

const RANKS: usize = 2;

/// What the threads share.
struct Table {
    barrier: Barrier,
    /// The numbers of each rank.
    brought: Mutex<[Vec<f64>; RANKS]>,
}

/// One of the threads.
struct Seat<'a> {
    rank: Rank,
    table: &'a Table,
    /// The word embeddings at every step.
    seen: Mutex<Vec<Vec<f32>>>,
}

impl Exchange<Cpu> for Seat<'_> {
    fn rank(&self) -> Rank {
        self.rank
    }

    fn sum_gradients(
        &self,
        cpu: &Cpu,
        store: &mut CpuStore,
        tensors: usize,
    ) -> storymeter_encoder::Result<()> {
        self.seen.lock().unwrap().push(cpu.read(store, Part::Weights, 0)?);
        for tensor in 0..tensors {
            let mut numbers: Vec<f64> =
                cpu.read(store, Part::Gradients, tensor)?.into_iter().map(f64::from).collect();
            self.sum(cpu, &mut numbers)?;
            let sums: Vec<f32> = numbers.into_iter().map(|x| x as f32).collect();
            cpu.write(store, Part::Gradients, tensor, &sums)?;
        }
        Ok(())
    }

    fn sum(&self, _: &Cpu, numbers: &mut [f64]) -> storymeter_encoder::Result<()> {
        self.table.brought.lock().unwrap()[self.rank.number] = numbers.to_vec();
        self.table.barrier.wait();
        let brought = self.table.brought.lock().unwrap();
        for (i, number) in numbers.iter_mut().enumerate() {
            *number = brought.iter().map(|list| list[i]).sum();
        }
        drop(brought);
        // No rank may write its next numbers before all have read these.
        self.table.barrier.wait();
        Ok(())
    }
}

pub(super) fn encoder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../storymeter-encoder/tests/fixtures/bert")
}

pub(super) fn stories() -> Vec<Story> {
    let story = |i: usize| {
        let pick = |list: [&'static str; 3], by: usize| list[i / by % 3];
        let (thing, place) =
            (pick(["kite", "barn", "bread"], 1), pick(["barn", "kite", "rain"], 3));
        let mut story = Story { id: i.to_string(), ..Story::default() };
        for sentence in [
            format!("Mira lost her {} {thing}.", pick(["red", "old", "new"], 9)),
            format!("She looked in the {place}."),
            format!("{} hung in the rain.", pick(["It", "The kite", "The bread"], 27)),
            "They flew again.".to_owned(),
        ] {
            story.push_sentence(&sentence);
        }
        story
    };
    (0..120).map(story).collect()
}

/// Runs one rank, and returns its reports and the weights that it saw.
fn rank<'a>(job: &Job<'_>, number: usize, table: &'a Table) -> (Vec<EpochReport>, Vec<Vec<f32>>) {
    let seat: Seat<'a> = Seat { rank: Rank { number, of: RANKS }, table, seen: Mutex::default() };
    let reports = train_on((&Cpu::default(), &seat), "cpu", job, &mut |_| Ok(())).unwrap();
    (reports, seat.seen.into_inner().unwrap())
}

pub(super) fn job<'a>(
    (init, stories): (&'a Path, &'a [Story]),
    out: &'a Path,
    settings: &'a Settings,
    resume: bool,
) -> Job<'a> {
    Job {
        init,
        stories,
        machine: None,
        files: &[],
        out,
        settings,
        lexicon: Lexicon::embedded(),
        teachers: &[],
        device: Device::Cpu,
        resume,
    }
}

/// Runs both ranks.
fn two_ranks(job: &Job<'_>) -> [(Vec<EpochReport>, Vec<Vec<f32>>); RANKS] {
    let table = Table { barrier: Barrier::new(RANKS), brought: Mutex::default() };
    std::thread::scope(|scope| {
        let second = scope.spawn(|| rank(job, 1, &table));
        [rank(job, 0, &table), second.join().unwrap()]
    })
}

#[test]
fn two_ranks_take_the_steps_of_one_dropout_included_and_their_weights_stay_alike() {
    let (init, stories) = (encoder(), stories());
    // The batches have 2 to 6 stories, so the parts are often unequal.
    let settings = Settings {
        epochs: 3,
        max_tokens: 40,
        tokens_a_batch: 130,
        learning_rate: 1e-4,
        patience: 2,
        ..Settings::default()
    };
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let job = |out| job((&init, &stories), out, &settings, false);
    let alone =
        train_on((&Cpu::default(), &Alone), "cpu", &job(folders[0].path()), &mut |_| Ok(()))
            .unwrap();
    let [(together, first), (_, second)] = two_ranks(&job(folders[1].path()));
    assert!(first.len() > 60 && first == second, "the same bits on both ranks before every step");
    assert_eq!(alone.len(), together.len());
    for (a, b) in alone.iter().zip(&together) {
        assert_eq!((a.steps, a.tokens, a.best), (b.steps, b.tokens, b.best));
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-5 * a.abs().max(1.0), "{a} and {b}");
        near(a.losses.score, b.losses.score);
        near(a.losses.reconstruction, b.losses.reconstruction);
        near(a.losses.diagnosis, b.losses.diagnosis);
        near(a.dev.all.loss, b.dev.all.loss);
    }
    let [a, b] = [0, 1].map(|i: usize| Model::load(folders[i].path()).unwrap().parameters.tensors);
    // The gradient of a key's bias is rounding only, and AdamW turns it into full steps.
    let pairs = a.iter().zip(&b).filter(|(a, _)| !a.name.ends_with("key.bias"));
    let pairs = pairs.flat_map(|(a, b)| a.data.iter().zip(&b.data));
    let largest = pairs.map(|(a, b)| (a - b).abs()).fold(0f32, f32::max);
    assert!(largest < 1e-5, "weights differ by {largest}");
}

#[test]
fn two_ranks_go_on_where_one_stopped_and_end_as_if_nobody_had() {
    let (init, stories) = (encoder(), stories());
    let settings =
        Settings { epochs: 2, max_tokens: 40, tokens_a_batch: 300, ..Settings::default() };
    let whole = tempfile::tempdir().unwrap();
    let parts = tempfile::tempdir().unwrap();
    let job = |out, resume| job((&init, &stories), out, &settings, resume);
    two_ranks(&job(whole.path(), false));
    let stop = &mut |event: super::Event<'_>| match event {
        super::Event::Epoch(_) => Err(Error::Stopped { reason: "a test".to_owned() }),
        _ => Ok(()),
    };
    // Both ranks have the same weights, so the checkpoint of one serves both.
    train_on((&Cpu::default(), &Alone), "cpu", &job(parts.path(), false), stop).unwrap_err();
    let [(reports, _), _] = two_ranks(&job(parts.path(), true));
    assert_eq!(reports.len(), 2);
    let loss = |folder: &Path| {
        Model::load(folder).unwrap().card.training.0["epochs"][1]["dev"]["all"]["loss"]
            .as_f64()
            .unwrap()
    };
    let (a, b) = (loss(whole.path()), loss(parts.path()));
    assert!((a - b).abs() < 1e-5, "{a} and {b}");
}
