//! How far the numbers of a column can be trusted for the stories at hand.

use storymeter_core::Validity;

use super::profile::Stories;
use super::{LengthSource, MOSTLY_OUTSIDE, OUTSIDE, Trust};

/// Compares what a column says of itself with the stories.
pub(super) fn trust(stories: &Stories<'_>, validity: &Validity) -> Trust {
    let rows = || stories.rows.iter().filter(|(_, system)| stories.competes(*system));
    let (mut all, mut flagged, mut known, mut outside) = (0, 0, 0, 0);
    for &(row, _) in rows() {
        all += 1;
        flagged += usize::from(!stories.table.rows()[row].flags.is_empty());
        if let Some(words) = stories.words[row] {
            known += 1;
            outside += usize::from(!validity.covers(words as u64));
        }
    }
    let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
    let is_known = stories.source != LengthSource::Unknown && known > 0;
    let (outside, flagged) = (is_known.then(|| share(outside, known)), share(flagged, all));
    Trust {
        validity: validity.clone(),
        outside,
        flagged,
        warns: outside.is_some_and(|outside| outside > OUTSIDE) || flagged > OUTSIDE,
        decides: outside.is_none_or(|outside| outside <= MOSTLY_OUTSIDE),
    }
}
