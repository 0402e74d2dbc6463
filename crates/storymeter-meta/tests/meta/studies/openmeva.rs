//! OpenMEVA's tasks with people, on stories of our own in its layout.

use std::collections::BTreeMap;
use std::io::Cursor;

use serde::Deserialize;
use serde_json::Value;
use storymeter_core::read::{self, ReadOptions, from_reader};
use storymeter_core::spreadsheet::TextCells;
use storymeter_core::{Absence, Catalogue, Column, Direction, Row, ScoreTable};
use storymeter_meta::Error;
use storymeter_meta::openmeva::{Dataset, HumanTasks, Options, analyse};
use storymeter_meta::view::{Cell, text, typeset};

/// What scipy says, made by `tools/openmeva_fixtures.py`.
#[derive(Deserialize)]
struct Fixture {
    metrics: BTreeMap<String, String>,
    datasets: Vec<Expected>,
}

#[derive(Deserialize)]
struct Expected {
    name: String,
    mags: Value,
    scores: BTreeMap<String, BTreeMap<String, Option<f64>>>,
    reasonable: usize,
    expected: Vec<Correlation>,
}

/// Task, dataset, set, metric, coefficient, value, p-value, n.
type Correlation = (String, String, String, String, String, Option<f64>, Option<f64>, usize);

/// The stories of a file in the layout, as `score` would keep them.
fn rated(mags: &str) -> ScoreTable {
    let records = from_reader("mags.json", Cursor::new(mags.to_owned()), &ReadOptions::default());
    let row = |story: storymeter_core::Story| Row {
        item: story.item().to_owned(),
        id: story.id,
        system: story.system,
        ratings: story.ratings,
        ..Row::default()
    };
    ScoreTable::new(records.map(|record| row(record.unwrap().story)).collect())
}

fn push(table: &mut ScoreTable, metric: &str, direction: Direction, scores: Vec<Option<f64>>) {
    let value = |score: Option<f64>| score.ok_or(Absence::NotGiven);
    table.push(Column::metric(metric, direction), scores.into_iter().map(value).collect());
}

fn fixture() -> (Fixture, Vec<ScoreTable>) {
    let fixture: Fixture =
        serde_json::from_str(include_str!("../../fixtures/openmeva.json")).unwrap();
    let table = |dataset: &Expected| {
        let mut table = rated(&dataset.mags.to_string());
        let keys: Vec<String> = table
            .rows()
            .iter()
            .map(|row| format!("{}/{}", row.system.as_deref().unwrap(), row.id))
            .collect();
        for metric in ["union", "perplexity", "flat"] {
            let lower = fixture.metrics[metric] == "lower";
            let direction = if lower { Direction::Lower } else { Direction::Higher };
            let scores = keys.iter().map(|key| dataset.scores[key][metric]).collect();
            push(&mut table, metric, direction, scores);
        }
        table
    };
    let tables = fixture.datasets.iter().map(table).collect();
    (fixture, tables)
}

fn tasks(fixture: &Fixture, tables: &[ScoreTable]) -> HumanTasks {
    let named = fixture.datasets.iter().zip(tables);
    let datasets: Vec<Dataset<'_>> =
        named.map(|(one, scores)| Dataset { name: &one.name, scores }).collect();
    analyse(&datasets, &Options::default()).unwrap()
}

#[test]
fn every_number_is_scipys() {
    let (fixture, tables) = fixture();
    let found = tasks(&fixture, &tables);
    let sheet = found.sheets().pop().unwrap();
    let mut rows = sheet.rows.iter();
    let expected = fixture.datasets.iter().flat_map(|dataset| &dataset.expected);
    let mut count = 0;
    for one in expected {
        let (task, dataset, set, metric, coefficient, value, p, n) = one;
        let mut rows = rows.clone();
        let row = rows
            .find(|row| {
                let is = |at: usize, name: &String| row[at].text() == name;
                is(0, task) && is(1, dataset) && is(2, set) && is(4, metric) && is(5, coefficient)
            })
            .unwrap_or_else(|| panic!("{one:?}"));
        assert_eq!(row[8].value(), *n as f64, "{one:?}");
        for (cell, wanted) in [(&row[6], value), (&row[7], p)] {
            match wanted {
                Some(wanted) => {
                    let error = (cell.value() - wanted).abs();
                    assert!(error < 1e-12 + 1e-9 * wanted.abs(), "{one:?}: {cell:?}");
                }
                None => assert_eq!(*cell, Cell::missing(Absence::Constant), "{one:?}"),
            }
        }
        count += 1;
    }
    assert_eq!((count, rows.by_ref().count()), (144, 144));
    let reasonable: Vec<usize> = found.by_error_type.iter().map(|one| one.reasonable).collect();
    let expected: Vec<usize> = fixture.datasets.iter().map(|one| one.reasonable).collect();
    assert_eq!(reasonable, expected);
    assert_eq!(found.by_error_type[0].unknown, 4, "stories without ratings");
}

#[test]
fn results_are_written_and_read_back() {
    let (fixture, tables) = fixture();
    let found = tasks(&fixture, &tables);
    let json = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<HumanTasks>(&json).unwrap(), found);
}

#[test]
fn a_score_file_keeps_all_that_the_tasks_need() {
    let (fixture, tables) = fixture();
    let folder = tempfile::tempdir().unwrap();
    let again = |(at, table): (usize, &ScoreTable)| {
        let path = folder.path().join(format!("{at}.jsonl"));
        table.write(&path).unwrap();
        read::scores(&path, &Catalogue::default()).unwrap()
    };
    let read: Vec<ScoreTable> = tables.iter().enumerate().map(again).collect();
    assert_eq!(tasks(&fixture, &read), tasks(&fixture, &tables));
}

/// Six stories of two generators.
const SMALL: &str = r#"{
 "1": {"gen": {"s2s": {"text": "A.", "score": [1, 2, 1], "error": ["Rept", "Rept", null]},
               "gpt": {"text": "B.", "score": [4, 5, 5], "error": []}}},
 "2": {"gen": {"s2s": {"text": "C.", "score": [2, 1, 3], "error": {"Conf": 2}},
               "gpt": {"text": "D.", "score": [3, 3, 4], "error": {"Conf": 1}}}},
 "3": {"gen": {"s2s": {"text": "E.", "score": [2, 2, 2], "error": ["Conf", "Rept"]},
               "gpt": {"text": "F.", "score": [5, 5, 4], "error": "reasonable"}}}}"#;

fn small() -> ScoreTable {
    let mut table = rated(SMALL);
    let scores = [9.0, 2.0, 7.0, 4.0, 5.0, 3.0].map(Some);
    push(&mut table, "perplexity", Direction::Lower, scores.to_vec());
    push(&mut table, "length", Direction::None, vec![Some(1.0); 6]);
    table
}

#[test]
fn the_tables_say_what_was_found() {
    let table = small();
    let found = analyse(&[Dataset { name: "roc", scores: &table }], &Options::default()).unwrap();
    let sheets = found.sheets();
    let ids: Vec<&str> = sheets.iter().map(|sheet| sheet.id.as_str()).collect();
    assert_eq!(ids, ["human-scores", "error-types-roc", "generators-roc", "datasets", "all"]);
    let shown: String = sheets[..3].iter().map(text::sheet).collect();
    let shown = shown.replace(env!("CARGO_PKG_VERSION"), "VERSION");
    insta::assert_snapshot!(shown);
    // Printed by scipy 1.17.1, with x = [-9, -2, -7, -4, -5, -3] and y = [4/3, 14/3, 2, 10/3, 2,
    // 14/3]: pearsonr(x, y), spearmanr(x, y) and kendalltau(x, y); the shares of the 720 orders of
    // y with coefficients at least as strong, which are the p-values; then pearsonr on the stories
    // 0, 1, 4, 5 (Rept), 1, 2, 4, 5 (Conf), 0, 2, 4 (s2s) and 1, 3, 5 (gpt).
    let close = |sheet: usize, column: usize, expected: f64| {
        let found = sheets[sheet].rows[0][column].value();
        assert!((found - expected).abs() < 1e-12, "{sheet} {column}: {found}");
    };
    close(0, 3, 0.919_813_878_980_392_4);
    close(0, 4, 0.971_008_312_455_224_5);
    close(0, 5, 0.930_949_336_251_262_7);
    close(0, 6, 12.0 / 720.0);
    close(0, 7, 8.0 / 720.0);
    close(0, 8, 8.0 / 720.0);
    close(1, 2, 0.910_965_731_898_602_7);
    close(1, 3, 0.911_322_376_865_767);
    close(2, 2, 0.866_025_403_784_438_7);
    close(2, 3, 0.866_025_403_784_438_7);
    let markdown = typeset::markdown(&sheets[1]);
    assert!(markdown.contains("| metric | all (6) | Rept (2) | Conf (2) |"), "{markdown}");
    assert!(typeset::latex(&sheets[1]).contains("Rept (2)"));
    assert!(text::csv(&sheets[4], TextCells::Marked).starts_with("task,dataset,set,stories,"));
}

#[test]
fn each_metric_has_a_sentence() {
    let (fixture, tables) = fixture();
    let said: Vec<String> =
        tasks(&fixture, &tables).conclusions().into_iter().map(|(_, said)| said).collect();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn the_threshold_is_an_option_and_a_majority_is_enough() {
    let table = small();
    let own = |raters_needed: usize| {
        let options = Options { raters_needed, ..Options::default() };
        let found = analyse(&[Dataset { name: "roc", scores: &table }], &options).unwrap();
        let sets = found.by_error_type[0].sets.as_ref().unwrap();
        let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
        assert_eq!(names, ["Rept", "Conf"]);
        sets.iter().map(|set| set.stories).collect::<Vec<_>>()
    };
    // The third story of s2s has the verdict of the data set instead of three raters.
    assert_eq!([own(3), own(2), own(1)], [[2, 2], [2, 2], [2, 3]]);
    assert_eq!(own(0), own(1));
}

#[test]
fn what_the_data_do_not_say_is_a_gap() {
    let mut table = rated(r#"{"1": {"gen": {"s2s": {"text": "A.", "score": [1, 2]}}}}"#);
    push(&mut table, "bleu", Direction::Higher, vec![None]);
    let mut other = ScoreTable::new(vec![Row {
        ratings: rated(SMALL).rows()[0].ratings.clone(),
        ..Row::default()
    }]);
    push(&mut other, "chrf", Direction::Higher, vec![Some(1.0)]);
    let datasets = [Dataset { name: "a", scores: &table }, Dataset { name: "b", scores: &other }];
    let found = analyse(&datasets, &Options::default()).unwrap();
    assert_eq!(found.by_error_type[0].sets, Err(Absence::NoErrorTypes));
    assert_eq!(found.inside_generators[1].sets, Err(Absence::NoSystems));
    assert_eq!(found.inside_generators[1].unknown, 1);
    let across = &found.across_datasets;
    assert_eq!(across.rows[0].cells[1], Err(Absence::NoSuchMetric));
    let value = found.overall[0].metrics[0].pearson().unwrap().value.clone();
    assert_eq!(value, Err(Absence::Empty));
    assert_eq!(
        found.conclusions()[0].1,
        "bleu cannot be compared with people on a (a column has no values)."
    );
    for sheet in found.sheets() {
        let _ = (text::sheet(&sheet), typeset::latex(&sheet));
    }
}

#[test]
fn wrong_names_and_tables_are_refused() {
    let table = small();
    let dataset = |name| Dataset { name, scores: &table };
    let refused = |datasets: &[Dataset<'_>], options: Options| {
        analyse(datasets, &options).unwrap_err().to_string()
    };
    assert_eq!(
        refused(&[dataset("roc"), dataset("roc")], Options::default()),
        "the name \"roc\" is given twice"
    );
    let options = Options { criterion: Some("hunan".into()), ..Options::default() };
    assert_eq!(
        refused(&[dataset("roc")], options),
        "there is no criterion \"hunan\"; did you mean \"human\"? There are: human"
    );
    let directions = vec![("perplexitie".into(), Direction::Higher)];
    let options = Options { directions, ..Options::default() };
    assert!(refused(&[dataset("roc")], options).starts_with("there is no metric \"perplexitie\""));
    let unscored = rated(SMALL);
    let error = analyse(&[Dataset { name: "roc", scores: &unscored }], &Options::default());
    assert!(matches!(error, Err(Error::NoMetric { .. })));
    let directions = vec![("perplexity".into(), Direction::Higher)];
    let options = Options { directions, ..Options::default() };
    let turned = analyse(&[dataset("roc")], &options).unwrap();
    assert!(turned.overall[0].metrics[0].pearson().unwrap().value.clone().unwrap().value < -0.9);
}
