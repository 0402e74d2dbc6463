//! One metric on plain strings: the call that people know from sacrebleu.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use storymeter_core::read::Record;
use storymeter_core::{
    Absence, Catalogue, Device, Key, Place, Precision, Resources, Settings, Signature, Story,
    Value, number,
};
use storymeter_executor::MetricSet;

use crate::run::signature_of;
use crate::{Error, Result};

/// A metric that was asked for by name; made by [`metric`](crate::metric).
///
/// Models and tables are opened by the first score, and stay open.
pub struct NamedMetric {
    typed: String,
    catalogue: Catalogue,
    resources: Arc<Resources>,
}

/// The references of one story: one text, or several.
pub trait ReferenceTexts {
    /// The texts.
    fn texts(&self) -> Vec<String>;
}

impl ReferenceTexts for str {
    fn texts(&self) -> Vec<String> {
        vec![self.to_owned()]
    }
}

impl ReferenceTexts for String {
    fn texts(&self) -> Vec<String> {
        vec![self.clone()]
    }
}

impl<T: ReferenceTexts + ?Sized> ReferenceTexts for &T {
    fn texts(&self) -> Vec<String> {
        (**self).texts()
    }
}

impl<T: AsRef<str>> ReferenceTexts for Vec<T> {
    fn texts(&self) -> Vec<String> {
        self.iter().map(|text| text.as_ref().to_owned()).collect()
    }
}

impl<T: AsRef<str>, const N: usize> ReferenceTexts for [T; N] {
    fn texts(&self) -> Vec<String> {
        self.iter().map(|text| text.as_ref().to_owned()).collect()
    }
}

impl NamedMetric {
    pub(crate) fn new(typed: &str, catalogue: Catalogue) -> Result<Self> {
        catalogue.check(typed)?;
        Ok(Self { typed: typed.to_owned(), catalogue, resources: Arc::default() })
    }

    /// The same metric with a folder of weights or tables for it or for a model that it uses.
    #[must_use]
    pub fn weights(self, name: impl Into<String>, folder: impl Into<PathBuf>) -> Self {
        self.with(|settings| settings.weights.insert(name.into(), folder.into()))
    }

    /// The same metric, computing on this device.
    #[must_use]
    pub fn device(self, device: Device) -> Self {
        self.with(|settings| settings.device = device)
    }

    /// The same metric, computing in this precision.
    #[must_use]
    pub fn precision(self, precision: Precision) -> Self {
        self.with(|settings| settings.precision = Some(precision))
    }

    /// The same metric with this seed, if it draws a sample.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        self.with(|settings| settings.seed = seed)
    }

    fn with<T>(mut self, change: impl FnOnce(&mut Settings) -> T) -> Self {
        let mut settings = self.resources.settings().clone();
        change(&mut settings);
        self.resources = Arc::new(Resources::new(settings));
        self
    }

    /// Opens models and tables now, instead of with the first score.
    ///
    /// # Errors
    /// Returns an error if something that the metric needs cannot be opened.
    pub fn open(self) -> Result<Self> {
        // They stay open in the resources, so that building the metric again is cheap.
        self.catalogue.build(&self.typed, &self.resources)?;
        Ok(self)
    }

    /// The score of all texts together, as a paper would report it.
    ///
    /// `references` has one entry per hypothesis: a text, or several texts. A metric that needs no
    /// reference takes an empty list.
    ///
    /// All hypotheses count, also empty texts and refusals, as they do in sacrebleu and the like. A
    /// [`Scorer`](crate::Scorer) leaves such texts out unless it
    /// [keeps refusals](crate::Scorer::keep_refusals). The signature says `refusals:kept` in both
    /// cases.
    ///
    /// ```
    /// let bleu = storymeter::metric("bleu")?;
    /// let score = bleu.corpus_score(&["the cat sat on the mat"], &["the cat sat on a mat"])?;
    /// assert_eq!(score.to_string(), "bleu 53.7285");
    /// let two = bleu.corpus_score(&["the cat sat"], &[["the cat sat", "a cat"]])?;
    /// assert!(two.signature().to_string().contains("|nrefs:2|"));
    /// # Ok::<(), storymeter::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the two lists have different lengths, something that the metric needs
    /// cannot be opened, a story lacks what the metric needs, or the metric fails.
    pub fn corpus_score(
        &self,
        hypotheses: &[impl AsRef<str>],
        references: &[impl ReferenceTexts],
    ) -> Result<CorpusScore> {
        let records = records(hypotheses, references)?;
        let metrics = self.metrics(&records)?;
        let batch = metrics.batch(&records)?;
        let rows: Vec<&[f64]> = (0..records.len()).map(|story| batch.stats(story)).collect();
        let values = metrics.aggregate(&rows);
        Ok(self.scored(&metrics, values, (batch.references(), records.len())))
    }

    /// The score of one text.
    ///
    /// ```
    /// let length = storymeter::metric("text-length")?;
    /// let score = length.story_score("The lamp went out.", &storymeter::NO_REFERENCE)?;
    /// assert_eq!(score.value(), Ok(5.0));
    /// # Ok::<(), storymeter::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`NamedMetric::corpus_score`].
    pub fn story_score(
        &self,
        hypothesis: &str,
        references: &(impl ReferenceTexts + ?Sized),
    ) -> Result<CorpusScore> {
        let records = records(&[hypothesis], &[references])?;
        let metrics = self.metrics(&records)?;
        let batch = metrics.batch(&records)?;
        Ok(self.scored(&metrics, batch.values(0).to_vec(), (batch.references(), 1)))
    }

    fn metrics(&self, records: &[Record]) -> Result<MetricSet> {
        let typed = std::slice::from_ref(&self.typed);
        let metrics = MetricSet::new(typed, &self.catalogue, Arc::clone(&self.resources))?;
        Ok(metrics.surveyed_on(records)?)
    }

    fn scored(
        &self,
        metrics: &MetricSet,
        values: Vec<Value>,
        (references, stories): (Option<(usize, usize)>, usize),
    ) -> CorpusScore {
        let signature = match metrics.parts().next() {
            Some(part) => signature_of(&part, references),
            None => Signature::new(&self.typed),
        };
        // A pair counts whatever its text is, as in the tools whose corpus scores papers report.
        let signature = signature.with("refusals", "ref", "kept");
        let signature = signature.with("stories", "n", stories).with_version();
        let keys = metrics.columns().iter().map(|column| column.key.clone());
        CorpusScore { values: keys.zip(values).collect(), signature }
    }
}

fn records(
    hypotheses: &[impl AsRef<str>],
    references: &[impl ReferenceTexts],
) -> Result<Vec<Record>> {
    if !references.is_empty() && references.len() != hypotheses.len() {
        return Err(Error::Lengths {
            what_first: "texts",
            first: hypotheses.len(),
            what_second: "lists of references",
            second: references.len(),
        });
    }
    let record = |(number, text): (usize, &_)| {
        let text: &str = AsRef::<str>::as_ref(text);
        let references = references.get(number).map(ReferenceTexts::texts).unwrap_or_default();
        let story =
            Story { id: number.to_string(), text: text.to_owned(), references, ..Story::default() };
        Record { story, number: number as u64, place: Place::file(format!("text {number}")) }
    };
    Ok(hypotheses.iter().enumerate().map(record).collect())
}

/// The score of some texts together, with its signature.
///
/// It prints as the key and the value, one line per column.
#[derive(Debug, Clone, PartialEq)]
pub struct CorpusScore {
    values: Vec<(Key, Value)>,
    signature: Signature,
}

impl CorpusScore {
    /// The value of the first column, which is the only one except for families such as ROUGE.
    ///
    /// # Errors
    /// Returns the reason why there is no value.
    pub fn value(&self) -> Value {
        match self.values.first() {
            Some((_, value)) => value.clone(),
            None => Err(Absence::because("the metric has no column")),
        }
    }

    /// All columns with their values.
    pub fn values(&self) -> &[(Key, Value)] {
        &self.values
    }

    /// How the number came about.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }
}

impl fmt::Display for CorpusScore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (key, value)) in self.values.iter().enumerate() {
            if at > 0 {
                writeln!(f)?;
            }
            match value {
                Ok(value) => write!(f, "{key} {}", number::text(*value, 4))?,
                Err(absence) => write!(f, "{key} absent: {absence}")?,
            }
        }
        Ok(())
    }
}
