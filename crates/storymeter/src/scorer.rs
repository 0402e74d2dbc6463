//! Stories in, a score table out.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use storymeter_core::read::{Intake, Record};
use storymeter_core::write::{ScoreLine, ScoreLines};
use storymeter_core::{
    Catalogue, Depth, Device, Entry, MetricError, Place, Precision, Progress, Rationale, Resources,
    Row, ScoreTable, Settings, Story, Value,
};
use storymeter_metrics::{Batch, MetricSet, Pace, in_order};
use storymeter_union::{Kind, Location};

use crate::input::{Copies, Inputs, ReferenceFiles, References, parse_with};
use crate::ledger::{Ledger, MOST_ROWS};
use crate::run::{Run, Tally, learned};
use crate::unlike::Unlike;
use crate::{Error, Result, catalogue};

/// The id of the learned metric, which scores where no other is named.
pub const LEARNED: &str = "union";

/// The id of the learned metric that predicts the ratings of readers.
pub const CRITERIA: &str = "criteria";

/// How many stories are scored together by [`Scorer::run`].
const BATCH: usize = 1024;

/// How many batches may be under way at once.
const AHEAD: usize = 4;

/// Scores stories with any set of metrics.
///
/// ```
/// let table = storymeter::Scorer::new()
///     .metrics(["text-length", "distinct-2"])
///     .run(["The rain fell.", "It fell and fell."])?;
/// assert_eq!(table.values(table.find("text-length")?), [Ok(4.0), Ok(5.0)]);
/// let signature = table.columns()[0].signature.as_ref().unwrap();
/// assert!(signature.to_string().starts_with("text-length|tok:spacy|newline:no|version:"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Scorer {
    catalogue: Catalogue,
    /// The metrics; none where the model decides.
    typed: Option<Vec<String>>,
    model: Option<PathBuf>,
    settings: Settings,
    explain: Option<Depth>,
    kept: Kept,
}

impl Default for Scorer {
    fn default() -> Self {
        Self::new()
    }
}

impl Scorer {
    /// A scorer with the embedded model of [`LEARNED`] as its only metric.
    pub fn new() -> Self {
        Self {
            catalogue: catalogue(),
            typed: None,
            model: None,
            settings: Settings::default(),
            explain: None,
            kept: Kept { most_rows: MOST_ROWS, all: false },
        }
    }

    /// The same scorer with these metrics, such as `bleu` or `rouge:hanna`.
    #[must_use]
    pub fn metrics(mut self, typed: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.typed = Some(typed.into_iter().map(Into::into).collect());
        self
    }

    /// The same scorer, which also knows a metric from outside the workspace.
    ///
    /// `examples/own_metric.rs` of this crate shows one.
    #[must_use]
    pub fn register(mut self, entry: &'static Entry) -> Self {
        self.catalogue = self.catalogue.with(entry);
        self
    }

    /// The same scorer with another model for a learned metric: a folder, a model file, or the name
    /// of an installed model. A model that was trained on ratings is for the metric [`CRITERIA`],
    /// and any other for [`LEARNED`]. If no metrics are named, the metric of the model scores.
    #[must_use]
    pub fn model(mut self, named: impl Into<PathBuf>) -> Self {
        self.model = Some(named.into());
        self
    }

    /// The same scorer with a folder of weights or tables for a metric or a model.
    #[must_use]
    pub fn weights(mut self, name: impl Into<String>, folder: impl Into<PathBuf>) -> Self {
        self.settings.weights.insert(name.into(), folder.into());
        self
    }

    /// The same scorer, computing on this device.
    #[must_use]
    pub fn device(mut self, device: Device) -> Self {
        self.settings.device = device;
        self
    }

    /// The same scorer, computing in this precision.
    #[must_use]
    pub fn precision(mut self, precision: Precision) -> Self {
        self.settings.precision = Some(precision);
        self
    }

    /// The same scorer with this seed for metrics that draw a sample.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// The same scorer, which also explains its scores. Where no metric explains itself, the
    /// learned one does, without adding a column.
    #[must_use]
    pub fn explain(mut self, depth: Depth) -> Self {
        self.explain = Some(depth);
        self
    }

    /// The same scorer, which keeps the rows of at most so many stories, instead of
    /// [`MOST_ROWS`]. With more stories, it keeps exact sums, and intervals are normal ones.
    #[must_use]
    pub fn most_rows(mut self, most: usize) -> Self {
        self.kept.most_rows = most;
        self
    }

    /// The same scorer, which keeps all rows, however many stories there are, because systems will
    /// be compared ([`Ledger::against`]).
    #[must_use]
    pub fn keeping_rows(mut self, all: bool) -> Self {
        self.kept.all = all;
        self
    }

    /// Opens models and tables, and gets ready to score.
    ///
    /// # Errors
    /// Where a metric is unknown or cannot be built.
    pub fn build(mut self) -> Result<ReadyScorer> {
        let metric_of_model = self.model.as_deref().map_or(LEARNED, metric_of);
        if let Some(model) = self.model {
            self.settings.weights.insert(metric_of_model.to_owned(), model);
        }
        let typed = self.typed.unwrap_or_else(|| vec![metric_of_model.to_owned()]);
        let resources = Arc::new(Resources::new(self.settings));
        let metrics = MetricSet::new(&typed, &self.catalogue, Arc::clone(&resources))?;
        let explainer = Explainer::find(self.explain, &metrics, &self.catalogue, &resources)?;
        let metrics = Arc::new(metrics);
        let (catalogue, kept) = (self.catalogue, self.kept);
        Ok(ReadyScorer { catalogue, typed, resources, metrics, explainer, kept })
    }

    /// Scores stories that are in memory.
    ///
    /// A story is anything that becomes a [`Story`], such as a text. Stories without an id get
    /// their number.
    ///
    /// # Errors
    /// Where a metric is unknown, cannot be built or fails, or a story lacks what a metric needs.
    pub fn run<I>(self, stories: I) -> Result<ScoreTable>
    where
        I: IntoIterator,
        I::Item: Into<Story>,
    {
        self.build()?.run(stories)
    }
}

/// The id of the metric that a model is for, as a user named the model. A model that cannot be read
/// is taken for one of [`LEARNED`], which reports what is wrong with it when it is opened.
pub fn metric_of(model: &Path) -> &'static str {
    let kind = model.to_str().map_or_else(
        || Location::Path(model.to_owned()).kind(),
        |typed| Location::find(typed)?.kind(),
    );
    if matches!(kind, Ok(Kind::Criteria)) { CRITERIA } else { LEARNED }
}

/// Who explains the scores.
enum Explainer {
    None,
    /// One of the metrics.
    Among(Depth),
    /// A metric of its own, whose scores nobody asked for.
    Beside(MetricSet, Depth),
}

impl Explainer {
    /// The metrics themselves where one of them explains itself, or else the learned metric.
    fn find(
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

/// A [`Scorer`] whose models and tables are open. It can score any number of times.
pub struct ReadyScorer {
    catalogue: Catalogue,
    typed: Vec<String>,
    resources: Arc<Resources>,
    metrics: Arc<MetricSet>,
    explainer: Explainer,
    kept: Kept,
}

/// How many rows are kept for intervals and comparisons.
#[derive(Debug, Clone, Copy)]
struct Kept {
    most_rows: usize,
    all: bool,
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
    /// The lines of these stories in a score file.
    ///
    /// # Errors
    /// If the layout cannot hold a text.
    pub fn lines(&self, lines: &ScoreLines) -> std::io::Result<Vec<u8>> {
        let mut out = Vec::new();
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
            lines.line(&mut out, &line)?;
        }
        Ok(out)
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

    /// Whether the input is read twice, because a metric must know the corpus first.
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
            line: None,
        };
        let mut table = ScoreTable::new(records.into_iter().map(row).collect());
        for (column, values) in tally.columns(&metrics).into_iter().zip(values) {
            table.push(column, values);
        }
        Ok(table)
    }

    /// The same scorer, which also explains its scores, as [`Scorer::explain`] says. Models and
    /// tables stay open and are shared.
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
    /// Where the input is bad, a metric fails, or `work` or `take` does; and
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
            let survey = metrics.survey();
            let gather = |records: &[Record]| -> Result<(), E> {
                metrics.check_all(records).map_err(Error::from)?;
                survey.batch(records).map_err(Error::from)?;
                progress.advance(records.len() as u64);
                Ok(())
            };
            // Bad records are counted by the second pass.
            let from = (inputs, references, &copies);
            progress.begin("reading the corpus");
            each_batch(from, progress, AHEAD, gather, |()| Ok(()))?;
            metrics = Arc::new(self.unsurveyed()?.surveyed(survey).map_err(Error::from)?);
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
        // A network uses all threads on one batch, so batches of it take turns.
        let whole = metrics.wants_batches() || !matches!(explainer, Explainer::None);
        let ahead = if whole { 1 } else { AHEAD };
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
        let numbered = intake.numbered();
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
    let batches = inputs.batches(progress)?.map(|batch| -> Result<Vec<Record>> {
        let batch = batch?;
        let given = references.next(&batch)?;
        parse_with(batch, given, &mut intake)
    });
    let work = |records: Result<Vec<Record>>| -> Result<R, E> {
        let records = records?;
        if progress.is_cancelled() {
            return Err(Error::from(MetricError::Interrupted).into());
        }
        work(&records)
    };
    in_order(batches, ahead, work, |done: Result<_, E>| take(done?))?;
    references.finish()?;
    progress.end();
    Ok(intake)
}
