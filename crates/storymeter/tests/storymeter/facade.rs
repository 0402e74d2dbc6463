//! The library as its users call it.

use std::path::Path;
use std::sync::Arc;

use storymeter::input::{Inputs, ReadOptions, RowValue};
use storymeter::summary::Resampling;
use storymeter::{ColumnView, Error, NO_REFERENCE, Progress, Run, ScoreTable, Scorer};
use storymeter_core::{Direction, MetricError, Role, Story};

fn story(system: &str, item: usize, text: &str, reference: &str) -> Story {
    Story {
        id: format!("{system}-{item}"),
        system: Some(system.into()),
        item: Some(item.to_string()),
        text: text.into(),
        references: vec![reference.into()],
        ..Story::default()
    }
}

/// What a reader of the file must find again.
fn facts(table: &ScoreTable) -> Vec<(String, Direction, String)> {
    let fact = |at: usize| {
        let column = &table.columns()[at];
        let signature = column.signature.as_ref().expect("every column is signed");
        (column.key.to_string(), column.direction, signature.to_string())
    };
    table.of_role(Role::Metric).into_iter().map(fact).collect()
}

#[test]
fn two_presets_stand_in_one_file_and_keep_signature_and_direction() {
    let stories = [
        story("rain", 0, "The wolves ran home.", "The wolf ran home."),
        story("sun", 0, "A lamp went out.", "The lamp went out at night."),
    ];
    let metrics = ["rouge:google", "rouge:hanna", "ter", "text-length"];
    let table = Scorer::new().metrics(metrics).run(stories).expect("all have references");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("scores.jsonl");
    table.write(&path).expect("a file");
    assert!(folder.path().join("scores.jsonl.meta.json").exists());

    let again = storymeter::read(&path).expect("what was written");
    assert_eq!(facts(&again), facts(&table));
    assert_eq!(facts(&again).len(), 12 + 24 + 1 + 1);
    // The rows that were read also know their lines.
    let same = |(a, b): (ColumnView<'_>, ColumnView<'_>)| *a == *b && a.values() == b.values();
    assert!(again.views().zip(table.views()).all(same));
    let google = again.column("rouge:google/rouge-1-r").expect("of the first preset");
    let hanna = again.column("rouge:hanna/rouge-1-r").expect("of the second preset");
    assert_ne!(google.signature, hanna.signature);
    assert_eq!(again.column("ter").expect("one column").direction, Direction::Lower);
    let ambiguous = again.column("rouge-1-r").expect_err("both presets have it").to_string();
    assert!(ambiguous.contains("rouge:google/rouge-1-r, rouge:hanna/rouge-1-r"), "{ambiguous}");
}

#[test]
fn the_signature_counts_the_references() {
    let bleu = storymeter::metric("bleu").expect("a known metric");
    let signature = |references: &[Vec<&str>]| {
        let hypotheses = vec!["the cat sat"; references.len()];
        let score = bleu.corpus_score(&hypotheses, references).expect("as many references");
        score.signature().get("nrefs").map(str::to_owned)
    };
    assert_eq!(signature(&[vec!["a cat"]]).as_deref(), Some("1"));
    assert_eq!(signature(&[vec!["a cat", "the cat"]]).as_deref(), Some("2"));
    assert_eq!(signature(&[vec!["a cat"], vec!["a", "b"]]).as_deref(), Some("var"));
}

/// sacrebleu counts every pair. A scorer leaves out what is no story, and says so.
#[test]
fn the_score_of_a_corpus_counts_every_pair_and_its_signature_says_so() {
    let texts = ["the cat sat on the mat", "I'm sorry, but I can't write that.", ""];
    let references = ["the cat sat on a mat", "a dog ran", "rain fell all night"];
    let bleu = storymeter::metric("bleu").expect("a known metric");
    let corpus = bleu.corpus_score(&texts, &references).expect("as many references");
    assert_eq!(corpus.signature().get("refusals"), Some("kept"));
    assert_eq!(corpus.signature().get("stories"), Some("3"));

    let stories = |keep: bool| -> Run {
        let scorer = Scorer::new().metrics(["bleu"]).keep_refusals(keep).build().expect("a scorer");
        let line = |(text, reference): (&str, &str)| {
            let fields = [("story", text), ("reference", reference)];
            fields.map(|(name, text)| (name.to_owned(), RowValue::from(text))).into_iter().collect()
        };
        let rows: Vec<RowValue> = texts.into_iter().zip(references).map(line).collect();
        let inputs = Inputs::rows(Arc::new(rows), ReadOptions::default());
        scorer.table(&inputs, &Progress::unwatched()).expect("scores").run
    };
    let score = |run: &Run| run.score_rows().scores(run.metrics())[0].clone();
    let (all, told) = (stories(true), stories(false));
    assert_eq!(score(&all), corpus.value());
    assert_ne!(score(&told), corpus.value());
    let signature = |run: &Run| run.signatures(&Resampling::default())[0].clone();
    assert_eq!(signature(&all).get("refusals"), Some("kept"));
    assert_eq!(signature(&told).get("refusals"), None);
}

#[test]
fn errors_say_what_happened_in_their_variants() {
    let lengths = storymeter::correlate(&[1.0, 2.0, 3.0], &[1.0]).expect_err("too short");
    assert!(matches!(lengths, Error::Lengths { first: 3, second: 1, .. }), "{lengths}");
    let constant = storymeter::correlate(&[1.0, 2.0, 3.0], &[4.0; 3]).expect_err("constant");
    assert!(matches!(constant, Error::Undefined { .. }), "{constant}");
    let unknown = storymeter::metric("rogue").err().expect("no such metric");
    let Error::Metric(MetricError::UnknownMetric { nearest, .. }) = unknown else {
        panic!("{unknown}")
    };
    assert_eq!(nearest.as_deref(), Some("rouge"));
    let lacks = storymeter::metric("bleu").unwrap().corpus_score(&["a"], &NO_REFERENCE);
    let lacks = lacks.expect_err("no reference");
    assert!(matches!(lacks, Error::Metric(MetricError::Lacks { .. })), "{lacks}");
    let missing = Scorer::new().model("/no/such/model").run(["A."]).expect_err("no model");
    assert!(missing.to_string().contains("/no/such/model"), "{missing}");
}

/// A story that nobody rated, or a score that is absent, is left out of n.
#[test]
fn a_correlation_counts_only_stories_with_both_numbers() {
    let scores = [Some(0.3), Some(0.1), None, Some(0.4), Some(0.6)];
    let found = storymeter::correlate(&scores, &[3.0, 1.0, 9.0, 2.0, f64::NAN]).expect("three");
    assert_eq!(found.pearson.n, 3);
}

/// Two stories always lie on a line; the command line needs three, too.
#[test]
fn two_stories_have_no_correlation() {
    let few = storymeter::correlate(&[0.3, 0.1], &[3.0, 1.0]).expect_err("two stories");
    assert!(few.to_string().contains("a correlation needs at least 3 pairs, got 2"), "{few}");
    let three = storymeter::correlate(&[0.1, 0.3, 0.4], &[1.0, 2.0, 3.0]).expect("three stories");
    assert_eq!((three.spearman.value, three.spearman.p_value), (1.0, 1.0 / 3.0));
}

/// Stories of one item are not independent of each other.
#[test]
fn a_correlation_of_stories_that_share_items_rests_on_items() {
    use storymeter_core::{Column, Direction, Row};
    let row = |story: usize| Row {
        id: story.to_string(),
        system: Some(format!("s{}", story / 4)),
        item: (story % 4).to_string(),
        ..Row::default()
    };
    let mut scores = ScoreTable::new((0..40).map(row).collect());
    // The item decides nearly everything.
    let score = |story: usize| [0.1, 0.9, 0.4, 0.7][story % 4] + story as f64 * 0.001;
    let ratings: Vec<f64> =
        (0..40).map(|story| [1.0, 3.0, 4.0, 2.0][story % 4] + (story % 7) as f64 * 0.1).collect();
    let column = Column::metric("own", Direction::Higher);
    scores.push(column, (0..40).map(|story| Ok(score(story))).collect());
    let found = storymeter::correlate(&scores, &ratings).expect("forty stories").pearson;
    assert_eq!((found.n, found.items), (40, Some(4)));
    let plain: Vec<f64> = (0..40).map(score).collect();
    let naive = storymeter::correlate(&plain, &ratings).expect("forty numbers").pearson;
    assert_eq!((naive.value, naive.items), (found.value, None));
    assert!(naive.p_value < 0.05 && found.p_value > 0.2, "{naive:?} {found:?}");
    let interval = found.interval.expect("an interval");
    assert!(interval.low < 0.0 && interval.high > 0.0, "{interval:?}");
}

/// The program of the README has at most ten lines and is the example that CI compiles.
#[test]
fn the_readme_shows_the_quick_start() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = root.join("../../examples/quick-start/src/main.rs");
    let program = std::fs::read_to_string(program).expect("a file");
    assert!(program.lines().count() <= 10, "{} lines", program.lines().count());
    for readme in [root.join("../../README.md"), root.join("README.md")] {
        let text = std::fs::read_to_string(&readme).expect("a file");
        assert!(text.contains(&program), "{} does not show it", readme.display());
    }
}

/// Scores do not depend on the number of threads or on what else is scored.
#[test]
fn scores_do_not_depend_on_threads_or_company() {
    let text = |n: usize| format!("Story {n} went on. It rained for {n} days. Nobody came.");
    let stories: Vec<Story> = (0..40).map(|n| story("rain", n, &text(n), &text(n % 7))).collect();
    let metrics = ["union", "bleu", "rouge:google", "meteor", "distinct-2"];
    let on = |threads: usize, stories: Vec<Story>| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| Scorer::new().metrics(metrics).run(stories).expect("scored"))
    };
    let (one, three) = (on(1, stories.clone()), on(3, stories.clone()));
    let alone = on(2, stories[5..6].to_vec());
    let mut compared = 0;
    for ((one, three), alone) in one.views().zip(three.views()).zip(alone.views()) {
        assert_eq!(one.values(), three.values(), "{}", one.key);
        assert_eq!(one.values()[5], alone.values()[0]);
        compared += 1;
    }
    assert_eq!(compared, 1 + 1 + 12 + 1 + 1);
}

#[test]
fn explanations_that_were_asked_for_are_in_the_table_and_in_its_file() {
    let stories = ["Ken lost his kite. Ken lost his kite.", "Rain fell. The lamp went out."];
    let plain = Scorer::new().metrics(["text-length"]).run(stories).expect("scored");
    assert!(plain.rows().iter().all(|row| row.explanation.is_none()));
    for metric in ["text-length", "union"] {
        let scorer = Scorer::new().metrics([metric]).explain(storymeter::Depth::Weakest);
        let table = scorer.run(stories).expect("scored");
        let why = |row: usize| table.rows()[row].explanation.as_deref().expect("an explanation");
        assert!(why(0).contains("Ken lost his kite."), "{}", why(0));
        assert!(why(1).contains("The lamp went out."), "{}", why(1));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("scores.jsonl");
        table.write(&path).expect("a file");
        let text = std::fs::read_to_string(&path).expect("the file");
        assert!(text.lines().next().expect("a line").contains(why(0)));
    }
}

#[test]
fn a_column_is_correlated_by_item_as_its_table_is() {
    let stories = (0..12).map(|n| Story {
        id: n.to_string(),
        ..story("rain", n / 3, &"rain ".repeat(1 + n * 5 % 12), "")
    });
    let table = Scorer::new().metrics(["text-length"]).run(stories).expect("scored");
    let ratings: Vec<f64> = (0..12).map(|n| f64::from(n * n % 7)).collect();
    let whole = storymeter::correlate(&table, &ratings).expect("a coefficient");
    let column = table.column("text-length").expect("a column");
    assert_eq!(storymeter::correlate(&column, &ratings).expect("a coefficient"), whole);
    assert_eq!(whole.kendall.items, Some(4));
}
