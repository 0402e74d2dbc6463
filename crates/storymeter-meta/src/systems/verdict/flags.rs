//! Whether the lead of a system hangs on what surrounds its stories.

use storymeter_core::Row;
use storymeter_text::flags::Flag;

use super::decide::Ballots;
use super::profile::Stories;
use super::recheck::{recheck, values_of};
use super::{FLAGGED, FLAGS_APART, FlagCheck, RaisedFlag, Reason, SystemProfile};
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
            let (flag, system) = (flag.to_owned(), most.name.clone());
            raised.push(RaisedFlag { flag, system, share: largest, smallest });
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
            let now = without.leader.clone();
            reasons.push(Reason::LostWithoutFlagged { system: system.clone(), now });
        }
        let own = systems.iter().zip(&self.left).find(|(one, _)| one.name == leader);
        if let Some((one, &left)) = own
            && 2 * left < one.stories
        {
            reasons.push(Reason::FewUnflagged { system, left, stories: one.stories });
        }
        reasons
    }
}
