//! What all columns of a comparison say together: who leads by what, and whether that may be said.
//!
//! A reader of a comparison looks at all columns at once, and wants to know which system is best. A
//! [`Verdict`] names one only if the evidence carries it: the lead survives a correction over all
//! columns and pairs, no other system is better by any of these columns, and the lead does not
//! hang on the length of the stories or on what surrounds them. Otherwise it has the reasons. There
//! are no sentences here; [`crate::view`] puts a verdict into words.

mod decide;
mod flags;
mod length;
mod profile;
mod recheck;
mod signs;
mod trust;

use serde::{Deserialize, Serialize};
use storymeter_core::{Direction, Key, Role, ScoreTable, Validity};
use storymeter_stats::Interval;

use self::decide::{Ballots, decide};
pub(crate) use self::profile::is_people;
use self::profile::{Stories, profiles};
pub use self::trust::StoryCounts;
use super::{Caution, Options, SystemComparison};
use crate::error::Result;
use crate::outcome::{Outcome, written};

/// Medians of words whose ratio is above this one differ.
pub const LENGTH_RATIO: f64 = 1.3;

/// A flag that more than this share of the stories of a system have is worth a word.
pub const FLAGGED: f64 = 0.05;

/// Two systems whose shares of a flag are further apart than this have different habits.
pub const FLAGS_APART: f64 = 0.1;

/// A column is used outside of what it was tested on if more than this share of the stories have
/// other lengths, or if one flag is on more than this share of the texts.
pub const OUTSIDE: f64 = 0.1;

/// A column makes no winner by itself if more than this share of the stories is of other lengths
/// than those that it was tested on.
pub const MOSTLY_OUTSIDE: f64 = 0.5;

/// What all columns of a comparison say together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Which system is best, if that can be said.
    pub outcome: VerdictOutcome,
    /// Why no system is called the best; empty if one is.
    pub reasons: Vec<Reason>,
    /// The system that leads by the columns alone. It is not the winner if length or flags take its
    /// lead away.
    pub leader: Option<String>,
    /// Whether the user named the columns.
    pub chosen: bool,
    /// Whose columns decide: if people rated the stories, metrics do not.
    pub deciding: Option<Role>,
    /// The systems in the order of the table.
    pub systems: Vec<SystemProfile>,
    /// The columns, ratings of people first.
    pub columns: Vec<ColumnVerdict>,
    /// The columns that vote, with the members of one family together.
    pub groups: Vec<ColumnGroup>,
    /// The lengths of the stories.
    pub length: LengthCheck,
    /// What else than story the texts have.
    pub flags: FlagCheck,
    /// The number of tests, of all pairs by all columns that vote. Holm's correction over them says
    /// which leads survive.
    pub tests: usize,
    /// The significance level.
    pub level: f64,
}

/// Which system is best, if that can be said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum VerdictOutcome {
    /// One system is best.
    Winner {
        /// Its name.
        system: String,
    },
    /// There are systems to compare, and none can be called the best.
    NoClearWinner,
    /// There are not two systems with values.
    NothingToCompare,
}

/// Why no system is called the best.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
    /// No column has a direction and values that differ, or all of them run against the ratings.
    NoVote,
    /// No system is better than all others by any column that decides.
    NobodyLeads,
    /// Different systems lead by different columns.
    Split {
        /// The systems that lead by a column.
        leaders: Vec<String>,
    },
    /// Another system is better than the one that leads, by some columns.
    Contradicted {
        /// The system that leads by other columns.
        system: String,
        /// Who is better, and by what.
        by: Vec<Contradiction>,
    },
    /// The system leads only by columns that were not tested on stories of these lengths.
    OutsideLengths {
        /// The system that leads.
        system: String,
        /// The columns.
        columns: Vec<Key>,
    },
    /// So few resamples that no lead could survive the correction.
    FewResamples {
        /// The number of tests.
        tests: usize,
        /// The smallest number of resamples with which a lead could survive.
        needed: usize,
    },
    /// The lengths of two systems hardly overlap, so that the lead cannot be told from length.
    LengthsApart {
        /// The system that leads.
        system: String,
        /// The other system.
        other: String,
    },
    /// The lead is lost among human stories of the same length.
    LostByPercentile {
        /// The system that leads without regard to length.
        system: String,
        /// The system that leads by percentiles, if one does.
        now: Option<String>,
    },
    /// The lead is lost if the values are adjusted for length.
    LostByAdjustment {
        /// The system that leads without regard to length.
        system: String,
        /// The system that leads by adjusted values, if one does.
        now: Option<String>,
    },
    /// The lead is lost without the flagged stories.
    LostWithoutFlagged {
        /// The system that leads by all stories.
        system: String,
        /// The system that leads by the other stories, if one does.
        now: Option<String>,
    },
    /// Whether the lead is lost without the flagged stories cannot be tested.
    UncheckedWithoutFlagged {
        /// The system that leads by all stories.
        system: String,
        /// The systems of which too few stories are left to compare them.
        few: Vec<StoriesLeft>,
    },
    /// Fewer than half of the stories of the system that leads are without the flags.
    FewUnflagged {
        /// The system that leads.
        system: String,
        /// The number of its stories without the flags.
        left: usize,
        /// The number of its stories.
        stories: usize,
    },
}

/// How many stories of a system are without the flags that are worth a word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoriesLeft {
    /// The system.
    pub system: String,
    /// The number of its stories without the flags.
    pub left: usize,
    /// The number of its stories.
    pub stories: usize,
}

/// A system that is better than the one that leads, by one column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contradiction {
    /// The column.
    pub column: Key,
    /// The system that is better by it.
    pub better: String,
}

/// One system: its lengths and its flags.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SystemProfile {
    /// Its name.
    pub name: String,
    /// Whether its stories are by people. Beside several machines it does not compete.
    pub is_people: bool,
    /// The number of its stories.
    pub stories: usize,
    /// The lengths of its stories, if they are known.
    pub words: Option<WordCounts>,
    /// The flags of its stories, in the order of their names.
    pub flags: Vec<FlagShare>,
}

/// The lengths of the stories of a system.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WordCounts {
    /// The number of stories whose length is known.
    pub stories: usize,
    /// A tenth of the stories are shorter.
    pub low: f64,
    /// A quarter of the stories are shorter.
    pub lower_quartile: f64,
    /// Half of the stories are shorter.
    pub median: f64,
    /// A quarter of the stories are longer.
    pub upper_quartile: f64,
    /// A tenth of the stories are longer.
    pub high: f64,
}

/// How many stories of a system have a flag.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlagShare {
    /// The name of the flag.
    pub flag: String,
    /// The number of stories.
    pub stories: usize,
    /// Their share of the stories of the system.
    pub share: f64,
}

/// One column of a comparison, as the verdict sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColumnVerdict {
    /// The metric or criterion.
    pub key: Key,
    /// Whether people or a metric gave the values.
    pub role: Role,
    /// Whether more is better.
    pub direction: Direction,
    /// Whether the column is counted.
    pub vote: Vote,
    /// Who leads by this column alone.
    pub lead: Lead,
    /// Who still leads after the correction over all columns and pairs. `None` if the column does
    /// not vote.
    pub survives: Option<Lead>,
    /// The systems by this column, best first.
    pub means: Vec<ColumnMean>,
    /// How many machines the stories of people are better than, and how many are better than
    /// them, if people do not compete. This is after the correction over all columns and pairs.
    pub people: Option<PeoplePlace>,
    /// How far the numbers can be trusted here, if the column says so.
    pub trust: Option<ColumnTrust>,
}

/// Whether a column is counted in a verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Vote {
    /// It is.
    Votes,
    /// It is not known whether more is better.
    NoDirection,
    /// All values are equal.
    Constant,
    /// It runs against the ratings of the same stories.
    Backwards {
        /// The criterion with which it disagrees most.
        criterion: Key,
        /// Pearson's correlation with it.
        r: f64,
        /// The number of stories.
        stories: usize,
    },
}

/// Who leads by a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Lead {
    /// One system is significantly better than all others.
    Alone {
        /// The system.
        system: String,
    },
    /// Systems of which the first is better than some others, but not than each other.
    Shared {
        /// The systems, best first.
        systems: Vec<String>,
    },
    /// No system with the best mean is better than another.
    Nobody,
}

impl Lead {
    /// The system that leads alone.
    pub fn alone(&self) -> Option<&str> {
        match self {
            Self::Alone { system } => Some(system),
            _ => None,
        }
    }
}

/// The mean of a system by a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColumnMean {
    /// The system.
    pub system: String,
    /// The number of its stories that have a value.
    pub stories: usize,
    /// The mean over the stories.
    #[serde(with = "written")]
    pub mean: Outcome<f64>,
    /// The interval of the mean.
    #[serde(with = "written")]
    pub interval: Outcome<Interval>,
}

/// Where the stories of people stand by a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeoplePlace {
    /// The number of machines that people are better than.
    pub better_than: usize,
    /// The number of machines that are better than people.
    pub worse_than: usize,
    /// The number of machines.
    pub machines: usize,
}

/// How far the numbers of a column can be trusted for the stories that it scored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ColumnTrust {
    /// What the column says of itself.
    pub validity: Validity,
    /// The share of stories of other lengths than those that it was tested on, of the stories
    /// whose length is known; `None` if none is.
    pub outside: Option<f64>,
    /// The most frequent flag of the texts, other than `cut` and `markdown`, which stories by
    /// people have, too.
    pub flag: Option<FlagShare>,
    /// Whether one of these shares is so large that the line is a warning.
    pub warns: bool,
    /// Whether the column may make a winner by itself.
    pub decides: bool,
}

/// The columns of one family that vote, together: "5 of 7 criteria".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnGroup {
    /// The metric of the family, or the key of a column that stands alone. The ratings of people
    /// are one group, which is called `human` if there are several.
    pub name: String,
    /// Whether people or metrics gave the values.
    pub role: Role,
    /// The number of columns that vote.
    pub columns: usize,
    /// The systems that lead by some of them after the correction over all columns and pairs, with
    /// the number of columns; those with more columns first.
    pub leads: Vec<(String, usize)>,
}

/// Whether the systems can be compared although their lengths may differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LengthCheck {
    /// Where the lengths are from.
    pub source: LengthSource,
    /// The two systems whose medians differ most, if the lengths of two are known.
    pub widest: Option<LengthPair>,
    /// Whether their ratio is above [`LENGTH_RATIO`].
    pub differs: bool,
    /// The pairs of systems whose lengths hardly overlap: nine tenths of the stories of one are
    /// shorter than nine tenths of those of the other.
    pub apart: Vec<LengthPair>,
    /// The comparison by the share of human stories of the same length with a smaller value, by
    /// the columns that have such shares; made if the lengths differ.
    pub percentiles: Option<Recheck>,
    /// The comparison by values from which the effect of length was subtracted; made if the
    /// lengths differ.
    pub adjusted: Option<Recheck>,
}

/// Where the lengths of the stories are from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LengthSource {
    /// The scores say how many words each story has.
    Words,
    /// A column of the table has the length.
    Column(Key),
    /// The lengths of at least half of the stories of some system are not known.
    Unknown,
}

/// Two systems with different lengths.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LengthPair {
    /// The system with the shorter stories.
    pub shorter: String,
    /// The system with the longer stories.
    pub longer: String,
    /// The ratio of the medians, at least 1.
    pub ratio: f64,
}

/// What else than story the texts have, and whether that matters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlagCheck {
    /// Whether the texts were looked at when they were scored.
    pub known: bool,
    /// The flags that more than [`FLAGGED`] of the stories of a system have, except for `cut`, and
    /// those by whose shares two systems differ by more than [`FLAGS_APART`].
    pub raised: Vec<RaisedFlag>,
    /// The comparison without the stories that have one of these flags; made if there are any.
    pub without: Option<Recheck>,
    /// The number of stories of each system that this comparison leaves, in the order of the
    /// systems; empty if it was not made.
    pub left: Vec<usize>,
}

/// A flag that is worth a word.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RaisedFlag {
    /// The name of the flag.
    pub flag: String,
    /// The system with the largest share.
    pub system: String,
    /// Its share.
    pub share: f64,
    /// The smallest share of any system.
    pub smallest: f64,
    /// The systems that have the smallest share.
    pub least: Vec<String>,
}

/// The comparison made once more, with other values or fewer stories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recheck {
    /// The columns that it was made with.
    pub columns: Vec<RecheckedColumn>,
    /// The system that leads by all columns together, if one does. Columns without other values
    /// keep those that they have.
    pub leader: Option<String>,
    /// The pairs of systems that have too few stories here to be tested by any column, although
    /// they were tested by all stories.
    pub untested: Vec<(String, String)>,
}

/// One column of a [`Recheck`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecheckedColumn {
    /// The metric or criterion.
    pub key: Key,
    /// Whether people or a metric gave the values.
    pub role: Role,
    /// Who leads after the correction over all columns and pairs.
    pub lead: Lead,
    /// The systems, best first.
    pub means: Vec<ColumnMean>,
}

impl Verdict {
    /// The winner, if there is one.
    pub fn winner(&self) -> Option<&str> {
        match &self.outcome {
            VerdictOutcome::Winner { system } => Some(system),
            _ => None,
        }
    }
}

/// The lengths and flags of each system of a table, where there is no comparison.
///
/// # Errors
/// Returns an error if only some stories have a system.
pub fn system_profiles(table: &ScoreTable) -> Result<Vec<SystemProfile>> {
    Ok(profiles(&Stories::of_table(table, &[], &Options::default())?))
}

/// What the comparisons of a table by all its columns say together.
///
/// The comparisons are those that [`compare`](super::compare) made of the same table with the same
/// options.
///
/// # Errors
/// Returns an error if only some stories have a system, or a number is too large.
pub fn verdict(
    table: &ScoreTable,
    found: &[SystemComparison],
    options: &Options,
) -> Result<Verdict> {
    let stories = Stories::of_table(table, found, options)?;
    let systems = profiles(&stories);
    let mut columns = columns(&stories, found, options)?;
    let voting: Vec<&SystemComparison> = columns
        .iter()
        .filter(|(_, one)| one.vote == Vote::Votes)
        .map(|(found, _)| *found)
        .collect();
    let ballots = Ballots::new(&stories, &columns, voting.clone(), options)?;
    for (found, column) in &mut columns {
        let Some(at) = voting.iter().position(|one| std::ptr::eq(*one, *found)) else { continue };
        column.survives = Some(ballots.lead(at));
        column.people = ballots.people(at);
    }
    let decided = decide(&ballots, options);
    let mut reasons = decided.as_ref().err().cloned().unwrap_or_default();
    let leader = decided.ok();
    let length = length::check(&stories, &systems, &ballots, options)?;
    let flags = flags::check(&stories, &systems, &ballots, options)?;
    if let Some(leader) = &leader {
        reasons.extend(length.reasons(leader));
        reasons.extend(flags.reasons(leader, &systems));
    }
    let compared =
        found.iter().any(|one| one.systems.iter().filter(|system| system.mean.is_ok()).count() > 1);
    let outcome = match &leader {
        _ if !compared => VerdictOutcome::NothingToCompare,
        Some(system) if reasons.is_empty() => VerdictOutcome::Winner { system: system.clone() },
        _ => VerdictOutcome::NoClearWinner,
    };
    Ok(Verdict {
        reasons: if compared { reasons } else { Vec::new() },
        outcome,
        leader,
        chosen: !options.columns.is_empty(),
        deciding: ballots.deciding(),
        groups: ballots.groups(),
        tests: ballots.tests(),
        level: options.method().level(),
        systems,
        columns: columns.into_iter().map(|(_, column)| column).collect(),
        length,
        flags,
    })
}

/// The columns of the comparisons, ratings of people first, without the correction over all.
fn columns<'a>(
    stories: &Stories<'_>,
    found: &'a [SystemComparison],
    options: &Options,
) -> Result<Vec<(&'a SystemComparison, ColumnVerdict)>> {
    let mut ordered: Vec<&SystemComparison> = found.iter().collect();
    ordered.sort_by_key(|one| one.column.role != Role::Human);
    let backwards = signs::backwards(stories, &ordered, options)?;
    let column = |(one, backwards): (&'a SystemComparison, Option<Vote>)| {
        let vote = match one.column.direction {
            Direction::None => Vote::NoDirection,
            _ if one.cautions.contains(&Caution::Constant) => Vote::Constant,
            _ => backwards.unwrap_or(Vote::Votes),
        };
        let better = |one_name: &str, other: &str| {
            one.pair(one_name, other).is_some_and(|pair| pair.verdict() == Some((one_name, other)))
        };
        let column = ColumnVerdict {
            key: one.column.key.clone(),
            role: one.column.role,
            direction: one.column.direction,
            vote,
            lead: decide::lead(one, &stories.competing, &better),
            survives: None,
            means: means(one),
            people: None,
            trust: trust::trust(stories, one),
        };
        (one, column)
    };
    Ok(ordered.into_iter().zip(backwards).map(column).collect())
}

fn means(found: &SystemComparison) -> Vec<ColumnMean> {
    let mean = |system: &super::RankedSystem| ColumnMean {
        system: system.name.clone(),
        stories: system.stories,
        mean: system.mean.clone(),
        interval: system.interval.clone(),
    };
    found.systems.iter().map(mean).collect()
}
