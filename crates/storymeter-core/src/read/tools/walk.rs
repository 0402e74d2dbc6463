//! Cuts the records out of a JSON document that has them at a known place, without holding more
//! than one of them in memory.

use std::fmt::Write as _;
use std::io::BufRead;
use std::path::Path;

use crate::read::scanner::{Fault, Scanner, Step, incomplete, unexpected};

/// Where a layout has what is read. A path is a list of names, in which `*` is any member of an
/// object and `[]` any value of a list.
pub(super) struct Plan {
    /// The records.
    pub records: &'static [&'static [&'static str]],
    /// Values that are kept until the end of the document, and that must stand before the records.
    pub kept: &'static [&'static [&'static str]],
}

/// A record that was cut out.
pub(super) struct Found {
    /// Its path, for messages.
    pub path: String,
    /// The names of the members that lead to it.
    pub names: Vec<String>,
    /// The line on which it begins.
    pub line: u64,
    /// Its bytes, or their number if there are too many.
    pub value: Result<Vec<u8>, usize>,
}

/// Walks through a document.
pub(super) struct Walk {
    pub input: Scanner,
    plan: &'static Plan,
    /// The most bytes of a record.
    max: usize,
    /// The objects and lists around the next value.
    open: Vec<Open>,
    /// The values of [`Plan::kept`], in its order.
    pub kept: Vec<Option<Vec<u8>>>,
}

/// An object or a list that was entered.
enum Open {
    Object { first: bool, name: String },
    List { first: bool, position: usize },
}

/// What is wanted below a path.
#[derive(Default)]
struct Wanted {
    record: bool,
    kept: Option<usize>,
    object: bool,
    list: bool,
    /// Whether the last name of the path stands in the plan as it is, so that its value must be
    /// what the plan says.
    by_name: bool,
}

impl Walk {
    pub fn new(
        input: Box<dyn BufRead + Send>,
        path: &Path,
        plan: &'static Plan,
        max: usize,
    ) -> Self {
        let kept = vec![None; plan.kept.len()];
        Self { input: Scanner::new(input, path), plan, max, open: Vec::new(), kept }
    }

    /// The next record.
    pub fn next(&mut self) -> Step<Option<Found>> {
        loop {
            match self.open.last_mut() {
                None => match self.input.peek()? {
                    None => return Ok(None),
                    Some(begin) => {
                        if let Some(found) = self.value(begin)? {
                            return Ok(Some(found));
                        }
                        continue;
                    }
                },
                Some(Open::Object { first, name }) => {
                    match self.input.key(std::mem::take(first))? {
                        Some(key) => *name = key,
                        None => {
                            self.open.pop();
                            continue;
                        }
                    }
                }
                Some(Open::List { first, position }) => {
                    match self.input.peek()?.ok_or_else(incomplete)? {
                        b']' => {
                            self.input.bump();
                            self.open.pop();
                            continue;
                        }
                        b',' if !*first => {
                            self.input.bump();
                            *position += 1;
                        }
                        _ if *first => *first = false,
                        other => return Err(unexpected(other, "a comma or ]")),
                    }
                }
            }
            let begin = self.input.peek()?.ok_or_else(incomplete)?;
            if let Some(found) = self.value(begin)? {
                return Ok(Some(found));
            }
        }
    }

    /// Enters, keeps, cuts out or passes over the value that begins here.
    fn value(&mut self, begin: u8) -> Step<Option<Found>> {
        let wanted = self.wanted();
        if wanted.record {
            let line = self.input.line;
            let mut bytes = Vec::new();
            let length = self.input.value(&mut bytes, self.max)?;
            let value = if length > self.max { Err(length) } else { Ok(bytes) };
            let names = self.open.iter().filter_map(|open| match open {
                Open::Object { name, .. } => Some(name.clone()),
                Open::List { .. } => None,
            });
            return Ok(Some(Found { path: self.path(), names: names.collect(), line, value }));
        }
        if let Some(kept) = wanted.kept {
            let mut bytes = Vec::new();
            if self.input.value(&mut bytes, self.max)? > self.max {
                let (path, max) = (self.path(), self.max);
                return Err(Fault::Content(format!("{path} has more than {max} bytes")));
            }
            self.kept[kept] = Some(bytes);
            return Ok(None);
        }
        match begin {
            b'{' if wanted.object => {
                self.input.bump();
                self.open.push(Open::Object { first: true, name: String::new() });
                return Ok(None);
            }
            b'[' if wanted.list => {
                self.input.bump();
                self.open.push(Open::List { first: true, position: 0 });
                return Ok(None);
            }
            _ => {}
        }
        let found = match begin {
            b'{' => "an object",
            b'[' => "a list",
            b'"' => "a text",
            b'n' => "null",
            b't' | b'f' => "true or false",
            _ => "a number",
        };
        if (wanted.object || wanted.list) && wanted.by_name && begin != b'n' {
            let needed = if wanted.list { "a list" } else { "an object" };
            let path = self.path();
            return Err(Fault::Content(format!("{path} is {found}; {needed} is needed")));
        }
        if self.open.is_empty() {
            let needed = if wanted.object { "an object" } else { "a list" };
            return Err(Fault::Content(format!(
                "the file begins with {found}; {needed} is needed"
            )));
        }
        self.input.value(&mut Vec::new(), 0)?;
        Ok(None)
    }

    /// What the plan says of the value that begins here.
    fn wanted(&self) -> Wanted {
        let depth = self.open.len();
        let leads_here = |path: &&[&str]| {
            path.len() >= depth
                && self.open.iter().zip(path.iter()).all(|(open, step)| match open {
                    Open::Object { name, .. } => *step == "*" || (*step != "[]" && step == name),
                    Open::List { .. } => *step == "[]",
                })
        };
        let mut wanted = Wanted::default();
        let all = self.plan.records.iter().map(|path| (None, *path));
        let kept = self.plan.kept.iter().enumerate().map(|(at, path)| (Some(at), *path));
        for (kept, path) in all.chain(kept).filter(|(_, path)| leads_here(path)) {
            match path.get(depth) {
                None if kept.is_some() => wanted.kept = kept,
                None => wanted.record = true,
                Some(&"[]") => wanted.list = true,
                Some(_) => wanted.object = true,
            }
            wanted.by_name |= depth > 0 && !matches!(path[depth - 1], "*" | "[]");
        }
        wanted
    }

    /// The path of the value that begins here.
    fn path(&self) -> String {
        let mut path = String::new();
        for open in &self.open {
            match open {
                Open::Object { name, .. } if path.is_empty() => path.push_str(name),
                Open::Object { name, .. } => path.extend([".", name]),
                Open::List { position, .. } => {
                    let _ = write!(path, "[{position}]");
                }
            }
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: Plan =
        Plan { records: &[&["*", "list", "[]"], &["list", "[]"]], kept: &[&["who"]] };

    fn walk(json: &'static str) -> Walk {
        Walk::new(Box::new(json.as_bytes()), Path::new("a.json"), &PLAN, 20)
    }

    fn all(json: &'static str) -> Result<Vec<(String, u64, String)>, String> {
        let mut walk = walk(json);
        let mut found = Vec::new();
        loop {
            match walk.next() {
                Ok(None) => return Ok(found),
                Ok(Some(one)) => {
                    let value = one.value.map(|bytes| String::from_utf8(bytes).unwrap());
                    let value = value.unwrap_or_else(|length| format!("{length} bytes"));
                    found.push((one.path, one.line, value));
                }
                Err(Fault::Content(problem)) => return Err(problem),
                Err(Fault::System(e)) => panic!("{e}"),
            }
        }
    }

    fn found(path: &str, line: u64, value: &str) -> (String, u64, String) {
        (path.to_owned(), line, value.to_owned())
    }

    #[test]
    fn records_are_found_where_the_plan_says() {
        let json = "{\"other\": [1, {\"list\": 2}],\n \"run\": {\"n\": 1, \"list\": [{\"a\": 1},\n7]},\n\
                    \"list\": [\"xxxxxxxxxxxxxxxxxxxxxxx\"]}\n";
        assert_eq!(
            all(json).unwrap(),
            [
                found("run.list[0]", 2, "{\"a\": 1}"),
                found("run.list[1]", 3, "7"),
                found("list[0]", 4, "25 bytes"),
            ]
        );
        assert_eq!(all("").unwrap(), []);
        assert_eq!(all("{}\n").unwrap(), []);
    }

    #[test]
    fn values_are_kept_for_the_records_after_them() {
        let mut walk = walk(r#"{"who": {"x": 1}, "list": [1]}"#);
        assert!(walk.next().is_ok_and(|found| found.is_some()));
        assert_eq!(walk.kept, [Some(b"{\"x\": 1}".to_vec())]);
    }

    #[test]
    fn wrong_types_are_named_with_their_path() {
        assert_eq!(all("{\"list\": 7}").unwrap_err(), "list is a number; a list is needed");
        assert_eq!(
            all("{\"a\": {\"list\": \"x\"}}").unwrap_err(),
            "a.list is a text; a list is needed"
        );
        assert_eq!(all("[1]").unwrap_err(), "the file begins with a list; an object is needed");
        assert!(all("{\"list\": [1 2]}").unwrap_err().contains("a comma or ]"));
        assert!(all("{\"list\": [1").unwrap_err().contains("too early"));
        let deep: &'static str =
            Box::leak(format!("{{\"x\": {}", "[".repeat(100_000)).into_boxed_str());
        assert!(all(deep).unwrap_err().contains("too early"));
    }
}
