//! Scores, ratings and texts of single stories, by column.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use storymeter_core::read::{self, ReadOptions, Scored};
use storymeter_core::{Ratings, Role};
use storymeter_stats::{Coefficient, drop_nan_pairs};

use crate::error::Result;

/// One metric or criterion over all stories.
#[derive(Debug, Clone, PartialEq)]
pub struct StoryColumn {
    /// Its name.
    pub name: String,
    /// Whether people or a metric gave the numbers.
    pub role: Role,
    /// One a story; NaN where there is none.
    pub values: Vec<f64>,
}

/// The stories of a report.
#[derive(Debug, Clone, Default)]
pub struct StoryTable {
    /// Ids, in input order.
    pub ids: Vec<String>,
    /// Who wrote each; empty where unknown.
    pub systems: Vec<String>,
    /// What each belongs to; empty where unknown.
    pub items: Vec<String>,
    /// The text, where it is known.
    pub texts: Vec<Option<String>>,
    /// What the writer was given, where it is known.
    pub prompts: Vec<Option<String>>,
    /// What `score --explain` said of it.
    pub explanations: Vec<Option<Value>>,
    /// Criteria first, then metrics.
    pub columns: Vec<StoryColumn>,
}

impl StoryTable {
    /// Whether there is no story.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// How many stories there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// The columns of a role.
    pub fn of_role(&self, role: Role) -> impl Iterator<Item = &StoryColumn> {
        self.columns.iter().filter(move |column| column.role == role)
    }

    /// Systems in order of appearance.
    pub fn system_names(&self) -> Vec<&str> {
        let mut seen = std::collections::HashSet::new();
        self.systems
            .iter()
            .map(String::as_str)
            .filter(|s| !s.is_empty() && seen.insert(*s))
            .collect()
    }

    /// What `storymeter score -o` wrote.
    pub(crate) fn of_scores(path: &Path) -> Result<Self> {
        let mut table = Self::default();
        let mut columns = Columns::default();
        for record in read::scored(path)? {
            let at = table.push(&record.id, record.system.as_deref(), record.item.as_deref());
            columns.rate(at, &record.ratings);
            let Scored { scores, .. } = record;
            scores.iter().for_each(|(name, value)| columns.set(at, Role::Metric, name, *value));
        }
        table.columns = columns.finish(table.len());
        table.read_explanations(path)?;
        Ok(table)
    }

    /// HANNA's score file, without the human stories: they are the references of the others, so that metrics compare
    /// them with themselves, and the paper leaves them out as well (section 4).
    pub(crate) fn of_hanna(path: &Path) -> Result<Self> {
        let scores = read::hanna_scores(path)?.without_systems(&["Human"]);
        let mut table = Self::default();
        for system in scores.systems() {
            for item in scores.items() {
                table.push(&format!("{system}/{item}"), Some(system), Some(item));
            }
        }
        let column = |at: usize| StoryColumn {
            name: scores.columns()[at].name.clone(),
            role: scores.columns()[at].role,
            values: scores.values(at).to_vec(),
        };
        table.columns = (0..scores.columns().len()).map(column).collect();
        table.columns.sort_by_key(|column| column.role == Role::Metric);
        Ok(table)
    }

    /// Adds texts, prompts and ratings from a file of stories, by id, or by system and item.
    ///
    /// Where the table is empty the file's stories become its rows.
    pub(crate) fn join(&mut self, path: &Path) -> Result<()> {
        let fresh = self.is_empty();
        let ids: HashMap<String, usize> =
            self.ids.iter().enumerate().map(|(at, id)| (id.clone(), at)).collect();
        let pair = |at: usize| (self.systems[at].clone(), self.items[at].clone());
        let pairs: HashMap<(String, String), usize> =
            (0..self.len()).map(|at| (pair(at), at)).collect();
        let mut columns = Columns::default();
        columns.columns = std::mem::take(&mut self.columns);
        let rated = columns.columns.iter().any(|column| column.role == Role::Human);
        for record in read::open(&[path.to_owned()], &ReadOptions::default())? {
            let story = record?.story;
            let system = story.system.as_deref();
            let at = if fresh {
                self.push(&story.id, system, Some(story.item()))
            } else {
                let key = (system.unwrap_or_default().to_owned(), story.item().to_owned());
                // An id that names another system's story is another file's numbering.
                let own = ids.get(&story.id).copied();
                let own = own.filter(|&at| {
                    self.systems[at].is_empty() || system.is_none_or(|s| s == self.systems[at])
                });
                let Some(at) = own.or_else(|| pairs.get(&key).copied()) else { continue };
                at
            };
            if !rated {
                columns.rate(at, &story.ratings);
            }
            self.texts[at] = Some(story.text);
            self.prompts[at] = story.prompt;
        }
        self.columns = columns.finish(self.len());
        Ok(())
    }

    /// The metric and criterion of the strongest correlation over all stories, by position of their columns.
    pub fn strongest_pair(&self) -> Option<(usize, usize)> {
        let positions =
            |role| (0..self.columns.len()).filter(move |&c| self.columns[c].role == role);
        let strength = |&(metric, criterion): &(usize, usize)| {
            self.correlation(metric, criterion, Coefficient::Pearson).map_or(-1.0, f64::abs)
        };
        let criterion = positions(Role::Human).next()?;
        positions(Role::Metric)
            .map(|metric| (metric, criterion))
            .max_by(|a, b| strength(a).total_cmp(&strength(b)))
    }

    /// The correlation of two columns over all stories; `None` where it is not defined.
    pub fn correlation(&self, a: usize, b: usize, coefficient: Coefficient) -> Option<f64> {
        let pairs = drop_nan_pairs(&self.columns[a].values, &self.columns[b].values).ok()?;
        if pairs.x.len() < 3 {
            return None;
        }
        coefficient.value(&pairs.x, &pairs.y).ok().filter(|r| r.is_finite())
    }

    fn push(&mut self, id: &str, system: Option<&str>, item: Option<&str>) -> usize {
        self.ids.push(id.into());
        self.systems.push(system.unwrap_or_default().into());
        self.items.push(item.unwrap_or_default().into());
        self.texts.push(None);
        self.prompts.push(None);
        self.explanations.push(None);
        self.ids.len() - 1
    }

    /// What `--explain` wrote beside the scores, of plain JSONL.
    fn read_explanations(&mut self, path: &Path) -> Result<()> {
        #[derive(Deserialize)]
        struct Explained {
            #[serde(default, alias = "explain")]
            explanation: Option<Value>,
        }
        let file = std::fs::File::open(path)
            .map_err(|e| storymeter_core::Error::io(storymeter_core::Place::file(path), e))?;
        let mut lines = BufReader::new(file).lines();
        let mut at = 0;
        // A gzipped file ends this at once: its bytes are no UTF-8. Its explanations are not shown.
        while let Some(Ok(line)) = lines.next() {
            if line.trim().is_empty() {
                continue;
            }
            if at >= self.len() {
                break;
            }
            if line.contains("\"expla") {
                self.explanations[at] =
                    serde_json::from_str::<Explained>(&line).ok().and_then(|e| e.explanation);
            }
            at += 1;
        }
        Ok(())
    }
}

/// Columns that come up as stories are read.
#[derive(Default)]
struct Columns {
    columns: Vec<StoryColumn>,
}

impl Columns {
    fn set(&mut self, at: usize, role: Role, name: &str, value: f64) {
        let known = self.columns.iter().position(|c| c.role == role && c.name == name);
        let column = known.unwrap_or_else(|| {
            self.columns.push(StoryColumn { name: name.into(), role, values: Vec::new() });
            self.columns.len() - 1
        });
        let values = &mut self.columns[column].values;
        if values.len() <= at {
            values.resize(at + 1, f64::NAN);
        }
        values[at] = value;
    }

    /// The mean of each criterion's ratings.
    fn rate(&mut self, at: usize, ratings: &Ratings) {
        for (criterion, given) in ratings.iter() {
            let present: Vec<f64> = given.iter().copied().filter(|r| !r.is_nan()).collect();
            if !present.is_empty() {
                let mean = present.iter().sum::<f64>() / present.len() as f64;
                self.set(at, Role::Human, criterion, mean);
            }
        }
    }

    fn finish(mut self, stories: usize) -> Vec<StoryColumn> {
        self.columns.iter_mut().for_each(|column| column.values.resize(stories, f64::NAN));
        self.columns.sort_by_key(|column| column.role == Role::Metric);
        self.columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_and_stories_join_by_id_or_by_system_and_item() {
        let folder = tempfile::tempdir().unwrap();
        let scores = folder.path().join("scores.jsonl");
        let stories = folder.path().join("stories.jsonl");
        std::fs::write(
            &scores,
            "{\"id\":\"a\",\"system\":\"S\",\"item\":\"1\",\"scores\":{\"m\":0.5}}\n\
             {\"id\":\"b\",\"system\":\"S\",\"item\":\"2\",\"scores\":{\"m\":null},\"explanation\":{\"edits\":[]}}\n",
        )
        .unwrap();
        std::fs::write(
            &stories,
            "{\"id\":\"a\",\"story\":\"One.\",\"human\":{\"plot\":[1,3]}}\n\
             {\"id\":\"9\",\"system\":\"S\",\"item\":\"2\",\"story\":\"Two.\"}\n",
        )
        .unwrap();
        let mut table = StoryTable::of_scores(&scores).unwrap();
        table.join(&stories).unwrap();
        assert_eq!(table.texts, [Some("One.".into()), Some("Two.".into())]);
        assert_eq!((table.columns[0].name.as_str(), table.columns[0].values[0]), ("plot", 2.0));
        assert!(table.columns[1].values[1].is_nan());
        assert!(table.explanations[1].is_some());
    }
}
