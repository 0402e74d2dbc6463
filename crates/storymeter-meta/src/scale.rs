//! The range a rating may have.

use std::fmt;
use std::str::FromStr;

use storymeter_core::{Error, Place, Result};

/// The least and the greatest rating a rater could give, both included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// The least.
    pub low: f64,
    /// The greatest.
    pub high: f64,
}

impl Scale {
    /// HANNA's Likert scale.
    pub const LIKERT_5: Self = Self { low: 1.0, high: 5.0 };
    /// UNION's yes or no.
    pub const BINARY: Self = Self { low: 0.0, high: 1.0 };

    /// Whether a rating is on the scale; a missing one (NaN) is.
    pub fn holds(self, rating: f64) -> bool {
        rating.is_nan() || (self.low..=self.high).contains(&rating)
    }

    /// An error at a place if any rating is off the scale.
    pub fn check(self, ratings: &[f64], place: &Place) -> Result<()> {
        match ratings.iter().find(|&&rating| !self.holds(rating)) {
            None => Ok(()),
            Some(rating) => {
                let problem =
                    format!("rating {rating} is outside the scale {self} (change it with --scale)");
                Err(Error::invalid(place.clone(), problem))
            }
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
            Some((low, high)) if low < high => Ok(Self { low, high }),
            _ => Err(format!(
                "\"{text}\" is not a scale: write the least and the greatest rating, as 1..5"
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
        let error =
            scale.check(&[3.0, f64::NAN, 6.0], &Place::file("r.csv").at_line(7)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "r.csv:7: rating 6 is outside the scale 1..5 (change it with --scale)"
        );
        assert!("5..1".parse::<Scale>().is_err() && "1-5".parse::<Scale>().is_err());
    }
}
