//! Inference on the CPU: packed stories go through the packed network, with threads across and
//! inside stories.
//!
//! The numbers of a row depend on its own story alone: products run along a fixed chain,
//! quantisation works row by row, and sums have a fixed order. Hidden states are therefore the same
//! bytes for any batch, any order and any number of threads.

mod attention;
#[cfg(feature = "cuda")]
pub(crate) mod eight_bits;
mod net;
mod on_grid;
mod stored;
mod unpack;
mod words;

use crate::Result;
use crate::batch::Batch;
use crate::checkpoint::load_parameters;
use crate::config::Config;
use crate::kernel::Isa;
use crate::kernel::aligned::Aligned;
use crate::kernel::quantised::room;
use crate::parameters::Parameters;
use net::{Net, Scratch};
use rayon::prelude::*;
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;

/// How many tokens one thread takes through the whole network at a time (or one longer story).
const GROUP: usize = 256;

/// With fewer groups per thread than this, all threads work on the same stories instead.
const GROUPS_PER_THREAD: usize = 2;

/// Fewer rows than this are not worth another thread.
const ROWS_PER_THREAD: usize = 12;

/// How the network multiplies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precision {
    /// Single precision.
    F32,
    /// Eight-bit integers. Weights have one scale per output channel, activations have one scale
    /// and one offset per token.
    Int8,
}

/// A BERT-family encoder that is ready for inference.
///
/// ```
/// use storymeter_encoder::{Batch, Encoder, Precision, Workspace};
///
/// # fn main() -> storymeter_encoder::Result<()> {
/// # let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bert");
/// let encoder = Encoder::load(&folder, Precision::F32)?;
/// let batch: Batch = [&[2u32, 30, 31, 3][..], &[2, 32, 3]].into_iter().collect();
/// let mut workspace = Workspace::new();
/// let hidden = encoder.encode(&batch, &mut workspace)?;
/// assert_eq!(hidden.story(1).len(), 3 * hidden.width());
/// # Ok(())
/// # }
/// ```
pub struct Encoder {
    config: Config,
    net: Net,
}

/// The memory that an encoder works in. It grows with the largest batch seen and is used again, so
/// that encoding allocates nothing in the steady state.
#[derive(Default)]
pub struct Workspace {
    hidden: Aligned<f32>,
    lanes: Vec<Lane>,
}

impl Workspace {
    /// Makes an empty workspace.
    pub fn new() -> Workspace {
        Workspace::default()
    }
}

/// What one thread needs.
#[derive(Default)]
struct Lane {
    /// Queries, keys and values of this layer and of the next: the rows of a story are read while
    /// others are written.
    qkv: [Aligned<f32>; 2],
    scratch: Scratch,
    bounds: Vec<usize>,
}

impl Lane {
    /// Makes room for a group of `rows` rows. Any lane may take any group, and none should have to
    /// grow then.
    fn fit(&mut self, net: &Net, rows: usize, longest: usize) {
        for buffer in &mut self.qkv {
            room(buffer, 3 * rows * net.hidden());
        }
        self.bounds.reserve((rows + 1).saturating_sub(self.bounds.len()));
        self.scratch.fit(net, rows, longest);
    }
}

/// The last hidden states of a batch.
#[derive(Clone, Copy)]
pub struct Hidden<'a> {
    states: &'a [f32],
    bounds: &'a [usize],
    width: usize,
}

impl<'a> Hidden<'a> {
    /// The states of all tokens, one row of [`width`](Self::width) numbers per token.
    pub fn states(&self) -> &'a [f32] {
        self.states
    }

    /// The states of the tokens of one story.
    pub fn story(&self, story: usize) -> &'a [f32] {
        &self.states[self.bounds[story] * self.width..self.bounds[story + 1] * self.width]
    }

    /// How many numbers a state has.
    pub fn width(&self) -> usize {
        self.width
    }
}

impl Encoder {
    /// Reads a model folder: `config.json` and `model.safetensors`.
    ///
    /// # Errors
    /// If a file is missing, or is not what a model folder of a supported architecture has.
    pub fn load(folder: &Path, precision: Precision) -> Result<Encoder> {
        let config = Config::load(folder)?;
        let parameters = load_parameters(folder, &config)?;
        Ok(Encoder::new(config, &parameters, precision, Isa::detect()))
    }

    /// Packs weights for inference.
    ///
    /// # Panics
    /// If the tensors do not have the sizes that the configuration says.
    pub fn new(config: Config, parameters: &Parameters, precision: Precision, isa: Isa) -> Encoder {
        let net = Net::new(&config, parameters, precision, isa);
        Encoder { config, net }
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// For each of some states (rows of the hidden width), its products with the embeddings of all
    /// vocabulary entries. They are the logits of a head that is tied to the word embeddings.
    pub fn word_products(&self, states: &[f32]) -> Vec<Vec<f32>> {
        self.net.parts().words.products(self.net.isa, states, self.net.hidden())
    }

    /// The instructions that are used.
    pub fn isa(&self) -> Isa {
        self.net.isa
    }

    /// Computes the last hidden state of every token of `batch`.
    ///
    /// Uses the threads of the current rayon pool. Each thread takes stories of its own while there
    /// are enough of them; otherwise all threads share the rows of the same stories.
    ///
    /// # Errors
    /// If a story is too long, or a token is not in the vocabulary.
    pub fn encode<'w>(&self, batch: &'w Batch, workspace: &'w mut Workspace) -> Result<Hidden<'w>> {
        batch.check(&self.config)?;
        let width = self.net.hidden();
        let threads = rayon::current_num_threads();
        let Workspace { hidden, lanes } = workspace;
        let hidden = room(hidden, batch.ids().len() * width);
        if lanes.len() < threads {
            lanes.resize_with(threads, Lane::default);
        }
        let lanes = &mut lanes[..threads];
        let longest = batch.bounds().windows(2).map(|story| story[1] - story[0]).max().unwrap_or(0);
        if threads == 1 || batch.ids().len() >= threads * GROUPS_PER_THREAD * GROUP {
            let rows = GROUP.max(longest).min(batch.ids().len());
            lanes.iter_mut().for_each(|lane| lane.fit(&self.net, rows, longest));
            let queue = Mutex::new(Groups { batch, next: 0, hidden, width });
            lanes.par_iter_mut().for_each(|lane| {
                while let Some((stories, hidden)) = take(&queue) {
                    self.run_alone(batch, stories, hidden, lane);
                }
            });
        } else if !batch.ids().is_empty() {
            self.run_together(batch, longest, hidden, lanes);
        }
        let states = &workspace.hidden[..batch.ids().len() * width];
        Ok(Hidden { states, bounds: batch.bounds(), width })
    }

    /// Takes whole stories through all layers on one thread.
    fn run_alone(&self, batch: &Batch, stories: Range<usize>, x: &mut [f32], lane: &mut Lane) {
        let Lane { qkv: [qkv, next], scratch, bounds } = lane;
        let first = batch.bounds()[stories.start];
        bounds.clear();
        bounds
            .extend(batch.bounds()[stories.start..=stories.end].iter().map(|bound| bound - first));
        let rows = 0..x.len() / self.net.hidden();
        let (mut qkv, mut next) = (room(qkv, 3 * x.len()), room(next, 3 * x.len()));
        self.net.embed(&batch.ids()[first..], bounds, rows.clone(), x, qkv, scratch);
        for layer in 0..self.net.layers() {
            let last = layer + 1 == self.net.layers();
            let after = if last { &mut [] } else { &mut next[..] };
            self.net.layer(layer, bounds, rows.clone(), x, qkv, after, scratch);
            std::mem::swap(&mut qkv, &mut next);
        }
    }

    /// Takes the same stories through all layers on all threads. Each thread has rows of its own,
    /// and they wait for each other once per layer.
    fn run_together(&self, batch: &Batch, longest: usize, x: &mut [f32], lanes: &mut [Lane]) {
        let width = self.net.hidden();
        let (rows, wide) = (x.len() / width, 3 * x.len());
        let parts = lanes.len().min(rows.div_ceil(ROWS_PER_THREAD));
        let size = rows.div_ceil(parts);
        lanes.iter_mut().for_each(|lane| lane.scratch.fit(&self.net, size, longest));
        // The shared buffers are those of the first lane. Each thread works in the scratch of its
        // own lane.
        let [mut qkv, mut next] = std::mem::take(&mut lanes[0].qkv);
        room(&mut qkv, wide);
        room(&mut next, wide);
        let span = |part: usize| part * size..((part + 1) * size).min(rows);
        x.par_chunks_mut(size * width)
            .zip(qkv[..wide].par_chunks_mut(3 * size * width))
            .zip(lanes.par_iter_mut())
            .enumerate()
            .for_each(|(part, ((x, qkv), lane))| {
                self.net.embed(batch.ids(), batch.bounds(), span(part), x, qkv, &mut lane.scratch);
            });
        for layer in 0..self.net.layers() {
            let last = layer + 1 == self.net.layers();
            x.par_chunks_mut(size * width)
                .zip(next[..wide].par_chunks_mut(3 * size * width))
                .zip(lanes.par_iter_mut())
                .enumerate()
                .for_each(|(part, ((x, next), lane))| {
                    let next = if last { &mut [] } else { next };
                    self.net.layer(
                        layer,
                        batch.bounds(),
                        span(part),
                        x,
                        &qkv,
                        next,
                        &mut lane.scratch,
                    );
                });
            std::mem::swap(&mut qkv, &mut next);
        }
        lanes[0].qkv = [qkv, next];
    }
}

/// The groups of stories that no thread has taken yet, and the part of the result that belongs to
/// them.
struct Groups<'a> {
    batch: &'a Batch,
    next: usize,
    hidden: &'a mut [f32],
    width: usize,
}

fn take<'a>(queue: &Mutex<Groups<'a>>) -> Option<(Range<usize>, &'a mut [f32])> {
    let mut groups = queue.lock().expect("no thread panics while it takes a group");
    let (first, bounds) = (groups.next, groups.batch.bounds());
    if first == groups.batch.len() {
        return None;
    }
    let mut last = first + 1;
    while last < groups.batch.len() && bounds[last + 1] - bounds[first] <= GROUP {
        last += 1;
    }
    let len = (bounds[last] - bounds[first]) * groups.width;
    let (taken, rest) = std::mem::take(&mut groups.hidden).split_at_mut(len);
    groups.hidden = rest;
    groups.next = last;
    Some((first..last, taken))
}
