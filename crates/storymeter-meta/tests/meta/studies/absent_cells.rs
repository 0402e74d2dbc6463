//! Every n is the number of values that are really there, and what cannot be computed says why.

use storymeter_core::{Absence, Column, Direction};
use storymeter_meta::study::{Finding, Pairwise, Sides, Test};
use storymeter_meta::view::{Cell, Subject};
use storymeter_meta::{Level, Settings, Study, WarningKind, table, view};
use storymeter_stats::Coefficient;

use crate::studies::support::{Expected, analyse, apart, fixture, holes, random};

fn level(name: &str) -> Level {
    Level::ALL.into_iter().find(|level| level.name() == name).unwrap()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

/// Compares a study with what scipy says, and returns how many numbers and gaps it saw.
fn compare(study: &Study, expected: &Expected) -> (usize, usize) {
    let mut seen = (0, 0);
    for (metric, criterion, at, coefficient, value, p, n) in &expected.agreements {
        let coefficient: Coefficient = coefficient.parse().unwrap();
        let found = study.agreement(metric, criterion, level(at), coefficient).unwrap();
        let what = format!("{metric}, {criterion}, {at}, {coefficient}");
        assert_eq!(found.n, *n, "{what}");
        match (&found.value, value) {
            (Ok(estimate), Some(value)) => {
                assert!(close(estimate.value, *value), "{what}: {} {value}", estimate.value);
                if let Some(p) = p {
                    let own = estimate.p_value.unwrap();
                    assert!(close(own, *p), "{what}: p {own} {p}");
                } else {
                    assert_eq!(estimate.p_value, None, "{what}");
                }
                seen.0 += 1;
            }
            (Err(_), None) => seen.1 += 1,
            other => panic!("{what}: {other:?}"),
        }
    }
    seen
}

#[test]
fn coefficients_p_values_and_n_are_scipys() {
    let fixture = fixture();
    assert_eq!(fixture.tables.len(), 2);
    let mut seen = (0, 0);
    for expected in fixture.tables.values() {
        let (numbers, gaps) = compare(&analyse(&expected.table()), expected);
        seen = (seen.0 + numbers, seen.1 + gaps);
    }
    // The constant metric has no correlation anywhere, and systems apart have no story level.
    assert_eq!(seen, (135, 81));
}

#[test]
fn williams_tests_have_the_n_of_their_own_triple() {
    let mut seen = (0, 0);
    for (name, expected) in fixture().tables {
        // The fixture has one-sided p-values. Its scores have no header, and so no direction.
        let settings = Settings::default().with(|it| it.sides = Sides::One);
        let options = table::Options::default().with(|it| it.settings = settings);
        let study = table::analyse(&expected.table(), &options).unwrap();
        for (first, second, criterion, at, p, n) in &expected.williams {
            let matrix =
                study.tests().find(|m| m.level == level(at) && m.criterion.as_str() == criterion);
            let Some(matrix) = matrix else {
                assert_eq!((at.as_str(), *n), ("story", 0), "{name}: only systems apart have none");
                continue;
            };
            assert_eq!(matrix.test, Test::Williams);
            let (i, j) = (matrix.position(first).unwrap(), matrix.position(second).unwrap());
            let pair = matrix.get(i, j).or(matrix.get(j, i)).unwrap();
            let what = format!("{name}: {first}, {second}, {criterion}, {at}");
            assert_eq!(pair.n, *n, "{what}");
            match (pair.p_value.clone(), p) {
                (Ok(own), Some(p)) => {
                    assert!(close(own.raw, *p), "{what}: {} {p}", own.raw);
                    assert!(own.corrected >= own.raw && own.corrected <= 1.0, "{what}");
                    seen.0 += 1;
                }
                (Err(_), None) => seen.1 += 1,
                other => panic!("{what}: {other:?}"),
            }
        }
    }
    assert_eq!(seen, (45, 45));
}

fn pairwise(study: &Study) -> &Pairwise {
    let found = study.findings.iter().find_map(|finding| match finding {
        Finding::Pairwise(found) => Some(found),
        _ => None,
    });
    found.unwrap()
}

#[test]
fn systems_without_a_shared_item_are_compared_as_groups_and_a_warning_says_so() {
    let study = analyse(&apart().table());
    let found = pairwise(&study);
    assert_eq!((found.pairs, found.rows.len()), (6, 4));
    for row in &found.rows {
        assert!(row.f1.iter().all(|one| *one == Err(Absence::NoDifference)), "random numbers");
        assert_eq!(row.n, [6; 3]);
    }
    assert_eq!(study.levels(), [Level::System, Level::Pooled]);
    let agreement =
        study.agreement("bleu", "plot/pace", Level::Story, Coefficient::Kendall).unwrap();
    assert_eq!((&agreement.value, agreement.n), (&Err(Absence::NoSharedItem), 0));
    let pooled = study.agreement("bleu", "plot/pace", Level::Pooled, Coefficient::Kendall).unwrap();
    assert_eq!((pooled.n, pooled.left_out), (32, 0));
    let unpaired: Vec<_> =
        study.warnings.iter().filter(|w| w.kind == WarningKind::Unpaired).collect();
    assert_eq!(unpaired.len(), 1);
    let sheets = view::sheets(&study);
    let shown = view::text::study(&study, &sheets, &[]);
    assert!(shown.contains("no two systems have a story for the same item"), "{shown}");
    let sheet = sheets.iter().find(|sheet| sheet.subject == Subject::Pairwise).unwrap();
    assert_eq!(sheet.rows.len(), 4);
    for cell in sheet.rows.iter().flat_map(|row| &row[1..]) {
        assert_eq!(cell, &Cell::missing(Absence::NoDifference));
    }
    assert!(sheet.notes[0].starts_with("6 pairs of systems; a system is better"));
}

#[test]
fn a_verdict_needs_as_many_shared_items_as_could_decide_it() {
    // Two systems share two items, on which nothing can be decided.
    let table = random(2, 2, &["fun"], &["a", "b", "c"]);
    let study = analyse(&table);
    for row in &pairwise(&study).rows {
        assert_eq!(row.f1, [Err(Absence::Fewer(6))]);
    }
}

#[test]
fn random_numbers_never_get_an_f1_of_100() {
    // Nobody differs from anybody: all verdicts are undecided, and full agreement means nothing.
    let study = analyse(&random(3, 40, &["fun"], &["a", "b", "c", "d", "e"]));
    let found = pairwise(&study);
    assert_eq!(found.rows.len(), 5);
    for row in &found.rows {
        match row.f1[0].clone() {
            Ok(f1) => assert!(f1 < 100.0, "{row:?}"),
            Err(reason) => assert_eq!(reason, Absence::NoDifference),
        }
    }
}

#[test]
fn an_absent_column_and_a_constant_one_are_named_with_the_reason() {
    let mut table = random(5, 6, &["fun"], &["a"]);
    table.push(Column::metric("gone", Direction::Higher), vec![Err(Absence::NotGiven); 30]);
    table.push(Column::metric("flat", Direction::Higher), vec![Ok(2.0); 30]);
    let study = analyse(&table);
    for (metric, reason) in [("gone", Absence::Empty), ("flat", Absence::Constant)] {
        for level in [Level::System, Level::Pooled] {
            let found = study.agreement(metric, "fun", level, Coefficient::Pearson).unwrap();
            assert_eq!(found.value, Err(reason.clone()), "{metric} {level}");
        }
    }
    let kinds: Vec<_> = study.warnings.iter().map(|w| (w.kind, w.subject.as_str())).collect();
    let few = [(WarningKind::Few, "systems"), (WarningKind::Few, "items")];
    assert_eq!(kinds[..2], few, "five systems and six items");
    assert_eq!(kinds[2..], [(WarningKind::Empty, "gone"), (WarningKind::Constant, "flat")]);
    let gone = study.columns.iter().find(|column| column.key.as_str() == "gone").unwrap();
    assert_eq!((gone.counts.present, gone.counts.absent), (0, 30));
}

#[test]
fn n_of_a_sheet_says_when_criteria_differ() {
    let study = analyse(&holes().table());
    let sheets = view::sheets(&study);
    let sheet = sheets.iter().find(|sheet| sheet.id == "against-pooled-spearman").unwrap();
    let n = sheet.cell("bleu", "n").unwrap();
    let expected = study.criteria().into_iter().map(|criterion| {
        study.agreement("bleu", criterion.as_str(), Level::Pooled, Coefficient::Spearman).unwrap().n
    });
    let (least, most) = (expected.clone().min().unwrap(), expected.max().unwrap());
    assert!(least < most, "the fixture has gaps");
    assert_eq!(n.text(), format!("{least} to {most}"));
}
