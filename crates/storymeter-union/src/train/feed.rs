//! Makes batches on two threads while the device works.
//!
//! The stories of an epoch are shuffled and cut into chunks. One thread damages a chunk while
//! another puts the chunk before it into batches, so that the first step waits for one chunk only
//! and later steps hardly wait at all. The result depends on the seed, the epoch and the record
//! numbers alone.
//!
//! The end of an epoch is a message of its own. A channel that closes without it means that a
//! thread was lost, which is an error: an epoch is never finished by a panic.

use std::any::Any;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Instant;

use rand_chacha::rand_core::Rng;
use storymeter_core::rng::{StreamId, shuffled};
use storymeter_encoder::train::Rank;

use super::example::{Example, Made, Maker, Pair, Record};
use super::settings::Batches;
use super::task::Task;
use crate::{Error, Result};

/// The number of stories that are damaged, and put into batches by length, together.
const CHUNK: usize = 8192;

/// The largest number of batches that wait for the device.
const AHEAD: usize = 16;

/// A message to the thread that trains.
pub(super) enum Fed {
    /// The next batch.
    Batch(Box<Portion>),
    /// The epoch is over.
    End(EpochEnd),
}

/// A batch, or one rank's part of it.
pub(super) struct Portion {
    pub task: Task,
    /// The share of the epoch's stories up to the middle of this batch.
    pub progress: f64,
}

/// What was counted while an epoch was made.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct EpochEnd {
    pub left_out: usize,
    pub windows: usize,
    /// Seconds spent on damaging and tokenising.
    pub seconds: f64,
}

/// A message from the thread that damages stories to the one that makes batches.
enum Step {
    Chunk {
        epoch: u64,
        /// The place of the chunk in its epoch, from 0.
        number: usize,
        made: Made,
        seconds: f64,
    },
    EpochEnd,
}

/// Makes the examples of some records for an epoch. Tests give a function that panics.
pub(super) type Make<'a> = &'a (dyn Fn(&Maker<'_>, &[Record<'_>], u64) -> Made + Sync);

/// The two threads that make batches, as the thread that trains sees them.
pub(super) struct Feed<'scope> {
    batches: Receiver<Fed>,
    /// What each thread does, in words, and its handle.
    threads: Vec<(&'static str, ScopedJoinHandle<'scope, ()>)>,
}

impl<'scope> Feed<'scope> {
    /// Starts to make the batches of some epochs, or one rank's part of each batch.
    pub fn start(
        scope: &'scope Scope<'scope, '_>,
        (maker, make): (&'scope Maker<'scope>, Make<'scope>),
        records: &'scope [Record<'scope>],
        epochs: std::ops::Range<u64>,
        rank: Rank,
    ) -> Self {
        let (chunks, made) = sync_channel::<Step>(1);
        let (batches, fed) = sync_channel(AHEAD);
        let damage = scope.spawn(move || damage((maker, make), records, epochs, &chunks));
        let group = scope.spawn(move || group(maker, records.len(), rank, (&made, &batches)));
        Self { batches: fed, threads: vec![("damages stories", damage), ("makes batches", group)] }
    }

    /// Waits for the next batch or the end of the epoch.
    ///
    /// # Errors
    /// Returns [`Error::LostThread`] if a thread has panicked.
    pub fn next(&mut self) -> Result<Fed> {
        if let Ok(fed) = self.batches.recv() {
            return Ok(fed);
        }
        join(std::mem::take(&mut self.threads))?;
        let message = "it ended before the epoch did".to_owned();
        Err(Error::LostThread { work: "makes batches", message })
    }

    /// Stops both threads.
    ///
    /// # Errors
    /// Returns [`Error::LostThread`] if a thread has panicked.
    pub fn finish(self) -> Result<()> {
        // The threads stop when nobody can receive what they send.
        drop(self.batches);
        join(self.threads)
    }
}

/// Waits for threads to end, and reports the first panic.
fn join(threads: Vec<(&'static str, ScopedJoinHandle<'_, ()>)>) -> Result<()> {
    // All are joined before anything is reported: the scope would panic for a thread that is not.
    let ends: Vec<_> = threads.into_iter().map(|(work, thread)| (work, thread.join())).collect();
    for (work, end) in ends {
        end.map_err(|panic| Error::LostThread { work, message: panic_message(&*panic) })?;
    }
    Ok(())
}

/// The text of a panic.
fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "the panic has no message".to_owned())
}

/// Shuffles and damages the stories of some epochs, chunk by chunk.
fn damage(
    (maker, make): (&Maker<'_>, Make<'_>),
    records: &[Record<'_>],
    epochs: std::ops::Range<u64>,
    chunks: &SyncSender<Step>,
) {
    for epoch in epochs {
        let stream = StreamId::EpochOrder { epoch };
        let order = shuffled(records.len(), stream.rng(maker.settings.seed));
        for (number, part) in order.chunks(CHUNK).enumerate() {
            let part: Vec<Record<'_>> = part.iter().map(|at| records[*at]).collect();
            let start = Instant::now();
            let made = make(maker, &part, epoch);
            let seconds = start.elapsed().as_secs_f64();
            if chunks.send(Step::Chunk { epoch, number, made, seconds }).is_err() {
                return;
            }
        }
        if chunks.send(Step::EpochEnd).is_err() {
            return;
        }
    }
}

/// Puts damaged stories into batches.
fn group(
    maker: &Maker<'_>,
    total: usize,
    rank: Rank,
    (chunks, batches): (&Receiver<Step>, &SyncSender<Fed>),
) {
    let mut end = EpochEnd::default();
    for step in chunks {
        let Step::Chunk { epoch, number, made, seconds } = step else {
            if batches.send(Fed::End(std::mem::take(&mut end))).is_err() {
                return;
            }
            continue;
        };
        end.left_out += made.left_out;
        end.windows += made.windows;
        end.seconds += seconds;
        let before = number * CHUNK;
        let here = (total - before).min(CHUNK) as f64;
        let stream = StreamId::BatchOrder { epoch, chunk: number as u64 };
        let random = stream.rng(maker.settings.seed);
        let limits = (maker.settings.tokens_a_batch, maker.settings.stories_a_batch);
        let groups = match maker.settings.batches {
            Batches::ByLength => by_length(made.pairs, limits, random),
            Batches::Random => at_random(made.pairs, limits, random),
        };
        let count = groups.len() as f64;
        for (at, examples) in groups.into_iter().enumerate() {
            let progress = (before as f64 + here * (at as f64 + 0.5) / count) / total as f64;
            let portion = Portion { task: Task::new(maker.settings, &examples, rank), progress };
            if batches.send(Fed::Batch(Box::new(portion))).is_err() {
                return;
            }
        }
    }
}

/// Puts pairs into batches that hold at most `tokens` tokens and, unless it is 0, at most `stories`
/// stories. Stories of similar length share a batch, and the batches are in random order.
fn by_length(
    mut pairs: Vec<Pair>,
    (tokens, stories): (usize, usize),
    mut random: impl Rng,
) -> Vec<Vec<Example>> {
    // The sort is stable. The stories come shuffled, so those of one length meet different
    // neighbours in every epoch.
    pairs.sort_by_key(size);
    let mut groups: Vec<Vec<Example>> = Vec::new();
    let mut room = 0;
    for pair in pairs {
        let size = size(&pair);
        let is_full =
            |group: &Vec<Example>| size > room || (stories > 0 && group.len() + 2 > stories);
        if groups.last().is_none_or(is_full) {
            groups.push(Vec::new());
            room = tokens;
        }
        room = room.saturating_sub(size);
        if let Some(group) = groups.last_mut() {
            group.extend(pair);
        }
    }
    let order = shuffled(groups.len(), &mut random);
    order.into_iter().map(|i| std::mem::take(&mut groups[i])).collect()
}

/// Shuffles stories and negatives together, and cuts them into batches with the same limits as
/// [`by_length`].
fn at_random(
    pairs: Vec<Pair>,
    (tokens, stories): (usize, usize),
    random: impl Rng,
) -> Vec<Vec<Example>> {
    let mut examples: Vec<Option<Example>> = pairs.into_iter().flatten().map(Some).collect();
    let order = shuffled(examples.len(), random);
    let mut groups: Vec<Vec<Example>> = Vec::new();
    let mut room = 0;
    for example in order.into_iter().filter_map(|at| examples[at].take()) {
        let size = example.ids.len();
        let is_full = |group: &Vec<Example>| size > room || (stories > 0 && group.len() == stories);
        if groups.last().is_none_or(is_full) {
            groups.push(Vec::new());
            room = tokens;
        }
        room = room.saturating_sub(size);
        if let Some(group) = groups.last_mut() {
            group.push(example);
        }
    }
    groups
}

fn size(pair: &Pair) -> usize {
    pair.iter().map(|example| example.ids.len()).sum()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use storymeter_encoder::train::{Alone, Cpu};

    use super::super::checkpoint::Checkpoint;
    use super::super::{EpochReport, Settings, together, train_making};
    use super::*;

    /// Pairs of different lengths. The tokens of a pair are its number.
    fn pairs(count: u32) -> Vec<Pair> {
        let example = |number: u32, human: bool| {
            let length = 4 + (number as usize * 7) % 30;
            Example {
                ids: vec![number; length],
                first: 1,
                targets: Vec::new(),
                human,
                damage: [!human; 4],
                taught: Vec::new(),
            }
        };
        (0..count).map(|number| [example(number, true), example(number, false)]).collect()
    }

    fn random(epoch: u64) -> impl Rng {
        StreamId::Draw { record: 2, draw: epoch }.rng(1)
    }

    #[test]
    fn every_pair_is_in_one_batch_and_no_batch_is_too_large() {
        for (tokens, stories) in [(100, 0), (100, 4), (1_000_000, 10), (70, 3)] {
            let batches = by_length(pairs(200), (tokens, stories), random(0));
            let mut seen: Vec<u32> = Vec::new();
            for batch in &batches {
                assert!(batch.iter().map(|example| example.ids.len()).sum::<usize>() <= tokens);
                assert!(stories == 0 || batch.len() <= stories);
                seen.extend(batch.chunks(2).map(|pair| pair[0].ids[0]));
                assert!(
                    batch.chunks(2).all(|pair| pair[0].human && pair[0].ids[0] == pair[1].ids[0])
                );
                let lengths = batch.iter().map(|example| example.ids.len());
                assert!(
                    tokens > 1000 || lengths.clone().max().unwrap() - lengths.min().unwrap() <= 4
                );
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..200).collect::<Vec<_>>());
        }
    }

    #[test]
    fn random_batches_hold_every_story_once_and_separate_pairs() {
        for (tokens, stories) in [(100, 0), (1_000_000, 10), (70, 3)] {
            let batches = at_random(pairs(200), (tokens, stories), random(0));
            let mut seen: Vec<(u32, bool)> = Vec::new();
            for batch in &batches {
                assert!(batch.iter().map(|example| example.ids.len()).sum::<usize>() <= tokens);
                assert!(stories == 0 || batch.len() <= stories);
                seen.extend(batch.iter().map(|example| (example.ids[0], example.human)));
            }
            let together = seen.chunks(2).filter(|two| two.len() == 2 && two[0].0 == two[1].0);
            assert!(together.count() < 20, "a story and its negative are rarely neighbours");
            seen.sort_unstable();
            let all = (0..200).flat_map(|number| [(number, false), (number, true)]);
            assert_eq!(seen, all.collect::<Vec<_>>());
        }
        assert_eq!(at_random(pairs(200), (1_000_000, 10), random(0)).len(), 40);
    }

    /// Trains for three epochs on examples made by `make`, and returns the reports.
    fn trained(out: &Path, resume: bool, make: Make<'_>) -> Result<Vec<EpochReport>> {
        let settings =
            Settings { epochs: 3, max_tokens: 40, tokens_a_batch: 300, ..Settings::default() };
        let (init, stories) = (together::encoder(), together::stories());
        let job = together::job((&init, &stories), out, &settings, resume);
        train_making((&Cpu::default(), &Alone), "cpu", &job, &mut |_| Ok(()), make)
    }

    #[test]
    fn a_panic_in_a_feeding_thread_is_an_error_and_its_epoch_is_not_finished() {
        let out = tempfile::tempdir().unwrap();
        let broken: Make<'_> = &|maker, records, epoch| {
            assert!(epoch != 1, "the second epoch is broken");
            maker.make_epoch(records, epoch)
        };
        match trained(out.path(), false, broken).unwrap_err() {
            Error::LostThread { work, message } => {
                assert_eq!((work, &*message), ("damages stories", "the second epoch is broken"));
            }
            other => panic!("{other}"),
        }
        let kept = Checkpoint::load(out.path()).unwrap().unwrap();
        assert_eq!(kept.state.reports.len(), 1, "the first epoch alone is finished");
        // The run can go on from there once the cause is gone.
        let whole: Make<'_> = &|maker, records, epoch| maker.make_epoch(records, epoch);
        let resumed = trained(out.path(), true, whole).unwrap();
        let fresh = trained(tempfile::tempdir().unwrap().path(), false, whole).unwrap();
        assert_eq!(resumed.len(), 3);
        assert_eq!(resumed, fresh);
    }

    #[test]
    fn a_panic_in_the_last_chunk_is_an_error_too() {
        let out = tempfile::tempdir().unwrap();
        let broken: Make<'_> = &|_, _, _| panic!("always");
        let error = trained(out.path(), false, broken).unwrap_err();
        assert_eq!(error.to_string(), "training: the thread that damages stories panicked: always");
        assert!(Checkpoint::load(out.path()).unwrap().is_none(), "nothing was saved");
    }

    #[test]
    fn a_panic_that_nobody_waited_for_is_reported_at_the_end() {
        let end = std::thread::scope(|scope| {
            let (sender, batches) = sync_channel(1);
            let thread = scope.spawn(move || {
                drop(sender);
                panic!("number {}", 7)
            });
            Feed { batches, threads: vec![("makes batches", thread)] }.finish()
        });
        let message = "training: the thread that makes batches panicked: number 7";
        assert_eq!(end.unwrap_err().to_string(), message);
    }

    #[test]
    fn the_order_is_the_stream_s_and_another_epoch_has_another() {
        let order = |epoch: u64| by_length(pairs(200), (100, 0), random(epoch));
        assert_eq!(order(3), order(3));
        assert_ne!(order(3), order(4));
    }
}
