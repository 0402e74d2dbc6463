//! Open models and tables, which score any number of stories: batch by batch, on all threads, in
//! bounded memory.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use storymeter_core::read::Record;
use storymeter_core::write::ScorePart;
use storymeter_core::{Absence, Catalogue, Depth, MetricError, Progress, Rationale, Resources};
use storymeter_executor::{Batch, Limit, MetricSet, Pace, in_order};

use crate::input::{Inputs, bytes_of};
use crate::learned::LEARNED;
use crate::run::Run;
use crate::summary::ScoreRows;
use crate::texts::{TextCheck, TextRules};
use crate::{Result, corpus_stats};

/// How many batches may be under way at once.
const AHEAD: usize = 4;

/// How many bytes of text they may have together. A longer text is scored alone, because what a
/// metric makes of a text takes many times its size.
const AHEAD_BYTES: usize = 32 << 20;

/// How many batches may be under way at once if a GPU scores them. With one, an H200 was busy for
/// two thirds of the time; with two, all the time; with more, waiting threads were in the way.
const AHEAD_OF_GPU: usize = 2;

/// Who explains the scores.
pub(crate) enum Explainer {
    None,
    /// One of the metrics.
    Among(Depth),
    /// A metric of its own, whose scores nobody asked for.
    Separate(MetricSet, Depth),
}

impl Explainer {
    /// The metrics themselves where one of them explains itself, or else the learned metric.
    pub(crate) fn find(
        depth: Option<Depth>,
        metrics: &MetricSet,
        catalogue: &Catalogue,
        resources: &Arc<Resources>,
    ) -> Result<Self> {
        let explains = metrics.parts().any(|part| part.metric.description().explains);
        Ok(match depth {
            Some(depth) if explains => Self::Among(depth),
            Some(depth) => {
                let metric = catalogue.build(LEARNED, resources)?;
                let set = MetricSet::from_metrics(vec![metric], Arc::clone(resources))?;
                Self::Separate(set, depth)
            }
            None => Self::None,
        })
    }
}

/// A [`Scorer`](crate::Scorer) whose models and tables are open. It can score any number of times.
///
/// [`ReadyScorer::run`] scores stories that are in memory, [`ReadyScorer::table`] those of
/// [`Inputs`], and [`ReadyScorer::write_scores`] writes the scores of files of any size.
pub struct ReadyScorer {
    pub(crate) catalogue: Catalogue,
    pub(crate) typed: Vec<String>,
    pub(crate) resources: Arc<Resources>,
    pub(crate) metrics: Arc<MetricSet>,
    pub(crate) explainer: Explainer,
    pub(crate) corpus_stats: Option<PathBuf>,
    pub(crate) row_limit: RowLimit,
    pub(crate) rules: TextRules,
}

/// How many rows are kept for intervals and comparisons.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowLimit {
    pub most_rows: usize,
    pub all: bool,
}

/// A batch of scored stories.
pub struct Scored {
    /// The stories, with the texts that were scored.
    pub records: Vec<Record>,
    /// What is known about the text of each.
    pub checks: Vec<TextCheck>,
    /// Their statistics and values.
    pub batch: Batch,
    /// One explanation per story, if they were asked for. A text that is no story has none.
    pub rationales: Vec<Option<Box<dyn Rationale>>>,
}

/// Makes the lines of scored stories, on any thread.
pub(crate) type Encode<'a> = dyn Fn(&Scored) -> Result<Option<ScorePart>> + Sync + 'a;

/// Takes scored stories and their lines, in the order of the input.
pub(crate) type Take<'a> = dyn FnMut(Scored, Option<ScorePart>) -> Result<()> + 'a;

impl ReadyScorer {
    /// How many rows are kept for intervals.
    pub(crate) fn most_rows(&self) -> usize {
        self.row_limit.most_rows
    }

    /// How deep the explanations are, if there are any.
    pub(crate) fn explains(&self) -> Option<Depth> {
        match self.explainer {
            Explainer::None => None,
            Explainer::Among(depth) | Explainer::Separate(_, depth) => Some(depth),
        }
    }

    /// The metrics.
    pub fn metrics(&self) -> &MetricSet {
        &self.metrics
    }

    /// Makes the first pass over these inputs, and writes what it gathers to the file of
    /// [`Scorer::corpus_stats`](crate::Scorer::corpus_stats), from which the metrics then take it.
    /// Nothing is done if no metric needs it any more, because the file was there.
    ///
    /// The inputs are the whole corpus, of which the stories that are scored may be a part. They
    /// must be [`Inputs::repeatable`] if they are scored as well.
    ///
    /// # Errors
    /// Returns an error if the input is bad, a metric cannot be saved, or the file cannot be
    /// written.
    pub fn gather_corpus_stats(&mut self, inputs: &Inputs, progress: &Progress) -> Result<()> {
        let Some(path) = self.corpus_stats.clone().filter(|_| self.reads_twice()) else {
            return Ok(());
        };
        let (surveyed, stories) = self.first_pass(inputs, progress)?;
        corpus_stats::write(&path, &self.metrics, &surveyed, stories)?;
        // What is read back scores the same, on this machine and on others.
        self.metrics = Arc::new(corpus_stats::read(&path, self.unsurveyed()?)?);
        Ok(())
    }

    /// The metrics that know these inputs, and the number of stories.
    fn first_pass(&self, inputs: &Inputs, progress: &Progress) -> Result<(MetricSet, u64)> {
        let survey = self.metrics.survey();
        let gather = |records: Vec<Record>| -> Result<u64> {
            let texts = records.len() as u64;
            let stories = self.rules.stories(records);
            self.metrics.check_all(&stories)?;
            survey.batch(&stories)?;
            progress.advance(texts);
            Ok(stories.len() as u64)
        };
        progress.begin("reading the corpus");
        let (mut records, mut stories) = (inputs.scored_records(progress)?, 0);
        in_batches(&mut records, AHEAD, progress, gather, |count| {
            stories += count;
            Ok(())
        })?;
        // Bad records are counted by the second pass.
        records.finish()?;
        progress.end();
        Ok((self.unsurveyed()?.surveyed(survey)?, stories))
    }

    /// Whether the input is read twice, because a metric must know the corpus first. It is not if
    /// the metrics know it from a file ([`Scorer::corpus_stats`](crate::Scorer::corpus_stats)).
    pub fn reads_twice(&self) -> bool {
        self.metrics.needs_survey()
    }

    /// The metrics once more, without what they know of a corpus. Models and tables are open in
    /// the resources, so this is cheap.
    fn unsurveyed(&self) -> Result<MetricSet> {
        Ok(MetricSet::new(&self.typed, &self.catalogue, Arc::clone(&self.resources))?)
    }

    /// The same scorer, which also explains its scores, as
    /// [`Scorer::explain`](crate::Scorer::explain) says. Models and tables are shared.
    ///
    /// # Errors
    /// Returns an error if no metric explains itself, and the learned one cannot be opened.
    pub fn explaining(&self, depth: Depth) -> Result<Self> {
        let (catalogue, resources) = (self.catalogue.clone(), Arc::clone(&self.resources));
        Ok(Self {
            explainer: Explainer::find(Some(depth), &self.metrics, &catalogue, &resources)?,
            catalogue,
            resources,
            typed: self.typed.clone(),
            metrics: Arc::clone(&self.metrics),
            corpus_stats: self.corpus_stats.clone(),
            row_limit: self.row_limit,
            rules: self.rules,
        })
    }

    /// The metrics, which know a corpus of these records if they need one.
    pub(crate) fn metrics_on(&self, records: &[Record]) -> Result<Arc<MetricSet>> {
        match self.reads_twice() {
            true => {
                let stories = self.rules.stories(records.to_vec());
                Ok(Arc::new(self.unsurveyed()?.surveyed_on(&stories)?))
            }
            false => Ok(Arc::clone(&self.metrics)),
        }
    }

    /// Scores the stories of inputs. Metrics that must know the corpus first read them twice.
    pub(crate) fn score_inputs(
        &self,
        inputs: &Inputs,
        progress: &Progress,
        encode: &Encode<'_>,
        take: &mut Take<'_>,
    ) -> Result<Run> {
        let metrics = match self.reads_twice() {
            true => Arc::new(self.first_pass(inputs, progress)?.0),
            false => Arc::clone(&self.metrics),
        };
        progress.begin("scoring");
        let mut records = inputs.scored_records(progress)?;
        let mut run = self.score_batches(&metrics, &mut records, progress, encode, take)?;
        run.was_read(&records.finish()?);
        progress.end();
        Ok(run)
    }

    /// Scores batches of stories on all threads, several at once.
    pub(crate) fn score_batches(
        &self,
        metrics: &Arc<MetricSet>,
        batches: impl Iterator<Item = Result<Vec<Record>>>,
        progress: &Progress,
        encode: &Encode<'_>,
        take: &mut Take<'_>,
    ) -> Result<Run> {
        let pace = Pace::new(progress);
        // Once there are too many rows, the workers turn them into sums.
        let condensed = AtomicBool::new(false);
        let score = |records: Vec<Record>| -> Result<(Scored, Option<ScorePart>, Run)> {
            let scored = self.scored(metrics, records, &pace)?;
            let no_stories = scored.checks.iter().filter(|check| check.no_score.is_some());
            progress.advance(no_stories.count() as u64);
            let part = encode(&scored)?;
            let mut run = Run::new(metrics, ScoreRows::new(metrics.width()), self.rules);
            run.add(&scored);
            if condensed.load(Ordering::Relaxed) {
                run.condense();
            }
            Ok((scored, part, run))
        };
        let whole = metrics.wants_batches() || self.explains().is_some();
        let ahead = match metrics.resources().settings().device.gpu() {
            _ if !whole => AHEAD,
            // A network uses all threads on one batch, so batches of it take turns.
            None => 1,
            // While the GPU reads one batch, the threads tokenise the next.
            Some(_) => AHEAD_OF_GPU,
        };
        let score_rows = ScoreRows::new(metrics.width());
        let score_rows =
            score_rows.most_rows(self.row_limit.most_rows).keeping_rows(self.row_limit.all);
        let mut run = Run::new(metrics, score_rows, self.rules);
        in_batches(batches, ahead, progress, score, |(scored, part, known)| {
            run.merge(known);
            condensed.store(run.score_rows().is_condensed(), Ordering::Relaxed);
            take(scored, part)
        })?;
        Ok(run)
    }

    /// Scores a batch, and explains its scores if that is asked for. What is no story is left out,
    /// unless it is to be scored.
    fn scored(&self, metrics: &MetricSet, mut records: Vec<Record>, pace: &Pace) -> Result<Scored> {
        let checks = self.rules.check_all(&mut records);
        let reasons: Vec<Option<Absence>> =
            checks.iter().map(|check| check.no_score.clone()).collect();
        let is_scored = |at: usize| reasons[at].is_none();
        // Records keep their places, in which those that are left out wait.
        let (stories, mut waiting): (Vec<_>, Vec<_>) =
            records.into_iter().enumerate().partition(|(at, _)| is_scored(*at));
        let stories: Vec<Record> = stories.into_iter().map(|(_, record)| record).collect();
        let (batch, rationales) = self.batch(metrics, &stories, pace)?;
        let mut rationales = rationales.into_iter();
        let rationales = match self.explains() {
            Some(_) => (0..checks.len())
                .map(|at| if is_scored(at) { rationales.next() } else { None })
                .collect(),
            None => Vec::new(),
        };
        waiting.reverse();
        let mut stories = stories.into_iter();
        let in_place = |at: usize| match waiting.pop_if(|(place, _)| *place == at) {
            Some((_, record)) => Some(record),
            None => stories.next(),
        };
        let records = (0..checks.len()).filter_map(in_place).collect();
        Ok(Scored { records, checks, batch: batch.among(&reasons), rationales })
    }

    /// The values of stories, and their explanations if these are asked for.
    fn batch(
        &self,
        metrics: &MetricSet,
        records: &[Record],
        pace: &Pace,
    ) -> Result<(Batch, Vec<Box<dyn Rationale>>)> {
        Ok(match &self.explainer {
            Explainer::None => (metrics.paced_batch(records, None, pace)?, Vec::new()),
            Explainer::Among(depth) => {
                let mut batch = metrics.paced_batch(records, Some(*depth), pace)?;
                let rationales = batch.take_explanations();
                (batch, rationales)
            }
            Explainer::Separate(set, depth) => {
                // Before time is spent on explanations that nobody will see.
                metrics.check_all(records)?;
                let mut beside = set.paced_batch(records, Some(*depth), pace)?;
                (metrics.batch(records)?, beside.take_explanations())
            }
        })
    }
}

/// Works on batches on all threads, and takes the results in their order.
fn in_batches<R: Send>(
    batches: impl Iterator<Item = Result<Vec<Record>>>,
    ahead: usize,
    progress: &Progress,
    work: impl Fn(Vec<Record>) -> Result<R> + Sync,
    mut take: impl FnMut(R) -> Result<()>,
) -> Result<()> {
    let work = |records: Result<Vec<Record>>| -> Result<R> {
        let records = records?;
        if progress.is_cancelled() {
            return Err(MetricError::Interrupted.into());
        }
        work(records)
    };
    let weight = |records: &Result<Vec<Record>>| records.as_ref().map_or(0, |it| bytes_of(it));
    let limit = Limit { items: ahead, weight: &weight, most: AHEAD_BYTES };
    in_order(batches, limit, work, |done: Result<R>| take(done?))
}
