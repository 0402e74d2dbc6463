//! Models on a GPU, for any thread that asks.
//!
//! What lives on a GPU belongs to one thread, so that the model has a thread of its own. A batch is
//! cut into pieces, and while the numbers of one piece travel back the next piece is computed.

use super::device::Device;
use super::landing::Landing;
use super::memory::Buffer;
use crate::batch::Batch;
use crate::config::Config;
use crate::error::DeviceError;
use crate::model::{ForwardPass, Head, Outputs};
use crate::{Error, Precision, Result};
use rayon::prelude::*;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

/// How many batches may wait for the GPU. A caller with one more waits itself.
const QUEUE: usize = 2;
/// The most tokens of a piece, unless it is a single sequence.
const PIECE: usize = 16_384;
/// How many pieces are under way before the numbers of the first of them are waited for.
const AHEAD: usize = 2;
/// The most threads that put numbers where they belong.
const THREADS: usize = 8;
/// So few numbers are put where they belong by one thread.
const FEW: usize = 1 << 18;

/// A network on a GPU.
pub(super) trait Network {
    fn device(&self) -> &Rc<Device>;

    /// The width of the hidden states.
    fn width(&self) -> usize;

    /// Whether the targets of a batch are predicted, and not its sequences.
    fn has_decoder(&self) -> bool;

    /// Starts to compute what `outputs` names for some sequences of a batch, and for the targets
    /// that belong to them.
    fn start(&self, batch: &Batch, outputs: &Outputs, sequences: Range<usize>) -> Result<Results>;

    /// How many logits a head has, and the distance from one row of them to the next.
    fn choices(&self, head: Head) -> Option<[usize; 2]>;
}

/// What a network computes for a piece of a batch. Each part is empty unless it was asked for.
#[derive(Default)]
pub(super) struct Results {
    /// The states after each layer, one row per token.
    pub(super) layers: Vec<Rc<Buffer<f32>>>,
    /// One row per sequence.
    pub(super) pooled: Option<Buffer<f32>>,
    /// One row per position, in the order of the positions.
    pub(super) logits: Option<Buffer<f32>>,
    /// One number per token that is predicted, sequence by sequence or target by target.
    pub(super) likelihoods: Option<Buffer<f32>>,
}

/// A model on a GPU.
pub(crate) struct CudaModel {
    requests: Option<SyncSender<Request>>,
    thread: Option<JoinHandle<()>>,
    config: Config,
    precision: Precision,
    /// The heads that the model has.
    heads: Vec<Head>,
}

struct Request {
    batch: Batch,
    outputs: Outputs,
    reply: Sender<Result<ForwardPass>>,
}

/// A network, made by the thread that it belongs to.
type Made = Result<Box<dyn Network>>;

/// A model whose weights are on their way to the device.
pub(super) struct Starting {
    model: CudaModel,
    heads: Receiver<Result<Vec<Head>>>,
}

fn gone() -> Error {
    DeviceError::Ended.into()
}

impl Starting {
    /// Waits until the model is ready.
    pub(super) fn wait(self) -> Result<CudaModel> {
        let Starting { mut model, heads } = self;
        model.heads = heads.recv().unwrap_or_else(|_| Err(gone()))?;
        Ok(model)
    }
}

impl CudaModel {
    /// Starts the thread, on which `make` copies the weights to the device.
    pub(super) fn start(
        config: Config,
        precision: Precision,
        make: impl FnOnce() -> Made + Send + 'static,
    ) -> Starting {
        let (requests, inbox) = sync_channel(QUEUE);
        let (ready, heads) = channel();
        let thread = std::thread::spawn(move || match make() {
            Ok(network) => {
                let heads = [Head::MaskedWord, Head::NextToken, Head::Answer];
                let heads = heads.into_iter().filter(|head| network.choices(*head).is_some());
                let _ = ready.send(Ok(heads.collect()));
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads()).build().ok();
                Server { network: &*network, precision, pool }.serve(&inbox);
            }
            Err(error) => drop(ready.send(Err(error))),
        });
        let (requests, thread) = (Some(requests), Some(thread));
        let model = CudaModel { requests, thread, config, precision, heads: Vec::new() };
        Starting { model, heads }
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn precision(&self) -> Precision {
        self.precision
    }

    pub(crate) fn has(&self, head: Head) -> bool {
        self.heads.contains(&head)
    }

    /// Computes what `outputs` names. Other threads may ask at the same time.
    pub(crate) fn run(&self, batch: &Batch, outputs: &Outputs) -> Result<ForwardPass> {
        let (reply, result) = channel();
        let requests = self.requests.as_ref().ok_or_else(gone)?;
        let request = Request { batch: batch.clone(), outputs: outputs.clone(), reply };
        requests.send(request).map_err(|_| gone())?;
        result.recv().unwrap_or_else(|_| Err(gone()))
    }
}

impl Drop for CudaModel {
    fn drop(&mut self) {
        // The thread ends when nobody can ask any more.
        drop(self.requests.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// How many threads put numbers where they belong.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get().min(THREADS))
}

/// The work of the thread.
struct Server<'a> {
    network: &'a dyn Network,
    precision: Precision,
    /// Threads of its own: those of the callers may all be waiting for an answer.
    pool: Option<rayon::ThreadPool>,
}

/// A request whose pieces are being computed.
struct Work {
    batch: Batch,
    outputs: Outputs,
    run: ForwardPass,
    /// `None` once there was an answer.
    reply: Option<Sender<Result<ForwardPass>>>,
}

/// Some sequences of a request.
struct Piece {
    work: Rc<RefCell<Work>>,
    sequences: Range<usize>,
    is_last: bool,
}

impl Work {
    /// Perhaps nobody is waiting any more, which is not an error.
    fn answer(&mut self, result: Result<ForwardPass>) {
        if let Some(reply) = self.reply.take() {
            let _ = reply.send(result);
        }
    }
}

impl Server<'_> {
    /// Starts pieces until enough of them are under way, then puts the numbers of the oldest one
    /// where they belong.
    fn serve(&self, inbox: &Receiver<Request>) {
        let mut landings: Vec<Landing> = (0..=AHEAD).map(|_| Landing::default()).collect();
        let mut travelling: VecDeque<(Piece, Landing)> = VecDeque::new();
        let mut waiting: VecDeque<Piece> = VecDeque::new();
        loop {
            if waiting.is_empty() {
                let request = match travelling.is_empty() {
                    false => inbox.try_recv().ok(),
                    true => match inbox.recv() {
                        Ok(request) => Some(request),
                        Err(_) => return,
                    },
                };
                waiting.extend(request.into_iter().flat_map(|request| self.pieces(request)));
            }
            if let Some(piece) = waiting.pop_front() {
                let mut landing = landings.pop().unwrap_or_default();
                match self.start(piece, &mut landing) {
                    Some(piece) => travelling.push_back((piece, landing)),
                    None => landings.push(landing),
                }
                if travelling.len() <= AHEAD {
                    continue;
                }
            }
            if let Some((piece, landing)) = travelling.pop_front() {
                self.finish(&piece, &landing);
                landings.push(landing);
            }
        }
    }

    /// Cuts a request into pieces. Without a token there is one piece.
    fn pieces(&self, request: Request) -> Vec<Piece> {
        let Request { batch, outputs, reply } = request;
        let ranges = cut(&batch);
        let run = self.empty_run(&batch, &outputs);
        let work = Rc::new(RefCell::new(Work { batch, outputs, run, reply: Some(reply) }));
        let count = ranges.len();
        let piece =
            |(i, sequences)| Piece { work: Rc::clone(&work), sequences, is_last: i + 1 == count };
        ranges.into_iter().enumerate().map(piece).collect()
    }

    /// A run with room for all numbers.
    fn empty_run(&self, batch: &Batch, outputs: &Outputs) -> ForwardPass {
        let mut run = ForwardPass::new(batch, self.network.width(), &outputs.layers);
        run.states = vec![0.0; batch.ids().len() * run.width * run.layers.len()];
        if outputs.pooled.is_some() {
            run.pooled = vec![0.0; batch.len() * run.width];
        }
        if let Some((head, positions)) = &outputs.logits {
            run.choices = self.network.choices(*head).map_or(0, |[choices, _]| choices);
            run.logits = vec![0.0; positions.len() * run.choices];
        }
        if outputs.likelihoods {
            let ends = predicted(batch, self.network.has_decoder()).scan(0, |end, count| {
                *end += count;
                Some(*end)
            });
            run.likelihood_bounds = std::iter::once(0).chain(ends).collect();
            run.likelihoods = vec![0.0; run.likelihood_bounds.last().copied().unwrap_or(0)];
        }
        run
    }

    /// Starts to compute a piece. `None` if it cannot be computed, or nobody waits for it.
    fn start(&self, piece: Piece, landing: &mut Landing) -> Option<Piece> {
        let outcome = {
            let work = piece.work.borrow();
            work.reply.as_ref()?;
            let results = self.network.start(&work.batch, &work.outputs, piece.sequences.clone());
            results.and_then(|results| {
                let layers = results.layers.iter().map(Rc::as_ref);
                let others = [&results.pooled, &results.logits, &results.likelihoods];
                let buffers: Vec<&Buffer<f32>> =
                    layers.chain(others.into_iter().flatten()).collect();
                landing.start(self.network.device(), &buffers)
            })
        };
        match outcome {
            Ok(()) => Some(piece),
            Err(error) => {
                piece.work.borrow_mut().answer(Err(error));
                None
            }
        }
    }

    /// Waits for the numbers of a piece, and answers the request with its last piece.
    fn finish(&self, piece: &Piece, landing: &Landing) {
        let mut work = piece.work.borrow_mut();
        if work.reply.is_none() {
            return;
        }
        let outcome = landing.arrived(self.network.device()).and_then(|numbers| {
            let is_finite = self.place(&mut work, piece.sequences.clone(), numbers);
            match self.precision {
                // The only precision whose range is too small for some models.
                Precision::F16 if !is_finite => Err(Error::Overflow { precision: "f16" }),
                _ => Ok(()),
            }
        });
        if let Err(error) = outcome {
            work.answer(Err(error));
        } else if piece.is_last {
            let run = std::mem::take(&mut work.run);
            work.answer(Ok(run));
        }
    }

    /// Puts the numbers of a piece where they belong in the run. Returns whether all of them are
    /// finite.
    fn place(&self, work: &mut Work, sequences: Range<usize>, numbers: &[f32]) -> bool {
        let Work { batch, outputs, run, .. } = work;
        let (width, kept) = (run.width, run.layers.len());
        let bounds = &batch.bounds()[sequences.start..=sequences.end];
        let (first, rows) = (bounds[0], bounds[bounds.len() - 1] - bounds[0]);
        let (layers, numbers) = numbers.split_at(kept * rows * width);
        // One part per sequence, and in it one layer after the other.
        let mut room = &mut run.states[first * kept * width..][..kept * rows * width];
        let mut parts = Vec::with_capacity(sequences.len());
        for pair in bounds.windows(2) {
            let (part, behind) = room.split_at_mut((pair[1] - pair[0]) * kept * width);
            parts.push((part, (pair[0] - first) * width));
            room = behind;
        }
        let copy = |(part, at): (&mut [f32], usize)| {
            let len = part.len() / kept.max(1);
            for (layer, part) in part.chunks_exact_mut(len.max(1)).enumerate() {
                part.copy_from_slice(&layers[layer * rows * width + at..][..len]);
            }
            finite(part)
        };
        let mut is_finite = match self.pool.as_ref().filter(|_| layers.len() > FEW) {
            Some(pool) => pool.install(|| parts.into_par_iter().map(copy).reduce(|| true, both)),
            None => parts.into_iter().map(copy).fold(true, both),
        };
        let pooled = if outputs.pooled.is_some() { sequences.len() * width } else { 0 };
        let (pooled, mut numbers) = numbers.split_at(pooled);
        is_finite &= finite(pooled);
        if !pooled.is_empty() {
            run.pooled[sequences.start * width..sequences.end * width].copy_from_slice(pooled);
        }
        if let Some((head, positions)) = &outputs.logits {
            let stride = self.network.choices(*head).map_or(0, |[_, stride]| stride);
            let targets = self.network.has_decoder() && *head == Head::NextToken;
            for (n, (unit, _)) in positions.iter().enumerate() {
                let sequence = if targets { batch.sources()[*unit] } else { *unit };
                if sequences.contains(&sequence) {
                    let (row, behind) = numbers.split_at(stride);
                    // Rows are padded with whatever was in memory.
                    let row = &row[..run.choices];
                    is_finite &= finite(row);
                    run.logits[n * run.choices..][..run.choices].copy_from_slice(row);
                    numbers = behind;
                }
            }
        }
        if outputs.likelihoods {
            let units: Vec<usize> = match self.network.has_decoder() {
                true => targets_of(batch, &sequences).collect(),
                false => sequences.collect(),
            };
            for unit in units {
                let place = run.likelihood_bounds[unit]..run.likelihood_bounds[unit + 1];
                let (found, behind) = numbers.split_at(place.len());
                is_finite &= finite(found);
                run.likelihoods[place].copy_from_slice(found);
                numbers = behind;
            }
        }
        is_finite
    }
}

fn finite(numbers: &[f32]) -> bool {
    numbers.iter().all(|x| x.is_finite())
}

fn both(one: bool, other: bool) -> bool {
    one && other
}

/// The targets that belong to some sequences.
pub(super) fn targets_of(batch: &Batch, sequences: &Range<usize>) -> impl Iterator<Item = usize> {
    let sources = batch.sources().iter().enumerate();
    sources.filter(|(_, source)| sequences.contains(source)).map(|(target, _)| target)
}

/// How many tokens are predicted: of each target, or of each sequence but the first.
fn predicted(batch: &Batch, decoder: bool) -> impl Iterator<Item = usize> {
    let count = if decoder { batch.targets() } else { batch.len() };
    (0..count).map(move |i| match decoder {
        true => batch.target(i).len(),
        false => batch.span(i).len().saturating_sub(1),
    })
}

/// The sequences of each piece of a batch, of which there is at least one.
fn cut(batch: &Batch) -> Vec<Range<usize>> {
    let mut sizes: Vec<usize> = (0..batch.len()).map(|i| batch.span(i).len()).collect();
    for (target, source) in batch.sources().iter().enumerate() {
        if let Some(size) = sizes.get_mut(*source) {
            *size += batch.target(target).len();
        }
    }
    let (mut pieces, mut first, mut tokens) = (Vec::new(), 0, 0);
    for (i, size) in sizes.iter().enumerate() {
        if tokens + size > PIECE && i > first {
            pieces.push(first..i);
            (first, tokens) = (i, 0);
        }
        tokens += size;
    }
    pieces.push(first..batch.len());
    pieces
}

#[cfg(test)]
mod tests {
    use super::{PIECE, cut};
    use crate::Batch;

    #[test]
    fn a_batch_is_cut_between_sequences_and_targets_count_with_their_sequence() {
        let mut batch = Batch::new();
        assert_eq!(cut(&batch).first(), Some(&(0..0)));
        for len in [PIECE / 2, PIECE / 2, 1, 2 * PIECE, 1] {
            batch.push(&vec![0; len]);
        }
        assert_eq!(cut(&batch), [0..2, 2..3, 3..4, 4..5]);
        batch.push_target(1, &[0; 3]);
        assert_eq!(cut(&batch), [0..1, 1..3, 3..4, 4..5]);
    }
}
