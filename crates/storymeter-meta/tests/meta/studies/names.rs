//! Criteria and metrics may be called anything: every sheet is there, once, under a plain file
//! name.

use std::collections::HashSet;

use storymeter_meta::view::{self, Subject};
use storymeter_meta::{Level, Study};
use storymeter_stats::Coefficient;

use crate::studies::support::{analyse, random};

const HOSTILE: [&str; 12] = [
    "story-level flow",
    "plot/pace",
    "plot-pace",
    "PLOT PACE",
    "lexical-density",
    "fun",
    "fun-distribution",
    "fun-corrected",
    "..",
    "nul",
    "故事\n情节",
    "a criterion with a name so long that no file system would take the name of its sheet, because \
     someone pasted the whole question that the raters were asked into the header of the file, and \
     then went on to explain it",
];

fn study() -> Study {
    analyse(&random(4, 6, &HOSTILE, &["rouge:hanna/rouge-1-r", "rouge:google/rouge-1-r", "bleu"]))
}

#[test]
fn every_sheet_has_a_file_name_of_its_own() {
    let sheets = view::sheets(&study());
    assert!(sheets.len() > 100, "{}", sheets.len());
    let ids: HashSet<String> = sheets.iter().map(|sheet| sheet.id.to_lowercase()).collect();
    assert_eq!(ids.len(), sheets.len());
    for sheet in &sheets {
        assert_eq!(view::file_stem(&sheet.id), sheet.id, "it is a plain file name already");
        assert!(sheet.signature.starts_with(&sheet.id));
    }
}

#[test]
fn sheets_are_found_by_type_whatever_their_title_says() {
    let sheets = view::sheets(&study());
    for criterion in HOSTILE {
        let mut levels = Vec::new();
        for sheet in &sheets {
            if let Subject::Tests { criterion: own, level, correction: None, .. } = &sheet.subject
                && own.as_str() == criterion
            {
                levels.push(*level);
            }
        }
        assert_eq!(levels, [Level::Story, Level::System, Level::Pooled], "{criterion:?}");
        let biased = sheets.iter().filter(|sheet| {
            matches!(&sheet.subject, Subject::BiasedSets { criterion: own, .. } if own.as_str() == criterion)
        });
        assert_eq!(biased.count(), 3, "{criterion:?}");
    }
    // "story-level flow" does not make a sheet of its criterion one of the story level.
    let against: Vec<_> = sheets
        .iter()
        .filter(|sheet| matches!(sheet.subject, Subject::Against { level: Level::Story, .. }))
        .map(|sheet| sheet.id.as_str())
        .collect();
    let expected = Coefficient::ALL.map(|coefficient| format!("against-story-{coefficient}"));
    assert_eq!(against, expected);
}

#[test]
fn two_presets_of_one_metric_stand_side_by_side() {
    let study = study();
    let find = |metric: &str| {
        study.agreement(metric, "fun", Level::Pooled, Coefficient::Kendall).unwrap().value.clone()
    };
    assert!(find("rouge:hanna/rouge-1-r").is_ok());
    assert_ne!(find("rouge:hanna/rouge-1-r"), find("rouge:google/rouge-1-r"));
    assert_eq!(study.metrics().len(), 3);
}

#[test]
fn hostile_names_become_plain_and_different_file_names() {
    let long = "ü".repeat(500);
    let names = [
        "plot/pace",
        "plot\\pace",
        "plot pace",
        "PLOT-PACE",
        "..",
        ".",
        "",
        "nul",
        "COM1.x",
        "com10",
        "a\0b\nc",
        "故事/情节",
        long.as_str(),
        long.as_str(),
    ];
    let stems = view::unique_stems(names, &["index"]);
    assert_eq!(stems.len(), names.len());
    let distinct: HashSet<String> = stems.iter().map(|stem| stem.to_lowercase()).collect();
    assert_eq!(distinct.len(), names.len(), "{stems:?}");
    for stem in &stems {
        assert!(!stem.is_empty() && stem.len() <= 120, "{stem}");
        assert!(!stem.contains(['/', '\\', ' ', '\0', '\n']), "{stem:?}");
        assert!(!stem.starts_with('.') && !stem.ends_with('.'), "{stem}");
    }
    assert_eq!(stems[7], "nul_");
    assert_eq!(stems[8], "COM1_.x");
    assert_eq!(stems[9], "com10");
    assert_eq!(stems[11], "故事-情节");
}

#[test]
fn a_number_appended_never_meets_a_name_that_has_it_already() {
    let stems = view::unique_stems(["fun", "fun-2", "fun", "fun"], &[]);
    assert_eq!(stems, ["fun", "fun-2", "fun-3", "fun-4"]);
}
