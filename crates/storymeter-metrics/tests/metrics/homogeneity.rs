//! `homogeneity` against a comparison of all pairs, one by one.

use std::collections::BTreeSet;

use storymeter_core::read::Record;
use storymeter_core::{CorpusReader, CorpusWriter, Place, Prepared, Resources, Story, Value};
use storymeter_metrics::catalogue;

fn story(system: Option<&str>, text: &str) -> Story {
    Story { system: system.map(str::to_owned), ..Story::from(text) }
}

/// The values of all stories, scored together. They are the same after saving and loading.
fn scored(stories: &[Story]) -> Vec<[Value; 2]> {
    let resources = Resources::default();
    let metric = catalogue().build("homogeneity", &resources).unwrap();
    let prepared = |record: usize| Prepared::new(record as u64, &stories[record]);
    let survey = metric.survey().expect("a first pass");
    for record in (0..stories.len()).rev() {
        survey.add(&[prepared(record)]).unwrap();
    }
    let knowing = survey.finish().unwrap();
    let mut bytes = Vec::new();
    knowing.save_corpus(&mut CorpusWriter::new(&mut bytes)).unwrap();
    let loaded = metric.with_corpus(&mut CorpusReader::new(&mut bytes.as_slice())).unwrap();
    assert_eq!(loaded.description().signature, knowing.description().signature);
    let values = |metric: &dyn storymeter_core::Metric| -> Vec<[Value; 2]> {
        let all = (0..stories.len()).map(|record| {
            let rows = metric.rows(&[prepared(record)], &resources).unwrap();
            let mut values = [Ok(0.0), Ok(0.0)];
            metric.values(rows.row(0), &mut values);
            values
        });
        all.collect()
    };
    assert_eq!(values(&*loaded), values(&*knowing));
    values(&*knowing)
}

/// The different sequences of three words, for texts of plain words.
fn sequences(text: &str) -> BTreeSet<Vec<String>> {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    words.windows(3).map(<[String]>::to_vec).collect()
}

#[test]
fn the_score_is_the_mean_over_all_other_stories_of_the_system() {
    const WORDS: [&str; 5] = ["the", "lamp", "went", "out", "again"];
    let text = |number: usize| {
        let words: Vec<&str> = (0..20).map(|at| WORDS[(at * at + number * at) % 5]).collect();
        words.join(" ")
    };
    let stories: Vec<Story> =
        (0..12).map(|number| story(Some(["a", "b", "c"][number % 3]), &text(number))).collect();
    let mut above_zero = 0;
    for (at, values) in scored(&stories).into_iter().enumerate() {
        let own = sequences(&stories[at].text);
        let others = stories
            .iter()
            .enumerate()
            .filter(|(other, story)| *other != at && story.system == stories[at].system);
        let shares: Vec<f64> = others
            .map(|(_, other)| {
                own.intersection(&sequences(&other.text)).count() as f64 / own.len() as f64
            })
            .collect();
        let expected = shares.iter().sum::<f64>() / shares.len() as f64;
        let value = *values[0].as_ref().unwrap();
        assert!((value - expected).abs() < 1e-12, "{value} {expected}");
        above_zero += usize::from(expected > 0.0);
    }
    assert!(above_zero > 3);
}

#[test]
fn equal_stories_share_everything_and_other_systems_do_not_count() {
    let text = "The old man closed the heavy door and went home.";
    let same = "The young girl opened the narrow window and looked outside.";
    let stories = [
        story(Some("a"), text),
        story(Some("a"), text),
        story(Some("b"), text),
        story(Some("b"), same),
        story(None, "Rain! Why does nobody ever tell me?"),
        story(Some(""), text),
    ];
    let values = scored(&stories);
    let number = |at: usize, column: usize| *values[at][column].as_ref().unwrap();
    assert_eq!((number(0, 0), number(0, 1)), (1.0, 1.0));
    // Other words, but the same kind of sentence.
    assert_eq!(number(3, 0), 0.0);
    assert!(number(3, 1) > 0.5, "{}", number(3, 1));
    // Stories without a system are one system.
    assert_eq!(number(5, 0), 0.0);
}

#[test]
fn lonely_and_short_stories_have_no_value_and_a_reason() {
    let stories =
        [story(Some("a"), "A lamp went out."), story(Some("b"), "Two words"), story(Some("b"), "")];
    let values = scored(&stories);
    let reason = |at: usize, column: usize| values[at][column].clone().unwrap_err().to_string();
    assert_eq!(reason(0, 0), "there is no other story of this system");
    assert_eq!(reason(1, 0), "the text has fewer than 3 words");
    assert_eq!(reason(2, 1), "the text has fewer than 5 words and marks");
}

#[test]
fn damaged_statistics_are_refused() {
    let metric = catalogue().build("homogeneity", &Resources::default()).unwrap();
    for bytes in [&[1_u8, 2][..], &[0xff; 64], &[0; 7]] {
        assert!(metric.with_corpus(&mut CorpusReader::new(&mut &*bytes)).is_err());
    }
}

#[test]
fn records_of_any_batch_give_the_same_rows() {
    let records: Vec<Record> = (0..40_u64)
        .map(|number| Record {
            story: story(Some("a"), &format!("The lamp number {} went out.", number % 7)),
            number,
            place: Place::default(),
        })
        .collect();
    let rows = |size: usize| {
        let set =
            storymeter_executor::MetricSet::new(&["homogeneity"], &catalogue(), Default::default());
        let set = set.unwrap();
        let survey = set.survey();
        records.chunks(size).for_each(|batch| survey.batch(batch).unwrap());
        let set = set.surveyed(survey).unwrap();
        let batches = records.chunks(size).map(|batch| set.batch(batch).unwrap());
        batches.flat_map(|rows| rows.stats(0).to_vec()).collect::<Vec<f64>>()
    };
    assert_eq!(rows(40), rows(1));
}
