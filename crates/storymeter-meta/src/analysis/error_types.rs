//! What makes a story bad: error types that raters named (UNION Table 2 with section 3.1, and Table
//! 7).

use storymeter_core::Key;
use storymeter_stats::Coefficient;

use super::associate;
use crate::error::Result;
use crate::outcome::Gap;
use crate::study::{ErrorCorrelation, ErrorShare, ErrorTypeShares, ErrorTypesRow, ErrorTypesTable};

/// Table 7: a story has an error type if at least so many raters name it.
const RATERS_NEEDED: usize = 3;

/// The error type that each rater named for each story.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorTypes {
    names: Vec<String>,
    /// How many of the names are specific. Those after them are "others", which have no set of
    /// their own and are not counted.
    specific: usize,
    /// `[story][rater]`: a position in the names; `None` where the rater found the story
    /// reasonable.
    named: Vec<Vec<Option<usize>>>,
}

impl ErrorTypes {
    /// Types by name, of which the first so many are specific, and what each rater named.
    pub fn new(names: Vec<String>, specific: usize, named: Vec<Vec<Option<usize>>>) -> Self {
        Self { names, specific, named }
    }

    /// The error types with a set of their own: position and name.
    pub fn specific(&self) -> impl Iterator<Item = (usize, &str)> {
        self.names.iter().take(self.specific).map(String::as_str).enumerate()
    }

    /// The error types that raters named for a story, with the number of raters.
    pub fn counts(&self, story: usize) -> Vec<(String, usize)> {
        let count = |(at, name): (usize, &String)| (name.clone(), self.raters_naming(story, at));
        self.names.iter().enumerate().map(count).filter(|(_, raters)| *raters > 0).collect()
    }

    fn raters_naming(&self, story: usize, error_type: usize) -> usize {
        self.named[story].iter().filter(|named| **named == Some(error_type)).count()
    }

    fn has(&self, story: usize, error_type: usize) -> bool {
        self.raters_naming(story, error_type) > 0
    }

    fn reasonable(&self, story: usize) -> bool {
        self.named[story].iter().all(Option::is_none)
    }

    /// The stories with an error type, and those that all raters found reasonable.
    pub fn evaluation_set(&self, error_type: usize) -> Vec<usize> {
        let belongs = |&story: &usize| {
            self.reasonable(story) || self.raters_naming(story, error_type) >= RATERS_NEEDED
        };
        (0..self.named.len()).filter(belongs).collect()
    }

    /// Table 2: the share of unreasonable stories with each error type, how many types a story has,
    /// and whether types occur together. A story has a type here if one rater names it.
    pub fn shares(&self) -> Result<ErrorTypeShares> {
        let all: Vec<usize> = (0..self.named.len()).collect();
        let unreasonable: Vec<usize> =
            all.iter().copied().filter(|&story| !self.reasonable(story)).collect();
        let n = unreasonable.len();
        let share = |name: String, stories: usize| {
            let percent = 100.0 * stories as f64 / n as f64;
            let percent = if n > 0 { Ok(percent) } else { Err(Gap::NothingToShare) };
            ErrorShare { name, stories, percent }
        };
        let with_type = |(at, name): (usize, &String)| {
            let has = |story: &&usize| self.has(**story, at);
            share(name.clone(), unreasonable.iter().filter(has).count())
        };
        let with_number = |wanted: usize| {
            let types = |story: usize| (0..self.specific).filter(|&at| self.has(story, at)).count();
            let has = |story: &&usize| types(**story) == wanted;
            share(wanted.to_string(), unreasonable.iter().filter(has).count())
        };
        Ok(ErrorTypeShares {
            stories: all.len(),
            unreasonable: n,
            types: self.names.iter().enumerate().map(with_type).collect(),
            by_number_of_types: (0..=self.specific).map(with_number).collect(),
            others: self.names[self.specific..].to_vec(),
            correlations: self.correlations(&unreasonable, &all)?,
        })
    }

    /// Section 3.1: Spearman between every two error types, each 0 or 1 per story.
    fn correlations(&self, unreasonable: &[usize], all: &[usize]) -> Result<Vec<ErrorCorrelation>> {
        let mut found = Vec::new();
        for (first, name) in self.names.iter().enumerate() {
            for (second, other) in self.names.iter().enumerate().skip(first + 1) {
                let over = |stories: &[usize]| {
                    let named = |at: usize| -> Vec<f64> {
                        stories.iter().map(|&s| f64::from(u8::from(self.has(s, at)))).collect()
                    };
                    associate(Coefficient::Spearman, &named(first), &named(second))
                };
                found.push(ErrorCorrelation {
                    first: name.clone(),
                    second: other.clone(),
                    unreasonable: over(unreasonable)?.value,
                    all: over(all)?.value,
                });
            }
        }
        Ok(found)
    }

    /// Table 7: Pearson on all stories, and on the stories of each error type together with the
    /// reasonable ones.
    pub fn by_type(
        &self,
        criterion: &Key,
        metrics: &[(Key, Vec<f64>)],
        human: &[f64],
    ) -> Result<ErrorTypesTable> {
        let stories = self.named.len();
        let reasonable = (0..stories).filter(|&story| self.reasonable(story)).count();
        let mut sets = vec![("All".to_owned(), stories, (0..stories).collect::<Vec<_>>())];
        for (at, name) in self.specific() {
            let members = self.evaluation_set(at);
            sets.push((name.to_owned(), members.len() - reasonable, members));
        }
        let row = |(metric, scores): &(Key, Vec<f64>)| -> Result<ErrorTypesRow> {
            let (mut values, mut n) = (Vec::new(), Vec::new());
            for (.., members) in &sets {
                let pick = |values: &[f64]| members.iter().map(|&i| values[i]).collect::<Vec<_>>();
                let found = associate(Coefficient::Pearson, &pick(scores), &pick(human))?;
                values.push(found.value.map(|estimate| estimate.value));
                n.push(found.n);
            }
            Ok(ErrorTypesRow { metric: metric.clone(), values, n })
        };
        Ok(ErrorTypesTable {
            criterion: criterion.clone(),
            reasonable,
            raters_needed: RATERS_NEEDED,
            rows: metrics.iter().map(row).collect::<Result<_>>()?,
            sets: sets.into_iter().map(|(name, own, _)| (name, own)).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five stories: one reasonable, one all repetition, one mixed, one others only, one with three
    /// conflicts.
    fn errors() -> ErrorTypes {
        let named = [
            [0, 0, 0, 0, 0, 0, 0],
            [1, 1, 1, 1, 1, 1, 1],
            [0, 1, 2, 3, 4, 0, 0],
            [5, 0, 0, 0, 0, 0, 0],
            [3, 3, 3, 0, 0, 0, 0],
        ];
        let names = ["Repe", "Cohe", "Conf", "Chao", "Others"].map(String::from).to_vec();
        let story = |codes: [usize; 7]| codes.iter().map(|code| code.checked_sub(1)).collect();
        ErrorTypes::new(names, 4, named.map(story).to_vec())
    }

    #[test]
    fn one_rater_is_enough_for_the_shares() {
        let found = errors().shares().unwrap();
        assert_eq!((found.stories, found.unreasonable), (5, 4));
        assert_eq!((found.types[0].name.as_str(), found.types[0].stories), ("Repe", 2));
        assert_eq!(found.types[2].percent, Ok(50.0));
        assert_eq!(
            (found.types[4].stories, found.others.as_slice()),
            (1, &["Others".to_owned()][..])
        );
        let numbers: Vec<usize> = found.by_number_of_types.iter().map(|one| one.stories).collect();
        assert_eq!(numbers, [1, 2, 0, 0, 1]);
    }

    #[test]
    fn three_raters_are_needed_for_a_set_and_reasonable_stories_join_every_set() {
        let errors = errors();
        assert_eq!(errors.evaluation_set(0), [0, 1]);
        assert_eq!(errors.evaluation_set(1), [0]);
        assert_eq!(errors.evaluation_set(2), [0, 4]);
    }
}
