//! BARTScore: how likely BART finds one text as the continuation of another.
//!
//! Definition: a model that was trained to rewrite texts (an encoder and a decoder) reads text X.
//! BARTScore is the mean of the natural logarithms of the probabilities that it then gives to the
//! tokens of text Y, each after those before it (Yuan, Neubig and Liu, NeurIPS 2021, equation 2).
//! As in the authors' code, the tokens that begin and end Y are counted.
//!
//! Columns: the letters say X, then Y. S is the story, H the reference (a human story) and P the
//! prompt.
//!
//! - `bartscore/sh`: the reference given the story.
//! - `bartscore/hs`: the story given the reference.
//! - `bartscore/ps`: the story given the prompt.
//! - `bartscore/sp`: the prompt given the story.
//!
//! Several references: the mean over them, or with `max` the largest.
//!
//! Long texts: texts are cut at the length of the model (1,024 tokens), as in the authors' code,
//! and counted. With `whole`, X is read in windows that overlap by half, Y is divided into parts
//! that follow each other, and each part is scored given the window that makes it most likely.
//!
//! Many stories: the mean of their scores.
//!
//! Absent: `sh` and `hs` without a reference, `ps` and `sp` without a prompt. An empty text has the
//! tokens that begin and end it, and therefore a score.
//!
//! Reading the score: a text does not make itself certain: HANNA's human stories against themselves
//! have -1.2 on average, and machine stories between -3.4 and -8.
//!
//! Model: `facebook/bart-large-cnn`, as in HANNA (Chhun et al., COLING 2022), which publishes these
//! four columns.
//!
//! Checked against: transformers 4.44.2 with a tiny BART whose weights are known, within 0.00001.

use std::collections::BTreeMap;
use std::sync::Arc;

use storymeter_core::{
    Choice, Description, Direction, Entry, Metric, MetricError, Needs, Precision, Prepared, Range,
    Request, Resources, Rows, Value,
};
use storymeter_encoder::{Batch, Outputs, Tokenizer};

use crate::absent::{reasons, row, row_values};
use crate::models::{OpenModel, failed};

/// The usual model.
const MODEL: &str = "facebook/bart-large-cnn";

/// How many tokens are handed to the model at once. It bounds the memory.
const TOKENS_AT_ONCE: usize = 16 * 1024;

pub(crate) static ENTRY: Entry = Entry {
    ids: &["bartscore"],
    choices: &[
        Choice::new("references", "max", "The largest over several references, not the mean"),
        Choice::new("long texts", "whole", "Read long texts in windows that overlap by half"),
        Choice::preset("hanna", "As in HANNA, which is also the default"),
    ],
    direction: Direction::Higher,
    range: Range { low: None, high: Some(0.0) },
    needs: Needs::STORY,
    source: include_str!("bartscore.rs"),
    build,
};

fn build(request: &Request<'_>) -> Result<Box<dyn Metric>, MetricError> {
    let model = OpenModel::for_metric(request, MODEL, Precision::F32)?;
    if !model.model().config().has_decoder() {
        return Err(model.unfit(request.key, "it has no decoder"));
    }
    model.tokenizer(request.key)?;
    let (largest, whole) = (request.has("max"), request.has("whole"));
    let description = request.describe().family(["sh", "hs", "ps", "sp"]).width(8).in_batches();
    let signature = model
        .sign(description.signature.clone())
        .with("references", "r", if largest { "max" } else { "mean" })
        .with("long", "l", if whole { "windows" } else { "cut" });
    let description = description.signature(signature);
    Ok(Box::new(BartScore { model, largest, whole, description }))
}

struct BartScore {
    model: Arc<OpenModel>,
    largest: bool,
    whole: bool,
    description: Description,
}

reasons! {
    Lacks {
        Reference = "the story has no reference",
        Prompt = "the story has no prompt",
    }
}

/// One text given another, by their places in the list of texts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    given: usize,
    text: usize,
}

/// The different texts of some stories, as the model reads them.
#[derive(Default)]
struct Texts<'a> {
    places: BTreeMap<&'a str, usize>,
    pieces: Vec<Pieces>,
}

/// The windows in which a text is read, and the parts in which it is scored.
struct Pieces {
    windows: Vec<Vec<u32>>,
    parts: Vec<Vec<u32>>,
    cut: bool,
}

impl<'a> Texts<'a> {
    fn place(&mut self, text: &'a str, make: impl FnOnce(&str) -> Pieces) -> usize {
        let pieces = &mut self.pieces;
        *self.places.entry(text).or_insert_with(|| {
            pieces.push(make(text));
            pieces.len() - 1
        })
    }
}

impl Metric for BartScore {
    fn description(&self) -> &Description {
        &self.description
    }

    /// The row of a story: its four scores, and why a score is absent.
    fn rows(&self, stories: &[Prepared<'_>], _: &Resources) -> Result<Rows, MetricError> {
        let tokenizer = self.model.tokenizer(&self.description.key)?;
        let longest = self.model.longest();
        let make = |text: &str| pieces(tokenizer, text, longest, self.whole);
        let mut texts = Texts::default();
        // For each story and column, the pairs whose scores are combined.
        let mut wanted: Vec<[Vec<Pair>; 4]> = Vec::with_capacity(stories.len());
        let mut truncated = 0;
        for story in stories {
            let mut of_story: [Vec<Pair>; 4] = Default::default();
            let own = texts.place(story.text.text(), make);
            let mut cut = texts.pieces[own].cut;
            let references = story.references.iter().map(|text| (text, [0, 1]));
            let prompt = story.prompt.iter().map(|text| (text, [3, 2]));
            for (other, [forth, back]) in references.chain(prompt) {
                let other = texts.place(other.text(), make);
                of_story[forth].push(Pair { given: own, text: other });
                of_story[back].push(Pair { given: other, text: own });
                cut |= texts.pieces[other].cut;
            }
            wanted.push(of_story);
            truncated += u64::from(cut);
        }
        let pairs = wanted.iter().flatten().flatten().copied();
        let scores = self.scores(&texts.pieces, pairs)?;
        let combined = |(pairs, lacks): (&Vec<Pair>, Lacks)| {
            let each = pairs.iter().map(|pair| scores[pair]);
            match self.largest {
                true => each.reduce(f64::max).ok_or(lacks),
                false if pairs.is_empty() => Err(lacks),
                false => Ok(each.sum::<f64>() / pairs.len() as f64),
            }
        };
        let values = wanted.iter().flat_map(|[sh, hs, ps, sp]| {
            use Lacks::{Prompt, Reference};
            row([(sh, Reference), (hs, Reference), (ps, Prompt), (sp, Prompt)].map(combined))
        });
        Ok(Rows::from_values(8, values.collect()).truncated(truncated))
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        row_values::<Lacks>(row, values);
    }
}

impl BartScore {
    /// The mean log-probability of the second text of each pair given the first. Each window is
    /// read once, whatever is scored after it.
    fn scores(
        &self,
        pieces: &[Pieces],
        pairs: impl Iterator<Item = Pair>,
    ) -> Result<BTreeMap<Pair, f64>, MetricError> {
        let mut by_given: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for Pair { given, text } in pairs {
            let texts = by_given.entry(given).or_default();
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        // For each part of a text given another, the best sum over the windows so far.
        let mut best: BTreeMap<(Pair, usize), f64> = BTreeMap::new();
        let mut chunk = Chunk::default();
        for (&given, texts) in &by_given {
            for window in &pieces[given].windows {
                let sequence = chunk.read(window);
                for &text in texts {
                    for (part, ids) in pieces[text].parts.iter().enumerate() {
                        chunk.score(sequence, ids, (Pair { given, text }, part));
                    }
                }
                if chunk.tokens >= TOKENS_AT_ONCE {
                    self.finish(std::mem::take(&mut chunk), &mut best)?;
                }
            }
        }
        self.finish(chunk, &mut best)?;
        let mut sums: BTreeMap<Pair, f64> = BTreeMap::new();
        for ((pair, _), sum) in best {
            *sums.entry(pair).or_default() += sum;
        }
        for (pair, sum) in &mut sums {
            *sum /= pieces[pair.text].parts.iter().map(Vec::len).sum::<usize>() as f64;
        }
        Ok(sums)
    }

    fn finish(
        &self,
        chunk: Chunk,
        best: &mut BTreeMap<(Pair, usize), f64>,
    ) -> Result<(), MetricError> {
        if chunk.targets.is_empty() {
            return Ok(());
        }
        let outputs = Outputs::new().likelihoods();
        let run = self
            .model
            .model()
            .run(&chunk.batch, &outputs)
            .map_err(|error| failed(&self.description.key, error))?;
        for (target, key) in chunk.targets.into_iter().enumerate() {
            let sum = run.likelihoods(target).iter().map(|number| f64::from(*number)).sum::<f64>();
            best.entry(key).and_modify(|known| *known = known.max(sum)).or_insert(sum);
        }
        Ok(())
    }
}

/// What goes through the model at once, and what each target is.
#[derive(Default)]
struct Chunk {
    batch: Batch,
    targets: Vec<(Pair, usize)>,
    tokens: usize,
}

impl Chunk {
    fn read(&mut self, ids: &[u32]) -> usize {
        self.batch.push(ids);
        self.tokens += ids.len();
        self.batch.len() - 1
    }

    fn score(&mut self, sequence: usize, ids: &[u32], target: (Pair, usize)) {
        self.batch.push_target(sequence, ids);
        self.targets.push(target);
        self.tokens += ids.len();
    }
}

/// Divides a text. Unless it is read whole, there is one window and one part, and they are the
/// same.
fn pieces(tokenizer: &Tokenizer, text: &str, longest: usize, whole: bool) -> Pieces {
    let (ids, left_out) = tokenizer.encode(text, if whole { usize::MAX } else { longest });
    if !whole || ids.len() <= longest {
        return Pieces { windows: vec![ids.clone()], parts: vec![ids], cut: left_out > 0 };
    }
    // A window has the special tokens of a text of its own.
    let (first, inner, last) = (ids[0], &ids[1..ids.len() - 1], ids[ids.len() - 1]);
    let size = longest - 2;
    let step = (size / 2).max(1);
    let starts =
        (0..).map(|n| n * step).take_while(|start| *start == 0 || start + step < inner.len());
    let window = |start: usize| {
        let content = &inner[start..(start + size).min(inner.len())];
        std::iter::once(first).chain(content.iter().copied()).chain([last]).collect()
    };
    let windows = starts.map(window).collect();
    let parts = ids.chunks(longest).map(<[u32]>::to_vec).collect();
    Pieces { windows, parts, cut: false }
}
