//! Vectors that are prepared once for many correlations.

use super::kendall::{self, tau_b};
use super::spearman::CentredRanks;
use super::{Coefficient, is_constant, pearson};
use crate::error::{Result, StatsError};

/// A vector in the form that a coefficient needs: centred and scaled, ranked, or as signs of its
/// pairs.
///
/// Correlating two prepared vectors takes one pass and no allocation, and gives the same bits as
/// [`Coefficient::compute`]. A vector that is constant or holds a NaN can be prepared, but every
/// coefficient with it is NaN.
///
/// ```
/// use storymeter_stats::{Coefficient, Prepared};
/// let x = Prepared::new(Coefficient::Kendall, &[1.0, 2.0, 3.0])?;
/// let y = Prepared::new(Coefficient::Kendall, &[1.0, 3.0, 2.0])?;
/// assert!((x.correlate(&y)? - 1.0 / 3.0).abs() < 1e-15);
/// # Ok::<(), storymeter_stats::StatsError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Prepared {
    n: usize,
    coefficient: Coefficient,
    form: Form,
}

#[derive(Debug, Clone)]
enum Form {
    Undefined,
    Unit(Vec<f64>),
    Ranks(CentredRanks),
    Signs(PairSigns),
    Values(Vec<f64>),
}

/// Up to this length, the pairs of Kendall's tau are compared bit by bit. This takes n²/64 words
/// per vector, which is little for the short vectors of a meta-evaluation.
const MOST_FOR_SIGNS: usize = 512;

impl Prepared {
    /// Prepares a vector of at least two values.
    ///
    /// # Errors
    /// Returns an error if there are fewer than two values.
    pub fn new(coefficient: Coefficient, values: &[f64]) -> Result<Self> {
        StatsError::check_count("a correlation", "values", 2, values.len())?;
        let sums = coefficient == Coefficient::Pearson;
        let bad = values.iter().any(|v| if sums { !v.is_finite() } else { v.is_nan() });
        let form = if bad || is_constant(values) {
            Form::Undefined
        } else {
            match coefficient {
                Coefficient::Pearson => Form::Unit(pearson::unit(values)),
                Coefficient::Spearman => Form::Ranks(CentredRanks::new(values)),
                Coefficient::Kendall if values.len() <= MOST_FOR_SIGNS => {
                    Form::Signs(PairSigns::new(values))
                }
                Coefficient::Kendall => Form::Values(values.to_vec()),
            }
        };
        Ok(Self { n: values.len(), coefficient, form })
    }

    /// Whether the vector can be correlated: it is not constant and holds no NaN.
    pub fn is_defined(&self) -> bool {
        !matches!(self.form, Form::Undefined)
    }

    /// Correlates two vectors that were prepared for the same coefficient; NaN when either is
    /// undefined.
    ///
    /// # Errors
    /// Returns an error if the lengths differ.
    ///
    /// # Panics
    /// If the two were prepared for different coefficients, which is a mistake in the calling code.
    pub fn correlate(&self, other: &Self) -> Result<f64> {
        StatsError::check_pairs(self.n, other.n)?;
        assert_eq!(
            self.coefficient, other.coefficient,
            "vectors prepared for different coefficients"
        );
        Ok(match (&self.form, &other.form) {
            (Form::Unit(x), Form::Unit(y)) => pearson::correlate_units(x, y),
            (Form::Ranks(x), Form::Ranks(y)) => x.correlate(y),
            (Form::Signs(x), Form::Signs(y)) => x.correlate(y),
            (Form::Values(x), Form::Values(y)) => kendall::Counts::new(x, y).tau(),
            _ => f64::NAN,
        })
    }
}

/// One bit per pair of positions that says whether the values differ, and one whether they descend.
#[derive(Debug, Clone)]
struct PairSigns {
    differ: Vec<u64>,
    descend: Vec<u64>,
    untied: u64,
}

impl PairSigns {
    fn new(values: &[f64]) -> Self {
        let words = (values.len() * (values.len() - 1) / 2).div_ceil(64);
        let (mut differ, mut descend) = (vec![0u64; words], vec![0u64; words]);
        let mut pair = 0;
        for (i, &first) in values.iter().enumerate() {
            for &second in &values[i + 1..] {
                let (word, bit) = (pair / 64, pair % 64);
                differ[word] |= u64::from(first != second) << bit;
                descend[word] |= u64::from(first > second) << bit;
                pair += 1;
            }
        }
        let untied = differ.iter().map(|w| u64::from(w.count_ones())).sum();
        Self { differ, descend, untied }
    }

    fn correlate(&self, other: &Self) -> f64 {
        let (mut both, mut discordant) = (0u64, 0u64);
        for word in 0..self.differ.len() {
            let comparable = self.differ[word] & other.differ[word];
            both += u64::from(comparable.count_ones());
            let against = (self.descend[word] ^ other.descend[word]) & comparable;
            discordant += u64::from(against.count_ones());
        }
        tau_b(both as f64 - 2.0 * discordant as f64, self.untied, other.untied)
    }
}
