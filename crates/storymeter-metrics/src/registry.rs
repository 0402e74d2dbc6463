//! Every metric by its id.
//!
//! An id is what the user types: `bleu`, `bleu:hanna` for a named preset, `bleu:intl+floor` for two that go together.
//! The key of its score is the id as typed; a family gives one key a column.

use std::path::PathBuf;

use storymeter_core::{Direction, Metric, Needs};

use crate::catalogue;
use crate::metrics;
use crate::{Error, Result};

/// What a user may set besides a metric's preset.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Seed of the metrics that draw a sample.
    pub seed: u64,
    /// Folder of the METEOR 1.5 tables (`--meteor-data`).
    pub meteor_data: Option<PathBuf>,
}

/// A metric, or a few that differ in one number (`novelty-1` to `novelty-3`), as the catalogue knows it.
pub struct Entry {
    /// The ids.
    pub ids: &'static [&'static str],
    /// Named settings and what each stands for. The first is what the bare id means.
    pub presets: &'static [(&'static str, &'static str)],
    /// Which way the scores point.
    pub direction: Direction,
    /// The values a score can have, for people.
    pub range: &'static str,
    /// What it must be given.
    pub needs: Needs,
    /// The source file, whose documentation is the page.
    pub source: &'static str,
    /// Builds it with one of its ids and one of its presets.
    pub build: fn(&Request<'_>) -> Result<Box<dyn Metric>>,
}

/// What a user asked for, checked against the entry.
pub struct Request<'a> {
    /// The id as typed, preset included: the key of the score.
    pub key: &'a str,
    /// The id without the preset.
    pub id: &'a str,
    /// The first preset typed; the entry's first where none was.
    pub preset: &'static str,
    /// All presets typed, joined by `+` in the id; none where none was.
    pub presets: Vec<&'static str>,
    /// Everything else.
    pub options: &'a Options,
}

impl Request<'_> {
    /// Whether this preset was typed.
    pub fn asks(&self, preset: &str) -> bool {
        self.presets.contains(&preset)
    }

    /// The one preset of these that was typed, `None` if none was; two of them are an error.
    pub fn one_of(&self, choices: &[&str]) -> Result<Option<&'static str>> {
        let mut typed = self.presets.iter().copied().filter(|preset| choices.contains(preset));
        let first = typed.next();
        match (first, typed.next()) {
            (Some(first), Some(second)) => {
                Err(Error::PresetClash { metric: self.id.to_owned(), first, second })
            }
            _ => Ok(first),
        }
    }
}

impl Entry {
    /// The catalogue page, Markdown.
    pub fn page(&self) -> String {
        catalogue::page(self.source)
    }

    /// The page's first line.
    pub fn summary(&self) -> String {
        catalogue::summary(&self.page()).to_owned()
    }
}

/// All metrics, in the order of the catalogue.
pub fn entries() -> &'static [Entry] {
    metrics::ENTRIES
}

/// The entry of an id, with or without a preset.
pub fn find(id: &str) -> Result<&'static Entry> {
    let bare = id.split_once(':').map_or(id, |(bare, _)| bare);
    entries()
        .iter()
        .find(|entry| entry.ids.contains(&bare))
        .ok_or_else(|| Error::UnknownMetric { id: id.to_owned(), suggestion: nearest(bare) })
}

/// The metric of an id such as `bleu` or `bleu:hanna`.
pub fn build(key: &str, options: &Options) -> Result<Box<dyn Metric>> {
    let entry = find(key)?;
    let (id, typed) = match key.split_once(':') {
        Some((id, preset)) => (id, Some(preset)),
        None => (key, None),
    };
    let mut presets = Vec::new();
    for name in typed.into_iter().flat_map(|typed| typed.split('+')) {
        let known = entry.presets.iter().map(|&(known, _)| known).find(|&known| known == name);
        presets.push(known.ok_or_else(|| Error::UnknownPreset {
            metric: id.to_owned(),
            preset: name.to_owned(),
            known: entry.presets.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "),
        })?);
    }
    let default = entry.presets.first().map_or("", |&(name, _)| name);
    let preset = presets.first().copied().unwrap_or(default);
    (entry.build)(&Request { key, id, preset, presets, options })
}

/// The id nearest to a mistyped one, if it is near enough to be meant.
fn nearest(typed: &str) -> Option<String> {
    let ids = entries().iter().flat_map(|entry| entry.ids);
    let (distance, id) = ids.map(|id| (edit_distance(typed, id), id)).min()?;
    (distance <= 2.max(typed.chars().count() / 3)).then(|| (*id).to_owned())
}

/// Levenshtein's distance in characters, case ignored.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let cost = (diagonal + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], cost);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_id_gets_the_nearest_one_as_a_suggestion() {
        let error = find("text-lenght").err().expect("no such metric").to_string();
        assert!(error.contains("did you mean \"text-length\"?"), "{error}");
    }

    #[test]
    fn an_id_far_from_every_metric_gets_no_suggestion() {
        let error = find("quatsch").err().expect("no such metric").to_string();
        assert!(!error.contains("did you mean"), "{error}");
    }

    #[test]
    fn an_unknown_preset_names_the_known_ones() {
        let error = build("text-length:paper", &Options::default())
            .err()
            .expect("no such preset")
            .to_string();
        assert_eq!(error, "metric \"text-length\" has no preset \"paper\"; it has spacy, hanna");
    }

    #[test]
    fn every_entry_has_a_page_and_a_summary() {
        for entry in entries() {
            assert!(entry.page().lines().count() > 5, "{:?}", entry.ids);
            assert!(!entry.summary().is_empty(), "{:?}", entry.ids);
        }
    }
}
