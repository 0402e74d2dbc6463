//! Inverse document frequencies of tokens, from the whole input.
//!
//! The weight of a token is `ln((N + 1) / (df + 1))`: N is the number of documents, and df the
//! number of those that have the token. A token that is in every document weighs nothing. The
//! documents are counted by a first pass over the input, never in a batch, so that scores do not
//! depend on how the input is cut into batches.

use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use storymeter_core::{
    CorpusReader, CorpusWriter, Metric, MetricError, Prepared, Survey, TextCache,
};

/// The weights of tokens.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Idf {
    weights: Vec<f64>,
    unseen: f64,
    documents: u64,
}

impl Idf {
    /// The weights that a list of documents gives, each a list of token ids.
    #[cfg(test)]
    pub(crate) fn over<'a>(documents: impl IntoIterator<Item = &'a [u32]>) -> Self {
        let counter = DocumentCounter::new(1 << 16);
        documents.into_iter().for_each(|document| counter.add(document));
        counter.finish()
    }

    /// The weight of a token.
    pub(crate) fn weight(&self, token: u32) -> f64 {
        self.weights.get(token as usize).copied().unwrap_or(self.unseen)
    }

    /// The number of documents.
    pub(crate) fn documents(&self) -> u64 {
        self.documents
    }

    /// Writes the number of documents and the weights.
    pub(crate) fn save(&self, out: &mut CorpusWriter<'_>) -> io::Result<()> {
        out.u64(self.documents)?;
        out.f64(self.unseen)?;
        out.u32(self.weights.len() as u32)?;
        self.weights.iter().try_for_each(|weight| out.f64(*weight))
    }

    /// Reads what [`Idf::save`] wrote.
    pub(crate) fn load(input: &mut CorpusReader<'_>) -> io::Result<Self> {
        let weight = |input: &mut CorpusReader<'_>| match input.f64()? {
            weight if weight.is_finite() && weight >= 0.0 => Ok(weight),
            _ => Err(CorpusReader::wrong("the weight of a token is out of range")),
        };
        let (documents, unseen) = (input.u64()?, weight(input)?);
        let mut weights = Vec::new();
        for _ in 0..input.u32()? {
            weights.push(weight(input)?);
        }
        Ok(Self { weights, unseen, documents })
    }
}

/// Counts documents. Several threads may add to it at once.
struct DocumentCounter {
    counts: Vec<AtomicU32>,
    documents: AtomicU64,
}

impl DocumentCounter {
    /// A counter for tokens of a vocabulary of this size.
    fn new(vocabulary: usize) -> Self {
        let counts = std::iter::repeat_with(AtomicU32::default).take(vocabulary).collect();
        Self { counts, documents: AtomicU64::new(0) }
    }

    /// Counts a document with these tokens, of which each counts once.
    fn add(&self, tokens: &[u32]) {
        let mut tokens = tokens.to_vec();
        tokens.sort_unstable();
        tokens.dedup();
        for token in tokens {
            if let Some(count) = self.counts.get(token as usize) {
                count.fetch_add(1, Relaxed);
            }
        }
        self.documents.fetch_add(1, Relaxed);
    }

    fn finish(self) -> Idf {
        let documents = self.documents.into_inner();
        let weight = |count: u32| ((documents as f64 + 1.0) / (f64::from(count) + 1.0)).ln();
        let weights = self.counts.into_iter().map(|count| weight(count.into_inner())).collect();
        Idf { weights, unseen: weight(0), documents }
    }
}

/// The weights of tokens in the stories of the input and in their references.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CorpusIdf {
    /// From one document per story.
    pub stories: Idf,
    /// From the references.
    pub references: Idf,
}

impl CorpusIdf {
    /// Writes both.
    pub(crate) fn save(&self, out: &mut CorpusWriter<'_>) -> io::Result<()> {
        self.stories.save(out)?;
        self.references.save(out)
    }

    /// Reads what [`CorpusIdf::save`] wrote.
    pub(crate) fn load(input: &mut CorpusReader<'_>) -> io::Result<Self> {
        Ok(Self { stories: Idf::load(input)?, references: Idf::load(input)? })
    }
}

/// What counts as one document among the references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReferenceDocument {
    /// Each reference of a story.
    Each,
    /// All references of a story together.
    Joined,
}

/// The token ids of a text.
type Tokens = dyn Fn(&TextCache<'_>) -> Vec<u32> + Send + Sync;

/// Makes the metric that knows the corpus.
type Finish = dyn FnOnce(CorpusIdf) -> Box<dyn Metric> + Send + Sync;

/// The first pass of a metric that weighs tokens by how rare they are in the input.
pub(crate) struct IdfSurvey {
    stories: DocumentCounter,
    references: DocumentCounter,
    document: ReferenceDocument,
    tokens: Box<Tokens>,
    finish: Box<Finish>,
}

impl IdfSurvey {
    /// A first pass that counts what `tokens` gives for each text, ids below `vocabulary`, and
    /// hands the weights to `finish`.
    pub(crate) fn new(
        vocabulary: usize,
        document: ReferenceDocument,
        tokens: impl Fn(&TextCache<'_>) -> Vec<u32> + Send + Sync + 'static,
        finish: impl FnOnce(CorpusIdf) -> Box<dyn Metric> + Send + Sync + 'static,
    ) -> Self {
        Self {
            stories: DocumentCounter::new(vocabulary),
            references: DocumentCounter::new(vocabulary),
            document,
            tokens: Box::new(tokens),
            finish: Box::new(finish),
        }
    }
}

impl Survey for IdfSurvey {
    fn add(&self, stories: &[Prepared<'_>]) -> Result<(), MetricError> {
        for story in stories {
            self.stories.add(&(self.tokens)(&story.text));
            let mut references = story.references.iter().map(|text| (self.tokens)(text));
            match self.document {
                ReferenceDocument::Each => references.for_each(|ids| self.references.add(&ids)),
                ReferenceDocument::Joined => {
                    let mut joined = references.next().unwrap_or_default();
                    references.for_each(|ids| joined.extend(ids));
                    self.references.add(&joined);
                }
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Box<dyn Metric>, MetricError> {
        let corpus =
            CorpusIdf { stories: self.stories.finish(), references: self.references.finish() };
        Ok((self.finish)(corpus))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_weighs_more_the_fewer_documents_have_it() {
        let idf = Idf::over([&[101, 7, 7, 102][..], &[101, 7, 9, 102], &[101, 3, 102]]);
        assert_eq!(idf.documents(), 3);
        assert_eq!(idf.weight(101), 0.0, "in every document");
        assert_eq!(idf.weight(7), (4.0f64 / 3.0).ln(), "twice in one document counts once");
        assert_eq!(idf.weight(9), 2.0f64.ln());
        assert_eq!(idf.weight(12), 4.0f64.ln(), "in no document");
        assert_eq!(idf.weight(u32::MAX), 4.0f64.ln(), "beyond the vocabulary");
    }

    #[test]
    fn with_one_document_all_its_tokens_weigh_nothing() {
        let idf = Idf::over([&[101, 7, 102][..]]);
        assert_eq!((idf.weight(7), idf.weight(8)), (0.0, 2.0f64.ln()));
    }
}
