//! How a number came about, printed with the number.

use std::fmt;

/// Ordered `key:value` pairs, in the manner of sacrebleu: `bleu|tok:13a|smooth:exp|n:528|version:0.1.0`.
///
/// The first part is the metric's id. Values must not contain `|`; the version comes last by convention.
///
/// ```
/// let signature = storymeter_core::Signature::new("bleu").with("tok", "tok", "13a").with("smooth", "s", "exp");
/// assert_eq!(signature.to_string(), "bleu|tok:13a|smooth:exp");
/// assert_eq!(signature.short(), "bleu|tok:13a|s:exp");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    id: String,
    pairs: Vec<Pair>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Pair {
    long: &'static str,
    short: &'static str,
    value: String,
}

impl Signature {
    /// The signature of a metric or analysis with nothing said yet.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), pairs: Vec::new() }
    }

    /// The same signature with one more pair, given by its long key, its short key and its value.
    #[must_use]
    pub fn with(
        mut self,
        long: &'static str,
        short: &'static str,
        value: impl fmt::Display,
    ) -> Self {
        self.pairs.push(Pair { long, short, value: value.to_string().replace('|', "/") });
        self
    }

    /// The same signature with this release's version as its last pair.
    #[must_use]
    pub fn with_version(self) -> Self {
        self.with("version", "v", env!("CARGO_PKG_VERSION"))
    }

    /// The value of a long key, if it is there.
    pub fn get(&self, long: &str) -> Option<&str> {
        self.pairs.iter().find(|pair| pair.long == long).map(|pair| pair.value.as_str())
    }

    /// The short form: the same values under shorter keys.
    pub fn short(&self) -> String {
        self.join(|pair| pair.short)
    }

    fn join(&self, key: impl Fn(&Pair) -> &'static str) -> String {
        let mut text = self.id.clone();
        for pair in &self.pairs {
            text.push('|');
            text.push_str(key(pair));
            text.push(':');
            text.push_str(&pair.value);
        }
        text
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.join(|pair| pair.long))
    }
}
