//! Tests of what changed between two runs.

use super::*;
use crate::testing::{agreement, study};
use storymeter_core::Catalogue;

const LEVELS: [Level; 2] = [Level::Pooled, Level::Story];

/// A run with one metric at two levels, Pearson and Spearman.
fn run(name: &str, pooled: f64, story: f64, n: usize) -> Run {
    let one =
        |level, coefficient, value| agreement("m", "plot/pace", level, coefficient, Some(value), n);
    let values = [pooled, story];
    let all = LEVELS.iter().zip(values).flat_map(|(&level, value)| {
        [Coefficient::Pearson, Coefficient::Spearman].map(|c| one(level, c, value))
    });
    Run::new(name, study(all.collect()))
}

/// A score table of stories `prefix0`, `prefix1`, ... of three systems.
fn table(prefix: &str, count: usize, noise: f64) -> NamedTable {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scores.jsonl");
    let line = |i: usize| {
        let rating = (i * 7 % 11) as f64;
        let score = rating + noise * (i * 5 % 13) as f64;
        format!(
            "{{\"id\":\"{prefix}{i}\",\"system\":\"S{}\",\"item\":\"{}\",\
             \"scores\":{{\"m\":{score}}},\"human\":{{\"plot/pace\":[{rating}]}}}}\n",
            i % 3,
            i / 3
        )
    };
    std::fs::write(&path, (0..count).map(line).collect::<String>()).unwrap();
    let stories = StoryTable::read(&path, &Catalogue::default()).unwrap();
    NamedTable { name: prefix.into(), stories }
}

/// The pooled correlation of a table, which a study of it would have.
fn pooled(table: &NamedTable) -> f64 {
    let stories = &table.stories;
    let at = |role| stories.scores().of_role(role)[0];
    stories.pearson(at(Role::Metric), at(Role::Human)).unwrap()
}

fn inputs(before: NamedTable, after: NamedTable) -> Inputs {
    let (old, new) = (pooled(&before), pooled(&after));
    let runs = vec![run("old", old, 0.3, 60), run("new", new, 0.2, 60)];
    Inputs { runs, tables: vec![before, after], ..Inputs::default() }
}

fn cells<'a>(sheet: &'a Sheet, level: &str, coefficient: &str) -> &'a [Cell] {
    let is_wanted = |row: &&Vec<Cell>| row[2].text() == level && row[3].text() == coefficient;
    sheet.rows.iter().find(is_wanted).unwrap()
}

#[test]
fn runs_on_the_same_stories_get_a_paired_test() {
    let inputs = inputs(table("s", 60, 0.2), table("s", 60, 2.0));
    let changes = all(&inputs);
    let [Changes { headline, sheet, .. }] = changes.as_slice() else { panic!("one comparison") };
    assert!(headline.contains("on the same stories"), "{headline}");
    assert!(headline.contains("Williams' test"), "{headline}");
    assert!(headline.contains("the 60 stories"), "{headline}");
    let tested = cells(sheet, "pooled", "pearson");
    assert_eq!((tested[7].text(), tested[8].text()), ("Williams", "60"));
    let columns = |c: usize| inputs.tables[c].stories.numbers(1);
    let human = inputs.tables[0].stories.numbers(0);
    let expected =
        SharedCorrelations::from_columns(Coefficient::Pearson, &human, &columns(1), &columns(0));
    let expected = expected.unwrap().williams().unwrap().p_two_sided;
    assert_eq!(tested[9].value().to_bits(), expected.to_bits());
    assert!(expected < 0.001 && expected > 0.0, "{expected}");
    let story = cells(sheet, "story", "pearson");
    assert_eq!((story[7].text(), story[8].text()), ("Williams", "20"));
    let ranks = cells(sheet, "pooled", "spearman");
    assert_eq!(ranks[9], Cell::missing("only Pearson's coefficients are tested"));
}

#[test]
fn runs_on_other_stories_get_fishers_test_and_its_two_counts() {
    let inputs = inputs(table("a", 60, 0.2), table("b", 60, 2.0));
    let changes = all(&inputs);
    let [Changes { headline, sheet, .. }] = changes.as_slice() else { panic!("one comparison") };
    assert!(headline.contains("Fisher's z for independent samples"), "{headline}");
    let tested = cells(sheet, "pooled", "pearson");
    assert_eq!((tested[7].text(), tested[8].text()), ("Fisher's z", "60 and 60"));
    let (old, new) = (pooled(&inputs.tables[0]), pooled(&inputs.tables[1]));
    let expected = fisher_difference(Coefficient::Pearson, (new, 60), (old, 60)).unwrap();
    assert_eq!(tested[9].value().to_bits(), expected.p_two_sided.to_bits());
    let story = cells(sheet, "story", "pearson");
    assert_eq!(story[9], Cell::missing("a mean of coefficients has no test of its own"));
}

#[test]
fn without_the_right_score_tables_nothing_is_tested_and_the_page_says_why() {
    let (before, after) = (table("s", 60, 0.2), table("s", 60, 2.0));
    let without = Inputs { tables: Vec::new(), ..inputs(before.clone(), after.clone()) };
    let mut swapped = inputs(before, after);
    swapped.tables.reverse();
    for (inputs, reason) in [(without, "one score table per run"), (swapped, "same order")] {
        let changes = all(&inputs);
        let [Changes { headline, sheet, .. }] = changes.as_slice() else { panic!("one") };
        assert!(headline.contains("No test was made") && headline.contains(reason));
        assert_eq!(sheet.rows.len(), 4);
        assert!(sheet.rows.iter().all(|row| matches!(row[9], Cell::Missing { .. })));
    }
}

#[test]
fn score_tables_alone_are_compared_on_their_shared_stories() {
    let tables = vec![table("s", 60, 0.2), table("s", 45, 2.0)];
    let changes = all(&Inputs { tables, ..Inputs::default() });
    let [Changes { headline, sheet, .. }] = changes.as_slice() else { panic!("one comparison") };
    assert!(headline.contains("45 stories in common"), "{headline}");
    assert_eq!(cells(sheet, "pooled", "pearson")[8].text(), "45");
    assert_eq!(cells(sheet, "system", "pearson")[8].text(), "");
    assert_eq!(sheet.rows.len(), 3);
}
