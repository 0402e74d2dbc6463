//! Numbers as people read them. Files keep all digits.

/// Values so far below the last digit that a column shows are what is left of rounding. Numbers of
/// 64 bits have 16 digits, a column shows three or four, and sums over many values lose a few.
const NOISE: f64 = 1e-9;

/// How the numbers of one column are written: all with the same number of digits.
///
/// Usually that is a fixed number of digits after the point, and a value that rounds to zero is
/// zero, without a sign. Only if no number of the column would show a digit, all of them have an
/// exponent. Values that are nothing but rounding errors do not count as such numbers.
///
/// ```
/// use storymeter_core::number::Digits;
/// let usual = Digits::new([0.5, -0.00004, -8e-18], 3);
/// assert_eq!([0.5, -0.00004, -8e-18].map(|x| usual.text(x)), ["0.500", "0.000", "0.000"]);
/// let small = Digits::new([2e-9, -3.25e-10, 0.0], 3);
/// assert_eq!([2e-9, -3.25e-10].map(|x| small.text(x)), ["2.00e-9", "-3.25e-10"]);
/// assert_eq!(Digits::new([-8e-18], 3).text(-8e-18), "0.000");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digits {
    decimals: u8,
    exponent: bool,
}

impl Digits {
    /// The digits of a column that usually has so many after the point.
    pub fn new(values: impl IntoIterator<Item = f64>, decimals: u8) -> Self {
        let fixed = Self { decimals, exponent: false };
        let (mut shows, mut is_small) = (false, false);
        for value in values {
            shows |= !fixed.vanishes(value);
            is_small |= fixed.vanishes(value) && !fixed.is_noise(value);
        }
        // A column of whole numbers is rounded on purpose.
        Self { decimals, exponent: decimals > 0 && is_small && !shows }
    }

    /// A value of the column.
    pub fn text(self, value: f64) -> String {
        match (self.exponent, self.vanishes(value)) {
            (true, _) if self.is_noise(value) => format!("{:.2e}", 0.0),
            (true, _) => format!("{value:.2e}"),
            (false, true) => format!("{:.*}", usize::from(self.decimals), 0.0),
            (false, false) => format!("{value:.*}", usize::from(self.decimals)),
        }
    }

    /// A value of the column with its sign. Zero has none.
    pub fn signed(self, value: f64) -> String {
        let text = self.text(value);
        let is_zero = text.parse() == Ok(0.0);
        if value > 0.0 && !is_zero { format!("+{text}") } else { text }
    }

    /// Whether a value rounds to zero.
    fn vanishes(self, value: f64) -> bool {
        value.abs() < 0.5 * self.unit() || value == 0.0
    }

    /// Whether a value is zero but for rounding errors.
    fn is_noise(self, value: f64) -> bool {
        value.abs() < NOISE * self.unit()
    }

    /// One in the last digit.
    fn unit(self) -> f64 {
        10f64.powi(-i32::from(self.decimals))
    }
}

/// One number that stands by itself, with so many digits after the point.
///
/// ```
/// use storymeter_core::number::text;
/// assert_eq!([0.37041, 2e-9, -8e-18].map(|x| text(x, 3)), ["0.370", "2.00e-9", "0.000"]);
/// ```
pub fn text(value: f64, decimals: u8) -> String {
    Digits::new([value], decimals).text(value)
}

/// A share as a percentage. Only nothing is 0%, and only everything is 100%.
///
/// ```
/// use storymeter_core::number::percent;
/// let shares = [0.0, 0.0002, 0.625, 0.9997, 1.0];
/// assert_eq!(shares.map(percent), ["0%", "0.1%", "62%", "99.9%", "100%"]);
/// ```
pub fn percent(share: f64) -> String {
    match 100.0 * share {
        x if x > 0.0 && x < 1.0 => format!("{:.1}%", x.max(0.1)),
        x if x > 99.0 && x < 100.0 => format!("{:.1}%", x.min(99.9)),
        x => format!("{x:.0}%"),
    }
}

/// Where a value stands among others of which this share is lower, as a part of a sentence that
/// goes on with "of human stories". The ends are rounded to 1%, because a few hundred stories
/// cannot say more, and 0.2% would look as if they did.
///
/// ```
/// use storymeter_core::number::place;
/// assert_eq!(place(0.625), "higher than 62%");
/// assert_eq!([0.002, 0.998].map(place), ["among the lowest 1%", "among the highest 1%"]);
/// ```
pub fn place(share: f64) -> String {
    match share {
        share if share < 0.01 => "among the lowest 1%".to_owned(),
        share if share > 0.99 => "among the highest 1%".to_owned(),
        share => format!("higher than {}", percent(share)),
    }
}

/// A number with commas between its thousands.
///
/// ```
/// use storymeter_core::number::thousands;
/// assert_eq!([54, 1476, 1_000_000].map(thousands), ["54", "1,476", "1,000,000"]);
/// ```
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_one_number_of_digits() {
        for (values, decimals) in
            [(&[1.0, 0.25, -3e-5, 2e-17][..], 4), (&[12.0, -0.4, 1e-300], 1), (&[3e-7, 2e-8], 3)]
        {
            let column = Digits::new(values.iter().copied(), decimals);
            let digits = |value: &f64| {
                let text = column.text(*value);
                let mantissa = text.split('e').next().unwrap_or_default();
                mantissa.split_once('.').map_or(0, |(_, digits)| digits.len())
            };
            let all: Vec<usize> = values.iter().map(digits).collect();
            assert!(all.windows(2).all(|two| two[0] == two[1]), "{values:?}: {all:?}");
        }
    }

    #[test]
    fn what_rounds_to_zero_has_no_sign_and_rounding_errors_are_zero() {
        for decimals in 0..=8 {
            for noise in [8e-18, -8e-18, -0.0, 0.0, f64::MIN_POSITIVE] {
                let zero = format!("{:.*}", usize::from(decimals), 0.0);
                let column = Digits::new([noise], decimals);
                assert_eq!([column.text(noise), column.signed(noise)], [zero.clone(), zero]);
            }
        }
        let column = Digits::new([0.5, -0.5], 2);
        assert_eq!([column.signed(0.5), column.signed(-0.5)], ["+0.50", "-0.50"]);
        assert_eq!(column.signed(-0.004), "0.00");
    }

    #[test]
    fn the_boundary_is_that_of_rounding() {
        let column = Digits::new([1.0], 3);
        assert_eq!([column.text(0.0006), column.text(-0.0004)], ["0.001", "0.000"]);
        // Rounds to even in binary, and is never "-0.000".
        assert!(!column.text(-0.0005).starts_with("-0.000"));
    }
}
