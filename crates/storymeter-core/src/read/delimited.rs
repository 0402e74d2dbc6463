//! Reads CSV and TSV files with a header.
//!
//! The story is the column `story`, or the columns `sentence1` to `sentence5` joined by spaces.
//! Other columns that are read are `id` (or `story_id`, `storyid`), `system` (or `model`), `item`
//! (or `prompt_index`), `prompt` and `reference`. Names may be in upper or lower case. Two columns
//! of the same thing, under one name or under two, are an error. All other columns are ignored.
//!
//! CSV is quoted as in RFC 4180 and may have line breaks inside quotes. TSV has no quotes: a tab
//! always ends a field.
//!
//! CSV files of [`StoryWriter`](crate::write::StoryWriter) may have marks before cells that a
//! spreadsheet would run as formulas. [`spreadsheet`](crate::spreadsheet) says how such a file is
//! recognised, and the marks are removed. In all other files, an apostrophe is an apostrophe.

use std::borrow::Cow;

use super::Format;
use super::lines::{Line, LineReader, is_blank};
use super::raw::Cut;
use super::shown::{cut, listed};
use crate::spreadsheet::unmarked;
use crate::write::STORY_HEADER;
use crate::{Error, Place, Result, Story};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Role {
    Story,
    Sentence,
    Id,
    System,
    Item,
    Prompt,
    Reference,
    Ignored,
}

/// The names of the columns, the preferred name first.
const NAMES: [(Role, &[&str]); 6] = [
    (Role::Story, &["story"]),
    (Role::Id, &["id", "story_id", "storyid"]),
    (Role::System, &["system", "model"]),
    (Role::Item, &["item", "prompt_index"]),
    (Role::Prompt, &["prompt"]),
    (Role::Reference, &["reference"]),
];

const SENTENCES: [&str; 5] = ["sentence1", "sentence2", "sentence3", "sentence4", "sentence5"];

/// The columns of a file.
#[derive(Debug)]
pub(super) struct Header {
    format: Format,
    names: Vec<String>,
    roles: Vec<Role>,
    /// Whether cells may have marks.
    marked: bool,
    /// The columns of the sentences in reading order; empty if there is a column `story`.
    sentences: Vec<usize>,
}

impl Header {
    /// Finds the columns in the first record of a file.
    pub fn new(record: &str, format: Format, place: &Place) -> Result<Self> {
        let names = names_of(record, format, MAX_COLUMNS, place)?;
        let mut roles = vec![Role::Ignored; names.len()];
        for (role, aliases) in NAMES {
            if let Some(column) = only_column(&names, aliases, place)? {
                roles[column] = role;
            }
        }
        let mut sentences = Vec::new();
        if !roles.contains(&Role::Story) {
            for name in SENTENCES {
                sentences.extend(only_column(&names, &[name], place)?);
            }
            if sentences.len() < SENTENCES.len() {
                let problem = format!(
                    "there is neither a column \"story\" nor columns \"sentence1\" to \
                     \"sentence5\"; the columns are: {}",
                    listed(&names)
                );
                return Err(Error::invalid(place.clone(), problem));
            }
            sentences.iter().for_each(|&column| roles[column] = Role::Sentence);
        }
        let marked = format == Format::Csv && record.trim_end() == STORY_HEADER;
        Ok(Self { format, names, roles, marked, sentences })
    }

    /// Makes a story from a record.
    pub fn parse(&self, record: &str, place: &Place) -> Result<Story> {
        let mut story = Story::default();
        let mut cells = vec![Cow::Borrowed(""); self.sentences.len()];
        let mut count = 0;
        for field in fields(record, self.format) {
            let field = if self.marked { without_mark(field) } else { field };
            match self.roles.get(count) {
                None | Some(Role::Ignored) => {}
                Some(Role::Story) => story.text = field.into_owned(),
                Some(Role::Sentence) => {
                    let slot = self
                        .sentences
                        .iter()
                        .position(|&column| column == count)
                        .unwrap_or_default();
                    cells[slot] = field;
                }
                Some(Role::Id) => story.id = field.into_owned(),
                Some(Role::System) => story.system = non_empty(field),
                Some(Role::Item) => story.item = non_empty(field),
                Some(Role::Prompt) => story.prompt = non_empty(field),
                Some(Role::Reference) => story.references = non_empty(field).into_iter().collect(),
            }
            count += 1;
        }
        if count != self.names.len() {
            return Err(wrong_width(place, count, self.names.len()));
        }
        story.text.reserve(cells.iter().map(|cell| cell.len() + 1).sum());
        for (number, cell) in cells.iter().enumerate() {
            let sentence = cell.trim();
            if sentence.is_empty() {
                return Err(Error::invalid(
                    place.clone().in_field(SENTENCES[number]),
                    "the sentence is empty",
                ));
            }
            story.push_sentence(sentence);
        }
        Ok(story)
    }
}

/// The largest number of columns of a file of stories.
const MAX_COLUMNS: usize = 100_000;

/// The names in a header.
pub(super) fn names_of(
    header: &str,
    format: Format,
    most: usize,
    place: &Place,
) -> Result<Vec<String>> {
    let names: Vec<String> =
        fields(header, format).take(most + 1).map(|name| name.trim().to_owned()).collect();
    if names.len() > most {
        let problem = format!("the header has more than {most} columns");
        return Err(Error::invalid(place.clone(), problem));
    }
    Ok(names)
}

/// The column that has one of several names for the same thing.
pub(super) fn only_column(
    names: &[String],
    aliases: &[&str],
    place: &Place,
) -> Result<Option<usize>> {
    let is_alias = |name: &&String| aliases.iter().any(|alias| name.eq_ignore_ascii_case(alias));
    let mut columns = (0..).zip(names).filter(|(_, name)| is_alias(name));
    match (columns.next(), columns.next()) {
        (Some((first, name)), Some((second, other))) => {
            let problem = format!(
                "columns {} (\"{}\") and {} are names of the same thing; keep one of them",
                first + 1,
                cut(name),
                second + 1
            );
            Err(Error::invalid(place.clone().in_field(cut(other)), problem))
        }
        (first, _) => Ok(first.map(|(column, _)| column)),
    }
}

/// The fields of a CSV record that must have as many as the header.
pub(super) fn cells<'a>(record: &'a str, width: usize, place: &Place) -> Result<Vec<Cow<'a, str>>> {
    let cells: Vec<_> = fields(record, Format::Csv).take(width + 1).collect();
    if cells.len() != width {
        return Err(wrong_width(place, fields(record, Format::Csv).count(), width));
    }
    Ok(cells)
}

fn without_mark(field: Cow<'_, str>) -> Cow<'_, str> {
    match field {
        Cow::Borrowed(text) => Cow::Borrowed(unmarked(text)),
        Cow::Owned(text) => Cow::Owned(unmarked(&text).to_owned()),
    }
}

/// The error for a record that has another number of fields than the header.
fn wrong_width(place: &Place, fields: usize, header: usize) -> Error {
    let problem = format!("the record has {fields} fields, but the header has {header}");
    Error::invalid(place.clone(), problem)
}

fn non_empty(field: Cow<'_, str>) -> Option<String> {
    (!field.is_empty()).then(|| field.into_owned())
}

/// Whether the first line of a file is a header with a story. It must have two columns or more,
/// because a single word may begin any text.
pub(super) fn is_header(line: &[u8], format: Format) -> bool {
    let Ok(line) = std::str::from_utf8(line) else { return false };
    let has = |wanted: &str| fields(line, format).any(|name| is_named(&name, wanted));
    fields(line, format).count() > 1 && (has("story") || SENTENCES.into_iter().all(has))
}

fn is_named(name: &str, wanted: &str) -> bool {
    name.trim().eq_ignore_ascii_case(wanted)
}

/// The fields of a record, unquoted.
pub(super) fn fields(record: &str, format: Format) -> Fields<'_> {
    Fields { unread: Some(record), quoted: format != Format::Tsv }
}

/// The iterator of [`fields`].
pub(super) struct Fields<'a> {
    unread: Option<&'a str>,
    quoted: bool,
}

impl<'a> Iterator for Fields<'a> {
    type Item = Cow<'a, str>;

    fn next(&mut self) -> Option<Cow<'a, str>> {
        let unread = self.unread?;
        if self.quoted && unread.starts_with('"') {
            let (field, after) = unquote(&unread[1..]);
            self.unread = after;
            return Some(field);
        }
        let delimiter = if self.quoted { b',' } else { b'\t' };
        let (field, after) = cut_at(unread, delimiter);
        self.unread = after;
        Some(Cow::Borrowed(field))
    }
}

fn cut_at(text: &str, delimiter: u8) -> (&str, Option<&str>) {
    match memchr::memchr(delimiter, text.as_bytes()) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    }
}

/// Reads a quoted field from behind its opening quote. Returns it, and the text after its comma.
///
/// RFC 4180 does not allow text between the closing quote and the comma. Such text is kept, as most
/// readers do.
fn unquote(text: &str) -> (Cow<'_, str>, Option<&str>) {
    let mut unescaped = String::new();
    let mut unread = text;
    loop {
        let (part, after) = cut_at(unread, b'"');
        let after = after.unwrap_or("");
        if let Some(next) = after.strip_prefix('"') {
            unescaped.push_str(part);
            unescaped.push('"');
            unread = next;
            continue;
        }
        let (tail, next) = cut_at(after, b',');
        if unescaped.is_empty() && tail.is_empty() {
            return (Cow::Borrowed(part), next);
        }
        unescaped.push_str(part);
        unescaped.push_str(tail);
        return (Cow::Owned(unescaped), next);
    }
}

/// Whether a CSV record goes on after this line, because a quote is open.
pub(super) fn is_open_after(line: &[u8], mut open: bool) -> bool {
    let mut unread = line;
    loop {
        if open {
            let Some(quote) = memchr::memchr(b'"', unread) else { return true };
            unread = &unread[quote + 1..];
            if unread.first() == Some(&b'"') {
                unread = &unread[1..];
                continue;
            }
            open = false;
        } else if unread.first() == Some(&b'"') {
            unread = &unread[1..];
            open = true;
            continue;
        }
        let Some(comma) = memchr::memchr(b',', unread) else { return false };
        unread = &unread[comma + 1..];
    }
}

/// The next CSV record: one line, or several lines if a quoted field spans them. Blank lines
/// between records are skipped.
pub(super) fn cut_csv(lines: &mut LineReader) -> Result<Option<Cut>> {
    let mut record = Vec::new();
    let mut begin = None;
    let mut open = false;
    let broken = |line, problem: String| Ok(Some(Cut { line, body: Err(problem) }));
    loop {
        match (lines.next()?, begin) {
            (None, None) => return Ok(None),
            (None, Some(line)) => {
                return broken(line, "a quote that opens in this record is never closed".into());
            }
            (Some(Line::Broken(problem)), None) => return broken(lines.number(), problem),
            (Some(Line::Broken(problem)), Some(line)) => {
                let number = lines.number();
                return broken(line, format!("the record goes on to line {number}: {problem}"));
            }
            (Some(Line::Text(line)), None) if is_blank(&line) => {}
            (Some(Line::Text(line)), _) => {
                let begin = *begin.get_or_insert(lines.number());
                open = is_open_after(&line, open);
                if record.is_empty() && begin == lines.number() {
                    record = line;
                } else {
                    record.push(b'\n');
                    record.extend_from_slice(&line);
                }
                if record.len() > lines.max() {
                    let max = lines.max();
                    return broken(
                        begin,
                        format!("the record has more than {max} bytes; is a quote left open?"),
                    );
                }
                if !open {
                    return Ok(Some(Cut { line: begin, body: Ok(record) }));
                }
            }
        }
    }
}
