//! Stories in, a score table out.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use storymeter_core::read::{Intake, Record, Skipped, Summary};
use storymeter_core::{
    Catalogue, Column, Counts, Depth, Device, Entry, Metric, MetricError, Place, Precision,
    Progress, Rationale, Resources, Role, Row, ScoreTable, Settings, Signature, Story, Value,
};
use storymeter_metrics::{Batch, MetricSet, Pace, in_order};
use storymeter_union::{Kind, Location};

use crate::input::{Copies, Inputs, ReferenceFiles, References, parse_with};
use crate::ledger::{Ledger, Resampling};
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
        let explains = metrics.parts().any(|part| part.metric.description().explains);
        let explainer = match self.explain {
            Some(depth) if explains => Explainer::Among(depth),
            Some(depth) => {
                let metric = self.catalogue.build(LEARNED, &resources)?;
                let set = MetricSet::from_metrics(vec![metric], Arc::clone(&resources))?;
                Explainer::Beside(set, depth)
            }
            None => Explainer::None,
        };
        let metrics = Arc::new(metrics);
        Ok(ReadyScorer { catalogue: self.catalogue, typed, resources, metrics, explainer })
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

/// A [`Scorer`] whose models and tables are open. It can score any number of times.
pub struct ReadyScorer {
    catalogue: Catalogue,
    typed: Vec<String>,
    resources: Arc<Resources>,
    metrics: Arc<MetricSet>,
    explainer: Explainer,
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

impl ReadyScorer {
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
            let mut ledger = Ledger::new(metrics.width());
            for (at, record) in records.iter().enumerate() {
                ledger.push(&record.story, batch.stats(at));
            }
            let mut tally = Tally::new(metrics);
            tally.add(&batch);
            Ok((result, ledger, tally))
        };
        // A network uses all threads on one batch, so batches of it take turns.
        let whole = metrics.wants_batches() || !matches!(explainer, Explainer::None);
        let ahead = if whole { 1 } else { AHEAD };
        let mut ledger = Ledger::new(metrics.width());
        let mut tally = Tally::new(metrics);
        let intake = each_batch(
            (inputs, references, &copies),
            progress,
            ahead,
            score,
            |(result, part, counted)| {
                ledger.append(part);
                tally.merge(counted);
                take(result)
            },
        )?;
        let (skipped, summary) = (intake.skipped().clone(), intake.summary());
        Ok(Run { metrics: set, ledger, tally, skipped, summary })
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

/// What is counted on the way.
struct Tally {
    stories: u64,
    empty: u64,
    references: Option<(usize, usize)>,
    /// By metric: stories of which it read only a part.
    truncated: Vec<u64>,
    /// By column: stories with a value.
    present: Vec<u64>,
}

impl Tally {
    fn new(metrics: &MetricSet) -> Self {
        Self {
            stories: 0,
            empty: 0,
            references: None,
            truncated: vec![0; metrics.parts().count()],
            present: vec![0; metrics.columns().len()],
        }
    }

    fn add(&mut self, batch: &Batch) {
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

    fn merge(&mut self, later: Self) {
        self.stories += later.stories;
        self.empty += later.empty;
        self.references = joined(self.references, later.references);
        add_all(&mut self.truncated, &later.truncated);
        add_all(&mut self.present, &later.present);
    }

    /// The columns with their full signatures and counts.
    fn columns(&self, metrics: &MetricSet) -> Vec<Column> {
        let mut columns = Vec::with_capacity(metrics.columns().len());
        for (part, &truncated) in metrics.parts().zip(&self.truncated) {
            let signature = signature_of(part.metric, self.references).with_version();
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

/// The parameters of a metric, with the number of references where it needs any, without the
/// version.
pub(crate) fn signature_of(metric: &dyn Metric, references: Option<(usize, usize)>) -> Signature {
    let description = metric.description();
    let signature = description.signature.clone();
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

/// What is known after all stories were scored.
pub struct Run {
    metrics: Arc<MetricSet>,
    ledger: Ledger,
    tally: Tally,
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

    /// One signature per metric for the scores of all stories together: with the number of stories
    /// and how intervals were drawn.
    pub fn signatures(&self, resampling: &Resampling) -> Vec<Signature> {
        self.metrics
            .parts()
            .map(|part| {
                let signature = signature_of(part.metric, self.tally.references)
                    .with("stories", "n", self.ledger.len())
                    .with("bootstrap", "bs", resampling.resamples);
                let seeded = signature.get("seed").is_some();
                let signature =
                    if seeded { signature } else { signature.with("seed", "rs", resampling.seed) };
                signature.with_version()
            })
            .collect()
    }
}
