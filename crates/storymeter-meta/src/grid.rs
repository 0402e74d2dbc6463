//! The dense arrangement of a score table: systems by items.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use storymeter_core::{Column, Direction, Error as CoreError, Place, Role, ScoreTable};

use crate::error::{Error, Result};

/// The name of the only system where the data names none.
pub(crate) const NO_SYSTEM: &str = "all";

/// The most systems. Every two of them are compared, so their number counts squared.
const MOST_SYSTEMS: usize = 1000;
/// The most columns. Every two of them are correlated.
const MOST_COLUMNS: usize = 1000;
/// The most tests between metrics over all criteria, about: criteria times metrics squared.
const MOST_TESTS: usize = 1_000_000;
/// The most cells over all columns. They take 8 bytes each. A file in which each story has a system
/// and an item of its own would otherwise need the square of its size.
const MOST_CELLS: usize = 1 << 27;

/// Scores and ratings of every system on every item, by column.
///
/// This is what the statistics work on. An absent cell is NaN here, because `storymeter-stats`
/// documents NaN as missing; nothing of that leaves the crate.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    systems: Vec<String>,
    items: Vec<String>,
    columns: Vec<Column>,
    /// `[column][system][item]`; the mean where a system has several stories for an item.
    values: Vec<Vec<f64>>,
    /// By cell that has a story: the id of its first story, and the cell.
    cells: Vec<(String, usize)>,
    /// The rows of the table that are the second or a later story of their cell, with its first.
    repeats: Vec<[usize; 2]>,
    /// By cell: a number of the item that its story was written for. Without systems, several
    /// stories may be of one item.
    item_of_cell: Vec<usize>,
    /// `[column][system]`: what is counted of all stories, those that share a cell too.
    counted: Vec<Vec<Counted>>,
}

/// What is counted of the stories of a system, for one column.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Counted {
    present: u64,
    absent: u64,
    /// Stories with a value and of other lengths than those that the metric was tested on.
    outside: u64,
}

impl Grid {
    /// Arranges a table. Where no row has a system, every story is an item of its own.
    ///
    /// # Errors
    /// Returns an error if a system has an id twice, if only some rows have a system, or if there
    /// are too many systems, columns or cells, or too large numbers.
    pub fn from_table(table: &ScoreTable) -> Result<Self> {
        table.index()?;
        check_numbers(table)?;
        let Arranged { systems, items, cells, repeats } = arrange(table)?;
        check_size(table, systems.len(), items.len())?;
        let size = systems.len() * items.len();
        let spread = |column: usize| {
            let mut values = vec![f64::NAN; size];
            let mut counts = vec![0.0; size];
            for (value, &cell) in numbers(table, column).into_iter().zip(&cells) {
                if value.is_nan() {
                    continue;
                }
                let sum = if counts[cell] == 0.0 { value } else { values[cell] + value };
                (values[cell], counts[cell]) = (sum, counts[cell] + 1.0);
            }
            for (value, count) in values.iter_mut().zip(counts) {
                if count > 1.0 {
                    *value /= count;
                }
            }
            values
        };
        let mut names = Names::default();
        let mut item_of_cell = vec![0; size];
        for (row, &cell) in table.rows().iter().zip(&cells) {
            item_of_cell[cell] = names.position(&row.item);
        }
        let repeated: HashSet<usize> = repeats.iter().map(|[_, row]| *row).collect();
        let firsts = (0..cells.len()).filter(|row| !repeated.contains(row));
        let all = 0..table.columns().len();
        let counted = |column| counted(table, column, &cells, [systems.len(), items.len()]);
        Ok(Self {
            values: all.clone().map(spread).collect(),
            counted: all.map(counted).collect(),
            item_of_cell,
            columns: table.columns().to_vec(),
            cells: firsts.map(|row| (table.rows()[row].id.clone(), cells[row])).collect(),
            repeats,
            systems,
            items,
        })
    }

    /// The number of stories that are the second or a later one of their system and item.
    pub fn repeats(&self) -> usize {
        self.repeats.len()
    }

    /// For analyses that join other data by the ids of single stories.
    ///
    /// # Errors
    /// Returns an error if a system has several stories for one item of this table.
    pub(crate) fn check_single(&self, table: &ScoreTable) -> Result<()> {
        let Some(&[first, second]) = self.repeats.first() else { return Ok(()) };
        let row = &table.rows()[second];
        Err(Error::TwoStories {
            place: table.place(second),
            system: row.system.clone().unwrap_or_default(),
            item: row.item.clone(),
            ids: Box::new([table.rows()[first].id.clone(), row.id.clone()]),
        })
    }

    /// The same grid without the systems of these names, such as human writers.
    #[must_use]
    pub fn without_systems(&self, names: &[impl AsRef<str>]) -> Self {
        let leaves = |system: &str| names.iter().any(|name| name.as_ref() == system);
        let kept: Vec<usize> =
            (0..self.systems.len()).filter(|&system| !leaves(&self.systems[system])).collect();
        let items = self.items.len();
        let column = |at: usize| -> Vec<f64> {
            kept.iter().flat_map(|&system| self.row(at, system)).copied().collect()
        };
        let moved = |(id, cell): &(String, usize)| {
            let system = kept.iter().position(|&system| system == cell / items)?;
            Some((id.clone(), system * items + cell % items))
        };
        let item_of_cell = kept.iter().flat_map(|system| {
            self.item_of_cell[system * items..(system + 1) * items].iter().copied()
        });
        let counted = |column: &Vec<Counted>| kept.iter().map(|&system| column[system]).collect();
        let mut grid = Self {
            item_of_cell: item_of_cell.collect(),
            counted: self.counted.iter().map(counted).collect(),
            systems: kept.iter().map(|&system| self.systems[system].clone()).collect(),
            items: self.items.clone(),
            columns: self.columns.clone(),
            values: (0..self.columns.len()).map(column).collect(),
            cells: self.cells.iter().filter_map(moved).collect(),
            repeats: self.repeats.clone(),
        };
        // Where every system stays, the counts of the header stand. They are of stories.
        if kept.len() < self.systems.len() {
            grid.count();
        }
        grid
    }

    /// Sets the counts of each column to those of the stories of the systems that are left.
    fn count(&mut self) {
        for (column, counted) in self.columns.iter_mut().zip(&self.counted) {
            let sum = |of: fn(&Counted) -> u64| counted.iter().map(of).sum();
            column.counts.present = sum(|one| one.present);
            column.counts.absent = sum(|one| one.absent);
            column.counts.outside = sum(|one| one.outside);
        }
    }

    /// The names of the systems.
    pub fn systems(&self) -> &[String] {
        &self.systems
    }

    /// The names of the items.
    pub fn items(&self) -> &[String] {
        &self.items
    }

    /// The columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The cells that have a story, each with the id of its first one.
    pub fn cells(&self) -> &[(String, usize)] {
        &self.cells
    }

    /// The number of pairs of a system and an item that have a story.
    pub fn stories(&self) -> usize {
        self.cells.len()
    }

    /// The columns of a role, by position.
    pub fn of_role(&self, role: Role) -> Vec<usize> {
        (0..self.columns.len()).filter(|&at| self.columns[at].role == role).collect()
    }

    /// The largest number of systems that have a story for the same item.
    pub fn most_systems_per_item(&self) -> usize {
        let mut counts = vec![0; self.items.len()];
        let cells: HashSet<usize> = self.cells.iter().map(|(_, cell)| *cell).collect();
        cells.into_iter().for_each(|cell| counts[cell % self.items.len()] += 1);
        counts.into_iter().max().unwrap_or(0)
    }

    /// By cell of a column: a number of the item that its story was written for.
    pub(crate) fn item_of_cells(&self) -> &[usize] {
        &self.item_of_cell
    }

    /// A column's values as `[system][item]`, flattened; NaN where a value is absent.
    pub(crate) fn values(&self, column: usize) -> &[f64] {
        &self.values[column]
    }

    /// A column's values of one system, by item.
    pub(crate) fn row(&self, column: usize, system: usize) -> &[f64] {
        let items = self.items.len();
        &self.values[column][system * items..(system + 1) * items]
    }

    /// A column's values, turned so that more is better.
    pub(crate) fn oriented(&self, column: usize) -> Vec<f64> {
        let sign = self.columns[column].direction.sign();
        self.values[column].iter().map(|value| sign * value).collect()
    }

    pub(crate) fn set_direction(&mut self, column: usize, direction: Direction) {
        self.columns[column].direction = direction;
    }
}

/// The largest number that is analysed. Products of two sums of squares of larger ones are infinite
/// in floating point, and no statistic of them would mean anything.
pub(crate) const LARGEST: f64 = 1e70;

/// Refuses scores and ratings that are too large, with their places.
pub(crate) fn check_numbers(table: &ScoreTable) -> Result<()> {
    let is_large = |value: f64| value.abs() > LARGEST;
    for (at, column) in table.columns().iter().enumerate() {
        for (row, value) in table.values(at).iter().enumerate() {
            if let Some(&value) = value.as_ref().ok().filter(|&&value| is_large(value)) {
                let place = table.place_of_value(at, row);
                return Err(too_large(value, place.in_field(column.key.as_str())));
            }
        }
    }
    for (at, row) in table.rows().iter().enumerate() {
        for (criterion, ratings) in row.ratings.iter() {
            if let Some(&rating) = ratings.iter().flatten().find(|&&rating| is_large(rating)) {
                let place = table.place_of_rating(criterion, at);
                return Err(too_large(rating, place.in_field(criterion)));
            }
        }
    }
    Ok(())
}

/// The values of a column; NaN where one is absent.
pub(crate) fn numbers(table: &ScoreTable, column: usize) -> Vec<f64> {
    table.values(column).iter().map(|value| value.clone().unwrap_or(f64::NAN)).collect()
}

/// The error of a number that is too large.
pub(crate) fn too_large(value: f64, place: Place) -> Error {
    let problem = format!("{value:e} is too large: numbers up to {LARGEST:e} can be analysed");
    CoreError::invalid(place, problem).into()
}

/// Refuses tables whose analysis would not end or not fit into memory.
fn check_size(table: &ScoreTable, systems: usize, items: usize) -> Result<()> {
    let [criteria, metrics] = [Role::Human, Role::Metric].map(|role| table.of_role(role).len());
    let columns = criteria + metrics;
    for (what, found, most) in [
        ("systems", systems, MOST_SYSTEMS),
        ("criteria and metrics", columns, MOST_COLUMNS),
        ("tests between metrics", criteria * metrics * metrics, MOST_TESTS),
        ("cells of systems, items and columns", systems * items * columns.max(1), MOST_CELLS),
    ] {
        if found > most {
            return Err(Error::TooLarge { file: file_of(table), what, found, most });
        }
    }
    Ok(())
}

/// The file that a table was read from, where it was read from one.
pub(crate) fn file_of(table: &ScoreTable) -> Option<PathBuf> {
    let first = (!table.rows().is_empty()).then(|| table.place(0).file);
    first.filter(|file| !file.as_os_str().is_empty())
}

/// The metric of a name, by position. A criterion of the same name does not count.
pub(crate) fn find_metric(table: &ScoreTable, name: &str) -> Result<usize> {
    let metrics = table.of_role(Role::Metric);
    let key = |at: usize| table.columns()[at].key.as_str();
    if let Some(&exact) = metrics.iter().find(|&&at| key(at) == name) {
        return Ok(exact);
    }
    let unknown = || CoreError::unknown("metric", name, metrics.iter().map(|&at| key(at)));
    match table.find(name) {
        Ok(at) if metrics.contains(&at) => Ok(at),
        Ok(_) | Err(CoreError::UnknownName { .. }) => Err(unknown().into()),
        Err(ambiguous) => Err(ambiguous.into()),
    }
}

/// What is counted of a column, by system.
fn counted(
    table: &ScoreTable,
    column: usize,
    cells: &[usize],
    [systems, items]: [usize; 2],
) -> Vec<Counted> {
    let validity = table.columns()[column].validity.as_ref();
    let mut all = vec![Counted::default(); systems];
    for ((row, value), cell) in table.rows().iter().zip(table.values(column)).zip(cells) {
        let own = &mut all[cell / items];
        if value.is_err() {
            own.absent += 1;
            continue;
        }
        own.present += 1;
        let is_outside =
            validity.zip(row.words).is_some_and(|(validity, words)| !validity.covers(words));
        own.outside += u64::from(is_outside);
    }
    all
}

/// Where the rows of a table stand.
struct Arranged {
    systems: Vec<String>,
    items: Vec<String>,
    /// By row.
    cells: Vec<usize>,
    /// The first and a later row of the same cell.
    repeats: Vec<[usize; 2]>,
}

/// Systems, items and the cell of each row.
fn arrange(table: &ScoreTable) -> Result<Arranged> {
    let rows = table.rows();
    if rows.iter().all(|row| row.system.is_none()) {
        let items = rows.iter().map(|row| row.id.clone()).collect();
        let (systems, cells) = (vec![NO_SYSTEM.into()], (0..rows.len()).collect());
        return Ok(Arranged { systems, items, cells, repeats: Vec::new() });
    }
    let (mut systems, mut items) = (Names::default(), Names::default());
    let mut places = Vec::with_capacity(rows.len());
    let mut taken: HashMap<(usize, usize), usize> = HashMap::new();
    let mut repeats = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let Some(system) = &row.system else {
            return Err(Error::NoSystem { place: table.place(at), id: row.id.clone() });
        };
        let place = (systems.position(system), items.position(&row.item));
        let first = *taken.entry(place).or_insert(at);
        if first != at {
            repeats.push([first, at]);
        }
        places.push(place);
    }
    let width = items.names.len();
    let cells = places.into_iter().map(|(system, item)| system * width + item).collect();
    Ok(Arranged { systems: systems.names, items: items.names, cells, repeats })
}

/// Distinct names in order of appearance.
#[derive(Default)]
pub(crate) struct Names {
    pub names: Vec<String>,
    positions: HashMap<String, usize>,
}

impl Names {
    pub fn position(&mut self, name: &str) -> usize {
        if let Some(&position) = self.positions.get(name) {
            return position;
        }
        self.names.push(name.to_owned());
        self.positions.insert(name.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::systems::verdict::ColumnTrust;
    use storymeter_core::{Absence, Row, Validity};

    /// A table of systems `s0`, `s1`, ... and items `i0`, `i1`, ...: the first column is a
    /// criterion, the others are metrics. A NaN is an absent value.
    pub fn grid(systems: usize, items: usize, columns: &[&[f64]]) -> Grid {
        let row = |system: usize, item: usize| Row {
            id: format!("s{system}-i{item}"),
            system: Some(format!("s{system}")),
            item: format!("i{item}"),
            ..Row::default()
        };
        let rows = (0..systems).flat_map(|system| (0..items).map(move |item| row(system, item)));
        let mut table = ScoreTable::new(rows.collect());
        for (at, values) in columns.iter().enumerate() {
            let column = match at {
                0 => Column::criterion("c0"),
                at => Column::metric(format!("c{at}"), Direction::Higher),
            };
            let value = |v: &f64| if v.is_nan() { Err(Absence::NotGiven) } else { Ok(*v) };
            table.push(column, values.iter().map(value).collect());
        }
        Grid::from_table(&table).unwrap()
    }

    #[test]
    fn a_system_can_be_left_out_and_the_counts_follow() {
        let all = grid(2, 2, &[&[1.0, f64::NAN, 3.0, 4.0]]);
        assert_eq!((all.columns()[0].counts.present, all.columns()[0].counts.absent), (3, 1));
        let without = all.without_systems(&["s0"]);
        assert_eq!(without.systems(), ["s1"]);
        assert_eq!(without.values(0), [3.0, 4.0]);
        assert_eq!(without.cells(), [("s1-i0".to_owned(), 0), ("s1-i1".to_owned(), 1)]);
        let counts = without.columns()[0].counts;
        assert_eq!((counts.present, counts.absent), (2, 0));
    }

    #[test]
    fn several_stories_of_a_system_for_an_item_count_as_their_mean() {
        let row = |id: &str, system: &str| Row {
            id: id.into(),
            system: Some(system.into()),
            item: "i".into(),
            line: Some(7),
            ..Row::default()
        };
        let rows = [row("0", "a"), row("1", "a"), row("2", "b"), row("3", "a"), row("4", "c")];
        let mut table = ScoreTable::new(rows.to_vec()).read_from("s.jsonl".as_ref());
        let none = Err(Absence::NotGiven);
        table.push(
            Column::metric("m", Direction::Higher),
            vec![Ok(1.0), Ok(4.0), Ok(3.0), none.clone(), none],
        );
        let grid = Grid::from_table(&table).unwrap();
        assert_eq!(&grid.values(0)[..2], [2.5, 3.0]);
        assert!(grid.values(0)[2].is_nan());
        assert_eq!((grid.stories(), grid.repeats()), (3, 2));
        let counts = grid.columns()[0].counts;
        assert_eq!((counts.present, counts.absent), (3, 2));
        assert_eq!(
            grid.check_single(&table).unwrap_err().to_string(),
            "s.jsonl:7: system \"a\" has two stories for item \"i\": ids \"0\" and \"1\""
        );
    }

    #[test]
    fn stories_that_share_a_cell_are_counted_one_by_one() {
        let row = |at: u64| Row {
            id: at.to_string(),
            system: Some(["a", "b"][at as usize % 2].into()),
            item: (at / 4).to_string(),
            words: Some(if at < 3 { 900 } else { 100 }),
            ..Row::default()
        };
        let mut table = ScoreTable::new((0..12).map(row).collect());
        let validity = Validity {
            measures: "how it reads".into(),
            tested: "old stories".into(),
            doubtful: "new stories".into(),
            words: (20, 500),
        };
        let metric = Column::metric("m", Direction::Higher)
            .with(|it| (it.validity, it.counts.outside) = (Some(validity), 3));
        table.push(metric, (0..12).map(|at| Ok(f64::from(at))).collect());
        let grid = Grid::from_table(&table).unwrap();
        assert_eq!((grid.stories(), grid.repeats()), (6, 6));
        let outside = |without: &[&str]| {
            let left = grid.without_systems(without);
            let counts = left.columns()[0].counts;
            let trust = ColumnTrust::of_column(&left.columns()[0]).unwrap();
            (counts.outside, counts.present, trust.outside)
        };
        assert_eq!(outside(&[]), (3, 12, Some(0.25)));
        assert_eq!(outside(&["a"]), (1, 6, Some(1.0 / 6.0)));
    }

    #[test]
    fn a_table_whose_analysis_would_never_end_is_refused() {
        let row = |system: usize| Row {
            id: system.to_string(),
            system: Some(format!("s{system}")),
            item: system.to_string(),
            line: Some(1),
            ..Row::default()
        };
        let table =
            ScoreTable::new((0..100_000).map(row).collect()).read_from("scores.jsonl".as_ref());
        let message = Grid::from_table(&table).unwrap_err().to_string();
        assert_eq!(
            message,
            "scores.jsonl: there are 100000 systems, but at most 1000 can be analysed"
        );
    }

    #[test]
    fn systems_without_a_shared_item_are_seen() {
        let rows = (0..4).map(|i| Row {
            id: i.to_string(),
            system: Some(format!("s{}", i % 2)),
            item: i.to_string(),
            ..Row::default()
        });
        let apart = Grid::from_table(&ScoreTable::new(rows.collect())).unwrap();
        assert_eq!((apart.most_systems_per_item(), apart.stories()), (1, 4));
        assert_eq!(grid(3, 2, &[&[0.0; 6]]).most_systems_per_item(), 3);
    }
}
