//! A lexicon of antonyms, synonyms and content words.
//!
//! Substitution damages a story by replacing a word by its antonym, and must know which words are
//! worth replacing. Metrics that match meanings need synonyms. The embedded lexicon has the words
//! of Princeton WordNet 3.0 and newer antonyms of Open English WordNet, and is read in place (see
//! [`mod@format`]). A table of the user's own, in ConceptNet's format, can replace or extend it,
//! and so can a list of keywords.
//!
//! ```
//! use storymeter_text::lexicon::{Lexicon, PartOfSpeech};
//! let lexicon = Lexicon::embedded();
//! assert_eq!(lexicon.antonyms("hot", PartOfSpeech::Adjective), ["cold"]);
//! assert!(lexicon.is_keyword_word("wolves") && !lexicon.is_keyword_word("the"));
//! ```

mod close;
pub(crate) mod compiled;
mod conceptnet;
pub mod format;
mod keywords;
mod lines;

use std::borrow::Cow;
use std::io::BufRead;

use crate::morphology;
use crate::negation::is_negation_word;
use crate::stopwords::is_stop_word;
use conceptnet::Table;
pub use conceptnet::{LexiconError, Relation};
use keywords::Keywords;

/// The four classes of words that WordNet knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PartOfSpeech {
    /// Nouns, proper names included.
    Noun,
    /// Verbs other than modals.
    Verb,
    /// Adjectives.
    Adjective,
    /// Adverbs.
    Adverb,
}

impl PartOfSpeech {
    /// All four.
    pub const ALL: [Self; 4] = [Self::Noun, Self::Verb, Self::Adjective, Self::Adverb];

    /// The class of a Penn Treebank tag; `None` for modals, pronouns, punctuation and all other
    /// tags.
    pub fn from_penn(tag: &str) -> Option<Self> {
        match tag {
            "NN" | "NNS" | "NNP" | "NNPS" => Some(Self::Noun),
            "VB" | "VBD" | "VBG" | "VBN" | "VBP" | "VBZ" => Some(Self::Verb),
            "JJ" | "JJR" | "JJS" => Some(Self::Adjective),
            "RB" | "RBR" | "RBS" => Some(Self::Adverb),
            _ => None,
        }
    }
}

/// One meaning of a lemma.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sense {
    /// The number of the synset. Lemmas with a synset in common are synonyms in that meaning. The
    /// number has a meaning only in comparison with others of this lexicon.
    pub synset: u32,
    /// How often the lemma has this meaning in WordNet's sense-tagged texts. They are about
    /// 240,000 words, so a rare meaning has a count of 0.
    pub count: u32,
}

/// Antonyms, synonyms and keywords, from WordNet, from the user's own tables, or from both.
#[derive(Debug, Clone)]
pub struct Lexicon {
    /// Whether the antonyms and keywords of WordNet are used.
    wordnet: bool,
    table: Option<Table>,
    /// The only keywords, if the user gave a list of them.
    keywords: Option<Keywords>,
}

static EMBEDDED: Lexicon = Lexicon { wordnet: true, table: None, keywords: None };

impl Lexicon {
    /// The lexicon that is embedded in the crate.
    pub fn embedded() -> &'static Self {
        &EMBEDDED
    }

    /// A lexicon whose antonyms and keywords come from the user's own table only. Its synonyms are
    /// WordNet's.
    ///
    /// A line of the table is `head|||/r/Antonym|||tail tail tail`, where the relation is one of
    /// [`Relation`] and tails may be missing. The tails of all relations of a head are its
    /// antonyms, in the order of the table. Every head and tail that is not a stop word or negation
    /// word is a keyword. Letter case does not matter. Errors name the table by `place`, normally
    /// its file name.
    ///
    /// # Errors
    /// Returns an error if the table cannot be read, is empty, or has a line of another form.
    ///
    /// ```
    /// use storymeter_text::lexicon::{Lexicon, PartOfSpeech};
    /// let table = "wet|||/r/Antonym|||dry\nwet|||/r/NotDesires|||desert cat\n";
    /// let lexicon = Lexicon::from_conceptnet(table.as_bytes(), "table.txt")?;
    /// assert_eq!(lexicon.antonyms("wet", PartOfSpeech::Adjective), ["dry", "desert", "cat"]);
    /// assert!(!lexicon.is_keyword_word("house"));
    /// # Ok::<(), storymeter_text::lexicon::LexiconError>(())
    /// ```
    pub fn from_conceptnet(reader: impl BufRead, place: &str) -> Result<Self, LexiconError> {
        Ok(Self { wordnet: false, table: Some(Table::read(reader, place)?), keywords: None })
    }

    /// This lexicon together with the user's own table, whose antonyms come first.
    ///
    /// # Errors
    /// As for [`Lexicon::from_conceptnet`].
    pub fn extended_with(&self, reader: impl BufRead, place: &str) -> Result<Self, LexiconError> {
        let mut table = Table::read(reader, place)?;
        if let Some(earlier) = &self.table {
            table.append(earlier);
        }
        Ok(Self { wordnet: self.wordnet, table: Some(table), keywords: self.keywords.clone() })
    }

    /// This lexicon with the keywords of a list, and with no others.
    ///
    /// A line begins with the word. What follows it is not read, so that the vocabulary files of
    /// the UNION authors (`word count|||TAG count|||TAG count`) can be used as they are. A word may
    /// be listed in the form that it has in texts ("seats") or as a lemma. Stop words, negation
    /// words and lines without a letter are ignored, as in any lexicon.
    ///
    /// # Errors
    /// Returns an error if the list cannot be read, has no keyword, or has a line that is too long
    /// or not UTF-8.
    ///
    /// ```
    /// use storymeter_text::lexicon::{Lexicon, PartOfSpeech};
    /// let list = "seats 132|||NNS 131|||VBZ 1\nthe 9|||DT 9\n";
    /// let lexicon = Lexicon::embedded().with_keywords(list.as_bytes(), "keywords.txt")?;
    /// assert!(lexicon.is_keyword_word("seats") && !lexicon.is_keyword_word("house"));
    /// assert_eq!(lexicon.antonyms("hot", PartOfSpeech::Adjective), ["cold"]);
    /// # Ok::<(), storymeter_text::lexicon::LexiconError>(())
    /// ```
    pub fn with_keywords(&self, reader: impl BufRead, place: &str) -> Result<Self, LexiconError> {
        Ok(Self { keywords: Some(Keywords::read(reader, place)?), ..self.clone() })
    }

    /// Where the antonyms and the keywords come from: `wordnet`, or the sizes and a hash of the
    /// user's tables. Two lexicons with the same description give the same answers.
    pub fn description(&self) -> String {
        let wordnet = self.wordnet.then(|| "wordnet".to_owned());
        let table = self.table.as_ref().map(|table| table.digest.name("antonyms"));
        let keywords = self.keywords.as_ref().map(|list| list.digest.name("keywords"));
        let parts: Vec<String> = wordnet.into_iter().chain(table).chain(keywords).collect();
        parts.join("+")
    }

    /// The antonyms of a lemma without repeats: first the user's, then WordNet's, those of the most
    /// usual sense first.
    ///
    /// Tables in ConceptNet's format have no parts of speech, so their antonyms hold for any of
    /// them.
    pub fn antonyms(&self, lemma: &str, pos: PartOfSpeech) -> Vec<&str> {
        let lemma = lower_case(lemma);
        let mut found: Vec<&str> = Vec::new();
        if let Some(table) = &self.table {
            found.extend(table.tails(&lemma));
        }
        if self.wordnet
            && let Some(entry) = compiled::find(&lemma)
        {
            for antonym in entry.antonyms(pos).words() {
                if !found.contains(&antonym) {
                    found.push(antonym);
                }
            }
        }
        found
    }

    /// Whether a lemma carries content as this part of speech: the lexicon has it, and it is
    /// neither a [stop word](crate::stopwords) nor a [negation word](crate::negation).
    pub fn is_keyword(&self, lemma: &str, pos: PartOfSpeech) -> bool {
        let lemma = lower_case(lemma);
        self.knows(&lemma, |entry| entry.is_lemma(pos)) && !is_function_word(&lemma)
    }

    /// Whether a word of a text is a keyword as this part of speech, given its lemma. A list of
    /// keywords may have the word in the form that it has in the text.
    pub fn is_keyword_form(&self, form: &str, lemma: &str, pos: PartOfSpeech) -> bool {
        self.is_keyword(lemma, pos)
            || (self.keywords.is_some() && !is_function_word(lemma) && self.is_keyword(form, pos))
    }

    /// Whether a word of a text, in any inflected form, is a keyword of any part of speech.
    pub fn is_keyword_word(&self, word: &str) -> bool {
        let word = lower_case(word);
        if is_function_word(&word) {
            return false;
        }
        self.knows(&word, compiled::Entry::is_any_lemma)
            || PartOfSpeech::ALL.into_iter().any(|pos| {
                morphology::known_lemma(&word, pos).is_some_and(|lemma| {
                    !is_function_word(&lemma) && self.knows(&lemma, |entry| entry.is_lemma(pos))
                })
            })
    }

    /// Whether a word is English in this form, function words included.
    pub fn is_known_form(&self, word: &str) -> bool {
        let word = lower_case(word);
        is_function_word(&word)
            || compiled::find(&word).is_some()
            || PartOfSpeech::ALL
                .into_iter()
                .any(|pos| morphology::known_lemma(&word, pos).is_some())
    }

    fn knows(&self, word: &str, accept: impl Fn(compiled::Entry) -> bool) -> bool {
        if let Some(keywords) = &self.keywords {
            return keywords.knows(word);
        }
        self.table.as_ref().is_some_and(|table| table.knows(word))
            || (self.wordnet && compiled::find(word).is_some_and(accept))
    }

    /// All single-word lemmas of WordNet for a part of speech, in lower case and byte order.
    pub fn lemmas(&self, pos: PartOfSpeech) -> impl Iterator<Item = &'static str> + use<> {
        compiled::words().filter(move |(_, entry)| entry.is_lemma(pos)).map(|(word, _)| word)
    }

    /// The other single-word lemmas that share a synset with a lemma, in alphabetical order.
    pub fn synonyms(&self, lemma: &str, pos: PartOfSpeech) -> Vec<&'static str> {
        let lemma = lower_case(lemma);
        let Some(entry) = compiled::find(&lemma) else { return Vec::new() };
        let synsets = entry.synsets(pos).synsets();
        let mut found: Vec<&str> =
            synsets.flat_map(|synset| compiled::members(synset).words()).collect();
        found.retain(|word| *word != lemma);
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The senses of a lemma, the most frequent first. Senses with the same count are in WordNet's
    /// order, which puts the more usual sense first.
    ///
    /// ```
    /// use storymeter_text::lexicon::{Lexicon, PartOfSpeech};
    /// let senses = Lexicon::embedded().senses("car", PartOfSpeech::Noun);
    /// let counts: Vec<u32> = senses.iter().map(|sense| sense.count).collect();
    /// // A motor vehicle; part of a train, of a balloon, or of a lift; a cable car.
    /// assert_eq!(counts, [71, 2, 0, 0, 0]);
    /// ```
    pub fn senses(&self, lemma: &str, pos: PartOfSpeech) -> Vec<Sense> {
        let Some(entry) = compiled::find(&lower_case(lemma)) else { return Vec::new() };
        let mut senses: Vec<Sense> =
            entry.senses(pos).map(|(synset, count)| Sense { synset, count }).collect();
        senses.sort_by_key(|sense| std::cmp::Reverse(sense.count));
        senses
    }

    /// The single words that can stand for a lemma in most ordinary sentences without changing what
    /// they say. The most used synonym comes first, and many lemmas have none.
    ///
    /// A close synonym has a sense of the lemma in at least seven of ten counted uses of the lemma,
    /// and in at least half of its own. Each of the two words is counted at least three times in
    /// the senses that they share. Function words, variants of the lemma ("grey" for "gray"),
    /// abbreviations, vulgar words and nouns without a singular are left out, and so are words that
    /// usually need another construction, such as "attempt" for "try".
    ///
    /// ```
    /// use storymeter_text::lexicon::{Lexicon, PartOfSpeech};
    /// let lexicon = Lexicon::embedded();
    /// assert_eq!(lexicon.close_synonyms("buy", PartOfSpeech::Verb), ["purchase"]);
    /// assert_eq!(lexicon.close_synonyms("kid", PartOfSpeech::Noun), ["child"]);
    /// assert!(lexicon.close_synonyms("try", PartOfSpeech::Verb).is_empty());
    /// ```
    pub fn close_synonyms(&self, lemma: &str, pos: PartOfSpeech) -> Vec<&'static str> {
        close::close_synonyms(&lower_case(lemma), pos)
    }

    /// The synsets of a lemma as any part of speech, in ascending order. The numbers have a meaning
    /// only in comparison with others of this lexicon.
    pub fn synsets(&self, lemma: &str) -> Vec<u32> {
        let mut synsets = Vec::new();
        if let Some(entry) = compiled::find(&lower_case(lemma)) {
            push_synsets(&mut synsets, entry, &PartOfSpeech::ALL);
        }
        synsets.sort_unstable();
        synsets
    }

    /// The synsets of all lemmas that a word form ("mice", "left") may have, in ascending order
    /// without repeats.
    pub fn synsets_of_form(&self, form: &str) -> Vec<u32> {
        let form = lower_case(form);
        let mut synsets = self.synsets(&form);
        for pos in PartOfSpeech::ALL {
            if let Some(lemma) = morphology::known_lemma(&form, pos)
                && *lemma != *form
                && let Some(entry) = compiled::find(&lemma)
            {
                push_synsets(&mut synsets, entry, &[pos]);
            }
        }
        synsets.sort_unstable();
        synsets.dedup();
        synsets
    }
}

fn push_synsets(synsets: &mut Vec<u32>, entry: compiled::Entry, parts: &[PartOfSpeech]) {
    for &pos in parts {
        synsets.extend(entry.synsets(pos).synsets());
    }
}

fn is_function_word(word: &str) -> bool {
    is_stop_word(word) || is_negation_word(word)
}

/// The word in lower case; borrowed if it already is.
pub(crate) fn lower_case(word: &str) -> Cow<'_, str> {
    if word.bytes().any(|byte| byte.is_ascii_uppercase() || !byte.is_ascii()) {
        Cow::Owned(word.to_lowercase())
    } else {
        Cow::Borrowed(word)
    }
}
