//! The computation behind the result of a suite.

use rayon::prelude::*;
use storymeter_core::{Aspect, Column, Direction, Key, Signature, Value};

use super::samples::Samples;
use super::{
    AspectScores, AspectSummary, MetricScores, Pairing, SuiteCell, SuiteKind, SuiteMethod,
    SuiteOptions, SuiteResult, SuiteScores, cell, warnings,
};
use crate::error::{Error, Result};

/// The name of the metric that gives all texts the same score.
pub(super) const CONSTANT: &str = "constant";

/// Says what each metric sees and what disturbs it.
///
/// Each metric has one entry per aspect, which compares the scores of the originals with those of
/// the twins. A pair of which one score is absent is left out of all numbers and counted.
///
/// With [`SuiteOptions::compat`], the numbers are those of OpenMEVA's own reading, in which texts
/// are two samples and not pairs. For both repetition aspects the first sample is
/// [`SuiteScores::originals`], all originals of the suite; for the other aspects of discrimination
/// it is the originals of the aspect. For invariance, the two samples are the pairs that have both
/// scores. Aspects that are [`Pairing::Unpaired`] already are taken as they are.
///
/// All metrics see the same resamples of an aspect. They follow from the seed and the aspect alone,
/// so that an interval depends neither on the other metrics and aspects nor on the number of
/// threads.
///
/// # Errors
/// Returns an error if there is no metric, a metric or an aspect is there twice, lists of scores do
/// not have the lengths that they must have, or the options are out of range.
pub fn analyse(scores: &SuiteScores, options: &SuiteOptions) -> Result<SuiteResult> {
    check(scores, options)?;
    let mut aspects: Vec<&AspectScores> = scores.aspects.iter().collect();
    aspects.sort_by_key(|own| own.aspect);
    let mut missing = scores.missing.clone();
    missing.sort_by_key(|own| own.aspect);

    let flat = Constant::new(scores, &aspects);
    let constant = Column::metric(CONSTANT, Direction::Higher);
    let columns: Vec<&Column> = scores.columns.iter().chain([&constant]).collect();
    let tasks: Vec<(usize, usize)> = (0..columns.len())
        .flat_map(|metric| (0..aspects.len()).map(move |aspect| (metric, aspect)))
        .collect();
    options.progress.begin("comparing originals and twins");
    options.progress.expect(tasks.len() as u64);
    let mut cells: Vec<SuiteCell> = tasks
        .into_par_iter()
        .map(|(metric, at)| {
            let (own, all) = match scores.columns.get(metric) {
                Some(_) => (&aspects[at].scores[metric], scores.originals.get(metric)),
                None => (&flat.scores[at], Some(&flat.originals)),
            };
            let all = all.map_or(&[][..], Vec::as_slice);
            let samples = Samples::new(aspects[at], own, all, options.compat);
            let cell = cell::compare(columns[metric], aspects[at].aspect, samples, options);
            options.progress.advance(1);
            cell
        })
        .collect::<Result<_>>()?;
    if !aspects.is_empty() {
        cells.chunks_mut(aspects.len()).for_each(cell::measure_by_typos);
    }
    let constant = cells.split_off(scores.columns.len() * aspects.len());

    let method = SuiteMethod {
        compat: options.compat,
        resamples: options.resamples,
        confidence: options.confidence,
        seed: options.seed,
    };
    let aspects: Vec<AspectSummary> = aspects.into_iter().map(summary).collect();
    let signature = signature(&method, &aspects);
    let metrics = scores.columns.clone();
    let warnings = warnings::of(&metrics, &aspects, &cells);
    Ok(SuiteResult {
        kind: SuiteKind::Suite,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        signature,
        method,
        aspects,
        missing,
        metrics,
        cells,
        constant,
        examples: Vec::new(),
        warnings,
    })
}

fn signature(method: &SuiteMethod, aspects: &[AspectSummary]) -> Signature {
    Signature::new("suite")
        .with("aspects", "a", aspects.len())
        .with("pairs", "p", aspects.iter().map(|own| own.pairs).sum::<usize>())
        .with("texts", "t", aspects.iter().map(|own| own.originals + own.twins).sum::<usize>())
        .with("compat", "compat", if method.compat { "yes" } else { "no" })
        .with("seed", "seed", method.seed)
        .with("resamples", "n", method.resamples)
        .with("confidence", "conf", method.confidence)
        .with_version()
}

fn summary(own: &AspectScores) -> AspectSummary {
    // All metrics have as many texts.
    let (originals, twins) =
        own.scores.first().map_or((0, 0), |one| (one.originals.len(), one.twins.len()));
    AspectSummary {
        aspect: own.aspect,
        test: own.aspect.test(),
        pairing: own.pairing,
        pairs: if own.pairing == Pairing::Paired { twins } else { 0 },
        originals,
        twins,
        stories: own.stories,
        left_out: own.left_out.clone(),
        rules: own.rules.clone(),
    }
}

/// Refuses scores that do not fit together.
fn check(scores: &SuiteScores, options: &SuiteOptions) -> Result<()> {
    let columns = scores.columns.len();
    if columns == 0 {
        return Err(Error::NoMetric { file: None });
    }
    let mut keys: Vec<&Key> = scores.columns.iter().map(|column| &column.key).collect();
    keys.sort();
    if let Some(pair) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Error::TwiceTheName(pair[0].to_string()));
    }
    let given = scores.aspects.iter().map(|own| own.aspect);
    let mut aspects: Vec<Aspect> =
        given.chain(scores.missing.iter().map(|own| own.aspect)).collect();
    aspects.sort();
    if let Some(pair) = aspects.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Error::TwiceTheName(pair[0].to_string()));
    }
    match options.resamples {
        0 => return Err(Error::NoDraws),
        found if u32::try_from(found).is_err() => {
            let (what, most) = ("resamples", u32::MAX as usize);
            return Err(Error::TooLarge { file: None, what, found, most });
        }
        _ => {}
    }
    let fits = |what: String, found: usize, expected: usize| match found == expected {
        true => Ok(()),
        false => Err(Error::UnequalScores { what, found, expected }),
    };
    for own in &scores.aspects {
        fits(format!("metrics of {}", own.aspect), own.scores.len(), columns)?;
        let Some(first) = own.scores.first() else { continue };
        if own.pairing == Pairing::Paired {
            let what = format!("twins of {}", own.aspect);
            fits(what, first.twins.len(), first.originals.len())?;
        }
        for (column, one) in scores.columns.iter().zip(&own.scores) {
            let what = |texts: &str| format!("{texts} of {} by {}", own.aspect, column.key);
            fits(what("originals"), one.originals.len(), first.originals.len())?;
            fits(what("twins"), one.twins.len(), first.twins.len())?;
        }
    }
    if options.compat {
        fits("metrics of all originals".to_owned(), scores.originals.len(), columns)?;
        let expected = scores.originals[0].len();
        for (column, own) in scores.columns.iter().zip(&scores.originals) {
            fits(format!("all originals by {}", column.key), own.len(), expected)?;
        }
    }
    Ok(())
}

/// The scores of the metric that gives all texts the same score.
struct Constant {
    /// By aspect.
    scores: Vec<MetricScores>,
    /// Of all originals of the suite.
    originals: Vec<Value>,
}

impl Constant {
    fn new(scores: &SuiteScores, aspects: &[&AspectScores]) -> Self {
        let equal = |values: &[Value]| vec![Ok(1.0); values.len()];
        let flat = |own: &&AspectScores| match own.scores.first() {
            Some(one) => {
                MetricScores { originals: equal(&one.originals), twins: equal(&one.twins) }
            }
            None => MetricScores::default(),
        };
        let originals = scores.originals.first().map_or(Vec::new(), |all| equal(all));
        Self { scores: aspects.iter().map(flat).collect(), originals }
    }
}
