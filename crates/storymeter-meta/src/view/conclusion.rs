//! What a comparison of systems means, in words.

use std::collections::BTreeMap;

use serde::Serialize;
use storymeter_core::{Direction, Role, number};
use storymeter_stats::Pairing;

use super::verdict::{VerdictWords, column_conclusion, verdict_words};
use super::words::joined_short;
use crate::systems::verdict::Verdict;
use crate::systems::{Caution, RankedSystem, SystemComparison, SystemPair, is_people};

/// The most characters of a name in a sentence.
const LONGEST_NAME: usize = 60;

/// The most warnings about all columns together that are spelled out.
const MOST_LINES: usize = 12;

/// The most warnings of one kind that are spelled out.
const MOST_WARNINGS: usize = 3;

/// What `compare --format json` writes: the verdict and the comparisons, both with their words.
#[derive(Debug, Clone, Serialize)]
pub struct DescribedComparisons<'a> {
    /// What all columns say together.
    pub verdict: DescribedVerdict<'a>,
    /// One comparison per column.
    pub comparisons: Vec<DescribedComparison<'a>>,
}

/// A verdict with its sentences.
#[derive(Debug, Clone, Serialize)]
pub struct DescribedVerdict<'a> {
    /// The sentences.
    pub sentences: VerdictWords,
    /// The verdict itself.
    #[serde(flatten)]
    pub verdict: &'a Verdict,
}

impl<'a> DescribedComparisons<'a> {
    /// Puts a verdict and the comparisons that it is about into words.
    pub fn new(verdict: &'a Verdict, found: &'a [SystemComparison]) -> Self {
        Self {
            verdict: DescribedVerdict { sentences: verdict_words(verdict, found), verdict },
            comparisons: found.iter().map(|one| DescribedComparison::new(verdict, one)).collect(),
        }
    }

    /// What a reader of the numbers should know, one sentence each. A sentence about several
    /// columns is there once; where there are several columns, it names them.
    pub fn warnings(&self) -> Vec<String> {
        let mut sentences: Vec<(&str, Vec<&str>)> = Vec::new();
        for one in &self.comparisons {
            for warning in &one.warnings {
                let key = one.comparison.column.key.as_str();
                match sentences.iter_mut().find(|(known, _)| known == warning) {
                    Some((_, keys)) => keys.push(key),
                    None => sentences.push((warning, vec![key])),
                }
            }
        }
        let several = self.comparisons.len() > 1;
        let named = |(warning, keys): &(&str, Vec<&str>)| match keys.as_slice() {
            [only] if several && !warning.contains(only) => format!("{}: {warning}", short(only)),
            [first, others @ ..] if !others.is_empty() => {
                let more = counted(others.len(), "other column", "other columns");
                format!("{} and {more}: {warning}", short(first))
            }
            _ => (*warning).to_owned(),
        };
        let more = sentences.len().saturating_sub(MOST_LINES);
        let mut lines: Vec<String> = sentences.iter().take(MOST_LINES).map(named).collect();
        if more > 0 {
            lines.push(format!("There are {more} more warnings; the JSON has all of them."));
        }
        lines
    }
}

/// A comparison with what it means in words, as `compare --format json` writes it.
#[derive(Debug, Clone, Serialize)]
pub struct DescribedComparison<'a> {
    /// See [`column_conclusion`].
    pub conclusion: String,
    /// See [`warnings`].
    pub warnings: Vec<String>,
    /// The comparison itself.
    #[serde(flatten)]
    pub comparison: &'a SystemComparison,
}

impl<'a> DescribedComparison<'a> {
    /// Puts one of the comparisons into words that a verdict is about.
    pub fn new(verdict: &Verdict, comparison: &'a SystemComparison) -> Self {
        let conclusion = column_conclusion(verdict, comparison);
        Self { conclusion, warnings: warnings(comparison), comparison }
    }
}

/// The conclusion of a comparison, in one sentence.
///
/// It looks at this column alone, and knows nothing of lengths, flags and other columns. Where
/// there is a verdict, show [`column_conclusion`] instead, which does not call a system better
/// that is not the winner.
///
/// Names stand in it as they are in the data, at most 60 characters of each. Whoever shows the
/// sentence on a terminal or a page must escape it.
pub fn conclusion(found: &SystemComparison) -> String {
    let valued: Vec<&RankedSystem> = found.systems.iter().filter(|one| one.mean.is_ok()).collect();
    let key = short(found.column.key.as_str());
    match valued.as_slice() {
        [] => format!("{key} has no value for any story, so there is nothing to compare."),
        [only] => format!(
            "There is only one system with values of {key} ({}, mean {}), so there is nothing to \
             compare it with.",
            short(&only.name),
            number::text(only.mean.clone().unwrap_or(f64::NAN), 3)
        ),
        _ if found.method.against.is_some() => against(found, &key),
        all => {
            let (people, machines): (Vec<&RankedSystem>, Vec<&RankedSystem>) =
                all.iter().copied().partition(|one| is_people(&one.name));
            let words = Sentences { found, key: &key };
            match people.as_slice() {
                [human] if machines.len() > 1 => {
                    let sentence = words.sentence(&machines);
                    format!("{sentence}; {}.", words.human(human, &machines))
                }
                _ => format!("{}.", words.sentence(all)),
            }
        }
    }
}

/// The words for one comparison.
struct Sentences<'a> {
    found: &'a SystemComparison,
    key: &'a str,
}

impl Sentences<'_> {
    /// "is better than", or "scores higher than" where more is not known to be better.
    fn beats(&self, several: bool) -> &'static str {
        match (self.found.column.direction, several) {
            (Direction::None, false) => "scores higher than",
            (Direction::None, true) => "score higher than",
            (_, false) => "is better than",
            (_, true) => "are better than",
        }
    }

    /// The pair of two systems, if the first is significantly better than the second.
    fn win(&self, better: &str, worse: &str) -> Option<&SystemPair> {
        self.found.pair(better, worse).filter(|pair| pair.verdict() == Some((better, worse)))
    }

    /// Whether two systems were tested against each other. Where they were not, nothing is claimed.
    fn is_tested(&self, one: &str, other: &str) -> bool {
        self.found.pair(one, other).is_some_and(|pair| pair.found.is_ok())
    }

    /// The systems that were tested against this one, and those that were not.
    fn tested<'a>(
        &self,
        name: &str,
        others: Vec<&'a RankedSystem>,
    ) -> (Vec<&'a RankedSystem>, Vec<&'a RankedSystem>) {
        others.into_iter().partition(|one| self.is_tested(name, &one.name))
    }

    /// The sentence about these systems, best first, without the full stop.
    fn sentence(&self, systems: &[&RankedSystem]) -> String {
        let [top, others @ ..] = systems else { return String::new() };
        let (below, level): (Vec<&RankedSystem>, Vec<&RankedSystem>) =
            others.iter().copied().partition(|one| self.win(&top.name, &one.name).is_some());
        let (level, untested) = self.tested(&top.name, level);
        let name = short(&top.name);
        let without_test = match untested.is_empty() {
            true => String::new(),
            false => format!("; {} could not be compared with {name}", names(&untested)),
        };
        match (below.len(), level.len()) {
            (0, _) => self.no_winner(systems),
            (_, 0) if !untested.is_empty() => {
                let p = self.claimed(&top.name, &below);
                let than = format!("{} by {}", names(&below), self.key);
                format!("{name} {} {than} ({p}){without_test}", self.beats(false))
            }
            (_, 0) => {
                let than = match others {
                    [one] => short(&one.name),
                    [_, _] => "both others".to_owned(),
                    many => format!("all {} others", many.len()),
                };
                let claim = format!("{name} {} {than} by {}", self.beats(false), self.key);
                let p = self.claimed(&top.name, &below);
                match others {
                    [_] => format!("{claim} ({p}){}", self.stories(systems)),
                    others => format!("{claim} ({p}); {}", self.among(others)),
                }
            }
            _ => {
                let leading: Vec<&RankedSystem> =
                    [*top].into_iter().chain(level.iter().copied()).collect();
                let p = self.claimed(&top.name, &below);
                format!(
                    "{} lead by {} and cannot be told apart{}; {name} {} {} ({p}){without_test}",
                    names(&leading),
                    self.key,
                    self.stories(&leading),
                    self.beats(false),
                    names(&below),
                )
            }
        }
    }

    /// The systems below a clear winner.
    fn among(&self, others: &[&RankedSystem]) -> String {
        let pairs: Vec<&SystemPair> = others
            .iter()
            .enumerate()
            .flat_map(|(at, one)| others[at + 1..].iter().map(move |other| (one, other)))
            .filter_map(|(one, other)| self.found.pair(&one.name, &other.name))
            .filter(|pair| pair.found.is_ok())
            .collect();
        let told_apart = pairs.iter().filter(|pair| pair.is_significant()).count();
        let all = if others.len() == 2 { "two".to_owned() } else { others.len().to_string() };
        let stories = self.stories(others);
        let every = others.len() * (others.len() - 1) / 2;
        match told_apart {
            _ if pairs.is_empty() => format!("the other {all} could not be compared{stories}"),
            0 => format!("the other {all} cannot be told apart{stories}"),
            count if count == every => match others {
                [second, third] => {
                    let (second, third) = (short(&second.name), short(&third.name));
                    format!("{second} {} {third}", self.beats(false))
                }
                _ => format!("the other {all} all differ from each other"),
            },
            count => {
                format!(
                    "of the {} pairs of the other {all}, {count} can be told apart",
                    pairs.len()
                )
            }
        }
    }

    /// The sentence where the system with the best mean beats nobody.
    fn no_winner(&self, systems: &[&RankedSystem]) -> String {
        let stories = self.stories(systems);
        let who = match systems {
            [one, other] => format!("{} and {}", short(&one.name), short(&other.name)),
            many => format!("the {} systems", many.len()),
        };
        let inside = |pair: &&SystemPair| {
            let among = |name: &str| systems.iter().any(|one| one.name == name);
            among(&pair.first) && among(&pair.second)
        };
        let pairs: Vec<&SystemPair> = self.found.pairs.iter().filter(inside).collect();
        let tested: Vec<f64> = pairs
            .iter()
            .filter_map(|pair| pair.found.as_ref().ok().map(|found| found.p_value.corrected))
            .collect();
        let smallest = tested.iter().copied().fold(1.0, f64::min);
        let significant = pairs.iter().filter(|pair| pair.is_significant()).count();
        let by = match self.found.column.role {
            Role::Metric => self.key.to_owned(),
            Role::Human => format!("the ratings of {}", self.key),
        };
        if self.found.cautions.contains(&Caution::Constant) {
            format!("No difference was found between {who} by {by}: all values are equal")
        } else if tested.is_empty() {
            format!("There are too few stories to compare {who} by {}", self.key)
        } else if self.found.cautions.iter().any(|one| matches!(one, Caution::FewResamples { .. }))
        {
            format!("There are too few resamples to compare {who} by {}", self.key)
        } else if significant > 0 {
            format!(
                "No system is clearly the best by {}: {} has the best mean, but is not clearly \
                 better than any other; {significant} of {} pairs differ",
                self.key,
                short(&systems[0].name),
                pairs.len()
            )
        } else {
            let smallest_p = match tested.len() {
                1 => p_value(smallest),
                _ => format!("smallest corrected {}", p_value(smallest)),
            };
            format!("No difference was found between {who} by {by}{stories} ({smallest_p})")
        }
    }

    /// Where the stories of people stand beside those of machines.
    fn human(&self, human: &RankedSystem, machines: &[&RankedSystem]) -> String {
        let count = |better: &dyn Fn(&str) -> bool| {
            machines.iter().filter(|machine| better(&machine.name)).count()
        };
        let won = count(&|machine| self.win(&human.name, machine).is_some());
        let lost = count(&|machine| self.win(machine, &human.name).is_some());
        let all = machines.len();
        let name = short(&human.name);
        let beats = self.beats(true);
        match (won, lost) {
            (won, 0) if won == all => format!("the stories of {name} {beats} all of theirs"),
            (0, lost) if lost == all => format!("the stories of all {beats} those of {name}"),
            (0, 0) if !machines.iter().any(|one| self.is_tested(&human.name, &one.name)) => {
                format!("none of them could be compared with {name}")
            }
            (0, 0) => format!("none of them can be told apart from {name}"),
            (won, 0) => format!("the stories of {name} {beats} those of {won} of {all}"),
            (won, lost) => format!(
                "the stories of {name} {beats} those of {won} of {all}, and those of {lost} \
                 {beats} those of {name}"
            ),
        }
    }

    /// The largest corrected p-value behind a claim about several systems.
    fn claimed(&self, top: &str, below: &[&RankedSystem]) -> String {
        let largest = below
            .iter()
            .filter_map(|one| self.found.pair(top, &one.name)?.found.as_ref().ok())
            .map(|found| found.p_value.corrected)
            .fold(0.0, f64::max);
        let p = match below {
            [_] => p_value(largest),
            _ => p_value(largest).replace('=', "≤"),
        };
        if self.found.pairs.len() > 1 { format!("{p} after correction") } else { p }
    }

    /// " with 48 stories each".
    fn stories(&self, systems: &[&RankedSystem]) -> String {
        let counts = || systems.iter().map(|one| one.stories);
        match (counts().min().unwrap_or(0), counts().max().unwrap_or(0)) {
            (1, 1) => " with 1 story each".to_owned(),
            (low, high) if low == high => format!(" with {low} stories each"),
            (low, high) => format!(" with {low} to {high} stories each"),
        }
    }
}

/// The conclusion where all systems were compared with one.
fn against(found: &SystemComparison, key: &str) -> String {
    let base = found.method.against.as_deref().unwrap_or_default();
    let words = Sentences { found, key };
    let others: Vec<&RankedSystem> =
        found.systems.iter().filter(|one| one.name != base && one.mean.is_ok()).collect();
    let (mut better, mut worse, mut level) = (Vec::new(), Vec::new(), Vec::new());
    for other in others {
        if words.win(&other.name, base).is_some() {
            better.push(other);
        } else if words.win(base, &other.name).is_some() {
            worse.push(other);
        } else {
            level.push(other);
        }
    }
    let (level, untested) = words.tested(base, level);
    let name = short(base);
    let mut parts = Vec::new();
    if !better.is_empty() {
        let beats = words.beats(better.len() > 1);
        let p = words.claimed(base, &better);
        parts.push(format!("{} {beats} {name} by {key} ({p})", names(&better)));
    }
    if !worse.is_empty() {
        let p = words.claimed(base, &worse);
        parts.push(format!("{name} {} {} by {key} ({p})", words.beats(false), names(&worse)));
    }
    if !level.is_empty() {
        let stories = words.stories(&level);
        parts.push(format!("{} cannot be told apart from {name}{stories}", names(&level)));
    }
    if !untested.is_empty() {
        parts.push(format!("{} could not be compared with {name}", names(&untested)));
    }
    format!("{}.", parts.join("; "))
}

/// What a reader should know before trusting a comparison, one sentence each.
pub fn warnings(found: &SystemComparison) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut unspoken = Vec::new();
    for caution in &found.cautions {
        // One sentence names all systems with several stories for an item.
        if let Caution::Averaged { .. } = caution {
            let sentence = averaged(found);
            if !sentences.contains(&sentence) {
                sentences.push(sentence);
            }
            continue;
        }
        let alike =
            |other: &&Caution| std::mem::discriminant(*other) == std::mem::discriminant(caution);
        let kind = found.cautions.iter().filter(alike).count();
        let before = found.cautions.iter().take_while(|other| !std::ptr::eq(*other, caution));
        match before.filter(alike).count() {
            seen if seen < MOST_WARNINGS => sentences.push(warning(found, caution)),
            MOST_WARNINGS => unspoken.push(kind - MOST_WARNINGS),
            _ => {}
        }
    }
    sentences.extend(unspoken.into_iter().map(|more| match more {
        1 => "There is 1 more warning like these.".to_owned(),
        more => format!("There are {more} more warnings like these."),
    }));
    sentences
}

fn warning(found: &SystemComparison, caution: &Caution) -> String {
    let key = short(found.column.key.as_str());
    match caution {
        Caution::NoDirection => {
            format!("It is not known whether a higher {key} is better; the highest mean is first.")
        }
        Caution::Constant => format!("All values of {key} are equal."),
        Caution::Absent { system, stories } => format!(
            "{} of {} {} no value of {key} and {} left out.",
            counted(*stories, "story", "stories"),
            short(system),
            if *stories == 1 { "has" } else { "have" },
            if *stories == 1 { "is" } else { "are" },
        ),
        Caution::Averaged { .. } => averaged(found),
        Caution::PartlyShared { first, second, shared, items } => {
            // In one order for all columns, so that the sentence is said once.
            let (one, other) = (first.min(second), first.max(second));
            format!(
                "{} and {} are compared on the {} that both have, of up to {items}.",
                short(one),
                short(other),
                counted(*shared, "item", "items")
            )
        }
        Caution::NeverSignificant { first, second, stories, needed } => format!(
            "{} and {} have {} to compare: with fewer than {needed}, no difference can be \
             significant.",
            short(first),
            short(second),
            counted_as(found, [first, second], *stories)
        ),
        Caution::FewResamples { needed } => format!(
            "With {} resamples and {} pairs, no difference can be significant; it takes {needed} \
             resamples.",
            found.method.resamples,
            found.pairs.len()
        ),
        Caution::TooFewStories { first, second, effect, stories, needed } => format!(
            "{} and {} differ by {:.2} standard deviations, but {} are too few to be sure of it: \
             about {needed} would be needed.",
            short(first),
            short(second),
            effect.abs(),
            counted_as(found, [first, second], *stories)
        ),
    }
}

/// "14 items" where several stories are of one item, so that the test counts items; else stories.
fn counted_as(found: &SystemComparison, systems: [&str; 2], count: usize) -> String {
    let has_several = |caution: &Caution| matches!(caution, Caution::Averaged { system, .. } if systems.contains(&system.as_str()));
    let has_more = |name: &str, items: usize| {
        found.systems.iter().any(|one| one.name == name && one.stories > items)
    };
    let [first, second] = systems;
    let is_items = found.pair(first, second).is_some_and(|pair| match pair.design {
        Pairing::Paired { .. } => found.cautions.iter().any(has_several),
        // Stories that are all of one item stand for themselves.
        Pairing::Unpaired { first, second } => {
            has_more(&pair.first, first) || has_more(&pair.second, second)
        }
    });
    let [one, many] = if is_items { ["item", "items"] } else { ["story", "stories"] };
    counted(count, one, many)
}

/// "a and b have several stories for 14 items, and c for 3": the systems in the order of their
/// names, which is the same for all columns.
fn averaged(found: &SystemComparison) -> String {
    let mut counts: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for caution in &found.cautions {
        if let Caution::Averaged { system, items } = caution {
            counts.entry(*items).or_default().push(short(system));
        }
    }
    let part = |(at, (items, mut systems)): (usize, (usize, Vec<String>))| {
        systems.sort_unstable();
        let have = match (at, systems.len()) {
            (0, 1) => " has several stories",
            (0, _) => " have several stories",
            _ => "",
        };
        format!("{}{have} for {}", joined_short(&systems), counted(items, "item", "items"))
    };
    let parts: Vec<String> = counts.into_iter().rev().enumerate().map(part).collect();
    format!("{}; their mean counts in paired tests.", parts.join(", and "))
}

/// A p-value as it is written in papers: `p = 0.012`, or `p < 0.001`.
///
/// ```
/// use storymeter_meta::view::p_value;
/// assert_eq!(p_value(0.0124), "p = 0.012");
/// assert_eq!(p_value(0.0004), "p < 0.001");
/// assert_eq!(p_value(0.9999), "p > 0.999");
/// ```
pub fn p_value(p: f64) -> String {
    match p {
        p if p < 0.001 => "p < 0.001".to_owned(),
        p if p > 0.999 && p < 1.0 => "p > 0.999".to_owned(),
        p => format!("p = {p:.3}"),
    }
}

/// A name, cut where it is very long.
pub(crate) fn short(name: &str) -> String {
    match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

/// "a", "a and b", "a, b and c"; from six on "a, b and 4 others".
fn names(systems: &[&RankedSystem]) -> String {
    let name = |at: usize| short(&systems[at].name);
    match systems.len() {
        0 => String::new(),
        1 => name(0),
        count if count <= 5 => {
            let first: Vec<String> = (0..count - 1).map(name).collect();
            format!("{} and {}", first.join(", "), name(count - 1))
        }
        count => format!("{}, {} and {} others", name(0), name(1), count - 2),
    }
}

pub(super) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
