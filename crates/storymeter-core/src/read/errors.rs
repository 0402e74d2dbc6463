//! Error types that raters named for a story, as ratings.
//!
//! Each type is a criterion of its own, `error:TYPE`, on which a rater who named the type gives 1
//! and any other rater 0. A story for which nobody named a type has the criterion `error:none`
//! instead, so that it differs from a story that nobody looked at.

use std::collections::HashSet;

use serde_json::Value;

use super::fields::MAX_RATERS;
use super::shown::quoted;
use crate::Ratings;

/// What the criterion of an error type begins with.
pub const ERROR_CRITERION: &str = "error:";

/// The criterion of a story for which no rater named an error.
pub const NO_ERROR_CRITERION: &str = "error:none";

/// What stands for no error, in small letters.
const NO_ERROR: [&str; 5] = ["", "none", "no error", "no errors", "reasonable"];

/// The most ratings of one story that error types may become. Those of raters who did not name a
/// type are stored too.
const MOST_RATINGS: usize = 1_000_000;

/// The error types of one story, and who named them.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Named {
    raters: usize,
    /// Types in order of appearance, each with the raters who named it.
    types: Vec<(String, HashSet<usize>)>,
}

impl Named {
    /// Reads the error types of a story that has so many scores.
    ///
    /// They are a text; a list of texts, which has one entry per rater if it is as long as the
    /// scores, if it has an empty entry or if it names a type twice; a list with one list per
    /// rater; or an object of numbers of raters by type. A type without a rater is what all of them
    /// say, and counts as the verdict of a single rater.
    pub fn read(value: &Value, scores: usize) -> Result<Self, String> {
        let named = match value {
            Value::Null => return Ok(Self::default()),
            Value::String(name) => {
                let mut named = Self { raters: 1, types: Vec::new() };
                named.add(0, name)?;
                named
            }
            Value::Array(entries) => Self::of_list(entries, scores)?,
            Value::Object(counts) => {
                let mut named = Self { raters: scores.max(1), types: Vec::new() };
                for (name, count) in counts {
                    let count = whole(count).ok_or_else(|| {
                        format!(
                            "the number of raters who named {} must be a whole number from 0 to \
                             {MAX_RATERS}",
                            quoted(name)
                        )
                    })?;
                    named.raters = named.raters.max(count);
                    (0..count).try_for_each(|rater| named.add(rater, name))?;
                }
                named
            }
            _ => {
                return Err(
                    "it is neither a text, nor a list, nor an object of numbers of raters \
                            by error type"
                        .to_owned(),
                );
            }
        };
        if named.raters > MAX_RATERS {
            return Err(format!("there are more than {MAX_RATERS} raters"));
        }
        Ok(named)
    }

    fn of_list(entries: &[Value], scores: usize) -> Result<Self, String> {
        let mut distinct = HashSet::new();
        let by_rater = (entries.len() == scores && scores > 1)
            || entries.iter().any(|entry| match entry {
                Value::String(name) => is_none(name) || !distinct.insert(name.trim()),
                _ => true,
            });
        let raters = match entries.len() {
            0 => scores.max(1),
            count if by_rater => count,
            _ => 1,
        };
        let mut named = Self { raters, types: Vec::new() };
        for (at, entry) in entries.iter().enumerate() {
            let rater = if by_rater { at } else { 0 };
            match entry {
                Value::Null => {}
                Value::String(name) => named.add(rater, name)?,
                Value::Array(names) => {
                    for name in names {
                        match name {
                            Value::Null => {}
                            Value::String(name) => named.add(rater, name)?,
                            _ => return Err(not_a_text(at)),
                        }
                    }
                }
                _ => return Err(not_a_text(at)),
            }
        }
        Ok(named)
    }

    /// A rater names a type.
    fn add(&mut self, rater: usize, name: &str) -> Result<(), String> {
        if is_none(name) {
            return Ok(());
        }
        let name = name.trim();
        match self.types.iter_mut().find(|(known, _)| known == name) {
            Some((_, raters)) => drop(raters.insert(rater)),
            None => self.types.push((name.to_owned(), HashSet::from([rater]))),
        }
        if self.types.len().saturating_mul(self.raters) > MOST_RATINGS {
            return Err(format!("{} error types are too many", self.types.len()));
        }
        Ok(())
    }

    /// Adds what was named to the ratings of the story.
    pub fn rate(&self, ratings: &mut Ratings) {
        for (name, by) in &self.types {
            let criterion = format!("{ERROR_CRITERION}{name}");
            for rater in 0..self.raters {
                ratings.push(&criterion, Some(f64::from(u8::from(by.contains(&rater)))));
            }
        }
        if self.types.is_empty() {
            (0..self.raters).for_each(|_| ratings.push(NO_ERROR_CRITERION, Some(1.0)));
        }
    }
}

fn not_a_text(at: usize) -> String {
    format!("entry {} of the list is neither a text nor a list of texts", at + 1)
}

/// Whether a name stands for no error.
fn is_none(name: &str) -> bool {
    let name = name.trim().to_lowercase().replace(['_', '-'], " ");
    NO_ERROR.contains(&name.as_str())
}

/// A number of raters; `null` is 0.
fn whole(value: &Value) -> Option<usize> {
    match value {
        Value::Null => Some(0),
        value => {
            let number = value.as_f64()?;
            let fits = number.fract() == 0.0 && (0.0..=MAX_RATERS as f64).contains(&number);
            fits.then_some(number as usize)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The ratings of a story with so many scores, as `criterion=ratings`.
    fn rated(value: Value, scores: usize) -> String {
        let mut ratings = Ratings::new();
        Named::read(&value, scores).unwrap().rate(&mut ratings);
        let shown = |(name, values): (&str, &[Option<f64>])| {
            let digits: String = values.iter().map(|v| v.unwrap().to_string()).collect();
            format!("{name}={digits}")
        };
        ratings.iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn every_form_says_who_named_what() {
        assert_eq!(rated(json!("repeated"), 5), "error:repeated=1");
        assert_eq!(rated(json!(["chaotic", "repeated"]), 5), "error:chaotic=1 error:repeated=1");
        assert_eq!(rated(json!(["chaotic", "repeated"]), 2), "error:chaotic=10 error:repeated=01");
        assert_eq!(rated(json!(["chaotic", null, "chaotic"]), 0), "error:chaotic=101");
        assert_eq!(rated(json!(["chaotic", "none"]), 5), "error:chaotic=10");
        assert_eq!(rated(json!([["a", "b"], [], null, ["b"]]), 4), "error:a=1000 error:b=1001");
        assert_eq!(rated(json!({"a": 2, "b": 0, "c": 1.0}), 3), "error:a=110 error:c=100");
        assert_eq!(rated(json!({"a": 4}), 3), "error:a=1111");
    }

    #[test]
    fn a_story_without_an_error_differs_from_one_that_nobody_looked_at() {
        assert_eq!(rated(Value::Null, 3), "");
        for none in [json!([]), json!({}), json!([null, null, null]), json!({"a": 0})] {
            assert_eq!(rated(none, 3), "error:none=111");
        }
        assert_eq!(rated(json!("Reasonable"), 3), "error:none=1");
        assert_eq!(rated(json!("no_error"), 3), "error:none=1");
    }

    #[test]
    fn what_is_no_error_type_is_refused() {
        let refused = |value: Value| Named::read(&value, 3).unwrap_err();
        assert!(refused(json!(3)).starts_with("it is neither a text, nor a list"));
        assert_eq!(
            refused(json!(["a", 7])),
            "entry 2 of the list is neither a text nor a list of texts"
        );
        let most = "the number of raters who named \"a\" must be a whole number from 0 to 10000";
        for count in [json!(-1), json!(0.5), json!("3"), json!(1e9), json!(10_001)] {
            assert_eq!(refused(json!({"a": count})), most);
        }
        let many: Vec<String> = (0..MAX_RATERS).map(|i| format!("type {}", i / 2)).collect();
        assert!(refused(json!(many)).ends_with("error types are too many"));
    }
}
