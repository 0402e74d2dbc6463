//! Which criteria of different sets mean the same.

use std::collections::BTreeMap;
use std::path::Path;

use crate::Result;

/// For sets of rated stories, the head that learns each of their criteria.
///
/// The file is TOML, with a table for each set:
///
/// ```toml
/// [stories-of-2020]
/// logic = "coherence"
/// interest = "engagement"
/// ```
///
/// A criterion that the table of its set does not name is learned by the head "overall" only, which
/// learns from all criteria in any case. If two criteria of a set have the same head, it learns
/// their mean. The criteria of a set without a table have heads of their own names. Two names of
/// one set that differ only in capitals, blanks, hyphens and underscores are an error, because they
/// would be one head by accident.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct CriteriaMap(BTreeMap<String, BTreeMap<String, String>>);

impl CriteriaMap {
    /// Reads a file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or does not have this form. The error names the
    /// line.
    pub fn read(path: &Path) -> Result<Self> {
        Ok(Self(storymeter_core::configuration::read_table(path)?))
    }

    /// The names of the sets that have a table.
    pub fn sets(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The criteria that the table of a set names.
    pub(super) fn criteria(&self, set: &str) -> impl Iterator<Item = &str> {
        self.0.get(set).into_iter().flat_map(|table| table.keys().map(String::as_str))
    }

    /// The head that learns a criterion of a set, besides the one for all criteria.
    pub(super) fn head(&self, set: &str, criterion: &str) -> Option<String> {
        self.written(set, criterion).map(Self::column)
    }

    /// The name of that head as the table or the set writes it.
    pub(super) fn written<'a>(&'a self, set: &str, criterion: &'a str) -> Option<&'a str> {
        match self.0.get(set) {
            Some(table) => table.get(criterion).map(String::as_str),
            None => Some(criterion),
        }
    }

    /// Names of heads become names of columns, so capitals become small letters, and spaces and
    /// underscores become hyphens.
    pub(super) fn column(name: &str) -> String {
        name.trim().to_lowercase().replace([' ', '_'], "-")
    }
}

impl FromIterator<(String, BTreeMap<String, String>)> for CriteriaMap {
    fn from_iter<I: IntoIterator<Item = (String, BTreeMap<String, String>)>>(tables: I) -> Self {
        Self(tables.into_iter().collect())
    }
}
