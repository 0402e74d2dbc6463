//! METEOR 1.0 (Lavie and Agarwal 2007) as `nltk.translate.meteor_score` of NLTK 3.10 computes it.
//!
//! Words are matched from the end of the story to its beginning, each with the last free word of
//! the reference that is equal to it. What is left is matched by stem, and after that by WordNet's
//! synonyms. As in NLTK, synonyms are looked up by the stems and not by the words.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use storymeter_core::{TextCache, View};
use storymeter_text::lexicon::{Lexicon, PartOfSpeech};
use storymeter_text::morphology::lemmas;
use storymeter_text::stem::porter;

use crate::tokenize::{Tokenised, Whitespace};

pub(crate) const ALPHA: f64 = 0.9;
pub(crate) const BETA: f64 = 3.0;
pub(crate) const GAMMA: f64 = 0.5;

/// The words of a text between white space, in lower case, with their stems.
pub(crate) struct NltkWords(Vec<(String, String)>);

impl View for NltkWords {
    fn build(text: &TextCache<'_>) -> Self {
        let tokens = text.view::<Tokenised<Whitespace>>();
        let with_stem = |token: &str| {
            let word = token.to_lowercase();
            let stem = porter::nltk(&word);
            (word, stem)
        };
        Self(tokens.iter().map(with_stem).collect())
    }
}

/// The score of a story against one reference. It is 0 if nothing matches.
pub(crate) fn score(story: &NltkWords, reference: &NltkWords) -> f64 {
    let mut aligner = Aligner {
        story_free: vec![true; story.0.len()],
        reference_free: vec![true; reference.0.len()],
        matches: Vec::new(),
    };
    aligner.match_last(|at| &reference.0[at].0, |at| vec![Cow::Borrowed(&*story.0[at].0)]);
    aligner.match_last(|at| &reference.0[at].1, |at| vec![Cow::Borrowed(&*story.0[at].1)]);
    aligner.match_last(|at| &reference.0[at].1, |at| synonyms(&story.0[at].1));

    let mut matches = aligner.matches;
    if matches.is_empty() {
        return 0.0;
    }
    matches.sort_unstable();
    let breaks =
        matches.windows(2).filter(|pair| pair[1] != (pair[0].0 + 1, pair[0].1 + 1)).count();
    let (count, chunks) = (matches.len() as f64, breaks as f64 + 1.0);
    let (precision, recall) = (count / story.0.len() as f64, count / reference.0.len() as f64);
    let mean = (precision * recall) / (ALPHA * precision + (1.0 - ALPHA) * recall);
    (1.0 - GAMMA * (chunks / count).powf(BETA)) * mean
}

/// The words that are not matched yet, and the matches, as places in the story and in the
/// reference.
struct Aligner {
    story_free: Vec<bool>,
    reference_free: Vec<bool>,
    matches: Vec<(usize, usize)>,
}

impl Aligner {
    /// Matches each free word of the story, beginning with the last one, with the last free place
    /// of any of its forms.
    fn match_last<'a>(
        &mut self,
        word: impl Fn(usize) -> &'a str,
        forms: impl Fn(usize) -> Vec<Cow<'a, str>>,
    ) {
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for at in (0..self.reference_free.len()).filter(|&at| self.reference_free[at]) {
            places.entry(word(at)).or_default().push(at);
        }
        for at in (0..self.story_free.len()).rev() {
            if !self.story_free[at] {
                continue;
            }
            let last = |form: &str| places.get(form).and_then(|places| places.last()).copied();
            let best = forms(at).into_iter().filter_map(|form| Some((last(&form)?, form))).max();
            if let Some((place, form)) = best {
                places.get_mut(&*form).map(Vec::pop);
                self.matches.push((at, place));
                self.story_free[at] = false;
                self.reference_free[place] = false;
            }
        }
    }
}

/// The word, and all words that share a synset of WordNet with one of its lemmas.
fn synonyms(word: &str) -> Vec<Cow<'_, str>> {
    let lexicon = Lexicon::embedded();
    let mut found = vec![Cow::Borrowed(word)];
    for pos in PartOfSpeech::ALL {
        for lemma in lemmas(word, pos) {
            let capitalised = capitalised_synonyms(&lemma);
            let others = lexicon.synonyms(&lemma, pos).into_iter();
            found.extend(others.filter(|name| !capitalised.contains(name)).map(Cow::Borrowed));
            if !(pos == PartOfSpeech::Noun && capitalised.contains(&&*lemma)) {
                found.push(Cow::Owned(lemma));
            }
        }
    }
    found
}

/// The words that are linked to a word only through names with capital letters. NLTK never matches
/// these.
fn capitalised_synonyms(word: &str) -> Vec<&'static str> {
    static TABLE: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
        let lines = include_str!("../../data/capitalised_synonyms.txt").lines();
        lines.filter_map(|line| line.split_once(' ')).collect()
    });
    let found = TABLE.binary_search_by_key(&word, |&(word, _)| word);
    found.map_or_else(|_| Vec::new(), |at| TABLE[at].1.split(' ').collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(story: &str, reference: &str) -> f64 {
        let [story, reference] =
            [story, reference].map(|text| TextCache::new(text).view::<NltkWords>());
        score(&story, &reference)
    }

    #[test]
    fn the_example_of_nltks_documentation_comes_out() {
        let story = "It is a guide to action which ensures that the military always obeys the \
                     commands of the party";
        let reference = "It is a guide to action that ensures that the military will forever heed \
                         Party commands";
        assert_eq!(format!("{:.4}", scored(story, reference)), "0.6944");
        assert_eq!(scored("non matching hypothesis", "this is a cat"), 0.0);
    }

    #[test]
    fn synonyms_match_but_not_through_names() {
        assert!(scored("the car", "the auto") > 0.9);
        // Almighty and Lord share a synset only as names of God.
        assert!(scored("almighty", "lord") == 0.0);
        assert!(scored("ass", "as") == 0.0);
    }
}
