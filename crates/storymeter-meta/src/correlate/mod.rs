//! Scores from files beside human judgments from a file: how well each agrees, and whether one
//! agrees better than another.
//!
//! ```
//! # let dir = tempfile::tempdir()?;
//! # let (human, scores) = (dir.path().join("human.jsonl"), dir.path().join("scores.txt"));
//! # let line = |i| format!("{{\"id\": {i}, \"human\": {{\"fun\": {}}}}}\n", i * i % 7);
//! # std::fs::write(&human, (0..6).map(line).collect::<String>())?;
//! # std::fs::write(&scores, "1\n2\n5\n2\n3\n4\n")?;
//! use storymeter_core::{Catalogue, Progress};
//! use storymeter_meta::correlate::{Judgments, Source, correlate};
//! use storymeter_meta::Settings;
//!
//! let catalogue = Catalogue::default();
//! let judgments = Judgments::read(&human, None, &catalogue)?;
//! let sources = [Source { name: "mine".into(), file: scores, metric: None }];
//! let unseen = Progress::unwatched();
//! let result = correlate(&judgments, &sources, &catalogue, &Settings::default(), &unseen)?;
//! assert_eq!(result.rows[0].agreements[0].n, 6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod input;
mod output;

use std::path::{Path, PathBuf};

use storymeter_core::{
    Catalogue, Direction, Error as CoreError, Key, Progress, Role, ScoreTable, Signature, file,
};
use storymeter_stats::{Coefficient, Correction};

use crate::analysis::{Settings, agreement_of, associate, compare_columns, with_interval};
use crate::error::{Error, Result};
use crate::grid::{Names, check_numbers, find_metric, numbers};
use crate::level::Level;
use crate::study::{Agreement, Comparison, Edition, IntervalMethod, Side, Sides, Test, Turn};
use crate::systems::verdict::ColumnTrust;

/// A file of scores, and which of its metrics to take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The name that the result goes by.
    pub name: String,
    /// The file: one number per line in the order of the judgments, or a score file joined by
    /// system and id.
    pub file: PathBuf,
    /// The metric, where the file has several.
    pub metric: Option<String>,
}

/// Scores in memory, one per judged story and in the same order.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbers {
    /// The name that the result goes by.
    pub name: String,
    /// The column that they come from, where they are of a score table.
    pub metric: Option<Key>,
    /// Whether more is better. Where that is not known, the size of a correlation counts in tests.
    pub direction: Direction,
    /// The scores; `None` where one is absent.
    pub scores: Vec<Option<f64>>,
}

/// One human score per story.
#[derive(Debug, Clone)]
pub struct Judgments {
    /// The file; empty for judgments in memory.
    file: PathBuf,
    criterion: Key,
    /// The judged stories: ids, systems and lines.
    stories: ScoreTable,
    /// NaN where nobody rated the story on the criterion.
    values: Vec<f64>,
    /// By story: a number of its item; empty where items are not known.
    items: Vec<usize>,
}

/// How several scores agree with human judgments.
#[derive(Debug, Clone, PartialEq)]
pub struct Correlated {
    /// The criterion.
    pub criterion: Key,
    /// The file of the judgments; `None` if they were in memory.
    pub file: Option<PathBuf>,
    /// One row per source.
    pub rows: Vec<Row>,
    /// Tests between every two sources, with every coefficient.
    pub tests: Vec<PairTest>,
    /// Which test was used.
    pub test: Test,
    /// Whether its p-values are two-sided.
    pub sides: Sides,
    /// How p-values of tests are corrected for their number, coefficient by coefficient.
    pub correction: Correction,
    /// How intervals were computed.
    pub interval: IntervalMethod,
    /// The confidence of the intervals.
    pub confidence: f64,
}

/// How one source agrees with the judgments.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The name of the source.
    pub name: String,
    /// The column of the score file, where it is one.
    pub metric: Option<Key>,
    /// How its correlations count beside those of other sources.
    pub turn: Turn,
    /// How far the column can be trusted for its stories, if the score file says so.
    pub trust: Option<ColumnTrust>,
    /// Pearson, Spearman and Kendall.
    pub agreements: Vec<Agreement>,
    /// The number of stories with a human score and without a score.
    pub without_score: usize,
    /// The number of scores for stories without a human score.
    pub without_human: usize,
    /// How the numbers came about.
    pub signature: Signature,
}

/// A test whether one source agrees better with the judgments than another.
#[derive(Debug, Clone, PartialEq)]
pub struct PairTest {
    /// The name of the first source.
    pub first: String,
    /// The name of the second source.
    pub second: String,
    /// The coefficient that is compared.
    pub coefficient: Coefficient,
    /// The test, on correlations that are turned by the direction of each source.
    pub comparison: Comparison,
}

impl PairTest {
    /// The name of the source with the higher correlation, where one is higher.
    pub fn stronger(&self) -> Option<&str> {
        self.comparison.stronger.map(|side| match side {
            Side::First => self.first.as_str(),
            Side::Second => self.second.as_str(),
        })
    }
}

impl Judgments {
    /// Reads ratings and takes their mean, story by story.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or has no ratings, if there are several
    /// criteria and none is named ([`Error::SeveralCriteria`]), or if the criterion is not
    /// known.
    pub fn read(file: &Path, criterion: Option<&str>, catalogue: &Catalogue) -> Result<Self> {
        let table = input::judgments(file, catalogue)?;
        Self::of_table(&table, file, criterion)
    }

    /// Takes judgments that are in memory; `None` where nobody rated the story.
    ///
    /// ```
    /// use storymeter_core::{Direction, Progress};
    /// use storymeter_meta::Settings;
    /// use storymeter_meta::correlate::{Judgments, Numbers, correlate_numbers};
    ///
    /// let human = Judgments::given("fun", [Some(1.0), Some(3.0), None, Some(2.0), Some(5.0)]);
    /// let scores = vec![Some(0.2), Some(0.5), Some(0.9), None, Some(0.7)];
    /// let direction = Direction::Higher;
    /// let scores = Numbers { name: "mine".into(), metric: None, direction, scores };
    /// let unseen = Progress::unwatched();
    /// let result = correlate_numbers(&human, &[scores], &Settings::default(), &unseen)?;
    /// let row = &result.rows[0];
    /// assert_eq!((row.agreements[0].n, row.without_score, row.without_human), (3, 1, 1));
    /// # Ok::<(), storymeter_meta::Error>(())
    /// ```
    pub fn given(criterion: impl Into<Key>, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        Self {
            file: PathBuf::new(),
            criterion: criterion.into(),
            stories: ScoreTable::default(),
            values: values.into_iter().map(marked).collect(),
            items: Vec::new(),
        }
    }

    /// The same judgments, of which the item of each story is known, as a number. Where several
    /// stories are of one item, p-values and intervals resample whole items.
    #[must_use]
    pub fn with_items(mut self, items: Vec<usize>) -> Self {
        self.items = items;
        self
    }

    /// The file, if the judgments were read from one.
    fn file(&self) -> Option<&Path> {
        Some(self.file.as_path()).filter(|file| !file.as_os_str().is_empty())
    }

    /// Takes the judgments of a table.
    ///
    /// # Errors
    /// As [`Judgments::read`].
    pub fn of_table(table: &ScoreTable, file: &Path, criterion: Option<&str>) -> Result<Self> {
        check_numbers(table)?;
        let human = table.of_role(Role::Human);
        let key = |at: usize| &table.columns()[at].key;
        let column = match (criterion, human.as_slice()) {
            (_, []) => return Err(Error::NoCriterion { file: Some(file.to_owned()) }),
            (Some(name), all) => {
                let found = all.iter().copied().find(|&at| key(at).as_str() == name);
                let known = all.iter().map(|&at| key(at).as_str());
                found.ok_or_else(|| {
                    Error::from(CoreError::unknown("criterion", name, known)).in_file(Some(file))
                })?
            }
            (None, [only]) => *only,
            (None, several) => {
                let criteria = several.iter().map(|&at| key(at).to_string()).collect();
                return Err(Error::SeveralCriteria { file: file.to_owned(), criteria });
            }
        };
        let mut names = Names::default();
        Ok(Self {
            items: table.rows().iter().map(|row| names.position(&row.item)).collect(),
            file: file.to_owned(),
            criterion: key(column).clone(),
            values: numbers(table, column),
            stories: ScoreTable::new(table.rows().to_vec()),
        })
    }
}

/// The scores of a source, one per judged story.
struct Joined {
    name: String,
    file: Option<PathBuf>,
    scores: Vec<f64>,
    without_human: usize,
    metric: Option<Key>,
    direction: Direction,
    trust: Option<ColumnTrust>,
}

impl Joined {
    fn turn(&self) -> Turn {
        Turn::new(self.direction, Edition::Corrected)
    }
}

/// Correlates every source with the judgments, and tests every two sources against each other.
/// `progress` hears how far that has come.
///
/// # Errors
/// Returns an error if a file cannot be read or joined, two sources have the same name, or two are
/// one pipe.
pub fn correlate(
    judgments: &Judgments,
    sources: &[Source],
    catalogue: &Catalogue,
    settings: &Settings,
    progress: &Progress,
) -> Result<Correlated> {
    check_names(sources.iter().map(|source| &source.name))?;
    settings.check()?;
    let files = sources.iter().map(|source| source.file.as_path());
    file::named_once(&[judgments.file.as_path()].into_iter().chain(files).collect::<Vec<_>>())?;
    let join = |source: &Source| {
        judgments.join(source, catalogue).map_err(|error| error.in_file(Some(&source.file)))
    };
    let joined = sources.iter().map(join).collect::<Result<Vec<_>>>()?;
    judgments.correlated(&joined, settings, progress)
}

/// Correlates scores in memory with the judgments, as [`correlate`] does with files.
///
/// # Errors
/// Returns an error if there is not one score per judgment, or two lists of scores have the same
/// name.
pub fn correlate_numbers(
    judgments: &Judgments,
    scores: &[Numbers],
    settings: &Settings,
    progress: &Progress,
) -> Result<Correlated> {
    check_names(scores.iter().map(|numbers| &numbers.name))?;
    settings.check()?;
    let join = |numbers: &Numbers| {
        let (found, expected) = (numbers.scores.len(), judgments.values.len());
        if found != expected {
            return Err(Error::UnequalNumbers { name: numbers.name.clone(), found, expected });
        }
        let scores: Vec<f64> = numbers.scores.iter().copied().map(marked).collect();
        Ok(Joined {
            name: numbers.name.clone(),
            file: None,
            without_human: judgments.missing_for(&scores),
            scores,
            metric: numbers.metric.clone(),
            direction: numbers.direction,
            trust: None,
        })
    };
    let joined = scores.iter().map(join).collect::<Result<Vec<_>>>()?;
    judgments.correlated(&joined, settings, progress)
}

/// The statistics mark what is absent by NaN.
fn marked(value: Option<f64>) -> f64 {
    value.unwrap_or(f64::NAN)
}

/// Refuses two sources of one name.
fn check_names<'a>(names: impl Iterator<Item = &'a String>) -> Result<()> {
    let mut seen = std::collections::HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(Error::TwiceTheName(name.clone()));
        }
    }
    Ok(())
}

impl Judgments {
    fn correlated(
        &self,
        joined: &[Joined],
        settings: &Settings,
        progress: &Progress,
    ) -> Result<Correlated> {
        let row = |joined: &Joined| {
            let row = self.row(joined, settings);
            row.map_err(|error| error.in_file(joined.file.as_deref()))
        };
        let rows = joined.iter().map(row).collect::<Result<_>>()?;
        let columns: Vec<&[f64]> = joined.iter().map(|one| one.scores.as_slice()).collect();
        let turns: Vec<Turn> = joined.iter().map(Joined::turn).collect();
        let mut tests = Vec::new();
        for coefficient in Coefficient::ALL {
            let settings = Settings { coefficient, ..*settings };
            let mut comparisons =
                compare_columns(&self.values, &columns, &turns, &settings, progress)
                    .map_err(|error| error.in_file(self.file()))?
                    .into_iter();
            for later in 1..joined.len() {
                for earlier in 0..later {
                    let Some(comparison) = comparisons.next() else { break };
                    let (first, second) =
                        (joined[earlier].name.clone(), joined[later].name.clone());
                    tests.push(PairTest { first, second, coefficient, comparison });
                }
            }
        }
        Ok(Correlated {
            criterion: self.criterion.clone(),
            file: self.file().map(Path::to_owned),
            rows,
            tests,
            test: settings.test,
            sides: settings.sides,
            correction: settings.correction,
            interval: settings.interval,
            confidence: settings.confidence,
        })
    }

    /// How many of these scores, which are joined by order, belong to a story that nobody rated.
    fn missing_for(&self, scores: &[f64]) -> usize {
        let missing = |(score, human): &(&f64, &f64)| !score.is_nan() && human.is_nan();
        scores.iter().zip(&self.values).filter(missing).count()
    }

    fn row(&self, joined: &Joined, settings: &Settings) -> Result<Row> {
        let key = Key::new(joined.name.as_str());
        let one = |coefficient: Coefficient| -> Result<Agreement> {
            let found = associate(coefficient, &joined.scores, &self.values)?;
            let pair = (self.values.as_slice(), joined.scores.as_slice());
            let found = with_interval(found, coefficient, pair, &self.items, settings)?;
            Ok(agreement_of(found, &key, &self.criterion, Level::Pooled, coefficient))
        };
        let agreements = Coefficient::ALL.into_iter().map(one).collect::<Result<Vec<_>>>()?;
        let missing = |(score, human): &(&f64, &f64)| score.is_nan() && !human.is_nan();
        let signature = Signature::new("correlate").with("criterion", "c", &self.criterion);
        let signature = match &joined.metric {
            Some(metric) => signature.with("metric", "m", metric),
            None => signature,
        };
        Ok(Row {
            name: joined.name.clone(),
            metric: joined.metric.clone(),
            turn: joined.turn(),
            trust: joined.trust.clone(),
            without_score: joined.scores.iter().zip(&self.values).filter(missing).count(),
            without_human: joined.without_human,
            signature: match agreements.iter().find_map(|one| one.value.as_ref().ok()?.items) {
                Some(items) => signature.with("n", "n", agreements[0].n).with("items", "i", items),
                None => signature.with("n", "n", agreements[0].n),
            }
            .with_version(),
            agreements,
        })
    }

    /// Reads a source: score files are joined by system and id, numbers by order.
    fn join(&self, source: &Source, catalogue: &Catalogue) -> Result<Joined> {
        match input::scores(&source.file, catalogue)? {
            input::Scores::Numbers(values) if values.len() == self.values.len() => Ok(Joined {
                name: source.name.clone(),
                file: Some(source.file.clone()),
                without_human: self.missing_for(&values),
                scores: values,
                metric: None,
                direction: Direction::None,
                trust: None,
            }),
            input::Scores::Numbers(values) => Err(Error::UnequalLengths {
                file: source.file.clone(),
                found: values.len(),
                other: self.file.clone(),
                expected: self.values.len(),
            }),
            input::Scores::Table(table) => self.by_system_and_id(source, &table),
        }
    }

    fn by_system_and_id(&self, source: &Source, table: &ScoreTable) -> Result<Joined> {
        let column = pick_metric(table, source)?;
        check_numbers(table)?;
        let matches = self.stories.matches(table)?;
        let mut scores = vec![f64::NAN; self.values.len()];
        let mut strangers = 0;
        for (story, value) in matches.into_iter().zip(numbers(table, column)) {
            match story {
                Some(story) => scores[story] = value,
                None => strangers += 1,
            }
        }
        if strangers == table.rows().len() {
            let (file, other) = (source.file.clone(), self.file.clone());
            return Err(Error::NothingShared { file, other });
        }
        let column = &table.columns()[column];
        Ok(Joined {
            name: source.name.clone(),
            file: Some(source.file.clone()),
            scores,
            without_human: strangers,
            metric: Some(column.key.clone()),
            direction: column.direction,
            trust: ColumnTrust::of_column(column),
        })
    }
}

/// The metric that a source names; otherwise the only one, or the one that the result is named
/// after.
fn pick_metric(table: &ScoreTable, source: &Source) -> Result<usize> {
    if let Some(metric) = &source.metric {
        return find_metric(table, metric);
    }
    let metrics = table.of_role(Role::Metric);
    match metrics.as_slice() {
        [] => Err(Error::NoMetric { file: Some(source.file.clone()) }),
        [only] => Ok(*only),
        several => find_metric(table, &source.name).map_err(|_| Error::SeveralMetrics {
            file: source.file.clone(),
            metrics: several.iter().map(|&at| table.columns()[at].key.to_string()).collect(),
        }),
    }
}
