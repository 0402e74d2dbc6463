//! What the numbers of a test suite say about a metric, in words.

use std::fmt;

use storymeter_core::{Aspect, AspectTest};

use super::conclusion::short;
use super::{capitalised, joined};
use crate::outcome::Absence;
use crate::suite::{SuiteCell, SuiteResult};

/// From this AUC on, a metric sees a damage. A difference of about 0.74 standard deviations has it,
/// which is a medium to large effect by Cohen (1988).
const SEES: f64 = 0.7;
/// From this AUC on, a metric hardly sees a damage. Below it the order is close to a coin toss.
const HARDLY_SEES: f64 = 0.55;
/// Below this AUC, a metric prefers the damaged twins. It is as far from chance as
/// [`HARDLY_SEES`].
const PREFERS_DAMAGE: f64 = 0.45;
/// Below this shift, in either direction, a metric stays calm. It is half of what Cohen (1988)
/// calls a small effect.
const CALM: f64 = 0.1;
/// From this shift on, in either direction, a metric is disturbed. A damage that shifts a metric as
/// much has an AUC of 0.58.
const DISTURBED: f64 = 0.3;

/// From this share of pairs in the right order on, a sentence mentions it beside a low AUC. Such a
/// metric notices the damage in most stories, but stories differ from each other much more than the
/// damage changes them.
const NEARLY_ALWAYS: f64 = 0.9;

/// What one number of a suite says about a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reaction {
    /// The metric sees the damage: an AUC of 0.7 or more.
    Sees,
    /// The metric hardly sees the damage: an AUC from 0.55 to 0.7.
    HardlySees,
    /// The metric does not see the damage: an AUC from 0.45 to 0.55.
    Blind,
    /// The metric prefers the damaged twin: an AUC below 0.45.
    PrefersDamage,
    /// A change that means nothing shifts the metric by less than 0.1 standard deviations.
    Calm,
    /// Such a change shifts the metric by 0.1 to 0.3 standard deviations.
    SlightlyDisturbed,
    /// Such a change shifts the metric by 0.3 standard deviations or more.
    Disturbed,
}

impl Reaction {
    /// One or two words, as in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sees => "sees",
            Self::HardlySees => "hardly sees",
            Self::Blind => "blind",
            Self::PrefersDamage => "prefers the damage",
            Self::Calm => "calm",
            Self::SlightlyDisturbed => "slightly disturbed",
            Self::Disturbed => "disturbed",
        }
    }
}

impl fmt::Display for Reaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What a number says: the AUC where the twin is damaged, and the shift where it means the same.
/// `None` where the number is absent.
pub fn reaction(cell: &SuiteCell) -> Option<Reaction> {
    match cell.test {
        AspectTest::Discrimination => cell.auc.clone().ok().map(|auc| match auc {
            auc if auc >= SEES => Reaction::Sees,
            auc if auc >= HARDLY_SEES => Reaction::HardlySees,
            auc if auc >= PREFERS_DAMAGE => Reaction::Blind,
            _ => Reaction::PrefersDamage,
        }),
        AspectTest::Invariance => cell.shift.clone().ok().map(|shift| match shift.abs() {
            shift if shift < CALM => Reaction::Calm,
            shift if shift < DISTURBED => Reaction::SlightlyDisturbed,
            _ => Reaction::Disturbed,
        }),
    }
}

/// What a metric sees and what disturbs it, in a few plain sentences.
///
/// The name of the metric stands in it as it is in the result, at most 60 characters of it. Whoever
/// shows the sentences on a terminal or a page must escape them.
pub fn suite_sentence(result: &SuiteResult, metric: &str) -> String {
    let name = short(metric);
    let cells: Vec<&SuiteCell> = result.of_metric(metric).collect();
    let scored = cells.iter().filter(|cell| cell.originals > 0 && cell.twins > 0);
    let scored: Vec<&SuiteCell> = scored.copied().collect();
    if scored.is_empty() {
        return match result.outline().iter().any(|(_, reason)| reason.is_none()) {
            true => format!("{name} has no score for any pair."),
            false => format!("There are no pairs, so nothing is known about {name}."),
        };
    }
    if scored.iter().all(|cell| cell.is_constant()) {
        return format!("{name} gives all texts the same score, so it sees nothing.");
    }
    let mut sentences = damages(&name, &scored);
    let mut subject = Subject { name: &name, named: !sentences.is_empty() };
    sentences.extend(others(&mut subject, &scored));
    sentences.extend(typos(&mut subject, &scored));
    match sentences.is_empty() {
        true => format!("{name} has too few scores to say what it sees."),
        false => sentences.join(" "),
    }
}

/// The metric in a sentence: its name where it was not named yet, and "it" afterwards.
struct Subject<'a> {
    name: &'a str,
    named: bool,
}

impl Subject<'_> {
    fn next(&mut self, pronoun: &'static str) -> String {
        match std::mem::replace(&mut self.named, true) {
            true => pronoun.to_owned(),
            false => self.name.to_owned(),
        }
    }
}

/// What the metric sees of the damages, in one or two sentences.
fn damages(name: &str, cells: &[&SuiteCell]) -> Vec<String> {
    // The measure is named once, beside the first number.
    let mut unit = "AUC ";
    let mut claim = |wanted: Reaction, verb: &str| {
        let mut own: Vec<(&SuiteCell, f64)> = cells
            .iter()
            .filter(|cell| reaction(cell) == Some(wanted))
            .filter_map(|cell| Some((*cell, cell.auc.clone().ok()?)))
            .collect();
        own.sort_by(|a, b| b.1.total_cmp(&a.1));
        let shown = |(cell, auc): (&SuiteCell, f64)| {
            let unit = std::mem::take(&mut unit);
            let order = match cell.right_order {
                Ok(share) if wanted != Reaction::Sees && share >= NEARLY_ALWAYS => {
                    let percent = (100.0 * share).floor();
                    format!(", but {percent:.0}% of pairs in the right order")
                }
                _ => String::new(),
            };
            format!("{} ({unit}{auc:.2}{order})", cell.aspect)
        };
        let own: Vec<String> = own.into_iter().map(shown).collect();
        (!own.is_empty()).then(|| format!("{verb} {}", joined(&own)))
    };
    let sees = claim(Reaction::Sees, "sees");
    let weak: Vec<String> = [
        claim(Reaction::HardlySees, "hardly sees"),
        claim(Reaction::Blind, "is blind to"),
        claim(Reaction::PrefersDamage, "prefers the damaged twins of"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let joined = clauses(&weak);
    match (sees, weak.is_empty()) {
        (Some(sees), true) => vec![format!("{name} {sees}.")],
        (Some(sees), false) => vec![format!("{name} {sees}."), format!("It {joined}.")],
        (None, false) => vec![format!("{name} {joined}.")],
        (None, true) => Vec::new(),
    }
}

/// What harmless changes other than typos do to the metric, in one sentence at most.
fn others(subject: &mut Subject<'_>, cells: &[&SuiteCell]) -> Option<String> {
    let mut unit = "shift ";
    let mut own = |wanted: Reaction| {
        let hits = cells.iter().filter(|cell| reaction(cell) == Some(wanted));
        let hits = hits.filter(|cell| cell.aspect != Aspect::Typo);
        let shown = |cell: &&SuiteCell| {
            let unit = std::mem::take(&mut unit);
            let shift = cell.shift.clone().unwrap_or_default();
            format!("{} ({unit}{shift:.2})", harmless(cell.aspect))
        };
        hits.map(shown).collect::<Vec<String>>()
    };
    let (disturbed, slightly) = (own(Reaction::Disturbed), own(Reaction::SlightlyDisturbed));
    match (disturbed.is_empty(), slightly.is_empty()) {
        (true, true) => None,
        (false, true) => {
            Some(format!("{} disturb {}.", capitalised(&joined(&disturbed)), subject.next("it")))
        }
        (true, false) => Some(format!(
            "{} disturb {} slightly.",
            capitalised(&joined(&slightly)),
            subject.next("it")
        )),
        (false, false) => Some(format!(
            "{} disturb {}, and {} do so slightly.",
            capitalised(&joined(&disturbed)),
            subject.next("it"),
            joined(&slightly)
        )),
    }
}

/// The change that an aspect of invariance makes, in the plural.
fn harmless(aspect: Aspect) -> &'static str {
    match aspect {
        Aspect::Synonym => "synonyms",
        Aspect::Paraphrase => "paraphrases",
        Aspect::Punctuation => "missing marks",
        Aspect::Contraction => "contractions",
        Aspect::Typo => "typos",
        Aspect::Chat => "preambles, titles and endings",
        other => other.name(),
    }
}

/// How typos compare with the damages that the metric sees, in one sentence at most.
fn typos(subject: &mut Subject<'_>, cells: &[&SuiteCell]) -> Option<String> {
    let typo = cells.iter().find(|cell| cell.aspect == Aspect::Typo)?.shift.clone().ok()?;
    let seen: Vec<f64> = cells
        .iter()
        .filter(|cell| reaction(cell) == Some(Reaction::Sees))
        .filter_map(|cell| match cell.shift.clone() {
            Err(Absence::NoSpread) => Some(f64::INFINITY),
            shift => shift.ok(),
        })
        .collect();
    let it = subject.next("it");
    if typo == 0.0 {
        return Some(format!("Typos do not shift {it} at all."));
    }
    let size = typo.abs();
    let way = if typo <= -CALM { " in favour of the mistyped text" } else { "" };
    let less = seen.iter().filter(|shift| **shift <= size).count();
    let comparison = match (seen.len(), less) {
        (0, _) => String::new(),
        (1, 0) => ", less than the damage that it sees".to_owned(),
        (_, 0) => ", less than any damage that it sees".to_owned(),
        (1, 1) => ", at least as much as the damage that it sees".to_owned(),
        (all, some) if all == some => ", at least as much as any damage that it sees".to_owned(),
        (all, some) => format!(", at least as much as {some} of the {all} damages that it sees"),
    };
    let by = match size {
        size if size < 0.005 => "less than 0.01".to_owned(),
        size => format!("{size:.2}"),
    };
    Some(format!("Typos shift {it} by {by} standard deviations{way}{comparison}."))
}

/// Verbs with their objects. A comma keeps the lists of objects apart.
fn clauses(items: &[String]) -> String {
    match items {
        [first, second] if first.contains(" and ") || second.contains(" and ") => {
            format!("{first}, and {second}")
        }
        [first @ .., last] if first.len() > 1 => format!("{}, and {last}", first.join(", ")),
        _ => joined(items),
    }
}
