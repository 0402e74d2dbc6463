//! Pages and figures of test suites for metrics: the numbers of the result, all parts, and names
//! that try to leave their place.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{page_data, study_folder};
use serde_json::{Value, json};
use storymeter_core::{Aspect, AspectTest, Catalogue, Column, Direction, Key};
use storymeter_meta::suite::{
    self, AspectScores, Example, ExampleScore, LeftOut, MetricScores, MissingAspect, Pairing,
    Piece, RuleCount, SuiteOptions, SuiteResult, SuiteScores,
};
use storymeter_report::{Error, FigureSet, Inputs, Report, files};

const METRICS: [&str; 3] = ["union", "perplexity:gpt2", "length"];
const REASON: &str = "needs a file of paraphrases";

/// Scores of a few pairs per aspect. Paraphrases are missing, and `cause` has no pair.
fn result(metrics: &[&str]) -> SuiteResult {
    let scores = |metric: usize, aspect: Aspect| {
        let number = |at: usize, step: usize| (at * step % 23) as f64 / 23.0;
        let shift = (13 - aspect.index()) as f64 / (20.0 * (metric + 1) as f64);
        let count = if aspect == Aspect::Cause { 0 } else { 30 };
        MetricScores {
            originals: (0..count).map(|at| Ok(number(at, 7) + shift)).collect(),
            twins: (0..count).map(|at| Ok(number(at, 5 + metric))).collect(),
        }
    };
    let aspect = |aspect: Aspect| AspectScores {
        aspect,
        stories: 40,
        left_out: vec![LeftOut { reason: "no word to change".into(), stories: 10 }],
        rules: vec![RuleCount { rule: "the rule".into(), pairs: 30 }],
        pairing: Pairing::Paired,
        scores: (0..metrics.len()).map(|metric| scores(metric, aspect)).collect(),
    };
    let tested = Aspect::ALL.into_iter().filter(|own| *own != Aspect::Paraphrase);
    let given = SuiteScores {
        columns: metrics.iter().map(|key| Column::metric(*key, Direction::Higher)).collect(),
        aspects: tested.map(aspect).collect(),
        missing: vec![MissingAspect { aspect: Aspect::Paraphrase, reason: REASON.into() }],
        originals: Vec::new(),
    };
    let options = SuiteOptions::default().with(|it| it.resamples = 50);
    let mut result = suite::analyse(&given, &options).unwrap();
    result.examples = vec![example(Aspect::Time, "exchange", "s1", metrics)];
    result
}

fn example(aspect: Aspect, rule: &str, id: &str, metrics: &[&str]) -> Example {
    let piece = |text: &str, changed| Piece { text: text.into(), changed };
    let score = |(at, key): (usize, &&str)| ExampleScore {
        metric: Key::new(*key),
        original: Some(0.5 + at as f64),
        twin: (at != 1).then_some(0.25),
    };
    Example {
        aspect,
        rule: rule.into(),
        id: id.into(),
        original: vec![piece("It rained. <b>\n", false), piece("Then & only then", true)],
        twin: vec![piece("It rained. <b>\n", false), piece("Before </ins> that", true)],
        scores: metrics.iter().enumerate().map(score).collect(),
    }
}

/// Writes a result into a folder of this name.
fn written(folder: &Path, name: &str, result: &SuiteResult) -> PathBuf {
    let path = folder.join(name);
    suite::write(result, &path, &[]).unwrap();
    path
}

fn read(paths: &[PathBuf]) -> Inputs {
    Inputs::read(paths, None, &Catalogue::default()).unwrap()
}

/// The page of one result.
fn page(result: &SuiteResult) -> String {
    let temporary = tempfile::tempdir().unwrap();
    Report::new(&read(&[written(temporary.path(), "out", result)])).html()
}

/// The markup of a page before its data and scripts.
fn markup(page: &str) -> &str {
    page.split("<script").next().unwrap()
}

/// All marks of a drawing that stand for a number: row, column and number.
fn numbers(svg: &str) -> Vec<(String, String, f64)> {
    let attribute = |mark: &str, name: &str| {
        let (_, after) = mark.split_once(&format!(" {name}=\"")).unwrap();
        after.split('"').next().unwrap().to_owned()
    };
    let marks = svg.split('<').filter(|mark| mark.contains(" data-v="));
    marks
        .map(|mark| {
            let value = attribute(mark, "data-v").parse().unwrap();
            (attribute(mark, "data-r"), attribute(mark, "data-c"), value)
        })
        .collect()
}

#[test]
fn a_page_has_words_a_picture_tables_pairs_and_what_the_numbers_rest_on() {
    let result = result(&METRICS);
    let page = page(&result);
    let markup = markup(&page);
    let place = |text: &str| markup.find(text).unwrap_or_else(|| panic!("no {text:?}"));
    let in_order = [
        "<h2 id=\"summary-h\">What these metrics see</h2>",
        "<b>union</b> ",
        "<b>length</b> ",
        "id=\"fig-what-metrics-see\"",
        "Discrimination: does it see the damage?",
        "Invariance: does it stay calm?",
        "<h3>Two baselines</h3>",
        "id=\"suite-1-numbers\"",
        "id=\"suite-1-sheet-4\"",
        "id=\"suite-1-examples-time\"",
        "id=\"suite-1-texts\"",
        "class=\"signature\">suite|",
    ];
    let places: Vec<usize> = in_order.iter().map(|text| place(text)).collect();
    assert!(places.is_sorted(), "{places:?}");
    place("<td>40</td><td>30</td><td>10</td><td class=\"word\">no word to change (10)</td>");
    place(&format!("not tested: {REASON}"));
    // What differs is marked, and texts are never markup.
    place("It rained. &lt;b&gt;\n<del>Then &amp; only then</del>");
    place("It rained. &lt;b&gt;\n<ins>Before &lt;/ins&gt; that</ins>");
    place("<td>0.5</td><td>0.25</td><td class=\"word\">original</td>");
    place("<td>1.5</td><td class=\"absent\">absent</td><td class=\"word\"></td>");

    let data = page_data(&page);
    let sheets = data["extra"].as_array().unwrap();
    assert_eq!(sheets.len(), 1 + METRICS.len() + 1, "an overview, one per metric, and the texts");
    let names = sheets[1]["columns"].as_array().unwrap();
    let names: Vec<&str> = names.iter().map(|head| head[0].as_str().unwrap()).collect();
    for wanted in ["pairs", "AUC", "shift", "low", "high", "right order", "r", "times typo"] {
        assert!(names.contains(&wanted), "{names:?}");
    }
    let rows = sheets[1]["rows"].as_array().unwrap();
    let paraphrase = rows.iter().find(|row| row[0] == "paraphrase").unwrap();
    assert_eq!(paraphrase[3], json!({ "absent": REASON }));
}

#[test]
fn every_number_of_the_picture_is_the_one_in_the_result() {
    let temporary = tempfile::tempdir().unwrap();
    let result = result(&METRICS);
    let inputs = read(&[written(temporary.path(), "out", &result)]);
    let figures = Report::new(&inputs).figures(FigureSet::Main);
    assert_eq!(figures.len(), 1);
    let svg = figures[0].standalone();
    let found = numbers(&svg);
    // Twelve aspects have numbers, and the constant metric has a row of its own. It has an AUC for
    // seven aspects of damage, and no shift for the five that mean nothing.
    assert_eq!(found.len(), 12 * METRICS.len() + 7);
    for (row, column, value) in found {
        let aspect: Aspect = column.parse().unwrap();
        let cell = match row.as_str() {
            "constant metric" => result.constant.iter().find(|cell| cell.aspect == aspect),
            metric => result.cell(metric, aspect),
        };
        let cell = cell.unwrap();
        let real = match aspect.test() {
            AspectTest::Discrimination => cell.auc.clone(),
            AspectTest::Invariance => cell.shift.clone(),
        };
        assert_eq!(real.unwrap().to_bits(), value.to_bits(), "{row}, {column}");
    }
    let absent = svg.matches("\u{b7} paraphrase: absent (needs a file of paraphrases)").count();
    assert_eq!(absent, METRICS.len() + 1, "each cell of a missing aspect says why");
    assert!(svg.contains("\u{b7} cause: absent (no pairs: no word to change (10 stories))"));

    let out = temporary.path().join("figures");
    let paths = files::write(&figures, &out).unwrap();
    let names: Vec<_> = paths.iter().map(|path| path.file_name().unwrap().to_owned()).collect();
    assert_eq!(names[0], "what-metrics-see.svg");
    assert!(paths.iter().all(|path| path.metadata().unwrap().len() > 1000));
}

#[test]
fn one_metric_has_a_page_of_its_own_words() {
    let page = page(&result(&["union"]));
    assert!(page.contains(">What this metric sees</h2>"));
    assert!(page.contains("What union sees and what disturbs it"));
}

#[test]
fn the_file_stands_for_its_folder_and_no_output_replaces_it() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = written(temporary.path(), "out", &result(&METRICS));
    let file = folder.join("result.json");
    let by_file = read(std::slice::from_ref(&file));
    let by_folder = read(std::slice::from_ref(&folder));
    assert_eq!(by_file.suites[0].name, "out");
    assert_eq!(by_file.suites[0].result, by_folder.suites[0].result);
    for path in [&file, &folder] {
        let mut own = Inputs::files(std::slice::from_ref(path), None);
        own.sort();
        assert_eq!(own, [folder.join("result.csv"), file.clone()], "{}", path.display());
    }
    let study = study_folder(temporary.path());
    let own = Inputs::files(std::slice::from_ref(&study), None);
    assert_eq!(own.iter().collect::<HashSet<_>>().len(), own.len(), "no file is there twice");

    let renamed = temporary.path().join("union.json");
    fs::copy(&file, &renamed).unwrap();
    let error = Inputs::read(&[renamed], None, &Catalogue::default()).unwrap_err().to_string();
    assert!(error.contains("union.json: this is the result of a test suite"), "{error}");
    let empty = temporary.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let error = Inputs::read(&[empty], None, &Catalogue::default()).unwrap_err();
    assert!(matches!(error, Error::NotAResult(_)), "{error}");
}

#[test]
fn a_suite_beside_other_inputs_leaves_their_parts_as_they_are() {
    let temporary = tempfile::tempdir().unwrap();
    let study = study_folder(temporary.path());
    let scores = temporary.path().join("scores.jsonl");
    let suite = written(temporary.path(), "out", &result(&METRICS));
    let body = |page: &str| {
        let (_, main) = page.split_once("<main id=\"main\">\n").unwrap();
        main.split_once("</main>").unwrap().0.to_owned()
    };
    for inputs in [vec![study.clone()], vec![scores.clone()], vec![study, scores]] {
        let alone = body(&Report::new(&read(&inputs)).html());
        let both = [vec![suite.clone()], inputs].concat();
        let with_suite = Report::new(&read(&both)).html();
        assert!(with_suite.contains("<a href=\"#suite-1\">What metrics see</a>"));
        let main = body(&with_suite);
        let (before, after) = main.split_once("<section id=\"suite-1\"").unwrap();
        assert_eq!(before, alone);
        assert!(after.contains("What these metrics see</h2>"));
        assert_eq!(with_suite.matches("id=\"fig-what-metrics-see\"").count(), 1);
    }
}

#[test]
fn several_suites_follow_each_other_under_their_names() {
    let temporary = tempfile::tempdir().unwrap();
    let first = written(temporary.path(), "out", &result(&METRICS));
    let second = written(&temporary.path().join("later"), "out", &result(&["union"]));
    let inputs = read(&[first, second]);
    let report = Report::new(&inputs);
    let page = report.html();
    assert!(page.contains("<h2 id=\"summary-h\">What these metrics see: out</h2>"));
    assert!(page.contains("<h2 id=\"suite-2-h\">What this metric sees: out (2)</h2>"));
    let ids: Vec<&str> =
        markup(&page).split(" id=\"").skip(1).filter_map(|after| after.split('"').next()).collect();
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "no id is twice in the page");
    let names: Vec<String> =
        report.figures(FigureSet::All).into_iter().map(|figure| figure.id).collect();
    assert_eq!(names.len(), 2);
    assert_ne!(names[0], names[1]);
}

#[test]
fn a_metric_of_a_suite_can_be_pointed_out() {
    let temporary = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..30).map(|at| format!("metric-{at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut inputs = read(&[written(temporary.path(), "out", &result(&names))]);
    inputs.highlight("metric-20").unwrap();
    let page = Report::new(&inputs).html();
    assert!(page.contains("<p class=\"own\"><b>metric-20</b>"));
    assert!(page.contains("23 more metrics in words"), "six and the one that was asked for");
    assert!(page.contains("class=\"tint\""));
    assert!(inputs.highlight("metric-20x").unwrap_err().to_string().contains("metric-20"));
}

#[test]
fn results_without_metrics_or_aspects_have_a_page() {
    let mut no_metric = result(&METRICS);
    no_metric.metrics.clear();
    no_metric.cells.clear();
    no_metric.examples.clear();
    let page_of_none = page(&no_metric);
    assert!(page_of_none.contains("This result has no metric"));
    assert!(page_of_none.contains("constant metric"), "the baseline is drawn");

    let mut no_aspect = result(&METRICS);
    no_aspect.aspects.clear();
    no_aspect.missing.clear();
    no_aspect.cells.clear();
    no_aspect.constant.clear();
    let page_of_none = page(&no_aspect);
    assert!(page_of_none.contains("There are no pairs, so nothing is known about union."));
    assert!(page_of_none.contains("This result has no aspect."));
    assert!(!page_of_none.contains("id=\"fig-what-metrics-see\""), "there is nothing to draw");
    no_aspect.metrics.clear();
    no_aspect.examples.clear();
    assert!(page(&no_aspect).ends_with("</html>\n"));
}

#[test]
fn hostile_names_and_texts_stay_in_their_place() {
    let hostile = "\u{1b}[2J\u{0}\u{202e}\u{2028}</script><script>alert(1)</script>]]>";
    let names = [
        hostile.to_owned(),
        format!("\"><img src=x onerror=alert(2)>{hostile}"),
        "\u{2066}ab\u{202e}cd".to_owned(),
        "\u{fc}".repeat(10_000),
    ];
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut result = result(&names);
    result.missing[0].reason = hostile.to_owned();
    result.aspects[0].left_out[0].reason = format!("<i>{hostile}");
    result.aspects[0].rules[0].rule = hostile.to_owned();
    result.version = hostile.to_owned();
    let mut odd = example(Aspect::Typo, hostile, "</bdi><img src=x>", &names);
    odd.original[1].text = hostile.to_owned();
    odd.twin[1].text = "x".repeat(100_000);
    result.examples.push(odd);

    let temporary = tempfile::tempdir().unwrap();
    let inputs = read(&[written(temporary.path(), "out", &result)]);
    let report = Report::new(&inputs);
    let page = report.html();
    let is_broken = |c: char| {
        c != '\n' && (c.is_control() || matches!(c, '\u{2028}' | '\u{202e}' | '\u{2066}'))
    };
    assert!(!markup(&page).contains(is_broken), "no control character is in the markup");
    assert_eq!(page.matches("<script").count(), 2, "the data and the scripts of the page");
    assert!(!page.contains("<img") && !page.contains("<i>"));
    assert!(page.contains("The text is cut here."));
    assert_eq!(page_data(&page)["extra"][0]["columns"][2][0], hostile, "the name is whole");

    let out = temporary.path().join("figures");
    for path in files::write(&report.figures(FigureSet::All), &out).unwrap() {
        assert_eq!(path.parent(), Some(out.as_path()), "no name leads out of the folder");
        assert!(path.metadata().unwrap().len() < 3_000_000, "{}", path.display());
    }
}

#[test]
fn too_many_pairs_do_not_make_the_page_too_large() {
    let mut result = result(&METRICS);
    let mut long = example(Aspect::Typo, "mistype", "s", &METRICS);
    long.original[0].text = "word ".repeat(4_000);
    result.examples = vec![long; 200];
    let page = page(&result);
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
    assert!(page.contains(" of 200 pairs are on this page"));
}

/// The pointers (RFC 6901) of all parts of a value.
fn pointers(value: &Value, here: String, all: &mut Vec<String>) {
    match value {
        Value::Array(parts) => {
            let parts = parts.iter().enumerate();
            parts.for_each(|(at, part)| pointers(part, format!("{here}/{at}"), all));
        }
        Value::Object(parts) => {
            parts.iter().for_each(|(key, part)| pointers(part, format!("{here}/{key}"), all));
        }
        _ => {}
    }
    all.push(here);
}

#[test]
fn an_edited_result_is_shown_or_refused_by_name_and_never_breaks_the_program() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = written(temporary.path(), "out", &result(&METRICS));
    let file = folder.join("result.json");
    let whole: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let mut all = Vec::new();
    pointers(&whole, String::new(), &mut all);
    // A large prime visits parts of all kinds. The kind itself tells whose result it is.
    let chosen = (0..90).map(|number| all[number * 7919 % all.len()].clone());
    let chosen: BTreeSet<String> = chosen.filter(|own| own != "/kind" && !own.is_empty()).collect();
    let (mut shown, mut refused) = (0, 0);
    for pointer in chosen {
        for edit in
            [json!(0), json!(1e308), json!(-1e308), json!("</script>"), json!([]), json!({})]
        {
            let mut edited = whole.clone();
            *edited.pointer_mut(&pointer).unwrap() = edit;
            fs::write(&file, edited.to_string()).unwrap();
            match Inputs::read(std::slice::from_ref(&folder), None, &Catalogue::default()) {
                Ok(inputs) => {
                    let report = Report::new(&inputs);
                    let page = report.html();
                    assert!(page.ends_with("</html>\n") && !markup(&page).contains("NaN"));
                    report.figures(FigureSet::All);
                    shown += 1;
                }
                Err(error) => {
                    assert!(error.to_string().contains("result.json"), "{pointer}: {error}");
                    refused += 1;
                }
            }
        }
    }
    assert!(shown > 20 && refused > 20, "{shown} shown, {refused} refused");
}
