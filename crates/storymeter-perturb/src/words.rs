//! The words of which n-grams, halves of sentences and moved stretches are made.

use storymeter_text::Span;

/// The words of a sentence: the stretches between spaces, without the punctuation around them.
/// Stretches of punctuation only are left out.
pub fn words(sentence: &str) -> Vec<Span> {
    // An accent that is a character of its own belongs to the letter before it.
    let is_edge = |c: char| {
        !c.is_alphanumeric()
            && !matches!(c, '[' | ']' | '$' | '%' | '#' | '&' | '\u{300}'..='\u{36f}')
    };
    let mut words = Vec::new();
    let mut start = None;
    let mut push = |start: usize, end: usize| {
        let chunk = &sentence[start..end];
        let left = chunk.len() - chunk.trim_start_matches(is_edge).len();
        let right = chunk.trim_end_matches(is_edge).len();
        if left < right {
            words.push(Span::new(start + left, start + right));
        }
    };
    for (i, c) in sentence.char_indices() {
        match (c.is_whitespace(), start) {
            (true, Some(from)) => {
                push(from, i);
                start = None;
            }
            (false, None) => start = Some(i),
            _ => {}
        }
    }
    if let Some(from) = start {
        push(from, sentence.len());
    }
    words
}

/// Whether there is a full stop between the words of an n-gram, which are given by their places.
pub fn ends_a_sentence_inside(sentence: &str, gram: &[Span]) -> bool {
    let (first, last) = (gram[0], gram[gram.len() - 1]);
    sentence[first.start..last.end].contains(['.', '!', '?', '…', '。', '！', '？'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clitics_and_name_tags_stay_whole() {
        let text = "[MALE] did n't \"go\" , okay .";
        let shown: Vec<&str> = words(text).iter().map(|word| word.of(text)).collect();
        assert_eq!(shown, ["[MALE]", "did", "n't", "go", "okay"]);
    }

    #[test]
    fn an_accent_stays_with_its_letter() {
        let text = "She left the cafe\u{301} .";
        assert_eq!(words(text)[3].of(text), "cafe\u{301}");
    }
}
