//! What makes a story bad: error types named by raters (UNION Table 2 with section 3.1, and Table 7).

use storymeter_stats::Coefficient;

use crate::correlations::associate;
use crate::error::Result;
use crate::sheet::{Cell, Form, Sheet};

/// Table 7: a story has an error type when at least so many raters name it.
const RATERS_NEEDED: usize = 3;

/// The error type each rater named for each story.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorTypes {
    names: Vec<String>,
    /// How many of the names stand for something; those after them are "others", which sets and counts pass over.
    specific: usize,
    /// `[story][rater]`: a position in the names, or none where the rater found the story reasonable.
    named: Vec<Vec<Option<usize>>>,
}

impl ErrorTypes {
    /// Types by name, of which the first so many are specific, and what each rater named.
    pub fn new(names: Vec<String>, specific: usize, named: Vec<Vec<Option<usize>>>) -> Self {
        Self { names, specific, named }
    }

    /// How many stories there are.
    pub fn len(&self) -> usize {
        self.named.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.named.is_empty()
    }

    /// The error types with a set of their own: position and name.
    pub fn specific(&self) -> impl Iterator<Item = (usize, &str)> {
        self.names.iter().take(self.specific).map(String::as_str).enumerate()
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

    /// The stories with an error type, and those all raters found reasonable.
    pub fn evaluation_set(&self, error_type: usize) -> Vec<usize> {
        let belongs = |&story: &usize| {
            self.reasonable(story) || self.raters_naming(story, error_type) >= RATERS_NEEDED
        };
        (0..self.len()).filter(belongs).collect()
    }

    /// Table 2: the share of unreasonable stories with each error type, how many types a story has, and whether the
    /// types go together. A type counts for a story when one rater names it.
    pub fn shares(&self, id: &str) -> Result<Vec<Sheet>> {
        let all: Vec<usize> = (0..self.len()).collect();
        let unreasonable: Vec<usize> =
            all.iter().copied().filter(|&story| !self.reasonable(story)).collect();
        let n = unreasonable.len();
        let share =
            |count: usize| Cell::number(100.0 * count as f64 / n as f64, "no unreasonable story");
        let mut proportions =
            Sheet::new(id, "Error types of the unreasonable stories", Form::Table)
                .brief()
                .column("type", 0)
                .column("stories", 0)
                .column("prop (%)", 1)
                .note(format!(
                    "{n} of {} stories are called unreasonable by at least one rater",
                    self.len()
                ));
        for (at, name) in self.names.iter().enumerate() {
            let count = unreasonable.iter().filter(|&&story| self.has(story, at)).count();
            proportions.push(vec![name.into(), count.into(), share(count)]);
        }
        let mut counts =
            Sheet::new(format!("{id}-shares"), "How many error types a story has", Form::Table)
                .brief()
                .column("types", 0)
                .column("stories", 0)
                .column("share (%)", 2);
        if self.specific < self.names.len() {
            let others = self.names[self.specific..].join(", ");
            counts = counts
                .note(format!("not counting {others}: a story with 0 types has nothing else"));
        }
        for wanted in 0..=self.specific {
            let types = |story: usize| (0..self.specific).filter(|&at| self.has(story, at)).count();
            let count = unreasonable.iter().filter(|&&story| types(story) == wanted).count();
            counts.push(vec![wanted.to_string().into(), count.into(), share(count)]);
        }
        Ok(vec![proportions, counts, self.between(id, &unreasonable, &all)?])
    }

    /// Section 3.1: Spearman between every two error types, each a 0 or 1 a story.
    fn between(&self, id: &str, unreasonable: &[usize], all: &[usize]) -> Result<Sheet> {
        let title = "Spearman correlation between error types";
        let mut sheet = Sheet::new(format!("{id}-correlations"), title, Form::Table)
            .brief()
            .columns(["type", "with"], 0)
            .column("rho (unreasonable)", 4)
            .column("p (unreasonable)", 4)
            .column("rho (all)", 4)
            .column("p (all)", 4);
        for (first, name) in self.names.iter().enumerate() {
            for (second, other) in self.names.iter().enumerate().skip(first + 1) {
                let mut row = vec![Cell::from(name), other.into()];
                for stories in [unreasonable, all] {
                    let named = |at: usize| -> Vec<f64> {
                        stories
                            .iter()
                            .map(|&story| f64::from(u8::from(self.has(story, at))))
                            .collect()
                    };
                    let found = associate(Coefficient::Spearman, &named(first), &named(second))?;
                    row.push(Cell::number(found.value, &found.reason()));
                    row.push(Cell::number(found.p_value, &found.reason()));
                }
                sheet.push(row);
            }
        }
        Ok(sheet)
    }

    /// Table 7: Pearson on all stories, and on the stories of each error type mixed with the reasonable ones.
    pub fn by_type<'a>(
        &self,
        id: &str,
        metrics: impl IntoIterator<Item = (&'a str, &'a [f64])>,
        human: &[f64],
    ) -> Result<Sheet> {
        let reasonable = (0..self.len()).filter(|&story| self.reasonable(story)).count();
        let mut sheet = Sheet::new(id, "Pearson correlation by error type", Form::Table)
            .brief()
            .column("metric", 0)
            .column(format!("All ({})", self.len()), 4)
            .note(format!(
                "each set holds the {reasonable} stories all raters found reasonable and those of which at least \
                 {RATERS_NEEDED} raters name the error type"
            ));
        let mut sets = vec![(0..self.len()).collect::<Vec<_>>()];
        for (at, name) in self.specific() {
            let stories = self.evaluation_set(at);
            sheet = sheet.column(format!("{name} ({})", stories.len() - reasonable), 4);
            sets.push(stories);
        }
        for (name, scores) in metrics {
            let mut row = vec![Cell::from(name)];
            for stories in &sets {
                let pick = |values: &[f64]| stories.iter().map(|&i| values[i]).collect::<Vec<_>>();
                let found = associate(Coefficient::Pearson, &pick(scores), &pick(human))?;
                row.push(Cell::number(found.value, &found.reason()));
            }
            sheet.push(row);
        }
        Ok(sheet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five stories: one reasonable, one all repetition, one mixed, one others only, one with three conflicts.
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
        let sheets = errors().shares("table-2").unwrap();
        assert_eq!(sheets[0].value("Repe", "stories"), 2.0);
        assert_eq!(sheets[0].value("Conf", "prop (%)"), 50.0);
        assert_eq!(sheets[0].value("Others", "stories"), 1.0);
        let shares: Vec<f64> =
            (0..=4).map(|k| sheets[1].value(&k.to_string(), "stories")).collect();
        assert_eq!(shares, [1.0, 2.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn three_raters_are_needed_for_a_set_and_reasonable_stories_join_every_set() {
        let errors = errors();
        assert_eq!(errors.evaluation_set(0), [0, 1]);
        assert_eq!(errors.evaluation_set(1), [0]);
        assert_eq!(errors.evaluation_set(2), [0, 4]);
    }
}
