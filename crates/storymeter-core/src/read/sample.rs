//! Records that are several stories: the samples that a tool drew for one item, or a field with a
//! list of texts.

use std::sync::Arc;

use super::jsonl;
use super::names::{Field, FieldNames, UsedNames};
use super::node::{Node, Step};
use super::raw::Body;
use super::utf8::utf8;
use crate::{Error, Place, Result, Story};

/// The most stories of one record. Each of them gets a copy of the prompt when it is parsed.
pub(super) const MOST_SAMPLES: usize = 1000;

/// What became of a sample.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Content {
    Text(String),
    /// There is no text, for this reason.
    Missing(String),
}

/// One story of a record that has several, or may have.
#[derive(Debug)]
pub(super) struct Sample {
    shared: Arc<Shared>,
    /// The position among the stories of the record.
    position: u64,
    content: Content,
}

/// What the stories of a record have in common.
#[derive(Debug)]
struct Shared {
    /// A story without its text.
    story: Story,
    used: UsedNames,
    count: usize,
}

impl Sample {
    /// The stories of a record, in order.
    pub fn all(story: Story, used: UsedNames, contents: Vec<Content>) -> Vec<Self> {
        let shared = Arc::new(Shared { story, used, count: contents.len() });
        let sample = |(position, content)| Self { shared: Arc::clone(&shared), position, content };
        (0..).zip(contents).map(sample).collect()
    }

    /// Why there is no text.
    pub fn missing(&self) -> Option<&str> {
        match &self.content {
            Content::Missing(reason) => Some(reason),
            Content::Text(_) => None,
        }
    }

    /// About how many bytes the story has.
    pub fn size(&self) -> usize {
        let Story { id, system, item, prompt, references, .. } = &self.shared.story;
        let optional = [system, item, prompt].into_iter().flatten().map(String::len);
        let (Content::Text(text) | Content::Missing(text)) = &self.content;
        text.len()
            + id.len()
            + optional.sum::<usize>()
            + references.iter().map(String::len).sum::<usize>()
    }

    /// Makes a story, of which `number` is the number. The first story of a record keeps its id.
    /// The others are `ID#2`, `ID#3` and so on, and all have the same item.
    pub fn parse(self, number: u64, place: &Place) -> Result<(Story, UsedNames)> {
        let text = match self.content {
            Content::Text(text) => text,
            Content::Missing(reason) => return Err(Error::invalid(place.clone(), reason)),
        };
        let Shared { story, used, count } = &*self.shared;
        let mut story = Story { text, ..story.clone() };
        if *count > 1 {
            let id = match story.id.as_str() {
                "" => number.saturating_sub(self.position).to_string(),
                id => id.to_owned(),
            };
            if story.item.is_none() && story.prompt.is_none() {
                story.item = Some(id.clone());
            }
            if self.position > 0 {
                story.id = format!("{id}#{}", self.position + 1);
            }
        }
        Ok((story, *used))
    }
}

/// A record of JSON in which names of the user that are paths were looked up, or whose story is a
/// list of texts. `None` for all other records, which are parsed as they stand.
pub(super) fn rewritten(
    bytes: &[u8],
    place: &Place,
    names: &FieldNames,
) -> Option<Result<Vec<Body>>> {
    let has_paths = Field::ALL.iter().any(|field| is_path(names, *field));
    if !has_paths && !may_list_texts(bytes, names) {
        return None;
    }
    // What is wrong with the JSON itself is said by whoever parses the record.
    let text = utf8(bytes.to_vec(), place).ok()?;
    let refused = |problem: String| Error::invalid(place.clone(), problem);
    let resolved = match has_paths {
        true => match resolve(&text, names)? {
            Ok(resolved) => resolved,
            Err(problem) => return Some(Err(refused(problem))),
        },
        false => text,
    };
    match texts_of(&resolved, names)? {
        Ok(None) if has_paths => Some(Ok(vec![Body::Bytes(resolved.into_bytes())])),
        Ok(None) => None,
        Ok(Some((record, texts))) => {
            Some(jsonl::parse_element(&record, place, names).map(|(story, used)| {
                let samples = Sample::all(story, used, texts);
                samples.into_iter().map(|sample| Body::Sample(Box::new(sample))).collect()
            }))
        }
        Err(problem) => Some(Err(refused(problem))),
    }
}

/// Whether the name that the user gives to a field may be a path.
fn is_path(names: &FieldNames, field: Field) -> bool {
    names.given(field).is_some_and(|name| name.contains('.'))
}

/// Whether a list may stand under a name of the story. It looks backwards from every bracket, which
/// few records have, so that no other record is parsed twice.
fn may_list_texts(bytes: &[u8], names: &FieldNames) -> bool {
    memchr::memchr_iter(b'[', bytes).any(|bracket| {
        let before = bytes[..bracket].trim_ascii_end();
        let Some(before) = before.strip_suffix(b":").map(<[u8]>::trim_ascii_end) else {
            return false;
        };
        let Some(before) = before.strip_suffix(b"\"") else { return false };
        let begin = memchr::memrchr(b'"', before).map_or(0, |quote| quote + 1);
        let Ok(name) = std::str::from_utf8(&before[begin..]) else { return false };
        names.find(name).is_some_and(|found| found.field == Field::Story)
    })
}

/// The object with one more member for every path of the user: the value that the path leads to.
/// `None` if the JSON is wrong, and an error if the path leads nowhere.
fn resolve(text: &str, names: &FieldNames) -> Option<Step<String>> {
    let root = Node::root(text, String::new()).ok()?;
    if !root.is_object() {
        return None;
    }
    let mut members = String::from("{");
    for field in Field::ALL.into_iter().filter(|field| is_path(names, *field)) {
        let path = names.given(field).unwrap_or_default();
        let mut is_name = false;
        root.each_member(&mut |name, _| is_name |= name.eq_ignore_ascii_case(path)).ok()?;
        if is_name {
            continue;
        }
        let value = match root.at(path) {
            Ok(value) => value,
            // Only the story must have a value.
            Err(problem) => return Some(Err(problem)),
        };
        members += &serde_json::Value::from(path).to_string();
        members.push(':');
        members += value.as_ref().map_or("null", Node::json);
        members.push(',');
    }
    let others = root.json()[1..].trim_start();
    if others.starts_with('}') && members.len() > 1 {
        members.pop();
    }
    Some(Ok(members + others))
}

/// The record without its story, and the texts in it; nothing if the story is not a list.
#[allow(clippy::type_complexity, reason = "it is taken apart at once")]
fn texts_of(text: &str, names: &FieldNames) -> Option<Step<Option<(String, Vec<Content>)>>> {
    let root = Node::root(text, String::new()).ok()?;
    if !root.is_object() {
        return None;
    }
    // The most usual of the names that are there is the story, as in records of one story.
    let mut story: Option<(u8, String)> = None;
    root.each_member(&mut |name, raw| {
        if let Some(found) = names.find(name)
            && found.field == Field::Story
            && raw.get() != "null"
            && story.as_ref().is_none_or(|(position, _)| found.position < *position)
        {
            story = Some((found.position, name.to_owned()));
        }
    })
    .ok()?;
    let Some((_, name)) = story else { return Some(Ok(None)) };
    let list = match root.member(&name) {
        Ok(Some(list)) if list.is_list() => list,
        Ok(_) => return Some(Ok(None)),
        Err(problem) => return Some(Err(problem)),
    };
    let texts = || -> Step<Vec<Content>> {
        let texts = list.list(MOST_SAMPLES)?;
        if texts.is_empty() {
            return Err(format!("{list} is an empty list; a text, or a list of texts, is needed"));
        }
        texts.iter().map(|text| text.text().map(Content::Text)).collect()
    };
    let begin = list.json().as_ptr() as usize - text.as_ptr() as usize;
    let record = [&text[..begin], "\"\"", &text[begin + list.json().len()..]].concat();
    Some(texts().map(|texts| Some((record, texts))))
}

/// What the names of the user find in a record of a tool, instead of what the tool calls it.
pub(super) fn given(node: &Node<'_>, names: &FieldNames, story: &mut Story) -> Step<()> {
    for field in Field::ALL {
        let Some(path) = names.given(field) else { continue };
        let Some(value) = node.at(path)?.filter(|value| !value.is_null()) else { continue };
        match field {
            Field::System => story.system = Some(value.label()?),
            Field::Id => story.id = value.label()?,
            Field::Item => story.item = Some(value.label()?),
            Field::Prompt => story.prompt = Some(value.text()?),
            Field::Reference => story.references = vec![value.text()?],
            Field::Story | Field::Ratings => {}
        }
    }
    Ok(())
}
