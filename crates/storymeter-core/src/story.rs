//! The story that is scored, and the ratings that people gave it.

use std::ops::Range;

use sha2::{Digest, Sha256};

/// One story: its text, where it comes from, and what is known about it.
///
/// In JSONL it is `{"id", "system", "item", "prompt", "story", "reference", "human"}`. Only `story`
/// is required, and `reference` is a text or a list of texts.
///
/// ```
/// use storymeter_core::Story;
/// let story = Story { prompt: Some("A door.".into()), ..Story::from("It opened.") };
/// assert_eq!((story.text.as_str(), story.item()), ("It opened.", "A door."));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Story {
    /// The id. If the input gives none, it is the 0-based number of the record.
    pub id: String,
    /// Who wrote the story: a model, or `Human`.
    pub system: Option<String>,
    /// The item that the input names. [`Story::item`] says what it is for.
    pub item: Option<String>,
    /// What the writer was given: a leading sentence or a writing prompt.
    pub prompt: Option<String>,
    /// The story itself.
    pub text: String,
    /// The sentences as byte ranges of the text; empty if the input does not mark them.
    pub sentences: Vec<Range<usize>>,
    /// Other stories for the same prompt, usually one human story.
    pub references: Vec<String>,
    /// Human ratings by criterion.
    pub ratings: Ratings,
}

/// A number that stands for an item: comparisons of systems keep it instead of the name, which may
/// be a long prompt, and put items in its order.
///
/// ```
/// use storymeter_core::item_key;
/// assert_ne!(item_key("a door"), item_key("a dog"));
/// ```
pub fn item_key(item: &str) -> u64 {
    let digest = Sha256::digest(item);
    digest[..8].iter().rev().fold(0, |key, &byte| key << 8 | u64::from(byte))
}

impl Story {
    /// The item, by which story-level correlation groups the stories of different systems: the item
    /// that the input names, otherwise the prompt, otherwise the id of the story.
    pub fn item(&self) -> &str {
        self.item.as_deref().or(self.prompt.as_deref()).unwrap_or(&self.id)
    }

    /// Appends a sentence after one space, and remembers where it stands.
    pub fn push_sentence(&mut self, sentence: &str) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        let start = self.text.len();
        self.text.push_str(sentence);
        self.sentences.push(start..self.text.len());
    }
}

/// Makes a story of which only the text is known.
impl From<&str> for Story {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }
}

/// Makes a story of which only the text is known.
impl From<String> for Story {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

/// Human ratings: for each criterion, in input order, the ratings of all raters.
///
/// A rater who skipped a criterion has `None` there, so that the n-th entry always belongs to the
/// n-th rater.
///
/// ```
/// use storymeter_core::Ratings;
/// let mut ratings = Ratings::new();
/// ratings.push("coherence", Some(4.0));
/// ratings.push("coherence", None);
/// assert_eq!(ratings.mean("coherence"), Some(4.0));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ratings(Vec<(String, Vec<Option<f64>>)>);

impl Ratings {
    /// No ratings yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether nobody rated.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends the rating of one more rater to a criterion, which is added if it is new.
    pub fn push(&mut self, criterion: &str, rating: Option<f64>) {
        self.values_mut(criterion).push(rating);
    }

    /// Sets the rating of the rater at a 0-based position. Raters before it that said nothing get
    /// `None`.
    pub fn push_as(&mut self, rater: usize, criterion: &str, rating: Option<f64>) {
        let values = self.values_mut(criterion);
        values.resize(values.len().max(rater + 1), None);
        values[rater] = rating;
    }

    fn values_mut(&mut self, criterion: &str) -> &mut Vec<Option<f64>> {
        let position = self.0.iter().position(|(name, _)| name == criterion).unwrap_or_else(|| {
            self.0.push((criterion.to_owned(), Vec::new()));
            self.0.len() - 1
        });
        &mut self.0[position].1
    }

    /// Fills every criterion with `None` up to this number of raters.
    pub fn pad(&mut self, raters: usize) {
        for (_, values) in &mut self.0 {
            values.resize(values.len().max(raters), None);
        }
    }

    /// The ratings on one criterion.
    pub fn get(&self, criterion: &str) -> Option<&[Option<f64>]> {
        self.0.iter().find(|(name, _)| name == criterion).map(|(_, values)| values.as_slice())
    }

    /// The mean of one criterion over the raters who rated it; `None` if nobody did.
    pub fn mean(&self, criterion: &str) -> Option<f64> {
        let given: Vec<f64> = self.get(criterion)?.iter().copied().flatten().collect();
        let count = given.len() as f64;
        let mean = given.iter().sum::<f64>() / count;
        // The sum of huge ratings may overflow, but their mean does not.
        let mean = if mean.is_finite() { mean } else { given.iter().map(|x| x / count).sum() };
        (!given.is_empty()).then_some(mean)
    }

    /// Criteria and ratings, in input order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[Option<f64>])> {
        self.0.iter().map(|(name, values)| (name.as_str(), values.as_slice()))
    }
}
