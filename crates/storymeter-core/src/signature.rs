//! The signature of a score: all parameters that it depends on, printed with the number.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Ordered `key:value` pairs, in the manner of sacrebleu: `bleu|tok:13a|smooth:exp|version:0.1.0`.
///
/// The first part is the id of the metric. The version comes last by convention. A signature is
/// read back from its text ([`FromStr`]), which is how score files keep it.
///
/// ```
/// use storymeter_core::Signature;
/// let signature = Signature::new("bleu").with("tok", "tok", "13a").with("smooth", "s", "exp");
/// assert_eq!(signature.to_string(), "bleu|tok:13a|smooth:exp");
/// assert_eq!(signature.short(), "bleu|tok:13a|s:exp");
/// assert_eq!("bleu|tok:13a|smooth:exp".parse(), Ok(signature));
/// ```
#[derive(Debug, Clone)]
pub struct Signature {
    id: String,
    pairs: Vec<Pair>,
}

#[derive(Debug, Clone)]
struct Pair {
    long: Cow<'static, str>,
    short: Cow<'static, str>,
    value: String,
}

/// Compares ids, keys and values. Short keys are another spelling of the keys and do not count.
impl PartialEq for Signature {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&Pair, &Pair)| a.long == b.long && a.value == b.value;
        self.id == other.id
            && self.pairs.len() == other.pairs.len()
            && self.pairs.iter().zip(&other.pairs).all(same)
    }
}

impl Eq for Signature {}

impl Signature {
    /// The signature of a metric or analysis without any parameter yet.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into().replace('|', "/"), pairs: Vec::new() }
    }

    /// The same signature with one more pair, given by its long key, its short key and its value.
    #[must_use]
    pub fn with(
        mut self,
        long: &'static str,
        short: &'static str,
        value: impl fmt::Display,
    ) -> Self {
        let value = value.to_string().replace('|', "/");
        self.pairs.push(Pair { long: long.into(), short: short.into(), value });
        self
    }

    /// The same signature with the version of this release as its last pair.
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
        self.join(|pair| &pair.short)
    }

    fn join<'a>(&'a self, key: impl Fn(&'a Pair) -> &'a str) -> String {
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
        f.write_str(&self.join(|pair| &pair.long))
    }
}

/// A text that is not a signature.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a signature: it must read id|key:value|key:value")]
pub struct NotASignature(String);

impl FromStr for Signature {
    type Err = NotASignature;

    fn from_str(text: &str) -> Result<Self, NotASignature> {
        let mut parts = text.split('|');
        let id = parts.next().filter(|id| !id.is_empty());
        let mut signature = Self::new(id.ok_or_else(|| NotASignature(text.to_owned()))?);
        for part in parts {
            let (key, value) =
                part.split_once(':').ok_or_else(|| NotASignature(text.to_owned()))?;
            let key: Cow<'static, str> = key.to_owned().into();
            signature.pairs.push(Pair { long: key.clone(), short: key, value: value.to_owned() });
        }
        Ok(signature)
    }
}

impl Serialize for Signature {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Signature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
