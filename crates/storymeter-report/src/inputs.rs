//! Everything that a report is made from.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;
use storymeter_core::read::hanna_metric_name;
use storymeter_core::{Catalogue, Error as CoreError, Header, Key, Role, ScoreTable, file};
use storymeter_meta::suite::{self, SuiteKind, SuiteResult};
use storymeter_meta::view::{self, Sheet, Subject};
use storymeter_meta::{Study, folder};

use crate::changes;
use crate::error::{Error, Result};
use crate::stories::StoryTable;
use crate::training::TrainingLog;

/// One meta-evaluation.
#[derive(Debug, Clone)]
pub struct StudyRun {
    /// The name of its folder. A number is added where two folders have the same name.
    pub name: String,
    /// The typed result.
    pub study: Study,
    /// The tables and the numbers behind the figures, made from the study.
    pub sheets: Vec<Sheet>,
}

impl StudyRun {
    /// A run from its result.
    pub fn new(name: impl Into<String>, study: Study) -> Self {
        Self { name: name.into(), sheets: view::sheets(&study), study }
    }

    /// The sheets that a page shows.
    ///
    /// The ranking of the metrics has a part of its own, the votes behind rankings repeat the table
    /// of all correlations, and the outlines of violins are part of another figure.
    pub(crate) fn shown_sheets(&self) -> impl Iterator<Item = &Sheet> {
        let is_shown = |sheet: &&Sheet| {
            !matches!(
                sheet.subject,
                Subject::MetricRanking | Subject::Votes(_) | Subject::RatingDensities
            )
        };
        self.sheets.iter().filter(is_shown)
    }
}

/// The result of one test suite for metrics.
#[derive(Debug, Clone)]
pub struct SuiteRun {
    /// The name of its folder. A number is added where two folders have the same name.
    pub name: String,
    /// The typed result.
    pub result: SuiteResult,
    /// The tables, made from the result.
    pub sheets: Vec<Sheet>,
}

impl SuiteRun {
    /// A test suite from its result.
    pub fn new(name: impl Into<String>, result: SuiteResult) -> Self {
        Self { name: name.into(), sheets: view::suite_sheets(&result), result }
    }
}

/// A score table and the name of its file.
#[derive(Debug, Clone)]
pub struct NamedTable {
    /// The name of the file.
    pub name: String,
    /// The scores of its stories.
    pub stories: StoryTable,
}

/// The largest score table or training log that is read.
const MOST_BYTES: u64 = 1 << 30;

/// Everything that a report is made from.
#[derive(Debug, Default)]
pub struct Inputs {
    /// The meta-evaluations, in the order given. Later ones are compared with the first.
    pub runs: Vec<StudyRun>,
    /// The score tables, in the order given. The stories of the first can be read on the page.
    /// [`Inputs::read`] joins tables unless they are to be compared.
    pub tables: Vec<NamedTable>,
    /// The training logs.
    pub logs: Vec<TrainingLog>,
    /// The results of test suites for metrics, in the order given.
    pub suites: Vec<SuiteRun>,
    /// The metric that tables, figures and sentences point out, such as the user's own.
    pub highlight: Option<Key>,
}

impl Inputs {
    /// Reads everything that a report is made from, and finds out what each path is.
    ///
    /// A path is a folder that a meta-evaluation or a test suite was written to, the `result.json`
    /// of a test suite, a score table in any layout of [`storymeter_core::read::scores`], or a
    /// training log: JSONL whose lines have a `step` or an `epoch`. `stories` is a file of stories
    /// whose texts, prompts and ratings are added to the first score table. The catalogue says what
    /// is known about columns of score tables that have no header.
    ///
    /// Several score tables are joined into one as [`storymeter_core::read::joined_scores`] joins
    /// files, with two exceptions: with several meta-evaluations, each table belongs to one of
    /// them; and rated stories that were scored twice are compared.
    ///
    /// # Errors
    /// Returns an error if a path cannot be read, is none of these, score tables cannot be joined,
    /// or there is nothing to report.
    pub fn read(paths: &[PathBuf], stories: Option<&Path>, catalogue: &Catalogue) -> Result<Self> {
        let mut inputs = Self::default();
        let mut files = Vec::new();
        for path in paths {
            if path.is_dir() {
                inputs.read_folder(path)?;
                continue;
            }
            if let Some(folder) = suite_of(path) {
                inputs.read_suite(&folder)?;
                continue;
            }
            // The file is opened once, so that a pipe loses nothing.
            let content = file::read(path, MOST_BYTES)?;
            if is_suite(&content) {
                return Err(Error::RenamedSuite(path.clone()));
            }
            if let Some(log) = TrainingLog::parse(&content, path, &name_of(path))? {
                inputs.logs.push(log);
            } else {
                let stories = StoryTable::parse(content, path, catalogue)?;
                inputs.tables.push(NamedTable { name: name_of(path), stories });
                files.push(path.clone());
            }
        }
        inputs.join_tables(files)?;
        inputs.leave_out_systems();
        match (stories, inputs.tables.first_mut()) {
            (None, _) => {}
            (Some(path), Some(first)) => first.stories.join(path)?,
            (Some(path), None) => {
                let stories = StoryTable::read_stories(path)?;
                inputs.tables.push(NamedTable { name: name_of(path), stories });
            }
        }
        if inputs.tables.len() > 1 {
            // Tables are compared story by story, so every id must stand for one story.
            inputs.tables.iter().try_for_each(|table| table.stories.check_ids())?;
        }
        if inputs.has_only_suites() && inputs.suites.is_empty() {
            return Err(Error::Empty);
        }
        Ok(inputs)
    }

    /// What a report of one meta-evaluation and the scores behind it is made from, in memory.
    ///
    /// The texts of the stories are shown where they are given: one per row of the table.
    ///
    /// ```
    /// use storymeter_core::{Catalogue, read};
    /// use storymeter_meta::table::{Options, analyse};
    /// use storymeter_report::{Inputs, Report};
    /// let line = |i: usize| {
    ///     let system = if i % 2 == 0 { "rain" } else { "tale" };
    ///     format!(
    ///         "{{\"id\": {i}, \"system\": \"{system}\", \"item\": {}, \
    ///          \"scores\": {{\"bleu\": {}}}, \"human\": {{\"plot\": {}}}}}\n",
    ///         i / 2,
    ///         i * i % 11,
    ///         i % 5
    ///     )
    /// };
    /// let lines = std::io::Cursor::new((0..16).map(line).collect::<String>());
    /// let table = read::scores_from("scores.jsonl", lines, &Catalogue::default())?;
    /// let study = analyse(&table, &Options::default())?;
    /// let inputs = Inputs::of_study("scores", study, table, None);
    /// assert!(Report::new(&inputs).html().contains("bleu"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_study(
        name: &str,
        study: Study,
        scores: ScoreTable,
        texts: Option<Vec<Option<String>>>,
    ) -> Self {
        let stories = StoryTable::new(scores, texts);
        let mut inputs = Self {
            runs: vec![StudyRun::new(name, study)],
            tables: vec![NamedTable { name: name.to_owned(), stories }],
            ..Self::default()
        };
        inputs.leave_out_systems();
        inputs
    }

    /// The files that [`Inputs::read`] reads, and those that belong to them: headers of score
    /// files, and all files of a study or of a test suite. No output may replace them.
    pub fn files(paths: &[PathBuf], stories: Option<&Path>) -> Vec<PathBuf> {
        let of = |path: &PathBuf| match (path.is_dir(), suite_of(path)) {
            (true, _) => {
                // A study also has a file `result.json`, which is named once.
                let mut own = folder::files(path);
                let mut others = suite::files(path);
                others.retain(|file| !own.contains(file));
                own.append(&mut others);
                own
            }
            (false, Some(folder)) => suite::files(&folder),
            (false, None) => vec![path.clone(), Header::path_of(path)],
        };
        paths.iter().flat_map(of).chain(stories.map(Path::to_owned)).collect()
    }

    /// Points out a metric in tables, figures and sentences.
    ///
    /// The name is a key, a key of HANNA's file without its signs, or a member of a family that no
    /// other column has.
    ///
    /// # Errors
    /// Returns an error if no study, test suite or score table has such a metric. The error names
    /// the nearest one.
    pub fn highlight(&mut self, name: &str) -> Result<()> {
        let studied = self.runs.iter().flat_map(|run| run.study.keys(Role::Metric));
        let scored = self.tables.iter().flat_map(|table| table.stories.keys(Role::Metric));
        let tested = self.suites.iter().flat_map(|suite| &suite.result.metrics);
        let tested = tested.map(|column| &column.key);
        let keys: Vec<&Key> = studied.chain(scored).chain(tested).collect();
        let only = |is_wanted: &dyn Fn(&Key) -> bool| {
            let mut found = keys.iter().copied().filter(|key| is_wanted(key));
            let first = found.next()?;
            found.all(|key| key == first).then(|| first.clone())
        };
        let found = only(&|key| key.as_str() == name)
            .or_else(|| only(&|key| hanna_metric_name(key.as_str()) == name))
            .or_else(|| only(&|key| key.family_member() == Some(name)));
        let known = || keys.iter().map(|key| key.as_str());
        let found = found.ok_or_else(|| CoreError::unknown("metric", name, known()))?;
        self.highlight = Some(found);
        Ok(())
    }

    /// The stories that can be read on the page.
    pub fn stories(&self) -> Option<&StoryTable> {
        self.tables.first().map(|table| &table.stories)
    }

    /// The score table that belongs to a meta-evaluation, if it is known which one does.
    pub(crate) fn scores_of(&self, run: usize) -> Option<&ScoreTable> {
        let is_known = self.runs.len() == self.tables.len() || self.runs.len() == 1;
        let table = self.tables.get(run).filter(|_| is_known)?;
        let scores = table.stories.scores();
        let own = &self.runs[run].study.systems;
        scores.systems().iter().any(|name| own.iter().any(|own| own == name)).then_some(scores)
    }

    /// Whether nothing but results of test suites was given.
    pub(crate) fn has_only_suites(&self) -> bool {
        self.runs.is_empty() && self.logs.is_empty() && self.tables.is_empty()
    }

    /// Joins the score tables, which were read from these files. Tables of several runs stay apart,
    /// because the runs are compared on the stories that they share.
    ///
    /// # Errors
    /// Returns an error if it is not clear which stories of two tables belong together.
    fn join_tables(&mut self, files: Vec<PathBuf>) -> Result<()> {
        if self.tables.len() < 2 {
            return Ok(());
        }
        if self.runs.len() > 1 {
            let (first, later) = (&self.tables[0], &self.tables[1..]);
            for table in later {
                table.stories.scores().matches(first.stories.scores())?;
            }
            return Ok(());
        }
        let tables = self.tables.iter().map(|table| &table.stories);
        match StoryTable::joined(&files.into_iter().zip(tables).collect::<Vec<_>>()) {
            Ok(stories) => {
                let names: Vec<&str> = self.tables.iter().map(|one| one.name.as_str()).collect();
                let name = names.join(", ");
                self.tables = vec![NamedTable { name, stories }];
                Ok(())
            }
            // The same stories scored twice, which the page compares.
            Err(CoreError::OtherValue { .. })
                if changes::all(self).len() + 1 == self.tables.len() =>
            {
                Ok(())
            }
            Err(e) => Err(e.into()),
        }
    }

    fn read_folder(&mut self, path: &Path) -> Result<()> {
        if !folder::holds_study(path) {
            if suite::holds_result(path) {
                return self.read_suite(path);
            }
            return Err(match path.join("result.json").is_file() {
                true => Error::OldResult(path.to_owned()),
                false => Error::NotAResult(path.to_owned()),
            });
        }
        let study = folder::read(path)?;
        let name = unused(&name_of(path), |name| self.runs.iter().any(|run| run.name == name));
        self.runs.push(StudyRun::new(name, study));
        Ok(())
    }

    fn read_suite(&mut self, path: &Path) -> Result<()> {
        let result = suite::read(path)?;
        let is_used = |name: &str| self.suites.iter().any(|suite| suite.name == name);
        let name = unused(&name_of(path), is_used);
        self.suites.push(SuiteRun::new(name, result));
        Ok(())
    }

    /// Leaves out the stories of systems that the first result leaves out.
    ///
    /// HANNA's human stories are the references of all others. Metrics compare them with
    /// themselves there, and their scores would dominate every plot. Without a result, the same
    /// holds for HANNA's published scores.
    fn leave_out_systems(&mut self) {
        for table in &mut self.tables {
            let systems = table.stories.scores().systems();
            let (left_out, reason): (Vec<String>, &str) = match self.runs.first() {
                Some(run) => {
                    let is_known = |system: &&str| run.study.systems.iter().any(|s| s == system);
                    // A table that shares no system with the result belongs to something else.
                    if !systems.iter().any(is_known) {
                        continue;
                    }
                    let unknown = systems.iter().filter(|system| !is_known(system));
                    (
                        unknown.map(|system| (*system).to_owned()).collect(),
                        "the result leaves them out",
                    )
                }
                None if is_hanna(&table.stories) => {
                    (vec![HANNA_REFERENCES.to_owned()], "they are the references of all others")
                }
                None => continue,
            };
            table.stories.without_systems(&left_out, reason);
        }
    }
}

/// The writers of the references in HANNA's published scores.
const HANNA_REFERENCES: &str = "Human";

/// Whether these are HANNA's published scores, whose metrics are all marked with glyphs.
fn is_hanna(stories: &StoryTable) -> bool {
    let scores = stories.scores();
    let mut metrics = scores.of_role(Role::Metric).into_iter().map(|at| &scores.columns()[at].key);
    metrics.len() > 0 && metrics.all(|key| hanna_metric_name(key.as_str()) != key.as_str())
}

/// The folder of a test suite, where the path is its `result.json`.
fn suite_of(path: &Path) -> Option<PathBuf> {
    let is_named = path.file_name().is_some_and(|name| name == "result.json");
    let folder = match path.parent()? {
        here if here.as_os_str().is_empty() => Path::new("."),
        folder => folder,
    };
    (is_named && path.is_file() && suite::holds_result(folder)).then(|| folder.to_owned())
}

/// Whether a file is the result of a test suite.
fn is_suite(content: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Mark {
        #[serde(rename = "kind")]
        _kind: SuiteKind,
        #[serde(rename = "cells")]
        _cells: Vec<IgnoredAny>,
    }
    serde_json::from_slice::<Mark>(content).is_ok()
}

/// A name, with a number behind it where it is used already.
fn unused(base: &str, is_used: impl Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|copy| format!("{base} ({copy})"));
    let mut names = std::iter::once(base.to_owned()).chain(numbered);
    names.find(|name| !is_used(name)).unwrap_or_default()
}

/// The last part of a path, under which the page shows it.
fn name_of(path: &Path) -> String {
    let full = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = full.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
