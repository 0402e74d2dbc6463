//! Stories in, a score table out.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use storymeter_core::read::{Intake, Record};
use storymeter_core::write::{ScoreLine, ScoreLines, ScorePart};
use storymeter_core::{
    Catalogue, Depth, Device, MetricError, Place, Progress, Rationale, Resources, Row, ScoreTable,
    Story, Value,
};
use storymeter_metrics::{Batch, Limit, MetricSet, Pace, in_order};

use crate::input::{Copies, Inputs, LONGEST, ReferenceFiles, References, bytes_of, parse_with};
use crate::ledger::Ledger;
use crate::run::{Numbered, Run, Tally, learned};
use crate::unlike::Unlike;
use crate::{Error, LEARNED, Result, corpus_stats};

/// How many stories are scored together by [`ReadyScorer::run`].
const BATCH: usize = 1024;

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
    Beside(MetricSet, Depth),
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
                Self::Beside(set, depth)
            }
            None => Self::None,
        })
    }
}

/// A [`Scorer`](crate::Scorer) whose models and tables are open. It can score any number of times.
pub struct ReadyScorer {
    pub(crate) catalogue: Catalogue,
    pub(crate) typed: Vec<String>,
    pub(crate) resources: Arc<Resources>,
    pub(crate) metrics: Arc<MetricSet>,
    pub(crate) explainer: Explainer,
    pub(crate) corpus_stats: Option<PathBuf>,
    pub(crate) kept: Kept,
}

/// How many rows are kept for intervals and comparisons.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kept {
    pub most_rows: usize,
    pub all: bool,
}

/// A batch of scored stories.
pub struct Scored<'a> {
    /// The stories.
    pub records: &'a [Record],
    /// Their statistics and values.
    pub batch: &'a Batch,
    /// One explanation per story, where they were asked for.
    pub rationales: Option<&'a [Box<dyn Rationale>]>,
}

impl Scored<'_> {
    /// The lines or rows of these stories in a score file.
    ///
    /// # Errors
    /// If the format cannot hold a text ([`ScoreLines::add`]).
    pub fn part(&self, lines: &ScoreLines) -> std::io::Result<ScorePart> {
        let mut part = lines.part();
        for (at, record) in self.records.iter().enumerate() {
            let story = &record.story;
            let line = ScoreLine {
                id: &story.id,
                system: story.system.as_deref(),
                item: story.item(),
                values: self.batch.values(at),
                ratings: &story.ratings,
                explanation: self.rationales.map(|rationales| rationales[at].to_json()),
            };
            lines.add(&mut part, &line)?;
        }
        Ok(part)
    }
}

impl ReadyScorer {
    /// How many rows are kept for intervals.
    pub(crate) fn most_rows(&self) -> usize {
        self.kept.most_rows
    }

    /// How deep the explanations are, if there are any.
    pub(crate) fn explains(&self) -> Option<Depth> {
        match self.explainer {
            Explainer::None => None,
            Explainer::Among(depth) | Explainer::Beside(_, depth) => Some(depth),
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
    /// Where the input is bad, a metric cannot be saved, or the file cannot be written.
    pub fn gather_corpus_stats(
        &mut self,
        inputs: &Inputs,
        references: &ReferenceFiles,
        progress: &Progress,
    ) -> Result<()> {
        let Some(path) = self.corpus_stats.clone().filter(|_| self.reads_twice()) else {
            return Ok(());
        };
        let copies = references.put_aside()?;
        let (surveyed, stories) =
            self.first_pass::<Error>((inputs, references, &copies), progress)?;
        corpus_stats::write(&path, &self.metrics, &surveyed, stories)?;
        // What is read back scores the same, on this machine and on others.
        self.metrics = Arc::new(corpus_stats::read(&path, self.unsurveyed()?)?);
        Ok(())
    }

    /// The metrics that know these inputs, and the number of stories.
    fn first_pass<E: From<Error> + Send>(
        &self,
        from: (&Inputs, &ReferenceFiles, &Copies),
        progress: &Progress,
    ) -> Result<(MetricSet, u64), E> {
        let survey = self.metrics.survey();
        let gather = |records: &[Record]| -> Result<u64, E> {
            self.metrics.check_all(records).map_err(Error::from)?;
            survey.batch(records).map_err(Error::from)?;
            progress.advance(records.len() as u64);
            Ok(records.len() as u64)
        };
        progress.begin("reading the corpus");
        let mut stories = 0;
        // Bad records are counted by the second pass.
        each_batch(from, progress, AHEAD, gather, |count| {
            stories += count;
            Ok(())
        })?;
        let surveyed = self.unsurveyed()?.surveyed(survey).map_err(Error::from)?;
        Ok((surveyed, stories))
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

    /// Scores stories that are in memory.
    ///
    /// # Errors
    /// Where a metric fails, or a story lacks what a metric needs.
    pub fn run<I>(&self, stories: I) -> Result<ScoreTable>
    where
        I: IntoIterator,
        I::Item: Into<Story>,
    {
        let records: Vec<Record> = (0u64..)
            .zip(stories)
            .map(|(number, story)| {
                let mut story: Story = story.into();
                if story.id.is_empty() {
                    story.id = number.to_string();
                }
                Record { story, number, place: Place::file(format!("story {number}")) }
            })
            .collect();
        let metrics = match self.reads_twice() {
            true => Arc::new(self.unsurveyed()?.surveyed_on(&records)?),
            false => Arc::clone(&self.metrics),
        };
        let mut tally = Tally::new(&metrics);
        let mut values: Vec<Vec<Value>> = vec![Vec::new(); metrics.columns().len()];
        for part in records.chunks(BATCH) {
            let batch = metrics.batch(part)?;
            for story in 0..part.len() {
                for (column, value) in values.iter_mut().zip(batch.values(story)) {
                    column.push(value.clone());
                }
            }
            tally.add(&batch);
        }
        let row = |Record { story, .. }: Record| Row {
            item: story.item().to_owned(),
            id: story.id,
            system: story.system,
            ratings: story.ratings,
            ..Row::default()
        };
        let mut table = ScoreTable::new(records.into_iter().map(row).collect());
        for (column, values) in tally.columns(&metrics).into_iter().zip(values) {
            table.push(column, values);
        }
        Ok(table)
    }

    /// The same scorer, which also explains its scores, as
    /// [`Scorer::explain`](crate::Scorer::explain) says. Models and tables are shared.
    ///
    /// # Errors
    /// Where no metric explains itself, and the learned one cannot be opened.
    pub fn explaining(&self, depth: Depth) -> Result<Self> {
        Ok(Self {
            catalogue: self.catalogue.clone(),
            typed: self.typed.clone(),
            resources: Arc::clone(&self.resources),
            metrics: Arc::clone(&self.metrics),
            explainer: Explainer::find(
                Some(depth),
                &self.metrics,
                &self.catalogue,
                &self.resources,
            )?,
            corpus_stats: self.corpus_stats.clone(),
            kept: self.kept,
        })
    }

    /// Explains the scores of stories that are in memory: one explanation per story, by the
    /// metrics that explain themselves, or else by the learned metric. `progress` hears how many
    /// stories are done.
    ///
    /// ```
    /// # if !storymeter::union::HAS_EMBEDDED { return Ok(()); }
    /// use storymeter::core::Progress;
    /// let scorer = storymeter::Scorer::new().explain(storymeter::Depth::Weakest).build()?;
    /// let story = "Ken lost his kite. He looked in the barn. Ken lost his kite.";
    /// let why = scorer.rationales([story], &Progress::unwatched())?;
    /// assert!(why[0].to_json()["union"].as_f64().is_some_and(|score| score < 1.0));
    /// # Ok::<(), storymeter::Error>(())
    /// ```
    ///
    /// # Errors
    /// Where a metric fails, or a story lacks what a metric needs.
    pub fn rationales<I>(&self, stories: I, progress: &Progress) -> Result<Vec<Box<dyn Rationale>>>
    where
        I: IntoIterator,
        I::Item: Into<Story>,
    {
        let record = |(number, story): (u64, I::Item)| {
            let place = Place::file(format!("story {number}"));
            Record { story: story.into(), number, place }
        };
        let records: Vec<Record> = (0u64..).zip(stories).map(record).collect();
        let surveyed;
        let (set, depth) = match &self.explainer {
            Explainer::None => return Ok(Vec::new()),
            Explainer::Among(depth) if self.reads_twice() => {
                surveyed = self.unsurveyed()?.surveyed_on(&records)?;
                (&surveyed, *depth)
            }
            Explainer::Among(depth) => (self.metrics.as_ref(), *depth),
            Explainer::Beside(set, depth) => (set, *depth),
        };
        progress.begin("explaining");
        progress.expect(records.len() as u64);
        let pace = Pace::new(progress);
        let batch = set.paced_batch(&records, Some(depth), &pace)?;
        progress.end();
        Ok(batch.into_explanations())
    }

    /// Scores stories from files, batch by batch, in bounded memory.
    ///
    /// `work` is done on all threads, on several batches at once. What comes of it is handed to
    /// `take` in input order. `progress` hears how many stories are scored. Metrics that must know
    /// the corpus first read the input twice ([`ReadyScorer::reads_twice`]); the inputs must be
    /// [`Inputs::repeatable`] then. References are put aside where that is needed.
    ///
    /// ```
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("stories.csv");
    /// # std::fs::write(&path, "story\nRain fell.\nThe lamp went out.\n")?;
    /// use storymeter::core::Progress;
    /// use storymeter::core::read::ReadOptions;
    /// use storymeter::input::{Inputs, ReferenceFiles};
    /// use storymeter::{Error, Scorer};
    ///
    /// let scorer = Scorer::new().metrics(["text-length"]).build()?;
    /// let inputs = Inputs::new(vec![path], ReadOptions::default());
    /// let mut lengths = Vec::new();
    /// let run = scorer.over::<_, Error>(
    ///     &inputs,
    ///     &ReferenceFiles::default(),
    ///     &Progress::unwatched(),
    ///     |scored| Ok(scored.batch.values(0).to_vec()),
    ///     |values| Ok(lengths.extend(values)),
    /// )?;
    /// assert_eq!((run.ledger().len(), lengths), (2, vec![Ok(3.0)]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Where the input is bad, a record has more than 16 MiB and bad records are not skipped, a
    /// metric fails, or `work` or `take` does; and
    /// [`MetricError::Interrupted`] where the work was cancelled ([`Progress::cancel`]).
    pub fn over<R: Send, E: From<Error> + Send>(
        &self,
        inputs: &Inputs,
        references: &ReferenceFiles,
        progress: &Progress,
        work: impl Fn(Scored<'_>) -> Result<R, E> + Sync,
        mut take: impl FnMut(R) -> Result<(), E>,
    ) -> Result<Run, E> {
        let mut copies = Copies::default();
        let mut metrics = Arc::clone(&self.metrics);
        if self.reads_twice() {
            copies = references.put_aside()?;
            let (surveyed, _) = self.first_pass((inputs, references, &copies), progress)?;
            metrics = Arc::new(surveyed);
        }
        let (set, explainer) = (metrics, &self.explainer);
        let metrics = set.as_ref();
        progress.begin("scoring");
        let pace = Pace::new(progress);
        let is_learned = !learned(metrics.columns()).is_empty();
        // Once there are too many rows, the workers turn them into sums.
        let condensed = AtomicBool::new(false);
        let score = |records: &[Record]| -> Result<_, E> {
            let failed = |error| E::from(Error::from(error));
            let (batch, beside) = match explainer {
                Explainer::None => (metrics.paced_batch(records, None, &pace), None),
                Explainer::Among(depth) => {
                    (metrics.paced_batch(records, Some(*depth), &pace), None)
                }
                Explainer::Beside(set, depth) => {
                    // Before time is spent on explanations that nobody will see.
                    metrics.check_all(records).map_err(failed)?;
                    let beside = set.paced_batch(records, Some(*depth), &pace).map_err(failed)?;
                    (metrics.batch(records), Some(beside))
                }
            };
            let batch = batch.map_err(failed)?;
            let rationales = beside.as_ref().unwrap_or(&batch).explanations();
            let result = work(Scored { records, batch: &batch, rationales })?;
            let unlike = if is_learned { Unlike::of(records) } else { Unlike::default() };
            let mut ledger = Ledger::new(metrics.width());
            for (at, record) in records.iter().enumerate() {
                ledger.push(&record.story, batch.stats(at));
            }
            if condensed.load(Ordering::Relaxed) {
                ledger.condense(metrics);
            }
            let mut tally = Tally::new(metrics);
            tally.add(&batch);
            Ok((result, ledger, tally, unlike))
        };
        let whole = metrics.wants_batches() || !matches!(explainer, Explainer::None);
        let ahead = match metrics.resources().settings().device {
            _ if !whole => AHEAD,
            // A network uses all threads on one batch, so batches of it take turns.
            Device::Cpu => 1,
            // While the GPU reads one batch, the threads tokenise the next.
            Device::Cuda(_) => AHEAD_OF_GPU,
        };
        let mut ledger =
            Ledger::new(metrics.width()).most_rows(self.kept.most_rows).keeping_rows(self.kept.all);
        let mut tally = Tally::new(metrics);
        let mut unlike = Unlike::default();
        let intake = each_batch(
            (inputs, references, &copies),
            progress,
            ahead,
            score,
            |(result, part, counted, strange)| {
                ledger.append(part, metrics);
                condensed.store(ledger.is_condensed(), Ordering::Relaxed);
                tally.merge(counted);
                unlike.add(&strange);
                take(result)
            },
        )?;
        let (skipped, summary) = (intake.skipped().clone(), intake.summary());
        let numbered = Numbered::new(intake.numbered());
        Ok(Run { metrics: set, ledger, tally, numbered, unlike, skipped, summary })
    }
}

/// Reads the input batch by batch, with the references of the reference files.
fn each_batch<R: Send, E: From<Error> + Send>(
    (inputs, references, copies): (&Inputs, &ReferenceFiles, &Copies),
    progress: &Progress,
    ahead: usize,
    work: impl Fn(&[Record]) -> Result<R, E> + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<Intake, E> {
    let mut references = References::open(references, copies)?;
    let mut intake = inputs.intake();
    // Records are parsed when they are taken, and not by the workers, because ids are compared in
    // the order of the input.
    let mut batches = inputs.batches_up_to(LONGEST, progress)?;
    let mut waiting = VecDeque::new();
    let mut next = || -> Result<Option<Vec<Record>>> {
        if waiting.is_empty() {
            let Some(batch) = batches.next().transpose()? else { return Ok(None) };
            waiting.extend(batch);
        }
        let (batch, given) = references.next(&mut waiting)?;
        parse_with(batch, given, &mut intake).map(Some)
    };
    let mut failed = false;
    let batches = std::iter::from_fn(|| {
        let next = if failed { None } else { next().transpose() };
        failed = matches!(next, Some(Err(_)));
        next
    });
    let work = |records: Result<Vec<Record>>| -> Result<R, E> {
        let records = records?;
        if progress.is_cancelled() {
            return Err(Error::from(MetricError::Interrupted).into());
        }
        work(&records)
    };
    let weight = |records: &Result<Vec<Record>>| records.as_ref().map_or(0, |it| bytes_of(it));
    let limit = Limit { items: ahead, weight: &weight, most: AHEAD_BYTES };
    in_order(batches, limit, work, |done: Result<_, E>| take(done?))?;
    references.finish()?;
    progress.end();
    Ok(intake)
}
