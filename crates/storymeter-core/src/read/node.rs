//! A value of JSON that knows its path in its record, so that an error can name both the path and
//! what was found there: `results.results[3].response.output is a number; a text is needed`.
//!
//! A value is kept as the text that it has in the file, and only what is asked for is parsed.
//! Nothing that a hostile file nests or repeats takes more memory than the file itself.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::fields::problem;
use super::shown::{listed, quoted, shortened};

/// The number of characters of a path that an error shows.
const PATH: usize = 200;

/// The largest number of values of a list that are looked at.
pub(super) const MOST_VALUES: usize = 10_000;

/// The largest number of names that an error collects. It shows fewer.
const MOST_NAMES: usize = 1000;

/// What is wrong with a value, in words for the user.
pub(super) type Step<T> = Result<T, String>;

/// A value and its path.
#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    raw: &'a RawValue,
    path: String,
}

impl<'a> Node<'a> {
    /// A whole record. Its path is empty where the record is a line of its own.
    pub fn root(json: &'a str, path: String) -> Result<Self, serde_json::Error> {
        Ok(Self { raw: serde_json::from_str(json)?, path })
    }

    /// The value as it stands in the file.
    pub fn json(&self) -> &'a str {
        self.raw.get()
    }

    /// What kind of value this is, for messages.
    fn kind(&self) -> &'static str {
        match self.raw.get().as_bytes().first() {
            Some(b'"') => "a text",
            Some(b'[') => "a list",
            Some(b'{') => "an object",
            Some(b'n') => "null",
            Some(b't' | b'f') => "true or false",
            _ => "a number",
        }
    }

    pub fn is_null(&self) -> bool {
        self.raw.get() == "null"
    }

    pub fn is_text(&self) -> bool {
        self.raw.get().starts_with('"')
    }

    pub fn is_list(&self) -> bool {
        self.raw.get().starts_with('[')
    }

    pub fn is_object(&self) -> bool {
        self.raw.get().starts_with('{')
    }

    /// The error that another kind of value is needed here.
    pub fn needs(&self, what: &str) -> String {
        format!("{self} is {}; {what} is needed", self.kind())
    }

    /// The members of these names. One that is `null` is the same as none.
    pub fn members<const N: usize>(&self, names: [&str; N]) -> Step<[Option<Node<'a>>; N]> {
        if !self.is_object() {
            return Err(self.needs("an object"));
        }
        let mut found: [Option<Node<'a>>; N] = std::array::from_fn(|_| None);
        let mut twice = None;
        self.each_member(&mut |name, raw| {
            let Some(position) = names.iter().position(|wanted| *wanted == name) else { return };
            let member = Node { raw, path: self.below(name) };
            if found[position].replace(member).is_some() {
                twice = Some(self.below(name));
            }
        })?;
        if let Some(path) = twice {
            return Err(format!("{} is given twice", shortened(&path, PATH)));
        }
        Ok(found.map(|member| member.filter(|member| !member.is_null())))
    }

    /// One member; `None` if it is not there or `null`.
    pub fn member(&self, name: &str) -> Step<Option<Node<'a>>> {
        let [found] = self.members([name])?;
        Ok(found)
    }

    /// A member that must be there.
    pub fn needed(&self, name: &str) -> Step<Node<'a>> {
        match self.member(name)? {
            Some(member) => Ok(member),
            None => Err(format!("{} has no \"{name}\"", self)),
        }
    }

    fn below(&self, name: &str) -> String {
        match self.path.as_str() {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        }
    }

    /// Every member, in order.
    pub fn each_member(&self, take: &mut dyn FnMut(&str, &'a RawValue)) -> Step<()> {
        let mut json = serde_json::Deserializer::from_str(self.raw.get());
        Members(take).deserialize(&mut json).map_err(|e| format!("{self}: {}", problem(&e)))
    }

    /// The members of an object, in order, of which there may be so many.
    pub fn entries(&self, most: usize) -> Step<Vec<(String, Node<'a>)>> {
        if !self.is_object() {
            return Err(self.needs("an object"));
        }
        let (mut entries, mut count) = (Vec::new(), 0);
        self.each_member(&mut |name, raw| {
            count += 1;
            if count <= most {
                entries.push((name.to_owned(), Node { raw, path: self.below(name) }));
            }
        })?;
        match count > most {
            true => Err(format!("{self} has {count} values, but at most {most} are read")),
            false => Ok(entries),
        }
    }

    /// The values of a list, of which there may be so many.
    pub fn list(&self, most: usize) -> Step<Vec<Node<'a>>> {
        if !self.is_list() {
            return Err(self.needs("a list"));
        }
        let mut json = serde_json::Deserializer::from_str(self.raw.get());
        let (values, count) =
            Values { most }.deserialize(&mut json).map_err(|e| problem(&e).to_string())?;
        if count > most {
            return Err(format!("{self} has {count} values, but at most {most} are read"));
        }
        let node = |(at, raw)| Node { raw, path: format!("{}[{at}]", self.path) };
        Ok(values.into_iter().enumerate().map(node).collect())
    }

    /// The text that this value must be.
    pub fn text(&self) -> Step<String> {
        if !self.is_text() {
            return Err(self.needs("a text"));
        }
        serde_json::from_str(self.raw.get()).map_err(|e| format!("{self}: {}", problem(&e)))
    }

    /// An id or a name: a text, or the digits of a number as they stand in the file.
    pub fn label(&self) -> Step<String> {
        match self.raw.get().as_bytes().first() {
            Some(b'"') => self.text(),
            Some(b'-' | b'0'..=b'9') => Ok(self.raw.get().to_owned()),
            _ => Err(self.needs("a text or a number")),
        }
    }

    /// The value at a path such as `response.body.choices.0.message.content`, in which a number is
    /// the position in a list. A field whose own name has dots comes first. `None` if something on
    /// the way is `null`.
    pub fn at(&self, path: &str) -> Step<Option<Node<'a>>> {
        if self.is_null() {
            return Ok(None);
        }
        if self.is_object()
            && let Some(raw) = self.raw_member(path)?
        {
            return Ok(Some(Node { raw, path: self.below(path) }));
        }
        let (first, rest) = path.split_once('.').map_or((path, None), |(a, b)| (a, Some(b)));
        let next = if self.is_list() {
            let values = self.list(MOST_VALUES)?;
            let position = first.parse::<usize>().map_err(|_| {
                format!("{self} is a list; a position such as 0 is needed, not {}", quoted(first))
            })?;
            let count = values.len();
            values.into_iter().nth(position).ok_or_else(|| {
                format!("{self} has {count} values, so there is none at position {position}")
            })?
        } else if self.is_object() {
            match self.raw_member(first)? {
                Some(raw) => Node { raw, path: self.below(first) },
                None => return Err(self.lacks(first)?),
            }
        } else {
            return Err(self.needs(&format!("an object with the field {}", quoted(first))));
        };
        match rest {
            Some(rest) => next.at(rest),
            None => Ok(Some(next)),
        }
    }

    /// The first member of a name, which may be `null`.
    fn raw_member(&self, name: &str) -> Step<Option<&'a RawValue>> {
        let mut found = None;
        self.each_member(&mut |member, raw| {
            if member == name {
                found.get_or_insert(raw);
            }
        })?;
        Ok(found)
    }

    /// The error about a field that is not there.
    fn lacks(&self, name: &str) -> Step<String> {
        let mut names = Vec::new();
        self.each_member(&mut |member, _| {
            if names.len() < MOST_NAMES {
                names.push(member.to_owned());
            }
        })?;
        let fields = match names.is_empty() {
            true => "it has none".to_owned(),
            false => format!("its fields are: {}", listed(&names)),
        };
        Ok(format!("{self} has no field {}; {fields}", quoted(name)))
    }
}

/// The path, or "the record" for all of it.
impl fmt::Display for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str("the record"),
            path => f.write_str(&shortened(path, PATH)),
        }
    }
}

/// Shows every member of an object to a function.
struct Members<'f, 'a>(&'f mut dyn FnMut(&str, &'a RawValue));

impl<'a> DeserializeSeed<'a> for Members<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for Members<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((name, raw)) = map.next_entry::<String, &'a RawValue>()? {
            (self.0)(&name, raw);
        }
        Ok(())
    }
}

/// Collects the first values of a list, and counts all.
struct Values {
    most: usize,
}

impl<'a> DeserializeSeed<'a> for Values {
    type Value = (Vec<&'a RawValue>, usize);

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'a> Visitor<'a> for Values {
    type Value = (Vec<&'a RawValue>, usize);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let (mut values, mut count) = (Vec::new(), 0);
        while values.len() < self.most {
            let Some(raw) = list.next_element::<&'a RawValue>()? else { break };
            values.push(raw);
            count += 1;
        }
        while list.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok((values, count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(json: &str) -> Node<'_> {
        Node::root(json, String::new()).unwrap()
    }

    #[test]
    fn a_path_goes_through_objects_and_lists() {
        let root = node(r#"{"a": {"b": [{"c": "x"}, 7], "d.e": "y"}, "a.b": "z", "n": null}"#);
        let text = |path: &str| root.at(path).unwrap().unwrap().text();
        assert_eq!(text("a.b.0.c").unwrap(), "x");
        assert_eq!(text("a.d.e").unwrap(), "y");
        assert_eq!(text("a.b").unwrap(), "z");
        assert!(root.at("n.a.b").unwrap().is_none());
        let seven = root.at("a.b.1").unwrap().unwrap();
        assert_eq!(seven.text().unwrap_err(), "a.b[1] is a number; a text is needed");
    }

    #[test]
    fn an_error_names_the_path_and_what_is_there() {
        let root = node(r#"{"a": {"b": [1], "c": true}, "d": 1, "d": 2}"#);
        let problem = |path: &str| root.at(path).unwrap_err();
        assert_eq!(problem("a.x.y"), "a has no field \"x\"; its fields are: b, c");
        assert_eq!(
            problem("a.b.first"),
            "a.b is a list; a position such as 0 is needed, not \"first\""
        );
        assert_eq!(problem("a.b.3"), "a.b has 1 values, so there is none at position 3");
        assert_eq!(
            problem("a.c.z"),
            "a.c is true or false; an object with the field \"z\" is needed"
        );
        assert_eq!(problem("x"), "the record has no field \"x\"; its fields are: a, d, d");
        assert_eq!(root.member("d").unwrap_err(), "d is given twice");
        assert_eq!(root.needed("e").unwrap_err(), "the record has no \"e\"");
        assert_eq!(root.list(1).unwrap_err(), "the record is an object; a list is needed");
        let list = node("[1, 2, 3]");
        assert_eq!(list.list(2).unwrap_err(), "the record has 3 values, but at most 2 are read");
    }
}
