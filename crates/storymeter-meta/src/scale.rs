//! The range that a rating may have.

use std::fmt;
use std::str::FromStr;

use storymeter_core::Place;

use crate::error::{Error, Result};
use crate::grid::LARGEST;

/// The lowest and the highest rating that a rater could give.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// The lowest rating.
    pub low: f64,
    /// The highest rating.
    pub high: f64,
}

impl Scale {
    /// HANNA's Likert scale.
    pub const LIKERT_5: Self = Self { low: 1.0, high: 5.0 };
    /// UNION's yes or no.
    pub const BINARY: Self = Self { low: 0.0, high: 1.0 };

    /// Whether a rating is on the scale.
    ///
    /// ```
    /// use storymeter_meta::Scale;
    /// assert!(Scale::LIKERT_5.holds(1.0) && !Scale::LIKERT_5.holds(0.0));
    /// ```
    pub fn holds(self, rating: f64) -> bool {
        (self.low..=self.high).contains(&rating)
    }

    /// Checks that ratings are on the scale. A rating that was not given is.
    ///
    /// # Errors
    /// [`Error::OffScale`] for the first rating that is not.
    pub fn check(self, ratings: impl IntoIterator<Item = f64>, place: &Place) -> Result<()> {
        match ratings.into_iter().find(|&rating| !self.holds(rating)) {
            None => Ok(()),
            Some(rating) => Err(Error::OffScale { place: place.clone(), rating, scale: self }),
        }
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.low, self.high)
    }
}

impl FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parts = text
            .split_once("..")
            .and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
        match parts {
            Some((low, high)) if low < high && -LARGEST <= low && high <= LARGEST => {
                Ok(Self { low, high })
            }
            _ => Err(format!(
                "\"{text}\" is not a scale: write the lowest and the highest rating, as in 1..5"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_reads_as_it_prints_and_says_what_is_off_it() {
        let scale: Scale = "1..5".parse().unwrap();
        assert_eq!((scale, scale.to_string().as_str()), (Scale::LIKERT_5, "1..5"));
        let error = scale.check([3.0, 6.0], &Place::file("r.csv").at_line(7)).unwrap_err();
        assert_eq!(error.to_string(), "r.csv:7: rating 6 is outside the scale 1..5");
        for wrong in ["5..1", "1-5", "1..inf", "-inf..5", "nan..5", "1..1e400", "-1e308..1e308", ""]
        {
            assert!(wrong.parse::<Scale>().is_err(), "{wrong}");
        }
    }
}
