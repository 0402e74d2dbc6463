//! A study in words: what a reader should know before looking at any figure.

use storymeter_core::Key;
use storymeter_core::read::hanna_metric_name;
use storymeter_meta::study::{Standing, SystemAverages, Test, TestMatrix};
use storymeter_meta::{Agreement, Finding, Kind, Level, Study, WarningKind};
use storymeter_stats::{Coefficient, Correction};

use crate::leaderboard::{Leaderboard, SIGNIFICANT, distinct, level_name};

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
/// The first leaderboard is the one that the page shows; the second is mentioned.
pub fn verdict(boards: &[Leaderboard<'_>], highlight: Option<&Key>) -> Vec<String> {
    let Some((board, others)) = boards.split_first() else { return Vec::new() };
    let mut sentences = vec![best_metric(board)];
    sentences.extend(others.iter().find(|other| other.level == Level::System).map(best_elsewhere));
    sentences.extend(meaning(board));
    sentences.extend(backwards(board));
    sentences.extend(highlight.and_then(|metric| own_metric(board, metric)));
    sentences
}

/// Which metric leads, and whether it is clearly better than the others.
fn best_metric(board: &Leaderboard<'_>) -> String {
    let best = board.best();
    let (metric, mean) = (best.metric, best.mean);
    let over = match board.criteria.as_slice() {
        [only] => format!("correlation with {only}"),
        several => format!("mean correlation over the {} criteria", several.len()),
    };
    let r = board.symbol;
    let leads = format!("the highest {over} ({r} = {mean:.2} at {})", level_name(board.level));
    if mean <= 0.0 {
        return format!("No metric agrees with people: {metric} has {leads}.");
    }
    let rivals = board.rows.len() - 1;
    let Some((test, correction)) = board.test.filter(|_| rivals > 0) else {
        return match rivals {
            0 => format!("{metric} is the only metric with {over}: {r} = {mean:.2}."),
            _ => format!(
                "{metric} has {leads}. No test was made, so it is not known whether this is more \
                 than chance."
            ),
        };
    };
    let method = format!("{}, {}", test_name(test), corrected(correction));
    let undecided = board.undecided();
    let names: Vec<&str> = undecided.iter().map(|row| row.metric.as_str()).collect();
    let tested = board.tested();
    match names.len() {
        0 if tested == 0 => format!(
            "{metric} has {leads}. None of the other {rivals} could be tested against it, so it is \
             not known whether this is more than chance."
        ),
        0 if tested == rivals && !board.leads_on_every_criterion() => format!(
            "{metric} has {leads}. Every other metric is significantly weaker on some criterion, \
             but not on all of them ({method})."
        ),
        0 if tested == rivals => format!(
            "{metric} is clearly the best metric: it has {leads}, and it is significantly stronger \
             than every other metric ({method})."
        ),
        0 => format!(
            "{metric} has {leads}, and it is significantly stronger than {tested} of the other \
             {rivals}; the rest could not be tested ({method})."
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
fn best_elsewhere(board: &Leaderboard<'_>) -> String {
    let best = board.best();
    let (undecided, tested, rivals) =
        (board.undecided().len(), board.tested(), board.rows.len() - 1);
    let certain = match undecided {
        _ if board.test.is_none() || rivals == 0 => String::new(),
        _ if tested == 0 => ", but no other metric could be tested against it".into(),
        0 if tested == rivals => ", which is significantly stronger than all others".into(),
        0 => format!(
            ", which is significantly stronger than the {tested} of the other {rivals} that could \
             be tested"
        ),
        all if all == rivals => ", but here no metric is clearly better".into(),
        some => format!(", but it cannot be told apart from {some} of the other {rivals}"),
    };
    format!(
        "For ranking whole systems ({}, {} systems), {} comes first (mean {} = {:.2}){certain}.",
        level_name(board.level),
        board.n,
        best.metric,
        board.symbol,
        best.mean
    )
}

/// The metrics that run against their direction.
fn backwards(board: &Leaderboard<'_>) -> Option<String> {
    let named: Vec<String> =
        board.backwards.iter().map(|(metric, mean)| format!("{metric} (r = {mean:.2})")).collect();
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
fn meaning(board: &Leaderboard<'_>) -> Option<String> {
    let mean = board.best().mean;
    if mean <= 0.0 {
        return None;
    }
    let size = match mean {
        strong if strong >= 0.5 => "large",
        fair if fair >= 0.3 => "medium",
        weak if weak >= 0.1 => "small",
        _ => "negligible",
    };
    let use_of_it = match (board.level, size) {
        (Level::System, _) => "a good sign for comparing systems, and says nothing of one story",
        (_, "large") => "enough to compare systems, and with care to compare stories",
        _ => "enough at most to compare systems over many stories, not to judge a single story",
    };
    Some(format!("A correlation of {mean:.2} is {size} by Cohen's rule of thumb: {use_of_it}."))
}

/// Where the user's own metric stands.
fn own_metric(board: &Leaderboard<'_>, metric: &Key) -> Option<String> {
    let Some(at) = board.rows.iter().position(|row| row.metric == metric) else {
        return Some(format!("{metric} lacks a correlation with one of the criteria."));
    };
    let row = &board.rows[at];
    let rank = format!(
        "{metric} has rank {} of {} (mean {} = {:.2})",
        at + 1,
        board.rows.len(),
        board.symbol,
        row.mean
    );
    Some(match row.behind {
        _ if at == 0 => format!("{rank}."),
        Some(behind) if behind.weaker == 0 => {
            format!("{rank}, and the first is not significantly stronger on any criterion.")
        }
        Some(behind) => format!(
            "{rank}; the first is significantly stronger on {} of {} criteria.",
            behind.weaker, behind.tested
        ),
        None => format!("{rank}; it was not tested against the first."),
    })
}

/// The conclusions of a study in detail.
pub fn paragraphs(study: &Study) -> Vec<Paragraph> {
    let all = [
        ("Which differences between metrics are certain", differences(study)),
        ("Systems", systems(study)),
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

fn pearson_at(study: &Study, level: Level) -> impl Iterator<Item = &Agreement> {
    let is_wanted =
        move |one: &&Agreement| one.level == level && one.coefficient == Coefficient::Pearson;
    study.agreements().filter(is_wanted)
}

/// For each matrix of tests, the metrics that the strongest one beats.
fn differences(study: &Study) -> Vec<String> {
    let is_wanted = |matrix: &&TestMatrix| matrix.coefficient == Coefficient::Pearson;
    let matrices: Vec<&TestMatrix> = study.tests().filter(is_wanted).collect();
    let mut sentences: Vec<String> =
        matrices.iter().filter_map(|matrix| strongest_metric(study, matrix)).collect();
    if let (false, Some(matrix)) = (sentences.is_empty(), matrices.first()) {
        let explanation = format!(
            "By {}, {}, p < {SIGNIFICANT}, {} for all pairs of metrics of the same criterion and \
             level.",
            test_name(matrix.test),
            matrix.sides.name(),
            corrected(matrix.correction)
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

fn corrected(correction: Correction) -> &'static str {
    match correction {
        Correction::Holm => "corrected after Holm",
        Correction::BenjaminiHochberg => "corrected after Benjamini and Hochberg",
        Correction::BenjaminiYekutieli => "corrected after Benjamini and Yekutieli",
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
    let mut ranked: Vec<&Agreement> = pearson_at(study, matrix.level)
        .filter(|one| one.criterion == matrix.criterion && one.value.is_ok())
        .collect();
    let directed = |one: &Agreement| study.directed(one).unwrap_or(f64::NEG_INFINITY);
    ranked.sort_by(|a, b| directed(b).total_cmp(&directed(a)));
    let (best, others) = ranked.split_first()?;
    let row = matrix.position(best.metric.as_str())?;
    let (mut beaten, mut untested) = (0, 0);
    let mut unbeaten: Vec<&str> = Vec::new();
    for other in others {
        let column = matrix.position(other.metric.as_str())?;
        match matrix.get(row, column).map(|comparison| comparison.p_value) {
            Some(Ok(p)) if p.corrected < SIGNIFICANT => beaten += 1,
            Some(Err(_)) => untested += 1,
            _ => unbeaten.push(other.metric.as_str()),
        }
    }
    let strongest = format!("{} (r = {:.3})", best.metric, study.directed(best)?);
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
    Some(format!("{}, {}: {found}{untested}.", matrix.criterion, level_name(matrix.level)))
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
    let outside: Vec<&str> = overall()
        .filter(|(_, own)| own.standing == Standing::Outside)
        .map(|(system, _)| system)
        .collect();
    let among = match outside.is_empty() {
        true => String::new(),
        false => format!(" ({} excluded)", outside.join(", ")),
    };
    let Ok(half_width) = average.half_width else {
        return Some(format!("{best} is rated best on average{among}, {mean:.2}."));
    };
    let near: Vec<&str> = overall()
        .filter(|(_, own)| own.standing == Standing::Near)
        .map(|(system, _)| system)
        .collect();
    let near = match near.is_empty() {
        true => "no other system lies inside its 95% interval".to_owned(),
        false => format!("inside its 95% interval: {}", near.join(", ")),
    };
    Some(format!("{best} is rated best on average{among}, {mean:.2} ± {half_width:.2}; {near}."))
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
    use crate::leaderboard::Behind;
    use crate::testing::{compared, study};
    use storymeter_core::{Column, Direction, Ratings, Row, ScoreTable};
    use storymeter_meta::{Gap, Warning};

    fn sentences(study: &Study) -> Vec<String> {
        paragraphs(study).into_iter().flat_map(|paragraph| paragraph.sentences).collect()
    }

    #[test]
    fn the_verdict_names_the_best_metric_and_says_whether_that_is_certain() {
        let study = compared();
        let boards = Leaderboard::all(&study);
        assert_eq!(
            verdict(&boards, Some(&Key::new("poor"))),
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
        let told = verdict(&Leaderboard::all(&study), None);
        assert!(
            told[0].starts_with("No metric is clearly better than the others: good"),
            "{told:?}"
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
        let told = sentences(&study);
        assert_eq!(
            told,
            [
                "By Williams' tests, two-sided, p < 0.05, corrected after Holm for all pairs of \
                 metrics of the same criterion and level.",
                "story-level flow, system level: good (r = 0.900) is significantly stronger than \
                 1 of 2 other metrics, but not than fair.",
                "constant (1): flat.",
            ]
        );
    }

    #[test]
    fn a_metric_that_runs_against_its_direction_is_named_and_comes_last() {
        let mut study = compared();
        for column in &mut study.columns {
            column.direction = Direction::Higher;
        }
        let boards = Leaderboard::all(&study);
        let order: Vec<(&str, f64)> =
            boards[0].rows.iter().map(|row| (row.metric.as_str(), row.mean)).collect();
        assert_eq!(order, [("fair", 0.5), ("poor", 0.1), ("good", -0.9)]);
        let told = verdict(&boards, None);
        assert!(!told[0].contains("good"), "{told:?}");
        assert_eq!(
            told[2],
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
        let board = &Leaderboard::all(&study)[0];
        assert_eq!((board.best().metric.as_str(), board.best().mean), ("good", 0.9));
        let told = board.meaning_of_r();
        assert!(told.ends_with("for good, fair, poor: their |r| counts."), "{told}");
    }

    #[test]
    fn a_metric_that_leads_on_some_criteria_is_not_called_clearly_the_best() {
        let study = compared();
        let mut boards = Leaderboard::all(&study);
        let board = &mut boards[0];
        board.criteria.push(board.criteria[0]);
        for row in &mut board.rows[1..] {
            row.behind = Some(Behind { weaker: 1, stronger: 0, tested: 2 });
        }
        let told = &verdict(&boards, None)[0];
        assert!(told.starts_with("good has the highest mean correlation over the 2"), "{told}");
        assert!(told.contains("significantly weaker on some criterion, but not on all"), "{told}");
    }

    #[test]
    fn without_a_test_nothing_is_claimed() {
        let mut study = compared();
        for finding in &mut study.findings {
            if let Finding::Tests(matrix) = finding {
                for pair in &mut matrix.pairs {
                    (pair.stronger, pair.p_value) = (None, Err(Gap::Fewer(4)));
                }
            }
        }
        let boards = Leaderboard::all(&study);
        assert_eq!(
            verdict(&boards, None)[0],
            "good has the highest correlation with story-level flow (r = 0.90 at system level). \
             None of the other 2 could be tested against it, so it is not known whether this is \
             more than chance."
        );
        assert!(
            best_elsewhere(&boards[0]).ends_with("no other metric could be tested against it.")
        );
        assert!(differences(&study).is_empty());
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
        let boards = Leaderboard::all(&study);
        assert_eq!(boards[0].level, Level::Story);
        assert!(boards[0].rows.len() > 1 && boards[0].tested() == 0);
        for told in &verdict(&boards, None)[..2] {
            assert!(!told.contains("significant") && !told.contains("clearly"), "{told}");
            assert!(told.contains("could be tested against it"), "{told}");
        }
    }

    #[test]
    fn signs_are_explained_only_where_names_have_them() {
        assert!(glyphs(["BLEU Ξ§"].into_iter()).unwrap().contains("reference"));
        assert_eq!(glyphs(["bleu"].into_iter()), None);
        assert!(verdict(&Leaderboard::all(&study(Vec::new())), None).is_empty());
    }
}
