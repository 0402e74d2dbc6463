//! The stories that two score tables share, and correlations on them.

use std::collections::HashMap;

use storymeter_core::{Key, Role};
use storymeter_meta::Level;
use storymeter_stats::{Coefficient, SharedCorrelations, mean};

use crate::stories::StoryTable;

/// Fewer systems than this have no correlation.
const LEAST_SYSTEMS: usize = 3;

/// The stories that two score tables share.
pub(super) struct Pairing<'a> {
    before: &'a StoryTable,
    after: &'a StoryTable,
    /// Positions of the same story in both tables.
    pub rows: Vec<(usize, usize)>,
}

impl<'a> Pairing<'a> {
    /// Joins two tables by the systems and ids of their stories; `None` if they share none.
    ///
    /// `Inputs` refuses tables whose stories could belong together in several ways.
    pub fn new(before: &'a StoryTable, after: &'a StoryTable) -> Option<Self> {
        let matches = after.scores().matches(before.scores()).ok()?;
        let rows: Vec<(usize, usize)> =
            matches.into_iter().enumerate().filter_map(|(at, row)| Some((at, row?))).collect();
        (!rows.is_empty()).then_some(Self { before, after, rows })
    }

    /// The correlations of a metric with a criterion after (`first`) and before (`second`), on the
    /// observations that have a rating and both scores.
    ///
    /// `None` where one of the columns is not there, or there are no systems at system level.
    pub fn correlations(
        &self,
        metric: &Key,
        criterion: &Key,
        level: Level,
    ) -> Option<SharedCorrelations> {
        let human = self.before.numbers(self.before.column(criterion, Role::Human)?);
        let before = self.before.numbers(self.before.column(metric, Role::Metric)?);
        let after = self.after.numbers(self.after.column(metric, Role::Metric)?);
        let triple = |&(old, new): &(usize, usize)| [human[old], after[new], before[old]];
        let rows = self.before.scores().rows();
        let pearson = |triples: &[[f64; 3]]| {
            let column = |at: usize| triples.iter().map(|t| t[at]).collect::<Vec<f64>>();
            let (human, first, second) = (column(0), column(1), column(2));
            SharedCorrelations::from_columns(Coefficient::Pearson, &human, &first, &second).ok()
        };
        match level {
            Level::Pooled => pearson(&self.rows.iter().map(triple).collect::<Vec<_>>()),
            Level::Story => {
                let groups = grouped(&self.rows, |&(old, _)| Some(rows[old].item.as_str()));
                let found: Vec<SharedCorrelations> = groups
                    .iter()
                    .filter_map(|group| pearson(&group.iter().map(triple).collect::<Vec<_>>()))
                    .filter(|found| found.n >= LEAST_SYSTEMS)
                    .collect();
                (!found.is_empty()).then(|| SharedCorrelations::mean(&found))
            }
            Level::System => {
                let groups = grouped(&self.rows, |&(old, _)| rows[old].system.as_deref());
                if groups.len() < LEAST_SYSTEMS {
                    return None;
                }
                let means = |group: &Vec<(usize, usize)>| {
                    let complete: Vec<[f64; 3]> = group
                        .iter()
                        .map(triple)
                        .filter(|numbers| numbers.iter().all(|n| n.is_finite()))
                        .collect();
                    [0, 1, 2].map(|at| mean(&complete.iter().map(|t| t[at]).collect::<Vec<_>>()))
                };
                pearson(&groups.iter().map(means).collect::<Vec<_>>())
            }
        }
    }
}

/// Groups by name, in order of appearance. What has no name is left out.
fn grouped<'a, T: Copy>(all: &'a [T], name: impl Fn(&'a T) -> Option<&'a str>) -> Vec<Vec<T>> {
    let mut positions: HashMap<&str, usize> = HashMap::new();
    let mut groups: Vec<Vec<T>> = Vec::new();
    for one in all {
        let Some(name) = name(one) else { continue };
        let at = *positions.entry(name).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[at].push(*one);
    }
    groups
}
