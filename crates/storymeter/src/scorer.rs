//! What is to be scored, and how: metrics, models, device, precision.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use storymeter_core::{
    Catalogue, Depth, Device, Entry, Precision, Resources, ScoreTable, Settings, Story,
};
use storymeter_executor::MetricSet;
use storymeter_union::{Kind, Location};

use crate::learned::{CRITERIA, LEARNED};
use crate::ready::{Explainer, ReadyScorer, RowLimit};
use crate::summary::MOST_ROWS;
use crate::texts::TextRules;
use crate::{Error, Result, catalogue, corpus_stats};

/// Scores stories with any set of metrics.
///
/// ```
/// let table = storymeter::Scorer::new()
///     .metrics(["text-length", "distinct-2"])
///     .run(["The rain fell.", "It fell and fell."])?;
/// assert_eq!(table.column("text-length")?.values(), [Ok(4.0), Ok(5.0)]);
/// let signature = table.column("text-length")?.signature.clone().unwrap();
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
    corpus_stats: Option<PathBuf>,
    row_limit: RowLimit,
    rules: TextRules,
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
            corpus_stats: None,
            row_limit: RowLimit { most_rows: MOST_ROWS, all: false },
            rules: TextRules::default(),
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
    /// learned one does, without adding a column. The explanations are in the rows of the table
    /// ([`Row::explanation`](storymeter_core::Row::explanation)) and of score files.
    #[must_use]
    pub fn explain(mut self, depth: Depth) -> Self {
        self.explain = Some(depth);
        self
    }

    /// The same scorer, whose metrics take what they must know about the corpus from this file
    /// instead of from a first pass over the stories that are scored. If there is no such file yet,
    /// [`ReadyScorer::gather_corpus_stats`] writes it.
    #[must_use]
    pub fn corpus_stats(mut self, file: impl Into<PathBuf>) -> Self {
        self.corpus_stats = Some(file.into());
        self
    }

    /// The same scorer, which keeps the rows of at most so many stories, instead of
    /// [`MOST_ROWS`]. With more stories, it keeps exact sums, and intervals are normal ones.
    #[must_use]
    pub fn most_rows(mut self, most: usize) -> Self {
        self.row_limit.most_rows = most;
        self
    }

    /// The same scorer, which keeps all rows, however many stories there are, because systems will
    /// be compared ([`ScoreRows::against`](crate::summary::ScoreRows::against)).
    #[must_use]
    pub fn keeping_rows(mut self, all: bool) -> Self {
        self.row_limit.all = all;
        self
    }

    /// The same scorer, which removes what surrounds a story before it is scored: words to the
    /// user, Markdown, the prompt once more, tokens that end a text. Signatures then say
    /// `clean:yes`.
    ///
    /// ```
    /// let story = "Mira lost her kite in the storm. She looked in the barn and on the roof. Her \
    ///     brother found it in the end, and they went home.";
    /// let plain = storymeter::Scorer::new().metrics(["text-length"]).run([story])?;
    /// let table = storymeter::Scorer::new().metrics(["text-length"]).clean(true).run([story])?;
    /// assert_eq!(table.values(0), plain.values(0));
    /// let signature = table.column("text-length")?.signature.clone().unwrap();
    /// assert_eq!(signature.get("clean"), Some("yes"));
    /// # Ok::<(), storymeter::Error>(())
    /// ```
    #[must_use]
    pub fn clean(mut self, clean: bool) -> Self {
        self.rules.clean = clean;
        self
    }

    /// The same scorer, which also scores texts that are no stories: refusals, and texts without a
    /// letter or a digit. Without this, they have no score, and no mean, interval or first pass
    /// knows of them. Signatures then say `refusals:kept`.
    ///
    /// ```
    /// let scorer = || storymeter::Scorer::new().metrics(["text-length"]);
    /// let table = scorer().run(["Rain fell.", "..."])?;
    /// let reason = table.column("text-length")?.values()[1].clone().unwrap_err();
    /// assert_eq!(reason.to_string(), "the text is empty");
    /// let table = scorer().keep_refusals(true).run(["Rain fell.", "..."])?;
    /// assert!(table.column("text-length")?.values()[1].is_ok());
    /// # Ok::<(), storymeter::Error>(())
    /// ```
    #[must_use]
    pub fn keep_refusals(mut self, keep: bool) -> Self {
        self.rules.keep_refusals = keep;
        self
    }

    /// Opens models and tables, and gets ready to score.
    ///
    /// # Errors
    /// Returns an error if a metric is unknown or cannot be built, or corpus statistics are not
    /// those of the metrics.
    pub fn build(mut self) -> Result<ReadyScorer> {
        let metric_of_model = self.model.as_deref().map_or(LEARNED, metric_of);
        if let Some(model) = self.model {
            self.settings.weights.insert(metric_of_model.to_owned(), model);
        }
        let typed = self.typed.unwrap_or_else(|| vec![metric_of_model.to_owned()]);
        let resources = Arc::new(Resources::new(self.settings));
        let metrics = MetricSet::new(&typed, &self.catalogue, Arc::clone(&resources))?;
        let explainer = Explainer::find(self.explain, &metrics, &self.catalogue, &resources)?;
        let metrics = match &self.corpus_stats {
            Some(path) if !metrics.needs_survey() => {
                return Err(Error::CorpusStatsUnused { file: path.display().to_string() });
            }
            Some(path) if path.exists() => corpus_stats::read(path, metrics)?,
            _ => metrics,
        };
        Ok(ReadyScorer {
            catalogue: self.catalogue,
            typed,
            resources,
            metrics: Arc::new(metrics),
            explainer,
            corpus_stats: self.corpus_stats,
            row_limit: self.row_limit,
            rules: self.rules,
        })
    }

    /// Scores stories that are in memory.
    ///
    /// A story is anything that becomes a [`Story`], such as a text. Stories without an id get
    /// their number.
    ///
    /// # Errors
    /// Returns an error if a metric is unknown, cannot be built or fails, or a story lacks what a
    /// metric needs.
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
