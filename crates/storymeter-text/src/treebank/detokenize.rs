//! Writes tokens as text.

/// Pairs of tokens that are written as one word.
const TOGETHER: [(&str, &str); 9] = [
    ("can", "not"),
    ("d", "'ye"),
    ("gim", "me"),
    ("gon", "na"),
    ("got", "ta"),
    ("lem", "me"),
    ("wan", "na"),
    ("'t", "is"),
    ("'t", "was"),
];

const CLITICS: [&str; 7] = ["'s", "'m", "'d", "'ll", "'re", "'ve", "n't"];

/// Writes treebank tokens as ordinary text.
///
/// Punctuation joins the word before it, opening brackets and quotes join the word after them, and
/// clitics join their verb. ` `` ` and `''` become straight quotes. What tokenising loses (the
/// number of spaces, `can not` or `cannot`) is written in its usual form.
///
/// ```
/// use storymeter_text::treebank::detokenize;
///
/// let tokens = ["``", "I", "can", "not", "go", ",", "''", "Ann", "'s", "sister", "said", "."];
/// assert_eq!(detokenize(&tokens), "\"I cannot go,\" Ann's sister said.");
/// ```
pub fn detokenize(tokens: &[&str]) -> String {
    let mut text = String::with_capacity(tokens.iter().map(|t| t.len() + 1).sum());
    let mut quotes = Quotes::default();
    // Whether the token before touches the next one.
    let mut glued = true;
    let mut previous = "";
    for &token in tokens {
        let side = quotes.side(token, previous);
        let joins = side == Side::Left || together(previous, token);
        if !glued && !joins {
            text.push(' ');
        }
        text.push_str(match token {
            "``" | "''" => "\"",
            "`" => "'",
            "-LRB-" => "(",
            "-RRB-" => ")",
            _ => token,
        });
        glued = side == Side::Right;
        previous = token;
    }
    text
}

/// Which neighbour a token touches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
    Neither,
}

/// Which quotes are open.
#[derive(Default)]
struct Quotes {
    double: bool,
    single: bool,
}

impl Quotes {
    fn side(&mut self, token: &str, previous: &str) -> Side {
        match token {
            "." | "," | ":" | ";" | "!" | "?" | "%" | ")" | "]" | "}" | "-RRB-" | "…" | "”"
            | "»" => Side::Left,
            _ if token.starts_with("..") && token.bytes().all(|b| b == b'.') => Side::Left,
            "(" | "[" | "{" | "-LRB-" | "$" | "#" | "“" | "«" | "‘" => Side::Right,
            "``" => {
                self.double = true;
                Side::Right
            }
            "''" => {
                self.double = false;
                Side::Left
            }
            "\"" => {
                self.double = !self.double;
                if self.double { Side::Right } else { Side::Left }
            }
            "`" => {
                self.single = true;
                Side::Right
            }
            // A lone apostrophe closes an open quotation or marks the possessive of a plural.
            // Otherwise it opens a quotation.
            "'" | "’" => {
                let after_word =
                    previous.ends_with(|c: char| c.is_alphanumeric() || ".,!?".contains(c));
                if self.single || (after_word && previous.ends_with(['s', 'S'])) {
                    self.single = false;
                    Side::Left
                } else {
                    self.single = true;
                    Side::Right
                }
            }
            _ if is_clitic(token)
                && previous.ends_with(|c: char| c.is_alphanumeric() || c == ']') =>
            {
                Side::Left
            }
            _ => Side::Neither,
        }
    }
}

fn is_clitic(token: &str) -> bool {
    let plain = token.replace('’', "'");
    CLITICS.iter().any(|clitic| plain.eq_ignore_ascii_case(clitic))
}

fn together(first: &str, second: &str) -> bool {
    TOGETHER.iter().any(|(a, b)| first.eq_ignore_ascii_case(a) && second.eq_ignore_ascii_case(b))
}
