//! A family of columns, of which some have no value for a story.

use storymeter::extend::{
    Absence, Description, Direction, Entry, Metric, MetricError, Needs, Prepared, Range, Resources,
    Rows, Signature, Value,
};
use storymeter::input::{Inputs, ReadOptions};
use storymeter::{Progress, Scorer};

/// Words, words by sentence, and words by question.
struct Words {
    description: Description,
}

static WORDS: Entry = Entry {
    ids: &["some-words"],
    choices: &[],
    direction: Direction::None,
    range: Range::NOT_NEGATIVE,
    needs: Needs::STORY,
    source: include_str!("columns.rs"),
    build: |request| {
        let members = ["all", "by-sentence", "by-question"];
        let signature = Signature::new("some-words");
        let description = request.describe().width(3).family(members).signature(signature);
        Ok(Box::new(Words { description }))
    },
};

impl Metric for Words {
    fn description(&self) -> &Description {
        &self.description
    }

    fn rows(&self, stories: &[Prepared<'_>], _: &Resources) -> Result<Rows, MetricError> {
        Ok(Rows::each(stories, 3, |story, row| {
            let text = story.text.text();
            row[0] = text.split_whitespace().count() as f64;
            row[1] = text.matches('.').count() as f64;
            row[2] = text.matches('?').count() as f64;
        }))
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        values[0] = Ok(row[0]);
        for (value, count) in values[1..].iter_mut().zip(&row[1..]) {
            let none = || Absence::because("the story has none");
            *value = if *count > 0.0 { Ok(row[0] / count) } else { Err(none()) };
        }
    }
}

/// Only the column of which the user lacks values is named, also if it is not the first one of its
/// metric.
#[test]
fn a_note_about_missing_values_names_the_columns_that_lack_them() {
    let notes = |texts: [&str; 3]| {
        let scorer = Scorer::new().register(&WORDS).metrics(["some-words"]).build().unwrap();
        let texts = texts.map(str::to_owned).to_vec();
        let inputs = Inputs::texts(texts, ReadOptions::default());
        scorer.table(&inputs, &Progress::unwatched()).unwrap().run.notes()
    };
    let none: [&str; 0] = [];
    assert_eq!(notes(["Rain fell? Yes.", "Who was it? Nobody.", "Why? It rained."]), none);
    assert_eq!(
        notes(["Rain fell.", "The lamp went out.", "He ran home."]),
        ["some-words/by-question: 3 of 3 stories have no value"]
    );
    assert_eq!(
        notes(["Rain fell", "Who was it? Nobody.", "He ran home."]),
        [
            "some-words/by-sentence: 1 of 3 stories have no value",
            "some-words/by-question: 2 of 3 stories have no value",
        ]
    );
}
