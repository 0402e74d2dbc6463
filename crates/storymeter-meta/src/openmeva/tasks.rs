//! The tasks in which metrics are compared with people.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};
use storymeter_core::read::{ERROR_CRITERION, NO_ERROR_CRITERION};
use storymeter_core::{
    Direction, Error as CoreError, Key, Ratings, Role, Row, ScoreTable, Signature,
};
use storymeter_stats::Coefficient;

use crate::analysis::{ErrorTypes, NamedErrors, RatersNeeded};
use crate::error::{Error, Result};
use crate::grid::{Names, check_numbers, file_of, find_metric, numbers};
use crate::outcome::{Absence, Outcome, written};
use crate::study::Agreement;
use crate::table::three;

/// The most generators, and the most error types, of one dataset.
const MOST_SETS: usize = 1000;

/// A rating on the criterion of an error type from which on the rater named the type. Ratings are 0
/// or 1, unless the file has only their mean.
const NAMED: f64 = 0.5;

/// The scored and rated stories of one dataset.
#[derive(Debug, Clone, Copy)]
pub struct Dataset<'a> {
    /// The name: `roc` or `wp`.
    pub name: &'a str,
    /// The stories, with their generators as systems, their ratings and the scores of metrics.
    pub scores: &'a ScoreTable,
}

/// How metrics are compared with people.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The human criterion, where there are several. Those of error types do not count.
    pub criterion: Option<String>,
    /// A story has an error type if at least so many raters name it. Where there are fewer raters,
    /// a majority of them is enough.
    pub raters_needed: usize,
    /// Metrics whose direction is another than the tables say, or that the tables do not know.
    pub directions: Vec<(String, Direction)>,
}

impl Default for Options {
    fn default() -> Self {
        let raters_needed = RatersNeeded::UNION.raters;
        Self { criterion: None, raters_needed, directions: Vec::new() }
    }
}

/// How metrics agree with people: the first two tasks of OpenMEVA.
///
/// All coefficients are signed, after metrics of which less is better were turned. Stories without
/// a score or without a rating are left out, metric by metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HumanTasks {
    /// How the numbers came about.
    pub signature: Signature,
    /// The datasets, in the order in which they were given.
    pub datasets: Vec<DatasetFacts>,
    /// Metrics that were turned, because less is better.
    pub turned: Vec<Key>,
    /// Metrics of which nobody says whether more is better. It is taken to be.
    pub undirected: Vec<Key>,
    /// Every metric over all stories of a dataset.
    pub overall: Vec<Overall>,
    /// Every metric on the stories of each error type, together with the reasonable stories.
    pub by_error_type: Vec<ByErrorType>,
    /// Every metric on the stories of each generator.
    pub inside_generators: Vec<InsideGenerators>,
    /// Every metric on every dataset.
    pub across_datasets: AcrossDatasets,
}

/// What is known about a dataset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DatasetFacts {
    /// The name.
    pub name: String,
    /// The criterion that metrics are compared with.
    pub criterion: Key,
    /// The number of stories.
    pub stories: usize,
    /// The number of stories with a human score, which is the mean of their ratings.
    pub rated: usize,
    /// The most ratings of one story.
    pub most_raters: usize,
}

/// How one metric agrees with people on one set of stories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricAgreement {
    /// The metric.
    pub metric: Key,
    /// Pearson, Spearman and Kendall.
    pub agreements: Vec<Agreement>,
}

impl MetricAgreement {
    /// The coefficient that the paper prints.
    pub fn pearson(&self) -> Option<&Agreement> {
        self.agreements.iter().find(|one| one.coefficient == Coefficient::Pearson)
    }
}

/// All stories of a dataset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Overall {
    /// The dataset.
    pub dataset: String,
    /// One entry per metric.
    pub metrics: Vec<MetricAgreement>,
}

/// A part of the stories of a dataset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StorySet {
    /// The error type or the generator.
    pub name: String,
    /// The number of stories that have the error type, or that the generator wrote.
    pub stories: usize,
    /// One entry per metric.
    pub metrics: Vec<MetricAgreement>,
}

/// The stories of a dataset by error type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ByErrorType {
    /// The dataset.
    pub dataset: String,
    /// The number of stories for which no rater names an error. They are part of every set.
    pub reasonable: usize,
    /// The number of stories of which the data do not say whether they have errors. They are part
    /// of no set.
    pub unknown: usize,
    /// The number of raters who must name an error type. A majority of fewer raters is enough.
    pub raters_needed: usize,
    /// One set per error type; a reason where the data name none.
    #[serde(with = "written")]
    pub sets: Outcome<Vec<StorySet>>,
}

/// The stories of a dataset by generator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InsideGenerators {
    /// The dataset.
    pub dataset: String,
    /// The number of stories whose generator is not known. They are part of no set.
    pub unknown: usize,
    /// One set per generator; a reason where the data name none.
    #[serde(with = "written")]
    pub sets: Outcome<Vec<StorySet>>,
}

/// Every metric on every dataset, all stories in one pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AcrossDatasets {
    /// The names of the datasets.
    pub datasets: Vec<String>,
    /// One row per metric that any dataset has.
    pub rows: Vec<AcrossRow>,
}

/// One metric on every dataset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AcrossRow {
    /// The metric.
    pub metric: Key,
    /// By dataset: Pearson, Spearman and Kendall; a reason where the dataset has no such metric.
    #[serde(with = "written::list")]
    pub cells: Vec<Outcome<Vec<Agreement>>>,
}

/// Compares the metrics of every dataset with its human scores.
///
/// # Errors
/// Returns an error if a dataset has no metric or no human criterion, or several of them and none
/// is chosen; if a name in the options is not known, two datasets have one name, or a number is
/// too large.
pub fn analyse(datasets: &[Dataset<'_>], options: &Options) -> Result<HumanTasks> {
    let mut names = HashSet::new();
    if let Some(twice) = datasets.iter().find(|dataset| !names.insert(dataset.name)) {
        return Err(Error::TwiceTheName(twice.name.to_owned()));
    }
    let directions = Directions::of(datasets, options)?;
    let mut all = Vec::with_capacity(datasets.len());
    for dataset in datasets {
        let file = file_of(dataset.scores);
        let rated = Rated::of(dataset, options, &directions);
        all.push(rated.map_err(|error| error.in_file(file.as_deref()))?);
    }
    let overall = all.iter().map(Rated::overall).collect::<Result<Vec<_>>>()?;
    let across_datasets = across(&overall);
    let with = |wanted: Direction| {
        let mut keys: Vec<Key> = Vec::new();
        for metric in all.iter().flat_map(|rated| &rated.metrics) {
            if metric.direction == wanted && !keys.contains(&metric.key) {
                keys.push(metric.key.clone());
            }
        }
        keys
    };
    Ok(HumanTasks {
        signature: Signature::new("openmeva")
            .with("datasets", "d", all.len())
            .with("stories", "n", all.iter().map(|rated| rated.facts.stories).sum::<usize>())
            .with("metrics", "m", across_datasets.rows.len())
            .with("raters", "k", options.raters_needed)
            .with_version(),
        turned: with(Direction::Lower),
        undirected: with(Direction::None),
        by_error_type: all.iter().map(Rated::by_error_type).collect::<Result<_>>()?,
        inside_generators: all.iter().map(Rated::inside_generators).collect::<Result<_>>()?,
        datasets: all.iter().map(|rated| rated.facts.clone()).collect(),
        overall,
        across_datasets,
    })
}

/// The directions that the options give to metrics.
struct Directions(BTreeMap<Key, Direction>);

impl Directions {
    fn of(datasets: &[Dataset<'_>], options: &Options) -> Result<Self> {
        let mut given = BTreeMap::new();
        for (name, direction) in &options.directions {
            let mut unknown = None;
            let mut found = false;
            for dataset in datasets {
                match find_metric(dataset.scores, name) {
                    Ok(at) => {
                        given.insert(dataset.scores.columns()[at].key.clone(), *direction);
                        found = true;
                    }
                    Err(error) => drop(unknown.get_or_insert(error)),
                }
            }
            // A metric need not be in every dataset.
            if let (false, Some(error)) = (found, unknown) {
                return Err(error);
            }
        }
        Ok(Self(given))
    }
}

/// The numbers of one dataset.
struct Rated<'a> {
    rows: &'a [Row],
    facts: DatasetFacts,
    /// NaN where nobody rated the story.
    human: Vec<f64>,
    metrics: Vec<Metric>,
    needed: RatersNeeded,
    scores: &'a ScoreTable,
}

struct Metric {
    key: Key,
    direction: Direction,
    /// Turned so that more is better; NaN where there is no score.
    values: Vec<f64>,
}

impl<'a> Rated<'a> {
    fn of(dataset: &Dataset<'a>, options: &Options, directions: &Directions) -> Result<Self> {
        let scores = dataset.scores;
        check_numbers(scores)?;
        let column = criterion(dataset, options.criterion.as_deref())?;
        let metrics = scores.of_role(Role::Metric);
        if metrics.is_empty() {
            return Err(Error::NoMetric { file: file_of(scores) });
        }
        let metric = |at: usize| {
            let column = &scores.columns()[at];
            let given = directions.0.get(&column.key).copied();
            let direction = given.unwrap_or(column.direction);
            let values = numbers(scores, at).iter().map(|value| direction.sign() * value).collect();
            Metric { key: column.key.clone(), direction, values }
        };
        let key = &scores.columns()[column].key;
        let human: Vec<f64> = numbers(scores, column);
        let raters = |row: &Row| {
            let given = row.ratings.get(key.as_str()).unwrap_or_default();
            given.iter().flatten().count()
        };
        Ok(Self {
            rows: scores.rows(),
            facts: DatasetFacts {
                name: dataset.name.to_owned(),
                criterion: key.clone(),
                stories: human.len(),
                rated: human.iter().filter(|value| !value.is_nan()).count(),
                most_raters: scores.rows().iter().map(raters).max().unwrap_or(0),
            },
            human,
            metrics: metrics.into_iter().map(metric).collect(),
            needed: RatersNeeded { raters: options.raters_needed.max(1), or_majority: true },
            scores,
        })
    }

    /// Every metric on the stories at these positions.
    fn on(&self, members: &[usize]) -> Result<Vec<MetricAgreement>> {
        let pick = |values: &[f64]| members.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        let human = pick(&self.human);
        let agreement = |metric: &Metric| {
            let values = pick(&metric.values);
            let (metric_scores, human) =
                ((&metric.key, values.as_slice()), (&self.facts.criterion, human.as_slice()));
            let agreements = three(metric_scores, human, &[])?;
            Ok(MetricAgreement { metric: metric.key.clone(), agreements })
        };
        self.metrics.iter().map(agreement).collect()
    }

    fn overall(&self) -> Result<Overall> {
        let all: Vec<usize> = (0..self.rows.len()).collect();
        Ok(Overall { dataset: self.facts.name.clone(), metrics: self.on(&all)? })
    }

    fn by_error_type(&self) -> Result<ByErrorType> {
        let mut types = Names::default();
        let (mut stories, mut named) = (Vec::new(), Vec::new());
        for (at, row) in self.rows.iter().enumerate() {
            if let Some(errors) = named_errors(&row.ratings, &mut types) {
                stories.push(at);
                named.push(errors);
            }
        }
        self.check_sets("error types", types.names.len())?;
        let is_empty = types.names.is_empty();
        let errors = ErrorTypes::of_counts(types.names, named, self.needed);
        let set = |set: crate::analysis::EvaluationSet| {
            let members: Vec<usize> = set.members.iter().map(|&at| stories[at]).collect();
            Ok(StorySet { name: set.name, stories: set.own, metrics: self.on(&members)? })
        };
        Ok(ByErrorType {
            dataset: self.facts.name.clone(),
            reasonable: errors.count_reasonable(),
            unknown: self.rows.len() - stories.len(),
            raters_needed: self.needed.raters,
            sets: match is_empty {
                true => Err(Absence::NoErrorTypes),
                false => {
                    Ok(errors.evaluation_sets().into_iter().map(set).collect::<Result<_>>()?)
                }
            },
        })
    }

    fn inside_generators(&self) -> Result<InsideGenerators> {
        let mut generators = Names::default();
        let mut members: Vec<Vec<usize>> = Vec::new();
        let mut unknown = 0;
        for (at, row) in self.rows.iter().enumerate() {
            let Some(system) = &row.system else {
                unknown += 1;
                continue;
            };
            let generator = generators.position(system);
            if generator == members.len() {
                members.push(Vec::new());
            }
            members[generator].push(at);
        }
        self.check_sets("generators", members.len())?;
        let set = |(name, members): (String, Vec<usize>)| {
            Ok(StorySet { name, stories: members.len(), metrics: self.on(&members)? })
        };
        let sets: Vec<(String, Vec<usize>)> = generators.names.into_iter().zip(members).collect();
        Ok(InsideGenerators {
            dataset: self.facts.name.clone(),
            unknown,
            sets: match sets.is_empty() {
                true => Err(Absence::NoSystems),
                false => Ok(sets.into_iter().map(set).collect::<Result<_>>()?),
            },
        })
    }

    fn check_sets(&self, what: &'static str, found: usize) -> Result<()> {
        if found > MOST_SETS {
            let (file, most) = (file_of(self.scores), MOST_SETS);
            return Err(Error::TooLarge { file, what, found, most });
        }
        Ok(())
    }
}

/// The human column that is asked for, or the only one.
fn criterion(dataset: &Dataset<'_>, wanted: Option<&str>) -> Result<usize> {
    let table = dataset.scores;
    let key = |at: &usize| table.columns()[*at].key.as_str();
    let is_score = |at: &usize| !key(at).starts_with(ERROR_CRITERION);
    let human: Vec<usize> = table.of_role(Role::Human).into_iter().filter(is_score).collect();
    match (wanted, human.as_slice()) {
        (_, []) => Err(Error::NoCriterion { file: file_of(table) }),
        (Some(name), all) => {
            let known = all.iter().map(key);
            let found = all.iter().find(|at| key(at) == name).copied();
            found.ok_or_else(|| CoreError::unknown("criterion", name, known).into())
        }
        (None, [only]) => Ok(*only),
        (None, several) => Err(Error::SeveralCriteria {
            file: file_of(table).unwrap_or_else(|| dataset.name.into()),
            criteria: several.iter().map(|at| key(at).to_owned()).collect(),
        }),
    }
}

/// What the raters of a story named; `None` where the data do not say it.
fn named_errors(ratings: &Ratings, names: &mut Names) -> Option<NamedErrors> {
    let mut found: Option<NamedErrors> = None;
    for (criterion, values) in ratings.iter() {
        let Some(name) = criterion.strip_prefix(ERROR_CRITERION) else { continue };
        let given: Vec<f64> = values.iter().copied().flatten().collect();
        if given.is_empty() {
            continue;
        }
        let errors = found.get_or_insert(NamedErrors { raters: 0, types: Vec::new() });
        errors.raters = errors.raters.max(given.len());
        if criterion != NO_ERROR_CRITERION {
            let naming = given.iter().filter(|value| **value >= NAMED).count();
            errors.types.push((names.position(name), naming));
        }
    }
    if let Some(errors) = &mut found {
        errors.types.sort_unstable();
    }
    found
}

/// The results of all datasets, metric by metric.
fn across(overall: &[Overall]) -> AcrossDatasets {
    let mut keys: Vec<&Key> = Vec::new();
    for one in overall.iter().flat_map(|one| &one.metrics) {
        if !keys.contains(&&one.metric) {
            keys.push(&one.metric);
        }
    }
    let cell = |one: &Overall, key: &Key| {
        let found = one.metrics.iter().find(|one| one.metric == *key);
        found.map(|one| one.agreements.clone()).ok_or(Absence::NoSuchMetric)
    };
    let row = |key: &Key| AcrossRow {
        metric: key.clone(),
        cells: overall.iter().map(|one| cell(one, key)).collect(),
    };
    AcrossDatasets {
        datasets: overall.iter().map(|one| one.dataset.clone()).collect(),
        rows: keys.into_iter().map(row).collect(),
    }
}
