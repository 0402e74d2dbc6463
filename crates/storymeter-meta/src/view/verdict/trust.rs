//! How far columns can be trusted: one line per card, which several columns may share.

use std::fmt;

use serde::Serialize;
use storymeter_core::{Column, Key};

use super::sentences;
use crate::systems::verdict::ColumnTrust;
use crate::view::conclusion::short;
use crate::view::words::joined_short;

/// How far some columns can be trusted, in words.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TrustWords {
    /// One line for all columns that share a card.
    pub lines: Vec<TrustLine>,
    /// All of them in one line, where room is short; `None` if no column says anything.
    pub brief: Option<String>,
}

/// How far some columns can be trusted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrustLine {
    /// What they measure, and on which stories they were tested.
    pub text: String,
    /// Whether the stories at hand are others than those.
    pub is_warning: bool,
}

impl fmt::Display for TrustLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_warning { "Warning: " } else { "" }, self.text)
    }
}

impl TrustWords {
    /// Puts into words how far these columns can be trusted.
    ///
    /// Keys stand in the lines as they are in the data, at most 60 characters of each.
    pub fn new<'a>(columns: impl IntoIterator<Item = (&'a Key, &'a ColumnTrust)>) -> Self {
        let columns: Vec<(&Key, &ColumnTrust)> = columns.into_iter().collect();
        let mut shared: Vec<(&ColumnTrust, Vec<&Key>)> = Vec::new();
        for &(key, trust) in &columns {
            match shared.iter_mut().find(|(known, _)| *known == trust) {
                Some((_, keys)) => keys.push(key),
                None => shared.push((trust, vec![key])),
            }
        }
        let all: Vec<&Key> = columns.iter().map(|(key, _)| *key).collect();
        let line = |(trust, keys): &(&ColumnTrust, Vec<&Key>)| TrustLine {
            text: sentences::trusted(&named(keys, &all), trust),
            is_warning: trust.warns,
        };
        let warned = columns.iter().filter(|(_, trust)| trust.warns);
        let warned: Vec<&Key> = warned.map(|(key, _)| *key).collect();
        let brief = match (warned.len(), all.len()) {
            (_, 0) => None,
            (0, count) => Some(sentences::tested_on_some(&named(&all, &all), count)),
            (count, _) => Some(sentences::unlike_tested(&named(&warned, &all), count)),
        };
        Self { lines: shared.iter().map(line).collect(), brief }
    }

    /// The same for the columns of a study or a file, by the counts of their headers.
    pub fn of_columns<'a>(columns: impl IntoIterator<Item = &'a Column>) -> Self {
        let known =
            columns.into_iter().filter_map(|one| Some((&one.key, ColumnTrust::of_column(one)?)));
        let known: Vec<(&Key, ColumnTrust)> = known.collect();
        Self::new(known.iter().map(|(key, trust)| (*key, trust)))
    }
}

/// These keys, with the members of a family together: "union and all 7 criteria".
fn named(keys: &[&Key], all: &[&Key]) -> String {
    let mut families: Vec<(&str, Vec<&Key>)> = Vec::new();
    for &key in keys {
        match families.iter_mut().find(|(family, _)| *family == key.metric()) {
            Some((_, own)) => own.push(key),
            None => families.push((key.metric(), vec![key])),
        }
    }
    let name = |(family, own): &(&str, Vec<&Key>)| match own.as_slice() {
        [only] => short(only.as_str()),
        _ => {
            let members = all.iter().filter(|key| key.metric() == *family).count();
            sentences::part(own.len(), members, family)
        }
    };
    joined_short(&families.iter().map(name).collect::<Vec<_>>())
}
