//! Joins several score files into one table.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::file::FileName;
use crate::read::shown::{cut, listed, quoted};
use crate::{
    Absence, Catalogue, Column, Direction, Error, Key, Origin, Place, Result, Role, Row,
    ScoreTable, Value,
};

/// Reads several score files and joins them by system and id.
///
/// Rows of different files with the same system and id become one row with the columns of both;
/// other rows are appended. A file that names no system is
///
/// - a system of its own if it has a column that another file has as well: what `score` wrote for
///   one generator after the other. The system is then named after the file.
/// - joined by id alone otherwise: other scores of the same stories.
///
/// The notes of the table say what was joined and what was not.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let paths = ["rain.csv", "tale.csv"].map(|name| dir.path().join(name));
/// # std::fs::write(&paths[0], "id,union\n1,0.5\n2,0.25\n")?;
/// # std::fs::write(&paths[1], "id,union\n1,0.75\n2,0.5\n")?;
/// use storymeter_core::{Catalogue, read};
/// let table = read::joined_scores(&paths, &Catalogue::default())?;
/// assert_eq!(table.systems(), ["rain", "tale"]);
/// assert_eq!(table.rows().len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error if a file cannot be read, a system has an id twice in one file, two files have
/// different values for the same story in the same column, or a file shares neither a story nor a
/// column with those before it.
pub fn joined_scores(paths: &[impl AsRef<Path>], catalogue: &Catalogue) -> Result<ScoreTable> {
    let read = |path: &Path| Ok((path.to_owned(), super::scores(path, catalogue)?));
    let mut files = paths
        .iter()
        .map(|path| read(path.as_ref()))
        .collect::<Result<Vec<(PathBuf, ScoreTable)>>>()?;
    if files.len() == 1 {
        return Ok(files.swap_remove(0).1);
    }
    Ok(join_scores(&files)?.0)
}

/// Joins score tables and the files that they were read from, as [`joined_scores`] does. Returns
/// also, by file and row, the row of the joined table.
///
/// # Errors
/// Fails as [`joined_scores`] does, except that nothing is read.
pub fn join_scores(files: &[(PathBuf, ScoreTable)]) -> Result<(ScoreTable, Vec<Vec<usize>>)> {
    let names = system_names(files);
    let mut joined = Joined { files, ..Joined::default() };
    let mut targets = Vec::with_capacity(files.len());
    for (file, name) in names.into_iter().enumerate() {
        targets.push(joined.add(file, name)?);
    }
    Ok((joined.finish(), targets))
}

/// A column by its role and key. A criterion and a metric may have the same name.
type Name<'a> = (Role, &'a Key);

fn columns(table: &ScoreTable) -> impl Iterator<Item = Name<'_>> {
    table.columns().iter().map(|column| (column.role, &column.key))
}

/// The system of each file that names none and shares a metric with another file.
///
/// A shared criterion says nothing, because `score` copies the ratings of a story into every file;
/// unless there is nothing but ratings.
fn system_names(files: &[(PathBuf, ScoreTable)]) -> Vec<Option<String>> {
    let shares = |at: usize| {
        let others = files.iter().enumerate().filter(|(other, _)| *other != at);
        let theirs: Vec<Name<'_>> = others.flat_map(|(_, (_, table))| columns(table)).collect();
        let own: Vec<Name<'_>> = columns(&files[at].1).collect();
        let only_ratings = own.iter().all(|(role, _)| *role == Role::Human);
        let telling = |(role, _): &Name<'_>| only_ratings || *role == Role::Metric;
        own.iter().filter(|name| telling(name)).any(|name| theirs.contains(name))
    };
    let nameless = |table: &ScoreTable| table.rows().iter().all(|row| row.system.is_none());
    let name = |(at, (path, table)): (usize, &(PathBuf, ScoreTable))| {
        (nameless(table) && shares(at)).then(|| FileName::of(path).system().to_owned())
    };
    let mut names: Vec<Option<String>> = files.iter().enumerate().map(name).collect();
    // Files of the same name in different folders keep their paths.
    let repeated: Vec<bool> = names
        .iter()
        .map(|name| name.is_some() && names.iter().filter(|other| *other == name).count() > 1)
        .collect();
    for ((name, (path, _)), repeated) in names.iter_mut().zip(files).zip(repeated) {
        if repeated {
            *name = Some(path.to_string_lossy().into_owned());
        }
    }
    names
}

/// A value, and the file and the row of it that it was read from.
struct Given {
    value: Value,
    file: u32,
    row: u32,
    /// Which of the files of the joined row that is, counted from 0.
    origin: u32,
}

/// The tables that were joined so far.
#[derive(Default)]
struct Joined<'a> {
    /// All files, of which the first `added` were joined.
    files: &'a [(PathBuf, ScoreTable)],
    added: usize,
    rows: Vec<Row>,
    positions: HashMap<(Option<String>, String), usize>,
    /// The row of each id; `None` if several systems have it.
    by_id: HashMap<String, Option<usize>>,
    columns: Vec<Column>,
    /// By column and row.
    values: Vec<Vec<Option<Given>>>,
    notes: Vec<String>,
}

impl Joined<'_> {
    /// Joins a file. Returns its rows in the joined table.
    fn add(&mut self, file: usize, system: Option<String>) -> Result<Vec<usize>> {
        let (path, table) = &self.files[file];
        table.index()?;
        let known = self.columns.len();
        if let Some(name) = &system {
            let stories = table.rows().len();
            let problem = format!("its {stories} stories are taken as the system {}", quoted(name));
            self.notes.push(format!("{} names no system: {problem}", path.display()));
        }
        let own: Vec<usize> = table.columns().iter().map(|column| self.column(column)).collect();
        let (before, mut matched, mut other_words) = (self.rows.len(), 0, 0);
        let mut targets = Vec::with_capacity(table.rows().len());
        for (at, row) in table.rows().iter().enumerate() {
            let row = Row { system: row.system.clone().or_else(|| system.clone()), ..row.clone() };
            let target = match self.find(&row).filter(|&target| target < before) {
                Some(target) => {
                    matched += 1;
                    self.merge(target, &row, || table.place(at))?;
                    other_words += u64::from(self.merge_text(target, &row));
                    target
                }
                None => self.append(row),
            };
            for (column, &joined) in own.iter().enumerate() {
                self.set(joined, target, &table.values(column)[at], (file, at))?;
            }
            targets.push(target);
        }
        let shares_column = own.iter().any(|&column| column < known);
        if self.added > 0 {
            self.report(path, table.rows().len(), matched, shares_column)?;
        }
        if other_words > 0 {
            let stories = if other_words == 1 { "story has" } else { "stories have" };
            self.notes.push(format!(
                "{}: {other_words} {stories} another number of words than in the files before it, \
                 as if the texts were not the same; the first number is kept",
                path.display()
            ));
        }
        self.added += 1;
        table.notes().iter().for_each(|note| self.notes.push(note.clone()));
        Ok(targets)
    }

    /// Says what was joined, unless the file only adds other stories.
    fn report(&mut self, path: &Path, rows: usize, matched: usize, shares: bool) -> Result<()> {
        if matched == 0 && !shares {
            let before = self.files[..self.added].iter().map(|(file, _)| file.display());
            let before: Vec<String> = before.map(|file| file.to_string()).collect();
            let problem = format!(
                "it has neither a story (by system and id) nor a column in common with {}",
                listed(&before)
            );
            return Err(Error::invalid(Place::file(path), problem));
        }
        if matched > 0 {
            let new = match rows - matched {
                0 => String::new(),
                1 => "; 1 is in this file alone".to_owned(),
                new => format!("; {new} are in this file alone"),
            };
            self.notes.push(format!(
                "{}: {matched} of {rows} stories were joined by system and id to those of the \
                 files before it{new}",
                path.display()
            ));
        }
        Ok(())
    }

    /// The position of a column, which is added if it is new.
    fn column(&mut self, column: &Column) -> usize {
        let same = |known: &Column| known.key == column.key && known.role == column.role;
        let Some(at) = self.columns.iter().position(same) else {
            self.columns.push(column.clone());
            self.values.push(Vec::new());
            return self.columns.len() - 1;
        };
        let known = &mut self.columns[at];
        known.counts.truncated += column.counts.truncated;
        known.counts.empty += column.counts.empty;
        if known.direction == Direction::None {
            known.direction = column.direction;
        }
        if let (Some(ours), Some(theirs)) = (&known.signature, &column.signature)
            && ours != theirs
        {
            let note = format!(
                "{} was not computed alike in all files: {ours} and {theirs}",
                cut(column.key.as_str())
            );
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        at
    }

    /// The row that a story has already.
    fn find(&self, row: &Row) -> Option<usize> {
        let exact = |system: &Option<String>| self.positions.get(&(system.clone(), row.id.clone()));
        match &row.system {
            Some(_) => exact(&row.system).or_else(|| exact(&None)).copied(),
            None => self.by_id.get(&row.id).copied().flatten(),
        }
    }

    fn append(&mut self, row: Row) -> usize {
        let at = self.rows.len();
        self.positions.insert((row.system.clone(), row.id.clone()), at);
        self.by_id.entry(row.id.clone()).and_modify(|known| *known = None).or_insert(Some(at));
        self.rows.push(row);
        at
    }

    /// Adds what another file knows about a story.
    fn merge(&mut self, target: usize, row: &Row, place: impl Fn() -> Place) -> Result<()> {
        let known = &mut self.rows[target];
        if let (Some(ours), Some(theirs)) = (&known.system, &row.system)
            && ours != theirs
        {
            let problem = format!(
                "systems {} and {} both have the id {}, but another file names no system, so that \
                 it is not clear whose story it means",
                quoted(ours),
                quoted(theirs),
                quoted(&row.id)
            );
            return Err(Error::invalid(place().in_field("id"), problem));
        }
        if known.system.is_none() && row.system.is_some() {
            known.system.clone_from(&row.system);
            self.positions.insert((row.system.clone(), row.id.clone()), target);
        }
        let file = row.file.clone().unwrap_or_else(|| Path::new("").into());
        known.others.push(Origin { file, line: row.line });
        if known.item == known.id {
            known.item.clone_from(&row.item);
        }
        for (criterion, ratings) in row.ratings.iter() {
            let before = known.ratings.get(criterion);
            if before == Some(ratings) {
                continue;
            }
            if before.is_some() {
                let problem =
                    format!("story {} has other ratings in another file", quoted(&row.id));
                return Err(Error::invalid(place().in_field(cut(criterion)), problem));
            }
            ratings.iter().for_each(|rating| known.ratings.push(criterion, *rating));
        }
        Ok(())
    }

    /// Adds what another file says about the text of a story, whose flags are those of both.
    /// Returns whether the number of words differs.
    fn merge_text(&mut self, target: usize, row: &Row) -> bool {
        let known = &mut self.rows[target];
        for flag in &row.flags {
            if !known.flags.contains(flag) {
                known.flags.push(flag.clone());
            }
        }
        let before = known.words;
        known.words = before.or(row.words);
        before.is_some() && row.words.is_some() && before != row.words
    }

    /// Sets a value that a row of a file has.
    fn set(
        &mut self,
        column: usize,
        row: usize,
        value: &Value,
        (file, at): (usize, usize),
    ) -> Result<()> {
        if *value == Err(Absence::NotGiven) || *value == Err(Absence::NotRated) {
            return Ok(());
        }
        let known = &self.rows[row];
        let values = &mut self.values[column];
        if values.len() <= row {
            values.resize_with(self.rows.len(), || None);
        }
        let Some(before) = &values[row] else {
            let origin = known.others.len() as u32;
            values[row] =
                Some(Given { value: value.clone(), file: file as u32, row: at as u32, origin });
            return Ok(());
        };
        if before.value == *value {
            return Ok(());
        }
        let place = |file: usize, row: usize| self.files[file].1.place(row);
        let field = cut(self.columns[column].key.as_str()).into_owned();
        Err(Error::OtherValue {
            place: Box::new(place(file, at).in_field(field)),
            id: known.id.clone(),
            system: known.system.clone(),
            first: Box::new(place(before.file as usize, before.row as usize)),
        })
    }

    fn finish(self) -> ScoreTable {
        let count = self.rows.len();
        let mut table = ScoreTable::new(self.rows);
        let rated: Vec<Key> = table.columns().iter().map(|column| column.key.clone()).collect();
        for (column, given) in self.columns.into_iter().zip(self.values) {
            let absent =
                if column.role == Role::Human { Absence::NotRated } else { Absence::NotGiven };
            let mut values = vec![Err(absent); count];
            let mut origins = vec![0; count];
            for (row, given) in given.into_iter().enumerate() {
                if let Some(given) = given {
                    (values[row], origins[row]) = (given.value, given.origin);
                }
            }
            // Criteria with single ratings are columns of the rows themselves.
            match rated.iter().position(|key| column.role == Role::Human && *key == column.key) {
                Some(known) => table.set_origins(known, origins),
                None => table.push_joined(column, values, origins),
            }
        }
        self.notes.into_iter().for_each(|note| table.note(note));
        table
    }
}
