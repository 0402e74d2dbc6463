//! Networks of all families on a GPU, forward only.
//!
//! The blocks follow from the description of an architecture ([`crate::family`]), as on the CPU.
//! The numbers of a sequence do not depend on the other sequences of its batch: products always use
//! the algorithm that suits many rows, and everything else works row by row or sequence by
//! sequence.

mod heads;
mod load;
mod rows;
mod stack;
mod steps;

use super::Number;
use super::compile::Program;
use super::device::{Device, word};
use super::memory::Buffer;
use super::model::{Network, Results, targets_of};
use crate::Result;
use crate::batch::Batch;
use crate::config::Config;
use crate::model::{self, Outputs, Pooling};
use crate::source::Tensors;
use heads::{Head, MaskedWord};
use rows::{Indices, Spans};
use stack::{Memory, Stack, Tokens};
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use steps::Steps;

/// A model on a GPU whose products are of type `N`.
pub(super) struct Forward<N: Number> {
    config: Config,
    encoder: Stack<N>,
    decoder: Option<Stack<N>>,
    masked_word: Option<MaskedWord<N>>,
    next_token: Option<Head<N>>,
    answer: Option<Head<N>>,
    steps: Steps<N>,
}

impl<N: Number> Forward<N> {
    /// Takes the weights of a model to GPU number `ordinal`.
    pub(super) fn new(
        ordinal: usize,
        config: &Config,
        tensors: &dyn Tensors,
    ) -> Result<Forward<N>> {
        let device = Device::open(ordinal, Program::Forward(N::FORMAT))?;
        load::forward(&device, config, tensors)
    }

    /// The tokens of some sequences.
    fn tokens(&self, batch: &Batch, sequences: &Range<usize>) -> Tokens {
        let device = &self.steps.device;
        let bounds = &batch.bounds()[sequences.start..=sequences.end];
        let (first, end) = (bounds[0], bounds[bounds.len() - 1]);
        let (mut places, mut kinds, mut spans) = (Vec::new(), Vec::new(), Vec::new());
        for (sequence, pair) in sequences.clone().zip(bounds.windows(2)) {
            let (len, reading) = (pair[1] - pair[0], batch.readings()[sequence]);
            places.extend((0..len).map(|i| word(self.config.first_position + i)));
            kinds.extend(
                (0..len).map(|i| u32::from((reading.second..reading.attended).contains(&i))),
            );
            let begin = pair[0] - first;
            spans.push((begin..begin + len, begin..begin + reading.attended));
        }
        Tokens {
            ids: Indices::new(device, &batch.ids()[first..end]),
            places: Indices::new(device, &places),
            kinds: Indices::new(device, &kinds),
            spans: Spans::new(device, &spans),
        }
    }

    /// The states of the decoder for the targets of some sequences, one target after the other.
    fn decode(
        &self,
        decoder: &Stack<N>,
        batch: &Batch,
        sequences: &Range<usize>,
        states: &Buffer<f32>,
    ) -> Option<Rc<Buffer<f32>>> {
        let (device, start) = (&self.steps.device, self.config.decoder?.start);
        let (mut ids, mut places) = (Vec::new(), Vec::new());
        let (mut own, mut across) = (Vec::new(), Vec::new());
        let before = batch.bounds()[sequences.start];
        for target in targets_of(batch, sequences) {
            let (source, tokens) = (batch.sources()[target], batch.target(target));
            let (begin, len) = (ids.len(), tokens.len());
            // The decoder reads its start token, and then what it had to predict before.
            ids.extend(std::iter::once(start).chain(tokens.iter().copied()).take(len));
            places.extend((0..len).map(|i| word(self.config.first_position + i)));
            own.push((begin..begin + len, begin..begin + len));
            let first = batch.span(source).start - before;
            across.push((begin..begin + len, first..first + batch.readings()[source].attended));
        }
        if ids.is_empty() {
            return None;
        }
        let tokens = Tokens {
            kinds: Indices::new(device, &vec![0; ids.len()]),
            ids: Indices::new(device, &ids),
            places: Indices::new(device, &places),
            spans: Spans::new(device, &own),
        };
        let memory = Memory { states, spans: Spans::new(device, &across) };
        decoder.run(&self.steps, &tokens, Some(&memory), &[decoder.blocks.len()]).pop()
    }

    /// The likelihoods of the tokens of some sequences, or of their targets, given the states of
    /// all tokens before them.
    fn likelihoods(
        &self,
        batch: &Batch,
        sequences: &Range<usize>,
        states: &Buffer<f32>,
    ) -> Option<Buffer<f32>> {
        let (mut rows, mut wanted) = (Vec::new(), Vec::new());
        if self.decoder.is_some() {
            targets_of(batch, sequences).for_each(|target| wanted.extend(batch.target(target)));
            rows.extend(0..word(wanted.len()));
        } else {
            let before = batch.bounds()[sequences.start];
            for sequence in sequences.clone() {
                let span = batch.span(sequence);
                rows.extend((span.start..span.end.saturating_sub(1)).map(|row| word(row - before)));
                wanted.extend(batch.ids()[span].iter().skip(1));
            }
        }
        Some(self.next_token.as_ref()?.likelihoods(&self.steps, states, &rows, &wanted))
    }

    /// The logits of a head at some rows of states.
    fn logits(&self, head: model::Head, rows: &[u32], states: &Buffer<f32>) -> Option<Buffer<f32>> {
        let indices = Indices::new(&self.steps.device, rows);
        let active = self.steps.gather(states, &indices, self.config.hidden);
        match head {
            model::Head::MaskedWord => {
                Some(self.masked_word.as_ref()?.logits(&self.steps, &active))
            }
            model::Head::NextToken => {
                Some(self.next_token.as_ref()?.logits(&self.steps, active.view()))
            }
            model::Head::Answer => Some(self.answer.as_ref()?.logits(&self.steps, active.view())),
        }
    }

    /// The rows of the tokens at some positions: of sequences or, for the next token of a decoder,
    /// of targets.
    fn rows_of(
        &self,
        head: model::Head,
        positions: &[(usize, usize)],
        batch: &Batch,
        sequences: &Range<usize>,
    ) -> Vec<u32> {
        let mut begins = HashMap::new();
        if self.decoder.is_some() && head == model::Head::NextToken {
            let mut begin = 0;
            for target in targets_of(batch, sequences) {
                begins.insert(target, begin);
                begin += batch.target(target).len();
            }
        } else {
            let before = batch.bounds()[sequences.start];
            begins.extend(sequences.clone().map(|i| (i, batch.span(i).start - before)));
        }
        let row = |(unit, token): &(usize, usize)| begins.get(unit).map(|at| word(at + token));
        positions.iter().filter_map(row).collect()
    }
}

impl<N: Number> Network for Forward<N> {
    fn device(&self) -> &Rc<Device> {
        &self.steps.device
    }

    fn width(&self) -> usize {
        self.config.hidden
    }

    fn has_decoder(&self) -> bool {
        self.decoder.is_some()
    }

    fn choices(&self, head: model::Head) -> Option<[usize; 2]> {
        match head {
            model::Head::MaskedWord => Some(self.masked_word.as_ref()?.words.choices()),
            model::Head::NextToken => Some(self.next_token.as_ref()?.choices()),
            model::Head::Answer => Some(self.answer.as_ref()?.choices()),
        }
    }

    fn start(&self, batch: &Batch, outputs: &Outputs, sequences: Range<usize>) -> Result<Results> {
        let bounds = &batch.bounds()[sequences.start..=sequences.end];
        let rows = bounds[bounds.len() - 1] - bounds[0];
        self.steps.device.usage.begin_batch(rows);
        let mut results = Results::default();
        if rows == 0 {
            let none = || Rc::new(self.steps.device.alloc(0));
            results.layers = outputs.layers.iter().map(|_| none()).collect();
            if outputs.pooled.is_some() {
                let len = sequences.len() * self.config.hidden;
                results.pooled = Some(self.steps.device.zeros(len));
            }
            return Ok(results);
        }
        let tokens = self.tokens(batch, &sequences);
        let depth = outputs.depth(self.config.layers);
        let mut kept = outputs.layers.clone();
        kept.push(depth);
        kept.dedup();
        let mut states = self.encoder.run(&self.steps, &tokens, None, &kept);
        let Some(last) = states.last().map(Rc::clone) else { return Ok(results) };
        states.truncate(outputs.layers.len());
        results.layers = states;
        if let Some(pooling) = outputs.pooled {
            let ends = sequences.clone().zip(bounds).flat_map(|(sequence, begin)| {
                let begin = begin - bounds[0];
                [begin, begin + batch.readings()[sequence].attended].map(word)
            });
            let ends = Indices::new(&self.steps.device, &ends.collect::<Vec<u32>>());
            let mean = pooling == Pooling::Mean;
            results.pooled = Some(self.steps.pool(&last, &ends, mean, self.config.hidden));
        }
        let decoder = self.decoder.as_ref().filter(|_| outputs.needs_decoder());
        let decoded = decoder.and_then(|stack| self.decode(stack, batch, &sequences, &last));
        // What predicts the next token, if anything does.
        let before_next = if decoder.is_some() { decoded.as_ref() } else { Some(&last) };
        if let Some((head, positions)) = &outputs.logits {
            let states = if *head == model::Head::NextToken { before_next } else { Some(&last) };
            let rows = self.rows_of(*head, positions, batch, &sequences);
            results.logits = states.and_then(|states| self.logits(*head, &rows, states));
        }
        if let Some(states) = before_next.filter(|_| outputs.likelihoods) {
            results.likelihoods = self.likelihoods(batch, &sequences, states);
        }
        Ok(results)
    }
}
