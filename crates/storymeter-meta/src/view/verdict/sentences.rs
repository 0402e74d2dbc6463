//! Every sentence about a verdict that the program can print, in one place: headlines, reasons,
//! lengths, flags, signs, trust, and the words of the table and of the page.
//!
//! The functions get the names and numbers that they speak of. Which sentence is said, and in what
//! order, is decided by the modules beside this one. Each condition has a test in
//! `tests/meta/studies/verdict.rs`. What a single comparison says of itself is in
//! [`conclusion`](super::super::conclusion()).

use storymeter_core::number::{percent, thousands};
use storymeter_core::{Direction, Role};
use storymeter_text::flags::Flag;
use storymeter_text::kind::TextKind;

use super::LeadSign;
use crate::systems::verdict::{ColumnTrust, FLAGS_APART, RaisedFlag, StoriesLeft, Vote};
use crate::view::conclusion::{counted, short};
use crate::view::words::{joined, joined_short};

/// The question that a page about systems answers.
pub const QUESTION: &str = "Which system is best, and is that certain?";

/// The heading over the sentences about trust.
pub const TRUST_HEADING: &str = "How far to trust the numbers";

/// What the matrix of a page and the table of leaders are called.
pub const LEADERS_TITLE: &str = "Who leads by what";

// Headlines.

pub(super) fn nothing_to_compare() -> String {
    "There are no two systems with values, so there is nothing to compare.".to_owned()
}

/// A winner, by what it leads, and how many columns were looked at.
pub(super) fn winner(system: &str, by: &str, columns: usize, role: Option<Role>) -> String {
    let none = match columns {
        1 => String::new(),
        all => {
            format!("; no other system is better than it by any of the {all} {}", several(role))
        }
    };
    format!("{} leads by {by}{none}.", short(system))
}

/// Who leads by what, where that makes no winner.
pub(super) fn no_winner(leads: &[String]) -> String {
    match leads {
        [] => "No clear winner.".to_owned(),
        leads => format!("No clear winner: {}.", leads.join("; ")),
    }
}

/// The headline of one column by which a system leads that is not the winner.
pub(super) fn no_winner_by(key: &str, best: &str) -> String {
    format!(
        "No clear winner by {}: {} has the best mean, but that may have other reasons than better \
         stories.",
        short(key),
        short(best)
    )
}

/// What is said of the column that a user pointed out, under the headline about all columns.
pub fn by_one_column(key: &str, conclusion: &str) -> String {
    format!("By {} alone: {conclusion}", short(key))
}

/// "A leads by union and 5 of 7 criteria".
pub(super) fn leads_by(system: &str, by: &str) -> String {
    format!("{} leads by {by}", short(system))
}

/// "union", "all 7 criteria", or "2 of 4 columns of slop".
pub(super) fn part(count: usize, all: usize, name: &str) -> String {
    if all == 1 {
        return short(name);
    }
    // Two names are plural words already.
    let members = match name {
        "criteria" => name.to_owned(),
        name if name == several(Some(Role::Human)) => name.to_owned(),
        family => format!("columns of {}", short(family)),
    };
    match all == count {
        true => format!("all {all} {members}"),
        false => format!("{count} of {all} {members}"),
    }
}

/// What the columns of a role are called.
pub(super) fn several(role: Option<Role>) -> &'static str {
    match role {
        Some(Role::Human) => "ratings of people",
        Some(Role::Metric) => "metrics",
        None => "columns",
    }
}

// Why there is no winner.

pub(super) fn no_column_counts() -> String {
    "No column is counted: that takes a known direction, values that differ, and no disagreement \
     with the ratings of people."
        .to_owned()
}

pub(super) fn no_lead_survives(tests: usize) -> String {
    format!("No lead survives Holm's correction over {}.", counted(tests, "test", "tests"))
}

pub(super) fn nobody_leads(columns: usize, role: Option<Role>, tests: usize) -> String {
    format!(
        "No system is significantly better than all others by any of the {columns} {} after a \
         correction over all {}.",
        several(role),
        counted(tests, "test", "tests"),
    )
}

pub(super) fn split(role: Option<Role>) -> String {
    format!("Different {} favour different systems.", several(role))
}

/// Which systems are better than the one that leads, and by what.
pub(super) fn contradicted(system: &str, claims: &[(Vec<String>, String)]) -> String {
    let claim = |(names, by): &(Vec<String>, String)| {
        let are = if names.len() == 1 { "is" } else { "are" };
        format!("{} {are} better than it by {by}", joined_short(names))
    };
    let claims: Vec<String> = claims.iter().map(claim).collect();
    format!("{} is not ahead by everything: {}.", short(system), claims.join("; "))
}

pub(super) fn outside_lengths(system: &str, columns: &str, count: usize) -> String {
    let tested = if count == 1 { "it was" } else { "they were" };
    format!(
        "{} leads only by {columns}, and more than half of the stories have other lengths than \
         those that {tested} tested on.",
        short(system),
    )
}

pub(super) fn few_resamples(tests: usize, needed: usize) -> String {
    format!(
        "There are so many tests ({}) that no lead can survive the correction with so few \
         resamples: it takes {}.",
        thousands(tests as u64),
        thousands(needed as u64)
    )
}

/// "A no longer leads", and who does instead.
fn lost(system: &str, now: Option<&str>) -> String {
    match now {
        Some(now) => format!("{} leads instead of {}", short(now), short(system)),
        None => format!("{} no longer leads", short(system)),
    }
}

// Lengths.

pub(super) fn lengths_unknown() -> String {
    "The lengths of the stories are not known, so it is not known whether the lead comes from them."
        .to_owned()
}

/// That lengths differ: the systems with the shortest and the longest stories with their medians,
/// and the column that the lengths are from, if they are no words.
pub(super) fn lengths_differ(
    (shorter, low): (&str, f64),
    (longer, high): (&str, f64),
    column: Option<&str>,
) -> String {
    let unit = column.map_or_else(|| "words".to_owned(), |key| format!("tokens ({})", short(key)));
    let [low, high] = [low, high].map(|median| thousands(median.round() as u64));
    format!(
        "The systems write stories of different lengths: half of those of {} have fewer than {low} \
         {unit}, and half of those of {} have more than {high}.",
        short(shorter),
        short(longer),
    )
}

/// That lengths hardly overlap, where no lead over all columns hangs on it. So many of the leads by
/// single columns are `unclear`: they are those of a system of such a pair.
pub(super) fn apart_without_leader(
    (shorter, longer): (&str, &str),
    more: usize,
    unclear: usize,
    leads: usize,
) -> String {
    let more = match more {
        0 => String::new(),
        1 => ", and so do those of one more pair".to_owned(),
        more => format!(", and so do those of {more} more pairs"),
    };
    let explained = match (unclear, leads) {
        (0, _) => String::new(),
        (1, 1) => ", and length may explain the lead".to_owned(),
        (unclear, all) if unclear == all => format!(", and length may explain all {all} leads"),
        (unclear, all) => format!(", and length may explain {unclear} of the {all} leads"),
    };
    format!(
        "The lengths of the stories of {} and of {} hardly overlap{more}; their comparison cannot \
         be told from length{explained}.",
        short(shorter),
        short(longer)
    )
}

pub(super) fn apart(leader: &str, others: &[String]) -> String {
    format!(
        "The lengths of the stories of {} and of {} hardly overlap, so nothing can tell whether it \
         leads by more than length.",
        short(leader),
        joined_short(others)
    )
}

pub(super) fn lost_by_percentile(system: &str, now: Option<&str>) -> String {
    format!("Compared with human stories of the same length, {}.", lost(system, now))
}

pub(super) fn lost_by_adjustment(system: &str, now: Option<&str>) -> String {
    format!("After an adjustment for length, {}.", lost(system, now))
}

/// That a lead stands although lengths differ: by percentiles, by adjusted values, or by both.
pub(super) fn length_holds(leader: &str, percentiles: bool, adjusted: bool) -> Option<String> {
    let name = short(leader);
    match (percentiles, adjusted) {
        (true, true) => Some(format!(
            "{name} still leads when stories are compared with human stories of the same length, \
             and after an adjustment for length."
        )),
        (true, false) => Some(format!(
            "{name} still leads when stories are compared with human stories of the same length."
        )),
        (false, true) => Some(format!("{name} still leads after an adjustment for length.")),
        (false, false) => None,
    }
}

/// How many of the leads by single columns remain if length is allowed for, where no system leads
/// by the columns together: by adjusted values and by percentiles, each with the number of leads
/// that could be looked at in this way. There are `leads` in all; those of systems whose lengths
/// hardly overlap with others cannot be looked at.
pub(super) fn leads_without_length(
    leads: usize,
    adjusted: Option<[usize; 2]>,
    percentiles: Option<[usize; 2]>,
) -> Option<String> {
    let remain = |[kept, looked_at]: [usize; 2]| {
        let which = match looked_at == leads {
            true => String::new(),
            false => " that can be checked".to_owned(),
        };
        match (kept, looked_at) {
            (0, 1) => format!("the lead{which} is lost"),
            (1, 1) => format!("the lead{which} remains"),
            (0, all) => format!("none of the {all} leads{which} remains"),
            (kept, all) if kept == all => format!("all {all} leads{which} remain"),
            (1, all) => format!("1 of the {all} leads{which} remains"),
            (kept, all) => format!("{kept} of the {all} leads{which} remain"),
        }
    };
    let parts = [
        ("After an adjustment for length", adjusted),
        ("compared with human stories of the same length", percentiles),
    ];
    let known = parts.into_iter().filter_map(|(how, counts)| {
        counts.filter(|[_, looked_at]| *looked_at > 0).map(|counts| (how, counts))
    });
    let said: Vec<String> =
        known.map(|(how, counts)| format!("{how}, {}", remain(counts))).collect();
    (!said.is_empty()).then(|| format!("{}.", super::super::capitalised(&said.join("; "))))
}

// Flags.

/// What many texts of a system have that is not story.
pub(super) fn raised(one: &RaisedFlag) -> String {
    let texts = format!("{} of the texts of {}", percent(one.share), short(&one.system));
    let least = joined_short(&one.least.iter().map(|name| short(name)).collect::<Vec<_>>());
    let others = match (one.share - one.smallest > FLAGS_APART, one.smallest) {
        (false, _) => String::new(),
        (true, 0.0) => format!(", and none of those of {least}"),
        (true, smallest) => format!(", but only {} of those of {least}", percent(smallest)),
    };
    let way_out = match Flag::from_name(&one.flag).is_some_and(Flag::is_cleaned) {
        true => "; the option clean of score removes that",
        false => "",
    };
    format!("{texts} {}{others}{way_out}.", texts_with(&one.flag))
}

/// What texts with a flag do.
fn texts_with(name: &str) -> String {
    let known = match Flag::from_name(name) {
        Some(Flag::Empty) => "are empty",
        Some(Flag::Refusal) => "refuse to write the story",
        Some(Flag::Preamble) => "begin with words to the user",
        Some(Flag::Outro) => "end with words to the user",
        Some(Flag::Prompt) => "repeat the prompt",
        Some(Flag::Markdown) => "have Markdown",
        Some(Flag::Token) => "have tokens of a model, such as <|endoftext|>",
        Some(Flag::TheEnd) => "say \"The End.\"",
        Some(Flag::Cut) => "stop in the middle of a sentence",
        Some(Flag::Kind(TextKind::VeryShort)) => "are very short",
        Some(Flag::Kind(TextKind::Unpunctuated)) => "have no sentence ends",
        Some(Flag::Kind(_)) | None => {
            return format!("look like something else than a story ({})", short(name));
        }
    };
    known.to_owned()
}

pub(super) fn lost_without_flagged(system: &str, now: Option<&str>) -> String {
    format!("Without these stories, {}.", lost(system, now))
}

/// That nothing can tell whether a system leads without the flagged stories.
pub(super) fn unchecked_without_flagged(system: &str, few: &[StoriesLeft]) -> String {
    let too_few = match few.iter().all(|one| one.left == 0) {
        true => "",
        false => ", which is too few to compare them",
    };
    format!(
        "Whether {} still leads without these stories cannot be checked: {} would remain{too_few}.",
        short(system),
        left_of(few)
    )
}

pub(super) fn few_unflagged(few: &[StoriesLeft]) -> String {
    super::super::capitalised(&format!("{} would remain without them.", left_of(few)))
}

/// "none of the 24 stories of a and only 3 of 24 stories of b".
fn left_of(few: &[StoriesLeft]) -> String {
    let part = |StoriesLeft { system, left, stories }: &StoriesLeft| {
        let stories = counted(*stories, "story", "stories");
        match left {
            0 => format!("none of the {stories} of {}", short(system)),
            left => format!("only {left} of {stories} of {}", short(system)),
        }
    };
    joined(&few.iter().map(part).collect::<Vec<_>>())
}

// Signs, metrics beside ratings, and people.

/// That a metric runs against the ratings.
pub(super) fn backwards(key: &str, criterion: &str, r: f64, stories: usize) -> String {
    format!(
        "{} agrees the wrong way with the ratings of these stories (r = {r:.2} with {}, {}), so it \
         is not counted.",
        short(key),
        short(criterion),
        counted(stories, "story", "stories")
    )
}

/// Why a column is not counted, as a cell of a table says it; `None` if it is.
pub fn not_counted(vote: &Vote) -> Option<String> {
    Some(match vote {
        Vote::Votes => return None,
        Vote::NoDirection => "not counted: its direction is not known".to_owned(),
        Vote::Constant => "not counted: all values are equal".to_owned(),
        Vote::Backwards { criterion, r, .. } => {
            format!("not counted: it runs against the ratings of {criterion} (r = {r:.2})")
        }
    })
}

/// Where people decide: what the metrics say.
pub(super) fn metrics_beside_people(leads: &[String]) -> String {
    format!("The ratings of people decide. By the metrics, {}.", leads.join("; "))
}

/// Where the stories of people stand beside those of machines: by how many of the columns they are
/// better than those of all machines, and by how many worse than those of some.
pub(super) fn people(name: &str, above: usize, below: usize, columns: usize) -> String {
    let worse = match below {
        0 => String::new(),
        _ => format!(", and worse than those of some machine by {below}"),
    };
    format!(
        "The stories of {} are better than those of all machines by {above} of {}{worse}.",
        short(name),
        counted(columns, "column", "columns")
    )
}

// Trust.

/// How far some columns can be trusted: what they say of themselves, and how these stories differ.
pub(super) fn trusted(columns: &str, trust: &ColumnTrust) -> String {
    let mut text = trust.validity.sentence(columns);
    let mut unlike = Vec::new();
    if let Some(outside) = trust.many_outside() {
        unlike.push(format!("{} of these stories have other lengths", percent(outside)));
    }
    if let Some(flag) = trust.many_flagged() {
        unlike.push(format!("{} of the texts {}", percent(flag.share), texts_with(&flag.flag)));
    }
    if !unlike.is_empty() {
        text.push_str(&format!(" Here, {}.", joined(&unlike)));
    }
    text
}

/// That the stories are others than those that some columns were tested on, in one line.
pub(super) fn unlike_tested(columns: &str, count: usize) -> String {
    let tested = if count == 1 { "was" } else { "were" };
    format!("Warning: many of these stories are unlike those on which {columns} {tested} tested.")
}

/// That columns were tested at all only on some stories, in one line.
pub(super) fn tested_on_some(columns: &str, count: usize) -> String {
    let tested = if count == 1 { "was" } else { "were" };
    format!("{columns} {tested} only tested on some kinds of story, and may be wrong on others.")
}

// The table and the page.

/// The key of a column with the direction that is better.
pub fn key_with_arrow(key: &str, direction: Direction) -> String {
    match direction {
        Direction::Higher => format!("{key} ↑"),
        Direction::Lower => format!("{key} ↓"),
        Direction::None => key.to_owned(),
    }
}

/// The means of a cell of the matrix that allow for length: the adjusted one, and the percentile.
pub fn means_beside(adjusted: Option<&str>, percentile: Option<f64>) -> String {
    let parts = [
        adjusted.map(|mean| format!("adj. {mean}")),
        percentile.map(|share| format!("above {}", percent(share))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// That the tables of a page leave columns out, which the verdict looks at.
pub fn columns_left_out(shown: usize, all: usize, what: &str) -> String {
    format!("The tables have {shown} of {all} {what}; the verdict is about all of them.")
}

/// What the signs of the matrix mean, those that are used.
pub(super) fn legend(signs: &[LeadSign], tests: usize, with_length: bool) -> String {
    let tests = match tests {
        1 => "for the one test".to_owned(),
        tests => format!("over all {tests} tests of the table"),
    };
    let meaning = |sign: LeadSign| match sign {
        LeadSign::Leads => {
            format!("significantly better than all others, also after Holm's correction {tests}")
        }
        LeadSign::Led => {
            "better than all others by this row alone, but not after that correction".to_owned()
        }
        LeadSign::Shares => {
            "shares the lead: better than some others, but not than each other".to_owned()
        }
    };
    let used = LeadSign::ALL.into_iter().filter(|sign| signs.contains(sign));
    let mut parts: Vec<String> =
        used.map(|sign| format!("{} {}.", sign.symbol(), meaning(sign))).collect();
    if signs.is_empty() {
        parts.push("No system leads by any row.".to_owned());
    }
    parts.push("↑ higher is better, ↓ lower is better.".to_owned());
    parts.push("Small numbers: the 95% interval of the mean.".to_owned());
    if with_length {
        parts.push(format!("adj.: {}; above: {}.", adjusted_meaning(), percentile_meaning()));
    }
    parts.join(" ")
}

/// What a mean is that is adjusted for length.
pub(in crate::view) fn adjusted_meaning() -> &'static str {
    "the mean of the scores less what the logarithm of the number of words explains of them (one \
     slope for all systems)"
}

/// What a percentile at the length of the story is.
pub(in crate::view) fn percentile_meaning() -> &'static str {
    "the mean share of human stories of the same length that score lower"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leads_are_counted_in_words_that_fit_their_number() {
        let said = |leads, adjusted, percentiles| {
            leads_without_length(leads, adjusted, percentiles).unwrap_or_default()
        };
        assert_eq!(
            said(1, Some([1, 1]), None),
            "After an adjustment for length, the lead remains."
        );
        assert_eq!(
            said(1, Some([0, 1]), None),
            "After an adjustment for length, the lead is lost."
        );
        assert_eq!(
            said(8, Some([1, 8]), Some([0, 2])),
            "After an adjustment for length, 1 of the 8 leads remains; compared with human stories \
             of the same length, none of the 2 leads that can be checked remains."
        );
        assert_eq!(
            said(8, None, Some([8, 8])),
            "Compared with human stories of the same length, all 8 leads remain."
        );
        assert_eq!(said(2, Some([0, 0]), None), "");
        let apart = |unclear, leads| apart_without_leader(("a", "b"), 0, unclear, leads);
        assert!(apart(0, 0).ends_with("cannot be told from length."));
        assert!(apart(1, 1).ends_with(", and length may explain the lead."));
        assert!(apart(2, 2).ends_with(", and length may explain all 2 leads."));
        assert!(apart(1, 3).ends_with(", and length may explain 1 of the 3 leads."));
        assert_eq!([part(1, 1, "union"), part(7, 7, "criteria")], ["union", "all 7 criteria"]);
        assert_eq!(part(2, 4, "slop"), "2 of 4 columns of slop");
        assert_eq!(part(1, 2, "ratings of people"), "1 of 2 ratings of people");
        assert_eq!(means_beside(Some("0.61"), Some(0.432)), "adj. 0.61; above 43%");
        assert_eq!(means_beside(None, None), "");
        assert_eq!(
            columns_left_out(12, 40, "metrics"),
            "The tables have 12 of 40 metrics; the verdict is about all of them."
        );
    }
}
