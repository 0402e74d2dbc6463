//! `slop`: values by hand, located hits, lists of the user, and any text.

use proptest::prelude::*;
use serde_json::Value as Json;
use storymeter_core::{Depth, Metric, Prepared, Resources, Settings, Story, Value};
use storymeter_metrics::catalogue;

const LIST: &str = "# mine\nhum\nweight\nthe weight of\n, leaving\ncity's\n";

/// The metric with the list above.
fn own() -> (Box<dyn Metric>, Resources, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("own.txt");
    std::fs::write(&path, LIST).unwrap();
    let weights = [("slop".to_owned(), path)].into();
    let resources = Resources::new(Settings { weights, ..Settings::default() });
    (catalogue().build("slop:own", &resources).unwrap(), resources, folder)
}

fn values(metric: &dyn Metric, resources: &Resources, text: &str) -> Vec<Value> {
    let story = Story::from(text);
    let rows = metric.rows(&[Prepared::new(0, &story)], resources).unwrap();
    let mut values = vec![Ok(0.0); 4];
    metric.values(rows.row(0), &mut values);
    values
}

fn hits(metric: &dyn Metric, resources: &Resources, text: &str) -> Vec<Json> {
    let story = Story::from(text);
    let explained = metric.explain(&[Prepared::new(0, &story)], Depth::All, resources).unwrap();
    let json: Json = serde_json::from_str(&explained.unwrap().rationales[0].to_json()).unwrap();
    json["hits"].as_array().unwrap().clone()
}

#[test]
fn values_by_hand() {
    let (metric, resources, _folder) = own();
    let keys: Vec<String> =
        metric.description().columns.iter().map(|column| column.key.to_string()).collect();
    assert_eq!(keys, ["slop:own/score", "slop:own/words", "slop:own/phrases", "slop:own/contrast"]);
    // Ten words: one word of the list, two phrases, no contrast.
    let text = "He felt the weight of the hum, leaving us cold.";
    let got: Vec<f64> =
        values(&*metric, &resources, text).into_iter().map(Result::unwrap).collect();
    assert_eq!(got[1..], [100.0, 200.0, 0.0]);
    assert!((got[0] - (0.6 * 100.0 + 0.3 * 200.0)).abs() < 1e-12, "{}", got[0]);
    let contrast = values(&*metric, &resources, "It wasn’t rain. It was a city hum.");
    assert_eq!((&contrast[1], &contrast[3]), (&Ok(125.0), &Ok(125.0)));
}

#[test]
fn a_text_without_words_has_no_value_and_a_reason() {
    let (metric, resources, _folder) = own();
    for text in ["", "  \n", "1 2 ... —"] {
        for value in values(&*metric, &resources, text) {
            assert_eq!(value.unwrap_err().to_string(), "the text has no words");
        }
    }
}

#[test]
fn every_hit_is_located() {
    let (metric, resources, _folder) = own();
    let text = "“Hum.” Not peace but THE WEIGHT of the city’s humming, leaving.";
    let seen: Vec<(String, String, String)> = hits(&*metric, &resources, text)
        .iter()
        .map(|hit| {
            let place =
                hit["start"].as_u64().unwrap() as usize..hit["end"].as_u64().unwrap() as usize;
            let texts = [&text[place], hit["text"].as_str().unwrap()];
            assert_eq!(texts[0], texts[1]);
            let name = |field: &str| hit[field].as_str().unwrap().to_owned();
            (texts[0].to_owned(), name("kind"), name("entry"))
        })
        .collect();
    let expected = [
        ("Hum", "word", "hum"),
        ("Not peace but", "contrast", "not X but Y"),
        ("THE WEIGHT of", "phrase", "the weight of"),
        ("city’s", "word", "city's"),
        (", leaving", "phrase", ", leaving"),
    ];
    let expected = expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned()));
    assert_eq!(seen, expected);
}

#[test]
fn the_explanation_shows_the_story_with_its_hits() {
    let (metric, resources, _folder) = own();
    let story = Story::from("A low hum.\nThe weight of it. Not a hum but rain.");
    let explained = metric.explain(&[Prepared::new(0, &story)], Depth::All, &resources).unwrap();
    let spans = explained.unwrap().rationales[0].spans();
    let text: String = spans.into_iter().map(|span| span.text).collect();
    assert_eq!(
        text,
        "slop 133.3\n  per 1,000 words: 166.7 words, 83.3 phrases, 83.3 contrasts (4 hits in 12 \
         words)\n  most often: \"hum\" 2 times, \"not X but Y\", \"the weight of\"\n  contrast: Not a \
         hum but\n  A low [hum].\n  [The weight of] it. Not a [hum] but rain.\n"
    );
}

#[test]
fn a_list_of_ones_own_must_be_named_and_whole() {
    let resources = Resources::default();
    let error = catalogue().build("slop:own", &resources).err().unwrap().to_string();
    assert!(error.contains("a list of words and phrases"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.txt");
    std::fs::write(&path, "hum\n7\n").unwrap();
    let weights = [("slop".to_owned(), path.clone())].into();
    let resources = Resources::new(Settings { weights, ..Settings::default() });
    let error = catalogue().build("slop:own", &resources).err().unwrap().to_string();
    assert!(error.starts_with(&format!("{}:2: ", path.display())), "{error}");
}

#[test]
fn signatures_name_the_list() {
    let built = catalogue().build("slop", &Resources::default()).unwrap();
    let signature = built.description().signature.to_string();
    assert!(signature.starts_with("slop|list:1|hash:"), "{signature}");
    let (own, _, _folder) = own();
    let other = own.description().signature.to_string();
    assert!(other.starts_with("slop|list:own|hash:") && other != signature, "{other}");
}

/// Each class of length has human stories, and the columns know what they get.
#[test]
fn columns_know_what_human_stories_get() {
    let metric = catalogue().build("slop", &Resources::default()).unwrap();
    for column in &metric.description().columns {
        let norms = column.norms.as_ref().expect("every column has norms");
        for words in [40, 100, 200, 400, 800, 2000] {
            assert!(norms.stories(words) > 100, "{}, {words} words", column.key);
            assert_eq!(norms.share_below(norms.high, words), Some(1.0));
        }
        assert!(column.validity.as_ref().expect("and a validity").covers(500));
    }
    let (own, _, _folder) = own();
    let known: Vec<bool> = own.description().columns.iter().map(|c| c.norms.is_some()).collect();
    assert_eq!(known, [false, false, false, true]);
}

fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,6}",
        Just("the weight of".to_owned()),
        Just("hum".to_owned()),
        Just("It wasn’t".to_owned()),
        Just(". It was ".to_owned()),
        Just("not just".to_owned()),
        Just("but".to_owned()),
        Just(", leaving".to_owned()),
        Just("’".to_owned()),
        Just("\n".to_owned()),
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.join(" "))
}

proptest! {
    #[test]
    fn hits_lie_in_the_text_and_those_of_the_list_apart(text in texts()) {
        let (metric, resources, _folder) = own();
        let mut end = 0;
        for hit in hits(&*metric, &resources, &text) {
            let place = hit["start"].as_u64().unwrap() as usize..hit["end"].as_u64().unwrap() as usize;
            prop_assert_eq!(text.get(place.clone()), hit["text"].as_str());
            if hit["kind"] != "contrast" {
                prop_assert!(place.start >= end);
                end = place.end;
            }
        }
        for value in values(&*metric, &resources, &text).into_iter().flatten() {
            prop_assert!((0.0..=1000.0).contains(&value));
        }
    }

    #[test]
    fn one_more_hit_never_lowers_the_count(text in texts(), which in 0_usize..3) {
        let (metric, resources, _folder) = own();
        let more = ["A hum.", "The weight of it.", "It wasn't red. It was blue."][which];
        let kind = ["word", "phrase", "contrast"][which];
        let count = |text: &str| {
            hits(&*metric, &resources, text).iter().filter(|hit| hit["kind"] == kind).count()
        };
        let longer = format!("{text}.\n\n{more}");
        prop_assert!(count(&longer) > count(&text), "{} {}", count(&longer), count(&text));
    }
}
