//! Correlations at five levels, each with the values that it has in resamples of whole prompts.

use rayon::prelude::*;
use storymeter::core::Story;
use storymeter::union::Estimate;
use storymeter_stats::resample::{draw_with_replacement, stream};
use storymeter_stats::{Coefficient, Interval, mean, percentile_interval};

/// The number of resamples of every interval.
const RESAMPLES: usize = 1000;

/// What is correlated with what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// All stories together.
    Pooled,
    /// The stories of each item, and the mean over the items: HANNA's story level.
    Story,
    /// The means of the systems: HANNA's system level.
    System,
    /// The stories of each system, and the mean over the systems. To tell systems apart does not
    /// help here.
    WithinSystem,
    /// All stories together, given the logarithm of their number of words. To measure the length
    /// does not help here.
    GivenLength,
}

impl Level {
    /// All levels, in the order in which they are shown.
    pub const ALL: [Self; 5] =
        [Self::Pooled, Self::Story, Self::System, Self::WithinSystem, Self::GivenLength];

    /// The name of the level in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pooled => "pooled",
            Self::Story => "story",
            Self::System => "system",
            Self::WithinSystem => "within systems",
            Self::GivenLength => "given length",
        }
    }

    /// What the level means.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Pooled => "all stories together",
            Self::Story => "inside each prompt, mean over the prompts",
            Self::System => "of the means of the systems",
            Self::WithinSystem => "inside each system, mean over the systems",
            Self::GivenLength => {
                "all stories together, with length partialled out (logarithm of the words)"
            }
        }
    }
}

/// Which stories belong together.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    /// The positions of the stories of each item.
    items: Vec<Vec<usize>>,
    /// The number of each story's system.
    systems: Vec<usize>,
    log_words: Vec<f64>,
}

impl Layout {
    /// The layout of a list of stories.
    pub fn new(stories: &[Story]) -> Self {
        let (mut items, mut systems) =
            (Vec::<(&str, Vec<usize>)>::new(), Vec::<Option<&str>>::new());
        let mut layout = Self::default();
        for (at, story) in stories.iter().enumerate() {
            match items.iter_mut().find(|(item, _)| *item == story.item()) {
                Some((_, positions)) => positions.push(at),
                None => items.push((story.item(), vec![at])),
            }
            let system = story.system.as_deref();
            layout.systems.push(systems.iter().position(|known| *known == system).unwrap_or_else(
                || {
                    systems.push(system);
                    systems.len() - 1
                },
            ));
            layout.log_words.push(words(story).max(1.0).ln());
        }
        layout.items = items.into_iter().map(|(_, positions)| positions).collect();
        layout
    }

    /// The number of items.
    pub fn items(&self) -> usize {
        self.items.len()
    }

    /// The number of stories.
    pub fn stories(&self) -> usize {
        self.systems.len()
    }

    /// The coefficient at a level, computed from the stories at these positions, which may repeat.
    /// It is NaN where it is undefined.
    fn value(
        &self,
        level: Level,
        coefficient: Coefficient,
        x: &[f64],
        y: &[f64],
        positions: &[usize],
    ) -> f64 {
        let take = |values: &[f64], positions: &[usize]| -> Vec<f64> {
            positions.iter().map(|&at| values[at]).collect()
        };
        let both = |positions: &[usize]| (take(x, positions), take(y, positions));
        let by_system = || {
            let count = self.systems.iter().max().map_or(0, |most| most + 1);
            let mut positions_of = vec![Vec::new(); count];
            positions.iter().for_each(|&at| positions_of[self.systems[at]].push(at));
            positions_of.into_iter().filter(|positions| !positions.is_empty())
        };
        let found = match level {
            Level::Pooled | Level::Story => {
                let (x, y) = both(positions);
                coefficient.value(&x, &y)
            }
            Level::GivenLength => {
                let (x, y) = both(positions);
                coefficient.partial(&x, &y, &take(&self.log_words, positions))
            }
            Level::System => {
                let (x, y): (Vec<f64>, Vec<f64>) = by_system()
                    .map(|positions| both(&positions))
                    .map(|(x, y)| (mean(&x), mean(&y)))
                    .unzip();
                coefficient.value(&x, &y)
            }
            Level::WithinSystem => {
                let each = by_system().map(|positions| both(&positions));
                let each = each.map(|(x, y)| coefficient.value(&x, &y).unwrap_or(f64::NAN));
                Ok(mean_of_defined(each))
            }
        };
        found.unwrap_or(f64::NAN)
    }
}

/// The number of words of a story, divided by white space.
pub(super) fn words(story: &Story) -> f64 {
    story.text.split_whitespace().count() as f64
}

/// The mean of the values that are not NaN; NaN if there are none.
fn mean_of_defined(values: impl Iterator<Item = f64>) -> f64 {
    mean(&values.filter(|value| !value.is_nan()).collect::<Vec<_>>())
}

/// Resamples: which items were drawn, with replacement.
#[derive(Debug, Clone)]
pub struct Draws {
    items: usize,
    drawn: Vec<Vec<usize>>,
}

impl Draws {
    /// Draws from a number of items. Metrics whose resamples have the same draws can be compared
    /// pair by pair.
    pub fn new(items: usize, seed: u64) -> Self {
        let draw = |resample: usize| {
            let mut drawn = vec![0; items];
            draw_with_replacement(&mut stream(seed, resample as u64), &mut drawn);
            drawn
        };
        Self { items, drawn: (0..RESAMPLES).map(draw).collect() }
    }

    /// No resamples, for figures without intervals.
    pub fn none(items: usize) -> Self {
        Self { items, drawn: Vec::new() }
    }
}

/// A figure with the values that it has in resamples.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// The figure itself.
    pub value: f64,
    resampled: Vec<f64>,
}

impl Sampled {
    /// Correlates scores with ratings at a level.
    pub fn correlation(
        level: Level,
        coefficient: Coefficient,
        (scores, ratings): (&[f64], &[f64]),
        layout: &Layout,
        draws: &Draws,
    ) -> Self {
        let value =
            |positions: &[usize]| layout.value(level, coefficient, scores, ratings, positions);
        // The correlation inside an item does not depend on the other items that were drawn.
        let inside: Vec<f64> = match level {
            Level::Story => layout.items.iter().map(|positions| value(positions)).collect(),
            _ => Vec::new(),
        };
        let of_items = |items: &[usize]| match level {
            Level::Story => mean_of_defined(items.iter().map(|&item| inside[item])),
            _ => value(
                &items.iter().flat_map(|&item| &layout.items[item]).copied().collect::<Vec<_>>(),
            ),
        };
        let all: Vec<usize> = (0..draws.items).collect();
        Self {
            value: of_items(&all),
            resampled: draws.drawn.par_iter().map(|items| of_items(items)).collect(),
        }
    }

    /// The mean of a number that each story has.
    pub fn mean_of_stories(values: &[f64], layout: &Layout, draws: &Draws) -> Self {
        let of_items = |items: &[usize]| {
            let positions = items.iter().flat_map(|&item| &layout.items[item]);
            mean(&positions.map(|&at| values[at]).collect::<Vec<_>>())
        };
        let all: Vec<usize> = (0..draws.items).collect();
        let resampled = draws.drawn.iter().map(|items| of_items(items)).collect();
        Self { value: of_items(&all), resampled }
    }

    /// The mean of several figures, resample by resample.
    pub fn mean(figures: &[&Self]) -> Self {
        let mean = |of: &dyn Fn(&Self) -> f64| {
            figures.iter().map(|figure| of(figure)).sum::<f64>() / figures.len() as f64
        };
        let resamples = figures.iter().map(|figure| figure.resampled.len()).min().unwrap_or(0);
        let resampled = (0..resamples).map(|at| mean(&|figure| figure.resampled[at])).collect();
        Self { value: mean(&|figure| figure.value), resampled }
    }

    /// How much this figure is above another one, resample by resample.
    pub fn above(&self, other: &Self) -> Self {
        let resampled = self.resampled.iter().zip(&other.resampled).map(|(a, b)| a - b).collect();
        Self { value: self.value - other.value, resampled }
    }

    /// The figure with its 95% interval: between the quantiles of the resampled values.
    pub fn estimate(&self) -> Estimate {
        let defined: Vec<f64> =
            self.resampled.iter().copied().filter(|value| !value.is_nan()).collect();
        let interval = percentile_interval(&defined, 0.95).unwrap_or(Interval::UNDEFINED);
        Estimate { value: self.value, low: interval.low, high: interval.high }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six items with three systems each. Inside an item, and inside a system, the order of the
    /// scores is that of the ratings or the opposite one.
    fn stories() -> Vec<Story> {
        let story = |at: usize| Story {
            item: Some(format!("item {}", at / 3)),
            system: Some(["atlas", "birch", "cedar"][at % 3].to_owned()),
            text: "word ".repeat(at + 1),
            ..Story::default()
        };
        (0..18).map(story).collect()
    }

    fn spearman(level: Level, scores: &[f64], ratings: &[f64]) -> Sampled {
        let layout = Layout::new(&stories());
        let draws = Draws::new(layout.items(), 0);
        Sampled::correlation(level, Coefficient::Spearman, (scores, ratings), &layout, &draws)
    }

    #[test]
    fn a_level_sees_only_its_own_differences() {
        // The score knows which system wrote a story, and puts the items in the wrong order.
        let scores: Vec<f64> =
            (0..18).map(|at| (at % 3) as f64 * 100.0 - (at / 3) as f64).collect();
        let ratings: Vec<f64> =
            (0..18).map(|at| (at % 3) as f64 * 100.0 + (at / 3) as f64).collect();
        let value = |level| spearman(level, &scores, &ratings).value;
        assert_eq!(value(Level::Story), 1.0);
        assert_eq!(value(Level::System), 1.0);
        assert_eq!(value(Level::WithinSystem), -1.0);
        assert!((0.5..1.0).contains(&value(Level::Pooled)));
    }

    #[test]
    fn a_score_that_is_the_length_has_nothing_left_given_the_length() {
        let words: Vec<f64> = stories().iter().map(words).collect();
        let ratings: Vec<f64> = (0..18).map(|at| f64::from(at + 3 * (at % 2))).collect();
        assert!(spearman(Level::Pooled, &words, &ratings).value > 0.9);
        assert!(spearman(Level::GivenLength, &words, &ratings).value.is_nan());
        // A score that agrees with the ratings beyond the length has something left.
        assert!(spearman(Level::GivenLength, &ratings, &ratings).value > 0.99);
    }

    #[test]
    fn the_interval_contains_the_figure_and_whole_items_are_drawn() {
        let scores: Vec<f64> = (0..18).map(|at| f64::from(at * 7 % 18)).collect();
        let ratings: Vec<f64> = (0..18).map(|at| f64::from(at * 5 % 18)).collect();
        let found = spearman(Level::Pooled, &scores, &ratings).estimate();
        assert!(found.low < found.value && found.value < found.high, "{found:?}");
        // All stories of an item are the same, so no resample can differ in the number of each
        // system's stories, and the means of the systems never change.
        let scores: Vec<f64> = (0..18).map(|at| f64::from(at % 3)).collect();
        let found = spearman(Level::System, &scores, &scores).estimate();
        assert_eq!((found.low, found.value, found.high), (1.0, 1.0, 1.0));
    }

    #[test]
    fn means_and_differences_go_resample_by_resample() {
        let scores: Vec<f64> = (0..18).map(|at| f64::from(at * 7 % 18)).collect();
        let ratings: Vec<f64> = (0..18).map(|at| f64::from(at * 5 % 18)).collect();
        let found = spearman(Level::Pooled, &scores, &ratings);
        let none = found.above(&found).estimate();
        assert_eq!((none.low, none.value, none.high), (0.0, 0.0, 0.0));
        let same = Sampled::mean(&[&found, &found]);
        assert_eq!(same, found);
    }
}
