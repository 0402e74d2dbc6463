//! Single stories: their scores, their ratings and, where they are known, their texts.

use std::collections::{HashMap, HashSet};
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use storymeter_core::read::{self, ReadOptions};
use storymeter_core::{
    Catalogue, Key, Place, Result as CoreResult, Role, Row, RowIndex, ScoreTable, Story, Value,
    file,
};
use storymeter_meta::scatter::strongest_metric;

use crate::error::{Error, Result};

/// The largest score table that is read.
const MOST_BYTES: u64 = 1 << 30;

/// A score table together with what a reader of single stories wants to see.
#[derive(Debug, Clone, Default)]
pub struct StoryTable {
    scores: ScoreTable,
    details: Vec<Details>,
    notes: Vec<String>,
    /// The systems whose stories are left out.
    excluded: Vec<String>,
}

/// What is known about one story besides its numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Details {
    /// The text of the story.
    pub text: Option<String>,
    /// The prompt that the writer was given.
    pub prompt: Option<String>,
    /// The explanation that was written beside the scores, as it stands in the file.
    pub(crate) explanation: Option<serde_json::Value>,
}

impl StoryTable {
    /// Reads a score table and the explanations in it.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("scores.jsonl");
    /// # std::fs::write(&path, "{\"id\": \"a\", \"scores\": {\"bleu\": 20.5}}\n")?;
    /// use storymeter_core::Catalogue;
    /// let stories = storymeter_report::StoryTable::read(&path, &Catalogue::default())?;
    /// assert_eq!(stories.scores().values(0), [Ok(20.5)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the file is not a score table.
    pub fn read(path: &Path, catalogue: &Catalogue) -> Result<Self> {
        Self::parse(file::read(path, MOST_BYTES)?, path, catalogue)
    }

    /// A score table in memory, with the texts of its stories where they are known.
    pub fn new(scores: ScoreTable, texts: Option<Vec<Option<String>>>) -> Self {
        let mut details = vec![Details::default(); scores.rows().len()];
        for (details, text) in details.iter_mut().zip(texts.unwrap_or_default()) {
            details.text = text;
        }
        Self { details, notes: scores.notes().to_vec(), scores, ..Self::default() }
    }

    /// Reads a score table from the content of a file.
    pub(crate) fn parse(content: Vec<u8>, path: &Path, catalogue: &Catalogue) -> Result<Self> {
        let content = Content(Arc::new(content));
        let scores = read::scores_from(path, Cursor::new(content.clone()), catalogue)?;
        let mut table = Self {
            details: vec![Details::default(); scores.rows().len()],
            notes: scores.notes().to_vec(),
            scores,
            excluded: Vec::new(),
        };
        if content.0.starts_with(b"PAR1") {
            let name = path.display();
            table.notes.push(format!("{name} is Parquet; explanations in it are not shown."));
            return Ok(table);
        }
        for (row, explanation) in read::explanations(path, Cursor::new(content))? {
            if let Some(details) = table.details.get_mut(row) {
                details.explanation = Some(explanation);
            }
        }
        Ok(table)
    }

    /// Joins score tables and the files that they were read from, as
    /// [`joined_scores`](read::joined_scores) does.
    pub(crate) fn joined(files: &[(PathBuf, &Self)]) -> CoreResult<Self> {
        let tables: Vec<(PathBuf, ScoreTable)> =
            files.iter().map(|(path, table)| (path.clone(), table.scores.clone())).collect();
        let (scores, targets) = read::join_scores(&tables)?;
        let mut details = vec![Details::default(); scores.rows().len()];
        let mut notes = scores.notes().to_vec();
        for ((_, table), targets) in files.iter().zip(targets) {
            for (own, target) in table.details.iter().zip(targets) {
                let all = &mut details[target];
                all.text = all.text.take().or_else(|| own.text.clone());
                all.prompt = all.prompt.take().or_else(|| own.prompt.clone());
                all.explanation = all.explanation.take().or_else(|| own.explanation.clone());
            }
            let is_new = |note: &&String| !scores.notes().contains(note);
            notes.extend(table.notes.iter().filter(is_new).cloned());
        }
        Ok(Self { scores, details, notes, excluded: Vec::new() })
    }

    /// Reads a file of stories that have ratings at most, and no scores.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or an id is there twice.
    pub fn read_stories(path: &Path) -> Result<Self> {
        let mut rows = Vec::new();
        let mut details = Vec::new();
        for record in read::open(&[path.to_owned()], &ReadOptions::default())? {
            let record = record?;
            let item = record.story.item().to_owned();
            let Story { id, system, prompt, text, ratings, .. } = record.story;
            let line = record.place.line;
            rows.push(Row { id, system, item, ratings, line, ..Row::default() });
            details.push(Details { text: Some(text), prompt, explanation: None });
        }
        let scores = ScoreTable::new(rows).read_from(path);
        scores.index()?;
        Ok(Self { scores, details, ..Self::default() })
    }

    /// The scores and ratings.
    pub fn scores(&self) -> &ScoreTable {
        &self.scores
    }

    /// What is known about each story besides its numbers, in the order of the rows.
    pub fn details(&self) -> &[Details] {
        &self.details
    }

    /// Remarks about the files that a reader of the page should see.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The systems whose stories are left out.
    pub(crate) fn excluded(&self) -> &[String] {
        &self.excluded
    }

    /// How many stories there are.
    pub fn len(&self) -> usize {
        self.scores.rows().len()
    }

    /// Whether there is no story.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Checks that no system has an id twice.
    pub(crate) fn check_ids(&self) -> Result<()> {
        self.scores.index()?;
        Ok(())
    }

    /// Leaves out the stories of these systems, and notes the reason for the reader of the page.
    pub(crate) fn without_systems(&mut self, systems: &[String], reason: &str) {
        let left_out: HashSet<&str> = systems.iter().map(String::as_str).collect();
        let is_kept =
            |row: &Row| !row.system.as_deref().is_some_and(|name| left_out.contains(name));
        let kept: Vec<usize> =
            (0..self.len()).filter(|&at| is_kept(&self.scores.rows()[at])).collect();
        if kept.len() == self.len() {
            return;
        }
        self.excluded = systems.to_vec();
        let left_out = self.len() - kept.len();
        self.notes.push(format!(
            "{left_out} stories are not shown, those of {}: {reason}.",
            systems.join(", ")
        ));
        self.details = kept.iter().map(|&at| std::mem::take(&mut self.details[at])).collect();
        let rows = kept.iter().map(|&at| self.scores.rows()[at].clone()).collect();
        self.rebuild(rows, &kept);
    }

    /// Adds texts, prompts and ratings from a file of stories.
    ///
    /// A story belongs to the row of its system and id. Where there is none, it belongs to the row
    /// of its system and item. Stories without a row are passed over. Ratings are added only where
    /// the table has none of its own.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, if a system has an id twice, or if the
    /// row of a story is not certain.
    pub(crate) fn join(&mut self, path: &Path) -> Result<()> {
        let has_ratings = !self.scores.of_role(Role::Human).is_empty();
        let mut rows = self.scores.rows().to_vec();
        let finder = RowFinder::new(&self.scores)?;
        let mut joined: HashMap<usize, Place> = HashMap::new();
        for record in read::open(&[path.to_owned()], &ReadOptions::default())? {
            let record = record?;
            let Some(at) = finder.find(&record.story, &record.place)? else { continue };
            if let Some(first) = joined.insert(at, record.place.clone()) {
                let (place, first) = (Box::new(record.place), Box::new(first));
                let id = record.story.id;
                return Err(Error::DuplicateStory { place, id, first });
            }
            if !has_ratings {
                rows[at].ratings = record.story.ratings;
            }
            self.details[at].text = Some(record.story.text);
            self.details[at].prompt = record.story.prompt;
        }
        if joined.len() < self.len() {
            self.notes.push(format!(
                "{} of {} scored stories are in {}; the texts of the others are not known.",
                joined.len(),
                self.len(),
                path.display()
            ));
        }
        if !has_ratings {
            self.rebuild(rows, &(0..self.len()).collect::<Vec<_>>());
        }
        Ok(())
    }

    /// Replaces the rows by new ones, which are these of the present ones. Criteria come from the
    /// ratings of the rows where these have any.
    fn rebuild(&mut self, rows: Vec<Row>, kept: &[usize]) {
        let mut scores = ScoreTable::new(rows);
        let known = scores.columns().len();
        for (at, column) in self.scores.columns().iter().enumerate() {
            let is_rebuilt =
                |new: &storymeter_core::Column| new.role == column.role && new.key == column.key;
            if !scores.columns()[..known].iter().any(is_rebuilt) {
                scores.push_from(&self.scores, at, kept);
            }
        }
        self.scores = scores;
    }

    /// The keys of the columns of a role, in order.
    pub(crate) fn keys(&self, role: Role) -> impl Iterator<Item = &Key> {
        let columns = self.scores.columns().iter();
        columns.filter(move |column| column.role == role).map(|column| &column.key)
    }

    /// The position of a column.
    pub(crate) fn column(&self, key: &Key, role: Role) -> Option<usize> {
        self.scores.columns().iter().position(|column| column.role == role && column.key == *key)
    }

    /// What the page shows first: the first criterion and its strongest metric.
    pub(crate) fn default_pair(&self) -> Option<(usize, usize)> {
        let criterion = *self.scores.of_role(Role::Human).first()?;
        Some((strongest_metric(&self.scores, criterion)?, criterion))
    }

    /// The values of a column as the statistics want them: NaN marks an absent value.
    pub(crate) fn numbers(&self, column: usize) -> Vec<f64> {
        let number = |value: &Value| *value.as_ref().unwrap_or(&f64::NAN);
        self.scores.values(column).iter().map(number).collect()
    }
}

/// The content of a file, which is read twice.
#[derive(Clone)]
struct Content(Arc<Vec<u8>>);

impl AsRef<[u8]> for Content {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Finds the row of a score table that a story belongs to.
struct RowFinder<'a> {
    index: RowIndex<'a>,
    /// `None` where several rows have the same system and item.
    by_system_and_item: HashMap<(&'a str, &'a str), Option<usize>>,
}

impl<'a> RowFinder<'a> {
    fn new(scores: &'a ScoreTable) -> Result<Self> {
        let mut by_system_and_item = HashMap::new();
        for (at, row) in scores.rows().iter().enumerate() {
            if let Some(system) = &row.system {
                by_system_and_item
                    .entry((system.as_str(), row.item.as_str()))
                    .and_modify(|known| *known = None)
                    .or_insert(Some(at));
            }
        }
        Ok(Self { index: scores.index()?, by_system_and_item })
    }

    fn find(&self, story: &Story, place: &Place) -> Result<Option<usize>> {
        let system = story.system.as_deref();
        if let Some(at) = self.index.find(system, &story.id) {
            return Ok(Some(at));
        }
        let place = || Box::new(place.clone());
        let Some(system) = system else {
            return match self.index.is_ambiguous(&story.id) {
                true => Err(Error::NoSystem { place: place(), id: story.id.clone() }),
                false => Ok(None),
            };
        };
        match self.by_system_and_item.get(&(system, story.item())) {
            None => Ok(None),
            Some(Some(at)) => Ok(Some(*at)),
            Some(None) => Err(Error::AmbiguousStory { place: place(), id: story.id.clone() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use storymeter_core::Absence;

    /// Writes both files and joins them.
    fn joined(scores: &str, stories: &str) -> Result<StoryTable> {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, content: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            path
        };
        let (scores, stories) = (write("scores.jsonl", scores), write("stories.jsonl", stories));
        let mut table = StoryTable::read(&scores, &Catalogue::default())?;
        table.join(&stories)?;
        Ok(table)
    }

    fn message(scores: &str, stories: &str) -> String {
        joined(scores, stories).unwrap_err().to_string()
    }

    #[test]
    fn scores_and_stories_join_by_id_or_by_system_and_item() {
        let table = joined(
            "{\"id\":\"a\",\"system\":\"S\",\"item\":\"1\",\"scores\":{\"m\":0.5}}\n\
             {\"id\":\"b\",\"system\":\"S\",\"item\":\"2\",\"scores\":{\"m\":null},\
             \"absent\":{\"m\":\"no word\"},\"explanation\":{\"edits\":[]}}\n",
            "{\"id\":\"a\",\"story\":\"One.\",\"human\":{\"plot\":[1,3]}}\n\
             {\"id\":\"9\",\"system\":\"S\",\"item\":\"2\",\"story\":\"Two.\"}\n",
        )
        .unwrap();
        let texts: Vec<_> = table.details().iter().map(|d| d.text.as_deref().unwrap()).collect();
        assert_eq!(texts, ["One.", "Two."]);
        let scores = table.scores();
        let keys: Vec<&str> = scores.columns().iter().map(|c| c.key.as_str()).collect();
        assert_eq!(keys, ["plot", "m"]);
        assert_eq!(scores.values(0), [Ok(2.0), Err(Absence::NotRated)]);
        assert_eq!(scores.values(1), [Ok(0.5), Err(Absence::because("no word"))]);
        assert!(table.details()[1].explanation.is_some());
    }

    #[test]
    fn an_id_that_another_system_uses_is_another_story() {
        let table = joined(
            "{\"id\":\"0\",\"system\":\"S\",\"item\":\"1\",\"scores\":{\"m\":1}}\n\
             {\"id\":\"1\",\"system\":\"T\",\"item\":\"1\",\"scores\":{\"m\":2}}\n",
            "{\"id\":\"0\",\"system\":\"T\",\"item\":\"1\",\"story\":\"Of T.\"}\n",
        )
        .unwrap();
        assert_eq!(table.details()[0].text, None);
        assert_eq!(table.details()[1].text.as_deref(), Some("Of T."));
    }

    #[test]
    fn duplicate_ids_are_errors_that_name_both_places() {
        let one = "{\"id\":\"7\",\"system\":\"S\",\"item\":\"1\",\"scores\":{\"m\":1}}\n";
        let story = "{\"id\":\"7\",\"story\":\"One.\"}\n";
        let twice = message(&one.repeat(2), story);
        assert!(
            twice.ends_with(
                "scores.jsonl:2: field \"id\": duplicate id \"7\" of system \"S\": it was first used \
                 on line 1"
            ),
            "{twice}"
        );
        let twice = message(one, &story.repeat(2));
        assert!(
            twice.ends_with("stories.jsonl:2: duplicate id \"7\": it was first used on line 1")
        );
        let other = "{\"id\":\"8\",\"system\":\"S\",\"item\":\"1\",\"story\":\"Two.\"}\n";
        let twice = message(one, &format!("{story}{other}"));
        assert!(twice.contains("stories.jsonl:2: the story \"8\" has the same scores"), "{twice}");
        assert!(twice.ends_with("stories.jsonl:1"), "{twice}");
    }

    #[test]
    fn a_story_that_fits_several_rows_is_an_error() {
        let row = |id| {
            format!("{{\"id\":\"{id}\",\"system\":\"S\",\"item\":\"1\",\"scores\":{{\"m\":1}}}}\n")
        };
        let scores = row("a") + &row("b");
        let words =
            message(&scores, "{\"id\":\"9\",\"system\":\"S\",\"item\":\"1\",\"story\":\"?\"}");
        assert!(words.contains("several rows have its system and its item"), "{words}");
    }

    #[test]
    fn a_story_of_no_system_whose_id_two_systems_have_is_an_error() {
        let row =
            |system| format!("{{\"id\":\"7\",\"system\":\"{system}\",\"scores\":{{\"m\":1}}}}\n");
        let words = message(&(row("S") + &row("T")), "{\"id\":\"7\",\"story\":\"Whose?\"}\n");
        assert!(words.contains("stories.jsonl:1: the story \"7\" cannot be joined"), "{words}");
        assert!(
            words.contains("several systems have this id, and the story names none"),
            "{words}"
        );
    }

    #[test]
    fn systems_that_are_left_out_take_their_numbers_with_them() {
        let row = |id: &str, system: &str, value: u8| {
            format!(
                "{{\"id\":\"{id}\",\"system\":\"{system}\",\"scores\":{{\"m\":{value}}},\
                 \"human\":{{\"plot\":[{value}]}}}}\n"
            )
        };
        let scores = row("a", "Human", 1) + &row("b", "S", 2);
        let mut table = joined(&scores, "{\"id\":\"b\",\"story\":\"Two.\"}\n").unwrap();
        table.without_systems(&["Human".into()], "their stories are the references");
        assert_eq!((table.len(), table.scores().rows()[0].id.as_str()), (1, "b"));
        assert_eq!(
            (table.scores().values(0), table.scores().values(1)),
            (&[Ok(2.0)][..], &[Ok(2.0)][..])
        );
        assert_eq!(table.details()[0].text.as_deref(), Some("Two."));
    }
}
