//! The words of a sentence as the rules compare them, and patterns of words.

/// The words in lower case, without marks. Contractions are written out, "can't" as "can not" and
/// "here's" as "here is", and words with hyphens are cut: "500-word" is two words.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric() && !is_apostrophe(c)) {
        let word = word.trim_matches(is_apostrophe);
        if !word.is_empty() {
            write_out(&word.replace('’', "'").to_lowercase(), &mut words);
        }
    }
    words
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’')
}

fn write_out(word: &str, words: &mut Vec<String>) {
    const ENDS: [(&str, &str); 5] =
        [("'m", "am"), ("'re", "are"), ("'ve", "have"), ("'ll", "will"), ("'d", "would")];
    let mut push = |word: &str| words.push(word.to_owned());
    if word == "cannot" || word == "can't" {
        ["can", "not"].into_iter().for_each(push);
    } else if word == "won't" {
        ["will", "not"].into_iter().for_each(push);
    } else if let Some(verb) = word.strip_suffix("n't") {
        [verb, "not"].into_iter().for_each(push);
    } else if let Some(first) =
        word.strip_suffix("'s").filter(|w| ["here", "it", "that", "there", "what"].contains(w))
    {
        [first, "is"].into_iter().for_each(push);
    } else if let Some((first, end)) =
        ENDS.iter().find_map(|(end, full)| Some((word.strip_suffix(end)?, *full)))
    {
        [first, end].into_iter().for_each(push);
    } else {
        push(word);
    }
}

/// A gap in a pattern stands for at most this many words.
const LONGEST_GAP: usize = 4;

/// Whether words begin with a pattern.
///
/// A pattern is a row of words: `a|b` is one of two words, `a?` may be absent, `#` is a number,
/// `..` stands for up to four words, and `$` for the end.
pub(super) fn begin(words: &[String], pattern: &str) -> bool {
    let items: Vec<&str> = pattern.split(' ').collect();
    matches(words, &items)
}

/// Whether words have a pattern anywhere; see [`begin`].
pub(super) fn have(words: &[String], pattern: &str) -> bool {
    let items: Vec<&str> = pattern.split(' ').collect();
    (0..words.len()).any(|at| matches(&words[at..], &items))
}

/// Whether any word is one of a list.
pub(super) fn have_one(words: &[String], list: &[&str]) -> bool {
    words.iter().any(|word| list.contains(&word.as_str()))
}

fn matches(words: &[String], items: &[&str]) -> bool {
    let Some((&item, rest)) = items.split_first() else { return true };
    match item {
        "$" => words.is_empty(),
        ".." => (0..=LONGEST_GAP.min(words.len())).any(|skip| matches(&words[skip..], rest)),
        _ => match item.strip_suffix('?') {
            Some(item) => takes(words, item, rest) || matches(words, rest),
            None => takes(words, item, rest),
        },
    }
}

fn takes(words: &[String], item: &str, rest: &[&str]) -> bool {
    let is_it = |word: &String| match item {
        "#" => word.bytes().all(|b| b.is_ascii_digit()),
        _ => item.split('|').any(|one| one == word),
    };
    words.first().is_some_and(is_it) && matches(&words[1..], rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_without_marks_case_and_contractions() {
        let found = words("**Here’s** a 500-word story I can't, won't and didn't write; I'm sorry");
        let expected = "here is a 500 word story i can not will not and did not write i am sorry";
        assert_eq!(found.join(" "), expected);
        assert_eq!(words("Anna's 'quoted' dogs'").join(" "), "anna's quoted dogs");
    }

    #[test]
    fn patterns_have_alternatives_options_gaps_numbers_and_an_end() {
        let found = words("I really hope that you liked these 2 stories");
        assert!(begin(&found, "i really? hope"));
        assert!(begin(&found, "we|i really? sadly? hope .. liked"));
        assert!(!begin(&found, "hope"));
        assert!(have(&found, "hope that you enjoyed|liked"));
        assert!(have(&found, "these # stories $"));
        assert!(!have(&found, "these # $"));
        assert!(!have(&found, "i .. stories"), "a gap has at most four words");
    }
}
