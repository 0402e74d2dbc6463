//! Substitution, which puts keywords or sentences into a story that do not belong there.
//!
//! The paper, section 3.2: "For word-level substitution, we replace random 15% keywords in a story
//! with their corresponding antonyms (e.g., replace "deny" with "confirm"), otherwise with another
//! random keyword sampled from all the keywords of the same part-of-speech (POS), according to the
//! mention frequency. We use the commonsense knowledge base ConceptNet (Speer and Havasi, 2012) for
//! keyword recognition and antonym query. ConceptNet consists of commonsense triples like (h, r,
//! t), meaning that the head concept h has a relation r with the tail concept t, e.g., (evaluation,
//! IsA, judgment). We regard those words which are heads or tails in ConceptNet as keywords. And
//! given an keyword, we look up those keywords as its antonyms with which have negated relations,
//! including Antonym, NotDesires, NotCapableOf, and NotHasProperty. If no antonym is found for a
//! keyword, we perform replacement with a random keyword of the same POS. And we adopt NLTK for POS
//! tagging. For sentence-level substitution, we randomly replace a sentence in a story with another
//! one sampled from the rest of stories in the dataset."
//!
//! Keywords and antonyms come from the given [`Lexicon`]: Open English WordNet by default, or the
//! user's tables, such as those of ConceptNet.
//!
//! Beyond the paper, half a sentence can be replaced: a model that loses the thread in the middle
//! of a sentence writes such ones.

use storymeter_text::Span;
use storymeter_text::lexicon::{Lexicon, PartOfSpeech};
use storymeter_text::morphology::verb::{self, VerbForm};
use storymeter_text::morphology::{adjective, noun};
use storymeter_text::tagger::{Tag, Tagger};

use crate::Technique::Substitution;
use crate::donors::Donors;
use crate::draft::{Change, Draft};
use crate::draw::Draw;
use crate::style::match_case;
use crate::words::words;

/// The number of words in the shortest sentence that is cut into halves. A shorter one leaves no
/// choice of where to cut.
const SHORTEST: usize = 4;

/// The sources of foreign words and sentences.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    pub donors: &'a Donors,
    pub lexicon: &'a Lexicon,
    pub tagger: &'a Tagger,
}

/// A word that carries the content of the story.
pub struct Keyword {
    pub sentence: usize,
    /// The article directly before it, if there is one.
    pub article: Option<Span>,
    pub span: Span,
    pub tag: Tag,
    pub pos: PartOfSpeech,
    pub lemma: String,
}

/// Replaces words or a sentence by the rules of the paper. The paper gives no weights for the two,
/// so each has a probability of one half.
pub fn paper(draft: &mut Draft, draw: &mut Draw, sources: Sources, share: f64) -> bool {
    let mut levels = [replace_some_sentence, replace_share];
    if draw.chance(0.5) {
        levels.reverse();
    }
    // If the first choice finds nothing to change, the other one is tried.
    levels.into_iter().any(|level| level(draft, draw, sources, share))
}

/// Follows the released code. With probability one half, 1 to L - 1 sentences are replaced by
/// sentences of one other story. Otherwise *up to* the share of keywords is replaced; antonyms stay
/// in their base form, and articles are not adapted.
pub fn released_code(draft: &mut Draft, draw: &mut Draw, sources: Sources, share: f64) -> bool {
    let open = draft.open();
    if draw.chance(0.5) {
        let count = draw.between(1, draft.length_with_context() - 1);
        let Some(donor) = sources.donors.story(draft.style(), draw) else { return false };
        let mut slots = draw.distinct(open.len(), count);
        slots.sort_unstable();
        let changes = slots
            .into_iter()
            .map(|slot| draft.putting(slot + open.start, sources.donors.sentence(donor, draw)))
            .collect();
        return draft.replace_all(Substitution, changes);
    }
    let keywords = keywords(draft, sources);
    let most = (share * keywords.len() as f64 + 1.0).floor() as usize;
    let count = draw.between(1, most.saturating_sub(1));
    replace_keywords(draft, draw, sources, keywords, count, Inflection::Base)
}

/// Whether an antonym takes the form of the word that it replaces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inflection {
    Matched,
    Base,
}

/// Replaces a random sentence by one of another story that is written in the same way. A sentence
/// that another technique has changed is replaced only if there is no other.
fn replace_some_sentence(
    draft: &mut Draft,
    draw: &mut Draw,
    sources: Sources,
    _share: f64,
) -> bool {
    let mut slots: Vec<usize> = draft.open().filter(|&slot| !draft.is_touched(slot)).collect();
    if slots.is_empty() {
        slots = draft.open().collect();
    }
    let Some(&slot) = draw.pick(&slots) else { return false };
    for _ in 0..10 {
        let Some(donor) = sources.donors.story(draft.style(), draw) else { return false };
        let content = sources.donors.sentence(donor, draw);
        if !draft.has(content) {
            draft.touch(slot);
            return draft.put(Substitution, slot, content);
        }
    }
    false
}

/// Gives two sentences (or one, if there are no two) the end of a sentence of another story.
pub fn splice(draft: &mut Draft, draw: &mut Draw, sources: Sources) -> bool {
    draft.change_some(Substitution, draw, 2, |draft, draw, slot| {
        splicing(draft, draw, sources, slot)
    })
}

/// The change that gives a sentence another end. At least two words of each sentence are kept.
/// `None` if one of the two is short, or if the other one is also in this story.
fn splicing(draft: &Draft, draw: &mut Draw, sources: Sources, slot: usize) -> Option<Change> {
    let donor = sources.donors.story(draft.style(), draw)?;
    let (mine, theirs) = (draft.sentence(slot), sources.donors.sentence(donor, draw));
    let (words_of_mine, words_of_theirs) = (words(mine), words(theirs));
    if draft.has(theirs) || words_of_mine.len().min(words_of_theirs.len()) < SHORTEST {
        return None;
    }
    let cut = draw.between(2, words_of_mine.len() - 1);
    let join = draw.between(1, words_of_theirs.len() - 2);
    let beginning = &mine[..words_of_mine[cut - 1].end];
    let end = &theirs[words_of_theirs[join].start..];
    Some(draft.putting(slot, &format!("{beginning} {end}")))
}

/// Replaces the given share of the story's keywords, at least one.
fn replace_share(draft: &mut Draft, draw: &mut Draw, sources: Sources, share: f64) -> bool {
    let keywords = keywords(draft, sources);
    let count = ((share * keywords.len() as f64).round() as usize).max(1);
    replace_keywords(draft, draw, sources, keywords, count, Inflection::Matched)
}

fn replace_keywords(
    draft: &mut Draft,
    draw: &mut Draw,
    sources: Sources,
    mut keywords: Vec<Keyword>,
    count: usize,
    inflection: Inflection,
) -> bool {
    draw.shuffle(&mut keywords);
    let mut chosen: Vec<(Keyword, String)> = Vec::with_capacity(count);
    for keyword in keywords {
        if chosen.len() == count {
            break;
        }
        if let Some(word) = replacement(draft, draw, sources, &keyword, inflection) {
            chosen.push((keyword, word));
        }
    }
    chosen.sort_unstable_by_key(|(keyword, _)| keyword.span.start);
    let mut changes = Vec::with_capacity(chosen.len());
    for (keyword, word) in chosen {
        draft.touch(keyword.sentence);
        changes.push(putting(draft, &keyword, word, inflection));
    }
    draft.replace_all(Substitution, changes)
}

/// The change that replaces a keyword by a word. An article before it is adapted to the new word.
fn putting(draft: &Draft, keyword: &Keyword, word: String, inflection: Inflection) -> Change {
    let Keyword { sentence, span, .. } = *keyword;
    if let Some(article) = keyword.article.filter(|_| inflection == Inflection::Matched) {
        let old = article.of(draft.text());
        let new = match_case(if starts_with_a_vowel(&word) { "an" } else { "a" }, old);
        if !new.eq_ignore_ascii_case(old) {
            let between = Span::new(article.end, span.start).of(draft.text());
            let after = format!("{new}{between}{word}");
            return Change { sentence, span: Span::new(article.start, span.end), after };
        }
    }
    Change { sentence, span, after: word }
}

/// Whether a word takes the article "an", as far as its spelling says.
pub fn starts_with_a_vowel(word: &str) -> bool {
    word.starts_with(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O', 'U'])
}

/// An antonym if there is one, or else another keyword with the same tag, drawn by its frequency.
fn replacement(
    draft: &Draft,
    draw: &mut Draw,
    sources: Sources,
    keyword: &Keyword,
    inflection: Inflection,
) -> Option<String> {
    let word = keyword.span.of(draft.text());
    let antonyms = antonyms(sources.lexicon, keyword, word, inflection);
    let other = match draw.pick(&antonyms) {
        Some(antonym) => antonym.clone(),
        None => (0..10).find_map(|_| {
            let other = sources.donors.vocabulary().sample(keyword.tag as u8, draw.stream())?;
            (!other.eq_ignore_ascii_case(word)).then(|| other.to_owned())
        })?,
    };
    Some(match_case(&other, word))
}

/// The antonyms of a keyword, in the form that the keyword has in the text.
fn antonyms(
    lexicon: &Lexicon,
    keyword: &Keyword,
    word: &str,
    inflection: Inflection,
) -> Vec<String> {
    let of = |lemma: &str| -> Vec<String> {
        lexicon
            .antonyms(lemma, keyword.pos)
            .into_iter()
            .filter(|antonym| antonym.chars().all(char::is_alphabetic))
            .map(str::to_owned)
            .collect()
    };
    if inflection == Inflection::Base {
        return of(&keyword.lemma);
    }
    // "better" has an antonym of its own: "worse".
    let direct = of(&word.to_lowercase());
    if !direct.is_empty() {
        return direct;
    }
    match keyword.tag.as_str() {
        "NNS" => of(&keyword.lemma).iter().map(|antonym| noun::plural(antonym)).collect(),
        "JJR" | "JJS" | "RBR" | "RBS" => Vec::new(),
        tag => match VerbForm::from_penn(tag) {
            Some(form) => {
                of(&keyword.lemma).iter().map(|antonym| verb::inflect(antonym, form)).collect()
            }
            None => of(&keyword.lemma),
        },
    }
}

/// The keywords of all sentences but the leading context.
pub fn keywords(draft: &Draft, sources: Sources) -> Vec<Keyword> {
    let mut found = Vec::new();
    for sentence in draft.open() {
        let tagged = draft.tagged(sentence, sources.tagger);
        for (i, (&span, &tag)) in tagged.tokens.iter().zip(&tagged.tags).enumerate() {
            let word = span.of(draft.text());
            if let Some((lemma, pos)) = keyword_lemma(sources.lexicon, word, tag) {
                let article = i
                    .checked_sub(1)
                    .map(|p| tagged.tokens[p])
                    .filter(|p| matches!(p.of(draft.text()), "a" | "an" | "A" | "An"));
                found.push(Keyword { sentence, article, span, tag, pos, lemma });
            }
        }
    }
    found
}

/// The lemma and part of speech of a word if it is a keyword. Names are not keywords.
pub fn keyword_lemma(lexicon: &Lexicon, word: &str, tag: Tag) -> Option<(String, PartOfSpeech)> {
    if matches!(tag.as_str(), "NNP" | "NNPS")
        || !word.chars().all(char::is_alphabetic)
        || word.len() < 2
    {
        return None;
    }
    let pos = PartOfSpeech::from_penn(tag.as_str())?;
    let lower = word.to_lowercase();
    let lemma = match pos {
        PartOfSpeech::Verb => {
            let form = VerbForm::from_penn(tag.as_str()).unwrap_or(VerbForm::Base);
            verb::base_as(&lower, form).into_owned()
        }
        PartOfSpeech::Noun => noun::lemma(&lower).into_owned(),
        PartOfSpeech::Adjective => adjective::lemma(&lower).into_owned(),
        PartOfSpeech::Adverb => lower.clone(),
    };
    lexicon.is_keyword_form(&lower, &lemma, pos).then_some((lemma, pos))
}
