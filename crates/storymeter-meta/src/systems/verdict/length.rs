//! Whether the lead of a system hangs on the length of its stories.

use storymeter_core::{Absence, Norms, Range, Value};

use super::decide::Ballots;
use super::profile::Stories;
use super::recheck::{Values, recheck, values_of};
use super::{
    ColumnMean, LENGTH_RATIO, LengthCheck, LengthPair, LengthSource, Reason, SystemProfile,
};
use crate::error::Result;
use crate::systems::{Options, SystemComparison};

/// Looks at the lengths, and compares the systems in two ways that allow for them.
pub(super) fn check(
    stories: &Stories<'_>,
    systems: &[SystemProfile],
    ballots: &Ballots<'_>,
    options: &Options,
) -> Result<LengthCheck> {
    let mut check = LengthCheck {
        source: stories.source.clone(),
        widest: None,
        differs: false,
        apart: Vec::new(),
        percentiles: None,
        adjusted: None,
    };
    if stories.source == LengthSource::Unknown {
        return Ok(check);
    }
    let competing: Vec<&SystemProfile> =
        systems.iter().filter(|one| stories.competing.contains(&one.name)).collect();
    for (at, one) in competing.iter().enumerate() {
        for other in &competing[at + 1..] {
            let Some((pair, hardly_overlaps)) = pair(one, other) else { continue };
            if pair.ratio > LENGTH_RATIO && hardly_overlaps {
                check.apart.push(pair.clone());
            }
            if check.widest.as_ref().is_none_or(|widest| pair.ratio > widest.ratio) {
                check.widest = Some(pair);
            }
        }
    }
    check.differs = check.widest.as_ref().is_some_and(|widest| widest.ratio > LENGTH_RATIO);
    if !check.differs {
        return Ok(check);
    }
    let again = |values: Values| match values.is_empty() {
        true => Ok(None),
        false => recheck(stories, ballots, values, &|_| true, options).map(Some),
    };
    let voting = || ballots.comparisons.iter().enumerate();
    let shares = voting().filter_map(|(at, one)| {
        // The words of human stories are separated by white space; tokens are not comparable.
        let norms = one.column.norms.as_ref().filter(|_| stories.source == LengthSource::Words)?;
        Some((at, percentiles(stories, one, norms), Range::UNIT))
    });
    check.percentiles = again(shares.collect())?;
    let rest = voting().filter_map(|(at, one)| Some((at, adjusted(stories, one)?, Range::ANY)));
    check.adjusted = again(rest.collect())?;
    for column in check.adjusted.iter_mut().flat_map(|again| &mut again.columns) {
        let own = |one: &&&SystemComparison| {
            one.column.key == column.key && one.column.role == column.role
        };
        let range = ballots.comparisons.iter().find(own).map_or(Range::ANY, |one| one.column.range);
        column.means.iter_mut().for_each(|own| leave_out_impossible(own, range));
    }
    Ok(check)
}

impl LengthCheck {
    /// Why this system is not the winner although it leads.
    pub(super) fn reasons(&self, leader: &str) -> Vec<Reason> {
        let mut reasons = Vec::new();
        let system = || leader.to_owned();
        for LengthPair { shorter, longer, .. } in &self.apart {
            if shorter == leader || longer == leader {
                let other = if shorter == leader { longer } else { shorter }.clone();
                reasons.push(Reason::LengthsApart { system: system(), other });
            }
        }
        let lost = |check: &Option<super::Recheck>| {
            check
                .as_ref()
                .filter(|one| one.leader.as_deref() != Some(leader))
                .map(|one| one.leader.clone())
        };
        if let Some(now) = lost(&self.percentiles) {
            reasons.push(Reason::LostByPercentile { system: system(), now });
        }
        if let Some(now) = lost(&self.adjusted) {
            reasons.push(Reason::LostByAdjustment { system: system(), now });
        }
        reasons
    }
}

/// The ratio of the medians of two systems, and whether their lengths hardly overlap.
fn pair(one: &SystemProfile, other: &SystemProfile) -> Option<(LengthPair, bool)> {
    let (one_words, other_words) = (one.words?, other.words?);
    let is_shorter = one_words.median <= other_words.median;
    let (shorter, longer) = if is_shorter { (one, other) } else { (other, one) };
    let (less, more) = if is_shorter { (one_words, other_words) } else { (other_words, one_words) };
    // A median of 0 words is one of no words at all; one word keeps the ratio a number.
    let ratio = more.median.max(1.0) / less.median.max(1.0);
    let (shorter, longer) = (shorter.name.clone(), longer.name.clone());
    Some((LengthPair { shorter, longer, ratio }, less.high < more.low))
}

/// The share of human stories of the same length with a smaller value, by row.
fn percentiles(stories: &Stories<'_>, found: &SystemComparison, norms: &Norms) -> Vec<Value> {
    let share = |(value, words): (&Value, &Option<f64>)| {
        let (value, words) = (value.clone()?, words.ok_or_else(unknown)?);
        let none = || Absence::because("there are no human stories of this length");
        norms.share_below(value, words as u64).ok_or_else(none)
    };
    values_of(stories, found).iter().zip(&stories.words).map(share).collect()
}

/// The values less what length explains of them, by row: an analysis of covariance with one slope
/// on the logarithm of the words for all systems. `None` if lengths do not vary within any system.
fn adjusted(stories: &Stories<'_>, found: &SystemComparison) -> Option<Vec<Value>> {
    let values = values_of(stories, found);
    let pair = |row: usize| Some((log(stories.words[row]?), values[row].clone().ok()?));
    // By system: the number of stories, and the sums of the logarithms and of the values.
    let mut sums = vec![(0.0, 0.0, 0.0); stories.systems.len()];
    for &(row, system) in &stories.rows {
        let Some((x, y)) = pair(row) else { continue };
        let (n, of_x, of_y) = &mut sums[system];
        (*n, *of_x, *of_y) = (*n + 1.0, *of_x + x, *of_y + y);
    }
    let (mut products, mut squares) = (0.0, 0.0);
    for &(row, system) in &stories.rows {
        let Some((x, y)) = pair(row) else { continue };
        let (n, of_x, of_y) = sums[system];
        let (dx, dy) = (x - of_x / n, y - of_y / n);
        products += dx * dy;
        squares += dx * dx;
    }
    let count: f64 = sums.iter().map(|(n, _, _)| n).sum();
    let centre = sums.iter().map(|(_, of_x, _)| of_x).sum::<f64>() / count;
    let slope = products / squares;
    // Lengths that are equal up to rounding explain nothing.
    if squares <= 1e-12 * count || !slope.is_finite() {
        return None;
    }
    let adjust = |(value, words): (&Value, &Option<f64>)| {
        let (value, words) = (value.clone()?, words.ok_or_else(unknown)?);
        Ok(value - slope * (log(words) - centre))
    };
    Some(values.iter().zip(&stories.words).map(adjust).collect())
}

/// Leaves out a mean that no stories can have. The differences between adjusted means hold where
/// the line that is subtracted leaves the possible values, but such a mean is none of any stories.
fn leave_out_impossible(own: &mut ColumnMean, range: Range) {
    if own.mean.as_ref().is_ok_and(|mean| range.clamp(*mean) != *mean) {
        let reason =
            Absence::because(format!("the adjustment leaves the possible values ({range})"));
        (own.mean, own.interval) = (Err(reason.clone()), Err(reason));
    }
}

/// The logarithm of a number of words. An empty text counts as one word.
fn log(words: f64) -> f64 {
    words.max(1.0).ln()
}

fn unknown() -> Absence {
    Absence::because("the length of the story is not known")
}
