//! `meta union` on the UNION authors' 400 rated ROC stories: the numbers of the paper and of scipy.

use std::path::PathBuf;
use std::sync::LazyLock;

use serde_json::Value;
use storymeter_checks::{Result, shared};
use storymeter_meta::union::{MisjudgedOptions, Options, analyse};
use storymeter_meta::view::{self, Sheet};
use storymeter_meta::{Finding, Study};

fn folder() -> Result<PathBuf> {
    shared("data/annotated/union_roc")
}

/// The study of the authors' set, which is made once.
fn study() -> Result<&'static Study> {
    static MADE: LazyLock<Result<Study>> =
        LazyLock::new(|| Ok(analyse(&folder()?, &Options::default())?));
    MADE.as_ref().map_err(Clone::clone)
}

fn find_sheet(study: &Study, id: &str) -> Sheet {
    let found = view::sheets(study).into_iter().find(|sheet| sheet.id == id);
    found.unwrap_or_else(|| panic!("no sheet {id}"))
}

/// The ROC half of Table 5 as printed: metric, r, rho and tau, and whether each has a star.
const TABLE_5: [(&str, [f64; 3], [bool; 3]); 10] = [
    ("BLEU", [0.0299, 0.0320, 0.0231], [false; 3]),
    ("MoverScore", [0.1538, 0.1535, 0.1093], [true; 3]),
    ("RUBER_r-BERT", [0.0448, 0.0517, 0.0380], [false; 3]),
    ("Perplexity", [0.2464, 0.2295, 0.1650], [true; 3]),
    ("RUBER_u-BERT", [0.1477, 0.1434, 0.1018], [true; 3]),
    ("DisScore", [0.0406, 0.0633, 0.0456], [false; 3]),
    ("UNION", [0.3687, 0.4599, 0.3386], [true; 3]),
    ("UNION -Recon", [0.3101, 0.4027, 0.2927], [true; 3]),
    ("RUBER-BERT", [0.1412, 0.1395, 0.1015], [true; 3]),
    ("BLEURT", [0.2310, 0.2353, 0.1679], [true; 3]),
];

fn table_5_is_as_printed_to_four_decimals_with_its_stars() -> Result {
    let sheet = find_sheet(study()?, "table-5");
    assert_eq!(sheet.rows.len(), TABLE_5.len());
    let at = |name: &str| sheet.columns.iter().position(|head| head.name == name).unwrap();
    for (row, (metric, printed, starred)) in sheet.rows.iter().zip(TABLE_5) {
        assert_eq!(row[at("metric")].text(), metric);
        for (symbol, (printed, starred)) in
            ["r", "rho", "tau"].iter().zip(printed.iter().zip(starred))
        {
            let found = row[at(symbol)].value();
            assert_eq!(format!("{found:.4}"), format!("{printed:.4}"), "{metric} {symbol}");
            let mark = row[at(&format!("{symbol}*"))].text();
            assert_eq!(mark, if starred { "*" } else { "" }, "{metric} {symbol}");
        }
    }
    Ok(())
}

fn coefficients_and_p_values_are_scipys() -> Result {
    let study = study()?;
    let fixture: Value = serde_json::from_str(include_str!("../fixtures/union_roc.json")).unwrap();
    let sheet = find_sheet(study, "table-5");
    let at = |name: &str| sheet.columns.iter().position(|head| head.name == name).unwrap();
    let names = [
        ("bleu", "BLEU"),
        ("bleurt", "BLEURT"),
        ("dis", "DisScore"),
        ("moverscore", "MoverScore"),
        ("ppl", "Perplexity"),
        ("ruber_ref_score", "RUBER_r-BERT"),
        ("ruber_score", "RUBER-BERT"),
        ("ruber_unref_score", "RUBER_u-BERT"),
        ("union", "UNION"),
        ("union_recon", "UNION -Recon"),
    ];
    for (file, name) in names {
        let row = sheet.rows.iter().find(|row| row[at("metric")].text() == name).unwrap();
        for (which, symbol) in ["r", "rho", "tau"].iter().enumerate() {
            let scipy = |kind: &str| fixture["metrics"][file][kind][which].as_f64().unwrap();
            let (value, p) = (row[at(symbol)].value(), row[at(&format!("p({symbol})"))].value());
            assert!((value - scipy("values")).abs() < 1e-12, "{name} {symbol}: {value}");
            assert!((p - scipy("p")).abs() < 1e-9, "{name} {symbol}: p {p}");
            assert!((p / scipy("p") - 1.0).abs() < 1e-9, "{name} {symbol}: p {p}, relatively");
        }
    }
    Ok(())
}

fn table_2_and_section_3_1_are_as_printed() -> Result {
    let study = study()?;
    let sheet = find_sheet(study, "table-2");
    for (name, printed) in
        [("Repe", 44.1), ("Cohe", 56.2), ("Conf", 67.5), ("Chao", 50.4), ("Others", 12.9)]
    {
        assert_eq!(
            format!("{:.1}", sheet.value(name, "prop (%)")),
            format!("{printed:.1}"),
            "{name}"
        );
    }
    assert!(sheet.notes[0].starts_with("381 of 400"), "{:?}", sheet.notes);
    let sheet = find_sheet(study, "table-2-shares");
    for (types, printed) in [("1", 23.36), ("2", 36.48), ("3", 34.65), ("4", 4.46)] {
        assert_eq!(
            format!("{:.2}", sheet.value(types, "share (%)")),
            format!("{printed:.2}"),
            "{types}"
        );
    }
    // "All the Spearman correlations between every two error types are less than 0.15 (p-value >
    // 0.01)".
    let sheet = find_sheet(study, "table-2-correlations");
    let at = |name: &str| sheet.columns.iter().position(|head| head.name == name).unwrap();
    assert_eq!(sheet.rows.len(), 10, "five error types make ten pairs");
    for row in &sheet.rows {
        assert!(
            row[at("rho (all)")].value().abs() < 0.15 && row[at("p (all)")].value() > 0.01,
            "{row:?}"
        );
    }
    Ok(())
}

fn table_7_has_the_printed_counts_and_the_printed_value_on_all_stories() -> Result {
    let study = study()?;
    let sheet = find_sheet(study, "table-7");
    let heads: Vec<&str> = sheet.columns.iter().map(|head| head.name.as_str()).collect();
    assert_eq!(heads, ["metric", "All (400)", "Repe (24)", "Cohe (38)", "Conf (61)", "Chao (23)"]);
    assert!(sheet.notes[0].contains("the 19 stories"), "{:?}", sheet.notes);
    assert_eq!(format!("{:.4}", sheet.value("UNION", "All (400)")), "0.3687");
    Ok(())
}

fn figure_3_counts_every_story_once_and_figure_2_draws_what_it_says() -> Result {
    let study = study()?;
    let stories: Vec<f64> =
        find_sheet(study, "figure-3").rows.iter().map(|row| row[2].value()).collect();
    assert_eq!(stories, [18.0, 48.0, 82.0, 76.0, 68.0, 45.0, 44.0, 19.0]);
    let sheet = find_sheet(study, "figure-2-distribution");
    assert_eq!(sheet.rows.len(), 8);
    for (level, row) in sheet.rows.iter().enumerate() {
        for (set, cell) in (1..=8usize).zip(&row[1..]) {
            let p = 1.0 / (set.abs_diff(level) as f64 + 1.0);
            let (expected, spread) =
                (stories[level] * p, (stories[level] * p * (1.0 - p) / 100.0).sqrt());
            let off = (cell.value() - expected).abs();
            assert!(
                off <= 5.0 * spread + 1e-9,
                "set {set}, level {level}: {} for {expected}",
                cell.value()
            );
        }
    }
    // The paper's first conclusion: UNION has the highest correlation on all biased sets.
    let sheet = find_sheet(study, "figure-2");
    for set in 1..=8 {
        let column = format!("#{set}");
        let union = sheet.value("UNION", &column);
        let others = sheet.rows.iter().filter(|row| !row[0].text().starts_with("UNION"));
        let others: Vec<f64> = others.map(|row| sheet.value(row[0].text(), &column)).collect();
        assert_eq!(others.len(), 8);
        assert!(others.iter().all(|value| *value < union), "{column} {others:?}");
    }
    Ok(())
}

fn a_set_without_error_types_or_other_files_still_gives_table_5() -> Result {
    let folder = folder()?;
    let bare = tempfile::tempdir().unwrap();
    std::fs::copy(folder.join("ant_data.txt"), bare.path().join("ant_data.txt")).unwrap();
    std::fs::create_dir(bare.path().join("metric_output")).unwrap();
    for file in ["union.txt", "ruber_ref_score.txt", "ruber_unref_score.txt"] {
        let path = format!("metric_output/{file}");
        std::fs::copy(folder.join(&path), bare.path().join(&path)).unwrap();
    }
    let study = analyse(bare.path(), &Options::default())?;
    let sheet = find_sheet(&study, "table-5");
    let names: Vec<&str> = sheet.rows.iter().map(|row| row[1].text()).collect();
    assert_eq!(
        names,
        ["RUBER_r-BERT", "RUBER_u-BERT", "UNION", "RUBER-BERT"],
        "the hybrid is derived"
    );
    assert_eq!(format!("{:.4}", sheet.rows[3][3].value()), "0.1412");
    assert!(view::sheets(&study).iter().all(|sheet| sheet.id != "table-7"));
    assert!(study.warnings.iter().any(|w| w.subject == "ant_data_all.txt"), "{:?}", study.warnings);
    Ok(())
}

fn drift_scores_are_set_beside_those_at_home() -> Result {
    let folder = folder()?;
    let options = Options::default()
        .with(|it| it.drift = vec![(folder.clone(), folder.join("metric_output"))]);
    let study = analyse(&folder, &options)?;
    let sheet = find_sheet(&study, "table-6");
    assert_eq!(sheet.rows.len(), 10);
    for row in &sheet.rows {
        assert_eq!(sheet.value(row[0].text(), "r"), sheet.value(row[0].text(), "r at home"));
    }
    Ok(())
}

fn the_result_does_not_depend_on_the_number_of_threads() -> Result {
    let folder = folder()?;
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| analyse(&folder, &Options::default()).unwrap())
    };
    assert_eq!(run(1), run(4));
    Ok(())
}

/// Table 11 as printed: how the story begins, the human score, and the score of UNION.
const TABLE_11: [(&str, f64, f64); 5] = [
    ("[MALE] wanted to impress his friends . he decided to make a homemade pie", 0.43, 0.98),
    ("[FEMALE] came home from school with a lot of homework . she did n't know", 0.29, 1.00),
    ("[FEMALE] was a very well off lawyer in [FEMALE] fe . she never had", 0.14, 1.00),
    ("[MALE] was very nervous . he was at the bar with his girlfriend", 0.29, 1.00),
    ("[FEMALE] was making coffee before going to work . she did n't put", 0.86, 0.00),
];

fn the_stories_of_table_11_are_misjudged_as_printed() -> Result {
    let all = MisjudgedOptions { most: 400, metrics: vec!["UNION".to_owned()] };
    let study = analyse(&folder()?, &Options::default().with(|it| it.misjudged = all))?;
    let found = study.findings.iter().find_map(|finding| match finding {
        Finding::Misjudged(found) => Some(&found.metrics[0]),
        _ => None,
    });
    let found = found.unwrap();
    assert_eq!(found.n, 400);
    for (at, (start, human, union)) in TABLE_11.into_iter().enumerate() {
        // S7 to S9 are bad stories with high scores, S10 is a good one with a low score. The 0.99
        // of S6 is a high score too, but UNION gives more to 79% of the stories, and people place
        // the story in the middle: by its place, it is underrated.
        let (list, most) = match at {
            0 => (&found.underrated, 100),
            1..=3 => (&found.overrated, 40),
            _ => (&found.underrated, 1),
        };
        let place = list.iter().position(|story| story.text.starts_with(start));
        let place = place.unwrap_or_else(|| panic!("{start:?} is not among {}", list.len()));
        let story = &list[place];
        assert_eq!(format!("{:.2}", story.human), format!("{human:.2}"), "{start}");
        // The paper cuts 0.986 to 0.98.
        assert!((story.score - union).abs() < 0.01, "{start}: {}", story.score);
        assert!(place < most, "{start} is number {place}");
    }
    Ok(())
}

fn a_score_file_of_the_wrong_length_is_an_error_that_names_it() -> Result {
    let folder = folder()?;
    let bad = tempfile::tempdir().unwrap();
    std::fs::copy(folder.join("ant_data.txt"), bad.path().join("ant_data.txt")).unwrap();
    std::fs::create_dir(bad.path().join("metric_output")).unwrap();
    std::fs::write(bad.path().join("metric_output/short.txt"), "0.5\n0.25\n").unwrap();
    let error = analyse(bad.path(), &Options::default()).unwrap_err();
    assert!(error.to_string().contains("short.txt: 2 numbers for 400 stories"), "{error}");
    Ok(())
}

storymeter_checks::checks!(
    table_5_is_as_printed_to_four_decimals_with_its_stars,
    coefficients_and_p_values_are_scipys,
    table_2_and_section_3_1_are_as_printed,
    table_7_has_the_printed_counts_and_the_printed_value_on_all_stories,
    figure_3_counts_every_story_once_and_figure_2_draws_what_it_says,
    a_set_without_error_types_or_other_files_still_gives_table_5,
    drift_scores_are_set_beside_those_at_home,
    the_result_does_not_depend_on_the_number_of_threads,
    the_stories_of_table_11_are_misjudged_as_printed,
    a_score_file_of_the_wrong_length_is_an_error_that_names_it,
);
