//! Any set of metrics over batches of stories: each text tokenised once, stories in parallel, rows in input order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use storymeter_core::read::Record;
use storymeter_core::{Metric, Prepared, Survey, TextCache};

use crate::registry::{self, Options};
use crate::{Error, Result};

/// A set of metrics, ready to score.
pub struct Scorer {
    slots: Vec<Slot>,
    columns: Vec<String>,
    width: usize,
}

/// One metric of a [`Scorer`].
pub struct Part<'a> {
    /// The id its user knows it by.
    pub key: &'a str,
    /// The metric.
    pub metric: &'a dyn Metric,
    /// Where its numbers lie in a story's row.
    pub stats: Range<usize>,
    /// Which of [`Scorer::columns`] are its own.
    pub scores: Range<usize>,
}

/// One metric and where its numbers lie in a story's row and in its list of scores.
struct Slot {
    key: String,
    metric: Box<dyn Metric>,
    stats: Range<usize>,
    scores: Range<usize>,
}

impl Scorer {
    /// The metrics of these ids, in this order.
    pub fn new(ids: &[impl AsRef<str>], options: &Options) -> Result<Self> {
        let metrics = ids
            .iter()
            .map(|id| Ok((id.as_ref().to_owned(), registry::build(id.as_ref(), options)?)));
        Self::from_metrics(metrics.collect::<Result<Vec<_>>>()?)
    }

    /// These metrics, each under the key its user knows it by.
    pub fn from_metrics(metrics: Vec<(String, Box<dyn Metric>)>) -> Result<Self> {
        let mut scorer = Self { slots: Vec::new(), columns: Vec::new(), width: 0 };
        for (key, metric) in metrics {
            for column in metric.columns() {
                if let Some(at) = scorer.columns.iter().position(|known| known == column) {
                    let first = scorer.slots.iter().find(|slot| slot.scores.contains(&at));
                    return Err(Error::SameKey {
                        first: first.map(|slot| slot.key.clone()).unwrap_or_default(),
                        second: key,
                        key: column.clone(),
                    });
                }
            }
            let (stats, scores) = (scorer.width, scorer.columns.len());
            scorer.width += metric.width();
            scorer.columns.extend_from_slice(metric.columns());
            let (stats, scores) = (stats..scorer.width, scores..scorer.columns.len());
            scorer.slots.push(Slot { key, metric, stats, scores });
        }
        Ok(scorer)
    }

    /// The keys of the scores, in order.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The metrics in order, each with where its numbers are.
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        self.slots.iter().map(|slot| Part {
            key: &slot.key,
            metric: slot.metric.as_ref(),
            stats: slot.stats.clone(),
            scores: slot.scores.clone(),
        })
    }

    /// How many numbers are kept of a story.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Whether a first pass over the input must come before the scores.
    pub fn needs_survey(&self) -> bool {
        self.slots.iter().any(|slot| slot.metric.needs().corpus)
    }

    /// Starts the first pass.
    pub fn survey(&self) -> CorpusSurvey {
        CorpusSurvey { surveys: self.slots.iter().map(|slot| slot.metric.survey()).collect() }
    }

    /// The same metrics, knowing the corpus.
    pub fn surveyed(mut self, survey: CorpusSurvey) -> Result<Self> {
        for (slot, survey) in self.slots.iter_mut().zip(survey.surveys) {
            if let Some(survey) = survey {
                slot.metric = survey.finish()?;
            }
        }
        Ok(self)
    }

    /// Scores a batch of stories, in parallel.
    pub fn batch(&self, records: &[Record]) -> Result<Rows> {
        self.batch_knowing(records, |_| None)
    }

    /// Scores a batch of stories, in parallel, by metrics of which some are not asked again: `known` gives the rows of
    /// statistics that the metric of a key has found already, one story's after the other.
    pub fn batch_knowing(
        &self,
        records: &[Record],
        known: impl Fn(&str) -> Option<Vec<f64>>,
    ) -> Result<Rows> {
        self.check_all(records)?;
        let prepared = prepare(records);
        let at_once: Vec<Option<Vec<f64>>> = (self.slots.iter())
            .map(|slot| known(&slot.key).or_else(|| slot.metric.stats_of_all(&prepared)))
            .collect();
        let mut stats = vec![0.0; records.len() * self.width];
        let mut scores = vec![0.0; records.len() * self.columns.len()];
        let built = prepared
            .into_par_iter()
            .zip(stats.par_chunks_exact_mut(self.width.max(1)))
            .zip(scores.par_chunks_exact_mut(self.columns.len().max(1)))
            .enumerate()
            .fold(Built::default, |mut built, (at, ((story, row), scores))| {
                for (slot, known) in self.slots.iter().zip(&at_once) {
                    let row = &mut row[slot.stats.clone()];
                    match known {
                        Some(rows) => {
                            row.copy_from_slice(&rows[at * row.len()..(at + 1) * row.len()])
                        }
                        None => slot.metric.stats(&story, row),
                    }
                    slot.metric.score(row, &mut scores[slot.scores.clone()]);
                }
                built.let_go(story);
                built
            })
            .reduce(Built::default, Built::with);
        let empty = records.iter().filter(|record| record.story.text.trim().is_empty()).count();
        let built = built.0.into_iter().collect();
        Ok(Rows { stats, scores, width: self.width, columns: self.columns.len(), empty, built })
    }

    /// The scores of many stories together, from their rows of statistics, one a column.
    pub fn aggregate(&self, rows: &[&[f64]]) -> Vec<f64> {
        let mut scores = vec![0.0; self.columns.len()];
        for slot in &self.slots {
            let own: Vec<&[f64]> = rows.iter().map(|row| &row[slot.stats.clone()]).collect();
            slot.metric.aggregate(&own, &mut scores[slot.scores.clone()]);
        }
        scores
    }

    /// Whether all these stories have what every metric needs.
    pub fn check_all(&self, records: &[Record]) -> Result<()> {
        records.iter().try_for_each(|record| self.check(record))
    }

    /// Whether a story has what every metric needs.
    fn check(&self, record: &Record) -> Result<()> {
        let story = &record.story;
        for slot in &self.slots {
            let needs = slot.metric.needs();
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
            return Err(Error::Lacks {
                place: Box::new(record.place.clone()),
                id: story.id.clone(),
                metric: slot.key.clone(),
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
    /// Takes in a batch of stories.
    pub fn batch(&self, records: &[Record]) {
        prepare(records).into_par_iter().for_each(|story| {
            self.surveys.iter().flatten().for_each(|survey| survey.add(&story));
        });
    }
}

/// What was found out about a batch of stories.
pub struct Rows {
    stats: Vec<f64>,
    scores: Vec<f64>,
    width: usize,
    columns: usize,
    empty: usize,
    built: Vec<(&'static str, u64)>,
}

impl Rows {
    /// The sufficient statistics of the n-th story.
    pub fn stats(&self, story: usize) -> &[f64] {
        &self.stats[story * self.width..(story + 1) * self.width]
    }

    /// The scores of the n-th story, in the order of [`Scorer::columns`].
    pub fn scores(&self, story: usize) -> &[f64] {
        &self.scores[story * self.columns..(story + 1) * self.columns]
    }

    /// How many stories of the batch have no text.
    pub fn empty_stories(&self) -> usize {
        self.empty
    }

    /// How often each view was built, by name: never more often than the batch has different texts.
    pub fn views_built(&self) -> &[(&'static str, u64)] {
        &self.built
    }
}

/// Gives each story its texts; equal texts of the batch (a reference that eleven systems share) are one.
fn prepare(records: &[Record]) -> Vec<Prepared<'_>> {
    let mut known: FxHashMap<&str, Arc<TextCache<'_>>> = FxHashMap::default();
    let mut share =
        |text| Arc::clone(known.entry(text).or_insert_with(|| Arc::new(TextCache::new(text))));
    records
        .iter()
        .map(|record| Prepared::with_texts(record.number, &record.story, &mut share))
        .collect()
}

/// How often each view was built, by name, for the texts that nobody needs any more.
#[derive(Default)]
struct Built(BTreeMap<&'static str, u64>);

impl Built {
    /// Lets a story's texts go and counts the views of those that no other story of the batch waits for.
    ///
    /// Their memory serves the next story while it is still in the processor's cache, and a batch never holds the views
    /// of all its texts.
    fn let_go(&mut self, story: Prepared<'_>) {
        for text in story.references.into_iter().chain(story.prompt).chain([story.text]) {
            let last = Arc::into_inner(text);
            let names = last.iter().flat_map(TextCache::built);
            names.for_each(|name| *self.0.entry(name).or_default() += 1);
        }
    }

    fn with(mut self, other: Self) -> Self {
        other.0.into_iter().for_each(|(name, count)| *self.0.entry(name).or_default() += count);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use storymeter_core::{Place, Story};

    fn record(text: &str, reference: &str) -> Record {
        let story = Story {
            id: "a".into(),
            text: text.into(),
            references: vec![reference.into()],
            ..Story::default()
        };
        Record { story, number: 0, place: Place::file("stories.jsonl").at_line(7) }
    }

    #[test]
    fn an_empty_story_is_scored_and_counted() {
        let scorer = Scorer::new(&["text-length"], &Options::default()).expect("known metric");
        let rows =
            scorer.batch(&[record("", "x"), record("One two.", "x")]).expect("nothing is needed");
        assert_eq!(rows.empty_stories(), 1);
        assert_eq!(rows.scores(0), [0.0]);
    }

    #[test]
    fn a_metric_whose_rows_are_known_is_not_asked_again() {
        let scorer = Scorer::new(&["text-length", "compression"], &Options::default())
            .expect("known metrics");
        let mut story = record("One two.", "x");
        story.story.prompt = Some("Count.".into());
        let width = scorer.parts().next().expect("two metrics").stats.len();
        let known = |key: &str| (key == "text-length").then(|| vec![7.0; 2 * width]);
        let stories = [story.clone(), story];
        let (rows, asked) = (scorer.batch_knowing(&stories, known), scorer.batch(&stories));
        let (rows, asked) = (rows.expect("nothing lacks"), asked.expect("nothing lacks"));
        assert_eq!(rows.stats(1)[..width], vec![7.0; width]);
        assert_eq!(rows.stats(1)[width..], asked.stats(1)[width..]);
        assert_ne!(rows.stats(1)[..width], asked.stats(1)[..width]);
    }

    #[test]
    fn the_same_metric_twice_is_refused() {
        let error = Scorer::new(&["text-length", "text-length"], &Options::default())
            .err()
            .expect("refused");
        assert!(error.to_string().contains("both write the key \"text-length\""), "{error}");
    }

    #[test]
    fn equal_texts_of_a_batch_are_tokenised_once() {
        let scorer = Scorer::new(&["text-length"], &Options::default()).expect("known metric");
        let rows =
            scorer.batch(&vec![record("The same words.", "x"); 20]).expect("nothing is needed");
        assert!(
            rows.views_built().iter().all(|&(_, count)| count == 1),
            "{:?}",
            rows.views_built()
        );
    }

    #[test]
    fn a_story_without_what_a_metric_needs_is_named() {
        let scorer =
            Scorer::new(&["bleu", "compression"], &Options::default()).expect("known metrics");
        let lacks = |record| scorer.batch(&[record]).err().expect("refused").to_string();
        assert_eq!(
            lacks(record("A.", " ")),
            "stories.jsonl:7: story \"a\": metric \"bleu\" needs a reference, and one is empty"
        );
        assert_eq!(
            lacks(record("A.", "B.")),
            "stories.jsonl:7: story \"a\": metric \"compression\" needs a prompt, and there is none"
        );
    }

    /// Every metric, each id with its default preset, and what they need: no view is built twice for any text.
    #[test]
    fn all_metrics_together_build_each_view_of_each_text_once() {
        let ids: Vec<&str> =
            registry::entries().iter().flat_map(|entry| entry.ids).copied().collect();
        let scorer = Scorer::new(&ids, &Options::default()).expect("known metrics");
        let records: Vec<Record> = (0..40u64)
            .map(|number| {
                // Forty stories, four different prompts, ten different references.
                let mut record = record(
                    &format!("Story {number} went on."),
                    &format!("Reference {}.", number % 10),
                );
                record.story.prompt = Some(format!("Prompt {}.", number % 4));
                record.number = number;
                record
            })
            .collect();
        let survey = scorer.survey();
        survey.batch(&records);
        let rows = scorer
            .surveyed(survey)
            .expect("fits in memory")
            .batch(&records)
            .expect("nothing lacks");
        assert!(rows.views_built().len() > 10, "{:?}", rows.views_built());
        for &(view, count) in rows.views_built() {
            assert!(count <= 40 + 4 + 10, "{view} was built {count} times for 54 texts");
        }
        // Kept of a story: at most 1 KB.
        assert!(8 * rows.stats(0).len() <= 1024, "{} numbers a story", rows.stats(0).len());
    }
}
