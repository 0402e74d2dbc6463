//! Inference on the CPU: packed stories through the packed network, threads across and inside stories.
//!
//! Every row's numbers depend on its own story alone: products run along a fixed chain, quantisation is row by row,
//! sums have a fixed order. So hidden states are the same bytes for any batch, any order and any number of threads.

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
use crate::kernel::quantised::room;
use crate::parameters::Parameters;
use net::{Net, Scratch};
use rayon::prelude::*;
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;

/// Tokens that one thread takes through the whole network at a time (or one longer story).
const GROUP: usize = 256;

/// With fewer groups than this for each thread, all threads work on the same stories instead.
const GROUPS_PER_THREAD: usize = 2;

/// Fewer rows than this are not worth another thread.
const ROWS_PER_THREAD: usize = 12;

/// How the network multiplies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precision {
    /// Single precision.
    F32,
    /// Eight-bit integers: weights with one scale an output channel, activations with one scale and offset a token.
    Int8,
}

/// A BERT-family encoder ready for inference.
pub struct Encoder {
    config: Config,
    net: Net,
}

/// Memory an encoder works in. It grows with the largest batch seen and is reused: in the steady state nothing is
/// allocated.
#[derive(Default)]
pub struct Workspace {
    hidden: Vec<f32>,
    lanes: Vec<Lane>,
}

impl Workspace {
    /// An empty workspace.
    pub fn new() -> Workspace {
        Workspace::default()
    }
}

/// What one thread needs.
#[derive(Default)]
struct Lane {
    /// Queries, keys and values of this layer and of the next: a story's rows are read while others are written.
    qkv: [Vec<f32>; 2],
    scratch: Scratch,
    bounds: Vec<usize>,
}

impl Lane {
    /// Makes room for a group of `rows` rows: any lane may take any group, and none shall grow then.
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
    /// The states of all tokens, one row of [`width`](Self::width) numbers a token.
    pub fn states(&self) -> &'a [f32] {
        self.states
    }

    /// The states of one story's tokens.
    pub fn story(&self, story: usize) -> &'a [f32] {
        &self.states[self.bounds[story] * self.width..self.bounds[story + 1] * self.width]
    }

    /// Numbers of a state.
    pub fn width(&self) -> usize {
        self.width
    }
}

impl Encoder {
    /// Reads a model folder: `config.json` and `model.safetensors`.
    pub fn load(folder: &Path, precision: Precision) -> Result<Encoder> {
        let config = Config::load(folder)?;
        let parameters = load_parameters(folder, &config)?;
        Ok(Encoder::new(config, &parameters, precision, Isa::detect()))
    }

    /// Packs weights for inference.
    pub fn new(config: Config, parameters: &Parameters, precision: Precision, isa: Isa) -> Encoder {
        let net = Net::new(&config, parameters, precision, isa);
        Encoder { config, net }
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// For each of some states (rows of the hidden width) its products with the embeddings of all vocabulary entries: what
    /// a head that is tied to the word embeddings says.
    pub fn word_products(&self, states: &[f32]) -> Vec<Vec<f32>> {
        self.net.parts().words.products(self.net.isa, states, self.net.hidden())
    }

    /// The instructions in use.
    pub fn isa(&self) -> Isa {
        self.net.isa
    }

    /// The last hidden states of every token of `batch`.
    ///
    /// Uses the threads of the current rayon pool: each takes stories of its own while there are enough of them,
    /// otherwise all share the rows of the same stories.
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

    /// One thread, whole stories, all layers.
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

    /// All threads on the same stories, each with rows of its own; they meet once a layer.
    fn run_together(&self, batch: &Batch, longest: usize, x: &mut [f32], lanes: &mut [Lane]) {
        let width = self.net.hidden();
        let (rows, wide) = (x.len() / width, 3 * x.len());
        let parts = lanes.len().min(rows.div_ceil(ROWS_PER_THREAD));
        let size = rows.div_ceil(parts);
        lanes.iter_mut().for_each(|lane| lane.scratch.fit(&self.net, size, longest));
        // The shared buffers are those of the first lane; each thread works in its own lane's scratch.
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

/// Groups of stories not yet taken by a thread, and the part of the result that is theirs.
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
