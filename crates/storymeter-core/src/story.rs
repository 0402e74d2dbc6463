//! What is measured, and what people said of it.

use std::ops::Range;

/// One story: its text, where it comes from, and what is known about it.
///
/// In JSONL: `{"id", "system", "item", "prompt", "story", "reference": "..." | [...], "human": {...}}`, of which
/// only `story` is required.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Story {
    /// Its name; the 0-based record number where the input has none.
    pub id: String,
    /// Who wrote it: a model, or `Human`.
    pub system: Option<String>,
    /// What story-level correlation groups by, where the input says it; see [`Story::item`].
    pub item: Option<String>,
    /// What the writer was given: a leading sentence or a writing prompt.
    pub prompt: Option<String>,
    /// The story itself.
    pub text: String,
    /// Its sentences as byte ranges into the text, where the input says them; else empty.
    pub sentences: Vec<Range<usize>>,
    /// Other stories for the same prompt, usually one human story.
    pub references: Vec<String>,
    /// Human ratings by criterion.
    pub ratings: Ratings,
}

impl Story {
    /// What story-level correlation groups by: the item if given, else the prompt, else the story's own id.
    pub fn item(&self) -> &str {
        self.item.as_deref().or(self.prompt.as_deref()).unwrap_or(&self.id)
    }

    /// Appends a sentence that the input gives as such, after one space.
    pub fn push_sentence(&mut self, sentence: &str) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        let start = self.text.len();
        self.text.push_str(sentence);
        self.sentences.push(start..self.text.len());
    }
}

/// A story of which only the text is known.
impl From<&str> for Story {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }
}

/// A story of which only the text is known.
impl From<String> for Story {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

/// Human ratings: for each criterion, in input order, what each rater said.
///
/// A rater who skipped a criterion has `None` there, so that the n-th entry always belongs to the
/// n-th rater.
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

    /// Fills every criterion up to so many raters with `None`.
    pub fn pad(&mut self, raters: usize) {
        for (_, values) in &mut self.0 {
            values.resize(values.len().max(raters), None);
        }
    }

    /// What the raters said on one criterion.
    pub fn get(&self, criterion: &str) -> Option<&[Option<f64>]> {
        self.0.iter().find(|(name, _)| name == criterion).map(|(_, values)| values.as_slice())
    }

    /// The mean of one criterion over the raters who rated it; `None` where nobody did.
    pub fn mean(&self, criterion: &str) -> Option<f64> {
        let given: Vec<f64> = self.get(criterion)?.iter().copied().flatten().collect();
        (!given.is_empty()).then(|| given.iter().sum::<f64>() / given.len() as f64)
    }

    /// Criteria and ratings, in input order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[Option<f64>])> {
        self.0.iter().map(|(name, values)| (name.as_str(), values.as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_item_falls_back_to_the_prompt_and_then_to_the_id() {
        let mut story = Story { id: "3".into(), ..Story::default() };
        assert_eq!(story.item(), "3");
        story.prompt = Some("A door opens.".into());
        assert_eq!(story.item(), "A door opens.");
        story.item = Some("door".into());
        assert_eq!(story.item(), "door");
    }

    #[test]
    fn a_missing_rating_does_not_count_in_the_mean() {
        let mut ratings = Ratings::new();
        ratings.push("coherence", Some(2.0));
        ratings.push("coherence", None);
        ratings.push("coherence", Some(5.0));
        assert_eq!(ratings.mean("coherence"), Some(3.5));
        assert_eq!(ratings.mean("surprise"), None);
    }
}
