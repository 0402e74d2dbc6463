//! The signs of a matrix that says who leads by what.

use super::sentences;
use crate::systems::verdict::{ColumnVerdict, Lead, Verdict};

/// How a system stands in the row of a column, if it leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeadSign {
    /// It leads, also after the correction over all columns.
    Leads,
    /// It leads by the column alone, but not after the correction.
    Led,
    /// It shares the lead.
    Shares,
}

impl LeadSign {
    /// All signs, the strongest first.
    pub(super) const ALL: [Self; 3] = [Self::Leads, Self::Led, Self::Shares];

    /// The sign of a system in the row of a column.
    pub fn new(column: &ColumnVerdict, system: &str) -> Option<Self> {
        let survives = column.survives.as_ref();
        let shares = |lead: &Lead| match lead {
            Lead::Shared { systems } => systems.iter().any(|one| one == system),
            _ => false,
        };
        if survives.and_then(Lead::alone) == Some(system) {
            Some(Self::Leads)
        } else if column.lead.alone() == Some(system) {
            Some(Self::Led)
        } else if survives.map_or(shares(&column.lead), shares) {
            Some(Self::Shares)
        } else {
            None
        }
    }

    /// How it is printed.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Leads => "★",
            Self::Led => "☆",
            Self::Shares => "≈",
        }
    }
}

/// What the signs and the small numbers of a matrix with these columns mean.
pub fn legend<'a>(
    verdict: &Verdict,
    columns: impl IntoIterator<Item = &'a ColumnVerdict>,
) -> String {
    let mut signs: Vec<LeadSign> = Vec::new();
    for column in columns {
        let own = verdict.systems.iter();
        signs.extend(own.filter_map(|system| LeadSign::new(column, &system.name)));
    }
    let with_length = verdict.length.adjusted.is_some() || verdict.length.percentiles.is_some();
    sentences::legend(&signs, verdict.tests, with_length)
}
