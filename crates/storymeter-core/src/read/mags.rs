//! Reads the rated stories of OpenMEVA (`mags_roc.json`, `mags_wp.json`), which its paper calls
//! MANS:
//!
//! ```text
//! {ID: {"prompt": TEXT, "gold_response": TEXT,
//!       "gen": {MODEL: {"text": TEXT, "score": [NUMBER, ...]}}}}
//! ```
//!
//! Every generated text is a story: the model is its system, and all stories of an item have the id
//! of the item. The scores get the criterion `human`. Error types that raters named
//! ([`errors`](super::errors)) get one criterion each.
//!
//! Items are cut out one by one, so that memory is bounded by the largest of them.

use std::fmt;
use std::io::{BufRead, Cursor};
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::errors::Named;
use super::fields::{Label, Numbers, References, problem};
use super::names::FieldNames;
use super::raw::Body;
use super::scanner::{Fault, Scanner, Step, incomplete, unexpected};
use super::shown::{cut, quoted};
use super::union::CRITERION;
use super::utf8::utf8;
use crate::{Error, Place, Ratings, Result, Story};

/// The most generated texts of one item. Each of them has a copy of the prompt.
const MOST_TEXTS: usize = 1000;

/// The stories of a file, in order.
pub(super) struct Items {
    input: Scanner,
    /// The most bytes of an item.
    max: usize,
    state: State,
    /// The generated texts of the last item that were not given yet.
    waiting: std::vec::IntoIter<(u64, Generation)>,
}

enum State {
    /// Before the first object, or after one.
    Top,
    /// In an object of items.
    Items {
        first: bool,
    },
    Ended,
}

/// A generated text that is not parsed yet.
#[derive(Debug)]
pub(super) struct Generation {
    item: Arc<Item>,
    /// The model, where it is the name of the value.
    model: Option<String>,
    json: String,
}

/// What the stories of an item have in common.
#[derive(Debug)]
struct Item {
    id: String,
    prompt: Option<String>,
    references: Vec<String>,
}

impl Items {
    pub fn new(input: Box<dyn BufRead + Send>, path: &Path, max: usize) -> Self {
        let input = Scanner::new(input, path);
        Self { input, max, state: State::Top, waiting: Vec::new().into_iter() }
    }

    /// The next story and the line on which it begins.
    pub fn next(&mut self) -> Result<Option<(u64, Body)>> {
        loop {
            if let Some((line, generation)) = self.waiting.next() {
                return Ok(Some((line, Body::Generation(Box::new(generation)))));
            }
            let (id, line, item) = match self.cut() {
                Ok(Some(found)) => found,
                Ok(None) => return Ok(None),
                Err(Fault::System(e)) => {
                    self.state = State::Ended;
                    return Err(Error::io(self.place(self.input.line), e));
                }
                Err(Fault::Content(problem)) => {
                    self.state = State::Ended;
                    return Ok(Some((self.input.line, Body::Broken(problem))));
                }
            };
            let texts = match item {
                Ok(bytes) => texts_of(&id, bytes, &self.place(line)),
                Err(length) => {
                    let max = self.max;
                    let problem = format!("it has {length} bytes, but at most {max} are read");
                    Err(wrong(&id, self.place(line), problem))
                }
            };
            match texts {
                Ok(texts) => self.waiting = texts.into_iter(),
                Err(e) => return Ok(Some((line, Body::Refused(Box::new(e))))),
            }
        }
    }

    fn place(&self, line: u64) -> Place {
        Place::file(&self.input.path).at_line(line)
    }

    /// The id of the next item, the line on which its value begins, and its bytes, or their number
    /// if there are too many.
    #[allow(clippy::type_complexity, reason = "it is taken apart at once")]
    fn cut(&mut self) -> Step<Option<(String, u64, std::result::Result<Vec<u8>, usize>)>> {
        loop {
            match &mut self.state {
                State::Ended => return Ok(None),
                State::Top => match self.input.peek()? {
                    None => return Ok(None),
                    Some(b'{') => {
                        self.input.bump();
                        self.state = State::Items { first: true };
                    }
                    Some(other) => return Err(unexpected(other, "an object of items")),
                },
                State::Items { first } => {
                    let Some(id) = self.input.key(std::mem::take(first))? else {
                        self.state = State::Top;
                        continue;
                    };
                    self.input.peek()?.ok_or_else(incomplete)?;
                    let line = self.input.line;
                    let mut bytes = Vec::new();
                    let length = self.input.value(&mut bytes, self.max)?;
                    return Ok(Some((
                        id,
                        line,
                        if length > self.max { Err(length) } else { Ok(bytes) },
                    )));
                }
            }
        }
    }
}

/// The error about an item.
fn wrong(id: &str, place: Place, problem: impl fmt::Display) -> Error {
    Error::invalid(place, format!("item {}: {problem}", quoted(id)))
}

/// The fields of an item.
#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow, default)]
    prompt: Option<&'a RawValue>,
    #[serde(borrow, default)]
    gold_response: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "gen")]
    generated: Option<&'a RawValue>,
}

/// Cuts the generated texts out of an item. `place` is where its value begins.
fn texts_of(id: &str, bytes: Vec<u8>, place: &Place) -> Result<Vec<(u64, Generation)>> {
    let text = utf8(bytes, place)?;
    if !text.starts_with('{') {
        let problem = "it is not an object with the field \"gen\"";
        return Err(wrong(id, place.clone(), problem));
    }
    let fields: Fields<'_> = serde_json::from_str(&text).map_err(|e| {
        let line = place.line.map(|line| line + (e.line() as u64).saturating_sub(1));
        let place = Place { line, ..place.clone() };
        wrong(id, place, format_args!("wrong JSON: {}", problem(&e)))
    })?;
    let fail = |part: &RawValue, field: &str, problem: &str| {
        wrong(id, Lines::new(&text, place).place(part).in_field(field), problem)
    };
    let bad = |part, field, e: serde_json::Error| fail(part, field, &problem(&e));
    let prompt = match fields.prompt {
        None => None,
        Some(raw) => {
            let text: String =
                serde_json::from_str(raw.get()).map_err(|e| bad(raw, "prompt", e))?;
            (!text.trim().is_empty()).then_some(text)
        }
    };
    let references = match fields.gold_response {
        None => Vec::new(),
        Some(raw) => {
            let References(texts) =
                serde_json::from_str(raw.get()).map_err(|e| bad(raw, "gold_response", e))?;
            texts.into_iter().filter(|text| !text.trim().is_empty()).collect()
        }
    };
    let Some(raw) = fields.generated else {
        let problem = "it has no field \"gen\" with the generated texts";
        return Err(wrong(id, place.clone(), problem));
    };
    let Parts(parts) = serde_json::from_str(raw.get()).map_err(|e| bad(raw, "gen", e))?;
    if parts.is_empty() {
        return Err(fail(raw, "gen", "there is no generated text"));
    }
    let item = Arc::new(Item { id: id.to_owned(), prompt, references });
    let mut lines = Lines::new(&text, place);
    let generation = |(model, json): (Option<String>, &RawValue)| {
        let line = lines.line(json);
        (line, Generation { item: Arc::clone(&item), model, json: json.get().to_owned() })
    };
    Ok(parts.into_iter().map(generation).collect())
}

/// Finds the lines of parts of a text, which must be asked for in order.
struct Lines<'a> {
    text: &'a str,
    place: &'a Place,
    /// Up to where lines were counted, and how many there are.
    counted: (usize, u64),
}

impl<'a> Lines<'a> {
    fn new(text: &'a str, place: &'a Place) -> Self {
        Self { text, place, counted: (0, 0) }
    }

    fn line(&mut self, part: &RawValue) -> u64 {
        let at = (part.get().as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        let (from, before) = self.counted;
        if (from..=self.text.len()).contains(&at) {
            let new = memchr::memchr_iter(b'\n', &self.text.as_bytes()[from..at]).count() as u64;
            self.counted = (at, before + new);
        }
        self.place.line.unwrap_or(1) + self.counted.1
    }

    fn place(&mut self, part: &RawValue) -> Place {
        Place { line: Some(self.line(part)), ..self.place.clone() }
    }
}

/// The generated texts: `{MODEL: ...}`, or a list of objects that name their model.
struct Parts<'a>(Vec<(Option<String>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Parts<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct PartsVisitor;
        fn add<'a, E: serde::de::Error>(
            parts: &mut Vec<(Option<String>, &'a RawValue)>,
            part: (Option<String>, &'a RawValue),
        ) -> std::result::Result<(), E> {
            if parts.len() == MOST_TEXTS {
                return Err(E::custom(format!("there are more than {MOST_TEXTS} generated texts")));
            }
            parts.push(part);
            Ok(())
        }
        impl<'de> Visitor<'de> for PartsVisitor {
            type Value = Parts<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of generated texts by model, or a list of them")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Parts<'de>, A::Error> {
                let mut parts = Vec::new();
                while let Some((model, json)) = map.next_entry::<String, &'de RawValue>()? {
                    add(&mut parts, (Some(model), json))?;
                }
                Ok(Parts(parts))
            }

            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut list: A,
            ) -> std::result::Result<Parts<'de>, A::Error> {
                let mut parts = Vec::new();
                while let Some(json) = list.next_element()? {
                    add(&mut parts, (None, json))?;
                }
                Ok(Parts(parts))
            }
        }
        deserializer.deserialize_any(PartsVisitor)
    }
}

/// The fields of a generated text. The released data are only known in part, so some fields have
/// several names.
#[derive(Deserialize)]
struct Written<'a> {
    #[serde(borrow, default, alias = "system")]
    model: Option<&'a RawValue>,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "scores")]
    score: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "errors", alias = "error_type", alias = "error_types")]
    error: Option<&'a RawValue>,
}

impl Generation {
    /// About how many bytes the story has.
    pub fn size(&self) -> usize {
        let Item { id, prompt, references } = &*self.item;
        let references: usize = references.iter().map(String::len).sum();
        self.json.len() + id.len() + prompt.as_ref().map_or(0, String::len) + references
    }

    /// Makes a story. `place` is where the generated text begins.
    pub fn parse(self, place: &Place) -> Result<Story> {
        let Self { item, model, json } = self;
        let name = model.as_deref().map_or("gen".to_owned(), |model| format!("gen/{}", cut(model)));
        let mut lines = Lines::new(&json, place);
        let mut fail = |part: Option<&RawValue>, field: &str, problem: String| {
            let place = part.map_or_else(|| place.clone(), |part| lines.place(part));
            let field = if field.is_empty() { name.clone() } else { format!("{name}/{field}") };
            wrong(&item.id, place.in_field(field), problem)
        };
        let written: Written<'_> = match json.as_bytes().first() {
            Some(b'{') => serde_json::from_str(&json).map_err(|e| fail(None, "", problem(&e)))?,
            // A text without scores.
            Some(b'"') => {
                let text = serde_json::from_str(&json).map_err(|e| fail(None, "", problem(&e)))?;
                Written { model: None, text: Some(text), score: None, error: None }
            }
            _ => {
                let problem = "it is not an object with the field \"text\"";
                return Err(fail(None, "", problem.to_owned()));
            }
        };
        let model = match (model, written.model) {
            (Some(model), _) => model,
            (None, Some(raw)) => {
                let Label(model) = serde_json::from_str(raw.get())
                    .map_err(|e| fail(Some(raw), "model", problem(&e)))?;
                model
            }
            (None, None) => {
                let problem = "it has no field \"model\", which says who wrote the text";
                return Err(fail(None, "", problem.to_owned()));
            }
        };
        let Some(raw) = written.text else {
            return Err(fail(None, "", "it has no field \"text\"".to_owned()));
        };
        let text =
            serde_json::from_str(raw.get()).map_err(|e| fail(Some(raw), "text", problem(&e)))?;
        let mut ratings = Ratings::new();
        let mut raters = 0;
        if let Some(raw) = written.score {
            let Numbers(scores) = serde_json::from_str(raw.get())
                .map_err(|e| fail(Some(raw), "score", problem(&e)))?;
            raters = scores.len();
            scores.into_iter().for_each(|score| ratings.push(CRITERION, score));
        }
        if let Some(raw) = written.error {
            let named = serde_json::from_str(raw.get())
                .map_err(|e| problem(&e))
                .and_then(|value| Named::read(&value, raters))
                .map_err(|problem| fail(Some(raw), "error", problem))?;
            named.rate(&mut ratings);
        }
        Ok(Story {
            id: item.id.clone(),
            system: Some(model),
            item: Some(item.id.clone()),
            prompt: item.prompt.clone(),
            text,
            references: item.references.clone(),
            ratings,
            ..Story::default()
        })
    }
}

/// Whether JSON is in this layout, from its first bytes: an object of objects, of which the first
/// has the generated texts in `gen`. A prompt may be so long that `gen` comes too late to be seen.
pub(super) fn recognise(start: &[u8], names: &FieldNames) -> bool {
    let mut input = Scanner::new(Box::new(Cursor::new(start.to_vec())), Path::new(""));
    if !matches!(input.peek(), Ok(Some(b'{'))) {
        return false;
    }
    input.bump();
    let mut first = true;
    while let Ok(Some(id)) = input.key(first) {
        match input.peek() {
            Ok(Some(b'{')) => {}
            Ok(Some(_)) => return false,
            _ => break,
        }
        if !first {
            if input.value(&mut Vec::new(), 0).is_err() {
                break;
            }
            continue;
        }
        match has_texts(&mut input) {
            Seen::Texts => first = false,
            Seen::BeforeThem => return names.find(&id).is_none(),
            Seen::NoTexts => return false,
        }
    }
    !first
}

/// What the first item shows.
enum Seen {
    Texts,
    /// The start ends in a long prompt or reference.
    BeforeThem,
    NoTexts,
}

/// Looks for `gen` in the object that begins at the next byte, and passes over the object.
fn has_texts(input: &mut Scanner) -> Seen {
    input.bump();
    let (mut first, mut seen) = (true, Seen::NoTexts);
    while let Ok(Some(name)) = input.key(first) {
        first = false;
        let begin = input.peek();
        if name == "gen" && matches!(begin, Ok(Some(b'{' | b'['))) {
            seen = Seen::Texts;
        }
        if input.value(&mut Vec::new(), 0).is_err() {
            let before = matches!(name.as_str(), "prompt" | "gold_response");
            return match seen {
                Seen::NoTexts if before => Seen::BeforeThem,
                seen => seen,
            };
        }
    }
    seen
}
