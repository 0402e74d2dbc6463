//! Rated stories as what the heads learn: numbers in standard units, the same for all sets.
//!
//! Sets differ in their scales, in how strict their raters are, and in what they asked. So every
//! criterion is standardised inside its set: the mean becomes 0 and the standard deviation 1. What
//! a set calls differently is joined by a [`CriteriaMap`], and the head [`OVERALL`] learns the mean
//! of all criteria of every set.

use std::collections::HashMap;

use storymeter_core::Story;
use storymeter_core::terminal::excerpt;
use storymeter_union::criteria::{MOST_CRITERIA, RatedSet};

use super::map::CriteriaMap;
use super::sets::{check_names, check_pairs, check_sets, weigh_sets};
use super::settings::Settings;
use crate::{Error, Result};

/// The head that learns from all criteria.
pub const OVERALL: &str = "overall";

/// A set of stories that the same kind of people rated in the same way.
#[derive(Debug, Clone, Copy)]
pub struct Set<'a> {
    /// Its name, by which a [`CriteriaMap`] knows it.
    pub name: &'a str,
    /// The stories, each with at least one rating.
    pub stories: &'a [Story],
}

/// Which stories are left out of training, to be predicted by a model that has not seen them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LeftOut<'a> {
    /// None.
    #[default]
    Nothing,
    /// The stories of one fold. The items of a set are dealt to the folds in turn, so that all
    /// stories of an item are in the same fold.
    Fold {
        /// The number of the fold, from 1.
        number: usize,
        /// How many folds there are.
        of: usize,
    },
    /// The stories of one set.
    Set(&'a str),
}

/// A rated story, and what the heads learn from it.
pub(super) struct Rated<'a> {
    /// The number of its set.
    pub set: usize,
    pub story: &'a Story,
    /// The number of its item, counted through all sets.
    pub item: u64,
    pub left_out: bool,
    /// Whether it is only compared with the other stories of its item.
    pub is_compared: bool,
    /// How much it weighs, because of the number of its raters, and because of its set.
    pub weight: f32,
    /// For each head the mean rating on the scale of the set.
    pub ratings: Vec<Option<f64>>,
    /// For each head the rating in standard units.
    pub targets: Vec<Option<f32>>,
}

/// All sets, ready to learn from.
pub(super) struct Prepared<'a> {
    /// The names of the heads.
    pub heads: Vec<String>,
    pub stories: Vec<Rated<'a>>,
    /// The sets that are learned from.
    pub sets: Vec<RatedSet>,
    /// What the user should know about the sets.
    pub notes: Vec<String>,
}

/// Prepares sets of rated stories.
///
/// # Errors
/// - [`Error::Story`] if a story has no rating. Its number counts through all sets.
/// - [`Error::Ratings`] if a set is named twice or is unknown, if the map names a set or a
///   criterion that is not there, if two criteria of a set would be one head by accident, if there
///   are too many, or if nothing is learned from.
pub(super) fn prepare<'a>(
    sets: &[Set<'a>],
    map: &CriteriaMap,
    left_out: LeftOut<'_>,
    settings: &Settings,
) -> Result<Prepared<'a>> {
    check_names(sets, map, left_out)?;
    check_sets(sets, settings)?;
    let mut notes = Vec::new();
    let heads = heads(sets, map, &mut notes)?;
    if settings.apart.iter().any(|name| name == OVERALL) {
        let problem = format!("the setting `apart` names {OVERALL}, which it keeps others from");
        return Err(Error::Ratings { problem });
    }
    if let Some(name) = settings.apart.iter().find(|name| !heads.contains(name)) {
        let (name, known) = (excerpt(name, 60), heads.join(", "));
        let problem = format!("the setting `apart` names {name}; there are: {known}");
        return Err(Error::Ratings { problem });
    }
    if heads.len() > MOST_CRITERIA {
        let problem = format!(
            "a model has at most {MOST_CRITERIA} criteria, and these sets have {} with the one \
             for all of them; a map can leave some to that one",
            heads.len()
        );
        return Err(Error::Ratings { problem });
    }
    if let Some(name) = heads.iter().find(|name| !is_name(name)) {
        let name = excerpt(name, 60);
        let problem = format!(
            "the criterion {name} cannot be the name of a column, which has up to 40 letters, \
             digits and hyphens; a map can give it another name"
        );
        return Err(Error::Ratings { problem });
    }
    let (mut stories, mut known) = (Vec::new(), Vec::new());
    let (mut first_item, mut first_story) = (0, 0);
    for (number, set) in sets.iter().enumerate() {
        let mut items: HashMap<&str, u64> = HashMap::new();
        let begin = stories.len();
        for (at, story) in set.stories.iter().enumerate() {
            let next = items.len() as u64;
            let item = *items.entry(story.item()).or_insert(next);
            let lacks = || Error::Story {
                number: first_story + at + 1,
                id: excerpt(&story.id, 60),
                problem: "has no rating".to_owned(),
            };
            let raters = raters(story).ok_or_else(lacks)? as f64;
            let is_left_out = match left_out {
                LeftOut::Nothing => false,
                LeftOut::Fold { number, of } => item % of as u64 == number as u64 - 1,
                LeftOut::Set(name) => name == set.name,
            };
            stories.push(Rated {
                set: number,
                story,
                item: first_item + item,
                left_out: is_left_out,
                is_compared: settings.pairs.iter().any(|name| name == set.name),
                weight: (raters / (raters + settings.half_raters)) as f32,
                ratings: vec![None; heads.len()],
                targets: vec![None; heads.len()],
            });
        }
        let own = &mut stories[begin..];
        let criteria = criteria(set.stories);
        let constant = standardise(own, set, &criteria, (map, &settings.apart), &heads);
        notes.extend(constant.into_iter().map(|criterion| {
            let (set, criterion) = (excerpt(set.name, 60), excerpt(criterion, 60));
            format!("{set}: all ratings of {criterion} are equal, so nothing is learned from them")
        }));
        let learned = own.iter().filter(|rated| !rated.left_out);
        let (count, mut items_learned) = (learned.clone().count(), Vec::new());
        let given = learned.clone().filter_map(|rated| raters(rated.story));
        let raters_learned = given.sum::<usize>() as f64;
        items_learned.extend(learned.map(|rated| rated.item));
        items_learned.sort_unstable();
        items_learned.dedup();
        if count > 0 {
            known.push(RatedSet {
                name: set.name.to_owned(),
                stories: count,
                items: items_learned.len(),
                criteria: criteria.iter().map(|name| (*name).to_owned()).collect(),
                raters: raters_learned / count as f64,
            });
        }
        first_item += items.len() as u64;
        first_story += set.stories.len();
    }
    weigh_sets(&mut stories, sets, settings);
    check_pairs(&stories, sets, settings)?;
    let learned = || stories.iter().filter(|rated| !rated.left_out);
    let problem = match learned().next() {
        None => "no story is left to learn from: all of them are left out",
        Some(_) if learned().all(|rated| rated.targets.iter().all(Option::is_none)) => {
            "there is nothing to learn: in each set, all stories that are learned from have the \
             same rating of each criterion"
        }
        Some(_) if learned().all(|rated| rated.targets.last().is_none_or(Option::is_none)) => {
            "nothing is learned for the head overall: all criteria are kept apart from it"
        }
        Some(_) => return Ok(Prepared { heads, stories, sets: known, notes }),
    };
    Err(Error::Ratings { problem: problem.to_owned() })
}

/// The criteria of a set, in the order in which its stories name them.
pub(super) fn criteria(stories: &[Story]) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for (name, ratings) in stories.iter().flat_map(|story| story.ratings.iter()) {
        if ratings.iter().any(Option::is_some) && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// The names of the heads, in the order in which sets name them. [`OVERALL`] is the last. `notes`
/// get the names of different sets that are written differently and become one head.
///
/// # Errors
/// Returns an error if that happens in one set, where it would mix two criteria.
fn heads(sets: &[Set<'_>], map: &CriteriaMap, notes: &mut Vec<String>) -> Result<Vec<String>> {
    // The heads, with how and in which set each name was first written.
    let mut heads: Vec<(String, &str, usize)> = Vec::new();
    for (number, set) in sets.iter().enumerate() {
        for criterion in criteria(set.stories) {
            let Some(written) = map.written(set.name, criterion) else { continue };
            let head = CriteriaMap::column(written);
            let known = heads.iter().find(|(name, ..)| *name == head);
            let Some((_, other, first)) = known else {
                heads.push((head, written, number));
                continue;
            };
            if *other == written {
                continue;
            }
            let show = |name: &str| excerpt(name, 60);
            let names = format!("{} and {}", show(other), show(written));
            if *first == number {
                let problem = format!(
                    "the criteria {names} of {} would both be the column {head}; a map can give \
                     them different names, or join them under one",
                    show(set.name)
                );
                return Err(Error::Ratings { problem });
            }
            notes.push(format!(
                "{names} of {} and {} are one criterion, {head}",
                show(sets[*first].name),
                show(set.name)
            ));
        }
    }
    let names = heads.into_iter().map(|(name, ..)| name).filter(|name| name != OVERALL);
    Ok(names.chain([OVERALL.to_owned()]).collect())
}

/// Whether a head can have this name.
fn is_name(name: &str) -> bool {
    let usual = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=40).contains(&name.len()) && name.chars().all(usual)
}

/// The largest number of people who rated a story on one criterion, or `None` if nobody did.
fn raters(story: &Story) -> Option<usize> {
    let counts = story.ratings.iter().map(|(_, ratings)| ratings.iter().flatten().count());
    counts.max().filter(|count| *count > 0)
}

/// Fills in the ratings and targets of the stories of a set, and returns the criteria that are the
/// same for all stories. Mean and deviation are those of the stories that are learned from, or of
/// all stories if the whole set is left out.
fn standardise<'c>(
    stories: &mut [Rated<'_>],
    set: &Set<'_>,
    criteria: &[&'c str],
    (map, apart): (&CriteriaMap, &[String]),
    heads: &[String],
) -> Vec<&'c str> {
    let all_left_out = stories.iter().all(|rated| rated.left_out);
    let counts = |rated: &Rated<'_>| all_left_out || !rated.left_out;
    let overall = heads.len() - 1;
    let mut constant = Vec::new();
    // For each story and head, the sums of ratings and of standard units, and how many there are.
    let mut sums = vec![(0.0, 0.0, 0u32); stories.len() * heads.len()];
    for criterion in criteria {
        let means: Vec<Option<f64>> =
            stories.iter().map(|rated| rated.story.ratings.mean(criterion)).collect();
        let used = stories.iter().zip(&means).filter(|(rated, _)| counts(rated));
        let Some((mean, deviation)) = moments(used.filter_map(|(_, mean)| *mean)) else {
            constant.push(*criterion);
            continue;
        };
        let own = map.head(set.name, criterion);
        let is_apart = own.as_ref().is_some_and(|name| apart.contains(name));
        let own = own.and_then(|name| heads[..overall].iter().position(|head| *head == name));
        for (at, rating) in means.iter().enumerate() {
            for head in own.into_iter().chain((!is_apart).then_some(overall)) {
                if let Some(rating) = rating {
                    let (raw, standard, count) = &mut sums[at * heads.len() + head];
                    *raw += rating;
                    *standard += (rating - mean) / deviation;
                    *count += 1;
                }
            }
        }
    }
    for (rated, sums) in stories.iter_mut().zip(sums.chunks_exact(heads.len())) {
        for (head, (raw, standard, count)) in sums.iter().enumerate() {
            if *count > 0 {
                rated.ratings[head] = Some(raw / f64::from(*count));
                rated.targets[head] = Some((standard / f64::from(*count)) as f32);
            }
        }
    }
    // The mean of several criteria varies less than each of them.
    for head in 0..heads.len() {
        let used = stories.iter().filter(|rated| counts(rated));
        let used: Vec<f64> = used.filter_map(|rated| rated.targets[head]).map(f64::from).collect();
        let Some((mean, deviation)) = moments(used.into_iter()) else { continue };
        for target in stories.iter_mut().filter_map(|rated| rated.targets[head].as_mut()) {
            *target = ((f64::from(*target) - mean) / deviation) as f32;
        }
    }
    constant
}

/// The mean and the standard deviation of some numbers, unless they are all equal.
fn moments(numbers: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let numbers: Vec<f64> = numbers.collect();
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
    let deviation = variance.sqrt();
    (deviation.is_finite() && deviation > 1e-9).then_some((mean, deviation))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn story(id: &str, item: &str, ratings: &[(&str, &[f64])]) -> Story {
        let mut story = Story { id: id.into(), item: Some(item.into()), ..Story::default() };
        for (criterion, given) in ratings {
            given.iter().for_each(|rating| story.ratings.push(criterion, Some(*rating)));
        }
        story
    }

    fn map(tables: &[(&str, &[(&str, &str)])]) -> CriteriaMap {
        let table = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect()
        };
        tables.iter().map(|(set, pairs)| ((*set).to_owned(), table(pairs))).collect()
    }

    #[test]
    fn ratings_are_standardised_inside_their_set_and_joined_by_the_map() {
        let first = [
            story("a", "1", &[("plot", &[1.0, 3.0]), ("style", &[5.0])]),
            story("b", "1", &[("plot", &[4.0, 4.0]), ("style", &[5.0])]),
            story("c", "2", &[("plot", &[6.0, 6.0]), ("style", &[5.0])]),
        ];
        let second = [
            story("a", "x", &[("logic", &[10.0]), ("sense", &[40.0])]),
            story("b", "y", &[("logic", &[30.0]), ("sense", &[20.0])]),
        ];
        let sets = [Set { name: "one", stories: &first }, Set { name: "two", stories: &second }];
        let map = map(&[("two", &[("logic", "plot")])]);
        let found = prepare(&sets, &map, LeftOut::Nothing, &Settings::default()).unwrap();
        assert_eq!(found.heads, ["plot", "style", "overall"]);
        let targets = |story: usize| found.stories[story].targets.clone();
        let deviation = (8.0f64 / 3.0).sqrt();
        let plot = |x: f64| Some(((x - 4.0) / deviation) as f32);
        // All ratings of style are equal.
        assert_eq!(targets(0), [plot(2.0), None, plot(2.0)]);
        assert_eq!(found.notes.len(), 1);
        assert!(found.notes[0].contains("\"style\""), "{}", found.notes[0]);
        // Logic says 10 < 30 and sense says 40 > 20, so that their mean is the same.
        assert_eq!(targets(3)[0], Some(-1.0));
        assert_eq!(targets(3)[2], targets(4)[2]);
        // Two raters weigh 2 / (2 + 2), one weighs 1 / (1 + 2).
        assert_eq!(found.stories[0].weight, 0.5);
        assert_eq!(found.stories[3].weight, 1.0 / 3.0);
        assert_eq!(found.stories[3].ratings, [Some(10.0), None, Some(25.0)]);
    }

    #[test]
    fn a_fold_leaves_out_whole_items_and_nothing_is_learned_from_them() {
        let stories: Vec<Story> = (0..12)
            .map(|i| {
                let rating = if i % 4 == 1 { 100.0 } else { f64::from(i) };
                story(&i.to_string(), &(i % 4).to_string(), &[("plot", &[rating])])
            })
            .collect();
        let sets = [Set { name: "one", stories: &stories }];
        let left_out = LeftOut::Fold { number: 2, of: 4 };
        let found = prepare(
            &sets,
            &CriteriaMap::default(),
            left_out,
            &Settings { half_raters: 0.0, ..Settings::default() },
        )
        .unwrap();
        let out: Vec<&str> =
            found.stories.iter().filter(|r| r.left_out).map(|r| r.story.item()).collect();
        assert_eq!(out, ["1", "1", "1"]);
        // The large ratings of the fold have no part in the mean.
        let learned = found.stories.iter().filter(|rated| !rated.left_out);
        let sum: f32 = learned.map(|rated| rated.targets[0].unwrap()).sum();
        assert!(sum.abs() < 1e-5, "{sum}");
        assert_eq!((found.sets[0].stories, found.sets[0].items), (9, 3));
    }

    #[test]
    fn wrong_names_are_errors() {
        let stories = [story("a", "1", &[("plot", &[1.0])]), story("b", "2", &[("plot", &[2.0])])];
        let one = Set { name: "one", stories: &stories };
        let error = |sets: &[Set<'_>], map: &CriteriaMap, left_out| {
            prepare(sets, map, left_out, &Settings::default())
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default()
        };
        let none = CriteriaMap::default();
        assert!(error(&[one, one], &none, LeftOut::Nothing).contains("two sets"));
        assert!(error(&[one], &none, LeftOut::Set("two")).contains("there are: \"one\""));
        assert!(error(&[one], &none, LeftOut::Set("one")).ends_with("all of them are left out"));
        assert!(error(&[one], &none, LeftOut::Fold { number: 3, of: 2 }).contains("fold 3 of 2"));
        let wrong = map(&[("one", &[("polt", "plot")])]);
        assert!(error(&[one], &wrong, LeftOut::Nothing).contains("\"polt\""));
        let unrated = [Story { id: "c".into(), ..Story::default() }];
        let two = Set { name: "two", stories: &unrated };
        let said = error(&[one, two], &none, LeftOut::Nothing);
        assert!(said.contains("story 3 (id \"c\") has no rating"), "{said}");
    }

    #[test]
    fn two_criteria_never_become_one_head_without_a_word() {
        let own = |first: &str, second: &str| {
            [1.0, 2.0].map(|x| story(&x.to_string(), "1", &[(first, &[x]), (second, &[3.0 - x])]))
        };
        let stories = own("plot_logic", "plot-logic");
        let one = Set { name: "one", stories: &stories };
        let said = prepare(&[one], &CriteriaMap::default(), LeftOut::Nothing, &Settings::default())
            .err()
            .unwrap();
        assert_eq!(
            said.to_string(),
            "training: the criteria \"plot_logic\" and \"plot-logic\" of \"one\" would both be the \
             column plot-logic; a map can give them different names, or join them under one"
        );
        let apart = map(&[("one", &[("plot_logic", "plot"), ("plot-logic", "logic")])]);
        let found = prepare(&[one], &apart, LeftOut::Nothing, &Settings::default()).unwrap();
        assert_eq!(found.heads, ["plot", "logic", "overall"]);
        let joined = map(&[("one", &[("plot_logic", "plot"), ("plot-logic", "plot")])]);
        let found = prepare(&[one], &joined, LeftOut::Nothing, &Settings::default()).unwrap();
        assert_eq!((found.heads.len(), found.notes.len()), (2, 0), "the map says so");
        // Different sets may well write one criterion differently, and the user is told.
        let (first, second) = (own("Plot Logic", "style"), own("plot_logic", "style"));
        let sets = [Set { name: "one", stories: &first }, Set { name: "two", stories: &second }];
        let found = prepare(&sets, &CriteriaMap::default(), LeftOut::Nothing, &Settings::default())
            .unwrap();
        assert_eq!(found.heads, ["plot-logic", "style", "overall"]);
        assert_eq!(
            found.notes,
            [
                "\"Plot Logic\" and \"plot_logic\" of \"one\" and \"two\" are one criterion, plot-logic"
            ]
        );
    }

    #[test]
    fn equal_ratings_and_too_many_criteria_are_named_as_such() {
        let equal = ["a", "b"].map(|id| story(id, "1", &[("plot", &[3.0]), ("style", &[4.0])]));
        let sets = [Set { name: "one", stories: &equal }];
        let none = CriteriaMap::default();
        let said = prepare(&sets, &none, LeftOut::Nothing, &Settings::default())
            .err()
            .unwrap()
            .to_string();
        assert_eq!(
            said,
            "training: there is nothing to learn: in each set, all stories that are learned from \
             have the same rating of each criterion"
        );
        let rated = |id: &str, count: usize, rating: f64| {
            let mut story = story(id, id, &[]);
            (0..count).for_each(|n| story.ratings.push(&format!("c{n}"), Some(rating)));
            story
        };
        let heads = |count: usize| {
            let stories = [rated("a", count, 1.0), rated("b", count, 2.0)];
            let sets = [Set { name: "one", stories: &stories }];
            prepare(&sets, &none, LeftOut::Nothing, &Settings::default())
                .map(|found| found.heads.len())
        };
        assert_eq!(heads(MOST_CRITERIA - 1).unwrap(), MOST_CRITERIA, "one more is for all of them");
        let said = heads(MOST_CRITERIA).unwrap_err().to_string();
        assert!(said.contains("at most 1000 criteria, and these sets have 1001"), "{said}");
    }

    #[test]
    fn sets_weigh_what_the_settings_say() {
        let of = |name: &str, count: usize| -> Vec<Story> {
            let one =
                |i: usize| story(&format!("{name}{i}"), &i.to_string(), &[("plot", &[i as f64])]);
            (0..count).map(one).collect()
        };
        let (small, large) = (of("a", 4), of("b", 36));
        let sets = [Set { name: "small", stories: &small }, Set { name: "large", stories: &large }];
        let weights = |settings: Settings| {
            let settings = Settings { half_raters: 0.0, ..settings };
            let found =
                prepare(&sets, &CriteriaMap::default(), LeftOut::Nothing, &settings).unwrap();
            [found.stories[0].weight, found.stories[4].weight]
        };
        assert_eq!(weights(Settings::default()), [1.0, 1.0]);
        // Every set weighs the same, and all stories together what they did.
        assert_eq!(weights(Settings { balance: 1.0, ..Settings::default() }), [5.0, 20.0 / 36.0]);
        let [small, large] = weights(Settings { balance: 0.5, ..Settings::default() });
        assert!(
            (small / large - 3.0).abs() < 1e-6 && (4.0 * small + 36.0 * large - 40.0).abs() < 1e-4
        );
        let given = BTreeMap::from([("large".to_owned(), 0.25)]);
        assert_eq!(weights(Settings { set_weights: given, ..Settings::default() }), [1.0, 0.25]);
    }

    #[test]
    fn a_head_that_is_apart_has_no_part_in_overall() {
        let stories = [
            story("a", "1", &[("plot", &[1.0]), ("taste", &[9.0])]),
            story("b", "2", &[("plot", &[2.0]), ("taste", &[5.0])]),
        ];
        let sets = [Set { name: "one", stories: &stories }];
        let overall = |apart: &[&str]| {
            let apart = apart.iter().map(|name| (*name).to_owned()).collect();
            let settings = Settings { apart, ..Settings::default() };
            let found = prepare(&sets, &CriteriaMap::default(), LeftOut::Nothing, &settings);
            found.map(|found| found.stories[0].targets[2]).map_err(|error| error.to_string())
        };
        assert_eq!(overall(&[]).unwrap(), Some(0.0), "the two say the opposite");
        assert_eq!(overall(&["taste"]).unwrap(), Some(-1.0));
        let said = overall(&["style"]).unwrap_err();
        assert!(
            said.ends_with("`apart` names \"style\"; there are: plot, taste, overall"),
            "{said}"
        );
    }

    #[test]
    fn pairs_need_stories_of_one_item_that_differ() {
        let of = |items: usize, each: usize, step: f64| -> Vec<Story> {
            let one = |i: usize| {
                story(&i.to_string(), &(i / each).to_string(), &[("plot", &[step * i as f64])])
            };
            (0..items * each).map(one).collect()
        };
        let said = |stories: &[Story]| {
            let sets = [Set { name: "one", stories }];
            let settings = Settings { pairs: vec!["one".to_owned()], ..Settings::default() };
            let found = prepare(&sets, &CriteriaMap::default(), LeftOut::Nothing, &settings);
            found.map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(said(&of(3, 2, 1.0)), Ok(()));
        let alone = said(&of(3, 1, 1.0)).unwrap_err();
        assert!(alone.ends_with("no two stories of one item have different ratings"), "{alone}");
        let many = said(&of(1, 65, 1.0)).unwrap_err();
        assert!(many.contains("has 65 stories; at most 64"), "{many}");
    }
}
