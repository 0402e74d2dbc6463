//! Numbers that must not look surer than they are: joins of ids that repeat, stories of one item,
//! few systems, missing ratings.

use std::path::PathBuf;

use storymeter_core::{
    Catalogue, Column, Direction, Key, Progress, Ratings, Row, ScoreTable, read,
};
use storymeter_meta::correlate::{Judgments, Numbers, correlate_numbers};
use storymeter_meta::study::{Finding, IntervalMethod};
use storymeter_meta::table::{Options, analyse};
use storymeter_meta::{Level, Settings, Study, WarningKind, view};
use storymeter_stats::{Coefficient, clustered_correlation, pearson};

use crate::studies::support::noise;

/// Stories of systems for items, whose ids are the numbers of the items, as `--wide` makes them.
/// The item decides most of both ratings and scores, which have nothing to do with each other.
fn table(systems: usize, items: usize) -> ScoreTable {
    let mut rows = Vec::new();
    let mut scores = Vec::new();
    for system in 0..systems {
        for item in 0..items {
            let story = system * items + item;
            let mut ratings = Ratings::new();
            ratings.push("fun", Some(3.0 * noise(item) + noise(1000 + story)));
            rows.push(Row {
                id: item.to_string(),
                system: Some(format!("s{system}")),
                item: item.to_string(),
                ratings,
                line: Some(story as u64 + 1),
                ..Row::default()
            });
            scores.push(Ok(3.0 * noise(530 + item) + noise(5000 + story)));
        }
    }
    let mut table = ScoreTable::new(rows).read_from("scores.jsonl".as_ref());
    table.push(Column::metric("bleu", Direction::Higher), scores);
    table
}

fn human(table: &ScoreTable) -> Vec<f64> {
    table.rows().iter().map(|row| row.ratings.get("fun").unwrap()[0].unwrap()).collect()
}

fn drift(study: &Study) -> &storymeter_meta::study::Drift {
    let found = study.findings.iter().find_map(|finding| match finding {
        Finding::Drift(drift) => Some(drift),
        _ => None,
    });
    found.expect("a drift")
}

#[test]
fn averaged_stories_and_intervals_from_single_ratings_are_spoken_of() {
    let single = table(2, 30);
    let said = |table: &ScoreTable| {
        let study = analyse(table, &Options::default()).unwrap();
        let averaged = study.warnings.iter().filter(|own| own.kind == WarningKind::Averaged);
        let messages: Vec<String> = averaged.map(|own| own.message.clone()).collect();
        (messages, view::sheets(&study))
    };
    let (none, sheets) = said(&single);
    assert_eq!(none, [""; 0]);
    let means = sheets.iter().find(|sheet| sheet.id == "systems").unwrap();
    assert!(means.notes.iter().any(|note| note.contains("takes every rating as independent")));
    let again = |more: usize| {
        let mut rows = single.rows().to_vec();
        let first = rows[..more].iter().enumerate();
        let first = first.map(|(at, row)| Row { id: format!("again-{at}"), ..row.clone() });
        rows.extend(first.collect::<Vec<_>>());
        let mut all = ScoreTable::new(rows);
        let values = (0..all.rows().len()).map(|at| Ok(noise(7000 + at))).collect();
        all.push(Column::metric("bleu", Direction::Higher), values);
        let human = (0..all.rows().len()).map(|at| Ok(noise(8000 + at))).collect();
        all.push(Column::criterion("joy"), human);
        said(&all).0
    };
    let analysed = "the mean of each system and item is analysed";
    assert_eq!(
        again(1),
        [format!("1 story is a second or later one of its system and item: {analysed}")]
    );
    assert_eq!(
        again(9),
        [format!("9 stories are a second or later one of their system and item: {analysed}")]
    );
}

#[test]
fn drifted_scores_are_joined_by_system_and_id() {
    // Two systems on thirty items: with ids alone, the second system overwrote the first.
    let table = table(2, 30);
    let drifted_scores: Vec<f64> = (0..60).map(|story| noise(9000 + story)).collect();
    let mut drifted = ScoreTable::new(table.rows().to_vec());
    let values = drifted_scores.iter().map(|&score| Ok(score)).collect();
    drifted.push(Column::metric("bleu", Direction::Higher), values);
    let options = Options::default().with(|it| it.drift = Some(drifted.clone()));
    let study = analyse(&table, &options).unwrap();
    let (found, expected) = (drift(&study), pearson(&drifted_scores, &human(&table)).unwrap());
    let row = &found.rows[0].drifted[0];
    assert_eq!((found.joined, found.stories, row.n), (60, 60, 60));
    assert!((row.value.clone().unwrap().value - expected.coefficient).abs() < 1e-12);
    // Without systems it is not clear which of two stories is meant.
    let nameless = drifted.rows().iter().take(30).map(|row| Row { system: None, ..row.clone() });
    let mut nameless = ScoreTable::new(nameless.collect()).read_from("drift.jsonl".as_ref());
    let column = Column::metric("bleu", Direction::Higher);
    nameless.push(column, drifted_scores[..30].iter().map(|&score| Ok(score)).collect());
    let options = Options::default().with(|it| it.drift = Some(nameless));
    let message = analyse(&table, &options).unwrap_err().to_string();
    let both = "the id \"0\" is that of two stories, of system \"s0\" (scores.jsonl:1) and of \
                system \"s1\" (scores.jsonl:31): the system must be named";
    assert!(message.contains("drift.jsonl:1") && message.contains(both), "{message}");
}

#[test]
fn error_types_are_joined_by_system_and_id() {
    let table = table(2, 6);
    let folder = tempfile::tempdir().unwrap();
    let file: PathBuf = folder.path().join("errors.jsonl");
    let options = |file: &PathBuf| Options::default().with(|it| it.errors = Some(file.clone()));
    let line = |row: &Row| {
        let (id, system) = (&row.id, row.system.as_ref().unwrap());
        let error = if system == "s0" { "\"logic\"" } else { "null" };
        format!("{{\"id\": \"{id}\", \"system\": \"{system}\", \"errors\": [{error}]}}\n")
    };
    let lines: String = table.rows().iter().map(line).collect();
    std::fs::write(&file, &lines).unwrap();
    let study = analyse(&table, &options(&file)).unwrap();
    let shares = study.findings.iter().find_map(|finding| match finding {
        Finding::ErrorTypes(shares) => Some(shares),
        _ => None,
    });
    let text = serde_json::to_string(shares.expect("error types")).unwrap();
    assert!(text.contains("logic"), "{text}");
    assert_eq!(study.warnings.iter().filter(|warning| warning.subject == "errors").count(), 0);
    // An id of two systems without a system, and a story that is named twice.
    std::fs::write(&file, "{\"id\": \"3\", \"errors\": [null]}\n").unwrap();
    let message = analyse(&table, &options(&file)).unwrap_err().to_string();
    assert!(
        message.contains("of system \"s0\" (scores.jsonl:4) and of system \"s1\""),
        "{message}"
    );
    std::fs::write(&file, format!("{lines}{}", line(&table.rows()[0]))).unwrap();
    let message = analyse(&table, &options(&file)).unwrap_err().to_string();
    assert!(message.contains("duplicate id \"0\" of system \"s0\""), "{message}");
}

#[test]
fn pooled_correlations_resample_items() {
    let table = table(30, 8);
    let study = analyse(&table, &Options::default()).unwrap();
    let pooled = |study: &Study, coefficient| {
        study.agreement("bleu", "fun", Level::Pooled, coefficient).unwrap().clone()
    };
    let item_of: Vec<usize> = (0..240).map(|story| story % 8).collect();
    let scores: Vec<f64> =
        table.values(table.find("bleu").unwrap()).iter().flatten().copied().collect();
    for coefficient in Coefficient::ALL {
        let found = pooled(&study, coefficient);
        let estimate = found.value.unwrap();
        let human = human(&table);
        let expected = clustered_correlation(coefficient, &human, &scores, &item_of, 0.95).unwrap();
        assert_eq!((found.n, estimate.items), (240, Some(8)));
        assert!((estimate.p_value.unwrap() - expected.correlation.p_value).abs() < 1e-9);
        let interval = estimate.interval.unwrap();
        assert!((interval.low - expected.interval.low).abs() < 1e-9, "{interval:?}");
        // The stories of eight items do not show that unrelated numbers are related.
        let naive = coefficient.compute(&human, &scores).unwrap();
        assert!(naive.p_value < 0.05 && estimate.p_value.unwrap() > 0.05, "{naive:?} {estimate:?}");
        assert!(interval.low < 0.0 && 0.0 < interval.high, "{interval:?}");
    }
    let settings = Settings::default().with(|it| it.interval = IntervalMethod::Percentile);
    let drawn = analyse(&table, &Options::default().with(|it| it.settings = settings)).unwrap();
    let interval = pooled(&drawn, Coefficient::Pearson).value.unwrap().interval.unwrap();
    assert!(interval.high - interval.low > 0.5, "{interval:?}");
    let sheets = view::sheets(&study);
    let list = sheets.iter().find(|sheet| sheet.id == "correlations").unwrap();
    let said = "resample whole items, of which there are 8";
    assert!(list.notes.iter().any(|note| note.contains(said)), "{:?}", list.notes);
    let few = "p-values and intervals over all stories rest on 8 items, which is few";
    assert!(study.warnings.iter().any(|warning| warning.message == few));
    // The same from `correlate`.
    let judgments = Judgments::of_table(&table, "scores.jsonl".as_ref(), None).unwrap();
    let scores = Numbers {
        name: "bleu".into(),
        metric: Some(Key::new("bleu")),
        direction: Direction::Higher,
        scores: scores.iter().map(|&score| Some(score)).collect(),
    };
    let unseen = Progress::unwatched();
    let found = correlate_numbers(&judgments, &[scores], &Settings::default(), &unseen).unwrap();
    let own = found.rows[0].agreements[0].value.clone().unwrap();
    let expected = pooled(&study, Coefficient::Pearson).value.unwrap();
    assert!((own.p_value.unwrap() - expected.p_value.unwrap()).abs() < 1e-9);
    let json = found.to_json();
    assert_eq!((&json["bleu"]["items"], &json["bleu"]["resampled"]), (&8.into(), &"items".into()));
}

#[test]
fn one_story_per_item_is_as_it_was() {
    let table = table(1, 12);
    let study = analyse(&table, &Options::default()).unwrap();
    let found = study.agreement("bleu", "fun", Level::Pooled, Coefficient::Pearson).unwrap();
    let scores: Vec<f64> =
        table.values(table.find("bleu").unwrap()).iter().flatten().copied().collect();
    let expected = pearson(&human(&table), &scores).unwrap();
    let estimate = found.value.clone().unwrap();
    assert_eq!(estimate.items, None);
    assert!((estimate.p_value.unwrap() - expected.p_value).abs() < 1e-12);
}

#[test]
fn three_systems_in_perfect_order_are_not_certain() {
    let lines: String = (0..9)
        .map(|at| {
            let (system, item) = (at / 3, at % 3);
            format!(
                "{{\"id\": \"{item}\", \"system\": \"s{system}\", \"item\": \"{item}\", \
                 \"scores\": {{\"bleu\": {}}}, \"human\": {{\"fun\": [{}]}}}}\n",
                system * 2 + item,
                system + item * item
            )
        })
        .collect();
    let table =
        read::scores_from("scores.jsonl", std::io::Cursor::new(lines), &Catalogue::default())
            .unwrap();
    let study = analyse(&table, &Options::default()).unwrap();
    for coefficient in Coefficient::ALL {
        let found = study.agreement("bleu", "fun", Level::System, coefficient).unwrap();
        let estimate = found.value.clone().unwrap();
        assert!((estimate.value - 1.0).abs() < 1e-9, "{estimate:?}");
        assert_eq!(estimate.p_value, Some(1.0 / 3.0), "{coefficient}: p was 0");
    }
    let said = "correlations at system level rest on 3 systems, and their p-values cannot be below \
                0.167";
    assert!(study.warnings.iter().any(|warning| warning.message == said), "{:?}", study.warnings);
}

#[test]
fn alpha_uses_stories_with_a_missing_rating() {
    // The reliability data of Krippendorff (2011): 12 units, four observers, missing values. PyPI
    // krippendorff 0.9.0, `krippendorff.alpha(reliability_data=data, level_of_measurement=level)`:
    // ordinal 0.8153875037548814, interval 0.8491071428571428.
    const DATA: [[u8; 12]; 4] = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ];
    let mut rows = Vec::new();
    for unit in 0..12 {
        let mut ratings = Ratings::new();
        for observer in DATA {
            ratings.push("fun", (observer[unit] > 0).then_some(f64::from(observer[unit])));
        }
        rows.push(Row { id: unit.to_string(), item: unit.to_string(), ratings, ..Row::default() });
    }
    let mut table = ScoreTable::new(rows);
    let scores = (0..12).map(|at| Ok(noise(at))).collect();
    table.push(Column::metric("bleu", Direction::Higher), scores);
    let study = analyse(&table, &Options::default()).unwrap();
    let found = study.findings.iter().find_map(|finding| match finding {
        Finding::RaterAgreement(found) => Some(&found[0]),
        _ => None,
    });
    let found = found.expect("agreement of raters");
    assert_eq!((found.n, found.left_out, found.alpha_stories), (8, 4, 11));
    assert!((found.alpha_ordinal.clone().unwrap() - 0.8153875037548814).abs() < 1e-12);
    assert!((found.alpha_interval.clone().unwrap() - 0.8491071428571428).abs() < 1e-12);
}
