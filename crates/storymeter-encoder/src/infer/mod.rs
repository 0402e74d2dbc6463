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

use crate::batch::{Batch, Reading};
use crate::checkpoint::load_parameters;
use crate::config::Config;
use crate::kernel::Isa;
use crate::kernel::quantised::room;
use crate::parameters::Parameters;
use crate::{Error, Precision, Result};
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
    hidden: Vec<f32>,
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
    x: Vec<f32>,
    /// Queries, keys and values of this layer and of the next: the rows of a story are read while
    /// others are written.
    qkv: [Vec<f32>; 2],
    scratch: Scratch,
    bounds: Vec<usize>,
}

impl Lane {
    /// Makes room for a group of `rows` rows. Any lane may take any group, and none should have to
    /// grow then.
    fn fit(&mut self, net: &Net, rows: usize, longest: usize) {
        room(&mut self.x, rows * net.hidden());
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
        Encoder::refuse(precision)?;
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

    /// Refuses a precision that only GPUs have.
    pub(crate) fn refuse(precision: Precision) -> Result<()> {
        match precision {
            Precision::F32 | Precision::Int8 => Ok(()),
            Precision::F16 | Precision::Bf16 => {
                Err(Error::CpuPrecision { precision: precision.name() })
            }
        }
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
        let Workspace { hidden, lanes } = workspace;
        let hidden = room(hidden, batch.ids().len() * width);
        self.states(batch, &[self.net.layers()], lanes, hidden);
        Ok(Hidden { states: hidden, bounds: batch.bounds(), width })
    }

    /// The states after the blocks `kept`, as [`Encoder::states`] lays them out.
    pub(crate) fn layers(
        &self,
        batch: &Batch,
        kept: &[usize],
        workspace: &mut Workspace,
    ) -> Result<Vec<f32>> {
        let plain =
            |reading: &Reading, len: usize| reading.second >= len && reading.attended == len;
        let odd = (0..batch.len()).find(|i| !plain(&batch.readings()[*i], batch.span(*i).len()));
        if let Some(story) = odd {
            let problem = "segments and padding are not supported yet".into();
            return Err(Error::Batch { story, problem });
        }
        let mut out = vec![0.0; batch.ids().len() * kept.len() * self.net.hidden()];
        self.states(batch, kept, &mut workspace.lanes, &mut out);
        Ok(out)
    }

    /// Computes the states after the blocks `kept`, which ascend. The result has one part per
    /// sequence, and in it the states of all tokens, one layer after the other.
    fn states(&self, batch: &Batch, kept: &[usize], lanes: &mut Vec<Lane>, out: &mut [f32]) {
        let threads = rayon::current_num_threads();
        if lanes.len() < threads {
            lanes.resize_with(threads, Lane::default);
        }
        let lanes = &mut lanes[..threads];
        let longest = batch.bounds().windows(2).map(|story| story[1] - story[0]).max().unwrap_or(0);
        if threads == 1 || batch.ids().len() >= threads * GROUPS_PER_THREAD * GROUP {
            let rows = GROUP.max(longest).min(batch.ids().len());
            lanes.iter_mut().for_each(|lane| lane.fit(&self.net, rows, longest));
            let width = kept.len() * self.net.hidden();
            let queue = Mutex::new(Groups { batch, next: 0, out, width });
            lanes.par_iter_mut().for_each(|lane| {
                while let Some((stories, out)) = take(&queue) {
                    self.group(batch, stories, kept, std::slice::from_mut(lane), out);
                }
            });
        } else if !batch.ids().is_empty() {
            let parts = lanes.len().min(batch.ids().len().div_ceil(ROWS_PER_THREAD));
            let rows = batch.ids().len().div_ceil(parts);
            lanes.iter_mut().for_each(|lane| lane.scratch.fit(&self.net, rows, longest));
            self.group(batch, 0..batch.len(), kept, &mut lanes[..parts], out);
        }
    }

    /// Takes whole stories through the layers, with one thread for each lane. The rows are shared
    /// among the threads, which wait for each other once per layer.
    fn group(
        &self,
        batch: &Batch,
        stories: Range<usize>,
        kept: &[usize],
        lanes: &mut [Lane],
        out: &mut [f32],
    ) {
        // The shared buffers are those of the first lane. Each thread works in the scratch of its
        // own lane.
        let first = &mut lanes[0];
        let (mut x, mut bounds) = (std::mem::take(&mut first.x), std::mem::take(&mut first.bounds));
        let [mut qkv, mut next] = std::mem::take(&mut first.qkv);
        let start = batch.bounds()[stories.start];
        bounds.clear();
        bounds.extend(batch.bounds()[stories.start..=stories.end].iter().map(|end| end - start));
        let width = self.net.hidden();
        let rows = bounds[stories.len()];
        let (size, wide) = (rows.div_ceil(lanes.len()), 3 * rows * width);
        room(&mut x, rows * width);
        room(&mut qkv, wide);
        room(&mut next, wide);
        let span = |part: usize| part * size..((part + 1) * size).min(rows);
        let mut out = Keep { kept, out, bounds: &bounds, width };
        x[..rows * width]
            .par_chunks_mut(size * width)
            .zip(qkv[..wide].par_chunks_mut(3 * size * width))
            .zip(lanes.par_iter_mut())
            .enumerate()
            .for_each(|(part, ((x, qkv), lane))| {
                let ids = &batch.ids()[start..];
                self.net.embed(ids, &bounds, span(part), x, qkv, &mut lane.scratch);
            });
        out.keep(0, &x);
        let last = kept.last().copied().unwrap_or(0);
        for layer in 0..last {
            x[..rows * width]
                .par_chunks_mut(size * width)
                .zip(next[..wide].par_chunks_mut(3 * size * width))
                .zip(lanes.par_iter_mut())
                .enumerate()
                .for_each(|(part, ((x, next), lane))| {
                    let next = if layer + 1 == last { &mut [] } else { next };
                    let scratch = &mut lane.scratch;
                    self.net.layer(layer, &bounds, span(part), x, &qkv, next, scratch);
                });
            std::mem::swap(&mut qkv, &mut next);
            out.keep(layer + 1, &x);
        }
        let first = &mut lanes[0];
        (first.x, first.bounds, first.qkv) = (x, bounds, [qkv, next]);
    }
}

/// Where the states of some layers are kept.
struct Keep<'a> {
    kept: &'a [usize],
    out: &'a mut [f32],
    bounds: &'a [usize],
    width: usize,
}

impl Keep<'_> {
    /// Keeps the states after layer `layer` if they are wanted.
    fn keep(&mut self, layer: usize, x: &[f32]) {
        let Some(place) = self.kept.iter().position(|kept| *kept == layer) else { return };
        for story in self.bounds.windows(2) {
            let (from, len) = (story[0] * self.width, (story[1] - story[0]) * self.width);
            let out = &mut self.out[from * self.kept.len() + place * len..][..len];
            out.copy_from_slice(&x[from..][..len]);
        }
    }
}

/// The groups of stories that no thread has taken yet, and the part of the result that belongs to
/// them.
struct Groups<'a> {
    batch: &'a Batch,
    next: usize,
    out: &'a mut [f32],
    /// How many numbers a token has in the result.
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
    let (taken, rest) = std::mem::take(&mut groups.out).split_at_mut(len);
    groups.out = rest;
    groups.next = last;
    Some((first..last, taken))
}
