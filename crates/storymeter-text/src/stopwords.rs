//! English function words: the words that hold a sentence together and say nothing about its topic.
//!
//! The list was written for this crate, class by class: articles and determiners, pronouns,
//! prepositions, conjunctions, auxiliary and modal verbs, and the few adverbs that only point, link
//! or grade. Contractions are listed as the Penn Treebank splits them ("'s", "n't"). Numbers and
//! content words ("year", "good", "want") are not in the list.

/// The stop words, in lower case and byte order.
#[rustfmt::skip]
pub const STOP_WORDS: [&str; 209] = [
    "'d", "'ll", "'m", "'re", "'s", "'ve", "a", "about", "above", "across", "after", "again", "against", "all",
    "almost", "along", "already", "also", "although", "always", "am", "among", "an", "and", "another", "any",
    "anybody", "anyone", "anything", "are", "around", "as", "at", "away", "be", "because", "been", "before",
    "behind", "being", "below", "beneath", "beside", "besides", "between", "beyond", "both", "but", "by", "ca",
    "can", "could", "did", "do", "does", "doing", "done", "down", "during", "each", "either", "else", "enough",
    "even", "ever", "every", "everybody", "everyone", "everything", "few", "for", "from", "had", "has", "have",
    "having", "he", "her", "here", "hers", "herself", "him", "himself", "his", "how", "however", "i", "if", "in",
    "inside", "instead", "into", "is", "it", "its", "itself", "just", "least", "less", "many", "may", "me",
    "might", "mine", "more", "most", "much", "must", "my", "myself", "n't", "near", "neither", "no", "nobody", "none", "nor",
    "not", "nothing", "now", "of", "off", "on", "onto", "or", "other", "others", "ought", "our", "ours", "ourselves",
    "out", "outside", "over", "own", "per", "quite", "rather", "same", "shall", "she", "should", "since", "so",
    "some", "somebody", "someone", "something", "still", "such", "than", "that", "the", "their", "theirs", "them",
    "themselves", "then", "there", "therefore", "these", "they", "this", "those", "though", "through",
    "throughout", "thus", "till", "to", "too", "toward", "towards", "under", "unless", "until", "up", "upon", "us",
    "very", "was", "we", "were", "what", "whatever", "when", "whenever", "where", "wherever", "whether", "which", "while",
    "who", "whoever", "whom", "whose", "why", "will", "with", "within", "without", "wo", "would", "yet", "you",
    "your", "yours", "yourself", "yourselves",
];

/// Whether a token is a stop word, in any letter case.
///
/// ```
/// use storymeter_text::stopwords::is_stop_word;
/// assert!(is_stop_word("The") && is_stop_word("'s") && !is_stop_word("house"));
/// ```
pub fn is_stop_word(token: &str) -> bool {
    // No stop word is longer than "yourselves", so long words need no search.
    let mut lower = [0; 10];
    let Some(lower) = lower.get_mut(..token.len()) else { return false };
    lower.copy_from_slice(token.as_bytes());
    lower.make_ascii_lowercase();
    STOP_WORDS.binary_search_by(|word| word.as_bytes().cmp(lower)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_without_repeats_so_that_every_word_is_found() {
        assert!(STOP_WORDS.is_sorted_by(|a, b| a < b));
        assert!(
            STOP_WORDS.iter().all(|word| is_stop_word(word) && is_stop_word(&word.to_uppercase()))
        );
    }

    #[test]
    fn long_words_and_other_scripts_are_not_stop_words() {
        assert!(!is_stop_word("yourselvesandmore"));
        assert!(!is_stop_word("它"));
        assert!(!is_stop_word(""));
    }
}
