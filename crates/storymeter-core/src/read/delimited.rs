//! CSV and TSV with a header.
//!
//! The story is the column `story`, or `sentence1` to `sentence5` joined by one space. Also understood: `id`
//! (`story_id`, `storyid`), `system` (`model`), `item` (`prompt_index`), `prompt`, `reference`; where two names
//! of one thing are there, the first counts. Names do not depend on case; other columns are ignored.
//!
//! CSV is quoted as in RFC 4180 and may have line breaks inside quotes. TSV is plain: a tab always ends a field.

use std::borrow::Cow;

use super::Format;
use super::lines::{Line, LineReader, is_blank};
use super::raw::Cut;
use crate::{Error, Place, Result, Story};

/// What a column is for.
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

/// Names of what may be there once, the first one first.
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
    /// The columns of the sentences in reading order, where there is no `story`.
    sentences: Vec<usize>,
}

impl Header {
    /// Finds the columns in the first record of a file.
    pub fn new(record: &str, format: Format, place: &Place) -> Result<Self> {
        let names: Vec<String> =
            fields(record, format).map(|name| name.trim().to_owned()).collect();
        let find = |wanted: &str| names.iter().position(|name| name.eq_ignore_ascii_case(wanted));
        let mut roles = vec![Role::Ignored; names.len()];
        for (role, aliases) in NAMES {
            if let Some(column) = aliases.iter().find_map(|alias| find(alias)) {
                roles[column] = role;
            }
        }
        let mut sentences = Vec::new();
        if !roles.contains(&Role::Story) {
            match SENTENCES.iter().map(|name| find(name)).collect::<Option<Vec<usize>>>() {
                Some(columns) => sentences = columns,
                None => {
                    let there = names.join(", ");
                    let problem = format!(
                        "no column \"story\", nor \"sentence1\" to \"sentence5\"; the columns are: {there}"
                    );
                    return Err(Error::invalid(place.clone(), problem));
                }
            }
            sentences.iter().for_each(|&column| roles[column] = Role::Sentence);
        }
        Ok(Self { format, names, roles, sentences })
    }

    /// Makes a story of a record.
    pub fn parse(&self, record: &str, place: &Place) -> Result<Story> {
        let mut story = Story::default();
        let mut cells = vec![Cow::Borrowed(""); self.sentences.len()];
        let mut count = 0;
        for field in fields(record, self.format) {
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
            let problem = format!("{count} fields where the header has {}", self.names.len());
            return Err(Error::invalid(place.clone(), problem));
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

fn non_empty(field: Cow<'_, str>) -> Option<String> {
    (!field.is_empty()).then(|| field.into_owned())
}

/// Whether a first line is a header that leads to stories. It must have two columns at least, since a single
/// word may begin any text.
pub(super) fn is_header(line: &[u8], format: Format) -> bool {
    let Ok(line) = std::str::from_utf8(line) else { return false };
    let header = Header::new(line, format, &Place::default());
    header.is_ok_and(|header| header.names.len() > 1)
}

/// The fields of a record, unquoted.
pub(super) fn fields(record: &str, format: Format) -> Fields<'_> {
    Fields { rest: Some(record), quoted: format != Format::Tsv }
}

/// See [`fields`].
pub(super) struct Fields<'a> {
    rest: Option<&'a str>,
    quoted: bool,
}

impl<'a> Iterator for Fields<'a> {
    type Item = Cow<'a, str>;

    fn next(&mut self) -> Option<Cow<'a, str>> {
        let rest = self.rest?;
        if self.quoted && rest.starts_with('"') {
            let (field, rest) = unquote(&rest[1..]);
            self.rest = rest;
            return Some(field);
        }
        let delimiter = if self.quoted { b',' } else { b'\t' };
        let (field, rest) = cut_at(rest, delimiter);
        self.rest = rest;
        Some(Cow::Borrowed(field))
    }
}

fn cut_at(text: &str, delimiter: u8) -> (&str, Option<&str>) {
    match memchr::memchr(delimiter, text.as_bytes()) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    }
}

/// A field after its opening quote, and what follows its comma. Text between the closing quote and the comma is
/// not RFC 4180; it is kept, as most readers do.
fn unquote(text: &str) -> (Cow<'_, str>, Option<&str>) {
    let mut unescaped = String::new();
    let mut rest = text;
    loop {
        let (part, after) = cut_at(rest, b'"');
        let after = after.unwrap_or("");
        if let Some(next) = after.strip_prefix('"') {
            unescaped.push_str(part);
            unescaped.push('"');
            rest = next;
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
fn is_open_after(line: &[u8], mut open: bool) -> bool {
    let mut rest = line;
    loop {
        if open {
            let Some(quote) = memchr::memchr(b'"', rest) else { return true };
            rest = &rest[quote + 1..];
            if rest.first() == Some(&b'"') {
                rest = &rest[1..];
                continue;
            }
            open = false;
        } else if rest.first() == Some(&b'"') {
            rest = &rest[1..];
            open = true;
            continue;
        }
        let Some(comma) = memchr::memchr(b',', rest) else { return false };
        rest = &rest[comma + 1..];
    }
}

/// The next CSV record: one line, or several where quotes span them. Blank lines between records do not count.
pub(super) fn cut_csv(lines: &mut LineReader) -> Result<Option<Cut>> {
    let mut record = Vec::new();
    let mut begin = None;
    let mut open = false;
    let broken = |line, problem: String| Ok(Some(Cut { line, body: Err(problem) }));
    loop {
        match (lines.next()?, begin) {
            (None, None) => return Ok(None),
            (None, Some(line)) => {
                return broken(
                    line,
                    "a quote that is opened in this record is never closed".into(),
                );
            }
            (Some(Line::Broken(problem)), _) => return broken(lines.number(), problem),
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
                        format!("a record of more than {max} bytes; is a quote left open?"),
                    );
                }
                if !open {
                    return Ok(Some(Cut { line: begin, body: Ok(record) }));
                }
            }
        }
    }
}
