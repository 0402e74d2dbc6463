//! A study in words: what a reader should know before looking at any figure.

use storymeter_core::Key;
use storymeter_meta::study::{Standing, SystemAverages, Test, TestMatrix};
use storymeter_meta::{Agreement, Finding, Level, Study, WarningKind};
use storymeter_stats::{Coefficient, Correction};

/// A heading and the sentences under it.
#[derive(Debug, Clone, PartialEq)]
pub struct Paragraph {
    /// The heading.
    pub heading: &'static str,
    /// The sentences.
    pub sentences: Vec<String>,
}

/// p-values below this are called significant.
const SIGNIFICANT: f64 = 0.05;
/// The most names that are listed before "and others".
const MOST_NAMES: usize = 4;

/// The conclusions of a study.
pub fn paragraphs(study: &Study) -> Vec<Paragraph> {
    let all = [
        ("Best metrics", best_metrics(study)),
        ("What differs significantly", differences(study)),
        ("Systems", systems(study)),
        ("Warnings", warnings(study)),
    ];
    all.into_iter()
        .filter(|(_, sentences)| !sentences.is_empty())
        .map(|(heading, sentences)| Paragraph { heading, sentences })
        .collect()
}

/// The metrics with the highest mean |Pearson| over the criteria, one sentence per level.
///
/// A metric that lacks a correlation with one of the criteria is not ranked: its mean would be over
/// other criteria than those of its rivals.
fn best_metrics(study: &Study) -> Vec<String> {
    let mut sentences = Vec::new();
    for level in Level::ALL {
        let here = || pearson_at(study, level);
        let criteria = distinct(here().filter(|one| one.value.is_ok()).map(|one| &one.criterion));
        let metrics = distinct(here().map(|one| &one.metric));
        let mean = |metric: &Key| -> Option<f64> {
            let strengths = criteria.iter().map(|&criterion| {
                here().find(|one| one.metric == *metric && one.criterion == *criterion)?.strength()
            });
            let strengths = strengths.collect::<Option<Vec<f64>>>()?;
            Some(strengths.iter().sum::<f64>() / strengths.len() as f64)
        };
        let mut means: Vec<(&Key, f64)> =
            metrics.iter().filter_map(|&metric| Some((metric, mean(metric)?))).collect();
        means.retain(|(_, mean)| mean.is_finite());
        means.sort_by(|a, b| b.1.total_cmp(&a.1));
        let Some(((best, value), others)) = means.split_first() else { continue };
        let over = match criteria.as_slice() {
            [only] => format!("with {only}"),
            several => format!("over the {} criteria", several.len()),
        };
        let next: Vec<String> =
            others.iter().take(2).map(|(metric, mean)| format!("{metric} ({mean:.3})")).collect();
        let next = match next.is_empty() {
            true => String::new(),
            false => format!(", ahead of {}", next.join(" and ")),
        };
        let unranked = match metrics.len() - means.len() {
            0 => String::new(),
            count => format!(
                " {count} of {} metrics lack a correlation with one of the criteria and are not \
                 ranked.",
                metrics.len()
            ),
        };
        sentences.push(format!(
            "{}: {best} has the highest mean |Pearson| {over}, {value:.3}{next}.{unranked}",
            place(level)
        ));
    }
    sentences
}

fn pearson_at(study: &Study, level: Level) -> impl Iterator<Item = &Agreement> {
    let is_wanted =
        move |one: &&Agreement| one.level == level && one.coefficient == Coefficient::Pearson;
    study.agreements().filter(is_wanted)
}

fn place(level: Level) -> &'static str {
    match level {
        Level::Story => "At story level",
        Level::System => "At system level",
        Level::Pooled => "Over all stories in one pool",
    }
}

/// Values in order of first appearance.
fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen: Vec<T> = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

/// For each matrix of Williams' tests, the metrics that the strongest one beats.
fn differences(study: &Study) -> Vec<String> {
    let is_wanted = |matrix: &&TestMatrix| {
        matrix.test == Test::Williams && matrix.coefficient == Coefficient::Pearson
    };
    let matrices: Vec<&TestMatrix> = study.tests().filter(is_wanted).collect();
    let mut sentences: Vec<String> =
        matrices.iter().filter_map(|matrix| strongest_metric(study, matrix)).collect();
    if let (false, Some(matrix)) = (sentences.is_empty(), matrices.first()) {
        let explanation = format!(
            "By Williams' tests, one-sided, with p < {SIGNIFICANT}; the correction is {} for all \
             pairs of metrics of the same criterion and level.",
            correction(matrix.correction)
        );
        sentences.insert(0, explanation);
    }
    sentences
}

fn correction(correction: Correction) -> &'static str {
    match correction {
        Correction::Holm => "Holm's",
        Correction::BenjaminiHochberg => "that of Benjamini and Hochberg",
        Correction::BenjaminiYekutieli => "that of Benjamini and Yekutieli",
    }
}

fn strongest_metric(study: &Study, matrix: &TestMatrix) -> Option<String> {
    let mut ranked: Vec<&Agreement> = pearson_at(study, matrix.level)
        .filter(|one| one.criterion == matrix.criterion && one.value.is_ok())
        .collect();
    ranked.sort_by(|a, b| b.strength().unwrap_or(0.0).total_cmp(&a.strength().unwrap_or(0.0)));
    let (best, others) = ranked.split_first()?;
    let row = matrix.position(best.metric.as_str())?;
    let (mut beaten, mut beaten_corrected, mut untested) = (0, 0, 0);
    let mut unbeaten: Vec<&str> = Vec::new();
    for other in others {
        let column = matrix.position(other.metric.as_str())?;
        match matrix.get(row, column).map(|comparison| comparison.p_value) {
            Some(Ok(p)) if p.raw < SIGNIFICANT => {
                beaten += 1;
                beaten_corrected += usize::from(p.corrected < SIGNIFICANT);
            }
            Some(Err(_)) => untested += 1,
            _ => unbeaten.push(other.metric.as_str()),
        }
    }
    let named = match unbeaten.len() {
        count if count <= MOST_NAMES => unbeaten.join(", "),
        count => {
            let (named, more) = (&unbeaten[..MOST_NAMES - 1], count + 1 - MOST_NAMES);
            format!("{} and {more} others", named.join(", "))
        }
    };
    let beaten = match (beaten, unbeaten.len()) {
        (0, 0) => return None,
        (0, _) => format!("not significantly stronger than {named}"),
        (count, others) => {
            let but = if others == 0 { String::new() } else { format!(", but not than {named}") };
            let all = count + others;
            format!(
                "significantly stronger than {count} of {all} other metrics ({beaten_corrected} \
                 after correction){but}"
            )
        }
    };
    let untested = match untested {
        0 => String::new(),
        count => format!("; {count} could not be tested"),
    };
    let value = best.value.as_ref().ok()?.value;
    Some(format!(
        "{}, {} level: {} (r = {value:.3}) is {beaten}{untested}.",
        matrix.criterion, matrix.level, best.metric
    ))
}

fn systems(study: &Study) -> Vec<String> {
    let averages = study.findings.iter().filter_map(|finding| match finding {
        Finding::SystemAverages(averages) => Some(averages),
        _ => None,
    });
    averages.filter_map(best_system).collect()
}

fn best_system(averages: &SystemAverages) -> Option<String> {
    // The last average of a system is the one over all criteria.
    let overall =
        || averages.systems.iter().filter_map(|(system, own)| Some((system.as_str(), own.last()?)));
    let (best, average) = overall().find(|(_, own)| own.standing == Standing::Best)?;
    let mean = average.mean.ok()?;
    let Ok(half_width) = average.half_width else {
        return Some(format!("{best} is rated best on average, {mean:.2}."));
    };
    let near: Vec<&str> = overall()
        .filter(|(_, own)| own.standing == Standing::Near)
        .map(|(system, _)| system)
        .collect();
    let near = match near.is_empty() {
        true => "no other system lies inside its 95% interval".to_owned(),
        false => format!("inside its 95% interval: {}", near.join(", ")),
    };
    Some(format!("{best} is rated best on average, {mean:.2} ± {half_width:.2}; {near}."))
}

/// One sentence per kind of warning, with the first subjects.
fn warnings(study: &Study) -> Vec<String> {
    let kinds: Vec<WarningKind> = distinct(study.warnings.iter().map(|warning| warning.kind));
    let sentence = |kind: WarningKind| {
        let own: Vec<&str> = study
            .warnings
            .iter()
            .filter(|warning| warning.kind == kind)
            .map(|warning| warning.subject.as_str())
            .collect();
        let named = own[..own.len().min(3)].join(", ");
        let more = match own.len() {
            0..=3 => String::new(),
            count => format!(" and {} more", count - 3),
        };
        format!("{kind} ({}): {named}{more}.", own.len())
    };
    kinds.into_iter().map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{agreement, study};
    use storymeter_meta::study::{Comparison, PValue, Side};
    use storymeter_meta::{Gap, Warning};

    fn example() -> Study {
        let pearson = |metric: &str, criterion: &str, value| {
            agreement(metric, criterion, Level::System, Coefficient::Pearson, value, 10)
        };
        let mut study = study(vec![
            pearson("good", "story-level flow", Some(-0.9)),
            pearson("fair", "story-level flow", Some(0.5)),
            pearson("poor", "story-level flow", Some(0.1)),
            pearson("flat", "story-level flow", None),
        ]);
        let test = |p_value| Comparison { stronger: Some(Side::First), p_value, n: 10 };
        let p = |raw, corrected| Ok(PValue { raw, corrected });
        study.findings.push(Finding::Tests(TestMatrix {
            test: Test::Williams,
            criterion: Key::new("story-level flow"),
            level: Level::System,
            coefficient: Coefficient::Pearson,
            correction: Correction::Holm,
            metrics: ["good", "fair", "poor", "flat"].map(Key::new).to_vec(),
            pairs: vec![
                test(p(0.2, 0.4)),
                test(p(0.03, 0.09)),
                test(p(0.4, 0.4)),
                test(Err(Gap::Constant)),
                test(Err(Gap::Constant)),
                test(Err(Gap::Constant)),
            ],
        }));
        study.warnings.push(Warning::new(WarningKind::Constant, "flat", "always 1"));
        study
    }

    #[test]
    fn the_summary_names_the_best_metric_and_those_it_beats() {
        let told = paragraphs(&example());
        let sentences: Vec<&str> =
            told.iter().flat_map(|p| p.sentences.iter().map(String::as_str)).collect();
        assert_eq!(
            sentences[0],
            "At system level: good has the highest mean |Pearson| with story-level flow, 0.900, \
             ahead of fair (0.500) and poor (0.100). 1 of 4 metrics lack a correlation with one of \
             the criteria and are not ranked."
        );
        assert_eq!(
            sentences[1],
            "By Williams' tests, one-sided, with p < 0.05; the correction is Holm's for all pairs \
             of metrics of the same criterion and level."
        );
        assert_eq!(
            sentences[2],
            "story-level flow, system level: good (r = -0.900) is significantly stronger than 1 of \
             2 other metrics (0 after correction), but not than fair."
        );
        assert_eq!(sentences.last(), Some(&"constant (1): flat."));
    }
}
