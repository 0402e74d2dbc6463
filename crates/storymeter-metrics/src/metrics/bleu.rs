//! BLEU: n-gram precision against the references, with a penalty for brevity.
//!
//! Definition: `BP * exp(1/4 sum_n log p_n)`, n = 1..4, times 100. `p_n` is the share of the story's n-grams found in
//! a reference, each at most as often as in the reference that has most of it; `BP = exp(1 - r/c)` if the story has
//! fewer tokens (c) than the closest reference (r), else 1. Over many stories counts and lengths are summed first.
//!
//! Presets; the default is sacrebleu's, `13a+exp`. One tokeniser and one smoothing go together, `bleu:intl+floor`:
//! - `13a`, `intl`, `char`, `none`: sacrebleu's tokenisers of these names (mteval-v13a, mteval-v14 international,
//!   single characters, white space as it is);
//! - `exp`, `floor`, `add-k`, `unsmoothed`: what a precision of zero becomes: half of the one before; 0.1 matches;
//!   one match more for n > 1; nothing;
//! - `lc`: lower-cased;
//! - `hanna`: as HANNA's published values: sacrebleu's default on one story;
//! - `union`: NLTK's `sentence_bleu` on tokens between white space, 0 to 1, as UNION used it (its published file is
//!   scaled to 0..1 over the file). A precision of zero becomes the smallest positive number.
//!
//! The score of one story leaves out orders the story is too short for (sacrebleu's effective order); the score
//! of many stories does not. `union` is averaged over stories.
//!
//! Source: Papineni et al., ACL 2002; variants: Post, WMT 2018; smoothing: Chen and Cherry, WMT 2014.
//!
//! Direction: higher is better. Range: 0 to 100 (`union`: 0 to 1). An empty story scores 0.

use storymeter_core::{Direction, Metric, Needs, Pooling, Prepared, Signature};

use crate::Result;
use crate::registry::{Entry, Request};
use crate::tokenize::{
    Characters, International, Lower, Mteval13a, NgramIndex, Numbered, Tokenised, Tokenizer,
    Tokens, Whitespace,
};

pub(crate) const ENTRY: Entry = Entry {
    ids: &["bleu"],
    presets: &[
        ("13a", "tokens of mteval-v13a"),
        ("intl", "tokens of mteval-v14, international"),
        ("char", "single characters"),
        ("none", "tokens between white space"),
        ("exp", "smoothing: half of the last precision"),
        ("floor", "smoothing: 0.1 matches"),
        ("add-k", "smoothing: one match more for n > 1"),
        ("unsmoothed", "no smoothing"),
        ("lc", "lower-cased"),
        ("hanna", "as HANNA's published values"),
        ("union", "NLTK's, as UNION used it"),
    ],
    direction: Direction::Higher,
    range: "0 to 100 (union: 0 to 1)",
    needs: Needs::REFERENCE,
    source: include_str!("bleu.rs"),
    build: |request| Ok(Box::new(Bleu::new(request)?)),
};

/// The highest order of n-grams.
pub(super) const ORDER: usize = 4;
/// Where things lie in a row: lengths, then matches by order, then n-grams of the story by order.
const STORY_LENGTH: usize = 0;
const REFERENCE_LENGTH: usize = 1;
const MATCHES: usize = 2;
const TOTALS: usize = MATCHES + ORDER;
/// How many numbers a row has.
pub(super) const WIDTH: usize = TOTALS + ORDER;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Smoothing {
    Exp,
    Floor,
    AddK,
    Unsmoothed,
    /// NLTK's `method0`.
    Smallest,
}

struct Bleu {
    columns: [String; 1],
    tokeniser: &'static str,
    lower: bool,
    smoothing: Smoothing,
}

impl Bleu {
    fn new(request: &Request<'_>) -> Result<Self> {
        let whole = request.one_of(&["hanna", "union"])?;
        let with_whole = |part: &[&str]| -> Result<Option<&'static str>> {
            let choices: Vec<&str> = whole.iter().copied().chain(part.iter().copied()).collect();
            Ok(request.one_of(&choices)?.filter(|_| whole.is_none()))
        };
        let tokeniser = with_whole(&["13a", "intl", "char", "none"])?;
        let smoothing = with_whole(&["exp", "floor", "add-k", "unsmoothed"])?;
        let lower = with_whole(&["lc"])?.is_some();
        let union = whole == Some("union");
        let smoothing = match smoothing {
            _ if union => Smoothing::Smallest,
            Some("floor") => Smoothing::Floor,
            Some("add-k") => Smoothing::AddK,
            Some("unsmoothed") => Smoothing::Unsmoothed,
            _ => Smoothing::Exp,
        };
        let tokeniser = if union { "none" } else { tokeniser.unwrap_or("13a") };
        Ok(Self { columns: [request.key.to_owned()], tokeniser, lower, smoothing })
    }

    fn stats_by<T: Tokenizer>(story: &Prepared<'_>, row: &mut [f64]) {
        let tokens = story.text.view::<Tokenised<T>>();
        match story.references.as_slice() {
            [reference] => {
                let reference = reference.view::<Numbered<T>>();
                fill_lengths(&tokens, &[reference.tokens()], row);
                reference.clipped_matches(&tokens, &mut row[MATCHES..TOTALS]);
            }
            references => {
                let views: Vec<_> = references.iter().map(|r| r.view::<Tokenised<T>>()).collect();
                let texts: Vec<&Tokens> = views.iter().map(|view| &***view).collect();
                let lengths: Vec<usize> = texts.iter().map(|text| text.len()).collect();
                fill_row(&tokens, &NgramIndex::new(&texts, ORDER), &lengths, row);
            }
        }
    }
}

/// The row of one story against an index of its references.
pub(super) fn fill_row(
    story: &Tokens,
    references: &NgramIndex,
    lengths: &[usize],
    row: &mut [f64],
) {
    fill_lengths(story, lengths, row);
    references.clipped_matches(story, &mut row[MATCHES..TOTALS]);
}

/// All of a row but the matches.
fn fill_lengths(story: &Tokens, references: &[usize], row: &mut [f64]) {
    row[STORY_LENGTH] = story.len() as f64;
    row[REFERENCE_LENGTH] = closest(story.len(), references) as f64;
    for (less, total) in row[TOTALS..].iter_mut().enumerate() {
        *total = story.len().saturating_sub(less) as f64;
    }
}

/// The reference length nearest to the story's, the shorter of two that are equally near.
fn closest(length: usize, references: &[usize]) -> usize {
    references.iter().copied().min_by_key(|&r| (r.abs_diff(length), r)).unwrap_or(0)
}

impl Metric for Bleu {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn direction(&self) -> Direction {
        ENTRY.direction
    }

    fn needs(&self) -> Needs {
        ENTRY.needs
    }

    fn signature(&self) -> Signature {
        let (smoothing, effective) = match self.smoothing {
            Smoothing::Exp => ("exp", "story"),
            Smoothing::Floor => ("floor[0.10]", "story"),
            Smoothing::AddK => ("add-k[1.00]", "story"),
            Smoothing::Unsmoothed => ("none", "story"),
            Smoothing::Smallest => ("nltk-method0", "no"),
        };
        Signature::new("bleu")
            .with("case", "c", if self.lower { "lc" } else { "mixed" })
            .with("eff", "e", effective)
            .with("tok", "tok", self.tokeniser)
            .with("smooth", "s", smoothing)
    }

    fn width(&self) -> usize {
        WIDTH
    }

    fn stats(&self, story: &Prepared<'_>, row: &mut [f64]) {
        match (self.tokeniser, self.lower) {
            ("intl", false) => Self::stats_by::<International>(story, row),
            ("intl", true) => Self::stats_by::<Lower<International>>(story, row),
            ("char", false) => Self::stats_by::<Characters>(story, row),
            ("char", true) => Self::stats_by::<Lower<Characters>>(story, row),
            ("none", false) => Self::stats_by::<Whitespace>(story, row),
            ("none", true) => Self::stats_by::<Lower<Whitespace>>(story, row),
            (_, false) => Self::stats_by::<Mteval13a>(story, row),
            (_, true) => Self::stats_by::<Lower<Mteval13a>>(story, row),
        }
    }

    fn score(&self, row: &[f64], scores: &mut [f64]) {
        scores[0] = match self.smoothing {
            Smoothing::Smallest => nltk(row),
            smoothing => sacrebleu(row, smoothing, true),
        };
    }

    fn pooling(&self) -> Pooling {
        // NLTK's sentence BLEU is a score of sentences only: UNION averages it.
        if self.smoothing == Smoothing::Smallest { Pooling::Mean } else { Pooling::Sum }
    }

    fn pooled_score(&self, sum: &[f64], scores: &mut [f64]) {
        scores[0] = sacrebleu(sum, self.smoothing, false);
    }
}

/// The score of one story's row with exponential smoothing.
pub(super) fn sentence_score(row: &[f64]) -> f64 {
    sacrebleu(row, Smoothing::Exp, true)
}

/// sacrebleu's score of a row, 0 to 100.
fn sacrebleu(row: &[f64], smoothing: Smoothing, effective_order: bool) -> f64 {
    if row[MATCHES..TOTALS].iter().all(|&matches| matches == 0.0) {
        return 0.0;
    }
    let mut halving = 1.0;
    let mut orders = ORDER;
    let mut precisions = [0.0; ORDER];
    for n in 0..ORDER {
        let (mut matches, mut total) = (row[MATCHES + n], row[TOTALS + n]);
        if smoothing == Smoothing::AddK && n > 0 {
            matches += 1.0;
            total += 1.0;
        }
        if total == 0.0 {
            break;
        }
        if effective_order {
            orders = n + 1;
        }
        precisions[n] = match smoothing {
            _ if matches > 0.0 => 100.0 * matches / total,
            Smoothing::Exp => {
                halving *= 2.0;
                100.0 / (halving * total)
            }
            Smoothing::Floor => 100.0 * 0.1 / total,
            _ => 0.0,
        };
    }
    // A precision that stays zero makes the score zero: the exponential of something far below any logarithm.
    if precisions[..orders].contains(&0.0) {
        return 0.0;
    }
    let logs: f64 = precisions[..orders].iter().map(|p| p.ln()).sum();
    brevity_penalty(row, |c, r| c >= r) * (logs / orders as f64).exp()
}

/// NLTK's `sentence_bleu` of a row, 0 to 1.
fn nltk(row: &[f64]) -> f64 {
    if row[MATCHES] == 0.0 {
        return 0.0;
    }
    let logs: f64 = (0..ORDER)
        .map(|n| match row[MATCHES + n] {
            0.0 => 0.25 * f64::MIN_POSITIVE.ln(),
            matches => 0.25 * (matches / row[TOTALS + n].max(1.0)).ln(),
        })
        .sum();
    brevity_penalty(row, |c, r| c > r) * logs.exp()
}

fn brevity_penalty(row: &[f64], long_enough: impl Fn(f64, f64) -> bool) -> f64 {
    let (story, reference) = (row[STORY_LENGTH], row[REFERENCE_LENGTH]);
    if long_enough(story, reference) {
        1.0
    } else if story == 0.0 {
        0.0
    } else {
        (1.0 - reference / story).exp()
    }
}
