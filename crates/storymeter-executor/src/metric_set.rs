//! A set of metrics that score batches of stories together. Each text is tokenised once, stories
//! are spread over the threads, and results keep the order of the input.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use storymeter_core::read::Record;
use storymeter_core::{
    Absence, Batching, Catalogue, Depth, Device, Metric, MetricError, Pooling, Prepared, Resources,
    Rows, ScoreColumn, Survey, TextCache, Value,
};

use crate::Pace;
use crate::batch::{Batch, spread};
use crate::rationales::Rationales;

/// A set of metrics that score stories together.
///
/// The README of `storymeter-metrics` has an example.
pub struct MetricSet {
    slots: Vec<Slot>,
    columns: Vec<ScoreColumn>,
    width: usize,
    resources: Arc<Resources>,
}

/// One metric of a [`MetricSet`].
#[derive(Clone)]
pub struct Part<'a> {
    /// The metric.
    pub metric: &'a dyn Metric,
    /// The places of its statistics in the row of a story.
    pub stats: Range<usize>,
    /// Which of [`MetricSet::columns`] are its own.
    pub columns: Range<usize>,
    /// The fingerprint of the corpus that it was given ([`MetricSet::with_corpus`]).
    pub corpus: Option<&'a str>,
}

impl Part<'_> {
    /// The scores of many stories together, one per column of this metric. Each row is that of the
    /// whole set.
    pub fn aggregate(&self, rows: &[&[f64]]) -> Vec<Value> {
        let own = rows.iter().map(|row| &row[self.stats.clone()]);
        let columns = self.columns.len();
        let mut values: Vec<Value> = vec![Err(Absence::because("there is no story")); columns];
        match self.metric.description().pooling {
            _ if rows.is_empty() => {}
            Pooling::Sum => {
                let mut sum = vec![0.0; self.stats.len()];
                own.for_each(|row| sum.iter_mut().zip(row).for_each(|(total, x)| *total += x));
                self.metric.pooled_values(&sum, &mut values);
            }
            Pooling::Mean => {
                let mut one = values.clone();
                let mut sums = vec![(0.0, 0.0); columns];
                for row in own {
                    self.metric.values(row, &mut one);
                    for ((sum, count), value) in sums.iter_mut().zip(&one) {
                        if let Ok(value) = value {
                            (*sum, *count) = (*sum + value, *count + 1.0);
                        }
                    }
                }
                for (value, (sum, count)) in values.iter_mut().zip(sums) {
                    *value = mean(sum, count);
                }
            }
        }
        values
    }
}

/// The mean of the values that are there, or the reason why there is none.
pub fn mean(sum: f64, count: f64) -> Value {
    if count > 0.0 { Ok(sum / count) } else { Err(Absence::because("no story has a value")) }
}

/// A metric, and the places of its numbers in the row and in the values of a story.
struct Slot {
    metric: Box<dyn Metric>,
    stats: Range<usize>,
    columns: Range<usize>,
    /// The fingerprint of the corpus that the metric was given.
    corpus: Option<String>,
}

impl MetricSet {
    /// Builds the metrics that were typed, in this order.
    ///
    /// # Errors
    /// Returns an error if a metric cannot be built, or two of them write the same key.
    pub fn new(
        typed: &[impl AsRef<str>],
        catalogue: &Catalogue,
        resources: Arc<Resources>,
    ) -> Result<Self, MetricError> {
        let build = |typed: &_| catalogue.build(AsRef::<str>::as_ref(typed), &resources);
        let metrics = typed.iter().map(build).collect::<Result<Vec<_>, _>>()?;
        Self::from_metrics(metrics, resources)
    }

    /// Makes a set of these metrics, in this order.
    ///
    /// # Errors
    /// Returns an error if two of them write the same key.
    pub fn from_metrics(
        metrics: Vec<Box<dyn Metric>>,
        resources: Arc<Resources>,
    ) -> Result<Self, MetricError> {
        let mut set = Self { slots: Vec::new(), columns: Vec::new(), width: 0, resources };
        for metric in metrics {
            let description = metric.description();
            for column in &description.columns {
                if let Some(at) = set.columns.iter().position(|known| known.key == column.key) {
                    let first = set.slots.iter().find(|slot| slot.columns.contains(&at));
                    let name = |slot: &Slot| slot.metric.description().key.clone();
                    return Err(MetricError::SameKey {
                        first: first.map(name).unwrap_or_default(),
                        second: description.key.clone(),
                        key: column.key.to_string(),
                    });
                }
            }
            let (stats, columns) = (set.width, set.columns.len());
            set.width += description.width;
            set.columns.extend_from_slice(&description.columns);
            let (stats, columns) = (stats..set.width, columns..set.columns.len());
            set.slots.push(Slot { metric, stats, columns, corpus: None });
        }
        Ok(set)
    }

    /// The columns of all metrics, in order.
    pub fn columns(&self) -> &[ScoreColumn] {
        &self.columns
    }

    /// The metrics in order, each with the places of its numbers.
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        self.slots.iter().map(|slot| Part {
            metric: slot.metric.as_ref(),
            stats: slot.stats.clone(),
            columns: slot.columns.clone(),
            corpus: slot.corpus.as_deref(),
        })
    }

    /// The number of statistics that are kept per story.
    pub fn width(&self) -> usize {
        self.width
    }

    /// What the metrics share.
    pub fn resources(&self) -> &Resources {
        &self.resources
    }

    /// Whether any metric wants whole batches, as networks do.
    pub fn wants_batches(&self) -> bool {
        self.slots.iter().any(|slot| slot.metric.description().batching != Batching::Single)
    }

    /// Whether a first pass over all stories must come before the scores.
    pub fn needs_survey(&self) -> bool {
        let needs = |slot: &Slot| slot.metric.description().needs.corpus && slot.corpus.is_none();
        self.slots.iter().any(needs)
    }

    /// The same metrics, of which those that need a corpus are given one instead of a first pass.
    /// `restore` makes the metric that knows it, and gives the fingerprint of the corpus.
    ///
    /// # Errors
    /// Returns an error if `restore` does.
    pub fn with_corpus<E>(
        mut self,
        mut restore: impl FnMut(&dyn Metric) -> Result<(Box<dyn Metric>, String), E>,
    ) -> Result<Self, E> {
        for slot in self.slots.iter_mut().filter(|slot| slot.metric.description().needs.corpus) {
            let (metric, fingerprint) = restore(slot.metric.as_ref())?;
            (slot.metric, slot.corpus) = (metric, Some(fingerprint));
        }
        Ok(self)
    }

    /// Starts the first pass.
    pub fn survey(&self) -> CorpusSurvey {
        CorpusSurvey { surveys: self.slots.iter().map(|slot| slot.metric.survey()).collect() }
    }

    /// Ends the first pass. The metrics that needed it now know the corpus.
    ///
    /// # Errors
    /// Returns an error if what was gathered could not be written to a temporary file or read back.
    pub fn surveyed(mut self, survey: CorpusSurvey) -> Result<Self, MetricError> {
        for (slot, survey) in self.slots.iter_mut().zip(survey.surveys) {
            if let Some(survey) = survey {
                slot.metric = survey.finish()?;
            }
        }
        Ok(self)
    }

    /// The same metrics after a first pass over these records, if any of them needs one.
    ///
    /// # Errors
    /// Returns an error if a story lacks what a metric needs, or what was gathered could not be
    /// kept.
    pub fn surveyed_on(self, records: &[Record]) -> Result<Self, MetricError> {
        if !self.needs_survey() {
            return Ok(self);
        }
        self.check_all(records)?;
        let survey = self.survey();
        survey.batch(records)?;
        self.surveyed(survey)
    }

    /// Scores a batch of stories on all threads.
    ///
    /// # Errors
    /// Returns an error if a story lacks what a metric needs, or a metric fails.
    pub fn batch(&self, records: &[Record]) -> Result<Batch, MetricError> {
        self.paced_batch(records, None, &Pace::none())
    }

    /// Scores a batch of stories, with explanations if they are asked for, and reports the stories
    /// that are done on the way.
    ///
    /// # Errors
    /// Fails as [`MetricSet::batch`] does, and if the work was cancelled ([`Progress::cancel`]).
    ///
    /// [`Progress::cancel`]: storymeter_core::Progress::cancel
    pub fn paced_batch(
        &self,
        records: &[Record],
        explain: Option<Depth>,
        pace: &Pace,
    ) -> Result<Batch, MetricError> {
        self.check_all(records)?;
        let batching = |slot: &Slot| slot.metric.description().batching;
        let portions = if self.slots.iter().any(|slot| batching(slot) == Batching::Portion) {
            portions(records, Batching::PORTION_BYTES)
        } else {
            vec![records]
        };
        let is_slow = self.wants_batches() || explain.is_some();
        let cut = is_slow && self.resources.settings().device == Device::Cpu;
        let mut whole: Option<Batch> = None;
        for mut remaining in portions {
            loop {
                let size = if cut { pace.portion(remaining.len()) } else { remaining.len() };
                let (now, later) = remaining.split_at(size);
                let begun = Instant::now();
                let part = self.run_together(now, explain, pace)?;
                if cut {
                    pace.took(now.len(), begun.elapsed());
                }
                pace.advance(now.len());
                match &mut whole {
                    Some(whole) => whole.append(part),
                    None => whole = Some(part),
                }
                remaining = later;
                if remaining.is_empty() {
                    break;
                }
            }
        }
        match whole {
            Some(whole) => Ok(whole),
            None => self.run_together(&[], explain, pace),
        }
    }

    /// Scores stories whose texts are in memory at the same time.
    fn run_together(
        &self,
        records: &[Record],
        explain: Option<Depth>,
        pace: &Pace,
    ) -> Result<Batch, MetricError> {
        let prepared = prepare(records);
        let mut explanations = Vec::new();
        // Networks come first, with all stories at once, and so do metrics that explain their
        // scores. Everything else follows story by story, so that the tokens of a story are dropped
        // before the next one needs memory.
        let mut whole: Vec<Option<Rows>> = Vec::with_capacity(self.slots.len());
        for slot in &self.slots {
            let description = slot.metric.description();
            let explains = explain.is_some() && description.explains;
            let by_story = description.batching == Batching::Single && !explains;
            if records.is_empty() || by_story {
                whole.push(None);
                continue;
            }
            pace.go_on()?;
            if let Some(depth) = explain
                && let Some(found) = slot.metric.explain(&prepared, depth, &self.resources)?
            {
                explanations.push((slot.metric.description().key.clone(), found.rationales));
                whole.push(Some(found.rows));
            } else {
                whole.push(Some(slot.metric.rows(&prepared, &self.resources)?));
            }
        }
        let truncated = whole.iter().map(|rows| rows.as_ref().map_or(0, Rows::truncated_stories));
        let mut batch = Batch {
            stats: vec![0.0; records.len() * self.width],
            values: vec![Ok(0.0); records.len() * self.columns.len()],
            width: self.width,
            columns: self.columns.len(),
            empty: records.iter().filter(|record| record.story.text.trim().is_empty()).count(),
            truncated: truncated.collect(),
            references: spread(records.iter().map(|record| record.story.references.len())),
            explanations: Rationales::per_story(explanations),
            built: Vec::new(),
        };
        let found = prepared
            .into_par_iter()
            .zip(batch.stats.par_chunks_exact_mut(self.width.max(1)))
            .zip(batch.values.par_chunks_exact_mut(self.columns.len().max(1)))
            .enumerate()
            .try_fold(
                || Found::new(self.slots.len()),
                |mut found, (at, ((story, row), values))| {
                    pace.go_on()?;
                    self.story(at, &story, &whole, row, values, &mut found)?;
                    found.drop_texts(story);
                    Ok::<_, MetricError>(found)
                },
            )
            .try_reduce(|| Found::new(self.slots.len()), |a, b| Ok(a.with(b)))?;
        batch.truncated.iter_mut().zip(&found.truncated).for_each(|(sum, more)| *sum += more);
        batch.built = found.built.into_iter().collect();
        Ok(batch)
    }

    /// Fills the row and the values of one story.
    fn story(
        &self,
        at: usize,
        story: &Prepared<'_>,
        whole: &[Option<Rows>],
        row: &mut [f64],
        values: &mut [Value],
        found: &mut Found,
    ) -> Result<(), MetricError> {
        for (number, (slot, known)) in self.slots.iter().zip(whole).enumerate() {
            let row = &mut row[slot.stats.clone()];
            match known {
                Some(rows) => row.copy_from_slice(rows.row(at)),
                None => {
                    let one = std::slice::from_ref(story);
                    let rows = slot.metric.rows(one, &self.resources)?;
                    row.copy_from_slice(rows.row(0));
                    found.truncated[number] += rows.truncated_stories();
                }
            }
            slot.metric.values(row, &mut values[slot.columns.clone()]);
        }
        Ok(())
    }

    /// The scores of many stories together, one per column, from their rows of statistics.
    pub fn aggregate(&self, rows: &[&[f64]]) -> Vec<Value> {
        self.parts().flat_map(|part| part.aggregate(rows)).collect()
    }

    /// Checks that all these stories have what every metric needs.
    ///
    /// # Errors
    /// Names the first story that lacks something.
    pub fn check_all(&self, records: &[Record]) -> Result<(), MetricError> {
        records.iter().try_for_each(|record| self.check(record))
    }

    fn check(&self, record: &Record) -> Result<(), MetricError> {
        let story = &record.story;
        for slot in &self.slots {
            let description = slot.metric.description();
            let needs = description.needs;
            let what = if needs.prompt && story.prompt.is_none() {
                "a prompt, and there is none"
            } else if needs.reference && story.references.is_empty() {
                "a reference, and there is none"
            } else if needs.reference && story.references.iter().any(|text| text.trim().is_empty())
            {
                "a reference, and one is empty"
            } else {
                continue;
            };
            return Err(MetricError::Lacks {
                place: Box::new(record.place.clone()),
                story: story.id.clone(),
                metric: description.key.clone(),
                what,
            });
        }
        Ok(())
    }
}

/// A first pass over the whole input, for the metrics that need one.
pub struct CorpusSurvey {
    surveys: Vec<Option<Box<dyn Survey>>>,
}

impl CorpusSurvey {
    /// Adds a batch of stories.
    ///
    /// # Errors
    /// Returns an error if what is gathered cannot be kept.
    pub fn batch(&self, records: &[Record]) -> Result<(), MetricError> {
        prepare(records).into_par_iter().try_for_each(|story| {
            let one = std::slice::from_ref(&story);
            self.surveys.iter().flatten().try_for_each(|survey| survey.add(one))
        })
    }
}

/// Cuts a batch into parts whose stories have at most so many bytes of text, or are one story.
fn portions(records: &[Record], most: usize) -> Vec<&[Record]> {
    let bytes = |Record { story, .. }: &Record| {
        let references: usize = story.references.iter().map(String::len).sum();
        story.text.len() + story.prompt.as_ref().map_or(0, String::len) + references
    };
    let mut portions = Vec::new();
    let (mut first, mut sum) = (0, 0);
    for (at, record) in records.iter().enumerate() {
        let more = bytes(record);
        if at > first && sum + more > most {
            portions.push(&records[first..at]);
            (first, sum) = (at, 0);
        }
        sum += more;
    }
    portions.push(&records[first..]);
    portions
}

/// Gives each story its texts. Equal texts of the batch, such as a reference that several systems
/// share, become one.
fn prepare(records: &[Record]) -> Vec<Prepared<'_>> {
    let mut known: FxHashMap<&str, Arc<TextCache<'_>>> = FxHashMap::default();
    let mut share =
        |text| Arc::clone(known.entry(text).or_insert_with(|| Arc::new(TextCache::new(text))));
    records
        .iter()
        .map(|record| Prepared::with_texts(record.number, &record.story, &mut share))
        .collect()
}

/// What one thread counted beside the scores.
struct Found {
    /// The number of times that each view was built, by name, for the texts that were dropped.
    built: BTreeMap<&'static str, u64>,
    /// The number of stories that each metric read only in part.
    truncated: Vec<u64>,
}

impl Found {
    fn new(metrics: usize) -> Self {
        Self { built: BTreeMap::new(), truncated: vec![0; metrics] }
    }

    /// Drops the texts of a story, and counts the views of those that no other story of the batch
    /// needs.
    ///
    /// The next story uses their memory while it is still in the processor's cache, and a batch
    /// never holds the views of all its texts.
    fn drop_texts(&mut self, story: Prepared<'_>) {
        for text in story.references.into_iter().chain(story.prompt).chain([story.text]) {
            let last = Arc::into_inner(text);
            let names = last.iter().flat_map(TextCache::built);
            names.for_each(|name| *self.built.entry(name).or_default() += 1);
        }
    }

    fn with(mut self, other: Self) -> Self {
        for (name, count) in other.built {
            *self.built.entry(name).or_default() += count;
        }
        self.truncated.iter_mut().zip(other.truncated).for_each(|(sum, more)| *sum += more);
        self
    }
}

#[cfg(test)]
mod tests {
    use storymeter_core::{Place, Story};

    use super::*;

    #[test]
    fn portions_follow_each_other_and_a_long_story_is_alone() {
        let record = |bytes: &usize| {
            let story = Story { text: "a".repeat(*bytes), ..Story::default() };
            Record { story, number: 0, place: Place::default() }
        };
        let records: Vec<Record> = [3, 4, 5, 40, 1, 1].iter().map(record).collect();
        let sizes: Vec<usize> = portions(&records, 10).iter().map(|part| part.len()).collect();
        assert_eq!(sizes, [2, 1, 1, 2]);
        assert_eq!(portions(&[], 10).len(), 1);
    }
}
