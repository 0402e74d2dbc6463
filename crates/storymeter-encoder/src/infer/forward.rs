//! Takes a batch through a stack of blocks, with threads across and inside sequences.

use super::block::{BLOCK, Memory, Pass, Scratch};
use super::net::{Net, Stack};
use crate::batch::Reading;
use crate::kernel::aligned::Aligned;
use crate::kernel::quantised::{RowBuffer, room};
use crate::kernel::rotary::Angles;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Mutex;

/// How many tokens one thread takes through all blocks at a time (or one longer sequence).
const GROUP: usize = 256;

/// With fewer groups per thread than this, all threads work on the same sequences instead.
const GROUPS_PER_THREAD: usize = 2;

/// Fewer rows than this are not worth another thread.
const ROWS_PER_THREAD: usize = 12;

/// The sequences that a stack reads, one after the other.
#[derive(Clone, Copy)]
pub(super) struct Texts<'a> {
    pub(super) ids: &'a [u32],
    /// Where each sequence begins, and where the last one ends.
    pub(super) bounds: &'a [usize],
    pub(super) readings: &'a [Reading],
    /// What a decoder writes about.
    pub(super) about: Option<About<'a>>,
}

/// What the encoder made of the sequences that a decoder writes about.
#[derive(Clone, Copy)]
pub(super) struct About<'a> {
    /// The states of all tokens.
    pub(super) states: &'a [f32],
    /// Where each sequence begins, and where the last one ends.
    pub(super) bounds: &'a [usize],
    pub(super) readings: &'a [Reading],
    /// The sequence of each target.
    pub(super) sources: &'a [usize],
}

impl Texts<'_> {
    fn longest(&self) -> usize {
        let longest = |bounds: &[usize]| bounds.windows(2).map(|b| b[1] - b[0]).max().unwrap_or(0);
        longest(self.bounds).max(self.about.map_or(0, |about| longest(about.bounds)))
    }
}

/// What one thread needs.
#[derive(Default)]
pub(super) struct Lane {
    shared: Shared,
    scratch: Scratch,
}

/// What the threads that work on the same sequences share.
#[derive(Default)]
struct Shared {
    x: Aligned<f32>,
    /// Queries, keys and values of this block and of the next: the rows of a sequence are read
    /// while others are written.
    qkv: [Aligned<f32>; 2],
    bounds: Vec<usize>,
    memory: SharedMemory,
}

/// What the encoder made of the sequences of some targets.
#[derive(Default)]
struct SharedMemory {
    states: Vec<f32>,
    /// The keys and values of one block.
    numbers: Vec<f32>,
    /// The rows of each target. Targets of the same sequence have the same rows.
    rows: Vec<Range<usize>>,
}

impl Lane {
    /// Makes room for a group of `rows` rows. Any lane may take any group, and none should have to
    /// grow then.
    fn fit(&mut self, stack: &Stack, rows: usize, longest: usize) {
        room(&mut self.shared.x, rows * stack.shape.hidden);
        for buffer in &mut self.shared.qkv {
            room(buffer, rows * stack.shape.qkv());
        }
        let bounds = &mut self.shared.bounds;
        bounds.reserve((rows + 1).saturating_sub(bounds.len()));
        self.scratch.fit(stack, rows, longest);
    }
}

/// A stack, what it reads, and what is kept of it.
pub(super) struct Forward<'a> {
    pub(super) net: &'a Net,
    pub(super) stack: &'a Stack,
    pub(super) angles: &'a Angles,
    pub(super) texts: Texts<'a>,
    /// The blocks after which the states are kept, in ascending order. 0 stands for the embeddings.
    pub(super) kept: &'a [usize],
}

impl Forward<'_> {
    /// Computes the states that are kept. The result has one part per sequence, and in it the
    /// states of all tokens, one block after the other.
    ///
    /// Uses the threads of the current rayon pool. Each thread takes sequences of its own while
    /// there are enough of them; otherwise all threads share the rows of the same sequences.
    pub(super) fn run(&self, lanes: &mut Vec<Lane>, out: &mut [f32]) {
        let threads = rayon::current_num_threads();
        if lanes.len() < threads {
            lanes.resize_with(threads, Lane::default);
        }
        let lanes = &mut lanes[..threads];
        let (tokens, longest) = (self.texts.ids.len(), self.texts.longest());
        if threads == 1 || tokens >= threads * GROUPS_PER_THREAD * GROUP {
            let rows = GROUP.max(longest).min(tokens);
            lanes.iter_mut().for_each(|lane| lane.fit(self.stack, rows, longest));
            let width = self.kept.len() * self.stack.shape.hidden;
            let queue = Mutex::new(Groups { bounds: self.texts.bounds, next: 0, out, width });
            lanes.par_iter_mut().for_each(|lane| {
                while let Some((sequences, out)) = take(&queue) {
                    self.group(sequences, std::slice::from_mut(lane), out);
                }
            });
        } else if tokens > 0 {
            let parts = lanes.len().min(tokens.div_ceil(ROWS_PER_THREAD));
            let rows = tokens.div_ceil(parts);
            lanes.iter_mut().for_each(|lane| lane.scratch.fit(self.stack, rows, longest));
            self.group(0..self.texts.readings.len(), &mut lanes[..parts], out);
        }
    }

    /// Takes whole sequences through the blocks, with one thread for each lane. The rows are shared
    /// among the threads, which wait for each other once per block.
    fn group(&self, sequences: Range<usize>, lanes: &mut [Lane], out: &mut [f32]) {
        // The shared buffers are those of the first lane.
        let mut shared = std::mem::take(&mut lanes[0].shared);
        let Shared { x, qkv: [qkv, next], bounds, memory } = &mut shared;
        let start = self.texts.bounds[sequences.start];
        bounds.clear();
        let ends = &self.texts.bounds[sequences.start..=sequences.end];
        bounds.extend(ends.iter().map(|end| end - start));
        let (h, wide) = (self.stack.shape.hidden, self.stack.shape.qkv());
        let rows = bounds[sequences.len()];
        let size = rows.div_ceil(lanes.len()).max(1);
        let x = room(x, rows * h);
        let (mut qkv, mut next) = (room(qkv, rows * wide), room(next, rows * wide));
        let pass = Pass {
            isa: self.net.isa,
            words: &self.net.words,
            stack: self.stack,
            angles: self.angles,
            ids: &self.texts.ids[start..],
            bounds,
            readings: &self.texts.readings[sequences.clone()],
        };
        if let Some(about) = &self.texts.about {
            memory.gather(about, &about.sources[sequences], h);
        }
        let span = |part: usize| part * size..((part + 1) * size).min(rows);
        let mut keep = Keep { kept: self.kept, out, bounds, width: h };
        x.par_chunks_mut(size * h)
            .zip(qkv.par_chunks_mut(size * wide))
            .zip(lanes.par_iter_mut())
            .enumerate()
            .for_each(|(part, ((x, qkv), lane))| {
                pass.embed(span(part), x, qkv, &mut lane.scratch);
            });
        keep.keep(0, x);
        let last = self.kept.last().copied().unwrap_or(0);
        for number in 0..last {
            self.project_memory(number, memory, lanes.len());
            let from = (&*qkv, memory.of_block());
            x.par_chunks_mut(size * h)
                .zip(next.par_chunks_mut(size * wide))
                .zip(lanes.par_iter_mut())
                .enumerate()
                .for_each(|(part, ((x, next), lane))| {
                    let next = if number + 1 == last { &mut [] } else { next };
                    pass.block(number, span(part), x, from, next, &mut lane.scratch);
                });
            std::mem::swap(&mut qkv, &mut next);
            keep.keep(number + 1, x);
        }
        lanes[0].shared = shared;
    }

    /// Computes the keys and values of a block from the states of the encoder.
    fn project_memory(&self, number: usize, memory: &mut SharedMemory, threads: usize) {
        let Some(cross) = &self.stack.blocks[number].cross else { return };
        let SharedMemory { states, numbers, .. } = memory;
        let (inputs, outputs) = (cross.memory.inputs, cross.memory.outputs);
        let rows = states.len() / inputs;
        let size = rows.div_ceil(threads).clamp(1, BLOCK);
        room(numbers, rows * outputs)
            .par_chunks_mut(size * outputs)
            .zip(states.par_chunks(size * inputs))
            .for_each_init(RowBuffer::default, |quantised, (numbers, states)| {
                cross.memory.apply(self.net.isa, states, None, numbers, quantised);
            });
    }
}

impl SharedMemory {
    /// Copies the states of the sequences of some targets, each sequence once.
    fn gather(&mut self, about: &About<'_>, sources: &[usize], width: usize) {
        self.states.clear();
        self.rows.clear();
        for (target, source) in sources.iter().enumerate() {
            let known = sources[..target].iter().position(|before| before == source);
            let rows = match known {
                Some(before) => self.rows[before].clone(),
                None => {
                    let (start, len) = (about.bounds[*source], about.readings[*source].attended);
                    let first = self.states.len() / width;
                    self.states.extend_from_slice(&about.states[start * width..][..len * width]);
                    first..first + len
                }
            };
            self.rows.push(rows);
        }
    }

    fn of_block(&self) -> Option<Memory<'_>> {
        (!self.rows.is_empty()).then(|| Memory { numbers: &self.numbers, rows: &self.rows })
    }
}

/// Where the states after some blocks are kept.
struct Keep<'a> {
    kept: &'a [usize],
    out: &'a mut [f32],
    bounds: &'a [usize],
    width: usize,
}

impl Keep<'_> {
    /// Keeps the states after block `number` if they are wanted.
    fn keep(&mut self, number: usize, x: &[f32]) {
        let Some(place) = self.kept.iter().position(|kept| *kept == number) else { return };
        for story in self.bounds.windows(2) {
            let (from, len) = (story[0] * self.width, (story[1] - story[0]) * self.width);
            let out = &mut self.out[from * self.kept.len() + place * len..][..len];
            out.copy_from_slice(&x[from..][..len]);
        }
    }
}

/// The groups of sequences that no thread has taken yet, and the part of the result that belongs to
/// them.
struct Groups<'a> {
    bounds: &'a [usize],
    next: usize,
    out: &'a mut [f32],
    /// How many numbers a token has in the result.
    width: usize,
}

fn take<'a>(queue: &Mutex<Groups<'a>>) -> Option<(Range<usize>, &'a mut [f32])> {
    let mut groups = queue.lock().expect("no thread panics while it takes a group");
    let (first, bounds) = (groups.next, groups.bounds);
    let count = bounds.len() - 1;
    if first == count {
        return None;
    }
    let mut last = first + 1;
    while last < count && bounds[last + 1] - bounds[first] <= GROUP {
        last += 1;
    }
    let len = (bounds[last] - bounds[first]) * groups.width;
    let (taken, rest) = std::mem::take(&mut groups.out).split_at_mut(len);
    groups.out = rest;
    groups.next = last;
    Some((first..last, taken))
}
