//! The known name that a mistyped one probably means.

/// The known name nearest to a mistyped one, if it is near enough to be meant.
///
/// The distance is Levenshtein's, in characters and without regard to case.
///
/// ```
/// use storymeter_core::nearest;
/// assert_eq!(nearest("text-lenght", ["bleu", "text-length"]), Some("text-length"));
/// assert_eq!(nearest("quatsch", ["bleu", "text-length"]), None);
/// ```
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distances = known.into_iter().map(|name| (edit_distance(typed, name), name));
    let (distance, name) = distances.min()?;
    (distance <= 2.max(typed.chars().count() / 3)).then_some(name)
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let cost = (diagonal + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], cost);
        }
    }
    row[b.len()]
}
