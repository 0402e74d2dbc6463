//! The catalogue as people read it: one line per metric.

use std::fmt;

use serde::Serialize;
use storymeter_core::{Catalogue, Direction, Entry, Needs};

/// The catalogue as a list. It prints as `storymeter metrics list` does.
///
/// ```
/// let listing = storymeter::Listing::new(&storymeter::catalogue());
/// let bleu = listing.lines.iter().find(|line| line.ids == ["bleu"]).unwrap();
/// assert_eq!((bleu.better, bleu.needs), ("higher", "reference"));
/// assert!(listing.to_string().contains("\nnovelty-{1,2,3}  "));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listing {
    /// One line per metric, in the order of the catalogue.
    pub lines: Vec<ListedMetric>,
}

/// One line of a [`Listing`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedMetric {
    /// The ids. Metrics that differ only in a number have several.
    pub ids: Vec<&'static str>,
    /// The ids, written short if they differ in a number: `novelty-{1,2,3}`.
    pub name: String,
    /// `higher`, `lower`, or `-` where neither is better.
    pub better: &'static str,
    /// What the metric needs besides the story: `reference`, `prompt`, `both` or `-`.
    pub needs: &'static str,
    /// The possible values, in words.
    pub range: String,
    /// The options that may follow a colon.
    pub options: Vec<&'static str>,
    /// What the metric measures, in one sentence.
    pub summary: String,
}

impl Listing {
    /// Lists a catalogue.
    pub fn new(catalogue: &Catalogue) -> Self {
        Self { lines: catalogue.entries().map(ListedMetric::new).collect() }
    }
}

impl ListedMetric {
    fn new(entry: &'static Entry) -> Self {
        Self {
            ids: entry.ids.to_vec(),
            name: short(entry),
            better: match entry.direction {
                Direction::Higher => "higher",
                Direction::Lower => "lower",
                Direction::None => "-",
            },
            needs: needs(entry.needs),
            range: entry.range.to_string(),
            options: entry.choices.iter().map(|choice| choice.name).collect(),
            summary: entry.summary(),
        }
    }
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.lines.iter().map(|line| line.name.len()).max().unwrap_or(0);
        for ListedMetric { name, better, needs, summary, .. } in &self.lines {
            writeln!(f, "{name:width$}  {better:6}  {needs:9}  {summary}")?;
        }
        Ok(())
    }
}

/// The ids of an entry, written short if they differ in a number: `novelty-{1,2,3}`.
fn short(entry: &Entry) -> String {
    let split = |id: &'static str| {
        id.rsplit_once('-').filter(|(_, n)| n.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let parts: Option<Vec<_>> = entry.ids.iter().copied().map(split).collect();
    match parts {
        Some(parts) if parts.len() > 1 => {
            let numbers: Vec<&str> = parts.iter().map(|(_, number)| *number).collect();
            format!("{}-{{{}}}", parts[0].0, numbers.join(","))
        }
        _ => entry.ids.join(", "),
    }
}

fn needs(needs: Needs) -> &'static str {
    match (needs.reference, needs.prompt) {
        (true, true) => "both",
        (true, false) => "reference",
        (false, true) => "prompt",
        (false, false) => "-",
    }
}
