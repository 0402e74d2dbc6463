//! Inference on the CPU.
//!
//! The numbers of a row depend on its own sequence alone: products run along a fixed chain,
//! quantisation works row by row, and sums have a fixed order. Hidden states are therefore the same
//! bytes for any batch, any order and any number of threads.

mod attention;
mod block;
mod build;
#[cfg(feature = "cuda")]
pub(crate) mod eight_bits;
mod forward;
mod head;
mod net;
mod on_grid;
mod stored;
mod unpack;
mod words;

use crate::batch::Batch;
use crate::config::Config;
use crate::kernel::Isa;
use crate::kernel::quantised::room;
use crate::kernel::rotary::Angles;
use crate::model::{ForwardPass, Head, Outputs};
use crate::source::Tensors;
use crate::{Error, Precision, Result};
use build::FromTensors;
use forward::{About, Forward, Lane, Texts};
use head::Wanted;
use net::Net;
use std::sync::Mutex;

/// A model whose weights are packed for the CPU.
pub(crate) struct Cpu {
    pub(crate) config: Config,
    net: Net,
    /// Work buffers that no run uses at the moment.
    idle: Mutex<Vec<Workspace>>,
}

/// The memory that a run works in. It grows with the largest batch seen and is used again, so that
/// in the steady state a run allocates nothing but its results.
#[derive(Default)]
struct Workspace {
    lanes: Vec<Lane>,
    angles: Angles,
    /// States that are not part of the result.
    states: Vec<f32>,
    decoded: Vec<f32>,
}

impl Cpu {
    /// Packs the tensors of a model.
    ///
    /// # Errors
    /// Returns an error if a tensor is missing or does not have the shape that the configuration
    /// says, and if the precision is one that only GPUs have.
    pub(crate) fn new(
        config: Config,
        tensors: &dyn Tensors,
        precision: Precision,
        isa: Isa,
    ) -> Result<Cpu> {
        let int8 = match precision {
            Precision::Int8 => true,
            Precision::F32 => false,
            Precision::F16 | Precision::Bf16 => {
                return Err(Error::CpuPrecision { precision: precision.name() });
            }
        };
        let net = Net::build(&config, &FromTensors::new(&config, tensors, int8)?, isa)?;
        Ok(Cpu::of(config, net))
    }

    fn of(config: Config, net: Net) -> Cpu {
        Cpu { config, net, idle: Mutex::default() }
    }

    /// The instructions that are used.
    pub(crate) fn isa(&self) -> Isa {
        self.net.isa
    }

    pub(crate) fn precision(&self) -> Precision {
        if self.net.encoder.shape.int8 { Precision::Int8 } else { Precision::F32 }
    }

    fn head(&self, head: Head) -> Option<&head::Head> {
        match head {
            Head::MaskedWord => self.net.heads.masked_word.as_ref(),
            Head::NextToken => self.net.heads.next_token.as_ref(),
            Head::Answer => self.net.heads.answer.as_ref(),
        }
    }

    pub(crate) fn has(&self, head: Head) -> bool {
        self.head(head).is_some()
    }

    /// The number of segments that a sequence may have.
    pub(crate) fn segments(&self) -> usize {
        if self.net.encoder.second.is_empty() { 1 } else { 2 }
    }

    /// For each of some states (rows of the hidden width), its products with the embeddings of all
    /// vocabulary entries.
    pub(crate) fn word_products(&self, states: &[f32]) -> Vec<Vec<f32>> {
        self.net.words.products(self.net.isa, states, self.config.hidden)
    }

    /// Computes what `outputs` names. The batch and the outputs have been checked.
    pub(crate) fn run(&self, batch: &Batch, outputs: &Outputs) -> ForwardPass {
        let lock = || self.idle.lock().expect("no thread panics while it holds the lock");
        let idle = lock().pop();
        let mut workspace = idle.unwrap_or_else(|| self.workspace());
        let run = self.run_in(batch, outputs, &mut workspace);
        lock().push(workspace);
        run
    }

    fn workspace(&self) -> Workspace {
        let width = self.config.head_width();
        let frequencies = self.config.rope.map(|rope| rope.frequencies(width));
        Workspace { angles: Angles::new(frequencies.unwrap_or_default()), ..Workspace::default() }
    }

    fn run_in(&self, batch: &Batch, outputs: &Outputs, workspace: &mut Workspace) -> ForwardPass {
        let Workspace { lanes, angles, states, decoded } = workspace;
        let (config, width) = (&self.config, self.config.hidden);
        let depth = outputs.depth(config.layers);
        let mut run = ForwardPass::new(batch, width, &outputs.layers);
        // States that were not asked for go to a buffer that is used again.
        let own = outputs.layers.is_empty();
        if outputs.layers.last() != Some(&depth) {
            run.layers.push(depth);
        }
        let numbers = batch.ids().len() * run.layers.len() * width;
        run.states = if own { std::mem::take(states) } else { vec![0.0; numbers] };
        room(&mut run.states, numbers);
        angles.fit(batch.longest());
        let texts = Texts {
            ids: batch.ids(),
            bounds: batch.bounds(),
            readings: batch.readings(),
            about: None,
        };
        let net = &self.net;
        let forward = Forward { net, stack: &net.encoder, angles, texts, kept: &run.layers };
        forward.run(lanes, &mut run.states[..numbers]);
        if let Some(pooling) = outputs.pooled {
            run.pool(batch, depth, pooling);
        }
        let targets = net.decoder.as_ref().filter(|_| outputs.needs_decoder());
        if let Some(stack) = targets {
            let ids = batch.decoder_ids(config.decoder.map_or(0, |decoder| decoder.start));
            let readings = batch.target_readings();
            let about = About {
                states: &run.last_layer(),
                bounds: batch.bounds(),
                readings: batch.readings(),
                sources: batch.sources(),
            };
            let texts = Texts {
                ids: &ids,
                bounds: batch.target_bounds(),
                readings: &readings,
                about: Some(about),
            };
            let decoded = room(decoded, ids.len() * width);
            let kept = &[stack.blocks.len()];
            Forward { net, stack, angles, texts, kept }.run(lanes, decoded);
        }
        let decoded = targets.map(|_| decoded.as_slice());
        self.predict(batch, outputs, decoded, &mut run);
        if own {
            *states = std::mem::take(&mut run.states);
            run.layers.clear();
        }
        run
    }

    /// Computes logits and likelihoods from the states of the run or of the decoder.
    fn predict(
        &self,
        batch: &Batch,
        outputs: &Outputs,
        decoded: Option<&[f32]>,
        run: &mut ForwardPass,
    ) {
        let width = run.width;
        let state = |sequence: usize, token: usize, run: &ForwardPass| match decoded {
            Some(_) => (batch.target_bounds()[sequence] + token) * width,
            None => run.last_state(sequence, token),
        };
        if let Some((head, positions)) = &outputs.logits
            && let Some(found) = self.head(*head)
        {
            let row = |(sequence, token): &(usize, usize)| match head {
                Head::NextToken => state(*sequence, *token, run),
                Head::MaskedWord | Head::Answer => run.last_state(*sequence, *token),
            };
            let rows: Vec<usize> = positions.iter().map(row).collect();
            let states = decoded.filter(|_| *head == Head::NextToken).unwrap_or(&run.states);
            (run.logits, run.choices) = self.net.logits(found, states, &rows);
        }
        if let Some(head) = self.head(Head::NextToken).filter(|_| outputs.likelihoods) {
            let mut wanted = Vec::new();
            run.likelihood_bounds.push(0);
            let count = if decoded.is_some() { batch.targets() } else { batch.len() };
            for i in 0..count {
                // The state before a token predicts it. A decoder has one state more, that of its
                // start token.
                let tokens = match decoded {
                    Some(_) => batch.target(i),
                    None => batch.ids()[batch.span(i)].get(1..).unwrap_or_default(),
                };
                let before = tokens.iter().enumerate();
                wanted
                    .extend(before.map(|(at, &token)| Wanted { state: state(i, at, run), token }));
                run.likelihood_bounds.push(wanted.len());
            }
            run.likelihoods = vec![0.0; wanted.len()];
            let states = decoded.unwrap_or(&run.states);
            self.net.likelihoods(head, states, &wanted, &mut run.likelihoods);
        }
    }
}
