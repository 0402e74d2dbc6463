//! Sets of the metrics of this crate: what they share, what they refuse and what they need.

use std::sync::Arc;

use storymeter_core::read::Record;
use storymeter_core::{Absence, Depth, MetricError, Place, Progress, Story};
use storymeter_executor::{MetricSet, Pace};
use storymeter_metrics::catalogue;

fn set(typed: &[&str]) -> Result<MetricSet, MetricError> {
    MetricSet::new(typed, &catalogue(), Arc::default())
}

fn record(text: &str, reference: &str) -> Record {
    let story = Story {
        id: "a".into(),
        text: text.into(),
        references: vec![reference.into()],
        ..Story::default()
    };
    Record { story, number: 0, place: Place::file("stories.jsonl").at_line(7) }
}

#[test]
fn an_empty_story_is_scored_and_counted() {
    let set = set(&["text-length"]).expect("known metric");
    let rows = set.batch(&[record("", "x"), record("One two.", "x")]).expect("nothing is needed");
    assert_eq!(rows.empty_stories(), 1);
    assert_eq!(rows.values(0), [Ok(0.0)]);
}

#[test]
fn stories_that_are_not_scored_have_a_place_and_no_value() {
    let set = set(&["text-length", "distinct-1"]).expect("known metrics");
    let scored = [record("One two.", "x"), record("Three.", "x")];
    let batch = || set.batch(&scored).expect("nothing is needed");
    let none = Some(Absence::because("it is none"));
    let among = batch().among(&[none.clone(), None, none.clone(), None]);
    assert_eq!(among.len(), 4);
    assert_eq!((among.values(1), among.values(3)), (batch().values(0), batch().values(1)));
    assert_eq!((among.stats(1), among.stats(3)), (batch().stats(0), batch().stats(1)));
    assert!(among.values(2).iter().all(|value| value.as_ref().err() == none.as_ref()));
    let nothing = set.batch(&[]).expect("nothing is needed").among(&[none]);
    assert_eq!((nothing.len(), nothing.values(0)[0].is_err()), (1, true));
}

#[test]
fn a_batch_in_portions_is_the_batch() {
    let set = set(&["text-length", "distinct-1"]).expect("known metrics");
    let record = |n: usize| record(&"word ".repeat(n), "x");
    let records: Vec<Record> = (0..50).map(record).collect();
    let whole = set.batch(&records).expect("nothing is needed");
    // While somebody watches, batches that are explained are cut.
    let pace = Pace::new(&Progress::watched());
    let cut = set.paced_batch(&records, Some(Depth::All), &pace).expect("nothing is needed");
    for story in 0..50 {
        assert_eq!(cut.values(story), whole.values(story));
        assert_eq!(cut.stats(story), whole.stats(story));
    }
    assert_eq!((cut.len(), cut.empty_stories()), (50, 1));
    assert_eq!(cut.references(), whole.references());
}

#[test]
fn the_same_metric_twice_is_refused() {
    let error = set(&["text-length", "text-length"]).err().expect("refused");
    assert!(error.to_string().contains("both write the key \"text-length\""), "{error}");
}

#[test]
fn equal_texts_of_a_batch_are_tokenised_once() {
    let set = set(&["text-length"]).expect("known metric");
    let rows = set.batch(&vec![record("The same words.", "x"); 20]).expect("nothing is needed");
    assert!(rows.views_built().iter().all(|&(_, count)| count == 1), "{:?}", rows.views_built());
}

#[test]
fn a_story_without_what_a_metric_needs_is_named() {
    let set = set(&["bleu", "compression"]).expect("known metrics");
    let lacks = |record| set.batch(&[record]).err().expect("refused").to_string();
    assert_eq!(
        lacks(record("A.", " ")),
        "stories.jsonl:7: story \"a\": metric \"bleu\" needs a reference, and one is empty"
    );
    assert_eq!(
        lacks(record("A.", "B.")),
        "stories.jsonl:7: story \"a\": metric \"compression\" needs a prompt, and there is none"
    );
}

/// Two options of one kind, and a preset beside anything else, are refused with the reason.
#[test]
fn options_that_cannot_go_together_are_refused() {
    for (typed, why) in [
        ("ter:tercom+cased", "both choose the case"),
        ("cider-d:words+split", "both choose the tokeniser"),
        ("rouge:hanna+google", "\"hanna\" decides everything"),
        ("text-length:spacy+hanna", "\"spacy\" decides everything"),
        ("bleu:intl+13a", "both choose the tokeniser"),
        ("bleu:lc+hanna", "\"hanna\" decides everything"),
    ] {
        let error = set(&[typed]).err().expect(typed).to_string();
        assert!(error.ends_with(why) && error.contains("exclude each other"), "{error}");
    }
}

#[test]
fn options_of_different_kinds_go_together_in_any_order() {
    let signature = |typed: &str| {
        let set = set(&[typed]).expect("options of three kinds");
        set.parts().next().expect("one metric").metric.description().signature.to_string()
    };
    assert_eq!(signature("bleu:intl+floor+lc"), signature("bleu:lc+floor+intl"));
}

#[test]
fn an_unknown_option_names_the_nearest_and_all_others() {
    let error = set(&["text-length:hana"]).err().expect("no such option").to_string();
    assert_eq!(
        error,
        "metric \"text-length\" has no option \"hana\"; it has spacy, hanna; did you \
         mean \"hanna\"?"
    );
}

#[test]
fn a_metric_of_the_corpus_without_its_first_pass_is_an_error() {
    for typed in ["cider-d", "self-bleu", "homogeneity"] {
        let error = set(&[typed]).unwrap().batch(&[record("A.", "B.")]).err().expect(typed);
        assert!(matches!(error, MetricError::NoCorpus { metric } if metric == typed));
    }
}

/// Scores with every id of the catalogue. No view is built twice for any text.
#[test]
fn all_metrics_together_build_each_view_of_each_text_once() {
    let ids: Vec<&str> = catalogue().entries().flat_map(|entry| entry.ids).copied().collect();
    let set = set(&ids).expect("known metrics");
    let records: Vec<Record> = (0..40u64)
        .map(|number| {
            // There are forty stories, four different prompts and ten different references.
            let mut record =
                record(&format!("Story {number} went on."), &format!("Reference {}.", number % 10));
            record.story.prompt = Some(format!("Prompt {}.", number % 4));
            record.number = number;
            record
        })
        .collect();
    let survey = set.survey();
    survey.batch(&records).expect("fits in memory");
    let rows = set
        .surveyed(survey)
        .expect("fits in memory")
        .batch(&records)
        .expect("every story has what is needed");
    assert!(rows.views_built().len() > 10, "{:?}", rows.views_built());
    for &(view, count) in rows.views_built() {
        assert!(count <= 40 + 4 + 10, "{view} was built {count} times for 54 texts");
    }
    // At most 1 KB is kept per story.
    assert!(8 * rows.stats(0).len() <= 1024, "{} numbers per story", rows.stats(0).len());
}
