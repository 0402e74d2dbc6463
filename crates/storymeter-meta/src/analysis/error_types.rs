//! What makes a story bad: error types that raters named (UNION Table 2 with section 3.1, and Table
//! 7).

use std::collections::BTreeMap;

use storymeter_core::Key;
use storymeter_stats::Coefficient;

use super::{associate, coefficient_only};
use crate::error::Result;
use crate::outcome::Absence;
use crate::study::{ErrorCorrelation, ErrorShare, ErrorTypeShares, ErrorTypesRow, ErrorTypesTable};

/// How many raters must name an error type before a story has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RatersNeeded {
    /// So many raters.
    pub raters: usize,
    /// Whether a majority is enough where there are few raters.
    pub or_majority: bool,
}

impl RatersNeeded {
    /// UNION's Table 7: three of seven raters.
    pub const UNION: Self = Self { raters: 3, or_majority: false };

    /// The number for a story that so many raters read.
    pub fn of(self, raters: usize) -> usize {
        if self.or_majority { self.raters.min(raters / 2 + 1) } else { self.raters }
    }
}

/// What the raters of one story named.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedErrors {
    /// How many raters there are.
    pub raters: usize,
    /// Types by position, in order, each with the number of raters who named it.
    pub types: Vec<(usize, usize)>,
}

impl NamedErrors {
    /// One entry per rater: a type by position; `None` where the rater found the story reasonable.
    fn of_raters(named: &[Option<usize>]) -> Self {
        let mut counts = BTreeMap::new();
        named.iter().flatten().for_each(|&at| *counts.entry(at).or_insert(0) += 1);
        Self { raters: named.len(), types: counts.into_iter().collect() }
    }

    fn naming(&self, error_type: usize) -> usize {
        let found = self.types.binary_search_by_key(&error_type, |&(at, _)| at);
        found.map_or(0, |at| self.types[at].1)
    }
}

/// The error types that raters named for each story.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorTypes {
    names: Vec<String>,
    /// How many of the names are specific. Those after them are "others", which have no set of
    /// their own and are not counted.
    specific: usize,
    stories: Vec<NamedErrors>,
    needed: RatersNeeded,
}

/// The stories on which metrics are compared with people: those with one error type, and those that
/// all raters found reasonable.
pub struct EvaluationSet {
    /// The error type.
    pub name: String,
    /// The number of stories that have it.
    pub own: usize,
    /// All stories, by position.
    pub members: Vec<usize>,
}

impl ErrorTypes {
    /// Types by name, of which the first so many are specific, and what each rater named.
    pub fn new(names: Vec<String>, specific: usize, named: Vec<Vec<Option<usize>>>) -> Self {
        let stories = named.iter().map(|story| NamedErrors::of_raters(story)).collect();
        Self { names, specific, stories, needed: RatersNeeded::UNION }
    }

    /// Types by name, all of them specific, of which a rater may have named several.
    pub fn of_counts(names: Vec<String>, stories: Vec<NamedErrors>, needed: RatersNeeded) -> Self {
        Self { specific: names.len(), names, stories, needed }
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
        self.stories[story].naming(error_type)
    }

    fn has(&self, story: usize, error_type: usize) -> bool {
        self.raters_naming(story, error_type) > 0
    }

    fn reasonable(&self, story: usize) -> bool {
        self.stories[story].types.iter().all(|&(_, raters)| raters == 0)
    }

    /// The number of stories that all raters found reasonable.
    pub fn count_reasonable(&self) -> usize {
        (0..self.stories.len()).filter(|&story| self.reasonable(story)).count()
    }

    /// The sets of the specific error types.
    pub fn evaluation_sets(&self) -> Vec<EvaluationSet> {
        let reasonable = self.count_reasonable();
        let set = |(at, name): (usize, &str)| {
            let members = self.evaluation_set(at);
            EvaluationSet { name: name.to_owned(), own: members.len() - reasonable, members }
        };
        self.specific().map(set).collect()
    }

    /// The stories with an error type, and those that all raters found reasonable.
    pub fn evaluation_set(&self, error_type: usize) -> Vec<usize> {
        let belongs = |&story: &usize| {
            let needed = self.needed.of(self.stories[story].raters).max(1);
            self.reasonable(story) || self.raters_naming(story, error_type) >= needed
        };
        (0..self.stories.len()).filter(belongs).collect()
    }

    /// Table 2: the share of unreasonable stories with each error type, how many types a story has,
    /// and whether types occur together. A story has a type here if one rater names it.
    pub fn shares(&self) -> Result<ErrorTypeShares> {
        let all: Vec<usize> = (0..self.stories.len()).collect();
        let unreasonable: Vec<usize> =
            all.iter().copied().filter(|&story| !self.reasonable(story)).collect();
        let n = unreasonable.len();
        let share = |name: String, stories: usize| {
            let percent = 100.0 * stories as f64 / n as f64;
            let percent = if n > 0 { Ok(percent) } else { Err(Absence::NothingToShare) };
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
        let stories = self.stories.len();
        let all = EvaluationSet {
            name: "All".to_owned(),
            own: stories,
            members: (0..stories).collect::<Vec<_>>(),
        };
        let sets: Vec<EvaluationSet> = std::iter::once(all).chain(self.evaluation_sets()).collect();
        let row = |(metric, scores): &(Key, Vec<f64>)| -> Result<ErrorTypesRow> {
            let (mut values, mut n) = (Vec::new(), Vec::new());
            for EvaluationSet { members, .. } in &sets {
                let pick = |values: &[f64]| members.iter().map(|&i| values[i]).collect::<Vec<_>>();
                let found = coefficient_only(Coefficient::Pearson, &pick(scores), &pick(human))?;
                values.push(found.value.map(|estimate| estimate.value));
                n.push(found.n);
            }
            Ok(ErrorTypesRow { metric: metric.clone(), values, n })
        };
        Ok(ErrorTypesTable {
            criterion: criterion.clone(),
            reasonable: self.count_reasonable(),
            raters_needed: self.needed.raters,
            rows: metrics.iter().map(row).collect::<Result<_>>()?,
            sets: sets.into_iter().map(|set| (set.name, set.own)).collect(),
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

    #[test]
    fn a_majority_is_enough_where_there_are_few_raters() {
        let needed = |raters| RatersNeeded { raters: 3, or_majority: true }.of(raters);
        assert_eq!([1, 2, 3, 4, 5, 7, 100].map(needed), [1, 2, 2, 3, 3, 3, 3]);
        assert_eq!(RatersNeeded::UNION.of(2), 3);
    }

    #[test]
    fn a_rater_may_name_several_types() {
        let story =
            |raters, types: &[(usize, usize)]| NamedErrors { raters, types: types.to_vec() };
        let stories = vec![
            story(3, &[(0, 3), (1, 2)]),
            story(3, &[]),
            story(3, &[(1, 1)]),
            story(1, &[(1, 1)]),
        ];
        let names = ["Rept", "Conf"].map(String::from).to_vec();
        let needed = RatersNeeded { raters: 3, or_majority: true };
        let errors = ErrorTypes::of_counts(names, stories, needed);
        let sets = errors.evaluation_sets();
        assert_eq!((sets[0].own, &sets[0].members[..]), (1, &[0, 1][..]));
        assert_eq!((sets[1].own, &sets[1].members[..]), (2, &[0, 1, 3][..]));
        assert_eq!(errors.count_reasonable(), 1);
    }
}
