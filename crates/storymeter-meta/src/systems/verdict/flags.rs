//! Whether the lead of a system hangs on what surrounds its stories.

use storymeter_core::Row;
use storymeter_text::flags::Flag;

use super::decide::Ballots;
use super::profile::Stories;
use super::recheck::{recheck, values_of};
use super::{
    FLAGGED, FLAGS_APART, FlagCheck, RaisedFlag, Reason, Recheck, StoriesLeft, SystemProfile,
};
use crate::error::Result;
use crate::systems::Options;

/// Looks at the flags, and compares the systems without the stories that have one of those that
/// are worth a word.
pub(super) fn check(
    stories: &Stories<'_>,
    systems: &[SystemProfile],
    ballots: &Ballots<'_>,
    options: &Options,
) -> Result<FlagCheck> {
    let raised = raised(stories, systems);
    let was_read = |row: &Row| row.words.is_some() || !row.flags.is_empty();
    let known = stories.table.rows().iter().any(was_read);
    if raised.is_empty() {
        return Ok(FlagCheck { known, raised, without: None, left: Vec::new() });
    }
    let is_kept =
        |row: usize| stories.flags(row).all(|flag| raised.iter().all(|raised| raised.flag != flag));
    let mut left = vec![0; systems.len()];
    stories.rows.iter().filter(|(row, _)| is_kept(*row)).for_each(|(_, system)| left[*system] += 1);
    let all = ballots.comparisons.iter().enumerate();
    let values =
        all.map(|(at, one)| (at, values_of(stories, one).to_vec(), one.column.range)).collect();
    let without = recheck(stories, ballots, values, &is_kept, options)?;
    Ok(FlagCheck { known, raised, without: Some(without), left })
}

/// The flags that are worth a word, those with the largest shares first.
fn raised(stories: &Stories<'_>, systems: &[SystemProfile]) -> Vec<RaisedFlag> {
    let competing: Vec<&SystemProfile> =
        systems.iter().filter(|one| stories.competing.contains(&one.name)).collect();
    let mut names: Vec<&str> =
        competing.iter().flat_map(|one| &one.flags).map(|one| one.flag.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let mut raised = Vec::new();
    for flag in names {
        let share = |one: &SystemProfile| {
            one.flags.iter().find(|own| own.flag == flag).map_or(0.0, |own| own.share)
        };
        let smallest = competing.iter().map(|one| share(one)).fold(1.0, f64::min);
        // Of equal shares, the first system is named.
        let Some(most) = competing.iter().rev().max_by(|a, b| share(a).total_cmp(&share(b))) else {
            continue;
        };
        let largest = share(most);
        let is_common = flag != Flag::Cut.name() && largest > FLAGGED;
        if is_common || largest - smallest > FLAGS_APART {
            let least = competing.iter().filter(|one| share(one) <= smallest);
            let least = least.map(|one| one.name.clone()).collect();
            let (flag, system) = (flag.to_owned(), most.name.clone());
            raised.push(RaisedFlag { flag, system, share: largest, smallest, least });
        }
    }
    // The sort is stable, so equal shares stay in the order of their names.
    raised.sort_by(|a: &RaisedFlag, b| b.share.total_cmp(&a.share));
    raised
}

impl FlagCheck {
    /// Why this system is not the winner although it leads.
    pub(super) fn reasons(&self, leader: &str, systems: &[SystemProfile]) -> Vec<Reason> {
        let Some(without) = &self.without else { return Vec::new() };
        let mut reasons = Vec::new();
        let system = leader.to_owned();
        if without.leader.as_deref() != Some(leader) {
            let few = self.too_few(leader, without, systems);
            let (system, now) = (system.clone(), without.leader.clone());
            reasons.push(match few.is_empty() {
                true => Reason::LostWithoutFlagged { system, now },
                false => Reason::UncheckedWithoutFlagged { system, few },
            });
        }
        let own = systems.iter().zip(&self.left).find(|(one, _)| one.name == leader);
        if let Some((one, &left)) = own
            && 2 * left < one.stories
        {
            reasons.push(Reason::FewUnflagged { system, left, stories: one.stories });
        }
        reasons
    }

    /// The systems that have so few stories left that they cannot be compared with the leader; the
    /// leader itself where it has fewer.
    fn too_few(
        &self,
        leader: &str,
        without: &Recheck,
        systems: &[SystemProfile],
    ) -> Vec<StoriesLeft> {
        let left = |name: &str| {
            let at = systems.iter().position(|one| one.name == name);
            at.map_or(0, |at| self.left[at])
        };
        let fewer = |(one, other): &(String, String)| {
            let other = match (one == leader, other == leader) {
                (true, _) => other,
                (_, true) => one,
                _ => return None,
            };
            Some(if left(leader) < left(other) { leader.to_owned() } else { other.clone() })
        };
        let few: Vec<String> = without.untested.iter().filter_map(fewer).collect();
        let named = systems.iter().filter(|one| few.contains(&one.name));
        let counted = |one: &SystemProfile| StoriesLeft {
            system: one.name.clone(),
            left: left(&one.name),
            stories: one.stories,
        };
        named.map(counted).collect()
    }
}
