//! Tells news reports from stories by how they name their sources.

/// A report says early on where it has its news from, so the words after these are not looked at.
const LEAD: usize = 150;

/// Words for those who make news. A story may have one or two of them.
#[rustfmt::skip]
const INSTITUTIONS: [&str; 22] = [
    "authorities", "commission", "committee", "company", "council", "court", "government", "governor", "lawmakers",
    "mayor", "minister", "ministry", "officials", "parliament", "police", "president", "prosecutors", "residents",
    "researchers", "senate", "senator", "union",
];

const DAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Whether a text begins with a place and an agency, or names its sources as reports do and also
/// has two of these: institutions, large figures, the day of the week.
pub(super) fn is_news(text: &str, words: &[String]) -> bool {
    if has_dateline(text) {
        return true;
    }
    let words: Vec<&str> = words.iter().take(LEAD).map(String::as_str).collect();
    let has = |phrase: &[&str]| words.windows(phrase.len()).any(|window| window == phrase);
    let any = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let sources = [
        has(&["according", "to"]),
        has(&["told", "reporters"]),
        has(&["in", "a", "statement"]),
        any(&["spokesman", "spokeswoman", "spokesperson"]),
        ["officials", "police", "authorities", "prosecutors", "researchers", "company"]
            .iter()
            .any(|who| has(&[who, "said"])),
    ];
    let institutions = INSTITUTIONS.iter().filter(|who| words.contains(who)).count();
    let signs = [
        institutions >= 2,
        any(&["percent", "million", "billion"])
            || has(&["per", "cent"])
            || words.iter().zip(text.split_whitespace()).any(|(_, typed)| typed.ends_with('%')),
        words.windows(2).any(|pair| pair[0] == "on" && DAYS.contains(&pair[1])),
    ];
    sources.contains(&true) && signs.iter().filter(|sign| **sign).count() >= 2
}

/// Whether a text begins as an agency's report does: `LONDON (Reuters) - ` or `OSLO, May 3 — `.
fn has_dateline(text: &str) -> bool {
    let Some(line) = text.lines().map(str::trim).find(|line| !line.is_empty()) else {
        return false;
    };
    let Some((place, _)) = ["—", "–", " - ", "--"]
        .iter()
        .filter_map(|dash| line.split_once(dash))
        .min_by_key(|s| s.0.len())
    else {
        return false;
    };
    let first = place.split([',', '(']).next().unwrap_or_default().trim();
    let letters = first.chars().filter(|c| c.is_alphabetic()).count();
    let capitals = first.chars().all(|c| c.is_uppercase() || matches!(c, ' ' | '.' | '-'));
    // A place, and behind it a date or an agency: one in capitals alone may be a cry.
    letters >= 3 && capitals && first.len() < place.trim().len() && place.len() <= 60
}
