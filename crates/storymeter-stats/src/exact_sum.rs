//! Sums without rounding, so that parts of a sum can be added in any order.
//!
//! Floating-point addition is not associative: the sum of a file depends on how the file was cut
//! into parts. An [`ExactSum`] holds all bits. Only [`ExactSum::value`] rounds, once, at the end.

use std::fmt;
use std::str::FromStr;

/// The bits of a limb. Limbs are wider than that, so that carries can wait.
const BITS: u32 = 32;

/// The exponent of the bit that limb 0 begins with. It is below that of the product of the two
/// smallest numbers, so that limbs have no negative index.
const LOWEST: i32 = -2176;

/// How many numbers can be added before the carries must be passed on: each adds less than 2^33 to
/// a limb of 63 bits.
const BEFORE_CARRY: u32 = 1 << 29;

/// The most hexadecimal digits that a sum is read from: enough for the sum of any numbers.
const MOST_DIGITS: usize = 1200;

/// A sum of floating-point numbers without any rounding.
///
/// Sums of parts can be added in any order and always give the same sum. A sum is written as a
/// hexadecimal number and a power of two, and is read back unchanged ([`FromStr`]).
///
/// ```
/// use storymeter_stats::ExactSum;
/// let (mut first, mut second) = (ExactSum::default(), ExactSum::default());
/// first.add(1e100);
/// first.add(0.5);
/// second.add(-1e100);
/// first.merge(&second);
/// assert_eq!(first.value(), 0.5);
/// assert_eq!(first.to_string(), "1p-1");
/// assert_eq!("1p-1".parse(), Ok(first));
/// ```
#[derive(Debug, Clone, Default)]
pub struct ExactSum {
    /// The index of the first limb that is kept.
    first: usize,
    /// Digits in base 2^32 that may be too large or negative as long as carries wait.
    limbs: Vec<i64>,
    /// How many numbers were added since the carries were passed on.
    waiting: u32,
    special: Special,
}

/// What was added that is not a finite number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Special {
    nan: bool,
    positive: bool,
    negative: bool,
}

impl ExactSum {
    /// Adds a number.
    pub fn add(&mut self, number: f64) {
        match parts(number) {
            Some((mantissa, exponent, negative)) => {
                self.add_bits(u128::from(mantissa), exponent, negative);
            }
            None => self.add_special(number),
        }
    }

    /// Adds the product of two numbers, which is not rounded either.
    ///
    /// ```
    /// let mut squares = storymeter_stats::ExactSum::default();
    /// squares.add_product(1.0 + f64::EPSILON, 1.0 + f64::EPSILON);
    /// squares.add(-1.0 - 2.0 * f64::EPSILON);
    /// assert_eq!(squares.value(), f64::EPSILON * f64::EPSILON);
    /// ```
    pub fn add_product(&mut self, a: f64, b: f64) {
        match (parts(a), parts(b)) {
            (Some(a), Some(b)) => {
                self.add_bits(u128::from(a.0) * u128::from(b.0), a.1 + b.1, a.2 != b.2);
            }
            _ => self.add_special(a * b),
        }
    }

    /// Adds a whole number.
    pub fn add_integer(&mut self, number: i64) {
        self.add_bits(u128::from(number.unsigned_abs()), 0, number < 0);
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: &Self) {
        self.special.nan |= other.special.nan;
        self.special.positive |= other.special.positive;
        self.special.negative |= other.special.negative;
        if other.limbs.is_empty() {
            return;
        }
        let mut other = other.clone();
        other.carry();
        if self.waiting >= BEFORE_CARRY {
            self.carry();
        }
        self.make_room(other.first, other.first + other.limbs.len());
        let start = other.first - self.first;
        self.limbs[start..].iter_mut().zip(&other.limbs).for_each(|(own, more)| *own += more);
        self.waiting += 1;
    }

    /// The sum, rounded to the nearest number; NaN or infinite where such a number was added, or
    /// where the sum is too large.
    pub fn value(&self) -> f64 {
        match (self.special.nan, self.special.positive, self.special.negative) {
            (false, false, false) => {}
            (false, true, false) => return f64::INFINITY,
            (false, false, true) => return f64::NEG_INFINITY,
            _ => return f64::NAN,
        }
        let (digits, exponent, negative) = self.magnitude();
        let value = rounded(&digits, exponent);
        if negative { -value } else { value }
    }

    fn add_special(&mut self, number: f64) {
        self.special.nan |= number.is_nan();
        self.special.positive |= number == f64::INFINITY;
        self.special.negative |= number == f64::NEG_INFINITY;
    }

    /// Adds `mantissa * 2^exponent`.
    fn add_bits(&mut self, mantissa: u128, exponent: i32, negative: bool) {
        if mantissa == 0 {
            return;
        }
        if self.waiting >= BEFORE_CARRY {
            self.carry();
        }
        self.waiting += 1;
        // At least LOWEST, because the smallest factors have the exponent -1074 each.
        let position = (exponent - LOWEST) as u32;
        let (limb, shift) = ((position / BITS) as usize, position % BITS);
        let low = mantissa << shift;
        // What the shift pushed out at the top.
        let high = if shift == 0 { 0 } else { (mantissa >> (128 - shift)) as u64 };
        let used = (128 - mantissa.leading_zeros() + shift).div_ceil(BITS) as usize;
        self.make_room(limb, limb + used);
        let digit = |at: usize| match at {
            0..4 => (low >> (BITS as usize * at)) as u32,
            _ => high as u32,
        };
        let start = limb - self.first;
        for (at, own) in self.limbs[start..start + used].iter_mut().enumerate() {
            let digit = i64::from(digit(at));
            *own += if negative { -digit } else { digit };
        }
    }

    /// Makes limbs from one index up to another.
    fn make_room(&mut self, from: usize, to: usize) {
        if self.limbs.is_empty() {
            self.first = from;
        }
        if from < self.first {
            self.limbs.splice(0..0, std::iter::repeat_n(0, self.first - from));
            self.first = from;
        }
        if to > self.first + self.limbs.len() {
            self.limbs.resize(to - self.first, 0);
        }
    }

    /// Passes the carries on. Afterwards all limbs are digits, except the last, which has the sign.
    fn carry(&mut self) {
        self.waiting = 0;
        let mut carry = 0;
        for limb in &mut self.limbs {
            let sum = *limb + carry;
            (*limb, carry) = (sum & i64::from(u32::MAX), sum >> BITS);
        }
        match self.limbs.last_mut() {
            // The sign fits into the last limb, which therefore does not move up.
            Some(last) if carry == -1 && *last >= 1 << (BITS - 1) => *last -= 1 << BITS,
            _ if carry != 0 => self.limbs.push(carry),
            _ => {}
        }
    }

    /// The digits of the absolute value without zeros at the ends, the exponent of the first of
    /// them, and the sign.
    fn magnitude(&self) -> (Vec<u32>, i32, bool) {
        let mut sum = self.clone();
        sum.carry();
        let negative = sum.limbs.last().is_some_and(|&limb| limb < 0);
        if negative {
            sum.limbs.iter_mut().for_each(|limb| *limb = -*limb);
            sum.carry();
        }
        // After that the carry is a digit too.
        let mut digits: Vec<u32> = Vec::with_capacity(sum.limbs.len() + 1);
        for limb in sum.limbs {
            digits.push(limb as u32);
            if limb >> BITS != 0 {
                digits.push((limb >> BITS) as u32);
            }
        }
        let zeros = digits.iter().take_while(|&&digit| digit == 0).count();
        digits.drain(..zeros);
        while digits.last() == Some(&0) {
            digits.pop();
        }
        let exponent = LOWEST + BITS as i32 * (sum.first + zeros) as i32;
        (digits, exponent, negative)
    }
}

/// Two sums are equal if no bit differs.
impl PartialEq for ExactSum {
    fn eq(&self, other: &Self) -> bool {
        self.special == other.special && self.magnitude() == other.magnitude()
    }
}

impl Eq for ExactSum {}

/// The mantissa, the exponent and the sign of a finite number.
fn parts(number: f64) -> Option<(u64, i32, bool)> {
    let bits = number.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    let negative = bits >> 63 == 1;
    match exponent {
        0x7ff => None,
        0 => Some((fraction, -1074, negative)),
        exponent => Some((fraction | 1 << 52, exponent - 1075, negative)),
    }
}

/// The number with these digits, rounded to the nearest one, to the even one of two.
fn rounded(digits: &[u32], exponent: i32) -> f64 {
    let Some(&last) = digits.last() else { return 0.0 };
    let length = digits.len() as i32 * BITS as i32 - last.leading_zeros() as i32;
    // The exponent of the last bit that the result can have.
    let unit = (exponent + length - 53).max(-1074);
    let bit = |at: i32| {
        let at = at - exponent;
        at >= 0 && digits.get(at as usize / 32).is_some_and(|digit| digit >> (at % 32) & 1 == 1)
    };
    let top = exponent + length;
    let mut mantissa = (unit..top).rev().fold(0u64, |sum, at| sum << 1 | u64::from(bit(at)));
    let half = bit(unit - 1);
    let more = (exponent..unit - 1).any(bit);
    if half && (more || mantissa & 1 == 1) {
        mantissa += 1;
    }
    if mantissa == 1 << 53 {
        // A power of two: it has the next exponent.
        return scaled(1 << 52, unit + 1);
    }
    scaled(mantissa, unit)
}

/// `mantissa * 2^unit`, where the mantissa has at most 53 bits and the unit fits it.
fn scaled(mantissa: u64, unit: i32) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    if mantissa < 1 << 52 {
        // Below the normal numbers, or a short mantissa at the lowest unit.
        return f64::from_bits(mantissa);
    }
    let exponent = unit + 1075;
    if exponent >= 0x7ff {
        return f64::INFINITY;
    }
    f64::from_bits((exponent as u64) << 52 | (mantissa & ((1 << 52) - 1)))
}

impl fmt::Display for ExactSum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.special != Special::default() {
            return write!(f, "{}", self.value());
        }
        let (digits, mut exponent, negative) = self.magnitude();
        if digits.is_empty() {
            return f.write_str("0");
        }
        // The last bit is a 1, so that every sum has one spelling.
        let shift = digits[0].trailing_zeros();
        exponent += shift as i32;
        let mut shifted: Vec<u32> = Vec::with_capacity(digits.len());
        for (at, &digit) in digits.iter().enumerate() {
            let next = digits.get(at + 1).copied().unwrap_or(0);
            shifted.push(((u64::from(next) << BITS | u64::from(digit)) >> shift) as u32);
        }
        while shifted.last() == Some(&0) {
            shifted.pop();
        }
        if negative {
            f.write_str("-")?;
        }
        for (at, digit) in shifted.iter().rev().enumerate() {
            if at == 0 {
                write!(f, "{digit:x}")?;
            } else {
                write!(f, "{digit:08x}")?;
            }
        }
        write!(f, "p{exponent}")
    }
}

/// A text that is not an exact sum.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this is not an exact sum, which reads like 3a7p-52")]
pub struct NotAnExactSum;

impl FromStr for ExactSum {
    type Err = NotAnExactSum;

    fn from_str(text: &str) -> Result<Self, NotAnExactSum> {
        let mut sum = Self::default();
        match text {
            "0" => return Ok(sum),
            "NaN" => sum.special.nan = true,
            "inf" => sum.special.positive = true,
            "-inf" => sum.special.negative = true,
            text => {
                let (negative, text) = match text.strip_prefix('-') {
                    Some(text) => (true, text),
                    None => (false, text),
                };
                let (digits, exponent) = text.split_once('p').ok_or(NotAnExactSum)?;
                let exponent: i32 = exponent.parse().map_err(|_| NotAnExactSum)?;
                let spelled = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                let fits = (LOWEST..=-LOWEST).contains(&exponent);
                if digits.is_empty() || digits.len() > MOST_DIGITS || !spelled || !fits {
                    return Err(NotAnExactSum);
                }
                for (at, digit) in digits.bytes().rev().enumerate() {
                    let value = char::from(digit).to_digit(16).ok_or(NotAnExactSum)?;
                    sum.add_bits(u128::from(value), exponent + 4 * at as i32, negative);
                }
                sum.carry();
            }
        }
        Ok(sum)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for ExactSum {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for ExactSum {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
