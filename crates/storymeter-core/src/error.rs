//! Errors that name the file, the line and the field.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::nearest::nearest;
use crate::read::{Field, listed};
use crate::terminal::{excerpt, plain};

/// What a function of this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Where in the user's input something is wrong: `stories.jsonl:12: field "human"`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, as the user named it; `-` is standard input.
    pub file: PathBuf,
    /// 1-based line, where lines mean something in the format.
    pub line: Option<u64>,
    /// Column or field name.
    pub field: Option<String>,
}

impl Place {
    /// A place that is a whole file.
    pub fn file(file: impl AsRef<Path>) -> Self {
        Self { file: file.as_ref().to_owned(), line: None, field: None }
    }

    /// The same place, narrowed to a 1-based line.
    #[must_use]
    pub fn at_line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// The same place, narrowed to a field.
    #[must_use]
    pub fn in_field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file == Path::new("-") {
            f.write_str("standard input")?;
        } else {
            write!(f, "{}", self.file.display())?;
        }
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(field) = &self.field {
            write!(f, ": field \"{field}\"")?;
        }
        Ok(())
    }
}

/// Everything that can go wrong between a file and the types of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system reported an error.
    #[error("{place}: {source}")]
    Io {
        /// The file.
        place: Place,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The content is not what the format or the type allows.
    #[error("{place}: {problem}")]
    Invalid {
        /// The file, the line and the field.
        place: Place,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// Writing an output would destroy an input.
    #[error("{}: this is also the input {}, and writing it would destroy the input",
        .output.display(), .input.display())]
    OverInput {
        /// The output, as the user named it.
        output: PathBuf,
        /// The input that is the same file.
        input: PathBuf,
    },
    /// Something that can be read only once is named twice.
    #[error("{place}: it is named twice, but it can be read only once")]
    NamedTwice {
        /// Standard input, a pipe or a device.
        place: Place,
    },
    /// Two outputs are one file.
    #[error("{}: this is also the output {}; name two files", .second.display(), .first.display())]
    SameOutput {
        /// One output.
        first: PathBuf,
        /// The other one.
        second: PathBuf,
    },
    /// Neither the name nor the content of a file says which format it has.
    #[error("{place}: the format cannot be recognised from the name or the content")]
    FormatNotRecognised {
        /// The file.
        place: Place,
    },
    /// A record lacks a field that it must have, or a table a column.
    #[error("{place}: {missing}")]
    MissingField {
        /// The file and the line.
        place: Place,
        /// What was looked for, and what is there.
        missing: Box<Missing>,
    },
    /// Two stories of one system have the same id.
    #[error("{place}: duplicate id {}{}: {}", excerpt(.id, 60), of_system(.system),
        first_use(.place, .first))]
    DuplicateId {
        /// The file and the line of the second story.
        place: Box<Place>,
        /// The id.
        id: String,
        /// The system of both.
        system: Option<String>,
        /// Where the first story stands. `None` if it has no id of its own, and the second one has
        /// its number.
        first: Option<Box<Place>>,
    },
    /// Two score files have different values for the same story in the same column.
    #[error("{place}: story {}{} has another value in {first}; leave one of the files out, or \
             rename a column", excerpt(.id, 60), of_system(.system))]
    OtherValue {
        /// The file, the line and the column of the second value.
        place: Box<Place>,
        /// The id of the story.
        id: String,
        /// Its system.
        system: Option<String>,
        /// The file and the line of the first value.
        first: Box<Place>,
    },
    /// A name that is not known: a column, a system, a criterion.
    #[error("there is no {what} \"{name}\"{}", hint(.nearest, .known))]
    UnknownName {
        /// What was looked for, such as "column".
        what: &'static str,
        /// The name.
        name: String,
        /// The nearest known name, where one is near.
        nearest: Option<String>,
        /// All known names.
        known: Vec<String>,
    },
    /// A name that fits several things.
    #[error("{}", ambiguous(.what, .name, .candidates))]
    AmbiguousName {
        /// What was looked for, such as "column".
        what: &'static str,
        /// The name; empty where none was given.
        name: String,
        /// What it could mean.
        candidates: Vec<String>,
    },
}

/// A field or a column that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// What was looked for.
    pub field: Field,
    /// What it is called in the layout: "field" or "column".
    pub what: &'static str,
    /// The name that was asked for, or the usual one.
    pub name: String,
    /// Other names that would have been accepted.
    pub others: Vec<String>,
    /// The names that are there.
    pub found: Vec<String>,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, name, others, found, .. } = self;
        write!(f, "there is no {what} {}", excerpt(name, 60))?;
        if !others.is_empty() {
            let others: Vec<String> = others.iter().map(|name| format!("\"{name}\"")).collect();
            write!(f, " (or {})", others.join(", "))?;
        }
        if found.is_empty() {
            return write!(f, ", and there is no other {what}");
        }
        // A usual name is not a misspelt one.
        let near = nearest(name, found.iter().map(String::as_str));
        match near.filter(|_| others.is_empty()) {
            Some(near) => write!(f, "; did you mean {}? The", excerpt(near, 60))?,
            None => f.write_str("; the")?,
        }
        write!(f, " {what}s are: {}", plain(&listed(found)))
    }
}

fn of_system(system: &Option<String>) -> String {
    system.as_ref().map_or(String::new(), |system| format!(" of system {}", excerpt(system, 60)))
}

fn first_use(place: &Place, first: &Option<Box<Place>>) -> String {
    match first {
        None => "it is also the number of an earlier record that has no id".to_owned(),
        Some(first) => match first.line {
            Some(_) if first.file == place.file && first.line == place.line => {
                "an earlier record on the same line has it".to_owned()
            }
            Some(line) if first.file == place.file => format!("it was first used on line {line}"),
            _ => format!("it was first used in {first}"),
        },
    }
}

fn hint(nearest: &Option<String>, known: &[String]) -> String {
    let mut hint =
        nearest.as_ref().map_or(String::new(), |name| format!("; did you mean \"{name}\"?"));
    match (known.len(), nearest) {
        (0, _) => hint.push_str("; there is none"),
        (_, Some(_)) => hint.push_str(&format!(" There are: {}", known.join(", "))),
        (_, None) => hint.push_str(&format!("; there are: {}", known.join(", "))),
    }
    hint
}

fn ambiguous(what: &str, name: &str, candidates: &[String]) -> String {
    let candidates = candidates.join(", ");
    match name {
        "" => format!("there are several {what}s, and one must be named: {candidates}"),
        name => format!("\"{name}\" fits several {what}s: {candidates}"),
    }
}

impl Error {
    /// An operating-system error at a place.
    pub fn io(place: Place, source: std::io::Error) -> Self {
        Self::Io { place, source }
    }

    /// Wrong content at a place.
    pub fn invalid(place: Place, problem: impl Into<String>) -> Self {
        Self::Invalid { place, problem: problem.into() }
    }
}
