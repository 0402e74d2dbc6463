//! The numbers of one metric on one aspect.

use storymeter_core::{Aspect, Column};
use storymeter_stats::{
    Interval, Shift, ShiftOptions, Undefined, auc, independent_shift, mean, paired_shift, pearson,
};

use super::samples::Samples;
use super::{SuiteCell, SuiteOptions};
use crate::error::Result;
use crate::outcome::{Absence, Outcome, absence, finite_or};

/// A spread needs two texts of each kind.
const LEAST_OF_EACH: usize = 2;

/// Two texts always lie on a line, so that their correlation says nothing.
const LEAST_TEXTS: usize = 3;

/// Compares the originals with the twins.
pub fn compare(
    column: &Column,
    aspect: Aspect,
    samples: Samples,
    options: &SuiteOptions,
) -> Result<SuiteCell> {
    let sign = column.direction.sign();
    let samples = samples.turned(sign);
    let (originals, twins) = (samples.originals.len(), samples.twins.len());
    let texts = [samples.originals.as_slice(), samples.twins.as_slice()].concat();
    let is_original: Vec<bool> = (0..texts.len()).map(|at| at < originals).collect();
    let shift = Shifted::new(&samples, aspect, options)?;
    let (r, p_r) = correlation(&texts, &is_original)?;
    let [right_order, ties] = order(&samples);
    let means = shift.means(&samples).map(|mean| mean.map(|mean| sign * mean));
    Ok(SuiteCell {
        metric: column.key.clone(),
        aspect,
        test: aspect.test(),
        pairs: if samples.paired { twins } else { 0 },
        originals,
        twins,
        absent: samples.absent,
        auc: finite_or(auc(&texts, &is_original)?.value, Absence::Empty),
        shift: shift.value(),
        shift_low: shift.interval().map(|interval| interval.low),
        shift_high: shift.interval().map(|interval| interval.high),
        right_order,
        ties,
        r,
        p_r,
        times_typo: Err(Absence::NoTypos),
        mean_original: means[0].clone(),
        mean_twin: means[1].clone(),
        sd: shift.spread(),
    })
}

/// Gives the cells of one metric their shifts in multiples of what typos do to it.
pub fn measure_by_typos(cells: &mut [SuiteCell]) {
    let typos = match cells.iter().find(|cell| cell.aspect == Aspect::Typo) {
        Some(cell) => cell.shift.clone().map(f64::abs),
        None => Err(Absence::NoTypos),
    };
    for cell in cells {
        cell.times_typo = match (cell.shift.clone(), typos.clone()) {
            (Err(reason), _) | (_, Err(reason)) => Err(reason),
            (Ok(_), Ok(0.0)) => Err(Absence::NoTypoShift),
            (Ok(shift), Ok(typos)) => finite_or(shift / typos, Absence::NoTypoShift),
        };
    }
}

/// The shift of a cell with everything that comes with it.
struct Shifted(Outcome<Shift>);

impl Shifted {
    fn new(samples: &Samples, aspect: Aspect, options: &SuiteOptions) -> Result<Self> {
        let (originals, twins) = (samples.originals.as_slice(), samples.twins.as_slice());
        let least = originals.len().min(twins.len());
        if least < LEAST_OF_EACH {
            let reason = if least == 0 { Absence::Empty } else { Absence::Fewer(LEAST_OF_EACH) };
            return Ok(Self(Err(reason)));
        }
        let options = ShiftOptions {
            resamples: u32::try_from(options.resamples).unwrap_or(u32::MAX),
            confidence: options.confidence,
            seed: options.seed,
            family: aspect.index() as u32,
        };
        let found = match samples.paired {
            true => paired_shift(originals, twins, &options)?,
            false => independent_shift(originals, twins, &options)?,
        };
        Ok(Self(match found.undefined {
            Some(undefined @ Undefined::NotANumber) => Err(absence(undefined)),
            _ => Ok(found),
        }))
    }

    fn value(&self) -> Outcome<f64> {
        self.0.clone().and_then(|shift| match shift.undefined {
            Some(undefined) => Err(absence(undefined)),
            None => finite_or(shift.value, Absence::Infinite),
        })
    }

    fn interval(&self) -> Outcome<Interval> {
        self.value()?;
        self.0.clone().map(|shift| shift.interval).and_then(|interval| {
            match interval.is_defined() {
                true => Ok(interval),
                false => Err(Absence::NoInterval),
            }
        })
    }

    fn spread(&self) -> Outcome<f64> {
        self.0.clone().and_then(|shift| finite_or(shift.spread, Absence::Infinite))
    }

    /// The means of originals and twins. One text has a mean, too.
    fn means(&self, samples: &Samples) -> [Outcome<f64>; 2] {
        let average = |values: &[f64]| match values.is_empty() {
            true => Err(Absence::Empty),
            false => finite_or(mean(values), Absence::Infinite),
        };
        match self.0 {
            Ok(shift) => [Ok(shift.first), Ok(shift.second)],
            Err(_) => [average(&samples.originals), average(&samples.twins)],
        }
    }
}

/// The correlation of the scores with the labels, and its p-value.
fn correlation(texts: &[f64], is_original: &[bool]) -> Result<(Outcome<f64>, Outcome<f64>)> {
    if !is_original.contains(&true) || !is_original.contains(&false) {
        return Ok((Err(Absence::Empty), Err(Absence::Empty)));
    }
    if texts.len() < LEAST_TEXTS {
        return Ok((Err(Absence::TooFew), Err(Absence::TooFew)));
    }
    let labels: Vec<f64> = is_original.iter().map(|&own| f64::from(u8::from(own))).collect();
    let found = pearson(texts, &labels)?;
    let reason = found.undefined.map_or(Absence::Infinite, absence);
    Ok((finite_or(found.coefficient, reason.clone()), finite_or(found.p_value, reason)))
}

/// The shares of pairs in which the original scores higher, and in which both score the same.
fn order(samples: &Samples) -> [Outcome<f64>; 2] {
    if !samples.paired {
        return [Err(Absence::NotPaired), Err(Absence::NotPaired)];
    }
    let pairs = || std::iter::zip(&samples.originals, &samples.twins);
    let count = |hit: fn(&f64, &f64) -> bool| pairs().filter(|(x, y)| hit(x, y)).count() as f64;
    match samples.twins.len() {
        0 => [Err(Absence::Empty), Err(Absence::Empty)],
        n => [Ok(count(|x, y| x > y) / n as f64), Ok(count(|x, y| x == y) / n as f64)],
    }
}
