//! A verdict in words: which sentences are said, and in what order. The sentences themselves are in
//! one file beside this one.

mod sentences;
mod signs;
mod trust;

use serde::Serialize;
use storymeter_core::{Key, Role};

use super::conclusion::{conclusion, short};
use super::words::joined_short;
use crate::systems::SystemComparison;
use crate::systems::verdict::{
    ColumnGroup, ColumnVerdict, FlagCheck, Lead, LengthCheck, LengthSource, PeoplePlace, Reason,
    Recheck, StoriesLeft, Verdict, VerdictOutcome, Vote,
};
pub use sentences::{
    LEADERS_TITLE, QUESTION, TRUST_HEADING, by_one_column, columns_left_out, key_with_arrow,
    means_beside, not_counted,
};
pub(super) use sentences::{adjusted_meaning, percentile_meaning};
pub use signs::{LeadSign, legend};
pub use trust::{TrustLine, TrustWords};

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

/// Puts a verdict into words. The comparisons are those that it is about.
pub fn verdict_words(verdict: &Verdict, found: &[SystemComparison]) -> VerdictWords {
    let words = Words { verdict };
    let trusted = |one: &'_ ColumnVerdict| Some((one.key.clone(), one.trust.clone()?));
    let trusted: Vec<_> = verdict.columns.iter().filter_map(trusted).collect();
    let trust = TrustWords::new(trusted.iter().map(|(key, trust)| (key, trust)));
    VerdictWords {
        headline: words.headline(found),
        details: words.details(),
        trust: trust.lines,
        trust_in_brief: trust.brief,
    }
}

/// The conclusion of one of the comparisons that a verdict is about. If a system leads by this
/// column and is not the winner, the sentence does not call it better.
pub fn column_conclusion(verdict: &Verdict, found: &SystemComparison) -> String {
    let is_it = |one: &&ColumnVerdict| one.key == found.column.key && one.role == found.column.role;
    let column = verdict.columns.iter().find(is_it);
    let known_direction = column.filter(|one| one.vote != Vote::NoDirection);
    match known_direction.and_then(|one| one.lead.alone()) {
        Some(best) if verdict.winner() != Some(best) => {
            sentences::no_winner_by(found.column.key.as_str(), best)
        }
        _ => conclusion(found),
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
        let role = verdict.deciding;
        match &verdict.outcome {
            VerdictOutcome::NothingToCompare => sentences::nothing_to_compare(),
            VerdictOutcome::Winner { system } => {
                sentences::winner(system, &self.led_by(system, role), self.columns(role), role)
            }
            VerdictOutcome::NoClearWinner => sentences::no_winner(&self.leads(role)),
        }
    }

    /// The conclusion of the only column that matters.
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
        Some(column_conclusion(self.verdict, own))
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

    /// The number of columns of a role that are counted.
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
        let sentence = |system: &&str| sentences::leads_by(system, &self.led_by(system, role));
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
            matches!(
                reason,
                Reason::LostWithoutFlagged { .. } | Reason::UncheckedWithoutFlagged { .. }
            )
        };
        let (length, others): (Vec<&Reason>, Vec<&Reason>) =
            verdict.reasons.iter().partition(of_length);
        let (flags, others): (Vec<&Reason>, Vec<&Reason>) = others.into_iter().partition(of_flags);
        let mut details = self.length(&verdict.length);
        details.extend(length_reasons(&length));
        details.extend(verdict.leader.as_ref().and_then(|one| length_holds(&verdict.length, one)));
        details.extend(raised(&verdict.flags));
        details.extend(flags.iter().filter_map(|reason| self.reason(reason)));
        details.extend(self.few_unflagged());
        details.extend(others.iter().filter_map(|reason| self.reason(reason)));
        details.extend(verdict.columns.iter().filter_map(backwards));
        details.extend(self.metrics_beside_people());
        details.extend(self.people());
        details
    }

    fn length(&self, check: &LengthCheck) -> Vec<String> {
        let leader = &self.verdict.leader;
        if check.source == LengthSource::Unknown {
            return leader.iter().map(|_| sentences::lengths_unknown()).collect();
        }
        let Some(pair) = check.widest.as_ref().filter(|_| check.differs) else { return Vec::new() };
        let median = |name: &str| {
            let system = self.verdict.systems.iter().find(|one| one.name == name);
            system.and_then(|one| one.words).map_or(0.0, |words| words.median)
        };
        let column = match &check.source {
            LengthSource::Column(key) => Some(key.as_str()),
            _ => None,
        };
        let (shorter, longer) = (pair.shorter.as_str(), pair.longer.as_str());
        let [low, high] = [shorter, longer].map(median);
        let mut said = vec![sentences::lengths_differ((shorter, low), (longer, high), column)];
        if leader.is_none() {
            said.extend(self.leads_without_length(check));
        }
        said
    }

    /// Where no system leads by the columns together: whether length explains the leads by single
    /// columns.
    fn leads_without_length(&self, check: &LengthCheck) -> Vec<String> {
        let decides = |one: &&ColumnVerdict| Some(one.role) == self.verdict.deciding;
        let lead = |one: &'_ ColumnVerdict| {
            let leader = one.survives.as_ref().and_then(Lead::alone)?.to_owned();
            Some((one.key.clone(), one.role, leader))
        };
        let leads: Vec<(Key, Role, String)> =
            self.verdict.columns.iter().filter(decides).filter_map(lead).collect();
        let is_apart =
            |name: &str| check.apart.iter().any(|pair| pair.shorter == name || pair.longer == name);
        let counts = |again: &Recheck| -> [usize; 2] {
            let mut counts = [0, 0];
            for (key, role, leader) in leads.iter().filter(|(_, _, leader)| !is_apart(leader)) {
                let own = again.columns.iter().find(|one| one.key == *key && one.role == *role);
                let Some(own) = own else { continue };
                counts[0] += usize::from(own.lead.alone() == Some(leader.as_str()));
                counts[1] += 1;
            }
            counts
        };
        let [adjusted, percentiles] =
            [&check.adjusted, &check.percentiles].map(|one| one.as_ref().map(counts));
        let unclear = leads.iter().filter(|(_, _, leader)| is_apart(leader)).count();
        let apart = check.apart.split_first().map(|(pair, more)| {
            let names = (pair.shorter.as_str(), pair.longer.as_str());
            sentences::apart_without_leader(names, more.len(), unclear, leads.len())
        });
        let checked = sentences::leads_without_length(leads.len(), adjusted, percentiles);
        checked.into_iter().chain(apart).collect()
    }

    /// The sentence for a reason, unless the headline has said it.
    fn reason(&self, reason: &Reason) -> Option<String> {
        let role = self.verdict.deciding;
        Some(match reason {
            // One column is spoken of in the headline.
            Reason::NoVote if self.verdict.columns.len() == 1 => return None,
            Reason::NoVote => sentences::no_column_counts(),
            Reason::NobodyLeads | Reason::FewResamples { .. }
                if self.has_one_vote() && !self.is_claimed() =>
            {
                return None;
            }
            Reason::NobodyLeads if self.has_one_vote() => {
                sentences::no_lead_survives(self.verdict.tests)
            }
            Reason::NobodyLeads => {
                sentences::nobody_leads(self.columns(role), role, self.verdict.tests)
            }
            Reason::Split { .. } => sentences::split(role),
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
                let claims = claims.into_iter().map(|(keys, names)| (names, self.named(&keys)));
                sentences::contradicted(system, &claims.collect::<Vec<_>>())
            }
            Reason::OutsideLengths { system, columns } => {
                let keys: Vec<&Key> = columns.iter().collect();
                sentences::outside_lengths(system, &self.named(&keys), keys.len())
            }
            Reason::FewResamples { tests, needed } => sentences::few_resamples(*tests, *needed),
            Reason::LostWithoutFlagged { system, now } => {
                sentences::lost_without_flagged(system, now.as_deref())
            }
            Reason::UncheckedWithoutFlagged { system, few } => {
                sentences::unchecked_without_flagged(system, few)
            }
            // One sentence counts the stories of all systems.
            Reason::FewUnflagged { .. }
            | Reason::LengthsApart { .. }
            | Reason::LostByPercentile { .. }
            | Reason::LostByAdjustment { .. } => return None,
        })
    }

    /// Of which systems fewer than half of the stories are without the flags, unless that was
    /// said.
    fn few_unflagged(&self) -> Option<String> {
        let is_said = |name: &str| {
            self.verdict.reasons.iter().any(|reason| {
                matches!(reason, Reason::UncheckedWithoutFlagged { few, .. }
                    if few.iter().any(|one| one.system == name))
            })
        };
        let systems = self.verdict.systems.iter().zip(&self.verdict.flags.left);
        let few: Vec<StoriesLeft> = systems
            .filter(|(one, left)| 2 * **left < one.stories && !is_said(&one.name))
            .map(|(one, &left)| StoriesLeft {
                system: one.name.clone(),
                left,
                stories: one.stories,
            })
            .collect();
        (!few.is_empty()).then(|| sentences::few_unflagged(&few))
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
        (!leads.is_empty()).then(|| sentences::metrics_beside_people(&leads))
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
        (!places.is_empty()).then(|| sentences::people(name, above, below, places.len()))
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
}

/// "union", or "5 of 7 criteria".
fn part(count: usize, group: &ColumnGroup) -> String {
    let name = match group.role {
        Role::Human if group.columns > 1 => sentences::several(Some(Role::Human)),
        _ => &group.name,
    };
    sentences::part(count, group.columns, name)
}

/// Why a lead that length takes away does not count.
fn length_reasons(reasons: &[&Reason]) -> Vec<String> {
    let mut said = Vec::new();
    let mut others = Vec::new();
    let mut leader = "";
    for reason in reasons {
        match reason {
            Reason::LengthsApart { system, other } => {
                leader = system;
                others.push(short(other));
            }
            Reason::LostByPercentile { system, now } => {
                said.push(sentences::lost_by_percentile(system, now.as_deref()));
            }
            Reason::LostByAdjustment { system, now } => {
                said.push(sentences::lost_by_adjustment(system, now.as_deref()));
            }
            _ => {}
        }
    }
    if !others.is_empty() {
        said.insert(0, sentences::apart(leader, &others));
    }
    said
}

/// That a lead stands although lengths differ.
fn length_holds(check: &LengthCheck, leader: &str) -> Option<String> {
    if check.apart.iter().any(|one| one.shorter == leader || one.longer == leader) {
        return None;
    }
    let holds = |check: &Option<Recheck>| {
        check.as_ref().is_some_and(|one| one.leader.as_deref() == Some(leader))
    };
    sentences::length_holds(leader, holds(&check.percentiles), holds(&check.adjusted))
}

/// The flags that are worth a word, those with the largest shares first.
fn raised(check: &FlagCheck) -> Vec<String> {
    check.raised.iter().map(sentences::raised).collect()
}

/// That a metric runs against the ratings.
fn backwards(column: &ColumnVerdict) -> Option<String> {
    match &column.vote {
        Vote::Backwards { criterion, r, stories } => {
            let (key, criterion) = (column.key.as_str(), criterion.as_str());
            Some(sentences::backwards(key, criterion, *r, *stories))
        }
        _ => None,
    }
}
