//! How far the numbers of a column can be trusted for the stories at hand: the one rule of `score`,
//! `compare`, `meta` and pages.

use storymeter_core::{Column, Validity};
use storymeter_text::flags::Flag;

use super::profile::Stories;
use super::{ColumnTrust, FlagShare, LengthSource, MOSTLY_OUTSIDE, OUTSIDE};
use crate::systems::SystemComparison;

/// What is counted of the stories that a column scored.
#[derive(Debug, Clone, Default)]
pub struct StoryCounts<'a> {
    /// The number of texts.
    pub texts: u64,
    /// The number of stories whose length is known.
    pub measured: u64,
    /// The number of those with other lengths than the column was tested on.
    pub outside: u64,
    /// The names of flags, and how many texts have each.
    pub flags: Vec<(&'a str, u64)>,
}

impl ColumnTrust {
    /// Compares what a column says of itself with what is counted of the stories.
    ///
    /// The line is a warning if more than [`OUTSIDE`] of the stories have other lengths, or if one
    /// flag is on more than [`OUTSIDE`] of the texts. Flags are looked at one by one, because a
    /// header counts them so, and because the line then names what the texts have. `cut` and
    /// `markdown` do not count: every fourth of the long human stories has Markdown, and it does
    /// not make another kind of text of them.
    pub fn new(validity: &Validity, counts: &StoryCounts<'_>) -> Self {
        let share = |part: u64, whole: u64| part as f64 / whole as f64;
        let outside = (counts.measured > 0).then(|| share(counts.outside, counts.measured));
        let of_kind = counts.flags.iter().filter_map(|&(name, count)| {
            let flag = Flag::from_name(name)?;
            let tells = count > 0 && !matches!(flag, Flag::Cut | Flag::Markdown);
            tells.then_some((flag, count))
        });
        // Of equal counts, the flag that is defined first.
        let most = of_kind.max_by_key(|(flag, count)| (*count, std::cmp::Reverse(*flag)));
        let flag = most.map(|(flag, count)| FlagShare {
            flag: flag.name().to_owned(),
            stories: count as usize,
            share: share(count, counts.texts.max(1)),
        });
        let mut trust = Self {
            validity: validity.clone(),
            outside,
            flag,
            warns: false,
            decides: outside.is_none_or(|outside| outside <= MOSTLY_OUTSIDE),
        };
        trust.warns = trust.many_outside().is_some() || trust.many_flagged().is_some();
        trust
    }

    /// The same for a column of a file, by the counts in its header.
    pub fn of_column(column: &Column) -> Option<Self> {
        let counts = &column.counts;
        let counts = StoryCounts {
            measured: counts.present,
            outside: counts.outside,
            ..StoryCounts::default()
        };
        Some(Self::new(column.validity.as_ref()?, &counts))
    }

    /// The share of stories of other lengths, if there are so many that it is a warning.
    pub fn many_outside(&self) -> Option<f64> {
        self.outside.filter(|share| *share > OUTSIDE)
    }

    /// The most frequent flag, if so many texts have it that it is a warning.
    pub fn many_flagged(&self) -> Option<&FlagShare> {
        self.flag.as_ref().filter(|flag| flag.share > OUTSIDE)
    }
}

/// How far a column can be trusted for the stories of a verdict that it scored.
pub(super) fn trust(stories: &Stories<'_>, found: &SystemComparison) -> Option<ColumnTrust> {
    let validity = found.column.validity.as_ref()?;
    let values = super::recheck::values_of(stories, found);
    let mut counts = StoryCounts::default();
    for &(row, _) in stories.rows.iter().filter(|(_, system)| stories.competes(*system)) {
        counts.texts += 1;
        for flag in stories.flags(row) {
            match counts.flags.iter_mut().find(|(known, _)| *known == flag) {
                Some((_, count)) => *count += 1,
                None => counts.flags.push((flag, 1)),
            }
        }
        let is_known = stories.source != LengthSource::Unknown && values[row].is_ok();
        if let Some(words) = stories.words[row].filter(|_| is_known) {
            counts.measured += 1;
            counts.outside += u64::from(!validity.covers(words as u64));
        }
    }
    Some(ColumnTrust::new(validity, &counts))
}
