//! The learned metrics, and the texts that they were not made for: those that do not look like
//! English stories.

use storymeter_core::read::Record;
use storymeter_core::{OtherTexts, ScoreColumn};
use storymeter_text::kind::{TextKind, unlike_a_story};

/// The id of the learned metric, which scores where no other is named.
pub const LEARNED: &str = "union";

/// The id of the learned metric that predicts the ratings of readers.
pub const CRITERIA: &str = "criteria";

/// The learned metrics among the columns: those that are made for English stories.
pub(crate) fn learned(columns: &[ScoreColumn]) -> Vec<&'static str> {
    let is_there = |id: &&str| columns.iter().any(|column| column.key.id() == *id);
    [LEARNED, CRITERIA].into_iter().filter(is_there).collect()
}

/// The texts among stories that do not look like English stories.
pub(crate) fn other_texts(records: &[Record]) -> OtherTexts {
    let mut found = OtherTexts::default();
    for record in records {
        let kinds = unlike_a_story(&record.story.text);
        found.texts += u64::from(!kinds.is_empty());
        for kind in kinds {
            *found.kinds.entry(kind.name().to_owned()).or_default() += 1;
        }
    }
    found
}

/// A note for the user, if there are such texts. `metrics` are the learned ones.
pub(crate) fn note(found: &OtherTexts, metrics: &[&str], stories: usize) -> Option<String> {
    if found.texts == 0 {
        return None;
    }
    let made = if let [one] = metrics {
        format!("{one} was")
    } else {
        format!("{} were", metrics.join(" and "))
    };
    // Kinds of another version are left out.
    let known = |(name, count): (&String, &u64)| Some((TextKind::from_name(name)?, *count));
    let mut kinds: Vec<(TextKind, u64)> = found.kinds.iter().filter_map(known).collect();
    kinds.sort_unstable();
    if stories == 1 {
        let looks: Vec<&str> = kinds.iter().map(|(kind, _)| kind.looks()).collect();
        let looks = looks.join(" and ");
        return Some(format!("the text {looks}; {made} made for English stories"));
    }
    // The most frequent first; of equally frequent ones, in the order of the kinds.
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let kinds: Vec<String> =
        kinds.iter().map(|(kind, count)| format!("{count} {}", kind.name())).collect();
    Some(format!(
        "{} of {stories} stories do not look like English stories: {}; {made} not made for them",
        found.texts,
        kinds.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use storymeter_core::{Place, Story};

    use super::*;

    fn found(texts: &[&str]) -> OtherTexts {
        let record =
            |text: &&str| Record { story: Story::from(*text), number: 0, place: Place::default() };
        other_texts(&texts.iter().map(record).collect::<Vec<_>>())
    }

    #[test]
    fn a_note_counts_each_kind_and_each_text_once() {
        let german_list = "Wir kaufen heute noch:\n- das Brot und die Milch\n- den Käse\n- ein Ei";
        let story = "Mira lost her kite in the storm. She looked in the barn and on the roof. Her \
                     brother found it in the end.";
        let mut counts = found(&[german_list, story]);
        assert_eq!(note(&OtherTexts::default(), &["union"], 2), None);
        counts.merge(&found(&["- milk\n- eggs\n- two loaves", "Hello."]));
        assert_eq!(
            note(&counts, &["union"], 4).unwrap(),
            "3 of 4 stories do not look like English stories: 2 list, 1 German, 1 very short; \
             union was not made for them"
        );
        let short = found(&["Hello."]);
        assert_eq!(
            note(&short, &["union"], 1).unwrap(),
            "the text is very short: it has fewer than 20 words; union was made for English stories"
        );
        assert_eq!(
            note(&short, &["union", "criteria"], 1).unwrap(),
            "the text is very short: it has fewer than 20 words; union and criteria were made for \
             English stories"
        );
    }
}
