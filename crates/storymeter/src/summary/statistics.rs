//! Scores of systems with intervals, and one system against the others.
//!
//! This only turns rows into the terms that the engine of `storymeter-stats` works on: rows where a
//! metric pools rows, and values where it averages values.

use std::collections::{HashMap, HashSet};

use storymeter_core::{Absence, Pooling, Progress, ScoreColumn, Value};
use storymeter_executor::{MetricSet, Part};
use storymeter_meta::study::{PValue, Sides};
use storymeter_meta::systems::compare_two;
use storymeter_stats::{
    Correction, Difference, Interval, Pairing, Sample, SampleComparison, Score, score_intervals,
};

pub use storymeter_stats::Resampling;

use super::ScoreRows;

/// The scores of some stories together.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The system; `None` for all stories.
    pub system: Option<String>,
    /// How many stories there are.
    pub stories: usize,
    /// How many items they were written for, where several stories are of one item. Then whole
    /// items were resampled for the intervals, because stories of one item are not independent of
    /// each other. `None` beyond [`MOST_ROWS`](super::MOST_ROWS) stories, whose items are not kept.
    pub items: Option<usize>,
    /// One entry per column of the metrics.
    pub columns: Vec<ColumnSummary>,
}

/// One column of a [`Summary`].
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSummary {
    /// The score of the stories together.
    pub score: Value,
    /// The interval over stories or items ([`score_intervals`]), or a normal one beyond
    /// [`MOST_ROWS`](super::MOST_ROWS) stories. `None` for fewer than two, and for few values that
    /// are all equal.
    pub interval: Option<Interval>,
}

/// With which system the others are compared, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Against {
    /// The system.
    pub system: String,
    /// Whether tests are two-sided.
    pub sides: Sides,
    /// How p-values are corrected for the number of the other systems.
    pub correction: Correction,
}

impl Against {
    /// Two-sided tests with Holm's correction.
    pub fn new(system: impl Into<String>) -> Self {
        Self { system: system.into(), sides: Sides::Two, correction: Correction::Holm }
    }

    /// The same with tests of these sides.
    #[must_use]
    pub fn sides(mut self, sides: Sides) -> Self {
        self.sides = sides;
        self
    }
}

/// One system compared with another.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The system that is compared.
    pub system: String,
    /// One entry per column of the metrics.
    pub columns: Vec<Result<ColumnComparison, Absence>>,
}

/// One column of a [`Comparison`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnComparison {
    /// Which stories were compared.
    pub pairing: Pairing,
    /// The score of the system less that of the other one, with its interval.
    pub difference: Difference,
    /// The p-value of the difference, corrected for the number of systems that were compared.
    pub p_value: PValue,
}

impl ScoreRows {
    /// All stories together.
    pub fn all(&self, metrics: &MetricSet, resampling: &Resampling) -> Summary {
        if self.is_summed() {
            return self.sums(metrics).all().summary(None, metrics, resampling.confidence);
        }
        let every: Vec<usize> = (0..self.len()).collect();
        self.summary(None, &every, &self.groups(metrics), (metrics, resampling))
    }

    /// Each system on its own. The stage of `progress` that is under way hears of each.
    pub fn by_system(
        &self,
        metrics: &MetricSet,
        resampling: &Resampling,
        progress: &Progress,
    ) -> Vec<Summary> {
        let sums = self.is_summed().then(|| self.sums(metrics));
        let (mut groups, mut stories) = (Vec::new(), vec![Vec::new(); self.systems.len()]);
        if sums.is_none() {
            groups = self.groups(metrics);
            for (story, system) in self.system_of.iter().enumerate() {
                if let Some(system) = system {
                    stories[*system as usize].push(story);
                }
            }
        }
        let summary = |number: u32| {
            let name = self.systems[number as usize].clone();
            let summary = match &sums {
                Some(sums) => {
                    let group = sums.of_system(number);
                    group.summary(Some(name), metrics, resampling.confidence)
                }
                None => {
                    let stories = &stories[number as usize];
                    self.summary(Some(name), stories, &groups, (metrics, resampling))
                }
            };
            progress.advance(1);
            summary
        };
        (0..self.systems.len() as u32).map(summary).collect()
    }

    /// Every other system against one of them ([`storymeter_stats::compare_samples`]). The stage of
    /// `progress` that is under way hears of each.
    ///
    /// # Errors
    /// Returns an error if there is no such system.
    ///
    /// # Panics
    /// If there are so many stories that their rows were forgotten
    /// ([`ScoreRows::keeping_rows`](Self::keeping_rows)).
    pub fn against(
        &self,
        against: &Against,
        metrics: &MetricSet,
        resampling: &Resampling,
        progress: &Progress,
    ) -> crate::Result<Vec<Comparison>> {
        assert!(self.sums.is_none(), "rows are kept");
        let Some(&base) = self.numbers.get(&against.system) else {
            if self.systems.is_empty() {
                return Err(crate::Error::NoSystems);
            }
            let known = self.systems.iter().map(String::as_str);
            return Err(storymeter_core::Error::unknown("system", &against.system, known).into());
        };
        let groups = self.groups(metrics);
        let base = self.stories_of(base);
        let others = (0..self.systems.len() as u32)
            .filter(|&other| self.systems[other as usize] != against.system);
        let mut comparisons: Vec<Comparison> = others
            .map(|other| {
                let stories = self.stories_of(other);
                let mut columns = vec![Err(Absence::Empty); metrics.columns().len()];
                for group in &groups {
                    let samples = [&stories, &base].map(|own| group.sample(self, own));
                    let found = group.compare(&samples, resampling);
                    for (place, column) in group.columns.iter().enumerate() {
                        columns[*column] = match &found {
                            Ok(found) => of(found, place, against),
                            Err(absence) => Err(absence.clone()),
                        };
                    }
                }
                progress.advance(1);
                Comparison { system: self.systems[other as usize].clone(), columns }
            })
            .collect();
        for column in 0..metrics.columns().len() {
            let raw: Vec<Option<f64>> = comparisons
                .iter()
                .map(|one| one.columns[column].as_ref().ok().map(|found| found.p_value.raw))
                .collect();
            // A p-value is a share, so that the correction cannot fail.
            let corrected = against.correction.adjust_present(&raw).unwrap_or(raw);
            for (one, corrected) in comparisons.iter_mut().zip(corrected) {
                if let (Ok(found), Some(corrected)) = (&mut one.columns[column], corrected) {
                    found.p_value.corrected = corrected;
                }
            }
        }
        Ok(comparisons)
    }

    fn stories_of(&self, system: u32) -> Vec<usize> {
        (0..self.len()).filter(|&story| self.system_of[story] == Some(system)).collect()
    }

    fn summary(
        &self,
        system: Option<String>,
        stories: &[usize],
        groups: &[Group<'_>],
        (metrics, resampling): (&MetricSet, &Resampling),
    ) -> Summary {
        let rows: Vec<&[f64]> = stories.iter().map(|&story| self.row(story)).collect();
        let mut columns: Vec<ColumnSummary> = metrics
            .aggregate(&rows)
            .into_iter()
            .map(|score| ColumnSummary { score, interval: None })
            .collect();
        for group in groups {
            let sample = group.sample(self, stories);
            for (place, interval) in group.intervals(&sample, resampling).into_iter().enumerate() {
                let column = group.columns[place];
                columns[column].interval = possible(interval, &metrics.columns()[column]);
            }
        }
        Summary { system, stories: stories.len(), items: self.repeated(stories), columns }
    }

    /// The number of items, where several stories are of one item and items are resampled.
    pub(crate) fn repeated_items(&self) -> Option<usize> {
        if self.is_summed() {
            return None;
        }
        self.repeated(&(0..self.len()).collect::<Vec<_>>())
    }

    /// The number of items of some stories, where several are of one item. If all of them are, each
    /// story stands for itself.
    fn repeated(&self, stories: &[usize]) -> Option<usize> {
        let items: HashSet<u64> = stories.iter().map(|&story| self.item_of[story]).collect();
        (items.len() > 1 && items.len() < stories.len()).then_some(items.len())
    }

    /// The columns in groups that share their terms.
    fn groups<'a>(&self, metrics: &'a MetricSet) -> Vec<Group<'a>> {
        metrics.parts().flat_map(|part| self.groups_of(part)).collect()
    }

    fn groups_of<'a>(&self, part: Part<'a>) -> Vec<Group<'a>> {
        if part.metric.description().pooling == Pooling::Sum {
            let columns = part.columns.clone().collect();
            return vec![Group { part, columns, values: None }];
        }
        let width = part.columns.len();
        let mut values: Vec<Value> = vec![Ok(0.0); width];
        let mut by_column: Vec<Vec<Option<f64>>> = vec![Vec::with_capacity(self.len()); width];
        for story in 0..self.len() {
            part.metric.values(&self.row(story)[part.stats.clone()], &mut values);
            for (column, value) in by_column.iter_mut().zip(&values) {
                column.push(value.as_ref().ok().copied());
            }
        }
        // Columns with values for the same stories share their draws, which do not depend on that.
        let mut groups: Vec<Group<'a>> = Vec::new();
        let mut known: HashMap<Vec<bool>, usize> = HashMap::new();
        for (column, values) in part.columns.clone().zip(by_column) {
            let present = values.iter().map(Option::is_some).collect();
            let at = *known.entry(present).or_insert(groups.len());
            if at == groups.len() {
                let (part, columns) = (part.clone(), Vec::new());
                groups.push(Group { part, columns, values: Some(Vec::new()) });
            }
            groups[at].columns.push(column);
            groups[at].values.get_or_insert_default().push(values);
        }
        groups
    }
}

/// Columns of one metric that have values for the same stories.
struct Group<'a> {
    part: Part<'a>,
    /// By their places among all columns.
    columns: Vec<usize>,
    /// By column, by story; `None` if the metric adds rows up.
    values: Option<Vec<Vec<Option<f64>>>>,
}

impl Group<'_> {
    /// Some stories with their terms. Those without a value are left out.
    fn sample(&self, score_rows: &ScoreRows, stories: &[usize]) -> Sample {
        let width = match &self.values {
            Some(values) => values.len(),
            None => self.part.stats.len(),
        };
        // A metric may have rows without any number.
        let mut sample = Sample::new(width.max(1));
        let mut terms = vec![0.0; width.max(1)];
        for &story in stories {
            match &self.values {
                Some(values) => {
                    let mut present = true;
                    for (term, column) in terms.iter_mut().zip(values) {
                        match column[story] {
                            Some(value) => *term = value,
                            None => present = false,
                        }
                    }
                    if !present {
                        continue;
                    }
                }
                None => {
                    terms[..width].copy_from_slice(&score_rows.row(story)[self.part.stats.clone()])
                }
            }
            sample.push(score_rows.item_of[story], &terms);
        }
        sample
    }

    /// Hands the way from terms to scores to the engine.
    fn with_score<T>(&self, work: impl FnOnce(Score<'_>) -> T) -> T {
        let (columns, width) = (self.columns.len(), self.part.stats.len());
        let pooled = |sums: &[f64], scores: &mut [f64]| {
            let mut values: Vec<Value> = vec![Ok(0.0); columns];
            self.part.metric.pooled_values(&sums[..width], &mut values);
            for (score, value) in scores.iter_mut().zip(values) {
                *score = value.unwrap_or(f64::NAN);
            }
        };
        work(match self.values {
            Some(_) => Score::Mean,
            None => Score::OfSums { columns, score: &pooled },
        })
    }

    fn intervals(&self, sample: &Sample, resampling: &Resampling) -> Vec<Interval> {
        let found = self.with_score(|score| score_intervals(sample, score, resampling));
        found.unwrap_or_else(|_| vec![Interval::UNDEFINED; self.columns.len()])
    }

    fn compare(
        &self,
        [first, second]: &[Sample; 2],
        resampling: &Resampling,
    ) -> Result<SampleComparison, Absence> {
        let found = self.with_score(|score| compare_two([first, second], score, resampling));
        found.unwrap_or_else(|refused| Err(Absence::because(refused.to_string())))
    }
}

/// One column of what the engine found.
fn of(
    found: &SampleComparison,
    place: usize,
    against: &Against,
) -> Result<ColumnComparison, Absence> {
    let difference = found.columns[place];
    if !difference.difference.is_finite() {
        return Err(Absence::Empty);
    }
    let raw = against.sides.choose(difference.p_two_sided, difference.p_one_sided);
    let p_value = PValue { raw, corrected: raw };
    Ok(ColumnComparison { pairing: found.pairing, difference, p_value })
}

/// An interval, if there is one, within the scores that are possible, which Student's t does not
/// know.
fn possible(interval: Interval, column: &ScoreColumn) -> Option<Interval> {
    let Interval { low, high } = Some(interval).filter(Interval::is_defined)?;
    Some(Interval { low: column.range.clamp(low), high: column.range.clamp(high) })
}
