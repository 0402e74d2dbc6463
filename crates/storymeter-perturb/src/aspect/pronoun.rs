//! The personal pronouns of English by group and case.

use storymeter_text::tagger::Tag;

use super::passage::Words;

/// Whom a pronoun stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    I,
    You,
    He,
    She,
    It,
    We,
    They,
}

/// The case of a pronoun: a column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    Subject,
    Object,
    Possessive,
    PossessiveAlone,
    Reflexive,
}

const GROUPS: [Group; 7] =
    [Group::I, Group::You, Group::He, Group::She, Group::It, Group::We, Group::They];

impl Group {
    /// The form of the pronoun in a case.
    pub fn form(self, case: Case) -> &'static str {
        let forms = match self {
            Self::I => ["I", "me", "my", "mine", "myself"],
            Self::You => ["you", "you", "your", "yours", "yourself"],
            Self::He => ["he", "him", "his", "his", "himself"],
            Self::She => ["she", "her", "her", "hers", "herself"],
            Self::It => ["it", "it", "its", "its", "itself"],
            Self::We => ["we", "us", "our", "ours", "ourselves"],
            Self::They => ["they", "them", "their", "theirs", "themselves"],
        };
        forms[case as usize]
    }

    /// Whether verbs have the form of the third person singular.
    pub fn is_third_singular(self) -> bool {
        matches!(self, Self::He | Self::She | Self::It)
    }
}

/// The pronoun at a place. Where a form has two cases ("her", "his", "you", "it"), the tag and the
/// neighbours decide.
pub fn pronoun(words: &Words<'_>, at: usize) -> Option<(Group, Case)> {
    let tag = words.tag(at)?;
    if !matches!(tag, Tag::Prp | Tag::Prps) {
        return None;
    }
    let word = words.lower(at);
    let before_a_noun = matches!(
        words.tag(at + 1),
        Some(
            Tag::Nn
                | Tag::Nns
                | Tag::Nnp
                | Tag::Jj
                | Tag::Jjr
                | Tag::Jjs
                | Tag::Cd
                | Tag::Vbg
                | Tag::Vbn
        )
    );
    let subject = || {
        // "It ' d", as some corpora write "it'd".
        let clitic = words.is(at + 1, &["'", "’"])
            && words.is(at + 2, &["d", "ll", "s", "ve", "re"])
            || words.is(at + 1, &["'d", "'ll", "'s", "'ve", "'re"]);
        if clitic {
            return true;
        }
        // A verb with a tense follows, perhaps after an adverb.
        let next = (at + 1..words.len()).find(|&i| !words.tag(i).is_some_and(Tag::is_adverb));
        next.and_then(|next| words.tag(next))
            .is_some_and(|tag| matches!(tag, Tag::Vbd | Tag::Vbz | Tag::Vbp | Tag::Md))
    };
    let case = match word.as_ref() {
        "i" | "he" | "she" | "we" | "they" => Case::Subject,
        "me" | "him" | "us" | "them" => Case::Object,
        "my" | "your" | "its" | "our" | "their" => Case::Possessive,
        "mine" | "yours" | "hers" | "ours" | "theirs" => Case::PossessiveAlone,
        "his" if tag == Tag::Prps && before_a_noun => Case::Possessive,
        "his" => Case::PossessiveAlone,
        "her" if tag == Tag::Prps => Case::Possessive,
        "her" => Case::Object,
        "you" | "it" if subject() => Case::Subject,
        "you" | "it" => Case::Object,
        "myself" | "yourself" | "himself" | "herself" | "itself" | "ourselves" | "themselves" => {
            Case::Reflexive
        }
        _ => return None,
    };
    let group = GROUPS.into_iter().find(|group| group.form(case).eq_ignore_ascii_case(&word))?;
    Some((group, case))
}
