//! Who leads, by one column and by all of them.

use storymeter_core::{Key, Role};
use storymeter_stats::Correction;

use super::profile::{Stories, is_people};
use super::{ColumnGroup, ColumnVerdict, Contradiction, Lead, PeoplePlace, Reason, Vote};
use crate::error::Result;
use crate::systems::{Options, RankedSystem, SystemComparison};

/// What the group of the ratings of people is called if there are several.
const RATINGS: &str = "human";

/// The columns that vote, with the differences that survive the correction over all of them.
pub(super) struct Ballots<'a> {
    /// The comparisons of the columns that vote.
    pub comparisons: Vec<&'a SystemComparison>,
    /// By column: whether it may make a winner by itself.
    decides: Vec<bool>,
    /// By column: who is better than whom after the correction over all columns and pairs.
    wins: Vec<Vec<(&'a str, &'a str)>>,
    competing: &'a [String],
    people: Option<&'a str>,
    tests: usize,
}

impl<'a> Ballots<'a> {
    /// Corrects over these comparisons, which are those of the columns that vote.
    pub fn new(
        stories: &'a Stories<'_>,
        columns: &[(&SystemComparison, ColumnVerdict)],
        comparisons: Vec<&'a SystemComparison>,
        options: &Options,
    ) -> Result<Self> {
        let voting = columns.iter().filter(|(_, column)| column.vote == Vote::Votes);
        let decides =
            voting.map(|(_, column)| column.trust.as_ref().is_none_or(|one| one.decides)).collect();
        let is_apart = |name: &&String| is_people(name) && !stories.competing.contains(name);
        let people = stories.systems.iter().find(is_apart).map(String::as_str);
        Self::corrected(decides, comparisons, &stories.competing, people, options)
    }

    /// The same columns with other comparisons of them.
    pub fn with<'b>(
        &'b self,
        comparisons: Vec<&'b SystemComparison>,
        options: &Options,
    ) -> Result<Ballots<'b>> {
        let decides = self.decides.clone();
        Ballots::corrected(decides, comparisons, self.competing, self.people, options)
    }

    fn corrected(
        decides: Vec<bool>,
        comparisons: Vec<&'a SystemComparison>,
        competing: &'a [String],
        people: Option<&'a str>,
        options: &Options,
    ) -> Result<Self> {
        let raw: Vec<Option<f64>> = comparisons
            .iter()
            .flat_map(|one| &one.pairs)
            .map(|pair| pair.found.as_ref().ok().map(|found| found.p_value.raw))
            .collect();
        let tests = raw.iter().flatten().count();
        let mut corrected = Correction::Holm.adjust_present(&raw)?.into_iter();
        let level = options.method().level();
        let mut wins = Vec::with_capacity(comparisons.len());
        for one in &comparisons {
            let sign = one.column.direction.sign();
            let mut own = Vec::new();
            for pair in &one.pairs {
                let p = corrected.next().flatten();
                let (Ok(found), Some(p)) = (&pair.found, p) else { continue };
                let (first, second) = (pair.first.as_str(), pair.second.as_str());
                match sign * found.difference {
                    _ if p > level => {}
                    better if better > 0.0 => own.push((first, second)),
                    worse if worse < 0.0 => own.push((second, first)),
                    _ => {}
                }
            }
            wins.push(own);
        }
        Ok(Self { comparisons, decides, wins, competing, people, tests })
    }

    /// The number of tests.
    pub fn tests(&self) -> usize {
        self.tests
    }

    /// Who leads by a column after the correction over all.
    pub fn lead(&self, column: usize) -> Lead {
        let is_better = |better: &str, worse: &str| self.wins[column].contains(&(better, worse));
        lead(self.comparisons[column], self.competing, &is_better)
    }

    /// Where people stand by a column, if they do not compete.
    pub fn people(&self, column: usize) -> Option<PeoplePlace> {
        let people = self.people?;
        let count =
            |is: &dyn Fn(&str) -> bool| self.competing.iter().filter(|machine| is(machine)).count();
        let wins = &self.wins[column];
        Some(PeoplePlace {
            better_than: count(&|machine| wins.contains(&(people, machine))),
            worse_than: count(&|machine| wins.contains(&(machine, people))),
            machines: self.competing.len(),
        })
    }

    /// Whose columns decide: people outrank metrics.
    pub fn deciding(&self) -> Option<Role> {
        let role = |one: &&SystemComparison| one.column.role;
        let human = self.comparisons.iter().any(|one| role(one) == Role::Human);
        self.comparisons.first().map(|_| if human { Role::Human } else { Role::Metric })
    }

    /// The columns that vote, with the members of one family together.
    pub fn groups(&self) -> Vec<ColumnGroup> {
        let mut groups: Vec<(ColumnGroup, &Key)> = Vec::new();
        for (at, one) in self.comparisons.iter().enumerate() {
            let (key, role) = (&one.column.key, one.column.role);
            let name = if role == Role::Human { RATINGS } else { key.metric() };
            let known =
                groups.iter().position(|(group, _)| group.role == role && group.name == name);
            let group = known.unwrap_or_else(|| {
                let (columns, leads) = (0, Vec::new());
                groups.push((ColumnGroup { name: name.to_owned(), role, columns, leads }, key));
                groups.len() - 1
            });
            let group = &mut groups[group].0;
            group.columns += 1;
            let Lead::Alone { system } = self.lead(at) else { continue };
            match group.leads.iter_mut().find(|(known, _)| *known == system) {
                Some((_, count)) => *count += 1,
                None => group.leads.push((system, 1)),
            }
        }
        let finish = |(mut group, key): (ColumnGroup, &Key)| {
            if group.columns == 1 {
                group.name = key.to_string();
            }
            group.leads.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            group
        };
        groups.into_iter().map(finish).collect()
    }
}

/// The system that leads by the columns together, or the reasons why none does.
pub(super) fn decide(
    ballots: &Ballots<'_>,
    options: &Options,
) -> std::result::Result<String, Vec<Reason>> {
    let Some(role) = ballots.deciding() else { return Err(vec![Reason::NoVote]) };
    let deciding: Vec<usize> = (0..ballots.comparisons.len())
        .filter(|&at| ballots.comparisons[at].column.role == role)
        .collect();
    let leads: Vec<(usize, String)> = deciding
        .iter()
        .filter_map(|&at| Some((at, ballots.lead(at).alone()?.to_owned())))
        .collect();
    let mut leaders: Vec<String> = Vec::new();
    for (_, system) in &leads {
        if !leaders.contains(system) {
            leaders.push(system.clone());
        }
    }
    let mut reasons = Vec::new();
    let Some(leader) = leaders.first().cloned() else {
        reasons.push(Reason::NobodyLeads);
        let needed = ballots.tests as f64 / options.method().level();
        if ballots.tests > 0 && (options.resamples as f64 + 1.0) < needed {
            let needed = needed.ceil() as usize;
            reasons.push(Reason::FewResamples { tests: ballots.tests, needed });
        }
        return Err(reasons);
    };
    if leaders.len() > 1 {
        return Err(vec![Reason::Split { leaders }]);
    }
    if leads.iter().all(|(at, _)| !ballots.decides[*at]) {
        let key = |(at, _): &(usize, String)| ballots.comparisons[*at].column.key.clone();
        let columns = leads.iter().map(key).collect();
        reasons.push(Reason::OutsideLengths { system: leader.clone(), columns });
    }
    let by = contradictions(ballots, &deciding, &leader);
    if !by.is_empty() {
        reasons.push(Reason::Contradicted { system: leader.clone(), by });
    }
    if reasons.is_empty() { Ok(leader) } else { Err(reasons) }
}

/// The systems that are better than the leader by a column, after the correction over its pairs
/// alone: an objection needs less than a claim.
fn contradictions(ballots: &Ballots<'_>, columns: &[usize], leader: &str) -> Vec<Contradiction> {
    let mut found = Vec::new();
    for &at in columns {
        let one = ballots.comparisons[at];
        for other in ballots.competing {
            let pair = one.pair(other, leader);
            if pair.is_some_and(|pair| pair.verdict() == Some((other.as_str(), leader))) {
                let column = one.column.key.clone();
                found.push(Contradiction { column, better: other.clone() });
            }
        }
    }
    found
}

/// Who leads by a column, among the systems that compete.
pub(super) fn lead(
    found: &SystemComparison,
    competing: &[String],
    is_better: &dyn Fn(&str, &str) -> bool,
) -> Lead {
    let competes = |one: &&RankedSystem| one.mean.is_ok() && competing.contains(&one.name);
    let ranked: Vec<&str> =
        found.systems.iter().filter(competes).map(|one| one.name.as_str()).collect();
    let [top, others @ ..] = ranked.as_slice() else { return Lead::Nobody };
    let (below, level): (Vec<&str>, Vec<&str>) =
        others.iter().copied().partition(|other| is_better(top, other));
    if below.is_empty() || others.iter().any(|other| is_better(other, top)) {
        Lead::Nobody
    } else if below.len() + 1 == competing.len() {
        Lead::Alone { system: (*top).to_owned() }
    } else {
        let systems = [*top].into_iter().chain(level).map(str::to_owned).collect();
        Lead::Shared { systems }
    }
}
