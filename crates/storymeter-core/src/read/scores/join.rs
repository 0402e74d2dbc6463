//! Joins several score files into one table.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::read::shown::{cut, listed, quoted};
use crate::{
    Absence, Catalogue, Column, Direction, Error, Key, Place, Result, Role, Row, ScoreTable, Value,
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
/// If a file cannot be read, a system has an id twice in one file, two files have different values
/// for the same story in the same column, or a file shares neither a story nor a column with those
/// before it.
pub fn joined_scores(paths: &[impl AsRef<Path>], catalogue: &Catalogue) -> Result<ScoreTable> {
    let read = |path: &Path| Ok((path.to_owned(), super::scores(path, catalogue)?));
    let mut files = paths
        .iter()
        .map(|path| read(path.as_ref()))
        .collect::<Result<Vec<(PathBuf, ScoreTable)>>>()?;
    if files.len() == 1 {
        return Ok(files.swap_remove(0).1);
    }
    let names = system_names(&files);
    let mut joined = Joined::default();
    for ((path, table), name) in files.iter().zip(names) {
        joined.add(path, table, name)?;
    }
    joined.finish()
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
        (nameless(table) && shares(at)).then(|| stem(path))
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

/// The name of a file without its folder and its endings.
fn stem(path: &Path) -> String {
    let name =
        path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut stem = name.as_str();
    for ending in [".gz", ".zst", ".jsonl", ".json", ".csv", ".tsv", ".txt"] {
        stem = stem.strip_suffix(ending).unwrap_or(stem);
    }
    if stem.is_empty() { name } else { stem.to_owned() }
}

/// The tables that were joined so far.
#[derive(Default)]
struct Joined {
    files: Vec<PathBuf>,
    rows: Vec<Row>,
    /// By row: the file that it was first read from.
    source_of: Vec<usize>,
    positions: HashMap<(Option<String>, String), usize>,
    /// The row of each id; `None` if several systems have it.
    by_id: HashMap<String, Option<usize>>,
    columns: Vec<Column>,
    /// By column: its values, and the file and line of each.
    values: Vec<HashMap<usize, (Value, Place)>>,
    notes: Vec<String>,
}

impl Joined {
    fn add(&mut self, path: &Path, table: &ScoreTable, system: Option<String>) -> Result<()> {
        table.index()?;
        let known = self.columns.len();
        if let Some(name) = &system {
            let stories = table.rows().len();
            let problem = format!("its {stories} stories are taken as the system {}", quoted(name));
            self.notes.push(format!("{} names no system: {problem}", path.display()));
        }
        let own: Vec<usize> = table.columns().iter().map(|column| self.column(column)).collect();
        let (before, mut matched) = (self.rows.len(), 0);
        for (at, row) in table.rows().iter().enumerate() {
            let row = Row { system: row.system.clone().or_else(|| system.clone()), ..row.clone() };
            let place = table.place(at);
            let target = match self.find(&row).filter(|&target| target < before) {
                Some(target) => {
                    matched += 1;
                    self.merge(target, &row, &place)?;
                    target
                }
                None => self.append(row),
            };
            for (column, &joined) in own.iter().enumerate() {
                self.set(joined, target, &table.values(column)[at], &place)?;
            }
        }
        let shares_column = own.iter().any(|&column| column < known);
        if !self.files.is_empty() {
            self.report(path, table.rows().len(), matched, shares_column)?;
        }
        self.files.push(path.to_owned());
        table.notes().iter().for_each(|note| self.notes.push(note.clone()));
        Ok(())
    }

    /// Says what was joined, unless the file only adds other stories.
    fn report(&mut self, path: &Path, rows: usize, matched: usize, shares: bool) -> Result<()> {
        if matched == 0 && !shares {
            let before: Vec<String> =
                self.files.iter().map(|file| file.display().to_string()).collect();
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
            self.values.push(HashMap::new());
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
        self.source_of.push(self.files.len());
        at
    }

    /// Adds what another file knows about a story.
    fn merge(&mut self, target: usize, row: &Row, place: &Place) -> Result<()> {
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
            return Err(Error::invalid(place.clone().in_field("id"), problem));
        }
        if known.system.is_none() && row.system.is_some() {
            known.system.clone_from(&row.system);
            self.positions.insert((row.system.clone(), row.id.clone()), target);
        }
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
                return Err(Error::invalid(place.clone().in_field(cut(criterion)), problem));
            }
            ratings.iter().for_each(|rating| known.ratings.push(criterion, *rating));
        }
        Ok(())
    }

    fn set(&mut self, column: usize, row: usize, value: &Value, place: &Place) -> Result<()> {
        if *value == Err(Absence::NotGiven) || *value == Err(Absence::NotRated) {
            return Ok(());
        }
        if let Some((before, first)) = self.values[column].get(&row) {
            if before == value {
                return Ok(());
            }
            let known = &self.rows[row];
            let system = known
                .system
                .as_deref()
                .map_or(String::new(), |system| format!(" of system {}", quoted(system)));
            let problem = format!(
                "story {}{system} has another value in {first}; leave one of the files out, or \
                 rename a column",
                quoted(&known.id)
            );
            let field = cut(self.columns[column].key.as_str()).into_owned();
            return Err(Error::invalid(place.clone().in_field(field), problem));
        }
        self.values[column].insert(row, (value.clone(), place.clone()));
        Ok(())
    }

    fn finish(self) -> Result<ScoreTable> {
        let count = self.rows.len();
        let mut table = ScoreTable::new(self.rows).read_from_files(self.files, self.source_of);
        let rated: Vec<Key> = table.columns().iter().map(|column| column.key.clone()).collect();
        for (column, mut present) in self.columns.into_iter().zip(self.values) {
            // Criteria with single ratings are columns of the rows themselves.
            if column.role == Role::Human && rated.contains(&column.key) {
                continue;
            }
            let absent =
                if column.role == Role::Human { Absence::NotRated } else { Absence::NotGiven };
            let value = |row: usize| match present.remove(&row) {
                Some((value, _)) => value,
                None => Err(absent.clone()),
            };
            table.push(column, (0..count).map(value).collect());
        }
        self.notes.into_iter().for_each(|note| table.note(note));
        Ok(table)
    }
}
