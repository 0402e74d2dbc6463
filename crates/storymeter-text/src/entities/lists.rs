//! The word lists of the recogniser, which are in `data/entity_words.txt`.

use std::sync::LazyLock;

use crate::names::groups;

/// The words of a list.
fn list(name: &str) -> Vec<&'static str> {
    let mut lists = groups(include_str!("../../data/entity_words.txt"));
    let found = lists.find(|(group, _)| *group == name);
    found.map(|(_, words)| words.collect()).unwrap_or_default()
}

macro_rules! lists {
    ($($(#[$documented:meta])* $name:ident = $list:literal;)+) => {
        $($(#[$documented])*
        pub(super) static $name: LazyLock<Vec<&'static str>> = LazyLock::new(|| list($list));)+
    };
}

lists! {
    /// Number words that can stand alone.
    NUMBERS = "numbers";
    /// The words of [`NUMBERS`] that "a" and "several" can stand before.
    LARGE = "large";
    ORDINALS = "ordinals";
    /// Units of a day or longer, and words for parts of a year.
    LONG_UNITS = "long_units";
    /// The words of [`LONG_UNITS`] that are a date alone.
    LONG_TIMES = "long_times";
    /// Units shorter than a day, and words for parts of a day.
    SHORT_UNITS = "short_units";
    MEASURES = "measures";
    MONEY = "money";
    /// Days and times that need no number.
    DAYS = "days";
    TIMES = "times";
    /// Words that make an amount inexact and belong to it.
    ABOUT = "about";
    /// Words before a unit that make a date or a time of it.
    WHICH = "which";
    /// Titles before a name, which are not part of it.
    TITLES = "titles";
    /// Capitalised words that are no names: pronouns, interjections and words of address.
    NO_NAMES = "no_names";
    /// Words in the name of an organisation.
    ORGANISATION_WORDS = "organisation_words";
    PLACES = "places";
    /// Capitalised parts of the names of cities and states.
    PLACE_STARTS = "place_starts";
    LOCATIONS = "locations";
    GROUPS = "groups";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_is_in_the_file() {
        let lists: [&[&str]; 19] = [
            &NUMBERS,
            &LARGE,
            &ORDINALS,
            &LONG_UNITS,
            &LONG_TIMES,
            &SHORT_UNITS,
            &MEASURES,
            &MONEY,
            &DAYS,
            &TIMES,
            &ABOUT,
            &WHICH,
            &TITLES,
            &NO_NAMES,
            &ORGANISATION_WORDS,
            &PLACES,
            &PLACE_STARTS,
            &LOCATIONS,
            &GROUPS,
        ];
        assert!(lists.iter().all(|list| !list.is_empty()));
        assert_eq!(lists.iter().map(|list| list.len()).sum::<usize>(), 535);
    }
}
