//! Score tables from the columns of a program.

use std::collections::HashSet;

use storymeter_core::{
    Absence, Column, Direction, Error as InputError, Key, Place, Range, Row, ScoreTable, Value,
};

use crate::{Error, Result, catalogue};

/// Makes a score table of columns in memory: stories, and the scores of some metrics.
///
/// What is known about a metric comes from the catalogue: which direction is better, and the
/// range. NaN is an absent value. The ratings of the rows become columns of their own, as
/// [`ScoreTable::new`] says.
///
/// ```
/// use storymeter::Row;
/// let rows = ["a", "b"].map(|id| Row { id: id.into(), item: id.into(), ..Row::default() });
/// let bleu = ("bleu".to_owned(), vec![Some(20.5), None]);
/// let table = storymeter::score_table(rows.to_vec(), vec![bleu])?;
/// let bleu = table.column("bleu")?;
/// assert_eq!((bleu.direction, bleu.counts.absent), (storymeter::Direction::Higher, 1));
/// # Ok::<(), storymeter::Error>(())
/// ```
///
/// # Errors
/// Returns an error if a column has not one value per story, or two columns have the same key.
pub fn score_table(rows: Vec<Row>, columns: Vec<(String, Vec<Option<f64>>)>) -> Result<ScoreTable> {
    let catalogue = catalogue();
    let mut table = ScoreTable::new(rows);
    let mut seen = HashSet::new();
    let mut unknown = Vec::new();
    for (name, scores) in columns {
        if scores.len() != table.rows().len() {
            return Err(Error::Lengths {
                what_first: "stories",
                first: table.rows().len(),
                what_second: "scores",
                second: scores.len(),
            });
        }
        if !seen.insert(name.clone()) {
            let place = Place::file("scores").in_field(&name);
            return Err(InputError::invalid(place, "there are two columns of this name").into());
        }
        let key = Key::new(name.as_str());
        let (direction, range) = catalogue.column(&key).unwrap_or((Direction::None, Range::ANY));
        if direction == Direction::None {
            unknown.push(name);
        }
        let value = |score: Option<f64>| -> Value {
            score.filter(|score| !score.is_nan()).ok_or(Absence::NotGiven)
        };
        let column = Column::metric(key, direction).with(|it| it.range = range);
        table.push(column, scores.into_iter().map(value).collect());
    }
    if !unknown.is_empty() {
        table.note(format!(
            "the catalogue of metrics gives no direction for {}",
            unknown.join(", ")
        ));
    }
    Ok(table)
}
