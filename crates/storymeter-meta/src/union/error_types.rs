//! What makes a story unreasonable: Table 2 with section 3.1, and Table 7.

use storymeter_stats::Coefficient;

use super::rated::{ERROR_TYPES, RatedSet};
use crate::correlations::associate;
use crate::error::Result;
use crate::sheet::{Cell, Form, Sheet};

/// The error types after 0 (reasonable), as the paper abbreviates them.
const TYPES: [&str; ERROR_TYPES] = ["Repe", "Cohe", "Conf", "Chao", "Others"];

/// The types Table 7 and the shares of section 3.1 look at: all but "Others".
const NAMED: usize = 4;

/// Table 7: a story has an error type when at least so many raters name it.
const RATERS_NEEDED: usize = 3;

/// How many raters named each error type, 0 being "reasonable".
fn tally(types: &[u8]) -> [usize; ERROR_TYPES + 1] {
    let mut counts = [0; ERROR_TYPES + 1];
    types.iter().for_each(|&t| counts[usize::from(t)] += 1);
    counts
}

fn unanimously_reasonable(types: &[u8]) -> bool {
    types.iter().all(|&t| t == 0)
}

/// Table 2: the share of unreasonable stories with each error type, how many types a story has, and whether the
/// types go together. A type counts for a story when one rater names it.
pub(super) fn table_2(errors: &[Vec<u8>]) -> Result<Vec<Sheet>> {
    let all: Vec<_> = errors.iter().map(|types| tally(types)).collect();
    let unreasonable: Vec<_> =
        errors.iter().filter(|types| !unanimously_reasonable(types)).map(|types| tally(types)).collect();
    let n = unreasonable.len();
    let share = |count: usize| Cell::number(100.0 * count as f64 / n as f64, "no unreasonable story");
    let mut proportions = Sheet::new("table-2", "Error types of the unreasonable stories", Form::Table)
        .brief()
        .column("type", 0)
        .column("stories", 0)
        .column("prop (%)", 1)
        .note(format!("{n} of {} stories are called unreasonable by at least one rater", errors.len()));
    for (at, name) in TYPES.iter().enumerate() {
        let count = unreasonable.iter().filter(|counts| counts[at + 1] > 0).count();
        proportions.push(vec![(*name).into(), count.into(), share(count)]);
    }
    let mut shares = Sheet::new("table-2-shares", "How many error types a story has", Form::Table)
        .brief()
        .column("types", 0)
        .column("stories", 0)
        .column("share (%)", 2)
        .note("of the four named types; a story with none of them has \"Others\" alone");
    for wanted in 0..=NAMED {
        let types = |counts: &[usize]| counts[1..=NAMED].iter().filter(|&&c| c > 0).count();
        let count = unreasonable.iter().filter(|counts| types(&counts[..]) == wanted).count();
        shares.push(vec![wanted.to_string().into(), count.into(), share(count)]);
    }
    Ok(vec![proportions, shares, between_types(&unreasonable, &all)?])
}

/// Section 3.1: Spearman between every two error types, each a 0 or 1 a story.
fn between_types(
    unreasonable: &[[usize; ERROR_TYPES + 1]],
    all: &[[usize; ERROR_TYPES + 1]],
) -> Result<Sheet> {
    let mut sheet = Sheet::new(
        "table-2-correlations",
        "Spearman correlation between error types",
        Form::Table,
    )
    .brief()
    .columns(["type", "with"], 0)
    .column("rho (unreasonable)", 4)
    .column("p (unreasonable)", 4)
    .column("rho (all)", 4)
    .column("p (all)", 4)
    .note("the paper says \"less than 0.15, p > 0.01\" of its ROC set: true over all its stories, not over the unreasonable ones");
    for (first, name) in TYPES.iter().enumerate() {
        for (second, other) in TYPES.iter().enumerate().skip(first + 1) {
            let mut row = vec![Cell::from(*name), (*other).into()];
            for stories in [unreasonable, all] {
                let named = |at: usize| -> Vec<f64> {
                    stories.iter().map(|counts| f64::from(u8::from(counts[at + 1] > 0))).collect()
                };
                let found = associate(Coefficient::Spearman, &named(first), &named(second))?;
                row.push(Cell::number(found.value, &found.reason()));
                row.push(Cell::number(found.p_value, &found.reason()));
            }
            sheet.push(row);
        }
    }
    Ok(sheet)
}

/// The stories of a Table 7 column: those with the error type and those all raters found reasonable.
pub(super) fn evaluation_set(errors: &[Vec<u8>], error_type: usize) -> Vec<usize> {
    (0..errors.len())
        .filter(|&story| {
            unanimously_reasonable(&errors[story]) || tally(&errors[story])[error_type] >= RATERS_NEEDED
        })
        .collect()
}

/// The four error types with a column in Table 7: number, abbreviation.
pub(super) fn named_types() -> impl Iterator<Item = (usize, &'static str)> {
    (1..=NAMED).map(|number| (number, TYPES[number - 1]))
}

/// Table 7: Pearson on all stories, and on the stories of each error type mixed with the reasonable ones.
pub(super) fn table_7(set: &RatedSet, errors: &[Vec<u8>]) -> Result<Sheet> {
    let reasonable = errors.iter().filter(|types| unanimously_reasonable(types)).count();
    let mut sheet = Sheet::new("table-7", "Pearson correlation by error type", Form::Table)
        .brief()
        .column("metric", 0)
        .column(format!("All ({})", set.len()), 4)
        .note(format!(
            "each set holds the {reasonable} stories all raters found reasonable and those of which at least \
             {RATERS_NEEDED} raters name the error type"
        ));
    let mut sets = vec![(0..set.len()).collect::<Vec<_>>()];
    for (number, name) in named_types() {
        let stories = evaluation_set(errors, number);
        sheet = sheet.column(format!("{name} ({})", stories.len() - reasonable), 4);
        sets.push(stories);
    }
    for scores in &set.metrics {
        let mut row = vec![Cell::from(&scores.metric.name)];
        for stories in &sets {
            let pick = |values: &[f64]| stories.iter().map(|&i| values[i]).collect::<Vec<_>>();
            let found = associate(Coefficient::Pearson, &pick(&scores.values), &pick(&set.human))?;
            row.push(Cell::number(found.value, &found.reason()));
        }
        sheet.push(row);
    }
    Ok(sheet)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five stories: one reasonable, one all repetition, one mixed, one others only, one with three conflicts.
    fn errors() -> Vec<Vec<u8>> {
        vec![
            vec![0, 0, 0, 0, 0, 0, 0],
            vec![1, 1, 1, 1, 1, 1, 1],
            vec![0, 1, 2, 3, 4, 0, 0],
            vec![5, 0, 0, 0, 0, 0, 0],
            vec![3, 3, 3, 0, 0, 0, 0],
        ]
    }

    #[test]
    fn one_rater_is_enough_for_table_2() {
        let sheets = table_2(&errors()).unwrap();
        assert_eq!(sheets[0].value("Repe", "stories"), 2.0);
        assert_eq!(sheets[0].value("Conf", "prop (%)"), 50.0);
        assert_eq!(sheets[0].value("Others", "stories"), 1.0);
        let shares: Vec<f64> = (0..=4).map(|k| sheets[1].value(&k.to_string(), "stories")).collect();
        assert_eq!(shares, [1.0, 2.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn three_raters_are_needed_for_table_7_and_reasonable_stories_join_every_set() {
        let errors = errors();
        assert_eq!(evaluation_set(&errors, 1), [0, 1]);
        assert_eq!(evaluation_set(&errors, 2), [0]);
        assert_eq!(evaluation_set(&errors, 3), [0, 4]);
    }
}
