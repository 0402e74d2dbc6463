//! BLEU: the share of the story's n-grams that a reference also has.
//!
//! BLEU counts sequences of one to four tokens, and lowers the score of a story that is shorter
//! than its references.
//!
//! Definition: `c` is the number of tokens of the story, and `r` the number of tokens of the
//! reference whose length is closest to `c`. `p_n` is the share of the story's n-grams that are
//! found in a reference. Each n-gram counts at most as often as it occurs in the reference that has
//! it most often.
//!
//! ```text
//! BLEU = 100 * BP * exp((ln p_1 + ln p_2 + ln p_3 + ln p_4) / 4)
//! BP   = exp(1 - r/c) if c < r, and 1 otherwise
//! ```
//!
//! One precision of zero would make the whole score zero. Smoothing replaces it by a small number,
//! and the options of that name choose which. The defaults are those of sacrebleu: `bleu` is the
//! same as `bleu:13a+exp+cased`.
//!
//! Several references: an n-gram may be found in any of them.
//!
//! One story: the orders of n-grams for which the story is too short are left out (sacrebleu's
//! effective order).
//!
//! Many stories: n-grams and lengths are added up before the score is computed, and all four orders
//! count. The preset `union` takes the mean of the stories' scores instead.
//!
//! Empty story: 0.
//!
//! The preset `union` is NLTK's `sentence_bleu` on tokens between white space, and its scores lie
//! between 0 and 1. A precision of zero becomes the smallest positive number. UNION's published
//! file has these scores scaled to the range from 0 to 1 over the whole file.
//!
//! Source: Papineni et al., ACL 2002. Variants and signatures: Post, WMT 2018. Smoothing: Chen and
//! Cherry, WMT 2014.
//!
//! Checked against: sacrebleu 2.6.0, every option, and NLTK 3.10.4 (`union`), on 3,328 pairs of
//! real stories and 48 difficult ones, equal to 1e-9 for stories and for the corpus. HANNA's
//! published values: 528 of 528 stories equal within 5e-11, their rounding.

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
        Choice::new("tokeniser", "13a", "tokens of NIST's script mteval-v13a (the default)"),
        Choice::new("tokeniser", "intl", "tokens of mteval-v14 with international tokenisation"),
        Choice::new("tokeniser", "char", "single characters"),
        Choice::new("tokeniser", "none", "tokens between white space"),
        Choice::new(
            "smoothing",
            "exp",
            "the k-th precision of zero counts as 1 / 2^k matches (the default)",
        ),
        Choice::new("smoothing", "floor", "a precision of zero counts as 0.1 matches"),
        Choice::new("smoothing", "add-k", "for n > 1, one more match and one more n-gram"),
        Choice::new("smoothing", "unsmoothed", "a precision of zero makes the score zero"),
        Choice::new("case", "cased", "capital and small letters differ (the default)"),
        Choice::new("case", "lc", "texts are put in lower case"),
        Choice::preset("hanna", "as HANNA's published values, which use the defaults"),
        Choice::preset("union", "NLTK's sentence BLEU from 0 to 1, as UNION used it"),
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
// A row has two lengths, then the matches of each order, then the story's n-grams of each order.
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
            // NLTK's sentence BLEU is a score of single texts, and UNION averages it.
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

/// Fills the row of one story, given an index of its references and their lengths.
pub(super) fn fill_row(
    story: &Tokens,
    references: &NgramIndex,
    lengths: &[usize],
    row: &mut [f64],
) {
    fill_lengths(story, lengths, row);
    references.clipped_matches(story, &mut row[MATCHES..TOTALS]);
}

/// Fills everything in a row except for the matches.
fn fill_lengths(story: &Tokens, references: &[usize], row: &mut [f64]) {
    row[STORY_LENGTH] = story.len() as f64;
    row[REFERENCE_LENGTH] = closest(story.len(), references) as f64;
    for (less, total) in row[TOTALS..].iter_mut().enumerate() {
        *total = story.len().saturating_sub(less) as f64;
    }
}

/// The length of a reference that is closest to the story's. Of two equally close ones it is the
/// shorter.
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

/// The factor for short stories. The programs differ in what they do at equal lengths.
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
