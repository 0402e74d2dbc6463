//! How far the numbers of a learned column can be trusted, and what they are compared with.

use serde::{Deserialize, Serialize};

use crate::number::{percent, place, thousands};

/// How far the numbers of a learned column can be trusted: its model card in short.
///
/// ```
/// use storymeter_core::Validity;
/// let validity = Validity {
///     measures: "whether a story hangs together".into(),
///     tested: "short stories by models of 2018 to 2021".into(),
///     doubtful: "stories by models of 2023 and later".into(),
///     words: (20, 500),
/// };
/// assert!(validity.covers(120) && !validity.covers(1_400));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validity {
    /// What the number measures.
    pub measures: String,
    /// The kinds of story on which it was tested.
    pub tested: String,
    /// The kinds of story on which it is at chance or wrong; empty if none are known.
    pub doubtful: String,
    /// The fewest and the most words of the stories on which it was tested.
    pub words: (u64, u64),
}

impl Validity {
    /// Whether stories of so many words were among those that it was tested on.
    pub fn covers(&self, words: u64) -> bool {
        (self.words.0..=self.words.1).contains(&words)
    }

    /// The card in one sentence, for columns of these names.
    ///
    /// ```
    /// # use storymeter_core::Validity;
    /// let validity = Validity {
    ///     measures: "whether a story hangs together".into(),
    ///     tested: "stories by models of 2018 to 2021".into(),
    ///     doubtful: "stories by models of 2023 and later".into(),
    ///     words: (30, 1_500),
    /// };
    /// assert_eq!(
    ///     validity.sentence("union"),
    ///     "union: whether a story hangs together; tested on stories by models of 2018 to 2021, \
    ///      30 to 1,500 words long; at chance or wrong on stories by models of 2023 and later."
    /// );
    /// ```
    pub fn sentence(&self, columns: &str) -> String {
        let (fewest, most) = self.words;
        let doubt = match self.doubtful.is_empty() {
            true => String::new(),
            false => format!("; at chance or wrong on {}", self.doubtful),
        };
        format!(
            "{columns}: {}; tested on {}, {} to {} words long{doubt}.",
            self.measures,
            self.tested,
            thousands(fewest),
            thousands(most)
        )
    }
}

/// The numbers that human stories get, by length. A number alone says little: that it is higher
/// than those of 62% of human stories of the same length says more.
///
/// ```
/// use storymeter_core::{LengthClass, Norms};
/// let class = |longest, counts: &[u64]| LengthClass { longest, counts: counts.to_vec() };
/// let norms = Norms {
///     source: "eight human stories".into(),
///     low: 0.0,
///     high: 1.0,
///     classes: vec![class(Some(100), &[0, 1, 1, 2]), class(None, &[2, 1, 1, 0])],
/// };
/// assert_eq!(norms.share_below(0.75, 50), Some(0.5));
/// assert_eq!(norms.share_below(0.75, 500), Some(1.0));
/// assert_eq!(norms.lengths(500).unwrap(), (101, None));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Norms {
    /// Where the stories are from, and of which years.
    pub source: String,
    /// The lower end of the first bin of every class.
    pub low: f64,
    /// The upper end of the last bin of every class.
    pub high: f64,
    /// The classes of length, shorter ones first.
    pub classes: Vec<LengthClass>,
}

/// The numbers of human stories of similar length, as a histogram.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LengthClass {
    /// The most words of these stories; `None` if there is no limit. Words are separated by white
    /// space.
    pub longest: Option<u64>,
    /// How many numbers lie in each of as many equal parts of the range. A number between two parts
    /// belongs to the higher one.
    pub counts: Vec<u64>,
}

impl Norms {
    /// The share of human stories of the same length with a smaller number, from 0 to 1. `None` if
    /// there are no human stories of that length.
    pub fn share_below(&self, value: f64, words: u64) -> Option<f64> {
        let (class, position) = self.position(value, words)?;
        let whole = position as usize;
        let below: u64 = class.counts[..whole].iter().sum();
        // Inside one bin the numbers are taken to be spread evenly.
        let inside = class.counts.get(whole).map_or(0.0, |&count| count as f64);
        let below = below as f64 + inside * (position - whole as f64);
        Some(below / class.stories() as f64)
    }

    /// Where a number stands among human stories of the same length, as a part of a sentence that
    /// goes on with "of human stories". `None` if there are none.
    ///
    /// Many stories may share the lowest or highest number, as most have no overused phrase at all.
    /// A number at an end of the range is therefore placed with the stories beside it:
    ///
    /// ```
    /// # use storymeter_core::{LengthClass, Norms};
    /// let counts = vec![73, 20, 7, 0];
    /// let classes = vec![LengthClass { longest: None, counts }];
    /// let norms = Norms { source: "a hundred stories".into(), low: 0.0, high: 4.0, classes };
    /// let place = |value| norms.place(value, 50).unwrap();
    /// assert_eq!(place(0.0), "among the lowest 73%");
    /// assert_eq!(place(1.5), "higher than 83%");
    /// assert_eq!(place(9.0), "among the highest 1%");
    /// ```
    pub fn place(&self, value: f64, words: u64) -> Option<String> {
        let share = self.share_below(value, words)?;
        let (class, position) = self.position(value, words)?;
        let bin = (position as usize).min(class.counts.len().saturating_sub(1));
        let share_of = |bins: &[u64]| bins.iter().sum::<u64>() as f64 / class.stories() as f64;
        let (lowest, highest) =
            (share_of(class.counts.get(..=bin)?), share_of(class.counts.get(bin..)?));
        Some(match share {
            share if share < 0.01 && lowest > 0.01 => {
                format!("among the lowest {}", percent(lowest))
            }
            share if share > 0.99 && highest > 0.01 => {
                format!("among the highest {}", percent(highest))
            }
            share => place(share),
        })
    }

    /// The class of a length that has stories, and where a number lies in its bins, from 0.
    fn position(&self, value: f64, words: u64) -> Option<(&LengthClass, f64)> {
        let class = self.class(words)?;
        let bins = class.counts.len() as f64;
        let position = ((value - self.low) / (self.high - self.low) * bins).clamp(0.0, bins);
        (class.stories() > 0 && position.is_finite()).then_some((class, position))
    }

    /// The fewest and the most words of the human stories that a story of so many words is compared
    /// with.
    pub fn lengths(&self, words: u64) -> Option<(u64, Option<u64>)> {
        let class = self.class(words)?;
        let shorter = self.classes.iter().filter_map(|one| one.longest).filter(|&one| one < words);
        Some((shorter.max().map_or(0, |longest| longest + 1), class.longest))
    }

    /// The number of human stories that a story of so many words is compared with.
    pub fn stories(&self, words: u64) -> u64 {
        self.class(words).map_or(0, LengthClass::stories)
    }

    fn class(&self, words: u64) -> Option<&LengthClass> {
        self.classes.iter().find(|class| class.longest.is_none_or(|longest| words <= longest))
    }
}

impl LengthClass {
    fn stories(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// Lengths of stories ([`Norms::lengths`]) in words.
///
/// ```
/// use storymeter_core::length_range;
/// assert_eq!(length_range((0, Some(80))), "up to 80 words");
/// assert_eq!(length_range((81, Some(250))), "81 to 250 words");
/// assert_eq!(length_range((251, None)), "251 words or more");
/// ```
pub fn length_range(lengths: (u64, Option<u64>)) -> String {
    match lengths {
        (0, Some(longest)) => format!("up to {longest} words"),
        (shortest, Some(longest)) => format!("{shortest} to {longest} words"),
        (0, None) => "any length".to_owned(),
        (shortest, None) => format!("{shortest} words or more"),
    }
}
