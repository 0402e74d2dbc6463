//! Rated sets in UNION's layout.

use std::fmt::Write as _;
use std::fs;

use storymeter_core::Direction;
use storymeter_meta::study::{Finding, HumanScores};
use storymeter_meta::union::{Options, analyse};
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
    assert!(found.value.unwrap().interval.is_some());
}

#[test]
fn another_scale_gives_the_same_levels() {
    let (zero, one) = (folder(0), folder(1));
    let binary = analyse(zero.path(), &Options::default()).unwrap();
    let scale = "1..2".parse().unwrap();
    let shifted = analyse(one.path(), &Options { scale, ..Options::default() }).unwrap();
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
