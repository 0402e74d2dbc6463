//! A metric from outside the workspace, beside those of the catalogue:
//! `cargo run --release -p storymeter --example own_metric`.
#![allow(clippy::print_stdout)]

use storymeter::Scorer;
use storymeter::extend::{
    Absence, Description, Direction, Entry, Metric, MetricError, Needs, Prepared, Range, Resources,
    Rows, Signature, Value,
};

/// How long the sentences are, on average.
struct SentenceLength {
    description: Description,
}

/// What the catalogue must know. Its page would be the comment at the top of this file.
static ENTRY: Entry = Entry {
    ids: &["sentence-length"],
    choices: &[],
    direction: Direction::None,
    range: Range::NOT_NEGATIVE,
    needs: Needs::STORY,
    source: include_str!("own_metric.rs"),
    build: |request| {
        let signature = Signature::new("sentence-length").with("unit", "u", "words");
        let description = request.describe().width(2).signature(signature);
        Ok(Box::new(SentenceLength { description }))
    },
};

impl Metric for SentenceLength {
    fn description(&self) -> &Description {
        &self.description
    }

    fn rows(&self, stories: &[Prepared<'_>], _: &Resources) -> Result<Rows, MetricError> {
        Ok(Rows::each(stories, 2, |story, row| {
            let text = story.text.text();
            row[0] = text.split_whitespace().count() as f64;
            row[1] = text.matches(['.', '!', '?']).count() as f64;
        }))
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        values[0] = match row {
            [_, 0.0] => Err(Absence::because("the story has no sentence end")),
            [words, sentences] => Ok(words / sentences),
            _ => unreachable!("rows have two numbers"),
        };
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let table = Scorer::new()
        .register(&ENTRY)
        .metrics(["sentence-length", "text-length"])
        .run(["The rain fell. It fell all night.", "no end"])?;
    for column in table.views() {
        println!("{} {:?}", column.key, column.values());
    }
    let own = table.column("sentence-length")?.values();
    assert_eq!(own[0], Ok(3.5));
    assert!(own[1].is_err());
    Ok(())
}
