//! What is known about stories after they were scored: all of them together.

use std::ops::Range;
use std::sync::Arc;

use storymeter_core::read::{Record, RecordChecker, Skipped, Summary};
use storymeter_core::{Column, Counts, Header, MetricTotals, Signature, TextTotals, Totals, Value};
use storymeter_executor::{MetricSet, Part};
use storymeter_text::flags::Flag;

use crate::Scored;
use crate::summary::rows::stored_width;
use crate::summary::{Resampling, ScoreRows};
use crate::texts::TextRules;

/// What is known about a set of scored stories: a batch, a whole input, or the shards of a corpus.
///
/// It grows by stories and by what is known about others, and it is what the header of a score file
/// keeps, so that it can be read from there again.
pub struct Run {
    metrics: Arc<MetricSet>,
    score_rows: ScoreRows,
    /// By column: the stories with a value.
    present: Vec<u64>,
    /// By column: the stories of other lengths than the metric was tested on.
    outside: Vec<u64>,
    skipped: Skipped,
    /// Everything else that is counted. The messages of skipped records and the sums are above.
    totals: Totals,
    /// The numbers of the records without an id of their own, in ascending order. Those of merged
    /// shards are not known.
    numbered: Vec<Range<u64>>,
    /// The first stories, for a run of a few. Those of shards are not known.
    first: Vec<FewStory>,
}

/// The most stories that are shown one by one.
pub(crate) const MOST_FEW: usize = 5;

/// A scored story that may be shown by itself.
#[derive(Debug, Clone)]
pub(crate) struct FewStory {
    pub name: String,
    pub words: u64,
    pub flags: Vec<Flag>,
    pub values: Vec<Value>,
}

/// The first stories of a batch, one more than are shown one by one, so that it is known whether
/// there are too many.
fn first_stories(scored: &Scored) -> Vec<FewStory> {
    let first = |(at, record): (usize, &Record)| {
        let (story, check) = (&record.story, &scored.checks[at]);
        FewStory {
            name: match &story.system {
                Some(system) => format!("{system} {}", story.id),
                None => story.id.clone(),
            },
            words: check.words,
            flags: check.flags.clone(),
            values: scored.batch.values(at).to_vec(),
        }
    };
    scored.records.iter().take(MOST_FEW + 1).enumerate().map(first).collect()
}

impl Run {
    /// Nothing is known yet. The rows are those of no story.
    pub(crate) fn new(metrics: &Arc<MetricSet>, score_rows: ScoreRows, rules: TextRules) -> Self {
        let texts = TextTotals {
            cleaned: rules.clean,
            keeps_refusals: rules.keep_refusals,
            ..TextTotals::default()
        };
        let totals = Totals {
            read: Summary::default(),
            skipped: Vec::new(),
            numbered: 0,
            empty: 0,
            references: None,
            texts,
            metrics: metric_totals(metrics),
            systems: None,
        };
        Self {
            metrics: Arc::clone(metrics),
            score_rows,
            present: vec![0; metrics.columns().len()],
            outside: vec![0; metrics.columns().len()],
            skipped: Skipped::default(),
            totals,
            numbered: Vec::new(),
            first: Vec::new(),
        }
    }

    /// What the header of a score file keeps, with its totals and the rows or sums of its stories.
    pub(crate) fn from_header(
        metrics: &Arc<MetricSet>,
        header: &Header,
        mut totals: Totals,
        score_rows: ScoreRows,
    ) -> Self {
        totals.read.add_systems(score_rows.systems().iter().map(String::as_str));
        Self {
            metrics: Arc::clone(metrics),
            score_rows,
            present: header.columns.iter().map(|column| column.counts.present).collect(),
            outside: header.columns.iter().map(|column| column.counts.outside).collect(),
            skipped: Skipped {
                count: header.skipped,
                messages: std::mem::take(&mut totals.skipped),
            },
            totals: Totals { systems: None, ..totals },
            numbered: Vec::new(),
            first: Vec::new(),
        }
    }

    /// The header of a score file with all stories of the run.
    pub fn header(&self) -> Header {
        let mut header =
            Header::new(self.score_rows.texts() as u64, self.skipped.count, self.columns());
        header.totals = Some(Totals {
            skipped: self.skipped.messages.clone(),
            systems: self.score_rows.totals(&self.metrics),
            ..self.totals.clone()
        });
        header
    }

    /// Adds stories, which the metrics scored.
    pub(crate) fn add(&mut self, scored: &Scored) {
        if self.first.len() <= MOST_FEW {
            self.first.extend(first_stories(scored));
        }
        let Scored { records, checks, batch, .. } = scored;
        let totals = &mut self.totals;
        let names = |flags: &[Flag]| -> Vec<&str> { flags.iter().map(|one| one.name()).collect() };
        for (at, (record, check)) in records.iter().zip(checks).enumerate() {
            let system = record.story.system.as_deref();
            totals.empty += u64::from(record.story.text.trim().is_empty());
            totals.texts.add(system, &names(&check.flags), &names(&check.removed));
            if let Some(flag) = check.no_story() {
                totals.texts.add_no_story(flag.name());
                self.score_rows.push_no_stories(system, 1);
                continue;
            }
            self.score_rows.push(&record.story, batch.stats(at));
            for (count, value) in self.present.iter_mut().zip(batch.values(at)) {
                *count += u64::from(value.is_ok());
            }
            for (count, column) in self.outside.iter_mut().zip(self.metrics.columns()) {
                let card = column.validity.as_ref();
                *count += u64::from(card.is_some_and(|card| !card.covers(check.words)));
            }
        }
        totals.references = joined(totals.references, batch.references());
        for (metric, more) in totals.metrics.iter_mut().zip(batch.truncated()) {
            metric.truncated += more;
        }
    }

    /// Adds what is known about later stories, which the same metrics scored.
    pub(crate) fn merge(&mut self, later: Self) {
        self.score_rows.append(later.score_rows, &self.metrics);
        self.present.iter_mut().zip(later.present).for_each(|(sum, more)| *sum += more);
        self.outside.iter_mut().zip(later.outside).for_each(|(sum, more)| *sum += more);
        self.skipped.merge(later.skipped);
        if self.first.len() <= MOST_FEW {
            self.first.extend(later.first);
        }
        let (totals, later) = (&mut self.totals, later.totals);
        totals.read.merge(later.read);
        totals.numbered += later.numbered;
        totals.empty += later.empty;
        totals.references = joined(totals.references, later.references);
        for (metric, more) in totals.metrics.iter_mut().zip(later.metrics) {
            metric.truncated += more.truncated;
        }
        totals.texts.merge(later.texts);
    }

    /// Adds what was read, once all of it was.
    pub(crate) fn was_read(&mut self, checker: &RecordChecker) {
        self.skipped = checker.skipped().clone();
        self.totals.read = checker.summary();
        self.numbered = checker.numbered();
        self.totals.numbered = self.numbered.iter().map(|run| run.end - run.start).sum();
    }

    /// Forgets the rows of the stories and keeps their sums.
    pub(crate) fn condense(&mut self) {
        self.score_rows.condense(&self.metrics);
    }

    /// The first stories, at least one more than are shown one by one if there are so many; none
    /// if the run is one of shards.
    pub(crate) fn first_stories(&self) -> &[FewStory] {
        &self.first
    }

    /// The metrics, knowing the corpus where they need it.
    pub fn metrics(&self) -> &Arc<MetricSet> {
        &self.metrics
    }

    /// The rows of all stories, for summaries and comparisons.
    pub fn score_rows(&self) -> &ScoreRows {
        &self.score_rows
    }

    /// What was read.
    pub fn summary(&self) -> &Summary {
        &self.totals.read
    }

    /// The bad records that were skipped.
    pub fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    /// What was found in the texts, and what was done about it.
    pub fn texts(&self) -> &TextTotals {
        &self.totals.texts
    }

    /// How many texts have no character but white space.
    pub fn empty_stories(&self) -> u64 {
        self.totals.empty
    }

    /// Whether the story of this record has no id of its own.
    pub(crate) fn is_numbered(&self, record: u64) -> bool {
        let run = self.numbered.partition_point(|run| run.end <= record);
        self.numbered.get(run).is_some_and(|run| run.contains(&record))
    }

    /// The columns with their full signatures and counts, as the header of a score file has them.
    pub fn columns(&self) -> Vec<Column> {
        let stories = self.score_rows.texts() as u64;
        let mut columns = Vec::with_capacity(self.present.len());
        for (part, totals) in self.metrics.parts().zip(&self.totals.metrics) {
            let signature = self.signature(&part).with_version();
            for at in part.columns {
                let (column, present) = (&self.metrics.columns()[at], self.present[at]);
                let counts = Counts {
                    present,
                    absent: stories.saturating_sub(present),
                    truncated: totals.truncated,
                    empty: self.totals.empty,
                    outside: self.outside[at],
                };
                columns.push(Column::from(column).with(|it| {
                    it.signature = Some(signature.clone());
                    it.counts = counts;
                }));
            }
        }
        columns
    }

    /// One signature per metric for the scores of all stories together: with the number of stories
    /// and how intervals were found.
    pub fn signatures(&self, resampling: &Resampling) -> Vec<Signature> {
        let items = self.score_rows.repeated_items();
        self.metrics
            .parts()
            .map(|part| {
                let signature = self.signature(&part).with("stories", "n", self.score_rows.len());
                if self.score_rows.is_summed() {
                    return signature.with("interval", "ci", "normal").with_version();
                }
                let signature = match items {
                    Some(items) => signature.with("items", "i", items),
                    None => signature,
                };
                let signature = signature.with("bootstrap", "bs", resampling.resamples);
                // A metric that draws a sample names its own seed, which may be another one.
                let signature = match signature.get("seed") {
                    Some(own) if own == resampling.seed.to_string() => signature,
                    Some(_) => signature.with("bootstrap-seed", "bseed", resampling.seed),
                    None => signature.with("seed", "rs", resampling.seed),
                };
                signature.with_version()
            })
            .collect()
    }

    /// The parameters of a metric, with what was done with the texts before it saw them.
    fn signature(&self, part: &Part<'_>) -> Signature {
        let signature = signature_of(part, self.totals.references);
        let signature = match self.totals.texts.cleaned {
            true => signature.with("clean", "cl", "yes"),
            false => signature,
        };
        match self.totals.texts.keeps_refusals {
            true => signature.with("refusals", "ref", "kept"),
            false => signature,
        }
    }

    /// How many stories are empty, were read only in part, or have no value: one sentence each.
    pub fn notes(&self) -> Vec<String> {
        let (stories, empty) = (self.score_rows.len(), self.empty_stories());
        let no_stories = (self.score_rows.texts() - stories) as u64;
        let mut notes = Vec::new();
        if empty > 0 && self.totals.texts.keeps_refusals {
            notes.push(format!("{empty} of {stories} stories have no text; they are scored too"));
        }
        let columns = self.columns();
        for columns in columns.chunk_by(|a, b| a.key.metric() == b.key.metric()) {
            let metric = columns[0].key.metric();
            // A metric reads the texts once, for all of its columns.
            let cut = columns[0].counts.truncated;
            if cut > 0 {
                notes.push(format!("{metric}: of {cut} of {stories} stories only a part was read"));
            }
            let absent = |column: &Column| column.counts.absent.saturating_sub(no_stories);
            let mut counts: Vec<u64> = columns.iter().map(absent).collect();
            counts.dedup();
            let names = match counts[..] {
                [_] => vec![(metric.to_owned(), &columns[0])],
                _ => columns.iter().map(|column| (column.key.to_string(), column)).collect(),
            };
            for (name, column) in names {
                let absent = absent(column);
                if absent > 0 {
                    notes.push(format!("{name}: {absent} of {stories} stories have no value"));
                }
            }
        }
        notes
    }
}

/// The metrics as a header names them, without what the stories decide.
pub(crate) fn metric_totals(metrics: &MetricSet) -> Vec<MetricTotals> {
    let of_part = |part: Part<'_>| {
        let description = part.metric.description();
        MetricTotals {
            key: description.key.clone(),
            signature: signature_of(&part, None),
            pooling: description.pooling,
            columns: part.columns.len(),
            width: stored_width(&part),
            needs_reference: description.needs.reference,
            truncated: 0,
        }
    };
    metrics.parts().map(of_part).collect()
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

/// The smallest and the largest number of both.
fn joined(a: Option<(usize, usize)>, b: Option<(usize, usize)>) -> Option<(usize, usize)> {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (a, b) => a.or(b),
    }
}
