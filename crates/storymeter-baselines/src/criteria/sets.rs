//! What the map and the settings say about sets: whether it fits them, and what the sets weigh.

use std::collections::HashMap;

use storymeter_core::terminal::excerpt;

use super::map::CriteriaMap;
use super::rated::{LeftOut, Rated, Set, criteria};
use super::settings::Settings;
use crate::{Error, Result};

/// The most stories of an item that are compared with each other: they are read at once, and every
/// two of them are a pair.
const MOST_COMPARED: usize = 64;

/// Checks that the map and what is left out name sets and criteria that are there.
pub(super) fn check_names(
    sets: &[Set<'_>],
    map: &CriteriaMap,
    left_out: LeftOut<'_>,
) -> Result<()> {
    let wrong = |problem: String| Err(Error::Ratings { problem });
    let is_set = |name: &str| sets.iter().any(|set| set.name == name);
    let names = || sets.iter().map(|set| excerpt(set.name, 60)).collect::<Vec<_>>().join(", ");
    for (at, set) in sets.iter().enumerate() {
        if sets[..at].iter().any(|other| other.name == set.name) {
            return wrong(format!("there are two sets {}", excerpt(set.name, 60)));
        }
        let known = criteria(set.stories);
        if let Some(other) = map.criteria(set.name).find(|name| !known.contains(name)) {
            let (set, other) = (excerpt(set.name, 60), excerpt(other, 60));
            return wrong(format!(
                "the map names the criterion {other} of {set}, which has no such ratings"
            ));
        }
    }
    if let Some(other) = map.sets().find(|name| !is_set(name)) {
        let other = excerpt(other, 60);
        return wrong(format!("the map names the set {other}; there are: {}", names()));
    }
    match left_out {
        LeftOut::Set(name) if !is_set(name) => wrong(format!(
            "there is no set {} to leave out; there are: {}",
            excerpt(name, 60),
            names()
        )),
        LeftOut::Fold { number, of } if number == 0 || number > of || of < 2 => {
            wrong(format!("there is no fold {number} of {of}"))
        }
        _ => Ok(()),
    }
}

/// Checks that the settings name sets that are there.
pub(super) fn check_sets(sets: &[Set<'_>], settings: &Settings) -> Result<()> {
    let named = settings.pairs.iter().map(|name| ("pairs", name));
    let named = named.chain(settings.set_weights.keys().map(|name| ("set_weights", name)));
    for (setting, name) in named {
        if !sets.iter().any(|set| set.name == name) {
            let names: Vec<String> = sets.iter().map(|set| excerpt(set.name, 60)).collect();
            let (name, known) = (excerpt(name, 60), names.join(", "));
            let problem =
                format!("the setting `{setting}` names the set {name}; there are: {known}");
            return Err(Error::Ratings { problem });
        }
    }
    Ok(())
}

/// Checks that every set of preferences has some, and that no item is too large.
pub(super) fn check_pairs(
    stories: &[Rated<'_>],
    sets: &[Set<'_>],
    settings: &Settings,
) -> Result<()> {
    let of = |name: &String| sets.iter().position(|set| set.name == name);
    for set in settings.pairs.iter().filter_map(of) {
        let own = stories.iter().filter(|rated| rated.set == set && !rated.left_out);
        let mut items: HashMap<u64, Vec<&Rated<'_>>> = HashMap::new();
        own.for_each(|rated| items.entry(rated.item).or_default().push(rated));
        let name = excerpt(sets[set].name, 60);
        if let Some(item) =
            items.values().filter(|own| own.len() > MOST_COMPARED).map(Vec::len).max()
        {
            let problem = format!(
                "an item of {name}, which is learned as pairs, has {item} stories; at most \
                 {MOST_COMPARED} can be compared with each other"
            );
            return Err(Error::Ratings { problem });
        }
        let differs = |own: &Vec<&Rated<'_>>| {
            own.iter().any(|rated| own.iter().any(|other| rated.targets != other.targets))
        };
        if !items.is_empty() && !items.values().any(differs) {
            let problem = format!(
                "{name} is learned as pairs, but no two stories of one item have different ratings"
            );
            return Err(Error::Ratings { problem });
        }
    }
    Ok(())
}

/// Multiplies the weights of stories by those of their sets: what the user gave the set, and what
/// balances sets of different sizes. The mean of the latter over the stories that are learned from
/// is 1.
pub(super) fn weigh_sets(stories: &mut [Rated<'_>], sets: &[Set<'_>], settings: &Settings) {
    let mut learned = vec![0u32; sets.len()];
    stories.iter().filter(|rated| !rated.left_out).for_each(|rated| learned[rated.set] += 1);
    let balance = |count: u32| f64::from(count.max(1)).powf(-settings.balance);
    let sum: f64 = learned.iter().map(|count| f64::from(*count) * balance(*count)).sum();
    let mean = sum / f64::from(learned.iter().sum::<u32>().max(1));
    for rated in stories {
        let given = settings.set_weights.get(sets[rated.set].name).copied().unwrap_or(1.0);
        rated.weight *= (given * balance(learned[rated.set]) / mean) as f32;
    }
}
