//! A verdict in words: every sentence about one that the program can print.

use std::fmt;

use serde::Serialize;
use storymeter_core::number::{percent, thousands};
use storymeter_core::{Key, Role};

use super::conclusion::{conclusion, counted, short};
use super::words::{joined, joined_short};
use crate::systems::SystemComparison;
use crate::systems::verdict::{
    ColumnGroup, ColumnVerdict, FLAGS_APART, FlagCheck, LengthCheck, LengthPair, LengthSource,
    PeoplePlace, RaisedFlag, Reason, Recheck, Trust, Verdict, VerdictOutcome, Vote,
};

/// A verdict in words.
///
/// Names stand in the sentences as they are in the data, at most 60 characters of each. Whoever
/// shows them on a terminal or a page must escape them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VerdictWords {
    /// Who is best, or that nobody is.
    pub headline: String,
    /// Why, and what a reader should know, the most important first.
    pub details: Vec<String>,
    /// How far the columns can be trusted, for the columns that say so.
    pub trust: Vec<TrustLine>,
    /// The same in one line, where room is short.
    pub trust_in_brief: Option<String>,
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

/// Puts a verdict into words. The comparisons are those that it is about.
pub fn verdict_words(verdict: &Verdict, found: &[SystemComparison]) -> VerdictWords {
    let words = Words { verdict };
    VerdictWords {
        headline: words.headline(found),
        details: words.details(),
        trust: words.trust(),
        trust_in_brief: words.trust_in_brief(),
    }
}

struct Words<'a> {
    verdict: &'a Verdict,
}

impl Words<'_> {
    fn headline(&self, found: &[SystemComparison]) -> String {
        let verdict = self.verdict;
        if let Some(sentence) = self.of_one_column(found) {
            return sentence;
        }
        match &verdict.outcome {
            VerdictOutcome::NothingToCompare => {
                "There are no two systems with values, so there is nothing to compare.".to_owned()
            }
            VerdictOutcome::Winner { system } => {
                let by = self.led_by(system, verdict.deciding);
                let none = match self.columns(verdict.deciding) {
                    1 => String::new(),
                    all => {
                        let of = several(verdict.deciding);
                        format!("; no other system is better than it by any of the {all} {of}")
                    }
                };
                format!("{} leads by {by}{none}.", short(system))
            }
            VerdictOutcome::NoClearWinner => match self.leads(verdict.deciding).as_slice() {
                [] => "No clear winner.".to_owned(),
                leads => format!("No clear winner: {}.", leads.join("; ")),
            },
        }
    }

    /// The conclusion of the only column that matters, unless the verdict takes it back.
    fn of_one_column(&self, found: &[SystemComparison]) -> Option<String> {
        let votes = |one: &&ColumnVerdict| one.vote == Vote::Votes;
        let voting: Vec<&ColumnVerdict> = self.verdict.columns.iter().filter(votes).collect();
        let column = match (voting.as_slice(), self.verdict.columns.as_slice()) {
            ([only], _) => *only,
            ([], [only]) => only,
            _ => return None,
        };
        let own = found
            .iter()
            .find(|one| one.column.key == column.key && one.column.role == column.role)?;
        let is_claim = column.lead.alone().is_some() && self.verdict.winner().is_none();
        if !is_claim || column.vote == Vote::NoDirection {
            return Some(conclusion(own));
        }
        let best = column.lead.alone().map(short).unwrap_or_default();
        let key = short(column.key.as_str());
        Some(format!(
            "No clear winner by {key}: {best} has the best mean, but that may have \
             other reasons than better stories."
        ))
    }

    /// What a system leads by: "union and 5 of 7 criteria".
    fn led_by(&self, system: &str, role: Option<Role>) -> String {
        let groups = self.verdict.groups.iter().filter(|group| Some(group.role) == role);
        let led = groups.filter_map(|group| {
            let (_, count) = group.leads.iter().find(|(name, _)| name == system)?;
            Some(part(*count, group))
        });
        joined_short(&led.collect::<Vec<_>>())
    }

    /// The number of columns of a role that have a say.
    fn columns(&self, role: Option<Role>) -> usize {
        let groups = self.verdict.groups.iter().filter(|group| Some(group.role) == role);
        groups.map(|group| group.columns).sum()
    }

    /// "A leads by union and 5 of 7 criteria", for each system that leads by something.
    fn leads(&self, role: Option<Role>) -> Vec<String> {
        let mut systems: Vec<&str> = Vec::new();
        let groups = || self.verdict.groups.iter().filter(|group| Some(group.role) == role);
        for (system, _) in groups().flat_map(|group| &group.leads) {
            if !systems.contains(&system.as_str()) {
                systems.push(system);
            }
        }
        let sentence =
            |system: &&str| format!("{} leads by {}", short(system), self.led_by(system, role));
        systems.iter().map(sentence).collect()
    }

    fn details(&self) -> Vec<String> {
        let verdict = self.verdict;
        if verdict.outcome == VerdictOutcome::NothingToCompare {
            return Vec::new();
        }
        let of_length = |reason: &&Reason| {
            matches!(
                reason,
                Reason::LengthsApart { .. }
                    | Reason::LostByPercentile { .. }
                    | Reason::LostByAdjustment { .. }
            )
        };
        let of_flags = |reason: &&Reason| {
            matches!(reason, Reason::LostWithoutFlagged { .. } | Reason::FewUnflagged { .. })
        };
        let (length, others): (Vec<&Reason>, Vec<&Reason>) =
            verdict.reasons.iter().partition(of_length);
        let (flags, others): (Vec<&Reason>, Vec<&Reason>) = others.into_iter().partition(of_flags);
        let mut details = self.length(&verdict.length);
        details.extend(length_reasons(&length));
        details.extend(verdict.leader.as_ref().and_then(|one| length_holds(&verdict.length, one)));
        details.extend(self.flags(&verdict.flags));
        details.extend(flags.iter().filter_map(|reason| self.reason(reason)));
        details.extend(others.iter().filter_map(|reason| self.reason(reason)));
        details.extend(verdict.columns.iter().filter_map(backwards));
        details.extend(self.metrics_beside_people());
        details.extend(self.people());
        details
    }

    fn length(&self, check: &LengthCheck) -> Vec<String> {
        if check.source == LengthSource::Unknown {
            let unknown = "The lengths of the stories are not known, so it is not known whether \
                           the lead comes from them.";
            return self.verdict.leader.iter().map(|_| unknown.to_owned()).collect();
        }
        let Some(pair) = check.widest.as_ref().filter(|_| check.differs) else { return Vec::new() };
        let median = |name: &str| {
            let system = self.verdict.systems.iter().find(|one| one.name == name);
            let median = system.and_then(|one| one.words).map_or(0.0, |words| words.median);
            thousands(median.round() as u64)
        };
        let unit = match &check.source {
            LengthSource::Column(key) => format!("tokens ({})", short(key.as_str())),
            _ => "words".to_owned(),
        };
        let mut sentences = vec![format!(
            "The systems write stories of different lengths: half of those of {} have fewer than \
             {} {unit}, and half of those of {} have more than {}.",
            short(&pair.shorter),
            median(&pair.shorter),
            short(&pair.longer),
            median(&pair.longer),
        )];
        if self.verdict.leader.is_none() {
            sentences.extend(apart_anyway(&check.apart));
        }
        sentences
    }

    fn flags(&self, check: &FlagCheck) -> Vec<String> {
        let mut most_first: Vec<&RaisedFlag> = check.raised.iter().collect();
        most_first.sort_by(|a, b| b.share.total_cmp(&a.share));
        most_first.into_iter().map(raised).collect()
    }

    /// The sentence for a reason, unless the headline has said it.
    fn reason(&self, reason: &Reason) -> Option<String> {
        let role = self.verdict.deciding;
        Some(match reason {
            // One column is spoken of in the headline.
            Reason::NoVote if self.verdict.columns.len() == 1 => return None,
            Reason::NoVote => "No column has a say: that takes a known direction, values that \
                               differ, and no disagreement with the ratings of people."
                .to_owned(),
            Reason::NobodyLeads | Reason::FewResamples { .. }
                if self.has_one_vote() && !self.is_claimed() =>
            {
                return None;
            }
            Reason::NobodyLeads if self.has_one_vote() => format!(
                "No lead survives Holm's correction over {}.",
                counted(self.verdict.tests, "test", "tests")
            ),
            Reason::NobodyLeads => format!(
                "No system is significantly better than all others by any of the {} {} after a \
                 correction over all {}.",
                self.columns(role),
                several(role),
                counted(self.verdict.tests, "test", "tests"),
            ),
            Reason::Split { .. } => {
                format!("Different {} favour different systems.", several(role))
            }
            Reason::Contradicted { system, by } => {
                let mut claims: Vec<(Vec<&Key>, Vec<String>)> = Vec::new();
                let mut systems: Vec<&str> = by.iter().map(|one| one.better.as_str()).collect();
                systems.sort_by_key(|name| by.iter().position(|one| one.better == *name));
                systems.dedup();
                for better in systems {
                    let own = by.iter().filter(|one| one.better == better);
                    let keys: Vec<&Key> = own.map(|one| &one.column).collect();
                    match claims.iter_mut().find(|(known, _)| *known == keys) {
                        Some((_, names)) => names.push(short(better)),
                        None => claims.push((keys, vec![short(better)])),
                    }
                }
                let claim = |(keys, names): &(Vec<&Key>, Vec<String>)| {
                    let are = if names.len() == 1 { "is" } else { "are" };
                    format!("{} {are} better than it by {}", joined_short(names), self.named(keys))
                };
                let claims: Vec<String> = claims.iter().map(claim).collect();
                format!("{} is not ahead by everything: {}.", short(system), claims.join("; "))
            }
            Reason::OutsideLengths { system, columns } => {
                let keys: Vec<&Key> = columns.iter().collect();
                let tested = if keys.len() == 1 { "it was" } else { "they were" };
                format!(
                    "{} leads only by {}, and more than half of the stories have other lengths \
                     than those that {tested} tested on.",
                    short(system),
                    self.named(&keys)
                )
            }
            Reason::FewResamples { tests, needed } => format!(
                "There are so many tests ({}) that no lead can survive the correction with so few \
                 resamples: it takes {}.",
                thousands(*tests as u64),
                thousands(*needed as u64)
            ),
            Reason::LostWithoutFlagged { system, now } => {
                format!("Without these stories, {}.", lost(system, now.as_deref()))
            }
            Reason::FewUnflagged { system, left, stories } => format!(
                "Only {left} of {} of {} would remain without them.",
                counted(*stories, "story", "stories"),
                short(system)
            ),
            Reason::LengthsApart { .. }
            | Reason::LostByPercentile { .. }
            | Reason::LostByAdjustment { .. } => return None,
        })
    }

    /// These columns, with the members of a family together.
    fn named(&self, keys: &[&Key]) -> String {
        let mut names: Vec<(String, Option<&ColumnGroup>, usize)> = Vec::new();
        for key in keys {
            let group = self.verdict.groups.iter().find(|group| {
                let is_ratings = group.role == Role::Human && group.columns > 1;
                let is_rated = self
                    .verdict
                    .columns
                    .iter()
                    .any(|one| one.key == **key && one.role == Role::Human);
                (is_ratings && is_rated)
                    || (group.columns > 1 && !is_rated && group.name == key.metric())
            });
            match names.iter_mut().find(|(_, known, _)| group.is_some() && *known == group) {
                Some((_, _, count)) => *count += 1,
                None => names.push((short(key.as_str()), group, 1)),
            }
        }
        let named = |(key, group, count): &(String, Option<&ColumnGroup>, usize)| match group {
            Some(group) => part(*count, group),
            None => key.clone(),
        };
        let parts: Vec<String> = names.iter().map(named).collect();
        joined_short(&parts)
    }

    /// Where people decide: what the metrics say.
    fn metrics_beside_people(&self) -> Option<String> {
        if self.verdict.deciding != Some(Role::Human) {
            return None;
        }
        let leads = self.leads(Some(Role::Metric));
        (!leads.is_empty())
            .then(|| format!("The ratings of people decide. By the metrics, {}.", leads.join("; ")))
    }

    /// Where the stories of people stand beside those of machines.
    fn people(&self) -> Option<String> {
        let competing = |one: &&PeoplePlace| one.machines > 0;
        let places: Vec<PeoplePlace> = self
            .verdict
            .columns
            .iter()
            .filter_map(|column| column.people.as_ref().filter(competing).copied())
            .collect();
        if self.has_one_vote() {
            return None;
        }
        let name = &self.verdict.systems.iter().find(|one| one.is_people)?.name;
        let count = |is: &dyn Fn(&PeoplePlace) -> bool| places.iter().filter(|one| is(one)).count();
        let above = count(&|one| one.better_than == one.machines);
        let below = count(&|one| one.worse_than > 0);
        let columns = counted(places.len(), "column", "columns");
        (!places.is_empty()).then(|| {
            let worse = match below {
                0 => String::new(),
                _ => format!(", and worse than those of some machine by {below}"),
            };
            format!(
                "The stories of {} are better than those of all machines by {above} of \
                 {columns}{worse}.",
                short(name)
            )
        })
    }

    /// Whether the conclusion of one column is the headline, which speaks of people itself.
    fn has_one_vote(&self) -> bool {
        self.verdict.columns.iter().filter(|one| one.vote == Vote::Votes).count() == 1
    }

    /// Whether some system leads by a column that votes, before the correction over all.
    fn is_claimed(&self) -> bool {
        let mut voting = self.verdict.columns.iter().filter(|one| one.vote == Vote::Votes);
        voting.any(|one| one.lead.alone().is_some())
    }

    fn trust(&self) -> Vec<TrustLine> {
        let mut lines: Vec<(&Trust, Vec<&Key>)> = Vec::new();
        for column in &self.verdict.columns {
            let Some(trust) = &column.trust else { continue };
            match lines.iter_mut().find(|(known, _)| *known == trust) {
                Some((_, keys)) => keys.push(&column.key),
                None => lines.push((trust, vec![&column.key])),
            }
        }
        let line = |(trust, keys): &(&Trust, Vec<&Key>)| TrustLine {
            text: match keys.as_slice() {
                [one] => trusted(&short(one.as_str()), trust),
                several => trusted(&self.named(several), trust),
            },
            is_warning: trust.warns,
        };
        lines.iter().map(line).collect()
    }

    fn trust_in_brief(&self) -> Option<String> {
        let keys = |warns: bool| -> Vec<&Key> {
            let is_it = |one: &&ColumnVerdict| {
                one.trust.as_ref().is_some_and(|trust| trust.warns || !warns)
            };
            self.verdict.columns.iter().filter(is_it).map(|one| &one.key).collect()
        };
        let (warned, all) = (keys(true), keys(false));
        if !warned.is_empty() {
            let named = self.named(&warned);
            let tested = if warned.len() == 1 { "was" } else { "were" };
            return Some(format!(
                "Warning: many of these stories are unlike those on which {named} {tested} tested."
            ));
        }
        (!all.is_empty()).then(|| {
            format!("The numbers of {} are estimates of a trained model.", self.named(&all))
        })
    }
}

/// "ratings" or "metrics".
fn several(role: Option<Role>) -> &'static str {
    match role {
        Some(Role::Human) => "ratings of people",
        Some(Role::Metric) => "metrics",
        None => "columns",
    }
}

/// "union", or "5 of 7 criteria".
fn part(count: usize, group: &ColumnGroup) -> String {
    let name = match group.role {
        Role::Human => several(Some(Role::Human)).to_owned(),
        Role::Metric => short(&group.name),
    };
    match group.columns {
        1 => short(&group.name),
        all if all == count => format!("all {all} {name}"),
        all => format!("{count} of {all} {name}"),
    }
}

/// Why a lead that length takes away does not count.
fn length_reasons(reasons: &[&Reason]) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut others = Vec::new();
    let mut leader = "";
    for reason in reasons {
        match reason {
            Reason::LengthsApart { system, other } => {
                leader = system;
                others.push(short(other));
            }
            Reason::LostByPercentile { system, now } => sentences.push(format!(
                "Compared with human stories of the same length, {}.",
                lost(system, now.as_deref())
            )),
            Reason::LostByAdjustment { system, now } => sentences
                .push(format!("After an adjustment for length, {}.", lost(system, now.as_deref()))),
            _ => {}
        }
    }
    if !others.is_empty() {
        let apart = format!(
            "The lengths of the stories of {} and of {} hardly overlap, so nothing can tell \
             whether it leads by more than length.",
            short(leader),
            joined_short(&others)
        );
        sentences.insert(0, apart);
    }
    sentences
}

/// That lengths hardly overlap, where no lead hangs on it.
fn apart_anyway(pairs: &[LengthPair]) -> Option<String> {
    let first = pairs.first()?;
    let more = match pairs.len() - 1 {
        0 => String::new(),
        1 => ", and so do those of one more pair".to_owned(),
        more => format!(", and so do those of {more} more pairs"),
    };
    Some(format!(
        "The lengths of the stories of {} and of {} hardly overlap{more}; their comparison cannot \
         be told from length.",
        short(&first.shorter),
        short(&first.longer)
    ))
}

/// That a lead stands although lengths differ.
fn length_holds(check: &LengthCheck, leader: &str) -> Option<String> {
    let holds = |check: &Option<Recheck>| {
        check.as_ref().is_some_and(|one| one.leader.as_deref() == Some(leader))
    };
    let name = short(leader);
    match (holds(&check.percentiles), holds(&check.adjusted)) {
        _ if check.apart.iter().any(|one| one.shorter == leader || one.longer == leader) => None,
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

/// "A no longer leads", and who does instead.
fn lost(system: &str, now: Option<&str>) -> String {
    match now {
        Some(now) => format!("{} leads instead of {}", short(now), short(system)),
        None => format!("{} no longer leads", short(system)),
    }
}

/// What many texts of a system have that is not story.
fn raised(one: &RaisedFlag) -> String {
    let texts = format!("{} of the texts of {}", percent(one.share), short(&one.system));
    let others = match (one.share - one.smallest > FLAGS_APART, one.smallest) {
        (false, _) => String::new(),
        (true, 0.0) => ", and none of those of another system".to_owned(),
        (true, smallest) => {
            format!(", but only {} of those of another system", percent(smallest))
        }
    };
    let (what, way_out) = flag(&one.flag);
    format!("{texts} {what}{others}{way_out}.")
}

/// What texts with a flag do, and what can be done about it.
fn flag(name: &str) -> (String, &'static str) {
    let clean = "; the option clean of score removes that";
    match name {
        "preamble" => ("begin with words to the user".to_owned(), clean),
        "outro" => ("end with words to the user".to_owned(), clean),
        "prompt" => ("repeat the prompt".to_owned(), clean),
        "markdown" => ("have Markdown".to_owned(), clean),
        "token" => ("have tokens of a model, such as <|endoftext|>".to_owned(), clean),
        "the-end" => ("say \"The End.\"".to_owned(), clean),
        "cut" => ("stop in the middle of a sentence".to_owned(), ""),
        "refusal" => ("refuse to write the story".to_owned(), ""),
        "empty" => ("are empty".to_owned(), ""),
        "very short" => ("are very short".to_owned(), ""),
        "without sentence ends" => ("have no sentence ends".to_owned(), ""),
        other => (format!("look like something else than a story ({})", short(other)), ""),
    }
}

/// That a metric runs against the ratings.
fn backwards(column: &ColumnVerdict) -> Option<String> {
    match &column.vote {
        Vote::Backwards { criterion, r, stories } => Some(format!(
            "{} agrees the wrong way with the ratings of these stories (r = {r:.2} with {}, {}), \
             so it has no say.",
            short(column.key.as_str()),
            short(criterion.as_str()),
            counted(*stories, "story", "stories")
        )),
        _ => None,
    }
}

/// How far some columns can be trusted.
fn trusted(columns: &str, trust: &Trust) -> String {
    let mut text = trust.validity.sentence(columns);
    let mut unlike = Vec::new();
    if let Some(outside) = trust.outside.filter(|_| trust.warns)
        && outside > 0.0
    {
        unlike.push(format!("{} of these stories have other lengths", percent(outside)));
    }
    if trust.warns && trust.flagged > 0.0 {
        unlike.push(format!("{} of the texts have flags", percent(trust.flagged)));
    }
    if !unlike.is_empty() {
        text.push_str(&format!(" Here, {}.", joined(&unlike)));
    }
    text
}
