//! A study in words: what a reader should know before looking at any figure.

use storymeter_core::Key;
use storymeter_core::read::hanna_metric_name;
use storymeter_meta::study::{Leader, MetricRanking, SIGNIFICANT, Test, TestMatrix};
use storymeter_meta::systems::verdict::Verdict;
use storymeter_meta::view::correlation_symbol;
use storymeter_meta::{Coefficient, Finding, Kind, Level, Study, Warning, WarningKind};

use crate::systems;

/// A heading and the sentences under it.
#[derive(Debug, Clone, PartialEq)]
pub struct Paragraph {
    /// The heading.
    pub heading: &'static str,
    /// The sentences.
    pub sentences: Vec<String>,
}

/// The most names that are listed before "and others".
const MOST_NAMES: usize = 4;

/// Which metrics are best and whether that is certain, in two or three sentences.
///
/// The ranking at the first level is the one that the page shows; that of systems is mentioned.
pub fn verdict(study: &Study, highlight: Option<&Key>) -> Vec<String> {
    let rankings = study.metric_rankings();
    let Some((&ranking, others)) = rankings.split_first() else { return Vec::new() };
    let r = correlation_symbol(study);
    let mut sentences = vec![best_metric(ranking, r)];
    let systems = others.iter().find(|other| other.level == Level::System);
    sentences.extend(systems.map(|other| best_elsewhere(other, r)));
    sentences.extend(meaning(ranking));
    sentences.extend(backwards(study, ranking.level));
    sentences.extend(highlight.map(|metric| own_metric(ranking, r, metric)));
    sentences
}

/// Which metric leads, and whether it is clearly better than the others.
fn best_metric(ranking: &MetricRanking, r: &str) -> String {
    let best = ranking.best();
    let (metric, mean) = (&best.metric, best.mean);
    let over = match ranking.criteria.as_slice() {
        [only] => format!("correlation with {only}"),
        several => format!("mean correlation over the {} criteria", several.len()),
    };
    let leads = format!("the highest {over} ({r} = {mean:.2} at {} level)", ranking.level);
    if mean <= 0.0 {
        return format!("No metric agrees with people: {metric} has {leads}.");
    }
    let rivals = ranking.places.len() - 1;
    let Some((test, correction)) = ranking.test.filter(|_| rivals > 0) else {
        return match rivals {
            0 => format!("{metric} is the only metric with {over}: {r} = {mean:.2}."),
            _ => format!(
                "{metric} has {leads}. No test was made, so it is not known whether this is more \
                 than chance."
            ),
        };
    };
    let method = format!("{}, corrected after {}", test_name(test), correction.authors());
    let names = ranking.undecided();
    let tested = ranking.tested();
    match names.len() {
        0 if tested == 0 => format!(
            "{metric} has {leads}. {} be tested against it, so it is not known whether this is \
             more than chance.",
            match rivals {
                1 => "The other one could not".to_owned(),
                _ => format!("None of the other {rivals} could"),
            }
        ),
        0 if tested == rivals && !ranking.leads_on_every_criterion() => format!(
            "{metric} has {leads}. {} is significantly weaker on some criterion, but not on all of \
             them ({method}).",
            if rivals == 1 { "The other one" } else { "Every other metric" }
        ),
        0 if tested == rivals => format!(
            "{metric} is clearly the best metric: it has {leads}, and it is significantly stronger \
             than {} ({method}).",
            if rivals == 1 { "the other one" } else { "every other metric" }
        ),
        0 => format!(
            "{metric} has {leads}, and it is significantly stronger than {tested} of the other \
             {rivals}; the rest could not be tested ({method})."
        ),
        1 if rivals == 1 => format!(
            "Neither metric is clearly better: {metric} has {leads}, but it is not significantly \
             stronger than the other one on any criterion ({method})."
        ),
        count if count == rivals => format!(
            "No metric is clearly better than the others: {metric} has {leads}, but it is not \
             significantly stronger than any of the other {rivals} on any criterion ({method})."
        ),
        count => format!(
            "No metric is clearly the best: {metric} has {leads}, but on no criterion is it \
             significantly stronger than {count} of the other {rivals}, such as {} ({method}).",
            listed(&names, 3)
        ),
    }
}

/// Which metric leads at another level.
fn best_elsewhere(ranking: &MetricRanking, r: &str) -> String {
    let best = ranking.best();
    let (undecided, tested, rivals) =
        (ranking.undecided().len(), ranking.tested(), ranking.places.len() - 1);
    let certain = match undecided {
        _ if ranking.test.is_none() || rivals == 0 => String::new(),
        _ if tested == 0 && rivals == 1 => {
            ", but the other one could not be tested against it".into()
        }
        _ if tested == 0 => ", but no other metric could be tested against it".into(),
        0 if tested == rivals && rivals == 1 => {
            ", which is significantly stronger than the other one".into()
        }
        0 if tested == rivals => ", which is significantly stronger than all others".into(),
        0 => format!(
            ", which is significantly stronger than the {tested} of the other {rivals} that could \
             be tested"
        ),
        all if all == rivals => ", but here no metric is clearly better".into(),
        some => format!(", but it cannot be told apart from {some} of the other {rivals}"),
    };
    format!(
        "For ranking whole systems ({} level, {} systems), {} comes first (mean {r} = \
         {:.2}){certain}.",
        ranking.level, ranking.n, best.metric, best.mean
    )
}

/// The metrics that run against their direction.
fn backwards(study: &Study, level: Level) -> Option<String> {
    let found = study.backwards(level).into_iter();
    let named: Vec<String> =
        found.map(|(metric, mean)| format!("{metric} (r = {mean:.2})")).collect();
    let names: Vec<&str> = named.iter().map(String::as_str).collect();
    let (run, their) = if names.len() == 1 { ("runs", "its") } else { ("run", "their") };
    (!names.is_empty()).then(|| {
        format!(
            "{} {run} against {their} direction: the better the score, the worse people find the \
             story.",
            listed(&names, MOST_NAMES)
        )
    })
}

/// What the highest correlation is worth, by the usual names of Cohen (1988).
fn meaning(ranking: &MetricRanking) -> Option<String> {
    let mean = ranking.best().mean;
    if mean <= 0.0 {
        return None;
    }
    // The words are those of the number that is printed: 0.297 is printed as 0.30.
    let size = match (mean * 100.0).round() / 100.0 {
        strong if strong >= 0.5 => "large",
        fair if fair >= 0.3 => "medium",
        weak if weak >= 0.1 => "small",
        _ => "negligible",
    };
    let use_of_it = match (ranking.level, size) {
        (Level::System, _) => "a good sign for comparing systems, and says nothing of one story",
        (_, "large") => "enough to compare systems, and with care to compare stories",
        _ => "enough at most to compare systems over many stories, not to judge a single story",
    };
    Some(format!("A correlation of {mean:.2} is {size} by Cohen's rule of thumb: {use_of_it}."))
}

/// Where the user's own metric stands.
fn own_metric(ranking: &MetricRanking, r: &str, metric: &Key) -> String {
    let Some(at) = ranking.position(metric) else {
        return format!("{metric} lacks a correlation with one of the criteria.");
    };
    let place = &ranking.places[at];
    let rank = format!(
        "{metric} has rank {} of {} (mean {r} = {:.2})",
        at + 1,
        ranking.places.len(),
        place.mean
    );
    match place.against_first {
        _ if at == 0 => format!("{rank}."),
        Some(found) if found.weaker == 0 => {
            format!("{rank}, and the first is not significantly stronger on any criterion.")
        }
        Some(found) => format!(
            "{rank}; the first is significantly stronger on {} of {} criteria.",
            found.weaker, found.tested
        ),
        None => format!("{rank}; it was not tested against the first."),
    }
}

/// The conclusions of a study in detail.
///
/// A verdict over all columns says whether a system may be called better than others.
pub fn paragraphs(study: &Study, verdict: Option<&Verdict>) -> Vec<Paragraph> {
    let all = [
        ("Which differences between metrics are certain", differences(study)),
        ("Systems", systems::in_words(study, verdict)),
        ("Warnings", warnings(study)),
    ];
    all.into_iter()
        .filter(|(_, sentences)| !sentences.is_empty())
        .map(|(heading, sentences)| Paragraph { heading, sentences })
        .collect()
}

/// The systems that people rated and that take no part in the correlations.
pub fn excluded(study: &Study) -> Vec<&str> {
    let rated = study.findings.iter().flat_map(|finding| match finding {
        Finding::SystemAverages(averages) => averages.systems.as_slice(),
        _ => &[],
    });
    let is_excluded = |system: &&str| {
        !study.systems.is_empty() && !study.systems.iter().any(|known| known == system)
    };
    distinct(rated.map(|(system, _)| system.as_str()).filter(is_excluded))
}

/// Which systems take part in the correlations, where that is not all of them.
pub fn left_out(study: &Study) -> Option<String> {
    let (systems, excluded) = (study.systems.len(), excluded(study));
    match (study.kind, excluded.as_slice()) {
        (Kind::Hanna, _) => Some(format!(
            "Correlations rest on {systems} systems. Stories by people (Human) are excluded, \
             because they are the references that metrics compare with."
        )),
        (_, []) => None,
        (_, names) => {
            Some(format!("Correlations rest on {systems} systems; excluded: {}.", names.join(", ")))
        }
    }
}

/// What the signs behind HANNA's names of metrics mean, where a name has them.
pub fn glyphs<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<&'static str> {
    names.any(|name| hanna_metric_name(name) != name).then_some(
        "Signs behind a name: \u{39e} the metric needs a reference story, \u{a4} it needs none; \
         \u{a7} it compares words, \u{3b5} word vectors, \u{394} it uses a trained model.",
    )
}

/// For each matrix of tests, the metrics that the strongest one beats.
fn differences(study: &Study) -> Vec<String> {
    let is_wanted = |matrix: &&TestMatrix| matrix.coefficient == Coefficient::Pearson;
    let matrices: Vec<&TestMatrix> = study.tests().filter(is_wanted).collect();
    let mut sentences: Vec<String> =
        matrices.iter().filter_map(|matrix| strongest_metric(study, matrix)).collect();
    if let (false, Some(matrix)) = (sentences.is_empty(), matrices.first()) {
        let explanation = format!(
            "By {}, {}, p < {SIGNIFICANT}, corrected after {} for all pairs of metrics of the same criterion and \
             level.",
            test_name(matrix.test),
            matrix.sides.name(),
            matrix.correction.authors()
        );
        sentences.insert(0, explanation);
    }
    sentences
}

fn test_name(test: Test) -> &'static str {
    match test {
        Test::Williams => "Williams' tests",
        Test::Steiger => "Steiger's tests",
        Test::Meng => "the tests of Meng, Rosenthal and Rubin",
        Test::Permutation => "permutation tests",
    }
}

/// The first names, and how many others there are.
fn listed(names: &[&str], most: usize) -> String {
    match names.len() {
        count if count <= most => names.join(", "),
        count => {
            let (named, more) = (&names[..most - 1], count + 1 - most);
            format!("{} and {more} others", named.join(", "))
        }
    }
}

fn strongest_metric(study: &Study, matrix: &TestMatrix) -> Option<String> {
    let leaders = study.leaders(matrix.level, &matrix.criterion, Coefficient::Pearson);
    let (Leader { metric, strength }, others) = leaders.split_first()?;
    let row = matrix.position(metric.as_str())?;
    let (mut beaten, mut untested) = (0, 0);
    let mut unbeaten: Vec<&str> = Vec::new();
    for other in others {
        let column = matrix.position(other.metric.as_str())?;
        match matrix.get(row, column).map(|comparison| &comparison.p_value) {
            Some(Ok(p)) if p.corrected < SIGNIFICANT => beaten += 1,
            Some(Err(_)) => untested += 1,
            _ => unbeaten.push(other.metric.as_str()),
        }
    }
    let strongest = format!("{metric} (r = {strength:.3})");
    let found = match (beaten, unbeaten.len()) {
        (0, 0) => return None,
        (0, 1) => format!(
            "no metric is clearly better. {strongest} is ahead of {}, but the difference may be \
             chance",
            unbeaten[0]
        ),
        (0, count) => format!(
            "no metric is clearly better. {strongest} comes first, but its lead over each of the \
             {count} others may be chance"
        ),
        (1, 0) => format!("{strongest} is significantly stronger than the other one"),
        (2, 0) => format!("{strongest} is significantly stronger than both others"),
        (count, 0) => format!("{strongest} is significantly stronger than all {count} others"),
        (count, others) => format!(
            "{strongest} is significantly stronger than {count} of {} other metrics, but not than \
             {}",
            count + others,
            listed(&unbeaten, MOST_NAMES)
        ),
    };
    let untested = match untested {
        0 => String::new(),
        count => format!("; {count} could not be tested"),
    };
    Some(format!("{}, {} level: {found}{untested}.", matrix.criterion, matrix.level))
}

/// One sentence per kind of warning, with the first subjects.
fn warnings(study: &Study) -> Vec<String> {
    let kinds: Vec<WarningKind> = distinct(study.warnings.iter().map(|warning| warning.kind));
    let sentence = |kind: WarningKind| {
        let own: Vec<&Warning> =
            study.warnings.iter().filter(|warning| warning.kind == kind).collect();
        if let [only] = own.as_slice() {
            return format!("{kind}: {}: {}.", only.subject, only.message);
        }
        let own: Vec<&str> = own.iter().map(|warning| warning.subject.as_str()).collect();
        let named = own[..own.len().min(3)].join(", ");
        let more = match own.len() {
            0..=3 => String::new(),
            count => format!(" and {} more", count - 3),
        };
        format!("{kind} ({}): {named}{more}.", own.len())
    };
    kinds.into_iter().map(sentence).collect()
}

/// Values in order of first appearance.
pub fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen: Vec<T> = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{compared, study};
    use storymeter_core::{Column, Direction, Ratings, Row, ScoreTable};
    use storymeter_meta::Absence;
    use storymeter_meta::study::AgainstFirst;
    use storymeter_meta::view::meaning_of_r;

    fn sentences(study: &Study) -> Vec<String> {
        paragraphs(study, None).into_iter().flat_map(|paragraph| paragraph.sentences).collect()
    }

    #[test]
    fn the_verdict_names_the_best_metric_and_says_whether_that_is_certain() {
        let study = compared();
        assert_eq!(
            verdict(&study, Some(&Key::new("poor"))),
            [
                "No metric is clearly the best: good has the highest correlation with story-level \
                 flow (r = 0.90 at system level), but on no criterion is it significantly \
                 stronger than 1 of the other 2, such as fair (Williams' tests, corrected after \
                 Holm).",
                "A correlation of 0.90 is large by Cohen's rule of thumb: a good sign for \
                 comparing systems, and says nothing of one story.",
                "poor has rank 3 of 3 (mean r = 0.10); the first is significantly stronger on 1 \
                 of 1 criteria.",
            ]
        );
    }

    #[test]
    fn where_nothing_is_certain_no_metric_is_clearly_better() {
        let mut study = compared();
        for finding in &mut study.findings {
            if let Finding::Tests(matrix) = finding {
                for p in matrix.pairs.iter_mut().filter_map(|pair| pair.p_value.as_mut().ok()) {
                    p.corrected = 1.0;
                }
            }
        }
        let study = study.with_metric_rankings();
        let words = verdict(&study, None);
        assert!(
            words[0].starts_with("No metric is clearly better than the others: good"),
            "{words:?}"
        );
        assert_eq!(
            sentences(&study)[1],
            "story-level flow, system level: no metric is clearly better. good (r = 0.900) comes \
             first, but its lead over each of the 2 others may be chance."
        );
    }

    #[test]
    fn the_details_say_which_metrics_the_best_one_beats() {
        let mut study = compared();
        study.warnings.push(Warning::new(WarningKind::Constant, "flat", "always 1"));
        let words = sentences(&study);
        assert_eq!(
            words,
            [
                "By Williams' tests, two-sided, p < 0.05, corrected after Holm for all pairs of \
                 metrics of the same criterion and level.",
                "story-level flow, system level: good (r = 0.900) is significantly stronger than \
                 1 of 2 other metrics, but not than fair.",
                "constant: flat: always 1.",
            ]
        );
    }

    #[test]
    fn a_metric_that_runs_against_its_direction_is_named_and_comes_last() {
        let mut study = compared();
        for column in &mut study.columns {
            column.direction = Direction::Higher;
        }
        let study = study.with_metric_rankings();
        let places = study.metric_rankings()[0].places.iter();
        let order: Vec<(&str, f64)> =
            places.map(|place| (place.metric.as_str(), place.mean)).collect();
        assert_eq!(order, [("fair", 0.5), ("poor", 0.1), ("good", -0.9)]);
        let words = verdict(&study, None);
        assert!(!words[0].contains("good"), "{words:?}");
        assert_eq!(
            words[2],
            "good (r = -0.90) runs against its direction: the better the score, the worse people \
             find the story."
        );
        assert!(sentences(&study)[1].contains("fair (r = 0.500)"));
    }

    #[test]
    fn a_metric_of_unknown_direction_is_ranked_by_size_and_that_is_said() {
        let mut study = compared();
        for column in &mut study.columns {
            column.direction = Direction::None;
        }
        let study = study.with_metric_rankings();
        let ranking = study.metric_rankings()[0];
        assert_eq!((ranking.best().metric.as_str(), ranking.best().mean), ("good", 0.9));
        let words = meaning_of_r(&study, ranking);
        assert!(words.ends_with("for good, fair, poor: their |r| counts."), "{words}");
    }

    #[test]
    fn a_metric_that_leads_on_some_criteria_is_not_called_clearly_the_best() {
        let study = compared();
        let mut ranking = study.metric_rankings()[0].clone();
        ranking.criteria.push(ranking.criteria[0].clone());
        for place in &mut ranking.places[1..] {
            place.against_first = Some(AgainstFirst { weaker: 1, stronger: 0, tested: 2 });
        }
        let words = best_metric(&ranking, "r");
        assert!(words.starts_with("good has the highest mean correlation over the 2"), "{words}");
        assert!(
            words.contains("significantly weaker on some criterion, but not on all"),
            "{words}"
        );
    }

    #[test]
    fn without_a_test_nothing_is_claimed() {
        let mut study = compared();
        for finding in &mut study.findings {
            if let Finding::Tests(matrix) = finding {
                for pair in &mut matrix.pairs {
                    (pair.stronger, pair.p_value) = (None, Err(Absence::Fewer(4)));
                }
            }
        }
        let study = study.with_metric_rankings();
        assert_eq!(
            verdict(&study, None)[0],
            "good has the highest correlation with story-level flow (r = 0.90 at system level). \
             None of the other 2 could be tested against it, so it is not known whether this is \
             more than chance."
        );
        let elsewhere = best_elsewhere(study.metric_rankings()[0], "r");
        assert!(elsewhere.ends_with("no other metric could be tested against it."));
        assert!(differences(&study).is_empty());
    }

    #[test]
    fn of_two_metrics_the_other_is_spoken_of_as_one() {
        let mut ranking = compared().metric_rankings()[0].clone();
        ranking.places.truncate(2);
        ranking.places[1].against_first = Some(AgainstFirst { weaker: 0, stronger: 0, tested: 1 });
        let words = best_metric(&ranking, "r");
        assert!(words.starts_with("Neither metric is clearly better: good has"), "{words}");
        assert!(words.contains("significantly stronger than the other one on any"), "{words}");
        ranking.places[1].against_first = None;
        assert!(best_metric(&ranking, "r").contains("The other one could not be tested"));
        let words = best_elsewhere(&ranking, "r");
        assert!(words.ends_with("but the other one could not be tested against it."), "{words}");
    }

    #[test]
    fn the_size_of_a_correlation_is_that_of_the_number_that_is_printed() {
        let mut ranking = compared().metric_rankings()[0].clone();
        let mut said = |mean: f64| {
            ranking.places[0].mean = mean;
            meaning(&ranking).unwrap()
        };
        assert!(said(0.297).starts_with("A correlation of 0.30 is medium by"));
        assert!(said(0.294).starts_with("A correlation of 0.29 is small by"));
    }

    #[test]
    fn three_systems_on_three_items_are_too_few_for_any_claim() {
        let rows = (0..9).map(|at| {
            let mut ratings = Ratings::new();
            ratings.push("plot", Some(f64::from(at * 4 % 9)));
            let (system, item) = (Some(format!("S{}", at % 3)), (at / 3).to_string());
            Row { id: at.to_string(), system, item, ratings, ..Row::default() }
        });
        let mut table = ScoreTable::new(rows.collect());
        for (name, step) in [("good", 4), ("fair", 5), ("poor", 7)] {
            let values = (0..9).map(|at| Ok(f64::from(at * step % 9))).collect();
            table.push(Column::metric(name, Direction::Higher), values);
        }
        let study = storymeter_meta::table::analyse(&table, &Default::default()).unwrap();
        let ranking = study.metric_rankings()[0];
        assert_eq!(ranking.level, Level::Story);
        assert!(ranking.places.len() > 1 && ranking.tested() == 0);
        for words in &verdict(&study, None)[..2] {
            assert!(!words.contains("significant") && !words.contains("clearly"), "{words}");
            assert!(words.contains("could be tested against it"), "{words}");
        }
    }

    #[test]
    fn signs_are_explained_only_where_names_have_them() {
        assert!(glyphs(["BLEU Ξ§"].into_iter()).unwrap().contains("reference"));
        assert_eq!(glyphs(["bleu"].into_iter()), None);
        assert!(verdict(&study(Vec::new()), None).is_empty());
    }
}
