//! Says how many texts do not look like English stories, for which the learned metrics were not
//! made.

use storymeter::Unlike;
use storymeter::text::kind::TextKind;

/// A note for the user, if there are such texts. `metrics` are the learned ones, and `explained`
/// says whether each of the texts was shown with a warning.
pub(super) fn note(
    unlike: &Unlike,
    metrics: &[&str],
    stories: usize,
    explained: bool,
) -> Option<String> {
    if unlike.texts == 0 {
        return None;
    }
    let made = if let [one] = metrics {
        format!("{one} was")
    } else {
        format!("{} were", metrics.join(" and "))
    };
    let way = if explained { "" } else { " (--explain shows which)" };
    if stories == 1 {
        let looks: Vec<&str> = unlike.kinds.keys().map(|kind| kind.looks()).collect();
        let looks = looks.join(" and ");
        return Some(format!("the text {looks}; {made} made for English stories"));
    }
    // The most frequent first; of equally frequent ones, in the order of the kinds.
    let mut kinds: Vec<(&TextKind, &u64)> = unlike.kinds.iter().collect();
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let kinds: Vec<String> =
        kinds.iter().map(|(kind, count)| format!("{count} {}", kind.name())).collect();
    Some(format!(
        "{} of {stories} stories do not look like English stories: {}; {made} not made for \
         them{way}",
        unlike.texts,
        kinds.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use storymeter::Story;
    use storymeter::core::Place;
    use storymeter::core::read::Record;

    use super::*;

    fn record(text: &str) -> Record {
        let story = Story { text: text.to_owned(), ..Story::default() };
        Record { story, number: 0, place: Place::default() }
    }

    #[test]
    fn a_note_counts_each_kind_and_each_text_once() {
        let german_list = "Wir kaufen heute noch:\n- das Brot und die Milch\n- den Käse\n- ein Ei";
        let story = "Mira lost her kite in the storm. She looked in the barn and on the roof. Her \
                     brother found it in the end.";
        let mut counts = Unlike::of(&[record(german_list), record(story)]);
        assert_eq!(note(&Unlike::default(), &["union"], 2, false), None);
        counts.add(&Unlike::of(&[record("- milk\n- eggs\n- two loaves"), record("Hello.")]));
        assert_eq!(
            note(&counts, &["union"], 4, false).unwrap(),
            "3 of 4 stories do not look like English stories: 2 list, 1 German, 1 very short; \
             union was not made for them (--explain shows which)"
        );
        let short = Unlike::of(&[record("Hello.")]);
        assert_eq!(
            note(&short, &["union"], 1, true).unwrap(),
            "the text is very short: it has fewer than 20 words; union was made for English stories"
        );
        assert_eq!(
            note(&short, &["union", "criteria"], 1, true).unwrap(),
            "the text is very short: it has fewer than 20 words; union and criteria were made for \
             English stories"
        );
    }
}
