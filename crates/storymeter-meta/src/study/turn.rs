//! Which sign of a correlation speaks for a metric.

use storymeter_core::{Direction, Key};

use storymeter_stats::Coefficient;

use super::{Agreement, Edition, Interval, Study, Warning, WarningKind};
use crate::level::Level;

/// A mean correlation down to this one is negligible by the rule of thumb of Cohen (1988), and may
/// well be chance.
const NEGLIGIBLE: f64 = -0.1;

/// How a metric's correlations count wherever metrics are ranked or compared.
///
/// A correlation that is turned by the direction of its metric is larger if the metric agrees
/// better with people. It is negative if the metric runs against its direction.
///
/// ```
/// use storymeter_core::Direction;
/// use storymeter_meta::study::{Edition, Turn};
/// let turn = |direction| Turn::new(direction, Edition::Corrected);
/// assert_eq!(turn(Direction::Higher).apply(-0.9), -0.9);
/// assert_eq!(turn(Direction::Lower).apply(-0.9), 0.9);
/// assert_eq!(turn(Direction::None).apply(-0.9), 0.9);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Turn {
    /// More is better, and the correlation counts as it is.
    AsIs,
    /// Less is better, and the correlation counts with the opposite sign.
    Reversed,
    /// Only the size of the correlation counts: it is not known whether more is better, or the
    /// published analysis is repeated, which ignored all directions.
    Absolute,
}

impl Turn {
    /// How the correlations of a metric of this direction count.
    pub fn new(direction: Direction, edition: Edition) -> Self {
        match (edition, direction) {
            (Edition::Published, _) | (_, Direction::None) => Self::Absolute,
            (_, Direction::Higher) => Self::AsIs,
            (_, Direction::Lower) => Self::Reversed,
        }
    }

    /// What this correlation is multiplied by: 1 or -1, and never 0.
    pub fn sign(self, correlation: f64) -> f64 {
        match self {
            Self::AsIs => 1.0,
            Self::Reversed => -1.0,
            Self::Absolute if correlation < 0.0 => -1.0,
            Self::Absolute => 1.0,
        }
    }

    /// The correlation as it counts.
    pub fn apply(self, correlation: f64) -> f64 {
        // The sum makes 0 of -0, which would be sorted below it.
        self.sign(correlation) * correlation + 0.0
    }

    /// The interval of a correlation, turned with it.
    pub fn interval(self, correlation: f64, interval: Interval) -> Interval {
        let Interval { low, high } = interval;
        match self.sign(correlation) < 0.0 {
            true => Interval { low: -high, high: -low },
            false => interval,
        }
    }
}

impl Study {
    /// How the correlations of a metric count when metrics are ranked or compared.
    pub fn turn(&self, metric: &Key) -> Turn {
        let column = self.columns.iter().find(|column| column.key == *metric);
        let direction = column.map_or(Direction::None, |column| column.direction);
        Turn::new(direction, self.edition)
    }

    /// An agreement's coefficient, turned by the direction of the metric; `None` where there is no
    /// coefficient.
    pub fn directed(&self, agreement: &Agreement) -> Option<f64> {
        let estimate = agreement.value.as_ref().ok()?;
        Some(self.turn(&agreement.metric).apply(estimate.value))
    }

    /// The metrics that run against their direction at a level, each with the mean of its Pearson
    /// correlations over the criteria, turned by its direction. That mean is below -0.1; one
    /// between -0.1 and 0 is too small to say so.
    pub fn backwards(&self, level: Level) -> Vec<(&Key, f64)> {
        let mean = |metric: &Key| {
            let own = self.agreements().filter(|one| {
                one.level == level
                    && one.coefficient == Coefficient::Pearson
                    && one.metric == *metric
            });
            let values: Vec<f64> = own.filter_map(|one| self.directed(one)).collect();
            values.iter().sum::<f64>() / values.len() as f64
        };
        let found = self.metrics().into_iter().map(|metric| (metric, mean(metric)));
        found.filter(|(_, mean)| *mean < NEGLIGIBLE).collect()
    }

    /// The same study with a warning about each metric that runs against its direction, at the
    /// first level that has correlations.
    pub(crate) fn with_backwards_warned(mut self) -> Self {
        let Some(&level) = self.levels().first() else { return self };
        let warning = |(metric, mean): (&Key, f64)| {
            let turn = self.turn(metric);
            let message = format!(
                "{} should be better, but its mean correlation with people is r = {:.3} ({level} \
                 level, Pearson): it runs against its direction",
                if turn == Turn::Reversed { "less" } else { "more" },
                turn.apply(mean)
            );
            Warning::new(WarningKind::Backwards, metric.as_str(), message)
        };
        let warnings: Vec<Warning> = self.backwards(level).into_iter().map(warning).collect();
        self.warnings.extend(warnings);
        self
    }

    /// The metrics that are ranked by the size of their correlations alone, because it is not known
    /// whether more is better. None where the published analysis is repeated, which ranks all
    /// metrics so.
    pub fn undirected(&self) -> Vec<&Key> {
        match self.edition {
            Edition::Published => Vec::new(),
            Edition::Corrected => {
                self.metrics().into_iter().filter(|key| self.turn(key) == Turn::Absolute).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turned_interval_has_its_ends_in_order_and_zero_has_a_sign() {
        let interval = Interval { low: -0.9, high: 0.1 };
        let turned = Turn::Reversed.interval(-0.5, interval);
        assert_eq!((turned.low, turned.high), (-0.1, 0.9));
        assert_eq!(Turn::AsIs.interval(-0.5, interval), interval);
        assert_eq!(Turn::Absolute.interval(-0.5, interval), turned);
        for turn in [Turn::AsIs, Turn::Reversed, Turn::Absolute] {
            assert_eq!(turn.sign(0.0).abs(), 1.0);
            assert!(turn.apply(0.0).is_sign_positive());
            assert!(turn.apply(f64::NAN).is_nan());
        }
        assert_eq!(Turn::new(Direction::Lower, Edition::Published), Turn::Absolute);
    }
}
