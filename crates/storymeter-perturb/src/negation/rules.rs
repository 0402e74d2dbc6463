//! The rules of Table 8 of the paper and their inverses, on tagged tokens.
//!
//! | verb | affirmative to negative | here |
//! |---|---|---|
//! | be, modal | ~ + not | `was` -> `was not`, `can` -> `can not` / `can't` |
//! | base | do not + v. | `go` -> `do not go`; after *to* `to go` -> `to not go` |
//! | third person | does not + v. | `goes` -> `does not go` |
//! | simple past | did not + v. | `went` -> `did not go` |
//! | past participle | not + ~ | `had gone` -> `had not gone` |
//! | gerund | not + ~ | `going` -> `not going` |
//!
//! If a verb has an auxiliary, the auxiliary is negated: "was going" becomes "was not going", and
//! never "was did not go". Each rule from affirmative to negative has its inverse.

use storymeter_text::Span;
use storymeter_text::lexicon::PartOfSpeech;
use storymeter_text::morphology::is_content_word;
use storymeter_text::morphology::verb::{self, VerbForm};
use storymeter_text::tagger::Tag;

use crate::style::{capitalised, match_case, uncapitalised};

/// One way to alter the negation of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alteration {
    /// The text that is replaced, as byte offsets into the text of the tokens.
    pub span: Span,
    /// The replacement, with "not" if a negation is added.
    pub plain: String,
    /// The replacement with "n't", if English has such a form.
    pub short: Option<String>,
    /// Whether a negation is removed; otherwise one is added.
    pub removes: bool,
}

/// All ways to alter the negation of a sentence, from left to right.
///
/// `tokens` are the places of Penn Treebank tokens in `text`, and `tags` are their tags. `spaced`
/// says that clitics stand apart ("did n't").
pub fn alterations(text: &str, tokens: &[Span], tags: &[Tag], spaced: bool) -> Vec<Alteration> {
    let words: Vec<String> =
        tokens.iter().map(|token| token.of(text).to_lowercase().replace('’', "'")).collect();
    let sentence = Sentence { text, tokens, tags, words, spaced };
    let mut found: Vec<Alteration> = (0..tokens.len())
        .filter_map(|i| sentence.removal(i).or_else(|| sentence.addition(i)))
        .collect();
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return found };
    if text[first.start..last.end].contains('’') {
        for alteration in &mut found {
            alteration.short = alteration.short.take().map(|short| short.replace('\'', "’"));
        }
    }
    found
}

/// The text that the released code writes instead of a verb or auxiliary.
pub(super) fn released(
    text: &str,
    tokens: &[Span],
    tags: &[Tag],
    verb: usize,
    short: bool,
    spaced: bool,
) -> String {
    let word = tokens[verb].of(text);
    let lower = word.to_lowercase();
    let negation = |auxiliary: &str| match contraction(auxiliary, spaced) {
        Some(form) if short => match_case(&form, auxiliary),
        _ => format!("{auxiliary} not"),
    };
    if super::RELEASED_AUXILIARIES.contains(&lower.as_str()) {
        return negation(word);
    }
    let (auxiliary, form) = match tags[verb].as_str() {
        "VBD" => ("did", VerbForm::Past),
        "VBZ" => ("does", VerbForm::ThirdSingular),
        "VB" | "VBP" => ("do", VerbForm::Base),
        _ => return format!("not {word}"),
    };
    let auxiliary = match_case(auxiliary, word);
    format!("{} {}", negation(&auxiliary), verb::base_as(&lower, form))
}

/// The contraction of an auxiliary with "not": `won't` for `will`; `None` if there is none.
fn contraction(auxiliary: &str, spaced: bool) -> Option<String> {
    let lower = auxiliary.to_lowercase();
    let stem = match lower.as_str() {
        "can" => "ca",
        "will" => "wo",
        "shall" => "sha",
        "could" | "would" | "should" | "must" | "might" | "need" | "do" | "does" | "did" | "is"
        | "are" | "was" | "were" | "has" | "have" | "had" => &lower,
        _ => return None,
    };
    Some(match_case(&format!("{stem}{}n't", if spaced { " " } else { "" }), auxiliary))
}

/// The auxiliary of a contraction that begins with `stem`: `will` for `wo` in `won't`.
fn uncontracted(stem: &str) -> &str {
    match stem {
        "ca" => "can",
        "wo" => "will",
        "sha" => "shall",
        _ => stem,
    }
}

fn is_be(word: &str) -> bool {
    matches!(
        word,
        "am" | "is" | "are" | "was" | "were" | "be" | "been" | "being" | "'m" | "'re" | "'s"
    )
}

fn is_have(word: &str) -> bool {
    matches!(word, "have" | "has" | "had" | "having" | "'ve" | "'d")
}

fn is_do(word: &str) -> bool {
    matches!(word, "do" | "does" | "did")
}

fn is_modal(word: &str) -> bool {
    matches!(
        word,
        "can"
            | "could"
            | "may"
            | "might"
            | "must"
            | "shall"
            | "should"
            | "will"
            | "would"
            | "ought"
            | "ca"
            | "wo"
            | "sha"
            | "'ll"
            | "'d"
    )
}

fn is_subject(word: &str) -> bool {
    matches!(word, "i" | "you" | "he" | "she" | "it" | "we" | "they" | "there" | "this" | "that")
}

/// One sentence, prepared for the rules.
struct Sentence<'a> {
    text: &'a str,
    tokens: &'a [Span],
    tags: &'a [Tag],
    /// The tokens in lower case, with plain apostrophes.
    words: Vec<String>,
    spaced: bool,
}

impl Sentence<'_> {
    fn word(&self, i: usize) -> &str {
        self.words.get(i).map_or("", String::as_str)
    }

    fn tag(&self, i: usize) -> &'static str {
        self.tags.get(i).map_or("", |tag| tag.as_str())
    }

    fn is_not(&self, i: usize) -> bool {
        matches!(self.word(i), "not" | "n't")
    }

    fn is_auxiliary(&self, i: usize) -> bool {
        let word = self.word(i);
        is_be(word) || is_have(word) || is_do(word) || is_modal(word)
    }

    /// Whether a token has the tag of an adverb and is not a word that can only be a verb, because
    /// "did not sleep well" misleads taggers.
    fn is_adverb(&self, i: usize) -> bool {
        let is = |pos| is_content_word(self.word(i), pos);
        self.tag(i).starts_with("RB")
            && !self.is_not(i)
            && (is(PartOfSpeech::Adverb) || !is(PartOfSpeech::Verb))
    }

    /// The first token from `i` on that is not an adverb.
    fn past_adverbs(&self, i: usize) -> usize {
        (i..i + 3).find(|&j| !self.is_adverb(j)).unwrap_or(i + 3)
    }

    /// The last token before `i` that is not an adverb.
    fn before_adverbs(&self, i: usize) -> Option<usize> {
        (0..i).rev().find(|&j| !self.is_adverb(j))
    }

    fn between(&self, start: usize, end: usize) -> &str {
        &self.text[start..end]
    }

    /// The inverse of the rules: removes token `i`, which is "not" or "n't".
    fn removal(&self, i: usize) -> Option<Alteration> {
        if !self.is_not(i) {
            return None;
        }
        let removes = |span: Span, plain: String| {
            Some(Alteration { span, plain, short: None, removes: true })
        };
        let not = self.tokens[i];
        let previous = i.checked_sub(1);
        if let Some(p) = previous.filter(|&p| is_do(self.word(p))) {
            let v = self.past_adverbs(i + 1);
            if let Some(form) = self.finite_form(p, v) {
                let adverbs = self.between(not.end, self.tokens[v].start).trim_start();
                let finite = verb::inflect(self.word(v), form);
                let mut plain =
                    format!("{adverbs}{}", match_case(&finite, self.tokens[v].of(self.text)));
                if self.tokens[p].of(self.text).starts_with(char::is_uppercase) {
                    plain = capitalised(&plain);
                }
                return removes(Span::new(self.tokens[p].start, self.tokens[v].end), plain);
            }
        }
        match previous {
            Some(p) if self.is_auxiliary(p) => {
                let auxiliary = self.tokens[p].of(self.text);
                let whole = match_case(uncontracted(self.word(p)), auxiliary);
                // Clitics such as 's keep their spelling.
                let whole =
                    if uncontracted(self.word(p)) == self.word(p) { auxiliary } else { &whole };
                removes(Span::new(self.tokens[p].start, not.end), whole.to_owned())
            }
            Some(p) if is_subject(self.word(p)) && p > 0 && self.is_auxiliary(p - 1) => {
                removes(Span::new(self.tokens[p].end, not.end), String::new())
            }
            _ if self.word(i) == "not"
                && matches!(self.tag(i + 1), "VBG" | "VBN" | "VB" | "TO") =>
            {
                let next = self.tokens[i + 1];
                let word = next.of(self.text);
                let plain = if not.of(self.text).starts_with('N') {
                    capitalised(word)
                } else {
                    word.to_owned()
                };
                removes(Span::new(not.start, next.end), plain)
            }
            _ => None,
        }
    }

    /// The form that the base verb at `v` takes without the "do" at `p`; `None` if `v` is not a
    /// base verb.
    fn finite_form(&self, p: usize, v: usize) -> Option<VerbForm> {
        let word = self.word(v);
        // After "did not", a word that can be a verb is one, whatever its tag says.
        let can_be_a_verb = self.tags.get(v).is_some_and(|tag| tag.is_verb())
            || is_content_word(word, PartOfSpeech::Verb);
        if !can_be_a_verb || verb::base_as(word, VerbForm::Base) != word {
            return None;
        }
        Some(match self.word(p) {
            "does" => VerbForm::ThirdSingular,
            "did" => VerbForm::Past,
            _ => VerbForm::Base,
        })
    }

    /// Table 8: negates token `i`, a verb without a negation.
    fn addition(&self, i: usize) -> Option<Alteration> {
        if self.is_negated(i) {
            return None;
        }
        let word = self.word(i);
        let tag = self.tag(i);
        let next = self.past_adverbs(i + 1);
        match tag {
            "MD" if is_modal(word) || word == "need" => Some(self.after_auxiliary(i)),
            _ if !tag.starts_with("VB") => None,
            "VBG" | "VBN" | "VB" => self.non_finite(i, tag),
            _ if is_be(word) => Some(self.after_auxiliary(i)),
            _ if is_have(word) && (self.tag(next) == "VBN" || self.word(next) == "been") => {
                Some(self.after_auxiliary(i))
            }
            _ if is_do(word) && self.helps_a_verb(i) => Some(self.after_auxiliary(i)),
            _ if word.starts_with('\'') => None,
            "VBZ" => self.do_support(i, "does", VerbForm::ThirdSingular),
            "VBD" => self.do_support(i, "did", VerbForm::Past),
            "VBP" => self.do_support(i, "do", VerbForm::Base),
            _ => None,
        }
    }

    fn is_negated(&self, i: usize) -> bool {
        let negative = |j: usize| {
            self.is_not(j) || matches!(self.word(j), "never" | "hardly" | "scarcely" | "barely")
        };
        negative(i + 1)
            || negative(i + 2)
                && (is_subject(self.word(i + 1)) || self.tag(i + 1).starts_with("RB"))
            || i > 0 && negative(i - 1)
    }

    /// Whether the form of "do" at `i` is an auxiliary: "did go", "did he go".
    fn helps_a_verb(&self, i: usize) -> bool {
        let next = self.past_adverbs(i + 1);
        let follows = |j: usize| self.tag(j) == "VB";
        follows(next) || is_subject(self.word(next)) && follows(self.past_adverbs(next + 1))
    }

    /// Adds "not" after a form of "be" or a modal. In a question, the long form follows the
    /// subject: "was he not", but "wasn't he".
    fn after_auxiliary(&self, i: usize) -> Alteration {
        let token = self.tokens[i];
        let asks = is_subject(self.word(i + 1)) && (i == 0 || !self.tag(i - 1).starts_with("NN"));
        let end = if asks { self.tokens[i + 1].end } else { token.end };
        let rest = self.between(token.end, end);
        let auxiliary = token.of(self.text);
        Alteration {
            span: Span::new(token.start, end),
            plain: format!("{auxiliary}{rest} not"),
            short: contraction(auxiliary, self.spaced).map(|form| format!("{form}{rest}")),
            removes: false,
        }
    }

    /// Negates a finite main verb with "do", "does" or "did", "not", and its base.
    fn do_support(&self, i: usize, auxiliary: &str, form: VerbForm) -> Option<Alteration> {
        let token = self.tokens[i];
        let base = verb::base_as(self.word(i), form);
        // If the base does not give the word again, the word is not the verb it was taken for, or
        // is an older form of it ("dreamt").
        if verb::inflect(&base, form) != self.word(i) {
            return None;
        }
        let auxiliary = match_case(auxiliary, token.of(self.text));
        let short = contraction(&auxiliary, self.spaced).map(|form| format!("{form} {base}"));
        Some(Alteration {
            span: token,
            plain: format!("{auxiliary} not {base}"),
            short,
            removes: false,
        })
    }

    /// Negates participles and infinitives. A verb that has an auxiliary is negated there.
    fn non_finite(&self, i: usize, tag: &str) -> Option<Alteration> {
        let before = self.before_adverbs(i);
        let governor = before.map_or("", |p| self.word(p));
        let helped = is_be(governor)
            || is_have(governor)
            || is_modal(governor)
            || is_do(governor)
            || matches!(governor, "not" | "n't" | "got" | "get" | "gets" | "getting")
            || is_subject(governor) && before.is_some_and(|p| p > 0 && self.is_auxiliary(p - 1));
        if helped {
            return None;
        }
        let opens_a_clause = before.is_none_or(|p| {
            matches!(self.tag(p), "," | ":" | "``" | "''" | "." | "UH") || self.word(p) == "please"
        });
        if tag == "VB" && opens_a_clause && governor != "to" {
            return self.do_support(i, "do", VerbForm::Base);
        }
        let token = self.tokens[i];
        let word = token.of(self.text);
        let plain = if i == 0 && word.starts_with(char::is_uppercase) {
            format!("Not {}", uncapitalised(word))
        } else {
            format!("not {word}")
        };
        Some(Alteration { span: token, plain, short: None, removes: false })
    }
}
