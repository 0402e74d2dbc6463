//! Metrics whose scores depend on all stories that are scored together: what they have in common,
//! written once.

use std::io;

use storymeter_core::{
    CorpusReader, CorpusWriter, Description, Metric, MetricError, Prepared, Resources, Rows,
    Signature, Survey, Value,
};

/// How stories are measured once the corpus is known. [`OfCorpus`] makes a [`Metric`] of it.
pub(crate) trait CorpusMeasure: Clone + Send + Sync + 'static {
    /// What the first pass gathers. Several threads add to it at once.
    type Gathered: Send + Sync + 'static;
    /// What is known about the corpus after the first pass.
    type Corpus: Send + Sync + 'static;

    /// Starts the first pass.
    fn gather(&self) -> Self::Gathered;

    /// Takes one story in.
    fn add(&self, story: &Prepared<'_>, gathered: &Self::Gathered);

    /// Ends the first pass.
    fn finish(&self, gathered: Self::Gathered) -> Result<Self::Corpus, MetricError>;

    /// Writes what is known about the corpus.
    fn save(&self, corpus: &Self::Corpus, out: &mut CorpusWriter<'_>) -> io::Result<()>;

    /// Reads what [`CorpusMeasure::save`] wrote.
    fn load(&self, input: &mut CorpusReader<'_>) -> io::Result<Self::Corpus>;

    /// The signature, before the first pass (`None`) and after it.
    fn signature(&self, corpus: Option<&Self::Corpus>) -> Signature;

    /// Fills the row of one story, which is all zero when it comes in.
    fn fill(&self, story: &Prepared<'_>, corpus: &Self::Corpus, row: &mut [f64]);

    /// The values of a row, one per column.
    fn values(&self, row: &[f64], values: &mut [Value]);
}

/// A metric that needs a first pass over all stories.
pub(crate) struct OfCorpus<M: CorpusMeasure> {
    description: Description,
    measure: M,
    /// `None` until the first pass is over.
    corpus: Option<M::Corpus>,
}

impl<M: CorpusMeasure> OfCorpus<M> {
    /// The metric before its first pass. The measure makes its signature.
    pub fn boxed(description: Description, measure: M) -> Result<Box<dyn Metric>, MetricError> {
        let description = description.signature(measure.signature(None));
        Ok(Box::new(Self { description, measure, corpus: None }))
    }

    /// The metric that knows the corpus.
    fn knowing(description: Description, measure: M, corpus: M::Corpus) -> Box<dyn Metric> {
        let description = description.signature(measure.signature(Some(&corpus)));
        Box::new(Self { description, measure, corpus: Some(corpus) })
    }
}

impl<M: CorpusMeasure> Metric for OfCorpus<M> {
    fn description(&self) -> &Description {
        &self.description
    }

    fn rows(&self, stories: &[Prepared<'_>], _: &Resources) -> Result<Rows, MetricError> {
        let Some(corpus) = &self.corpus else {
            return Err(MetricError::NoCorpus { metric: self.description.key.clone() });
        };
        Ok(Rows::each(stories, self.description.width, |story, row| {
            self.measure.fill(story, corpus, row);
        }))
    }

    fn values(&self, row: &[f64], values: &mut [Value]) {
        self.measure.values(row, values);
    }

    fn survey(&self) -> Option<Box<dyn Survey>> {
        Some(Box::new(FirstPass {
            description: self.description.clone(),
            measure: self.measure.clone(),
            gathered: self.measure.gather(),
        }))
    }

    fn save_corpus(&self, out: &mut CorpusWriter<'_>) -> io::Result<()> {
        match &self.corpus {
            Some(corpus) => self.measure.save(corpus, out),
            None => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    fn with_corpus(&self, input: &mut CorpusReader<'_>) -> io::Result<Box<dyn Metric>> {
        let corpus = self.measure.load(input)?;
        Ok(Self::knowing(self.description.clone(), self.measure.clone(), corpus))
    }
}

/// The first pass of an [`OfCorpus`].
struct FirstPass<M: CorpusMeasure> {
    description: Description,
    measure: M,
    gathered: M::Gathered,
}

impl<M: CorpusMeasure> Survey for FirstPass<M> {
    fn add(&self, stories: &[Prepared<'_>]) -> Result<(), MetricError> {
        stories.iter().for_each(|story| self.measure.add(story, &self.gathered));
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Box<dyn Metric>, MetricError> {
        let Self { description, measure, gathered } = *self;
        let corpus = measure.finish(gathered)?;
        Ok(OfCorpus::knowing(description, measure, corpus))
    }
}
