//! Reads JSON that is not one object per line: an array of objects or of texts, such an array
//! inside an object (`{"data": [...]}`), one list per field (`{"story": [...], "system": [...]}`),
//! and objects that span several lines.
//!
//! The elements of an array are cut out one by one, so that memory is bounded by the largest one.
//! Lists per field are held in memory, because the first story needs the beginning of each.

use std::io::{BufRead, Cursor};
use std::path::Path;
use std::sync::Arc;

use super::names::{Field, FieldNames};
use super::raw::Body;
use super::scanner::{Fault, Scanner, Step, ValueEnd, incomplete, unexpected};
use super::shown::quoted;
use super::{Format, ReadOptions, mags};
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
        member: bool,
    },
    /// In an object with one list per field.
    Columns(Columns),
    Ended,
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
                        self.state = State::Array { first: true, member: false };
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
                    let member = *member;
                    match self.input.peek()? {
                        None => return Err(incomplete()),
                        Some(b']') => {
                            self.input.bump();
                            self.state = State::Top;
                            if member {
                                self.skip_members()?;
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
                    match columns.next()? {
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
        let (mut length, mut has_story, mut has_lists) = (0usize, false, false);
        self.input.bump();
        while let Some(name) = self.input.key(members.is_empty())? {
            let begin = self.input.peek()?.ok_or_else(incomplete)?;
            if begin == b'[' && !has_story && CONTAINERS.contains(&name.as_str()) {
                self.input.bump();
                self.state = State::Array { first: true, member: true };
                return Ok(None);
            }
            if self.options.fields.find(&name).is_some_and(|found| found.field == Field::Story) {
                has_story |= begin == b'"';
                has_lists |= begin == b'[' || begin == b'{';
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
            self.state = State::Columns(Columns::new(members, &self.options.fields, line));
            return Ok(None);
        }
        let members = members.iter().map(|(name, value)| (name.as_str(), value.as_slice()));
        Ok(Some((line, self.sized(composed(members), length))))
    }

    /// Passes over what follows the array of stories in its object.
    fn skip_members(&mut self) -> Step<()> {
        while self.input.key(false)?.is_some() {
            self.input.peek()?;
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
    rows: u64,
}

struct Column {
    name: String,
    values: Vec<u8>,
    /// Where the next value begins.
    at: usize,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// `[value, ...]`
    List,
    /// `{"0": value, ...}`, which is how pandas writes a column.
    Numbered,
    /// A value that all stories have.
    Shared,
}

impl Columns {
    fn new(members: Vec<(String, Vec<u8>)>, names: &FieldNames, line: u64) -> Self {
        let read = |(name, values): (String, Vec<u8>)| {
            let ratings = names.find(&name)?.field == Field::Ratings;
            let kind = match values.first() {
                Some(b'[') => Kind::List,
                // Ratings of one story are an object too.
                Some(b'{') if !ratings => Kind::Numbered,
                _ => Kind::Shared,
            };
            Some(Column { name, values, at: 1, kind })
        };
        Self { columns: members.into_iter().filter_map(read).collect(), line, rows: 0 }
    }

    /// The next story, as an object.
    fn next(&mut self) -> Step<Option<Vec<u8>>> {
        let rows = self.rows;
        self.rows += 1;
        // By position: where the value stands.
        let mut row = Vec::with_capacity(self.columns.len());
        for column in &mut self.columns {
            row.push(column.next()?);
        }
        let of_lists = || row.iter().zip(&self.columns).filter(|(_, column)| column.is_list());
        if let Some((_, ended)) = of_lists().find(|(value, _)| value.is_none()) {
            if of_lists().all(|(value, _)| value.is_none()) {
                return Ok(None);
            }
            return Err(Fault::Content(format!(
                "the lists have different lengths: {} ends after {rows} values, and others go on",
                quoted(&ended.name)
            )));
        }
        let members = row.into_iter().zip(&self.columns).map(|(value, column)| {
            (column.name.as_str(), &column.values[value.unwrap_or_default()])
        });
        Ok(Some(composed(members)))
    }
}

impl Column {
    fn is_list(&self) -> bool {
        self.kind != Kind::Shared
    }

    /// Where the next value stands.
    fn next(&mut self) -> Step<Option<std::ops::Range<usize>>> {
        if !self.is_list() {
            return Ok(Some(0..self.values.len()));
        }
        match self.peek()? {
            b']' | b'}' => return Ok(None),
            b',' if self.at > 1 => self.at += 1,
            _ => {}
        }
        if self.kind == Kind::Numbered {
            self.cut()?;
            match self.peek()? {
                b':' => self.at += 1,
                other => return Err(unexpected(other, "a colon")),
            }
        }
        self.cut().map(Some)
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Step<u8> {
        let unread = &self.values[self.at.min(self.values.len())..];
        let blank = unread.iter().take_while(|b| b.is_ascii_whitespace()).count();
        self.at += blank;
        unread.get(blank).copied().ok_or_else(incomplete)
    }

    fn cut(&mut self) -> Step<std::ops::Range<usize>> {
        let next = self.peek()?;
        let begin = self.at;
        let (used, is_over) = ValueEnd::default().find(&self.values[begin..]);
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
            return matches!(element, Some(b'{' | b'"' | b'[' | b']')).then_some(Format::Json);
        }
        [b'{', after @ ..] => {
            if !matches!(after.trim_ascii_start().first(), None | Some(b'"' | b'}')) {
                return None;
            }
            if mags::recognise(start, names) {
                return Some(Format::Mags);
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
        holds |= begin == b'[' && CONTAINERS.contains(&name.as_str());
        if input.value(&mut Vec::new(), 0).is_err() {
            break;
        }
    }
    holds
}
