//! Metrics are ranked and compared by correlations that are turned by their declared direction.

use storymeter_core::{Column, Direction, Progress, Ratings, Row, ScoreTable};
use storymeter_meta::correlate::{Judgments, Numbers, correlate_numbers};
use storymeter_meta::study::{Leader, RankMethod, Ranking, Side, Sides, Test};
use storymeter_meta::table::{Options, analyse};
use storymeter_meta::view::{self, Sheet};
use storymeter_meta::{Coefficient, Finding, Settings, Study, WarningKind};

use crate::studies::support::noise;

/// Six systems on twelve items, rated on two criteria. `bleu` falls where the ratings rise, `fair`
/// rises with them and with noise, and `distance` falls with more noise.
fn table(bleu: Direction) -> ScoreTable {
    let quality = |at: usize| (at % 6) as f64 + 0.3 * (at / 6 % 3) as f64;
    let rows = (0..72).map(|at| {
        let mut ratings = Ratings::new();
        ratings.push("plot", Some(quality(at)));
        ratings.push("style", Some(quality(at) + 0.2 * noise(500 + at)));
        Row {
            id: at.to_string(),
            system: Some(format!("system {}", at % 6)),
            item: (at / 6).to_string(),
            ratings,
            ..Row::default()
        }
    });
    let mut table = ScoreTable::new(rows.collect());
    let mut push = |name: &str, direction, value: &dyn Fn(usize) -> f64| {
        table.push(Column::metric(name, direction), (0..72).map(|at| Ok(value(at))).collect());
    };
    push("bleu", bleu, &|at| -quality(at) + 0.3 * noise(at));
    push("fair", Direction::Higher, &|at| quality(at) + 2.5 * noise(100 + at));
    push("distance", Direction::Lower, &|at| -quality(at) + 5.0 * noise(200 + at));
    table
}

fn study(bleu: Direction, settings: Settings) -> Study {
    analyse(&table(bleu), &Options::default().with(|it| it.settings = settings)).unwrap()
}

fn rankings(study: &Study) -> Vec<&Ranking> {
    let found = study.findings.iter().filter_map(|finding| match finding {
        Finding::Ranking(ranking) => Some(ranking),
        _ => None,
    });
    found.collect()
}

/// The metrics by every level, criterion and coefficient.
fn leaders(study: &Study) -> Vec<Vec<Leader<'_>>> {
    let mut all = Vec::new();
    for level in study.levels() {
        for criterion in study.criteria() {
            all.extend(Coefficient::ALL.map(|one| study.leaders(level, criterion, one)));
        }
    }
    all
}

fn sheet(study: &Study, id: &str) -> Sheet {
    view::sheets(study).into_iter().find(|sheet| sheet.id == id).unwrap()
}

#[test]
fn a_metric_that_runs_against_its_direction_ranks_last_everywhere_and_is_named() {
    let study = study(Direction::Higher, Settings::default());
    for leaders in leaders(&study) {
        let order: Vec<&str> = leaders.iter().map(|one| one.metric.as_str()).collect();
        assert_eq!(order, ["fair", "distance", "bleu"], "{leaders:?}");
        assert!(leaders[2].strength < -0.9 && leaders[1].strength > 0.0);
    }
    let rankings = rankings(&study);
    assert_eq!(rankings.len(), 3, "Borda, mean rank and Kemeny");
    for ranking in rankings {
        let order: Vec<&str> = ranking.places.iter().map(|one| one.metric.as_str()).collect();
        assert_eq!(order, ["fair", "distance", "bleu"], "{ranking:?}");
        assert!(ranking.method != RankMethod::MeanRank || ranking.places[2].score == Some(3.0));
    }
    let backwards: Vec<(&str, &str)> = study
        .warnings
        .iter()
        .filter(|warning| warning.kind == WarningKind::Backwards)
        .map(|warning| (warning.subject.as_str(), warning.message.as_str()))
        .collect();
    let [("bleu", message)] = backwards.as_slice() else { panic!("{backwards:?}") };
    assert!(message.starts_with("more should be better, but its mean correlation"), "{message}");
    assert!(message.contains("r = -0.9"), "{message}");
}

#[test]
fn no_test_calls_the_backward_metric_the_stronger_one() {
    for test in [Test::Williams, Test::Steiger, Test::Meng, Test::Permutation] {
        let [two, one] = [Sides::Two, Sides::One].map(|sides| {
            study(
                Direction::Higher,
                Settings::default().with(|it| {
                    it.test = test;
                    it.sides = sides;
                    it.resamples = 200;
                }),
            )
        });
        assert_eq!(two.tests().count(), 6);
        for (two, one) in two.tests().zip(one.tests()) {
            assert_eq!((two.sides, one.sides), (Sides::Two, Sides::One));
            // bleu is the first metric, and the later one of each pair is stronger.
            for (at, pair) in two.pairs.iter().enumerate().take(2) {
                let p =
                    (pair.p_value.clone().unwrap().raw, one.pairs[at].p_value.clone().unwrap().raw);
                assert_eq!(pair.stronger, Some(Side::Second), "{test:?} {two:?}");
                assert!(p.0 < 0.05 && p.1 <= p.0, "{test:?}: {p:?}");
                if test != Test::Permutation {
                    assert!((p.0 - 2.0 * p.1).abs() <= 1e-12 * p.0, "{test:?}: {p:?}");
                }
            }
        }
    }
}

#[test]
fn a_metric_where_less_is_better_leads_by_its_negative_correlation() {
    let study = study(Direction::Lower, Settings::default());
    assert!(leaders(&study).iter().all(|one| one[0].metric.as_str() == "bleu"));
    assert!(rankings(&study).iter().all(|one| one.places[0].metric.as_str() == "bleu"));
    assert!(study.warnings.iter().all(|warning| warning.kind != WarningKind::Backwards));
    let matrix = study.tests().next().unwrap();
    assert_eq!(matrix.pairs[0].stronger, Some(Side::First));
}

#[test]
fn averages_have_the_sign_of_what_stands_beside_them() {
    let study = study(Direction::Higher, Settings::default());
    let against = sheet(&study, "against-story-pearson");
    let row = against.rows.iter().find(|row| row[0].text() == "bleu").unwrap();
    let [first, second, mean] = [1, 2, 3].map(|column| row[column].value());
    assert!(first < 0.0 && second < 0.0);
    assert!((mean - (first + second) / 2.0).abs() < 1e-12, "{first} {second} {mean}");
}

#[test]
fn where_the_direction_is_not_known_the_size_counts_and_the_tables_say_so() {
    let study = study(Direction::None, Settings::default());
    assert!(leaders(&study).iter().all(|one| one[0].metric.as_str() == "bleu"));
    assert!(leaders(&study).iter().all(|one| one[0].strength > 0.9));
    for id in ["best-metrics", "borda", "mean-rank", "kemeny"] {
        let notes = sheet(&study, id).notes.join("; ");
        assert!(notes.contains("so that the size of r counts: bleu"), "{id}: {notes}");
    }
    assert_eq!(study.undirected().len(), 1);
    let tests = sheet(&study, "williams-story-plot");
    assert!(tests.title.ends_with("two-sided"), "{}", tests.title);
    assert!(tests.notes[0].starts_with("two-sided p-value"), "{:?}", tests.notes);
}

/// The p-values of Williams' test between two lists of scores, as `correlate` gives them.
fn williams(human: &[f64], scores: [&[f64]; 2], sides: Sides) -> (Option<Side>, f64) {
    let human = Judgments::given("fun", human.iter().copied().map(Some));
    let numbers: Vec<Numbers> = ["a", "b"]
        .into_iter()
        .zip(scores)
        .map(|(name, scores)| Numbers {
            name: name.into(),
            metric: None,
            direction: Direction::Higher,
            scores: scores.iter().copied().map(Some).collect(),
        })
        .collect();
    let settings = Settings::default().with(|it| it.sides = sides);
    let unseen = Progress::unwatched();
    let found = correlate_numbers(&human, &numbers, &settings, &unseen).unwrap();
    let test = found.tests[0].comparison.clone();
    (test.stronger, test.p_value.unwrap().raw)
}

#[test]
fn a_correlation_of_zero_and_equal_correlations_are_tested() {
    let human = [1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0];
    let a = [1.0, 2.0, 2.0, 1.0, 2.0, 3.0, 3.0, 2.0];
    let b = [1.0, 3.0, 3.0, 3.0, 2.0, 2.0, 4.0, 5.0];
    let (stronger, p) = williams(&human, [&a, &b], Sides::One);
    assert_eq!(stronger, Some(Side::Second));
    assert!((p - 0.0176).abs() < 5e-5, "{p}");
    assert!((williams(&human, [&a, &b], Sides::Two).1 - 2.0 * p).abs() < 1e-15);
    // The same numbers for the two halves of the stories, which are rated alike.
    let (front, back): (Vec<f64>, Vec<f64>) =
        (b.to_vec(), b[4..].iter().chain(&b[..4]).copied().collect());
    assert_eq!(williams(&human, [&front, &back], Sides::Two), (None, 1.0));
    assert_eq!(williams(&human, [&front, &back], Sides::One), (None, 0.5));
}
