//! `meta hanna` on the published scores and ratings: the numbers of the paper and of the authors'
//! files.

use std::path::PathBuf;
use std::sync::LazyLock;

use storymeter_checks::{HANNA_SELECTED, Result, shared};
use storymeter_core::read::hanna_metric_name;
use storymeter_meta::hanna::{Options, analyse};
use storymeter_meta::view::{self, Sheet};
use storymeter_meta::{Edition, Study, WarningKind};

const CRITERIA: [&str; 6] =
    ["Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity"];
const SHORT: [&str; 6] = ["RE", "CH", "EM", "SU", "EG", "CX"];

fn file(name: &str) -> Result<PathBuf> {
    shared(&format!("data/annotated/hanna/{name}"))
}

/// A study and its sheets.
#[derive(Debug, PartialEq)]
struct Document {
    study: Study,
    sheets: Vec<Sheet>,
}

impl Document {
    fn sheet(&self, id: &str) -> Option<&Sheet> {
        self.sheets.iter().find(|sheet| sheet.id == id)
    }
}

fn run(edition: Edition) -> Result<Document> {
    let ratings = Some(file("ratings.csv")?);
    let options = Options::default().with(|it| (it.ratings, it.edition) = (ratings, edition));
    let study = analyse(&file("hanna_metric_scores.csv")?, &options)?;
    Ok(Document { sheets: view::sheets(&study), study })
}

fn published() -> Result<&'static Document> {
    static DOCUMENT: LazyLock<Result<Document>> = LazyLock::new(|| run(Edition::Published));
    DOCUMENT.as_ref().map_err(Clone::clone)
}

fn corrected() -> Result<&'static Document> {
    static DOCUMENT: LazyLock<Result<Document>> = LazyLock::new(|| run(Edition::Corrected));
    DOCUMENT.as_ref().map_err(Clone::clone)
}

/// The row of a metric, named without its glyphs.
fn value(sheet: &Sheet, metric: &str, column: &str) -> f64 {
    let row = sheet.rows.iter().find(|row| hanna_metric_name(row[0].text()) == metric);
    let at = sheet.columns.iter().position(|head| hanna_metric_name(&head.name) == column);
    match (row, at) {
        (Some(row), Some(at)) => row[at].value(),
        _ => panic!("{}: no {metric}, {column}", sheet.id),
    }
}

fn all_72_x_36_correlations_are_the_authors() -> Result {
    let (document, path) = (published()?, file("rankings_global.csv")?);
    let theirs = std::fs::read_to_string(path)?;
    let sheet = document.sheet("rankings_global").unwrap();
    let mut lines = theirs.lines();
    let heads: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert_eq!(heads, sheet.columns.iter().map(|head| head.name.as_str()).collect::<Vec<_>>());
    let mut compared = 0;
    for (line, row) in lines.zip(&sheet.rows) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells[0], row[0].text());
        for (cell, ours) in cells[1..].iter().zip(&row[1..]) {
            let theirs: f64 = cell.parse().unwrap();
            assert!(
                (theirs - ours.value()).abs() < 1e-12,
                "{}: {theirs} {}",
                cells[0],
                ours.value()
            );
            compared += 1;
        }
    }
    assert_eq!(compared, 72 * 36);
    Ok(())
}

// 3.14 is a mean rating.
#[allow(clippy::approx_constant)]
/// Table 4 as printed: RE, CH, EM, SU, EG, CX, Average, each with its half width.
const TABLE_4: [(&str, [f64; 7], [f64; 7]); 11] = [
    (
        "Human",
        [4.17, 4.43, 3.22, 3.15, 3.88, 3.73, 3.76],
        [0.14, 0.10, 0.14, 0.15, 0.12, 0.13, 0.06],
    ),
    (
        "BertGeneration",
        [2.46, 3.14, 2.28, 2.09, 2.67, 2.41, 2.51],
        [0.16, 0.16, 0.13, 0.13, 0.12, 0.11, 0.06],
    ),
    (
        "CTRL",
        [2.54, 2.93, 2.26, 1.93, 2.53, 2.23, 2.40],
        [0.16, 0.16, 0.13, 0.12, 0.12, 0.10, 0.06],
    ),
    ("GPT", [2.40, 3.22, 2.37, 2.13, 2.76, 2.49, 2.56], [0.16, 0.15, 0.12, 0.13, 0.13, 0.12, 0.06]),
    (
        "GPT-2",
        [2.81, 3.29, 2.47, 2.21, 2.86, 2.68, 2.72],
        [0.16, 0.14, 0.12, 0.13, 0.12, 0.10, 0.06],
    ),
    (
        "GPT-2 (tag)",
        [2.67, 3.31, 2.47, 2.22, 2.92, 2.80, 2.73],
        [0.16, 0.15, 0.12, 0.13, 0.12, 0.11, 0.06],
    ),
    (
        "RoBERTa",
        [2.54, 3.22, 2.27, 2.12, 2.74, 2.41, 2.55],
        [0.16, 0.16, 0.12, 0.13, 0.12, 0.11, 0.06],
    ),
    (
        "XLNet",
        [2.39, 2.88, 2.10, 1.95, 2.46, 2.36, 2.36],
        [0.17, 0.16, 0.12, 0.12, 0.13, 0.11, 0.06],
    ),
    (
        "Fusion",
        [2.09, 2.86, 1.99, 1.72, 2.27, 1.92, 2.14],
        [0.16, 0.16, 0.12, 0.12, 0.14, 0.11, 0.06],
    ),
    (
        "HINT",
        [2.29, 2.38, 1.74, 1.56, 1.75, 1.45, 1.86],
        [0.16, 0.16, 0.13, 0.11, 0.12, 0.10, 0.06],
    ),
    (
        "TD-VAE",
        [2.51, 2.99, 2.07, 2.10, 2.59, 2.49, 2.46],
        [0.16, 0.15, 0.11, 0.12, 0.12, 0.11, 0.06],
    ),
];

/// Who has an asterisk in Table 4.
const TABLE_4_BEST: [(&str, [bool; 7]); 2] = [
    ("GPT-2", [true, false, true, false, false, false, false]),
    ("GPT-2 (tag)", [false, true, true, true, true, true, true]),
];

fn table_4_is_as_printed_with_its_intervals_and_asterisks() -> Result {
    let document = published()?;
    let sheet = document.sheet("table-4").unwrap();
    let columns: Vec<&str> = CRITERIA.iter().copied().chain(["Average"]).collect();
    for (system, means, reaches) in TABLE_4 {
        for (at, column) in columns.iter().enumerate() {
            assert_eq!(sheet.value(system, column), means[at], "{system} {column}");
            assert_eq!(
                sheet.value(system, &format!("{column} ±")),
                reaches[at],
                "{system} {column} ±"
            );
            let starred = TABLE_4_BEST.iter().any(|(best, stars)| *best == system && stars[at]);
            let mark = sheet.cell(system, &format!("{column} *")).unwrap().text();
            assert_eq!(mark == "*", starred, "{system} {column}: {mark}");
        }
    }
    Ok(())
}

/// A row of Table 5: level, criterion, metrics with |r| in percent.
type BestThree = (&'static str, &'static str, [(&'static str, f64); 3]);

/// Table 5 as printed, with its indices written out.
const TABLE_5: [BestThree; 12] = [
    ("story", "RE", [("BARTScore-SP", 42.6), ("SUPERT-SS", 41.2), ("SUPERT-PS", 40.2)]),
    ("story", "CH", [("Repetition-3", 38.1), ("BERTScore Recall", 37.1), ("S3-Pyramid", 37.1)]),
    ("story", "EM", [("S3-Pyramid", 32.8), ("chrF", 32.4), ("BERTScore Recall", 32.1)]),
    ("story", "SU", [("Novelty-1", 32.9), ("chrF", 32.7), ("ROUGE-1 Recall", 31.3)]),
    ("story", "EG", [("BERTScore Recall", 43.0), ("Novelty-1", 42.3), ("chrF", 41.1)]),
    ("story", "CX", [("chrF", 58.8), ("BERTScore Recall", 55.8), ("ROUGE-1 Recall", 55.0)]),
    // The paper's second entry reads ROUGE-SU_R; 80.3 is the F-score's, as its own Table 9 says.
    (
        "system",
        "RE",
        [("ROUGE-S* F-Score", 80.4), ("ROUGE-SU* F-Score", 80.3), ("ROUGE-S* Recall", 80.2)],
    ),
    ("system", "CH", [("BaryScore-SD-0.01", 88.2), ("BaryScore-W", 88.0), ("BERTScore F1", 87.9)]),
    ("system", "EM", [("BaryScore-SD-0.01", 90.0), ("BaryScore-W", 90.0), ("BERTScore F1", 88.7)]),
    ("system", "SU", [("BARTScore-SH", 92.7), ("BERTScore Recall", 91.1), ("DepthScore", 90.7)]),
    ("system", "EG", [("DepthScore", 93.4), ("BARTScore-SH", 92.4), ("SUPERT-Golden", 92.2)]),
    ("system", "CX", [("DepthScore", 95.6), ("BERTScore Recall", 95.5), ("Compression", 94.3)]),
];

fn criterion(short: &str) -> &'static str {
    CRITERIA[SHORT.iter().position(|name| *name == short).unwrap()]
}

fn table_5_is_as_printed() -> Result {
    let document = published()?;
    let mut rows = document.sheet("table-5").unwrap().rows.iter();
    for (level, short, best) in TABLE_5 {
        for (metric, printed) in best {
            let row = rows.next().unwrap();
            let found =
                (row[0].text(), row[1].text(), hanna_metric_name(row[4].text()), row[5].value());
            assert_eq!(found, (level, criterion(short), metric, printed));
        }
    }
    Ok(())
}

fn table_6_and_the_18_borda_top_fives_are_the_authors() -> Result {
    let document = published()?;
    let sheet = document.sheet("borda").unwrap();
    let top_five = |ranking: &str| -> Vec<(String, f64)> {
        let rows = sheet.rows.iter().filter(|row| row[0].text() == ranking);
        rows.map(|row| (hanna_metric_name(row[2].text()).to_owned(), row[3].value())).collect()
    };
    let counts: [(&str, [f64; 5]); 18] = [
        ("global", [2294.0, 2255.0, 2224.0, 2174.0, 2133.0]),
        ("story", [1237.0, 1198.0, 1186.0, 1177.0, 1158.0]),
        ("system", [1120.0, 1110.0, 1095.0, 1070.0, 1069.0]),
        ("story_pearson", [410.0, 408.0, 404.0, 392.0, 389.0]),
        ("story_spearman", [415.0, 399.0, 397.0, 395.0, 392.0]),
        ("story_kendall", [414.0, 398.0, 397.0, 390.0, 389.0]),
        ("system_pearson", [403.0, 388.0, 386.0, 381.0, 381.0]),
        ("system_spearman", [393.0, 376.0, 370.0, 365.0, 363.0]),
        ("system_kendall", [409.0, 378.0, 374.0, 372.0, 364.0]),
        ("pearson", [791.0, 786.0, 754.0, 741.0, 731.0]),
        ("spearman", [785.0, 732.0, 721.0, 718.0, 711.0]),
        ("kendall", [778.0, 737.0, 715.0, 699.0, 692.0]),
        ("Relevance", [386.0, 385.0, 379.0, 369.0, 368.0]),
        ("Coherence", [396.0, 372.0, 368.0, 367.0, 363.0]),
        ("Empathy", [380.0, 377.0, 367.0, 360.0, 357.0]),
        ("Surprise", [401.0, 387.0, 374.0, 372.0, 367.0]),
        ("Engagement", [385.0, 379.0, 378.0, 361.0, 361.0]),
        ("Complexity", [408.0, 384.0, 382.0, 378.0, 376.0]),
    ];
    for (ranking, expected) in counts {
        let found: Vec<f64> = top_five(ranking).into_iter().map(|(_, count)| count).collect();
        assert_eq!(found, expected, "{ranking}");
    }
    let names = |ranking| top_five(ranking).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(
        names("global"),
        ["chrF", "BARTScore-SH", "BERTScore Recall", "S3-Pyramid", "S3-Responsiveness"]
    );
    let table_6: Vec<String> = document
        .sheet("table-6")
        .unwrap()
        .rows
        .iter()
        .map(|row| hanna_metric_name(row[2].text()).into())
        .collect();
    let printed = [
        "chrF",
        "S3-Pyramid",
        "ROUGE-1 Recall",
        "S3-Responsiveness",
        "BERTScore Recall",
        "BARTScore-SH",
        "BaryScore-SD-0.01",
        "BERTScore F1",
        "MoverScore",
        "DepthScore",
    ];
    assert_eq!(table_6, printed);
    Ok(())
}

fn mid_rank_borda_counts_have_the_same_leaders() -> Result {
    let document = corrected()?;
    let sheet = document.sheet("borda-global").unwrap();
    let leaders: Vec<&str> =
        sheet.rows.iter().take(5).map(|row| hanna_metric_name(row[2].text())).collect();
    assert_eq!(
        leaders,
        ["chrF", "BARTScore-SH", "BERTScore Recall", "S3-Pyramid", "S3-Responsiveness"]
    );
    Ok(())
}

/// Cells of Tables 8 and 9 that do not follow from the published scores: the paper's Novelty-1 has
/// another Kendall than the authors' own ranking files (23.11 for 21.52, 67.42 for 71.91), which
/// also shifts its neighbours.
const NOVELTY: &str = "Novelty-1";

fn tables_8_and_9_are_as_printed() -> Result {
    let document = published()?;
    let mut seen = 0;
    for line in include_str!("../fixtures/hanna_tables_8_9.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        let mut words = line.splitn(3, ' ');
        let (level, short, rest) =
            (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
        for (cell, coefficient) in rest.split(" | ").zip(["kendall", "spearman", "pearson"]) {
            let (metric, printed) = cell.rsplit_once(' ').unwrap();
            let sheet = document.sheet("rankings_global").unwrap();
            let found = 100.0
                * value(sheet, metric, &format!("{}_{level}_{coefficient}", criterion(short)));
            let same = format!("{found:.2}") == printed;
            let defect = metric == NOVELTY && coefficient == "kendall";
            assert!(
                same || defect,
                "{level} {short} {coefficient} {metric}: {found:.2}, printed {printed}"
            );
            seen += usize::from(same);
        }
    }
    assert_eq!(seen, 30 * 2 + 30 * 3 - 2, "all cells of the fixture but the two of Novelty-1");
    // Our own ranking has at each place the value that is printed there. The order of ties is open.
    let mut compared = 0;
    for (id, level) in [("table-8", "story"), ("table-9", "system")] {
        let ours = &document.sheet(id).unwrap().rows;
        for (short, coefficient, place, printed) in printed_places(level) {
            let row = ours.iter().find(|row| {
                (row[1].text(), row[2].text(), row[3].value())
                    == (criterion(short), coefficient, place as f64)
            });
            let found = format!("{:.2}", row.unwrap()[5].value());
            let shifted = coefficient == "kendall"
                && ((level == "story" && short == "SU" && place >= 4)
                    || (level == "system" && short == "CX" && place >= 4));
            assert!(
                found == printed || shifted,
                "{id} {short} {coefficient} #{place}: {found}, printed {printed}"
            );
            compared += 1;
        }
    }
    assert_eq!(compared, 30 * 2 + 30 * 3);
    Ok(())
}

/// Criterion, coefficient, place and value, as printed.
fn printed_places(level: &str) -> Vec<(&'static str, &'static str, usize, &'static str)> {
    let mut places = Vec::new();
    let lines = include_str!("../fixtures/hanna_tables_8_9.txt")
        .lines()
        .filter(|line| line.starts_with(level));
    for (at, line) in lines.enumerate() {
        let mut words = line.splitn(3, ' ').skip(1);
        let (short, rest) = (words.next().unwrap(), words.next().unwrap());
        for (cell, coefficient) in rest.split(" | ").zip(["kendall", "spearman", "pearson"]) {
            places.push((short, coefficient, at % 5 + 1, cell.rsplit_once(' ').unwrap().1));
        }
    }
    places
}

fn icc1k_is_the_oracles_and_icc2k_is_said_to_need_worker_ids() -> Result {
    let document = published()?;
    let sheet = document.sheet("table-3").unwrap();
    let oracle = [0.323755, -0.184472, 0.282378, 0.1394, 0.397433, 0.536044];
    for (criterion, expected) in CRITERIA.iter().zip(oracle) {
        assert!((sheet.value(criterion, "ICC1k") - expected).abs() < 5e-7, "{criterion}");
    }
    assert!(sheet.notes.iter().any(|note| note.contains("worker ids")), "{:?}", sheet.notes);
    Ok(())
}

/// Figures 3, 4, 7 as printed: RE, CH, EM, SU, EG, CX, Avg.
const FIGURE_3: [[u8; 17]; 7] = [
    [14, 15, 13, 16, 15, 16, 19, 9, 14, 15, 9, 12, 22, 6, 7, 29, 8],
    [17, 23, 22, 25, 25, 23, 21, 22, 20, 24, 9, 12, 25, 4, 16, 4, 1],
    [18, 23, 22, 23, 24, 22, 18, 16, 19, 23, 8, 11, 22, 7, 6, 3, 0],
    [17, 24, 22, 24, 22, 21, 18, 18, 17, 23, 17, 11, 20, 8, 17, 1, 0],
    [23, 29, 28, 31, 27, 29, 25, 23, 25, 30, 15, 14, 28, 5, 18, 5, 4],
    [30, 41, 39, 43, 39, 38, 28, 29, 28, 39, 25, 18, 33, 6, 24, 5, 0],
    [20, 26, 24, 27, 25, 25, 22, 20, 20, 26, 14, 13, 25, 6, 15, 8, 2],
];
const FIGURE_4: [[u8; 17]; 7] = [
    [56, 51, 56, 60, 56, 56, 60, 42, 56, 60, 33, 51, 51, 33, 29, 11, 24],
    [33, 38, 42, 47, 33, 42, 56, 47, 51, 38, 20, 20, 56, 38, 24, 20, 16],
    [42, 47, 42, 47, 42, 51, 73, 56, 69, 38, 20, 38, 56, 20, 16, 2, 2],
    [42, 47, 51, 56, 42, 51, 47, 56, 51, 47, 29, 20, 56, 38, 24, 20, 16],
    [33, 38, 42, 47, 33, 42, 56, 47, 51, 38, 20, 20, 56, 38, 24, 20, 16],
    [54, 58, 63, 67, 54, 63, 40, 67, 45, 58, 40, 31, 67, 45, 31, 18, 4],
    [43, 46, 49, 54, 43, 51, 55, 52, 54, 46, 27, 30, 57, 35, 25, 15, 13],
];
const FIGURE_7: [[u8; 17]; 7] = [
    [57, 51, 51, 53, 64, 63, 68, 41, 29, 61, 45, 29, 75, 29, 13, 57, 51],
    [50, 52, 46, 50, 58, 55, 59, 18, 15, 59, 43, 27, 52, 32, 20, 30, 23],
    [58, 67, 61, 62, 71, 70, 65, 19, 16, 75, 51, 19, 62, 34, 28, 30, 22],
    [50, 46, 46, 51, 55, 56, 57, 21, 18, 54, 47, 39, 60, 24, 5, 43, 37],
    [65, 64, 58, 63, 72, 66, 60, 18, 9, 70, 54, 24, 63, 27, 22, 35, 24],
    [69, 68, 63, 67, 73, 72, 65, 19, 15, 75, 59, 29, 72, 26, 21, 40, 30],
    [58, 58, 54, 58, 66, 64, 62, 23, 17, 66, 50, 28, 64, 29, 18, 39, 31],
];

fn compare(sheet: &Sheet, printed: &[[u8; 17]; 7], tolerance: f64) {
    for (column, row) in CRITERIA.iter().chain(&["Avg"]).zip(printed) {
        for (metric, &number) in HANNA_SELECTED.iter().zip(row) {
            let found = value(sheet, metric, column);
            let off = (found - f64::from(number)).abs();
            assert!(off <= tolerance, "{} {metric} {column}: {found}, printed {number}", sheet.id);
        }
    }
}

fn figures_3_and_4_are_as_printed_and_figure_7_within_six_points() -> Result {
    let document = published()?;
    compare(document.sheet("figure-3").unwrap(), &FIGURE_3, 0.0);
    compare(document.sheet("figure-4").unwrap(), &FIGURE_4, 0.0);
    compare(document.sheet("figure-7").unwrap(), &FIGURE_7, 6.0);
    Ok(())
}

fn with_its_direction_depthscore_is_among_the_best_judges_between_systems() -> Result {
    let document = corrected()?;
    let sheet = document.sheet("figure-7").unwrap();
    let mean = |metric: &str| value(sheet, metric, "Avg");
    let better = HANNA_SELECTED.iter().filter(|metric| mean(metric) > mean("DepthScore")).count();
    assert!(better < 3, "{better} metrics are better");
    Ok(())
}

fn figure_8_is_the_oracles() -> Result {
    let document = published()?;
    let sheet = document.sheet("figure-8").unwrap();
    let row = sheet
        .rows
        .iter()
        .find(|row| row[0].text() == "Relevance" && row[1].text().starts_with("BLEU "))
        .unwrap();
    for (cell, expected) in row[2..7].iter().zip([0.8, 0.6, 0.6, 0.75, 0.47619]) {
        assert!((cell.value() - expected).abs() < 5e-6, "{row:?}");
    }
    Ok(())
}

fn williams_tests_are_the_oracles() -> Result {
    // The published tests have one side.
    for (document, sides) in [(published()?, 1.0), (corrected()?, 2.0)] {
        let relevance = document.sheet("figure-33").unwrap();
        let p = value(relevance, "ROUGE-1 Recall", "BERTScore F1") / sides;
        assert!((p - 0.1829108619322395).abs() < 1e-12, "{p}");
        let empathy = document.sheet("figure-35").unwrap();
        let p = value(empathy, "BERTScore F1", "BLEU") / sides;
        assert!((p - 0.0427970138606).abs() < 1e-12, "{p}");
    }
    let document = corrected()?;
    let p = value(document.sheet("figure-33").unwrap(), "ROUGE-1 Recall", "BLANC-Tune-PS");
    // BLANC-Tune-PS runs against its direction (r = -0.111), and r(ROUGE, BLANC) is -0.522. Turned
    // to correlate positively, as in williams.rs, it has 0.004 on one side.
    assert!((p - 0.08537198).abs() < 1e-8, "{p}");
    for number in 27..=32 {
        let sheet = document.sheet(&format!("figure-{number}")).unwrap();
        assert!(sheet.notes.iter().any(|note| note.starts_with("without oracle")), "{number}");
    }
    Ok(())
}

fn every_table_and_figure_is_there_with_a_signature() -> Result {
    for document in [published()?, corrected()?] {
        let tables = [3, 4, 5, 6, 8, 9].map(|n| format!("table-{n}"));
        let figures = (1..=38).map(|n| format!("figure-{n}"));
        for id in tables.into_iter().chain(figures) {
            let sheet = document.sheet(&id).unwrap_or_else(|| panic!("{id} is missing"));
            assert!(!sheet.rows.is_empty() && sheet.signature.contains("meta-hanna|"), "{id}");
        }
    }
    Ok(())
}

fn degenerate_metrics_are_warned_of() -> Result {
    let document = corrected()?;
    let warned = |kind: WarningKind| -> Vec<&str> {
        let warnings = document.study.warnings.iter().filter(|w| w.kind == kind);
        warnings.map(|w| hanna_metric_name(&w.subject)).collect()
    };
    assert_eq!(warned(WarningKind::Underflow), ["CIDEr", "BaryScore-SD-0.001"]);
    assert_eq!(warned(WarningKind::Duplicate), ["InfoLM-R-FisherRao", "InfoLM-Sim-FisherRao"]);
    assert_eq!(warned(WarningKind::Constant).len(), 12);
    assert_eq!(warned(WarningKind::Mismatch), Vec::<&str>::new());
    Ok(())
}

fn the_result_does_not_depend_on_the_number_of_threads() -> Result {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(Edition::Corrected))
    };
    assert_eq!(with(1)?, with(4)?);
    Ok(())
}

storymeter_checks::checks!(
    all_72_x_36_correlations_are_the_authors,
    table_4_is_as_printed_with_its_intervals_and_asterisks,
    table_5_is_as_printed,
    table_6_and_the_18_borda_top_fives_are_the_authors,
    mid_rank_borda_counts_have_the_same_leaders,
    tables_8_and_9_are_as_printed,
    icc1k_is_the_oracles_and_icc2k_is_said_to_need_worker_ids,
    figures_3_and_4_are_as_printed_and_figure_7_within_six_points,
    with_its_direction_depthscore_is_among_the_best_judges_between_systems,
    figure_8_is_the_oracles,
    williams_tests_are_the_oracles,
    every_table_and_figure_is_there_with_a_signature,
    degenerate_metrics_are_warned_of,
    the_result_does_not_depend_on_the_number_of_threads,
);
