//! Batches made while the device works.
//!
//! The stories of an epoch are shuffled and cut into chunks. One thread damages a chunk while the chunk before goes into
//! batches on another, so that the first step waits for one chunk only and later ones for nothing. All of it follows from the
//! seed, the epoch and the record numbers.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Scope;
use std::time::Instant;

use rand_chacha::rand_core::Rng;
use storymeter_core::rng::StreamId;
use storymeter_encoder::train::Rank;

use super::example::{Example, Made, Maker, Pair, Record};
use super::task::Task;

/// Stories that are damaged, and put into batches by length, together.
const CHUNK: usize = 8192;

/// Batches that wait for the device at most.
const AHEAD: usize = 16;

/// What comes out.
pub(super) enum Fed {
    /// The next batch.
    Batch(Box<Portion>),
    /// The epoch is over.
    End(EpochEnd),
}

/// A batch, or a rank's part of it, and how far the epoch is with it.
pub(super) struct Portion {
    pub task: Task,
    /// The share of the epoch's stories up to the middle of this batch.
    pub progress: f64,
}

/// What was seen while an epoch was made.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct EpochEnd {
    pub left_out: usize,
    pub windows: usize,
    /// Time spent on damaging and tokenising.
    pub seconds: f64,
}

/// A chunk on its way into batches; `None` ends an epoch.
type Chunk = Option<(u64, usize, Made, f64)>;

/// Makes the batches of some epochs, of each a rank's part; whoever drops the receiver ends the work.
pub(super) fn feed<'scope>(
    scope: &'scope Scope<'scope, '_>,
    maker: &'scope Maker<'scope>,
    records: &'scope [Record<'scope>],
    epochs: std::ops::Range<u64>,
    rank: Rank,
) -> Receiver<Fed> {
    let (chunks, made) = sync_channel::<Chunk>(1);
    let (batches, fed) = sync_channel(AHEAD);
    scope.spawn(move || {
        for epoch in epochs {
            let stream = StreamId::EpochOrder { epoch };
            let order = shuffled(records.len(), stream.rng(maker.settings.seed));
            for (number, part) in order.chunks(CHUNK).enumerate() {
                let part: Vec<Record<'_>> = part.iter().map(|at| records[*at]).collect();
                let start = Instant::now();
                let chunk =
                    (epoch, number, maker.make_epoch(&part, epoch), start.elapsed().as_secs_f64());
                if chunks.send(Some(chunk)).is_err() {
                    return;
                }
            }
            if chunks.send(None).is_err() {
                return;
            }
        }
    });
    scope.spawn(move || group(maker, records.len(), rank, (&made, &batches)));
    fed
}

fn group(
    maker: &Maker<'_>,
    total: usize,
    rank: Rank,
    (made, batches): (&Receiver<Chunk>, &SyncSender<Fed>),
) {
    let mut end = EpochEnd::default();
    for chunk in made {
        let Some((epoch, number, made, seconds)) = chunk else {
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
        let groups = by_length(made.pairs, limits, random);
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

/// Puts pairs into batches of at most so many tokens and stories (0: any number): neighbours in length together, batches in random order.
fn by_length(
    mut pairs: Vec<Pair>,
    (tokens, stories): (usize, usize),
    mut random: impl Rng,
) -> Vec<Vec<Example>> {
    // Stable, so that stories of one length, which come shuffled, meet different neighbours every epoch.
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

fn shuffled(len: usize, mut random: impl Rng) -> Vec<usize> {
    let mut keys: Vec<(u64, usize)> = (0..len).map(|i| (random.next_u64(), i)).collect();
    keys.sort_unstable();
    keys.into_iter().map(|(_, i)| i).collect()
}

fn size(pair: &Pair) -> usize {
    pair.iter().map(|example| example.ids.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs of different lengths, each known by its first token.
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
    fn the_order_is_the_stream_s_and_another_epoch_has_another() {
        let order = |epoch: u64| by_length(pairs(200), (100, 0), random(epoch));
        assert_eq!(order(3), order(3));
        assert_ne!(order(3), order(4));
    }
}
