//! The table of scores and ratings that `score` makes and that every later step reads.

use std::collections::HashMap;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use crate::terminal::excerpt;
use crate::{Absence, Column, Error, Key, Place, Ratings, Result, Role, Value, nearest};

/// One story of a [`ScoreTable`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// The id of the story.
    pub id: String,
    /// Who wrote it, if that is known.
    pub system: Option<String>,
    /// The item, by which story-level correlation groups the stories.
    pub item: String,
    /// The ratings of each rater, by criterion; empty if nobody rated the story.
    pub ratings: Ratings,
    /// How many words the story has, separated by white space, if that was kept.
    pub words: Option<u64>,
    /// What its text has that is not story, or why it is no story: names of flags, such as
    /// `preamble` or `refusal`. docs/flags.md lists those of this version.
    pub flags: Vec<String>,
    /// Why the story got its scores, as JSON in one line, if that was asked for when it was scored.
    pub explanation: Option<String>,
    /// The 1-based line of the file that the row was read from.
    pub line: Option<u64>,
    /// The file that the row was read from.
    pub file: Option<Arc<Path>>,
    /// Other files that the row was joined from.
    pub others: Vec<Origin>,
}

/// A file and a line of it, from which a row was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The file.
    pub file: Arc<Path>,
    /// The 1-based line.
    pub line: Option<u64>,
}

/// Scores and human ratings: one row per story, one column per score or criterion.
///
/// A value is present or absent with a reason ([`Value`]). Human ratings are columns too: their
/// value is the mean over the raters, and [`Row::ratings`] keeps the raters apart.
///
/// ```
/// use storymeter_core::{Absence, Column, Direction, Row, ScoreTable};
/// let rows = ["a", "b"].map(|id| Row { id: id.into(), item: id.into(), ..Row::default() });
/// let mut table = ScoreTable::new(rows.to_vec());
/// let values = vec![Ok(20.5), Err(Absence::because("the story has no word"))];
/// table.push(Column::metric("bleu:hanna", Direction::Higher), values);
///
/// let bleu = table.column("bleu:hanna")?;
/// assert_eq!(bleu.values()[0], Ok(20.5));
/// assert_eq!(bleu.numbers(), [Some(20.5), None]);
/// assert_eq!((bleu.direction, bleu.counts.absent), (Direction::Higher, 1));
/// # Ok::<(), storymeter_core::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScoreTable {
    rows: Vec<Row>,
    columns: Vec<Column>,
    /// The values of each column, by row.
    values: Vec<Vec<Value>>,
    /// By column and row: which of the files of the row the value was read from, counted from 0
    /// for [`Row::file`]. Empty for a column whose values are all from there.
    origins: Vec<Vec<u32>>,
    notes: Vec<String>,
}

impl ScoreTable {
    /// A table of these stories, with one column per criterion that any of them was rated on.
    pub fn new(rows: Vec<Row>) -> Self {
        let mut criteria: Vec<&str> = Vec::new();
        for (criterion, _) in rows.iter().flat_map(|row| row.ratings.iter()) {
            if !criteria.contains(&criterion) {
                criteria.push(criterion);
            }
        }
        let means: Vec<(Column, Vec<Value>)> = criteria
            .into_iter()
            .map(|criterion| {
                let mean = |row: &Row| row.ratings.mean(criterion).ok_or(Absence::NotRated);
                (Column::criterion(criterion), rows.iter().map(mean).collect())
            })
            .collect();
        let mut table = Self { rows, ..Self::default() };
        means.into_iter().for_each(|(column, values)| table.push(column, values));
        table
    }

    /// The same table with the file that it was read from, which errors name.
    #[must_use]
    pub fn read_from(mut self, file: &Path) -> Self {
        let file: Arc<Path> = file.into();
        self.rows.iter_mut().for_each(|row| row.file = Some(Arc::clone(&file)));
        self
    }

    /// Adds a column. Its counts of present and absent values are set from the values.
    ///
    /// # Panics
    /// If there is not one value per row, or if the table has the key already. These are errors of
    /// the program, which no input can cause.
    pub fn push(&mut self, mut column: Column, values: Vec<Value>) {
        assert_eq!(values.len(), self.rows.len(), "one value per row");
        assert!(
            !self.columns.iter().any(|known| known.key == column.key && known.role == column.role),
            "the key {} is new",
            column.key
        );
        column.counts.present = values.iter().filter(|value| value.is_ok()).count() as u64;
        column.counts.absent = values.len() as u64 - column.counts.present;
        self.columns.push(column);
        self.values.push(values);
        self.origins.push(Vec::new());
    }

    /// Adds a column, and says for each value which of the files of its row it was read from.
    pub(crate) fn push_joined(&mut self, column: Column, values: Vec<Value>, origins: Vec<u32>) {
        self.push(column, values);
        self.set_origins(self.columns.len() - 1, origins);
    }

    pub(crate) fn set_origins(&mut self, column: usize, origins: Vec<u32>) {
        if origins.iter().any(|&origin| origin > 0) {
            self.origins[column] = origins;
        }
    }

    /// Adds a column of another table, with the values of these rows of it. They are the same
    /// stories as the rows of this table, so that errors still name the places of the values.
    ///
    /// # Panics
    /// As [`ScoreTable::push`], or if the other table lacks a row.
    pub fn push_from(&mut self, other: &Self, column: usize, rows: &[usize]) {
        let values = rows.iter().map(|&row| other.values[column][row].clone()).collect();
        let origins = rows.iter().map(|&row| other.origin(column, row)).collect();
        self.push_joined(other.columns[column].clone(), values, origins);
    }

    fn origin(&self, column: usize, row: usize) -> u32 {
        self.origins[column].get(row).copied().unwrap_or(0)
    }

    /// Adds a remark that a user should see, such as that directions had to be guessed.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// The stories, in order.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The columns, in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column of a metric or criterion, with its values.
    ///
    /// Besides a whole key, the member of a family is enough if only one column has it:
    /// `rouge-1-r` finds `rouge:hanna/rouge-1-r`. That is also how files of the first version
    /// named their columns.
    ///
    /// # Errors
    /// Returns an error if no column has the name ([`Error::UnknownName`]) or several columns have
    /// it ([`Error::AmbiguousName`]).
    pub fn column(&self, name: &str) -> Result<ColumnView<'_>> {
        Ok(self.view(self.find(name)?))
    }

    /// All columns with their values, in order.
    pub fn views(&self) -> impl Iterator<Item = ColumnView<'_>> {
        (0..self.columns.len()).map(|at| self.view(at))
    }

    fn view(&self, at: usize) -> ColumnView<'_> {
        ColumnView { rows: &self.rows, column: &self.columns[at], values: &self.values[at] }
    }

    /// The values of the column at a position, by row. [`ScoreTable::column`] has them by name.
    pub fn values(&self, column: usize) -> &[Value] {
        &self.values[column]
    }

    /// Remarks that a user should see.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The columns of a role, by position.
    pub fn of_role(&self, role: Role) -> Vec<usize> {
        (0..self.columns.len()).filter(|&at| self.columns[at].role == role).collect()
    }

    /// The position of the column that [`ScoreTable::column`] finds.
    ///
    /// # Errors
    /// As [`ScoreTable::column`].
    pub fn find(&self, name: &str) -> Result<usize> {
        find_key(self.columns.iter().map(|column| &column.key), name)
    }

    /// The only metric, or the only column if no column is a metric.
    ///
    /// # Errors
    /// Returns an error if there are several, so that one must be named
    /// ([`Error::AmbiguousName`]), or none.
    pub fn only_metric(&self) -> Result<ColumnView<'_>> {
        let metrics = self.of_role(Role::Metric);
        let candidates =
            if metrics.is_empty() { (0..self.columns.len()).collect() } else { metrics };
        let name = |at: usize| self.columns[at].key.to_string();
        match candidates.as_slice() {
            [only] => Ok(self.view(*only)),
            [] => Err(Error::unknown("column", "", std::iter::empty())),
            several => Err(Error::AmbiguousName {
                what: "column",
                name: String::new(),
                candidates: several.iter().map(|&at| name(at)).collect(),
            }),
        }
    }

    /// The names of the systems, in order of their first story.
    pub fn systems(&self) -> Vec<&str> {
        let mut seen = HashMap::new();
        let systems = self.rows.iter().filter_map(|row| row.system.as_deref());
        systems.filter(|system| seen.insert(*system, ()).is_none()).collect()
    }

    /// The file and line of a row, for errors.
    pub fn place(&self, row: usize) -> Place {
        let row = &self.rows[row];
        place_of(row.file.as_deref(), row.line)
    }

    /// The file and line of a value. They are not those of the row where the value was joined to it
    /// from another file.
    pub fn place_of_value(&self, column: usize, row: usize) -> Place {
        let other = (self.origin(column, row) as usize).checked_sub(1);
        match other.and_then(|other| self.rows[row].others.get(other)) {
            Some(Origin { file, line }) => place_of(Some(file), *line),
            None => self.place(row),
        }
    }

    /// The file and line of the ratings of a row on a criterion.
    pub fn place_of_rating(&self, criterion: &str, row: usize) -> Place {
        let is_it =
            |column: &Column| column.role == Role::Human && column.key.as_str() == criterion;
        match self.columns.iter().position(is_it) {
            Some(column) => self.place_of_value(column, row),
            None => self.place(row),
        }
    }

    /// The rows by system and id.
    ///
    /// # Errors
    /// Returns an error if one system has an id twice.
    pub fn index(&self) -> Result<RowIndex<'_>> {
        RowIndex::new(self)
    }

    /// By row of another table: the row of this table that is the same story, by system and id.
    ///
    /// # Errors
    /// Returns an error if one of the tables has an id twice in a system, or it is not clear which
    /// rows belong together because one of the tables does not name the system: two rows of the
    /// other table fit one row of this one, or the other way round.
    pub fn matches(&self, other: &Self) -> Result<Vec<Option<usize>>> {
        other.index()?;
        let index = self.index()?;
        let mut taken: HashMap<usize, usize> = HashMap::new();
        let mut matches = Vec::with_capacity(other.rows.len());
        for (at, row) in other.rows.iter().enumerate() {
            if row.system.is_none()
                && let Some((first, Some(second))) = index.by_id.get(row.id.as_str()).copied()
            {
                let story = |at: usize| {
                    let system = self.rows[at].system.as_deref();
                    let system = system.map_or("no system".to_owned(), |system| {
                        format!("system {}", excerpt(system, LONGEST_NAME))
                    });
                    format!("{system} ({})", self.place(at))
                };
                let problem = format!(
                    "the id {} is that of two stories, of {} and of {}: the system must be named",
                    excerpt(&row.id, LONGEST_NAME),
                    story(first),
                    story(second)
                );
                return Err(Error::invalid(other.place(at).in_field("id"), problem));
            }
            let found = index.find(row.system.as_deref(), &row.id);
            if let Some(found) = found
                && let Some(first) = taken.insert(found, at)
            {
                let problem = format!(
                    "the stories {} of two systems fit the one story in {}, which names no system \
                     (the other one is in {})",
                    excerpt(&row.id, LONGEST_NAME),
                    self.place(found),
                    other.place(first)
                );
                return Err(Error::invalid(other.place(at).in_field("id"), problem));
            }
            matches.push(found);
        }
        Ok(matches)
    }
}

/// A column of a [`ScoreTable`] with its values; made by [`ScoreTable::column`].
///
/// The fields of its [`Column`] are there as well: `view.key`, `view.direction`,
/// `view.signature`, `view.counts`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnView<'a> {
    rows: &'a [Row],
    column: &'a Column,
    values: &'a [Value],
}

impl<'a> ColumnView<'a> {
    /// The stories, in order.
    pub fn rows(&self) -> &'a [Row] {
        self.rows
    }

    /// The values, by row.
    pub fn values(&self) -> &'a [Value] {
        self.values
    }

    /// The numbers, by row; `None` for a missing value.
    pub fn numbers(&self) -> Vec<Option<f64>> {
        self.values.iter().map(|value| value.as_ref().ok().copied()).collect()
    }
}

impl Deref for ColumnView<'_> {
    type Target = Column;

    fn deref(&self) -> &Column {
        self.column
    }
}

fn place_of(file: Option<&Path>, line: Option<u64>) -> Place {
    let file = Place::file(file.unwrap_or(Path::new("")));
    match line {
        Some(line) => file.at_line(line),
        None => file,
    }
}

/// Finds the rows of a [`ScoreTable`] by system and id.
///
/// An id is unique within its system. Two systems may use the same ids.
///
/// ```
/// use storymeter_core::{Row, ScoreTable};
/// let row = |system: &str| Row { id: "7".into(), system: Some(system.into()), ..Row::default() };
/// let table = ScoreTable::new(vec![row("rain"), row("tale")]);
/// let index = table.index()?;
/// assert_eq!(index.find(Some("tale"), "7"), Some(1));
/// assert_eq!(index.find(None, "7"), None, "two systems have it");
/// # Ok::<(), storymeter_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct RowIndex<'a> {
    exact: HashMap<(Option<&'a str>, &'a str), usize>,
    /// The first row with an id, and the second one for an id of several systems.
    by_id: HashMap<&'a str, (usize, Option<usize>)>,
}

impl<'a> RowIndex<'a> {
    fn new(table: &'a ScoreTable) -> Result<Self> {
        let mut exact = HashMap::with_capacity(table.rows.len());
        let mut by_id: HashMap<&str, (usize, Option<usize>)> =
            HashMap::with_capacity(table.rows.len());
        for (at, row) in table.rows.iter().enumerate() {
            if let Some(first) = exact.insert((row.system.as_deref(), row.id.as_str()), at) {
                return Err(duplicate(table, first, at));
            }
            let known = by_id.entry(row.id.as_str());
            known.and_modify(|(_, second)| *second = second.or(Some(at))).or_insert((at, None));
        }
        Ok(Self { exact, by_id })
    }

    /// The row of a story.
    ///
    /// If either side does not say which system wrote the story, the id alone decides, as long as
    /// only one story has it.
    pub fn find(&self, system: Option<&str>, id: &str) -> Option<usize> {
        match system {
            Some(_) => {
                self.exact.get(&(system, id)).or_else(|| self.exact.get(&(None, id))).copied()
            }
            None => match self.by_id.get(id) {
                Some(&(only, None)) => Some(only),
                _ => None,
            },
        }
    }

    /// Whether stories of several systems have an id, so that it does not name one story alone.
    pub fn is_ambiguous(&self, id: &str) -> bool {
        matches!(self.by_id.get(id), Some((_, Some(_))))
    }
}

/// The error for two rows with the same system and id.
fn duplicate(table: &ScoreTable, first: usize, second: usize) -> Error {
    let (earlier, later) = (table.place(first), table.place(second));
    let place = match earlier.line {
        Some(line) if earlier.file == later.file => format!("on line {line}"),
        Some(_) => format!("in {earlier}"),
        None => format!("by row {}", first + 1),
    };
    let row = &table.rows[second];
    let system = row
        .system
        .as_deref()
        .map_or(String::new(), |system| format!(" of system {}", excerpt(system, LONGEST_NAME)));
    let id = excerpt(&row.id, LONGEST_NAME);
    Error::invalid(
        later.in_field("id"),
        format!("duplicate id {id}{system}: it was first used {place}"),
    )
}

/// The most characters of a name in a message.
const LONGEST_NAME: usize = 80;

/// The key that a name means: the key itself, or the only one with this family member.
pub(crate) fn find_key<'a>(
    keys: impl Iterator<Item = &'a Key> + Clone,
    name: &str,
) -> Result<usize> {
    if let Some(exact) = keys.clone().position(|key| key.as_str() == name) {
        return Ok(exact);
    }
    let is_member = |key: &&Key| key.family_member() == Some(name);
    let members: Vec<(usize, &Key)> =
        keys.clone().enumerate().filter(|(_, key)| is_member(key)).collect();
    match members.as_slice() {
        [(only, _)] => Ok(*only),
        [] => Err(Error::unknown("column", name, keys.map(Key::as_str))),
        several => Err(Error::AmbiguousName {
            what: "column",
            name: name.to_owned(),
            candidates: several.iter().map(|(_, key)| key.to_string()).collect(),
        }),
    }
}

impl Error {
    /// The error for a name that is not among the known ones.
    pub fn unknown<'a>(
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        Self::UnknownName {
            what,
            name: name.to_owned(),
            nearest: nearest(name, known.iter().copied()).map(str::to_owned),
            known: known.into_iter().map(str::to_owned).collect(),
        }
    }
}
