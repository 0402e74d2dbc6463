//! Masks person names, as UNION's data do (section 4.2), so that a metric does not learn who Ken
//! is.

use storymeter_core::Story;
use storymeter_text::Span;
use storymeter_text::names::Delexicaliser;

/// Replaces first names by `[MALE]`, `[FEMALE]` and `[NEUTRAL]` in text, prompt and references.
///
/// ```
/// use storymeter_core::Story;
/// let story = Story { text: "Susan met Robert.".into(), ..Story::default() };
/// assert_eq!(storymeter_perturb::delexicalised(&story).text, "[FEMALE] met [MALE].");
/// ```
pub fn delexicalised(story: &Story) -> Story {
    delexicalised_with_names(story).0
}

/// Masks names as [`delexicalised`] does, and also returns where the placeholders are in the new
/// text, each with the name that stood there, in order.
///
/// ```
/// use storymeter_core::Story;
/// let story = Story { text: "Susan met Robert.".into(), ..Story::default() };
/// let (masked, names) = storymeter_perturb::delexicalised_with_names(&story);
/// let (place, name) = &names[1];
/// assert_eq!((&masked.text[place.start..place.end], name.as_str()), ("[MALE]", "Robert"));
/// ```
pub fn delexicalised_with_names(story: &Story) -> (Story, Vec<(Span, String)>) {
    let names = Delexicaliser::embedded();
    let mask = |text: &str| names.delexicalise(text).text;
    let masked = names.delexicalise(&story.text);
    // The length of the names before a place decides how far it moves.
    let mut old_to_new = Vec::with_capacity(masked.names.len());
    let (mut added, mut removed) = (0, 0);
    for (span, name) in &masked.names {
        let old_end = span.start + removed + name.len() - added;
        added += span.len();
        removed += name.len();
        old_to_new.push((old_end, added, removed));
    }
    let moved = |place: usize| match old_to_new.partition_point(|(old_end, ..)| *old_end <= place) {
        0 => place,
        n => place + old_to_new[n - 1].1 - old_to_new[n - 1].2,
    };
    let story = Story {
        sentences: story
            .sentences
            .iter()
            .map(|range| moved(range.start)..moved(range.end))
            .collect(),
        prompt: story.prompt.as_deref().map(mask),
        references: story.references.iter().map(|text| mask(text)).collect(),
        text: masked.text,
        ..story.clone()
    };
    (story, masked.names)
}
