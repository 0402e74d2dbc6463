//! Figures and pages of whole studies: every figure is there, with the numbers of the result, under
//! a file name of its own, whatever the criteria and metrics are called.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use crate::common::{CRITERIA, METRICS, page_data, study_folder};
use storymeter_core::Catalogue;
use storymeter_meta::view::{self, Cell, Form, Sheet, Subject};
use storymeter_meta::{Level, folder};
use storymeter_report::{FigureSet, Inputs, Report, files};

/// Every mark of an SVG that stands for a number: row, column and number.
fn read_back(svg: &str) -> Vec<(String, String, f64)> {
    let attribute = |mark: &str, name: &str| {
        let (_, after) = mark.split_once(&format!("{name}=\"")).unwrap();
        let (text, _) = after.split_once('"').unwrap();
        let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
        text.replace("&#39;", "'").replace("&amp;", "&")
    };
    let marks = svg.split('<').filter(|mark| mark.contains("data-v="));
    marks
        .map(|mark| {
            let value = attribute(mark, "data-v").parse().unwrap();
            (attribute(mark, "data-r"), attribute(mark, "data-c"), value)
        })
        .collect()
}

fn read(path: &Path) -> Inputs {
    Inputs::read(&[path.to_owned()], None, &Catalogue::default()).unwrap()
}

/// The sheets that are drawn as figures.
fn drawn(sheets: &[Sheet]) -> Vec<&Sheet> {
    let is_drawn =
        |sheet: &&Sheet| sheet.form != Form::Table && sheet.subject != Subject::RatingDensities;
    sheets.iter().filter(is_drawn).collect()
}

#[test]
fn every_sheet_has_its_figure_in_three_formats() {
    let temporary = tempfile::tempdir().unwrap();
    let run = study_folder(temporary.path());
    let sheets = view::sheets(&folder::read(&run).unwrap());
    let out = temporary.path().join("figures");
    let paths = files::write(&Report::new(&read(&run)).figures(FigureSet::All), &out).unwrap();
    let wanted = drawn(&sheets);
    assert!(wanted.len() > 40, "{} figures", wanted.len());
    // The pictures of the best metrics have no sheet of their own.
    assert!(paths.len() > 3 * wanted.len() && paths.len().is_multiple_of(3), "{}", paths.len());
    for sheet in wanted {
        for (ending, magic) in [("svg", &b"<svg"[..]), ("png", b"\x89PNG"), ("pdf", b"%PDF")] {
            let bytes = fs::read(out.join(format!("{}.{ending}", sheet.id))).unwrap();
            assert!(bytes.starts_with(magic), "{}.{ending}", sheet.id);
        }
    }
}

#[test]
fn every_number_of_a_heat_map_is_the_one_in_the_result() {
    let temporary = tempfile::tempdir().unwrap();
    let run = study_folder(temporary.path());
    let sheets = view::sheets(&folder::read(&run).unwrap());
    let mut numbers = 0;
    let mut heatmaps = 0;
    for figure in Report::new(&read(&run)).figures(FigureSet::All) {
        let Some(sheet) = sheets.iter().find(|sheet| sheet.id == figure.id) else { continue };
        if sheet.form != Form::Heatmap {
            continue;
        }
        heatmaps += 1;
        for (row, column, value) in read_back(&figure.standalone()) {
            let real = sheet.value(&row, &column);
            assert_eq!(value.to_bits(), real.to_bits(), "{}: {row}, {column}", sheet.id);
            numbers += 1;
        }
    }
    assert!(heatmaps > 30 && numbers > 300, "{heatmaps} heat-maps, {numbers} numbers");
}

#[test]
fn hostile_criteria_land_in_the_right_facet() {
    let temporary = tempfile::tempdir().unwrap();
    let run = study_folder(temporary.path());
    let data = page_data(&Report::new(&read(&run)).html());
    let heats: Vec<&serde_json::Value> = data["runs"][0]["sheets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|sheet| &sheet["heat"])
        .filter(|heat| !heat.is_null())
        .collect();
    let mut found = 0;
    for level in Level::ALL.map(Level::name) {
        for criterion in CRITERIA {
            let is_wanted = |heat: &&&serde_json::Value| {
                heat["kind"] == "tests" && heat["level"] == level && heat["criterion"] == criterion
            };
            let count = heats.iter().filter(is_wanted).count();
            assert_eq!(count, 1, "tests for {criterion} at {level} level");
            found += count;
        }
        for coefficient in ["pearson", "spearman", "kendall"] {
            for kind in ["against", "metrics", "criteria"] {
                let is_wanted = |heat: &&&serde_json::Value| {
                    heat["kind"] == kind
                        && heat["level"] == level
                        && heat["coefficient"] == coefficient
                };
                let count = heats.iter().filter(is_wanted).count();
                assert_eq!(count, 1, "{kind}, {level}, {coefficient}");
                found += count;
            }
        }
    }
    assert_eq!(found, 3 * (CRITERIA.len() + 9));
}

#[test]
fn two_presets_of_one_metric_stand_side_by_side() {
    let temporary = tempfile::tempdir().unwrap();
    let run = study_folder(temporary.path());
    let scores = temporary.path().join("scores.jsonl");
    let inputs = Inputs::read(&[run, scores], None, &Catalogue::default()).unwrap();
    let data = page_data(&Report::new(&inputs).html());
    let columns = data["stories"]["columns"].as_array().unwrap();
    let names: Vec<&str> = columns.iter().map(|column| column["name"].as_str().unwrap()).collect();
    assert_eq!(names, [CRITERIA.as_slice(), METRICS.as_slice()].concat());
    let against = data["runs"][0]["sheets"]
        .as_array()
        .unwrap()
        .iter()
        .find(|sheet| sheet["heat"]["kind"] == "against")
        .unwrap();
    let rows: Vec<&str> =
        against["rows"].as_array().unwrap().iter().map(|row| row[0].as_str().unwrap()).collect();
    assert!(METRICS.iter().all(|metric| rows.contains(metric)), "{rows:?}");
}

#[test]
fn figures_of_several_runs_have_names_of_their_own() {
    let temporary = tempfile::tempdir().unwrap();
    let run = study_folder(temporary.path());
    let inputs = Inputs::read(&[run.clone(), run], None, &Catalogue::default()).unwrap();
    let figures = Report::new(&inputs).figures(FigureSet::All);
    let names: HashSet<String> = figures.iter().map(|figure| figure.id.to_lowercase()).collect();
    assert_eq!(names.len(), figures.len());
    let page = Report::new(&inputs).html();
    let ids: Vec<&str> =
        page.split(" id=\"").skip(1).filter_map(|after| after.split('"').next()).collect();
    let distinct: HashSet<&&str> = ids.iter().collect();
    assert!(ids.len() > 40, "{} ids", ids.len());
    assert_eq!(distinct.len(), ids.len(), "no id is twice in the page");
}

#[test]
fn absent_values_are_shown_with_their_reasons_and_never_as_nan() {
    let temporary = tempfile::tempdir().unwrap();
    let run = study_folder(temporary.path());
    let scores = temporary.path().join("scores.jsonl");
    let inputs = Inputs::read(&[run.clone(), scores], None, &Catalogue::default()).unwrap();
    let page = Report::new(&inputs).html();
    let data = page_data(&page);
    let column = data["stories"]["columns"]
        .as_array()
        .unwrap()
        .iter()
        .find(|column| column["name"] == crate::common::WITH_GAPS)
        .unwrap();
    assert_eq!(column["absent"], serde_json::json!([["the story has no word", [0, 5]]]));
    assert!(column["values"][0].is_null() && column["values"][1].is_number());
    // The constant metric has no correlation anywhere, and every table says why.
    let sheets = data["runs"][0]["sheets"].as_array().unwrap();
    let against = sheets.iter().find(|sheet| sheet["heat"]["kind"] == "against").unwrap();
    let flat = against["rows"].as_array().unwrap().iter();
    let flat = flat.clone().find(|row| row[0] == crate::common::CONSTANT).unwrap();
    assert!(flat[1]["absent"].is_string(), "{flat}");
    let markup = page.split("<script").next().unwrap();
    assert!(!markup.contains("NaN") && !markup.contains("&gt;NaN"));
    let sheets = view::sheets(&folder::read(&run).unwrap());
    let missing = sheets.iter().flat_map(|sheet| sheet.rows.iter().flatten());
    assert!(missing.filter(|cell| matches!(cell, Cell::Missing { .. })).count() > 10);
}

#[test]
fn names_never_become_markup() {
    let temporary = tempfile::tempdir().unwrap();
    let run = study_folder(temporary.path());
    let scores = temporary.path().join("scores.jsonl");
    let page =
        Report::new(&Inputs::read(&[run, scores], None, &Catalogue::default()).unwrap()).html();
    assert!(page.contains("&lt;img src=x&gt;"), "the hostile metric is on the page");
    assert!(!page.contains("<img"));
}

#[test]
fn the_references_of_hannas_published_scores_are_left_out() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("scores.csv");
    let scores = "Model,Relevance,BLEU Ξ§\nHuman,\"[5, 5]\",\"[100, 100]\"\n\
                  Tale,\"[1, 2]\",\"[3, 4]\"\n";
    fs::write(&path, scores).unwrap();
    let inputs = read(&path);
    let stories = inputs.stories().unwrap();
    assert_eq!(stories.scores().systems(), ["Tale"]);
    assert!(Report::new(&inputs).html().contains("2 stories are not shown, those of Human"));
    // In any other table, a system of that name is one like all others.
    fs::write(&path, "id,system,item,bleu\na,Human,1,100\nb,Tale,1,3\n").unwrap();
    assert_eq!(read(&path).stories().unwrap().scores().systems(), ["Human", "Tale"]);
}

#[test]
fn the_best_metrics_come_first_and_their_numbers_are_those_of_the_study() {
    let temporary = tempfile::tempdir().unwrap();
    let run = study_folder(temporary.path());
    let study = folder::read(&run).unwrap();
    let mut inputs = read(&run);
    inputs.highlight(METRICS[1]).unwrap();
    let report = Report::new(&inputs);
    let main = report.figures(FigureSet::Main);
    assert!(main.len() < 12, "{} main figures", main.len());
    let ranking = main.iter().find(|figure| figure.id == "ranking").unwrap();
    let svg = ranking.standalone();
    assert!(svg.contains("class=\"tint\""), "the user's metric is pointed out");
    let mut compared = 0;
    for (metric, column, value) in read_back(&svg) {
        let Some(criterion) = column.strip_prefix("r with ") else { continue };
        let pearson = storymeter_meta::Coefficient::Pearson;
        let found = study.agreement(&metric, criterion, Level::Story, pearson).unwrap();
        let expected = study.directed(found).unwrap();
        assert_eq!(expected.to_bits(), value.to_bits(), "{metric}, {criterion}");
        compared += 1;
    }
    assert!(compared >= 2 * CRITERIA.len(), "{compared} numbers");
    let unknown = inputs.highlight("perason").unwrap_err().to_string();
    assert!(unknown.contains("pearson"), "{unknown}");
}
