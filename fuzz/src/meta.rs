//! What `meta`, `correlate` and `report` read.
//!
//! The analyses take time, so they run only on small tables and with few draws.

use storymeter_core::{Catalogue, Column, Direction, Key, Progress, Row, ScoreTable, Story, read};
use storymeter_meta::correlate::{self, Judgments, Source};
use storymeter_meta::openmeva::{self, acts};
use storymeter_meta::ratings::RatingTable;
use storymeter_meta::suite;
use storymeter_meta::{
    DrawOptions, PairOptions, Scale, Settings, Study, folder, hanna, table, union, view,
};
use storymeter_report::{Inputs, Report, StudyRun, StoryTable, TrainingLog};

use crate::{FOLDER, parts, written};

/// Larger inputs are only parsed.
const SMALL: usize = 4000;

fn few_draws() -> Settings {
    Settings::default().with(|it| {
        it.resamples = 3;
        it.pairs = PairOptions { draws: Some(3), ..PairOptions::default() };
        it.draws = DrawOptions { draws: 2, seed: 1 };
    })
}

/// Every result can be shown, and is read back as it was written.
fn show(study: &Study) {
    let sheets = view::sheets(study);
    let _ = view::text::study(study, &sheets, &[]);
    let json = serde_json::to_vec(study).unwrap();
    let again: Study = serde_json::from_slice(&json).unwrap();
    assert_eq!(serde_json::to_vec(&again).unwrap(), json);
}

/// Scores in HANNA's layout and, after a zero byte, single ratings.
pub fn hanna_scores(bytes: &[u8]) {
    let [Some(scores), ratings] = parts(bytes) else { return };
    let path = written("hanna.csv", scores);
    let _ = read::scores(&path, &Catalogue::default());
    if bytes.len() > SMALL {
        return;
    }
    let options = hanna::Options::default().with(|it| {
        it.ratings = ratings.map(|ratings| written("ratings.csv", ratings));
        it.settings = few_draws();
    });
    if let Ok(study) = hanna::analyse(&path, &options) {
        show(&study);
    }
}

/// Single ratings.
pub fn ratings(bytes: &[u8]) {
    let path = written("ratings.csv", bytes);
    let criteria = ["Relevance", "Coherence"].map(Key::new);
    if let Ok(ratings) = RatingTable::read(&path, &criteria, Scale::LIKERT_5) {
        assert!(ratings.all().all(|rating| (1.0..=5.0).contains(&rating)));
        if bytes.len() <= SMALL {
            let _ = ratings.agreement();
        }
    }
}

/// A folder in UNION's layout: the ratings, the error types, the numbers of a metric and the edits,
/// with zero bytes between them.
pub fn union_set(bytes: &[u8]) {
    let [Some(rated), typed, numbers, edits] = parts(bytes) else { return };
    std::fs::create_dir_all(FOLDER.join("metric_output")).unwrap();
    written("ant_data.txt", rated);
    for (name, content) in
        [("ant_data_all.txt", typed), ("metric_output/mine.txt", numbers), ("edits.txt", edits)]
    {
        match content {
            Some(content) => drop(written(name, content)),
            None => drop(std::fs::remove_file(FOLDER.join(name))),
        }
    }
    if bytes.len() <= SMALL {
        let options = union::Options::default().with(|it| it.settings = few_draws());
        if let Ok(study) = union::analyse(&FOLDER, &options) {
            show(&study);
        }
    }
}

/// Judgments and, after a zero byte, scores.
pub fn correlate(bytes: &[u8]) {
    let [Some(human), scores] = parts(bytes) else { return };
    let catalogue = Catalogue::default();
    for (human_name, scores_name) in [("human.txt", "scores.txt"), ("human.jsonl", "scores.jsonl")]
    {
        let human = written(human_name, human);
        let Ok(judgments) = Judgments::read(&human, None, &catalogue) else { continue };
        let file = written(scores_name, scores.unwrap_or_default());
        let sources = [Source { name: "mine".to_owned(), file, metric: None }];
        let unseen = Progress::unwatched();
        let (few, found) = (few_draws(), &sources);
        if let Ok(result) = correlate::correlate(&judgments, found, &catalogue, &few, &unseen) {
            let _ = result.to_json().to_string();
        }
    }
}

/// A score file with ratings and, after a zero byte, the error types that raters named.
pub fn table(bytes: &[u8]) {
    let [Some(scores), errors] = parts(bytes) else { return };
    if bytes.len() > SMALL {
        return;
    }
    let path = written("table.jsonl", scores);
    let Ok(scores) = read::scores(&path, &Catalogue::default()) else { return };
    let options = table::Options::default().with(|it| {
        it.errors = errors.map(|errors| written("errors.jsonl", errors));
        it.settings = few_draws();
    });
    if let Ok(study) = table::analyse(&scores, &options) {
        show(&study);
    }
}

/// A folder in the layout of OpenMEVA's texts made by rule, with zero bytes between the files: two
/// of a discrimination test, contexts and stories, two of invariance tests, and damaged stories.
pub fn acts(bytes: &[u8]) {
    const FILES: [&str; 7] = [
        "discrimination_test/roc_time.txt",
        "discrimination_test/roc_time_perturb.txt",
        "roc_test_ipt.txt",
        "roc_test_opt.txt",
        "invariance_test/roc_typos_perturb.txt",
        "invariance_test/roc_negative_sample_typos_perturb.txt",
        "invariance_test/roc_negative_sample.txt",
    ];
    let folder = FOLDER.join("acts_data/roc");
    for test in ["discrimination_test", "invariance_test"] {
        std::fs::create_dir_all(folder.join(test)).unwrap();
    }
    for (name, content) in FILES.into_iter().zip(parts::<7>(bytes)) {
        match content {
            Some(content) => std::fs::write(folder.join(name), content).unwrap(),
            None => drop(std::fs::remove_file(folder.join(name))),
        }
    }
    for corpus in acts::find(&folder).unwrap() {
        assert_eq!(corpus.tests.len() + corpus.missing.len(), 8 + 5 + 5);
        let _ = corpus.stories(acts::Part::Test);
        for test in &corpus.tests {
            let Ok(texts) = acts::read(test) else { continue };
            let paired = texts.design == acts::Design::Paired;
            assert!(!paired || texts.originals.len() == texts.twins.len());
            let all = texts.originals.iter().chain(texts.twins.iter().map(|twin| &twin.text));
            all.for_each(|text| assert!(text.to_story().text.starts_with(&text.context)));
        }
    }
}

/// Compares the ratings of stories with made-up scores, as OpenMEVA does.
pub fn human_tasks(stories: &[Story]) {
    let row = |story: &Story| Row {
        id: story.id.clone(),
        system: story.system.clone(),
        item: story.item().to_owned(),
        ratings: story.ratings.clone(),
        ..Row::default()
    };
    let mut scores = ScoreTable::new(stories.iter().map(row).collect());
    let lengths = stories.iter().map(|story| Ok(story.text.len() as f64)).collect();
    scores.push(Column::metric("length", Direction::Lower), lengths);
    let datasets = [openmeva::Dataset { name: "fuzz", scores: &scores }];
    let Ok(tasks) = openmeva::analyse(&datasets, &openmeva::Options::default()) else { return };
    let json = serde_json::to_vec(&tasks).unwrap();
    let again: openmeva::HumanTasks = serde_json::from_slice(&json).unwrap();
    assert_eq!(serde_json::to_vec(&again).unwrap(), json);
    assert!(tasks.conclusions().iter().all(|(_, said)| said.ends_with('.')));
    tasks.sheets().iter().for_each(|sheet| drop(view::text::sheet(sheet)));
}

/// `study.json`. A study that was accepted has a page.
pub fn study(bytes: &[u8]) {
    written("study.json", bytes);
    let Ok(study) = folder::read(&FOLDER) else { return };
    show(&study);
    let inputs = Inputs { runs: vec![StudyRun::new("fuzz", study)], ..Inputs::default() };
    assert!(Report::new(&inputs).html().starts_with("<!doctype html>"));
}

/// `result.json` of a test suite. A result that was accepted has tables and sentences.
pub fn suite_result(bytes: &[u8]) {
    written("result.json", bytes);
    let Ok(result) = suite::read(&FOLDER) else { return };
    for sheet in view::suite_sheets(&result) {
        let _ = view::text::emphasised(&sheet, view::text::Emphasis::None);
    }
    for column in &result.metrics {
        assert!(!view::suite_sentence(&result, column.key.as_str()).is_empty());
    }
}

/// A training log. A log that was accepted has a page.
pub fn training_log(bytes: &[u8]) {
    let path = written("train.jsonl", bytes);
    let Ok(Some(log)) = TrainingLog::read(&path, "fuzz") else { return };
    let inputs = Inputs { logs: vec![log], ..Inputs::default() };
    assert!(Report::new(&inputs).html().starts_with("<!doctype html>"));
}

/// A score file with explanations and texts, as the report shows it.
pub fn story_table(bytes: &[u8]) {
    let path = written("stories.jsonl", bytes);
    if let Ok(stories) = StoryTable::read(&path, &Catalogue::default()) {
        assert_eq!(stories.len(), stories.details().len());
    }
    let _ = StoryTable::read_stories(&path);
}
