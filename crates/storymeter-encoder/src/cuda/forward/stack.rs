//! A stack of blocks on the GPU, and the way of packed sequences through it.

use super::rows::{Indices, Spans};
use super::steps::{Heads, Linear, Norm, Rows, Steps};
use crate::Activation;
use crate::cuda::Number;
use crate::cuda::memory::{Buffer, View};
use std::cell::RefCell;
use std::rc::Rc;

/// The blocks of an encoder or of a decoder, and what comes before and after them.
pub(super) struct Stack<N> {
    pub(super) width: usize,
    pub(super) words: Rc<Buffer<N>>,
    pub(super) positions: Option<Buffer<f32>>,
    pub(super) segments: Option<Buffer<f32>>,
    /// The norm of the embeddings.
    pub(super) norm: Option<Norm>,
    /// Whether a norm comes before attention and feed-forward, and not after them.
    pub(super) norm_first: bool,
    pub(super) blocks: Vec<Block<N>>,
    /// The norm after all blocks.
    pub(super) last_norm: Option<Norm>,
    /// One bias per head and distance, and the tokens of the longest sequence that it has room for.
    pub(super) relative: Option<(Buffer<f32>, usize)>,
    pub(super) rotary: Option<Rotary>,
}

pub(super) struct Block<N> {
    /// Queries, keys and values side by side.
    pub(super) qkv: Linear<N>,
    pub(super) output: Linear<N>,
    pub(super) heads: Heads,
    pub(super) attention_norm: Norm,
    pub(super) cross: Option<Cross<N>>,
    /// With a gate: the gate, and then what it is for.
    pub(super) up: Linear<N>,
    pub(super) down: Linear<N>,
    pub(super) gated: bool,
    pub(super) activation: Activation,
    pub(super) output_norm: Norm,
}

/// Attention to the states of an encoder.
pub(super) struct Cross<N> {
    pub(super) query: Linear<N>,
    /// Keys and values side by side.
    pub(super) key_value: Linear<N>,
    pub(super) output: Linear<N>,
    pub(super) heads: Heads,
    pub(super) norm: Norm,
}

/// Rotary positions: how far a pair of columns turns from one token to the next.
pub(super) struct Rotary {
    frequencies: Vec<f32>,
    /// The cosines and sines of all positions below a number.
    turns: RefCell<Option<(usize, Rc<Buffer<f32>>)>>,
}

impl Rotary {
    pub(super) fn new(frequencies: Vec<f32>) -> Rotary {
        Rotary { frequencies, turns: RefCell::default() }
    }

    /// The cosine and the sine of each pair for all positions below `bound`.
    fn turns<N: Number>(&self, steps: &Steps<N>, bound: usize) -> Rc<Buffer<f32>> {
        let mut kept = self.turns.borrow_mut();
        if let Some((_, turns)) = kept.as_ref().filter(|(known, _)| *known >= bound) {
            return Rc::clone(turns);
        }
        let bound = bound.next_power_of_two();
        let turns: Vec<f32> = (0..bound)
            .flat_map(|place| self.frequencies.iter().map(move |each| place as f32 * each))
            .flat_map(|angle| [angle.cos(), angle.sin()])
            .collect();
        let turns = Rc::new(steps.device.upload(&turns));
        *kept = Some((bound, Rc::clone(&turns)));
        turns
    }
}

/// The tokens that go through a stack.
pub(super) struct Tokens {
    pub(super) ids: Indices,
    pub(super) places: Indices,
    pub(super) kinds: Indices,
    pub(super) spans: Spans,
}

/// What a decoder attends to: the states of an encoder, and which of them each target may look at.
pub(super) struct Memory<'a> {
    pub(super) states: &'a Buffer<f32>,
    pub(super) spans: Spans,
}

/// Hidden states on their way through a stack.
struct Flow<N> {
    x: Rc<Buffer<f32>>,
    /// What the next product reads; `None` if these are the states themselves.
    active: Option<Buffer<N>>,
    /// What is still to be added to the states.
    branch: Option<Buffer<N>>,
}

impl<N: Number> Flow<N> {
    fn active(&self) -> View<'_, N> {
        self.active.as_ref().map_or_else(|| self.x.view().same(), Buffer::view)
    }
}

impl<N: Number> Stack<N> {
    /// The states after the blocks `kept`, which ascend; blocks after the last of them are not
    /// computed.
    pub(super) fn run(
        &self,
        steps: &Steps<N>,
        tokens: &Tokens,
        memory: Option<&Memory<'_>>,
        kept: &[usize],
    ) -> Vec<Rc<Buffer<f32>>> {
        let memory = memory.map(|memory| (steps.active(memory.states), memory));
        let x = steps.embed(
            (&self.words, &tokens.ids),
            self.positions.as_ref().map(|table| (table, &tokens.places)),
            self.segments.as_ref().map(|table| (table, &tokens.kinds)),
            self.width,
        );
        let mut flow = Flow { x: Rc::new(x), active: None, branch: None };
        if let Some(norm) = &self.norm {
            let wanted = [false, true, N::HALF && !self.norm_first];
            let normed = steps.norm(&flow.x, None, norm, wanted);
            flow = Flow { x: normed.states.map_or(flow.x, Rc::new), active: normed.active, ..flow };
        }
        let mut results = Vec::with_capacity(kept.len());
        if kept.first() == Some(&0) {
            results.push(Rc::clone(&flow.x));
        }
        let last = kept.last().copied().unwrap_or(0);
        for (number, block) in (1..).zip(&self.blocks[..last]) {
            self.block(steps, block, tokens, memory.as_ref().map(|(x, m)| (x, *m)), &mut flow);
            if kept.contains(&number) {
                results.push(self.after(steps, number, &mut flow));
            }
        }
        results
    }

    /// The states after block `number`.
    fn after(&self, steps: &Steps<N>, number: usize, flow: &mut Flow<N>) -> Rc<Buffer<f32>> {
        if let Some(branch) = flow.branch.take() {
            flow.x = Rc::new(steps.add(&flow.x, &branch));
        }
        let norm = self.last_norm.as_ref().filter(|_| number == self.blocks.len());
        let normed = norm.and_then(|norm| {
            steps.norm(&flow.x, None, norm, [false, true, false]).states.map(Rc::new)
        });
        normed.unwrap_or_else(|| Rc::clone(&flow.x))
    }

    fn block(
        &self,
        steps: &Steps<N>,
        block: &Block<N>,
        tokens: &Tokens,
        memory: Option<(&Buffer<N>, &Memory<'_>)>,
        flow: &mut Flow<N>,
    ) {
        self.part(steps, &block.attention_norm, flow, |active| {
            self.attention(steps, block, tokens, active)
        });
        if let Some((cross, (states, memory))) = block.cross.as_ref().zip(memory) {
            self.part(steps, &cross.norm, flow, |active| {
                cross.attention(steps, active, states, &memory.spans)
            });
        }
        self.part(steps, &block.output_norm, flow, |active| {
            let mut wide = steps.linear(&block.up, active, active.len() / block.up.weight.inputs);
            if block.gated {
                wide = steps.gate(&wide, block.down.weight.inputs, block.activation);
            } else {
                steps.activate(&mut wide, block.activation);
            }
            steps.linear(&block.down, wide.view(), wide.len() / block.down.weight.inputs)
        });
    }

    /// One part of a block: what `compute` makes of the states is added to them, and the norm
    /// comes before or after.
    fn part(
        &self,
        steps: &Steps<N>,
        norm: &Norm,
        flow: &mut Flow<N>,
        compute: impl FnOnce(View<'_, N>) -> Buffer<N>,
    ) {
        if self.norm_first {
            let wanted = [flow.branch.is_some(), false, true];
            let normed = steps.norm(&flow.x, flow.branch.as_ref(), norm, wanted);
            if let Some(sum) = normed.sum {
                flow.x = Rc::new(sum);
            }
            flow.active = normed.active;
            flow.branch = Some(compute(flow.active()));
        } else {
            let branch = compute(flow.active());
            let normed = steps.norm(&flow.x, Some(&branch), norm, [false, true, N::HALF]);
            if let Some(states) = normed.states {
                flow.x = Rc::new(states);
            }
            flow.active = normed.active;
        }
    }

    fn attention(
        &self,
        steps: &Steps<N>,
        block: &Block<N>,
        tokens: &Tokens,
        active: View<'_, N>,
    ) -> Buffer<N> {
        let Heads { count, shared, width, .. } = block.heads;
        let (rows, stride) = (active.len() / self.width, block.qkv.weight.outputs);
        let mut qkv = steps.linear(&block.qkv, active, rows);
        if let Some(rotary) = &self.rotary {
            let turns = rotary.turns(steps, tokens.places.bound());
            let turns = (&*turns, rotary.frequencies.len());
            steps.rotate(&mut qkv, stride, (count + shared, width), turns, &tokens.places);
        }
        let part =
            |first: usize| Rows { numbers: qkv.slice(first..qkv.len()), stride, count: rows };
        let (keys, values) = (part(count * width), part((count + shared) * width));
        let relative = self.relative.as_ref().map(|(table, longest)| (table, *longest));
        let mixed = steps.attend(block.heads, &tokens.spans, part(0), [keys, values], relative);
        steps.linear(&block.output, mixed.view(), rows)
    }
}

impl<N: Number> Cross<N> {
    fn attention(
        &self,
        steps: &Steps<N>,
        active: View<'_, N>,
        states: &Buffer<N>,
        spans: &Spans,
    ) -> Buffer<N> {
        let rows = active.len() / self.query.weight.inputs;
        let query = steps.linear(&self.query, active, rows);
        let (count, stride) =
            (states.len() / self.key_value.weight.inputs, self.key_value.weight.outputs);
        let both = steps.linear(&self.key_value, states.view(), count);
        let half = |first: usize| Rows { numbers: both.slice(first..both.len()), stride, count };
        let queries =
            Rows { numbers: query.view(), stride: self.query.weight.outputs, count: rows };
        let pair = [half(0), half(self.heads.shared * self.heads.width)];
        let mixed = steps.attend(self.heads, spans, queries, pair, None);
        steps.linear(&self.output, mixed.view(), rows)
    }
}
