//! A batch: the tokens of several sequences, packed one after the other without padding.

use crate::config::Config;
use crate::{Error, Result};
use std::ops::Range;

/// The token ids of several sequences, packed one after the other.
///
/// ```
/// use storymeter_encoder::Batch;
///
/// let mut batch = Batch::new();
/// batch.push(&[101, 7, 8, 102]);
/// // A question and a text: the text, from the fourth token on, is segment 1.
/// batch.push_pair(&[101, 7, 102, 8, 9, 102], 3);
/// assert_eq!((batch.len(), batch.span(1)), (2, 4..10));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Batch {
    ids: Vec<u32>,
    /// Where each sequence begins, and where the last one ends.
    bounds: Vec<usize>,
    /// How each sequence is to be read.
    readings: Vec<Reading>,
    /// What decoders read, one after the other.
    target_ids: Vec<u32>,
    target_bounds: Vec<usize>,
    /// The sequence that each target belongs to.
    sources: Vec<usize>,
}

/// How a sequence is to be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reading {
    /// The first token of segment 1.
    pub(crate) second: usize,
    /// The number of tokens that others may attend to. They come first.
    pub(crate) attended: usize,
}

impl Default for Batch {
    fn default() -> Batch {
        Batch {
            ids: Vec::new(),
            bounds: vec![0],
            readings: Vec::new(),
            target_ids: Vec::new(),
            target_bounds: vec![0],
            sources: Vec::new(),
        }
    }
}

impl Batch {
    /// Makes an empty batch.
    pub fn new() -> Batch {
        Batch::default()
    }

    /// Adds a sequence. Its ids include the special tokens.
    pub fn push(&mut self, ids: &[u32]) {
        self.push_padded(ids, ids.len(), ids.len());
    }

    /// Adds a sequence of two parts: the tokens from `second` on are of segment 1.
    pub fn push_pair(&mut self, ids: &[u32], second: usize) {
        self.push_padded(ids, second, ids.len());
    }

    /// Adds a sequence of two parts that ends in padding: the tokens from `attended` on are
    /// computed like all others, as part of segment 0, but no token attends to them.
    ///
    /// A model needs no padding. This is for metrics whose definition includes what the model says
    /// about padded positions.
    pub fn push_padded(&mut self, ids: &[u32], second: usize, attended: usize) {
        self.ids.extend_from_slice(ids);
        self.bounds.push(self.ids.len());
        self.readings.push(Reading { second, attended: attended.min(ids.len()) });
    }

    /// Adds what the decoder of an encoder-decoder model has to predict for a sequence that is in
    /// the batch already. The decoder reads these ids shifted by one, after its start token.
    ///
    /// Several targets may have the same sequence, which is then encoded once.
    pub fn push_target(&mut self, sequence: usize, ids: &[u32]) {
        self.target_ids.extend_from_slice(ids);
        self.target_bounds.push(self.target_ids.len());
        self.sources.push(sequence);
    }

    /// Removes everything. The memory is kept for the next sequences.
    pub fn clear(&mut self) {
        self.ids.clear();
        self.bounds.truncate(1);
        self.readings.clear();
        self.target_ids.clear();
        self.target_bounds.truncate(1);
        self.sources.clear();
    }

    /// The number of sequences.
    pub fn len(&self) -> usize {
        self.bounds.len() - 1
    }

    /// Whether there are no sequences.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The token ids of all sequences.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// Where the tokens of a sequence are in [`Batch::ids`].
    pub fn span(&self, sequence: usize) -> Range<usize> {
        self.bounds[sequence]..self.bounds[sequence + 1]
    }

    /// Where each sequence begins, and where the last one ends.
    pub fn bounds(&self) -> &[usize] {
        &self.bounds
    }

    /// The number of targets.
    pub fn targets(&self) -> usize {
        self.sources.len()
    }

    /// The ids of a target.
    pub fn target(&self, target: usize) -> &[u32] {
        &self.target_ids[self.target_bounds[target]..self.target_bounds[target + 1]]
    }

    pub(crate) fn readings(&self) -> &[Reading] {
        &self.readings
    }

    /// The segment of every token; `None` if all of them are in segment 0.
    #[cfg(feature = "train")]
    pub(crate) fn segments(&self) -> Option<Vec<u32>> {
        let sequences = || self.bounds.windows(2).zip(&self.readings);
        let paired = sequences().any(|(bounds, reading)| reading.second < bounds[1] - bounds[0]);
        let segment = |(bounds, reading): (&[usize], &Reading)| {
            let second = reading.second;
            (0..bounds[1] - bounds[0]).map(move |i| u32::from(i >= second))
        };
        paired.then(|| sequences().flat_map(segment).collect())
    }

    /// The length of the longest sequence.
    pub(crate) fn longest(&self) -> usize {
        self.bounds.windows(2).map(|bounds| bounds[1] - bounds[0]).max().unwrap_or(0)
    }

    /// Where each target begins, and where the last one ends.
    pub(crate) fn target_bounds(&self) -> &[usize] {
        &self.target_bounds
    }

    /// The sequence of each target.
    pub(crate) fn sources(&self) -> &[usize] {
        &self.sources
    }

    /// Every target shifted by one, after `start`.
    pub(crate) fn decoder_ids(&self, start: u32) -> Vec<u32> {
        let shifted = |target: usize| {
            let ids = self.target(target);
            let first = (!ids.is_empty()).then_some(start);
            first.into_iter().chain(ids[..ids.len().saturating_sub(1)].iter().copied())
        };
        (0..self.targets()).flat_map(shifted).collect()
    }

    /// How a decoder reads its targets: all tokens, in one segment.
    pub(crate) fn target_readings(&self) -> Vec<Reading> {
        let reading = |bounds: &[usize]| {
            let attended = bounds[1] - bounds[0];
            Reading { second: attended, attended }
        };
        self.target_bounds.windows(2).map(reading).collect()
    }

    /// Checks that an encoder that knows only whole sequences can read this.
    #[cfg(feature = "train")]
    pub(crate) fn check(&self, config: &Config) -> Result<()> {
        self.check_for(config, config.segments)?;
        let whole = |i: &usize| self.readings[*i].attended == self.span(*i).len();
        match (0..self.len()).find(|i| !whole(i)) {
            Some(story) => Err(Error::Batch { story, problem: "it has padding".into() }),
            None => Ok(()),
        }
    }

    /// Checks that the model has an entry for every token, position and segment.
    pub(crate) fn check_for(&self, config: &Config, segments: usize) -> Result<()> {
        for (story, reading) in self.readings.iter().enumerate() {
            let problem = |problem: String| Error::Batch { story, problem };
            let ids = &self.ids[self.span(story)];
            check_ids(ids, config).map_err(problem)?;
            if reading.second < ids.len() && segments < 2 {
                return Err(problem("it has two segments, but the model has one".into()));
            }
            if reading.attended == 0 && !ids.is_empty() {
                return Err(problem("no token may be attended to".into()));
            }
        }
        for (target, &story) in self.sources.iter().enumerate() {
            let problem = |problem: String| Error::Batch {
                story,
                problem: format!("target {target}: {problem}"),
            };
            if !config.has_decoder() {
                return Err(problem("the model has no decoder".into()));
            }
            if self.readings.get(story).is_none_or(|reading| reading.attended == 0) {
                return Err(problem("there is no such sequence, or it is empty".into()));
            }
            check_ids(self.target(target), config).map_err(problem)?;
        }
        Ok(())
    }
}

fn check_ids(ids: &[u32], config: &Config) -> Result<(), String> {
    let longest = config.max_tokens();
    if ids.len() > longest {
        return Err(format!("{} tokens, but the model has {longest} positions", ids.len()));
    }
    match ids.iter().find(|id| **id as usize >= config.vocabulary) {
        Some(id) => {
            Err(format!("token {id}, but the vocabulary has {} entries", config.vocabulary))
        }
        None => Ok(()),
    }
}

/// Cuts a list into parts that go through a model together: as many items as have `limit` tokens
/// together, and at least one.
pub fn portions<T>(
    items: &[T],
    limit: usize,
    tokens: impl Fn(&T) -> usize,
) -> impl Iterator<Item = &[T]> {
    let mut remaining = items;
    std::iter::from_fn(move || {
        let mut sum = 0;
        let fits = remaining.iter().take_while(|item| {
            sum += tokens(item);
            sum <= limit
        });
        let (now, later) = remaining.split_at(fits.count().max(1).min(remaining.len()));
        remaining = later;
        (!now.is_empty()).then_some(now)
    })
}

impl<'a> FromIterator<&'a [u32]> for Batch {
    fn from_iter<I: IntoIterator<Item = &'a [u32]>>(sequences: I) -> Batch {
        let mut batch = Batch::new();
        sequences.into_iter().for_each(|ids| batch.push(ids));
        batch
    }
}
