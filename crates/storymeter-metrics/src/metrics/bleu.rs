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

use storymeter_core::{
    Choice, Description, Direction, Entry, Needs, Prepared, Range, Request, Signature,
};

use crate::per_story::{Measure, PerStory};
use crate::tokenize::{
    Characters, International, Lower, Mteval13a, NgramIndex, Numbered, Tokenised, Tokenizer,
    Tokens, Whitespace,
};

pub(crate) static ENTRY: Entry = Entry {
    ids: &["bleu"],
    choices: &[
        Choice::new("tokeniser", "13a", "tokens of mteval-v13a (the default)"),
        Choice::new("tokeniser", "intl", "tokens of mteval-v14, international"),
        Choice::new("tokeniser", "char", "single characters"),
        Choice::new("tokeniser", "none", "tokens between white space"),
        Choice::new("smoothing", "exp", "half of the last precision (the default)"),
        Choice::new("smoothing", "floor", "0.1 matches"),
        Choice::new("smoothing", "add-k", "one match more for n > 1"),
        Choice::new("smoothing", "unsmoothed", "no smoothing"),
        Choice::new("case", "lc", "lower-cased"),
        Choice::preset("hanna", "as HANNA's published values"),
        Choice::preset("union", "NLTK's sentence BLEU, as UNION used it"),
    ],
    direction: Direction::Higher,
    range: Range::PERCENT,
    needs: Needs::REFERENCE,
    source: include_str!("bleu.rs"),
    build: |request| {
        let bleu = Bleu::new(request);
        PerStory::boxed(bleu.description(request), bleu)
    },
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
    tokeniser: &'static str,
    lower: bool,
    smoothing: Smoothing,
}

impl Bleu {
    fn new(request: &Request<'_>) -> Self {
        let union = request.has("union");
        let smoothing = match request.chosen("smoothing") {
            _ if union => Smoothing::Smallest,
            Some("floor") => Smoothing::Floor,
            Some("add-k") => Smoothing::AddK,
            Some("unsmoothed") => Smoothing::Unsmoothed,
            _ => Smoothing::Exp,
        };
        let default = if union { "none" } else { "13a" };
        let tokeniser = request.chosen("tokeniser").unwrap_or(default);
        Self { tokeniser, lower: request.has("lc"), smoothing }
    }

    fn description(&self, request: &Request<'_>) -> Description {
        let (smoothing, effective) = match self.smoothing {
            Smoothing::Exp => ("exp", "story"),
            Smoothing::Floor => ("floor[0.10]", "story"),
            Smoothing::AddK => ("add-k[1.00]", "story"),
            Smoothing::Unsmoothed => ("none", "story"),
            Smoothing::Smallest => ("nltk-method0", "no"),
        };
        let signature = Signature::new("bleu")
            .with("case", "c", if self.lower { "lc" } else { "mixed" })
            .with("eff", "e", effective)
            .with("tok", "tok", self.tokeniser)
            .with("smooth", "s", smoothing);
        let description = request.describe().width(WIDTH).signature(signature);
        match self.smoothing {
            // NLTK's sentence BLEU is a score of single texts: UNION averages it.
            Smoothing::Smallest => description.range(Range::UNIT),
            _ => description.pooled(),
        }
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

impl Measure for Bleu {
    fn fill(&self, story: &Prepared<'_>, row: &mut [f64]) {
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

    fn scores(&self, row: &[f64], scores: &mut [f64]) {
        scores[0] = match self.smoothing {
            Smoothing::Smallest => nltk(row),
            smoothing => sacrebleu(row, smoothing, true),
        };
    }

    fn pooled_scores(&self, sum: &[f64], scores: &mut [f64]) {
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
