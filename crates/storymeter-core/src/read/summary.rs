//! What was read, in one line.

use std::collections::HashSet;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::Format;
use super::names::{FieldNames, FieldUse, UsedNames};
use super::raw::Origin;
use super::shown::{cut, quoted};
use super::source::is_stdin;

/// What was read: how many stories, of how many systems, from which kinds of files, and under which
/// names. Its text is one line for the user.
///
/// Headers of score files keep it, without the systems.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// The number of stories, without those that were skipped.
    pub stories: u64,
    /// The number of files that have at least one record. Standard input counts as one.
    pub files: u64,
    /// Whether standard input was read.
    pub standard_input: bool,
    /// The formats, in order of appearance.
    pub formats: Vec<Format>,
    /// The delimiters of tables that are not the usual ones of their format.
    pub delimiters: Vec<char>,
    /// Fields that were found under another name than the standard one, or whose name was preferred
    /// to another.
    #[serde(skip)]
    pub fields: Vec<FieldUse>,
    /// The names that were used, from which the fields are found, and the names that were given.
    #[serde(default)]
    pub(super) used: UsedNames,
    #[serde(default)]
    pub(super) given: FieldNames,
    /// The number of stories that got another id because theirs was taken.
    pub renumbered: u64,
    /// The number of samples that the tool which wrote the file has no text for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// The first reasons that it gives for that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// The first columns of wide tables that are no systems, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns_left_out: Vec<String>,
    /// If the whole input is one plain text that was read as one story: what it looks like.
    pub one_text: Option<OneText>,
    /// Hashes of the names of the systems.
    #[serde(skip)]
    systems: HashSet<u64>,
}

impl Summary {
    /// The number of reasons that are kept.
    const REASONS: usize = 3;

    /// The number of columns that are kept.
    const COLUMNS: usize = 30;

    /// The number of systems that are named.
    pub fn systems(&self) -> usize {
        self.systems.len()
    }

    /// Adds what was read from other inputs.
    pub fn merge(&mut self, other: Self) {
        self.stories += other.stories;
        self.files += other.files;
        self.standard_input |= other.standard_input;
        self.renumbered += other.renumbered;
        self.left_out += other.left_out;
        add_new(&mut self.columns_left_out, other.columns_left_out);
        self.columns_left_out.truncate(Self::COLUMNS);
        add_new(&mut self.reasons, other.reasons);
        self.reasons.truncate(Self::REASONS);
        self.systems.extend(other.systems);
        add_new(&mut self.formats, other.formats);
        add_new(&mut self.delimiters, other.delimiters);
        self.used.merge(other.used);
        if self.given == FieldNames::default() {
            self.given = other.given;
        }
        self.fields = self.used.remarkable(&self.given);
        self.one_text = match (self.one_text, other.one_text) {
            (one, other) if self.stories == 1 && self.files == 1 => one.or(other),
            _ => None,
        };
    }

    /// Adds systems that the stories name.
    pub fn add_systems<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) {
        self.systems.extend(names.into_iter().map(hash));
    }

    /// A file begins.
    pub(super) fn begin(&mut self, file: &Origin) {
        self.files += 1;
        self.standard_input |= is_stdin(&file.path);
        add_new(&mut self.formats, [file.format]);
        add_new(&mut self.delimiters, file.unusual_delimiter());
        add_new(&mut self.columns_left_out, file.left_out().iter().take(Self::COLUMNS).cloned());
        self.columns_left_out.truncate(Self::COLUMNS);
    }

    /// Counts a sample without a text.
    pub(super) fn leave_out(&mut self, reason: &str) {
        self.left_out += 1;
        if self.reasons.len() < Self::REASONS {
            add_new(&mut self.reasons, [cut(reason).into_owned()]);
        }
    }

    /// Counts a story.
    pub(super) fn count(&mut self, system: Option<&str>) {
        self.stories += 1;
        if let Some(system) = system {
            self.systems.insert(hash(system));
        }
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A hash that is the same in the whole process, so that summaries can be merged. Its key is
/// random, so that nobody can write names that collide.
fn hash(system: &str) -> u64 {
    static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    KEY.hash_one(system)
}

fn add_new<T: PartialEq>(all: &mut Vec<T>, more: impl IntoIterator<Item = T>) {
    for value in more {
        if !all.contains(&value) {
            all.push(value);
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |count: u64, one: &str, many: &str| match count {
            1 => format!("1 {one}"),
            count => format!("{count} {many}"),
        };
        write!(f, "read {}", counted(self.stories, "story", "stories"))?;
        if !self.systems.is_empty() {
            write!(f, " of {}", counted(self.systems.len() as u64, "system", "systems"))?;
        }
        match (self.files, self.standard_input) {
            (1, true) => f.write_str(" from standard input")?,
            (files, _) => write!(f, " from {}", counted(files, "file", "files"))?,
        }
        let mut formats: Vec<String> =
            self.formats.iter().map(|format| format.name().to_owned()).collect();
        let shown = |delimiter: &char| match delimiter {
            '\t' => "tabs".to_owned(),
            other => other.to_string(),
        };
        if !self.delimiters.is_empty() {
            let delimiters: Vec<String> = self.delimiters.iter().map(shown).collect();
            formats.push(format!("separated by {}", delimiters.join(" and ")));
        }
        write!(f, " ({})", formats.join(", "))?;
        for (number, field) in self.fields.iter().enumerate() {
            write!(f, "{} {field}", if number == 0 { ";" } else { "," })?;
        }
        match self.columns_left_out.as_slice() {
            [] => {}
            [column] => write!(f, "; left out the column {column}")?,
            columns => write!(f, "; left out the columns {}", columns.join(", "))?,
        }
        match self.renumbered {
            0 => {}
            1 => f.write_str("; 1 id was made unique")?,
            count => write!(f, "; {count} ids were made unique")?,
        }
        if self.left_out > 0 {
            let verb = if self.left_out == 1 { "was" } else { "were" };
            let count = counted(self.left_out, "sample", "samples");
            let reasons: Vec<String> = self.reasons.iter().map(|reason| quoted(reason)).collect();
            write!(f, "; {count} without a text {verb} left out: {}", reasons.join(", "))?;
        }
        Ok(())
    }
}

/// What a plain text looks like that was read as one story.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OneText {
    /// One story, probably.
    Story,
    /// Many blocks with blank lines between them, which may be one story each.
    Blocks(usize),
    /// Many lines without a blank one, which may be one story each.
    Lines(usize),
}

impl OneText {
    /// From this number of blocks or lines on, a text may be a list of stories.
    const MANY: usize = 20;

    /// Looks at a text.
    pub(super) fn of(text: &str) -> Self {
        let (mut lines, mut blocks, mut blank) = (0, 0, true);
        for line in text.lines() {
            let is_blank = line.trim().is_empty();
            lines += usize::from(!is_blank);
            blocks += usize::from(blank && !is_blank);
            blank = is_blank;
        }
        match (blocks, lines) {
            (Self::MANY.., _) => Self::Blocks(blocks),
            (1, Self::MANY..) => Self::Lines(lines),
            _ => Self::Story,
        }
    }
}
