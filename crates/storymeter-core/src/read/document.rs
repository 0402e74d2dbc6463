//! Reads JSON that is not one object per line: an array of objects or of texts, such an array
//! inside an object (`{"data": [...]}`), one list per field (`{"story": [...], "system": [...]}`),
//! and objects that span several lines.
//!
//! The elements of an array are cut out one by one, so that memory is bounded by the largest one.
//! Lists per field are held in memory, because the first story needs the beginning of each. Where
//! they are objects, values of the same key belong together, whatever their order is.
//!
//! A key that is given twice, or a second list of stories in one object, is an error, because one
//! of the two would be lost.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, Cursor};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::names::{Field, FieldNames, rated};
use super::raw::Body;
use super::scanner::{Fault, Scanner, Step, ValueEnd, incomplete, unexpected};
use super::shown::quoted;
use super::{Format, ReadOptions, mags, tools};
use crate::{Error, Place, Result};

/// The names of an array of stories inside an object.
const CONTAINERS: [&str; 5] = ["data", "stories", "rows", "examples", "records"];

/// Lists per field may have so many times the bytes of the largest record.
const COLUMNS: usize = 8;

/// The records of a document.
pub(super) struct Document {
    input: Scanner,
    options: Arc<ReadOptions>,
    state: State,
}

enum State {
    /// Before the first value, or after the last.
    Top,
    /// In an array of stories, which may be a member of an object.
    Array {
        first: bool,
        member: Option<Members>,
    },
    /// In an object with one list per field.
    Columns(Columns),
    Ended,
}

/// The names of the members of an object that were read, one of which may have the stories.
#[derive(Default)]
struct Members {
    names: HashSet<String>,
    /// The member that is a list of stories.
    list: Option<String>,
}

impl Members {
    /// A member begins, which is a list of stories or not.
    fn add(&mut self, name: &str, is_list: bool) -> Step<()> {
        if !self.names.insert(name.to_owned()) {
            let problem = format!("the key {} is given twice", quoted(name));
            return Err(Fault::Content(problem));
        }
        if is_list && let Some(first) = self.list.replace(name.to_owned()) {
            let problem = format!(
                "the object has two lists of stories, {} and {}; keep one of them",
                quoted(&first),
                quoted(name)
            );
            return Err(Fault::Content(problem));
        }
        Ok(())
    }
}

/// Whether a member of an object is a list of stories, by its name and its first byte.
fn is_list_of_stories(name: &str, begin: u8) -> bool {
    begin == b'[' && CONTAINERS.contains(&name)
}

impl Document {
    pub fn new(input: Box<dyn BufRead + Send>, path: &Path, options: &Arc<ReadOptions>) -> Self {
        let input = Scanner::new(input, path);
        Self { input, options: Arc::clone(options), state: State::Top }
    }

    /// The next record and the line on which it begins.
    pub fn next(&mut self) -> Result<Option<(u64, Body)>> {
        match self.step() {
            Ok(next) => Ok(next),
            Err(Fault::System(e)) => {
                self.state = State::Ended;
                Err(Error::io(Place::file(&self.input.path).at_line(self.input.line), e))
            }
            Err(Fault::Content(problem)) => {
                self.state = State::Ended;
                Ok(Some((self.input.line, Body::Broken(problem))))
            }
        }
    }

    fn step(&mut self) -> Step<Option<(u64, Body)>> {
        loop {
            match &mut self.state {
                State::Ended => return Ok(None),
                State::Top => match self.input.peek()? {
                    None => return Ok(None),
                    Some(b'[') => {
                        self.input.bump();
                        self.state = State::Array { first: true, member: None };
                    }
                    Some(b'{') => {
                        if let Some(record) = self.object()? {
                            return Ok(Some(record));
                        }
                    }
                    Some(other) => {
                        return Err(unexpected(other, "an array or an object"));
                    }
                },
                State::Array { first, member } => {
                    match self.input.peek()? {
                        None => return Err(incomplete()),
                        Some(b']') => {
                            self.input.bump();
                            let member = member.take();
                            self.state = State::Top;
                            if let Some(members) = member {
                                self.skip_members(members)?;
                            }
                            continue;
                        }
                        Some(b',') if !*first => self.input.bump(),
                        Some(_) if *first => *first = false,
                        Some(other) => return Err(unexpected(other, "a comma or ]")),
                    }
                    return self.element().map(Some);
                }
                State::Columns(columns) => {
                    let line = columns.line;
                    match columns.next() {
                        Some(row) => return Ok(Some((line, Body::Bytes(row)))),
                        None => self.state = State::Top,
                    }
                }
            }
        }
    }

    /// An element of an array, as it stands in the file.
    fn element(&mut self) -> Step<(u64, Body)> {
        if self.input.peek()?.is_none() {
            return Err(incomplete());
        }
        let line = self.input.line;
        let mut bytes = Vec::new();
        let length = self.input.value(&mut bytes, self.options.max_line)?;
        Ok((line, self.sized(bytes, length)))
    }

    fn sized(&self, bytes: Vec<u8>, length: usize) -> Body {
        let max = self.options.max_line;
        if length > max {
            let problem = format!("the record has {length} bytes, but at most {max} are read");
            return Body::Broken(problem);
        }
        Body::Bytes(bytes)
    }

    /// Reads an object: a story, or what has the stories in it.
    fn object(&mut self) -> Step<Option<(u64, Body)>> {
        let line = self.input.line;
        let most = self.options.max_line.saturating_mul(COLUMNS);
        let mut members: Vec<(String, Vec<u8>)> = Vec::new();
        let mut seen = Members::default();
        let (mut length, mut has_story, mut has_lists) = (0usize, false, false);
        self.input.bump();
        while let Some(name) = self.input.key(members.is_empty())? {
            let begin = self.input.peek()?.ok_or_else(incomplete)?;
            let is_list = !has_story && is_list_of_stories(&name, begin);
            seen.add(&name, is_list)?;
            if is_list {
                self.input.bump();
                self.state = State::Array { first: true, member: Some(seen) };
                return Ok(None);
            }
            if self.is_story(&name) {
                has_story |= begin == b'"';
                has_lists |= begin == b'[' || begin == b'{';
                if begin == b'[' {
                    // Two names of the story are not two lists of stories.
                    seen.list.get_or_insert_with(|| name.clone());
                }
            }
            let mut value = Vec::new();
            let room = most.saturating_sub(length);
            length = length.saturating_add(self.input.value(&mut value, room)? + name.len() + 4);
            if length > most {
                let problem = format!(
                    "the object has more than {most} bytes, and a story has at most {}; write one \
                     object per story",
                    self.options.max_line
                );
                return Err(Fault::Content(problem));
            }
            members.push((name, value));
        }
        if has_lists && !has_story {
            self.state = State::Columns(Columns::new(members, &self.options.fields, line)?);
            return Ok(None);
        }
        let members = members.iter().map(|(name, value)| (name.as_str(), value.as_slice()));
        Ok(Some((line, self.sized(composed(members), length))))
    }

    fn is_story(&self, name: &str) -> bool {
        self.options.fields.find(name).is_some_and(|found| found.field == Field::Story)
    }

    /// Passes over what follows the array of stories in its object.
    fn skip_members(&mut self, mut seen: Members) -> Step<()> {
        while let Some(name) = self.input.key(false)? {
            let begin = self.input.peek()?.ok_or_else(incomplete)?;
            let is_list = is_list_of_stories(&name, begin) || begin == b'[' && self.is_story(&name);
            seen.add(&name, is_list)?;
            self.input.value(&mut Vec::new(), self.options.max_line)?;
        }
        Ok(())
    }
}

/// An object that is made from its members.
fn composed<'a>(members: impl Iterator<Item = (&'a str, &'a [u8])>) -> Vec<u8> {
    let mut object = vec![b'{'];
    for (name, value) in members {
        if object.len() > 1 {
            object.push(b',');
        }
        object.extend_from_slice(serde_json::Value::from(name).to_string().as_bytes());
        object.push(b':');
        object.extend_from_slice(value);
    }
    object.push(b'}');
    object
}

/// One list per field.
struct Columns {
    columns: Vec<Column>,
    line: u64,
    /// The number of stories, and of those that were given.
    rows: usize,
    given: usize,
}

struct Column {
    name: String,
    values: Vec<u8>,
    /// Where the value of each story stands; nothing for a value that all stories have.
    places: Option<Vec<Range<usize>>>,
}

impl Columns {
    fn new(members: Vec<(String, Vec<u8>)>, names: &FieldNames, line: u64) -> Step<Self> {
        let mut columns = Vec::new();
        // The first list, and the first object with its keys.
        let mut list: Option<(String, usize)> = None;
        let mut object: Option<(String, HashMap<String, usize>)> = None;
        for (name, values) in members {
            let field = names.find(&name).map(|found| found.field);
            if field.is_none() && rated(&name).is_none() {
                continue;
            }
            let places = match values.first() {
                Some(b'[') => {
                    let places = of_list(&values)?;
                    let (first, length) = list.get_or_insert((name.clone(), places.len()));
                    if *length != places.len() {
                        return Err(Fault::Content(format!(
                            "the lists have different lengths: {} has {length} values, and {} has \
                             {}",
                            quoted(first),
                            quoted(&name),
                            places.len()
                        )));
                    }
                    Some(places)
                }
                // Ratings of one story are an object too.
                Some(b'{') if field != Some(Field::Ratings) => Some(match &object {
                    None => {
                        let (keys, places) = of_object(&name, &values)?;
                        object = Some((name.clone(), keys));
                        places
                    }
                    Some((first, keys)) => in_order(&name, &values, first, keys)?,
                }),
                _ => None,
            };
            columns.push(Column { name, values, places });
        }
        if let (Some((list, _)), Some((object, _))) = (&list, &object) {
            return Err(Fault::Content(format!(
                "{} is a list and {} an object, so it is not clear which of their values belong \
                 together",
                quoted(list),
                quoted(object)
            )));
        }
        let rows = columns.iter().find_map(|column| Some(column.places.as_ref()?.len()));
        Ok(Self { columns, line, rows: rows.unwrap_or(0), given: 0 })
    }

    /// The next story, as an object.
    fn next(&mut self) -> Option<Vec<u8>> {
        if self.given == self.rows {
            return None;
        }
        let at = self.given;
        self.given += 1;
        let members = self.columns.iter().map(|column| {
            let place = match &column.places {
                Some(places) => places[at].clone(),
                None => 0..column.values.len(),
            };
            (column.name.as_str(), &column.values[place])
        });
        Some(composed(members))
    }
}

/// Where the values of a list stand.
fn of_list(list: &[u8]) -> Step<Vec<Range<usize>>> {
    let mut values = Values { bytes: list, at: 1 };
    let mut places = Vec::new();
    while values.goes_on(b']', places.is_empty())? {
        places.push(values.cut()?);
    }
    Ok(places)
}

/// The keys of an object, with their positions, and where the values stand. pandas writes a column
/// as `{"0": value, ...}`.
type Keyed = (HashMap<String, usize>, Vec<Range<usize>>);

fn of_object(name: &str, object: &[u8]) -> Step<Keyed> {
    let mut values = Values { bytes: object, at: 1 };
    let (mut keys, mut places) = (HashMap::new(), Vec::new());
    while values.goes_on(b'}', places.is_empty())? {
        let key = values.cut()?;
        let key: String = serde_json::from_slice(&object[key])
            .map_err(|e| Fault::Content(format!("a key is wrong: {}", super::described(&e))))?;
        values.colon()?;
        let shown = quoted(&key);
        if keys.insert(key, places.len()).is_some() {
            let problem = format!("the key {shown} of {} is given twice", quoted(name));
            return Err(Fault::Content(problem));
        }
        places.push(values.cut()?);
    }
    Ok((keys, places))
}

/// Where the values of an object stand, in the order of the keys of the first one.
fn in_order(
    name: &str,
    object: &[u8],
    first: &str,
    keys: &HashMap<String, usize>,
) -> Step<Vec<Range<usize>>> {
    let (own, places) = of_object(name, object)?;
    let lacks = |name: &str, key: &str, other: &str| {
        let (name, key, other) = (quoted(name), quoted(key), quoted(other));
        Fault::Content(format!("{name} has no value of the key {key}, which {other} has"))
    };
    let mut ordered = vec![0..0; keys.len()];
    let shared = own.iter().filter_map(|(key, at)| Some((*keys.get(key)?, *at)));
    shared.for_each(|(position, at)| ordered[position] = places[at].clone());
    // No message depends on the order of a hash table.
    let lost = |keys: &HashMap<String, usize>, others: &HashMap<String, usize>| {
        let lost = keys.iter().filter(|(key, _)| !others.contains_key(*key));
        lost.min_by_key(|(_, at)| **at).map(|(key, _)| key.clone())
    };
    if let Some(key) = lost(keys, &own) {
        return Err(lacks(name, &key, first));
    }
    match lost(&own, keys) {
        Some(key) => Err(lacks(first, &key, name)),
        None => Ok(ordered),
    }
}

/// Cuts the values of a list or an object that is in memory.
struct Values<'a> {
    bytes: &'a [u8],
    /// Where the next value begins.
    at: usize,
}

impl Values<'_> {
    /// Whether another value follows, and not the end.
    fn goes_on(&mut self, end: u8, first: bool) -> Step<bool> {
        match self.peek()? {
            next if next == end => return Ok(false),
            b',' if !first => self.at += 1,
            _ => {}
        }
        Ok(true)
    }

    fn colon(&mut self) -> Step<()> {
        match self.peek()? {
            b':' => self.at += 1,
            other => return Err(unexpected(other, "a colon")),
        }
        Ok(())
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Step<u8> {
        let unread = &self.bytes[self.at.min(self.bytes.len())..];
        let blank = unread.iter().take_while(|b| b.is_ascii_whitespace()).count();
        self.at += blank;
        unread.get(blank).copied().ok_or_else(incomplete)
    }

    fn cut(&mut self) -> Step<Range<usize>> {
        let next = self.peek()?;
        let begin = self.at;
        let (used, is_over) = ValueEnd::default().find(&self.bytes[begin..]);
        if !is_over {
            return Err(incomplete());
        }
        if used == 0 {
            return Err(unexpected(next, "a value"));
        }
        self.at = begin + used;
        Ok(begin..self.at)
    }
}

/// Whether JSON is one object per line or a document, from its first bytes; `None` if it is no
/// JSON. `.jsonl` in the name of a file (`lines`) needs more to be doubted.
pub(super) fn shape(start: &[u8], names: &FieldNames, lines: bool) -> Option<Format> {
    let start = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start).trim_ascii_start();
    match start {
        [b'[', after @ ..] => {
            let element = after.trim_ascii_start().first();
            if let (Some(b'{'), Some(tool)) = (element, tools::recognise(start, names)) {
                return Some(tool);
            }
            return matches!(element, Some(b'{' | b'"' | b'[' | b']')).then_some(Format::Json);
        }
        [b'{', after @ ..] => {
            if !matches!(after.trim_ascii_start().first(), None | Some(b'"' | b'}')) {
                return None;
            }
            if mags::recognise(start, names) {
                return Some(Format::Mags);
            }
            if let Some(tool) = tools::recognise(start, names) {
                return Some(tool);
            }
        }
        _ => return None,
    }
    let first = start.split(|&b| b == b'\n').next().unwrap_or_default();
    let has_more = first.len() < start.len();
    let first = first.trim_ascii_end();
    let opens = matches!(first.last(), Some(b'{' | b'[' | b',' | b':'));
    let is_object = serde_json::from_slice::<serde::de::IgnoredAny>(first).is_ok();
    if lines || (has_more && !is_object) {
        return Some(if opens && has_more { Format::Json } else { Format::Jsonl });
    }
    Some(if holds_lists(first, names) { Format::Json } else { Format::Jsonl })
}

/// Whether an object, of which the end may be missing, has lists of stories and no story.
fn holds_lists(object: &[u8], names: &FieldNames) -> bool {
    let mut input = Scanner::new(Box::new(Cursor::new(object.to_vec())), Path::new(""));
    let mut holds = false;
    let mut first = true;
    if !matches!(input.peek(), Ok(Some(b'{'))) {
        return false;
    }
    input.bump();
    while let Ok(Some(name)) = input.key(first) {
        first = false;
        let Ok(Some(begin)) = input.peek() else { break };
        let is_list = begin == b'[' || begin == b'{';
        if names.find(&name).is_some_and(|found| found.field == Field::Story) {
            if !is_list {
                return false;
            }
            holds = true;
        }
        holds |= is_list_of_stories(&name, begin);
        if input.value(&mut Vec::new(), 0).is_err() {
            break;
        }
    }
    holds
}
