//! Explanations of one story by several metrics, as one.

use serde_json::{Map, Value};
use storymeter_core::{Rationale, Span};

/// What several metrics say about one story, in the order of the metrics.
pub(crate) struct Rationales(Vec<(String, Box<dyn Rationale>)>);

impl Rationales {
    /// Puts the explanations of several metrics together, story by story. Each metric comes with
    /// its key. `None` if no metric explains itself.
    pub(crate) fn per_story(
        by_metric: Vec<(String, Vec<Box<dyn Rationale>>)>,
    ) -> Option<Vec<Box<dyn Rationale>>> {
        if by_metric.len() < 2 {
            return by_metric.into_iter().next().map(|(_, rationales)| rationales);
        }
        let mut stories: Vec<Self> = Vec::new();
        for (key, rationales) in by_metric {
            stories.resize_with(rationales.len(), || Self(Vec::new()));
            for (story, rationale) in stories.iter_mut().zip(rationales) {
                story.0.push((key.clone(), rationale));
            }
        }
        let boxed = |story: Self| Box::new(story) as Box<dyn Rationale>;
        Some(stories.into_iter().map(boxed).collect())
    }
}

impl Rationale for Rationales {
    fn spans(&self) -> Vec<Span> {
        self.0.iter().flat_map(|(_, rationale)| rationale.spans()).collect()
    }

    fn legend(&self) -> Vec<Span> {
        self.0.iter().flat_map(|(_, rationale)| rationale.legend()).collect()
    }

    /// The fields of all metrics in one object, so that each metric's fields are where they are if
    /// it explains alone. Of two fields of one name, the first stays.
    fn to_json(&self) -> String {
        let mut fields = Map::new();
        for (key, rationale) in &self.0 {
            let own = match serde_json::from_str(&rationale.to_json()) {
                Ok(Value::Object(own)) => own,
                Ok(other) => Map::from_iter([(key.clone(), other)]),
                Err(_) => Map::new(),
            };
            for (name, value) in own {
                fields.entry(name).or_insert(value);
            }
        }
        Value::Object(fields).to_string()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use storymeter_core::SpanKind;

    use super::*;

    struct Said(&'static str, Value);

    impl Rationale for Said {
        fn spans(&self) -> Vec<Span> {
            vec![Span { text: self.0.to_owned(), kind: SpanKind::Plain }]
        }

        fn to_json(&self) -> String {
            self.1.to_string()
        }
    }

    fn by(key: &str, said: Vec<Said>) -> (String, Vec<Box<dyn Rationale>>) {
        let boxed = said.into_iter().map(|one| Box::new(one) as Box<dyn Rationale>);
        (key.to_owned(), boxed.collect())
    }

    #[test]
    fn the_explanations_of_two_metrics_become_one() {
        let said = Rationales::per_story(vec![
            by(
                "union",
                vec![Said("one ", json!({"union": 0.5, "text": "a"})), Said("", json!({}))],
            ),
            by(
                "criteria",
                vec![Said("two", json!({"criteria": [1], "text": "b"})), Said("", json!(7))],
            ),
        ])
        .unwrap();
        let texts: Vec<String> = said[0].spans().into_iter().map(|span| span.text).collect();
        assert_eq!(texts, ["one ", "two"]);
        assert_eq!(said[0].to_json(), r#"{"union":0.5,"text":"a","criteria":[1]}"#);
        assert_eq!(said[1].to_json(), r#"{"criteria":7}"#);
    }

    #[test]
    fn the_explanation_of_one_metric_stays_as_it_is() {
        assert!(Rationales::per_story(Vec::new()).is_none());
        let said = Rationales::per_story(vec![by("union", vec![Said("", json!([1]))])]).unwrap();
        assert_eq!(said[0].to_json(), "[1]");
    }
}
