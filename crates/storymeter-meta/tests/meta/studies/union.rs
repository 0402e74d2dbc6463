//! Rated sets in UNION's layout.

use std::fmt::Write as _;
use std::fs;

use storymeter_core::Direction;
use storymeter_meta::study::{Finding, HumanScores, Misjudgements};
use storymeter_meta::union::{MisjudgedOptions, Options, analyse};
use storymeter_meta::view::{self, Cell};
use storymeter_meta::{Error, Level, Study};
use storymeter_stats::Coefficient;

/// Twelve stories, each with three ratings from `low` up.
fn folder(low: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut rated = String::new();
    for story in 0..12 {
        let rating = |rater: usize| low + usize::from((story * 5 + rater * 7) % 12 > 4);
        let _ = writeln!(
            rated,
            "{story} ||| it rained . ||| {} {} {}",
            rating(0),
            rating(1),
            rating(2)
        );
    }
    fs::write(folder.path().join("ant_data.txt"), rated).unwrap();
    let scores = folder.path().join("metric_output");
    fs::create_dir(&scores).unwrap();
    let lines =
        |f: &dyn Fn(usize) -> usize| (0..12).map(|i| format!("{}\n", f(i))).collect::<String>();
    fs::write(scores.join("union.txt"), lines(&|i| i * 5 % 12)).unwrap();
    fs::write(scores.join("ppl.txt"), lines(&|i| 40 - i * i % 11)).unwrap();
    folder
}

fn human_scores(study: &Study) -> &HumanScores {
    let found = study.findings.iter().find_map(|finding| match finding {
        Finding::HumanScores(found) => Some(found),
        _ => None,
    });
    found.unwrap()
}

#[test]
fn perplexity_is_turned_and_said_to_be() {
    let folder = folder(0);
    let study = analyse(folder.path(), &Options::default()).unwrap();
    let turned: Vec<&str> = study.turned.iter().map(|key| key.as_str()).collect();
    assert_eq!(turned, ["Perplexity"]);
    assert!(study.columns.iter().all(|column| column.direction == Direction::Higher));
    let found =
        study.agreement("UNION", "reasonable", Level::Pooled, Coefficient::Pearson).unwrap();
    assert_eq!(found.n, 12);
    assert!(found.value.clone().unwrap().interval.is_some());
}

#[test]
fn another_scale_gives_the_same_levels() {
    let (zero, one) = (folder(0), folder(1));
    let binary = analyse(zero.path(), &Options::default()).unwrap();
    let scale = "1..2".parse().unwrap();
    let shifted = analyse(one.path(), &Options::default().with(|it| it.scale = scale)).unwrap();
    assert_eq!(human_scores(&binary), human_scores(&shifted));
    assert_eq!(human_scores(&binary).counts.iter().sum::<usize>(), 12);
}

#[test]
fn one_metric_under_two_file_names_is_refused() {
    let folder = folder(0);
    let scores = folder.path().join("metric_output");
    fs::copy(scores.join("union.txt"), scores.join("UNION.txt")).unwrap();
    // Where the file system does not tell the two names apart, there is one file only.
    if fs::read_dir(&scores).unwrap().count() == 3 {
        let error = analyse(folder.path(), &Options::default()).unwrap_err();
        assert!(matches!(&error, Error::TwiceTheMetric { key, .. } if key == "UNION"), "{error}");
    }
}

/// Five stories of our own. Readers and the metric agree about three of them.
fn misjudged_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let story = |id: &str, text: &str, ratings: &str| format!("{id} ||| {text} ||| {ratings}\n");
    let texts = [
        ("a", "the lamp went out . nobody came ."),
        ("b///7", "=1+1 <b>the lamp</b> , \"said\" the \u{1b}[31mlamp ."),
        ("c", "a fish read the lamp . the lamp read a fish ."),
        ("d", "the lamp was lit . she read until dawn ."),
        ("e", "the lamp the lamp the lamp ."),
    ];
    let ratings = ["1 1 0", "1 1 1", "0 1 0", "1 1 1", "0 0 0"];
    let types = ["0 0 3", "0 0 0", "3 0 4", "0 0 0", "1 1 1"];
    let file = |numbers: [&str; 5]| -> String {
        let lines = texts.iter().zip(numbers);
        lines.map(|(&(id, text), numbers)| story(id, text, numbers)).collect()
    };
    fs::write(folder.path().join("ant_data.txt"), file(ratings)).unwrap();
    fs::write(folder.path().join("ant_data_all.txt"), file(types)).unwrap();
    let scores = folder.path().join("metric_output");
    fs::create_dir(&scores).unwrap();
    fs::write(scores.join("union.txt"), "0.5\n0.1\n0.99\n0.9\n0.2\n").unwrap();
    fs::write(scores.join("ppl.txt"), "20\n10\n50\n11\nnan\n").unwrap();
    folder
}

fn misjudged(study: &Study) -> &Misjudgements {
    let found = study.findings.iter().find_map(|finding| match finding {
        Finding::Misjudged(found) => Some(found),
        _ => None,
    });
    found.unwrap()
}

#[test]
fn misjudged_stories_are_those_whose_places_are_far_apart() {
    let folder = misjudged_folder();
    let study = analyse(folder.path(), &Options::default()).unwrap();
    let found = misjudged(&study);
    // Perplexity is not learned.
    assert_eq!(found.metrics.len(), 1);
    let union = &found.metrics[0];
    assert_eq!((union.metric.as_str(), union.n), ("UNION", 5));
    // Human places: e 0, c 0.25, a 0.5, b and d 0.875. Score places: b 0, e 0.25, a 0.5, d 0.75, c
    // 1.
    let lines = |stories: &[storymeter_meta::study::MisjudgedStory]| -> Vec<(usize, f64)> {
        stories.iter().map(|one| (one.line, one.score_place - one.human_place)).collect()
    };
    assert_eq!(lines(&union.overrated), [(3, 0.75), (5, 0.25)]);
    assert_eq!(lines(&union.underrated), [(2, -0.875), (4, -0.125)]);
    let worst = &union.overrated[0];
    assert_eq!((worst.id.as_str(), worst.human, worst.score), ("c", 1.0 / 3.0, 0.99));
    let errors = [("Conf".to_owned(), 1), ("Chao".to_owned(), 1)];
    assert_eq!(worst.errors.as_deref(), Some(&errors[..]));
    assert_eq!(union.underrated[0].errors, Some(Vec::new()));
}

#[test]
fn a_metric_can_be_named_and_its_own_numbers_are_shown() {
    let folder = misjudged_folder();
    let options = |metric: &str, most| {
        Options::default()
            .with(|it| it.misjudged = MisjudgedOptions { most, metrics: vec![metric.to_owned()] })
    };
    let study = analyse(folder.path(), &options("Perplexity", 1)).unwrap();
    let perplexity = &misjudged(&study).metrics[0];
    assert_eq!(perplexity.n, 4, "one story has no score");
    // Fewer is better: 50 is the lowest place, although it is the largest number.
    assert_eq!(perplexity.underrated.len(), 1);
    assert_eq!(perplexity.underrated[0].line, 4);
    assert_eq!(perplexity.underrated[0].score, 11.0);
    let error = analyse(folder.path(), &options("UNIONS", 1)).unwrap_err().to_string();
    assert!(error.contains("\"UNIONS\"") && error.contains("\"UNION\""), "{error}");
    let none = analyse(folder.path(), &options("UNION", 0)).unwrap();
    assert!(!none.findings.iter().any(|one| matches!(one, Finding::Misjudged(_))));
}

#[test]
fn the_sheet_of_misjudged_stories_is_safe_to_show() {
    let folder = misjudged_folder();
    let study = analyse(folder.path(), &Options::default()).unwrap();
    let sheets = view::sheets(&study);
    let sheet = sheets.iter().find(|sheet| sheet.id == "table-11").unwrap();
    assert!(!sheet.brief, "it is shown only if it is asked for");
    assert_eq!(sheet.rows.len(), 4);
    assert_eq!(sheet.rows[0][8], Cell::from("Conf 1, Chao 1"));
    let printed = view::text::sheet(sheet);
    assert!(!printed.contains('\u{1b}'), "{printed}");
    let csv = view::text::csv(sheet, storymeter_core::spreadsheet::TextCells::Marked);
    assert!(csv.contains(",\"'=1+1 <b>the lamp</b> , \"\"said\"\""), "{csv}");
}
