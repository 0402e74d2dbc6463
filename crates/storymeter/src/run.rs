//! What is known after all stories were scored.

use std::ops::Range;
use std::sync::Arc;

use storymeter_core::read::{Skipped, Summary};
use storymeter_core::{
    Column, Counts, Header, MetricSums, MetricTotals, Role, ScoreColumn, Signature, SystemTotals,
    Totals,
};
use storymeter_metrics::{Batch, MetricSet, Part};
use storymeter_stats::ExactSum;

use crate::ledger::{Group, Ledger, Resampling};
use crate::scorer::{CRITERIA, LEARNED};
use crate::unlike::Unlike;

/// The sums of a header are left out if they would take more bytes than this. The rest of a header
/// is much smaller than what remains.
const MOST_SUMS: usize = Header::MOST_BYTES as usize / 4 * 3;

/// How far the sums of a system are indented in a header.
const INDENT: usize = 6;

/// What is counted on the way.
pub(crate) struct Tally {
    pub stories: u64,
    pub empty: u64,
    pub references: Option<(usize, usize)>,
    /// By metric: stories of which it read only a part.
    pub truncated: Vec<u64>,
    /// By column: stories with a value.
    pub present: Vec<u64>,
}

impl Tally {
    pub(crate) fn new(metrics: &MetricSet) -> Self {
        Self {
            stories: 0,
            empty: 0,
            references: None,
            truncated: vec![0; metrics.parts().count()],
            present: vec![0; metrics.columns().len()],
        }
    }

    pub(crate) fn add(&mut self, batch: &Batch) {
        self.stories += batch.len() as u64;
        self.empty += batch.empty_stories() as u64;
        self.references = joined(self.references, batch.references());
        add_all(&mut self.truncated, batch.truncated());
        for story in 0..batch.len() {
            for (count, value) in self.present.iter_mut().zip(batch.values(story)) {
                *count += u64::from(value.is_ok());
            }
        }
    }

    pub(crate) fn merge(&mut self, later: Self) {
        self.stories += later.stories;
        self.empty += later.empty;
        self.references = joined(self.references, later.references);
        add_all(&mut self.truncated, &later.truncated);
        add_all(&mut self.present, &later.present);
    }

    /// The columns with their full signatures and counts.
    pub(crate) fn columns(&self, metrics: &MetricSet) -> Vec<Column> {
        let mut columns = Vec::with_capacity(metrics.columns().len());
        for (part, &truncated) in metrics.parts().zip(&self.truncated) {
            let signature = signature_of(&part, self.references).with_version();
            for at in part.columns {
                let column = &metrics.columns()[at];
                columns.push(Column {
                    key: column.key.clone(),
                    role: Role::Metric,
                    direction: column.direction,
                    range: column.range,
                    signature: Some(signature.clone()),
                    counts: Counts {
                        present: self.present[at],
                        absent: self.stories - self.present[at],
                        truncated,
                        empty: self.empty,
                    },
                });
            }
        }
        columns
    }
}

/// The parameters of a metric, with the fingerprint of the corpus where it was given one, and the
/// number of references where it needs any, without the version.
pub(crate) fn signature_of(part: &Part<'_>, references: Option<(usize, usize)>) -> Signature {
    let description = part.metric.description();
    let signature = description.signature.clone();
    let signature = match part.corpus {
        Some(fingerprint) => signature.with("corpus", "c", fingerprint),
        None => signature,
    };
    match references.filter(|_| description.needs.reference) {
        Some((least, most)) if least == most => signature.with("nrefs", "nr", least),
        Some(_) => signature.with("nrefs", "nr", "var"),
        None => signature,
    }
}

fn joined(a: Option<(usize, usize)>, b: Option<(usize, usize)>) -> Option<(usize, usize)> {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (a, b) => a.or(b),
    }
}

fn add_all(sums: &mut [u64], more: &[u64]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

/// The stories without an id of their own, which have the number of their record.
#[derive(Default)]
pub(crate) struct Numbered {
    pub count: u64,
    /// The numbers of their records, in ascending order. Those of merged shards are not known.
    records: Vec<Range<u64>>,
}

impl Numbered {
    pub(crate) fn new(records: Vec<Range<u64>>) -> Self {
        Self { count: records.iter().map(|run| run.end - run.start).sum(), records }
    }

    /// Whether the record of this number has no id of its own.
    pub(crate) fn has(&self, number: u64) -> bool {
        let run = self.records.partition_point(|run| run.end <= number);
        self.records.get(run).is_some_and(|run| run.contains(&number))
    }
}

/// What is known after all stories were scored.
pub struct Run {
    pub(crate) metrics: Arc<MetricSet>,
    pub(crate) ledger: Ledger,
    pub(crate) tally: Tally,
    /// The stories without an id of their own.
    pub(crate) numbered: Numbered,
    /// The texts that do not look like English stories. They are counted only if a metric is made
    /// for these ([`Run::learned`]).
    pub unlike: Unlike,
    /// The bad records that were skipped.
    pub skipped: Skipped,
    /// What was read.
    pub summary: Summary,
}

impl Run {
    /// The metrics, knowing the corpus where they need it.
    pub fn metrics(&self) -> &MetricSet {
        &self.metrics
    }

    /// The rows of all stories, for summaries and comparisons.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The columns with their full signatures and counts, as the header of a score file has them.
    pub fn columns(&self) -> Vec<Column> {
        self.tally.columns(&self.metrics)
    }

    /// How many stories have no text.
    pub fn empty_stories(&self) -> u64 {
        self.tally.empty
    }

    /// The metrics that are made for English stories, among those of the run.
    pub fn learned(&self) -> Vec<&'static str> {
        learned(self.metrics.columns())
    }

    /// The header of a score file with all stories of the run.
    pub fn header(&self) -> Header {
        let stories = self.ledger.len() as u64;
        let mut header = Header::new(stories, self.skipped.count, self.columns());
        header.totals = Some(self.totals());
        header
    }

    fn totals(&self) -> Totals {
        let truncated = self.tally.truncated.iter();
        let metrics = self.metrics.parts().zip(truncated).map(|(part, &truncated)| MetricTotals {
            truncated,
            ..crate::shards::metric_totals(&part)
        });
        Totals {
            read: self.summary.clone(),
            skipped: self.skipped.messages.clone(),
            numbered: self.numbered.count,
            empty: self.tally.empty,
            references: self.tally.references,
            unlike: (!self.learned().is_empty()).then(|| self.unlike.totals()),
            metrics: metrics.collect(),
            systems: self.systems(),
        }
    }

    /// The sums of each system, unless there are too many.
    fn systems(&self) -> Option<Vec<SystemTotals>> {
        let sums = self.ledger.sums(&self.metrics);
        let names = std::iter::once(None).chain(self.ledger.systems().iter().map(Some));
        let mut bytes = 0;
        let mut systems = Vec::new();
        for (name, group) in names.zip(sums.groups()) {
            if group.stories == 0 {
                continue;
            }
            let metrics = sums_of(group);
            let system = SystemTotals { system: name.cloned(), stories: group.stories, metrics };
            let text = serde_json::to_string_pretty(&system).ok()?;
            bytes += text.len() + (INDENT + 1) * (text.lines().count() + 1);
            if bytes > MOST_SUMS {
                return None;
            }
            systems.push(system);
        }
        Some(systems)
    }

    /// One signature per metric for the scores of all stories together: with the number of stories
    /// and how intervals were found.
    pub fn signatures(&self, resampling: &Resampling) -> Vec<Signature> {
        let items = self.ledger.repeated_items();
        self.metrics
            .parts()
            .map(|part| {
                let signature = signature_of(&part, self.tally.references).with(
                    "stories",
                    "n",
                    self.ledger.len(),
                );
                if self.ledger.is_summed() {
                    return signature.with("interval", "ci", "normal").with_version();
                }
                let signature = match items {
                    Some(items) => signature.with("items", "i", items),
                    None => signature,
                };
                let signature = signature.with("bootstrap", "bs", resampling.resamples);
                let seeded = signature.get("seed").is_some();
                let signature =
                    if seeded { signature } else { signature.with("seed", "rs", resampling.seed) };
                signature.with_version()
            })
            .collect()
    }
}

/// The sums of a group, as a header has them.
fn sums_of(group: &Group) -> Vec<MetricSums> {
    let text = |sums: &[ExactSum]| {
        let words: Vec<String> = sums.iter().map(ExactSum::to_string).collect();
        words.join(" ")
    };
    let metrics = group.metrics.iter();
    metrics
        .map(|metric| MetricSums { present: metric.present.clone(), sums: text(&metric.sums) })
        .collect()
}

/// The learned metrics among the columns: those that are made for English stories.
pub(crate) fn learned(columns: &[ScoreColumn]) -> Vec<&'static str> {
    let is_there = |id: &&str| columns.iter().any(|column| column.key.id() == *id);
    [LEARNED, CRITERIA].into_iter().filter(is_there).collect()
}
