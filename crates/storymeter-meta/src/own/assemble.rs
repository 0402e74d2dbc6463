//! A table from score records and ratings.

use std::collections::HashMap;

use storymeter_core::read::{self, ReadOptions, Scored};
use storymeter_core::{Column, Direction, Error as CoreError, Place, Ratings, Role, ScoreTable};

use super::Options;
use crate::error::{Error, Result};
use crate::ratings::{RatedStory, Raters, RatingTable};
use crate::sheet::Warning;

/// What was made of the files.
pub struct Assembled {
    /// Criteria first, then metrics.
    pub table: ScoreTable,
    /// The single ratings.
    pub ratings: RatingTable,
    /// Each story's id and its cell in a column.
    pub cells: Vec<(String, usize)>,
    /// What a reader must know about the files.
    pub warnings: Vec<Warning>,
}

/// The name of the only system where the data has none.
const NO_SYSTEM: &str = "all";

/// One story with all that is known about it.
struct Entry {
    id: String,
    system: Option<String>,
    item: String,
    ratings: Ratings,
    scores: Vec<(String, f64)>,
    place: Place,
}

/// Reads the files and puts every story into its cell.
pub fn assemble(options: &Options<'_>) -> Result<Assembled> {
    let records = read::scored(&options.scores)?;
    check_ids(&records)?;
    let mut warnings = Vec::new();
    let entries = match &options.stories {
        None => records.into_iter().map(entry).collect(),
        Some(_) => join(records, options, &mut warnings)?,
    };
    let criteria = names(entries.iter().flat_map(|e| e.ratings.iter().map(|(name, _)| name)));
    let metrics =
        names(entries.iter().flat_map(|e| e.scores.iter().map(|(name, _)| name.as_str())));
    if criteria.is_empty() {
        let hint = "no story has ratings: give them as `human` in the scores, or with --stories";
        return Err(CoreError::invalid(Place::file(&options.scores), hint).into());
    }
    if let Some(scale) = options.scale {
        for entry in &entries {
            for (criterion, values) in entry.ratings.iter() {
                scale.check(values, &entry.place.clone().in_field(criterion))?;
            }
        }
    }
    let (systems, items, cells) = cells(&entries)?;
    let mut table = ScoreTable::new(systems.clone(), items);
    let size = table.systems().len() * table.items().len();
    let mut push = |name: &str, role: Role, direction: Direction, value: &dyn Fn(&Entry) -> f64| {
        let mut values = vec![f64::NAN; size];
        entries.iter().zip(&cells).for_each(|(entry, &cell)| values[cell] = value(entry));
        table.push_column(
            Column { name: name.to_owned(), role, direction, signature: None },
            &values,
        );
    };
    for criterion in &criteria {
        push(criterion, Role::Human, Direction::Higher, &|e| {
            e.ratings.mean(criterion).unwrap_or(f64::NAN)
        });
    }
    for metric in &metrics {
        let score =
            |e: &Entry| e.scores.iter().find(|(name, _)| name == metric).map_or(f64::NAN, |s| s.1);
        push(metric, Role::Metric, (options.direction)(metric), &score);
    }
    let unknown = options.outsiders.iter().find(|name| !systems.contains(name));
    if let Some(unknown) = unknown {
        return Err(Error::unfit(format!(
            "unknown system \"{unknown}\"; there are: {}",
            systems.join(", ")
        )));
    }
    if size > entries.len() {
        let empty = size - entries.len();
        let message = format!("{empty} of {size} cells of systems and items have no story");
        warnings.push(Warning::new("missing", "table", message));
    }
    let cells = entries.iter().map(|entry| entry.id.clone()).zip(cells).collect();
    Ok(Assembled { ratings: rating_table(&entries, criteria), table, cells, warnings })
}

fn check_ids(records: &[Scored]) -> Result<()> {
    let mut seen: HashMap<&str, &Place> = HashMap::new();
    for record in records {
        if let Some(first) = seen.insert(&record.id, &record.place) {
            let problem = format!("id \"{}\" was here before, at {first}", record.id);
            return Err(CoreError::invalid(record.place.clone(), problem).into());
        }
    }
    Ok(())
}

fn entry(record: Scored) -> Entry {
    Entry {
        item: record.item.unwrap_or_else(|| record.id.clone()),
        id: record.id,
        system: record.system,
        ratings: record.ratings,
        scores: record.scores,
        place: record.place,
    }
}

/// Adds what the stories file knows; its ratings count where it has some.
fn join(
    records: Vec<Scored>,
    options: &Options<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Entry>> {
    let path = options.stories.clone().unwrap_or_default();
    let mut stories = HashMap::new();
    for record in read::open(std::slice::from_ref(&path), &ReadOptions::default())? {
        let record = record?;
        let id = record.story.id.clone();
        if stories.insert(id.clone(), record.story).is_some() {
            return Err(
                CoreError::invalid(record.place, format!("id \"{id}\" was here before")).into()
            );
        }
    }
    let (rated, scored) = (stories.len(), records.len());
    let mut entries = Vec::with_capacity(scored);
    for record in records {
        let Some(story) = stories.remove(&record.id) else { continue };
        let item = record.item.clone().unwrap_or_else(|| story.item().to_owned());
        let mut entry = entry(record);
        entry.item = item;
        entry.system = entry.system.or(story.system);
        if !story.ratings.is_empty() {
            entry.ratings = story.ratings;
        }
        entries.push(entry);
    }
    if entries.is_empty() {
        let problem = format!("none of its ids is in {}", path.display());
        return Err(CoreError::invalid(Place::file(&options.scores), problem).into());
    }
    for (missing, what) in [
        (scored - entries.len(), "scored stories are not in the stories file"),
        (rated - entries.len(), "stories have no scores"),
    ] {
        if missing > 0 {
            warnings.push(Warning::new(
                "missing",
                "join",
                format!("{missing} {what} and are left out"),
            ));
        }
    }
    Ok(entries)
}

/// The distinct names, in order of appearance.
fn names<'a>(all: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in all {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Systems, items, and the cell of each entry. Without systems every story is an item of its own.
fn cells(entries: &[Entry]) -> Result<(Vec<String>, Vec<String>, Vec<usize>)> {
    if entries.iter().all(|entry| entry.system.is_none()) {
        let items = entries.iter().map(|entry| entry.id.clone()).collect();
        return Ok((vec![NO_SYSTEM.into()], items, (0..entries.len()).collect()));
    }
    let mut systems: Vec<String> = Vec::new();
    let mut items: Vec<String> = Vec::new();
    let mut item_at: HashMap<&str, usize> = HashMap::new();
    let mut places = Vec::with_capacity(entries.len());
    for entry in entries {
        let Some(system) = &entry.system else {
            let problem = format!("story \"{}\" has no system, others have", entry.id);
            return Err(CoreError::invalid(entry.place.clone().in_field("system"), problem).into());
        };
        let system = systems.iter().position(|known| known == system).unwrap_or_else(|| {
            systems.push(system.clone());
            systems.len() - 1
        });
        let item = *item_at.entry(&entry.item).or_insert_with(|| {
            items.push(entry.item.clone());
            items.len() - 1
        });
        places.push((system, item));
    }
    let mut taken: HashMap<(usize, usize), &Entry> = HashMap::new();
    let mut cells = Vec::with_capacity(entries.len());
    for (entry, &(system, item)) in entries.iter().zip(&places) {
        if let Some(other) = taken.insert((system, item), entry) {
            let problem = format!(
                "system \"{}\" has two stories for item \"{}\": ids \"{}\" and \"{}\"",
                systems[system], items[item], other.id, entry.id
            );
            return Err(CoreError::invalid(entry.place.clone(), problem).into());
        }
        cells.push(system * items.len() + item);
    }
    Ok((systems, items, cells))
}

fn rating_table(entries: &[Entry], criteria: Vec<String>) -> RatingTable {
    let story = |entry: &Entry| RatedStory {
        id: entry.id.clone(),
        system: entry.system.clone().unwrap_or_else(|| NO_SYSTEM.into()),
        ratings: criteria
            .iter()
            .map(|c| entry.ratings.get(c).unwrap_or_default().to_vec())
            .collect(),
    };
    RatingTable {
        stories: entries.iter().map(story).collect(),
        criteria,
        raters: Raters::Anonymous,
    }
}
