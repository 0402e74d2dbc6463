//! The Penn Treebank tag set, with the tags the English Web Treebank adds for the web.

use std::fmt;
use std::str::FromStr;

macro_rules! tags {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// A part of speech.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Tag {
            $($(#[$doc])* $name,)*
        }

        impl Tag {
            /// Every tag, in the order of their numbers.
            pub const ALL: [Self; Self::COUNT] = [$(Self::$name,)*];

            /// How many tags there are.
            pub const COUNT: usize = [$($text,)*].len();

            /// The tag as the treebank writes it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

tags! {
    /// `CC`: coordinating conjunction.
    Cc = "CC",
    /// `CD`: cardinal number.
    Cd = "CD",
    /// `DT`: determiner.
    Dt = "DT",
    /// `EX`: existential *there*.
    Ex = "EX",
    /// `FW`: foreign word.
    Fw = "FW",
    /// `IN`: preposition or subordinating conjunction.
    In = "IN",
    /// `JJ`: adjective.
    Jj = "JJ",
    /// `JJR`: comparative adjective.
    Jjr = "JJR",
    /// `JJS`: superlative adjective.
    Jjs = "JJS",
    /// `LS`: list item marker.
    Ls = "LS",
    /// `MD`: modal verb.
    Md = "MD",
    /// `NN`: noun, singular or mass.
    Nn = "NN",
    /// `NNS`: noun, plural.
    Nns = "NNS",
    /// `NNP`: proper noun, singular.
    Nnp = "NNP",
    /// `NNPS`: proper noun, plural.
    Nnps = "NNPS",
    /// `PDT`: predeterminer.
    Pdt = "PDT",
    /// `POS`: possessive ending.
    Pos = "POS",
    /// `PRP`: personal pronoun.
    Prp = "PRP",
    /// `PRP$`: possessive pronoun.
    Prps = "PRP$",
    /// `RB`: adverb.
    Rb = "RB",
    /// `RBR`: comparative adverb.
    Rbr = "RBR",
    /// `RBS`: superlative adverb.
    Rbs = "RBS",
    /// `RP`: particle.
    Rp = "RP",
    /// `SYM`: symbol.
    Sym = "SYM",
    /// `TO`: *to*.
    To = "TO",
    /// `UH`: interjection.
    Uh = "UH",
    /// `VB`: verb, base form.
    Vb = "VB",
    /// `VBD`: verb, past tense.
    Vbd = "VBD",
    /// `VBG`: verb, gerund or present participle.
    Vbg = "VBG",
    /// `VBN`: verb, past participle.
    Vbn = "VBN",
    /// `VBP`: verb, present tense, not third person singular.
    Vbp = "VBP",
    /// `VBZ`: verb, present tense, third person singular.
    Vbz = "VBZ",
    /// `WDT`: wh-determiner.
    Wdt = "WDT",
    /// `WP`: wh-pronoun.
    Wp = "WP",
    /// `WP$`: possessive wh-pronoun.
    Wps = "WP$",
    /// `WRB`: wh-adverb.
    Wrb = "WRB",
    /// `ADD`: web or mail address.
    Add = "ADD",
    /// `AFX`: affix.
    Afx = "AFX",
    /// `GW`: part of a word written apart (“goes with”).
    Gw = "GW",
    /// `HYPH`: hyphen.
    Hyph = "HYPH",
    /// `NFP`: superfluous punctuation.
    Nfp = "NFP",
    /// `-LRB-`: opening bracket.
    LeftBracket = "-LRB-",
    /// `-RRB-`: closing bracket.
    RightBracket = "-RRB-",
    /// ` `` `: opening quotation mark.
    OpenQuote = "``",
    /// `''`: closing quotation mark.
    CloseQuote = "''",
    /// `,`: comma.
    Comma = ",",
    /// `.`: mark that ends a sentence.
    Stop = ".",
    /// `:`: colon, semicolon, dash.
    Colon = ":",
    /// `$`: currency sign.
    Dollar = "$",
}

impl Tag {
    /// A verb in any form; modals are not among them.
    pub fn is_verb(self) -> bool {
        matches!(self, Self::Vb | Self::Vbd | Self::Vbg | Self::Vbn | Self::Vbp | Self::Vbz)
    }

    /// A common or proper noun.
    pub fn is_noun(self) -> bool {
        matches!(self, Self::Nn | Self::Nns | Self::Nnp | Self::Nnps)
    }

    /// An adjective in any degree.
    pub fn is_adjective(self) -> bool {
        matches!(self, Self::Jj | Self::Jjr | Self::Jjs)
    }

    /// An adverb in any degree; wh-adverbs are not among them.
    pub fn is_adverb(self) -> bool {
        matches!(self, Self::Rb | Self::Rbr | Self::Rbs)
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The text is not one of the tags.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown part-of-speech tag {0:?}")]
pub struct UnknownTag(pub String);

impl FromStr for Tag {
    type Err = UnknownTag;

    fn from_str(text: &str) -> Result<Self, UnknownTag> {
        Self::ALL
            .into_iter()
            .find(|tag| tag.as_str() == text)
            .ok_or_else(|| UnknownTag(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tag_is_read_as_it_is_written() {
        for (number, tag) in Tag::ALL.into_iter().enumerate() {
            assert_eq!(tag.as_str().parse(), Ok(tag));
            assert_eq!(tag as usize, number);
        }
        assert_eq!("NOUN".parse::<Tag>(), Err(UnknownTag("NOUN".to_owned())));
    }
}
