//! What all columns of a comparison say together, and every sentence about it.

use std::fmt::Write as _;

use storymeter_core::{Column, Direction, LengthClass, Norms, Row, ScoreTable, Validity, Value};
use storymeter_meta::systems::verdict::{Lead, LengthSource, Reason, Verdict, Vote, verdict};
use storymeter_meta::systems::{Options, SystemComparison, compare};
use storymeter_meta::view::{leaders, not_counted, text, verdict_words};

use crate::studies::support::noise;

const ITEMS: usize = 40;

/// A system: its name, about how many words its stories have, and the flag of every n-th story.
pub(super) type System<'a> = (&'a str, f64, Option<(&'a str, usize)>);

/// The stories of systems for the same items. Lengths reach from 0.6 to 1.4 times the middle.
pub(super) fn rows(systems: &[System<'_>]) -> Vec<Row> {
    let row = |at: usize, item: usize| {
        let (system, words, flag) = systems[at];
        let spread = 0.6 + 0.8 * noise(7000 + 100 * at + item);
        let flags = flag.filter(|(_, every)| item.is_multiple_of(*every));
        Row {
            id: item.to_string(),
            system: Some(system.to_owned()),
            item: item.to_string(),
            words: Some((words * spread).round() as u64),
            flags: flags.map(|(name, _)| name.to_owned()).into_iter().collect(),
            ..Row::default()
        }
    };
    (0..systems.len()).flat_map(|at| (0..ITEMS).map(move |item| row(at, item))).collect()
}

/// Scores around the level of each system.
pub(super) fn levels(column: usize, levels: &[f64]) -> Vec<Value> {
    let value = |at: usize, item: usize| {
        let seed = 100_000 * (column + 1) + 1000 * at + item;
        Ok(levels[at] + 0.1 * noise(seed) + 0.05 * noise(item))
    };
    (0..levels.len()).flat_map(|at| (0..ITEMS).map(move |item| value(at, item))).collect()
}

pub(super) fn table(systems: &[System<'_>], columns: &[(&str, &[f64])]) -> ScoreTable {
    let mut table = ScoreTable::new(rows(systems));
    for (at, (key, own)) in columns.iter().enumerate() {
        table.push(Column::metric(*key, Direction::Higher), levels(at, own));
    }
    table
}

pub(super) fn options() -> Options {
    Options::default().with(|it| it.resamples = 1999)
}

pub(super) fn judge_with(
    table: &ScoreTable,
    options: &Options,
) -> (Verdict, Vec<SystemComparison>) {
    let found = compare(table, options).unwrap();
    (verdict(table, &found, options).unwrap(), found)
}

pub(super) fn judge(table: &ScoreTable) -> Verdict {
    judge_with(table, &options()).0
}

/// All sentences, one per line.
pub(super) fn said(table: &ScoreTable) -> String {
    said_with(table, &options())
}

pub(super) fn said_with(table: &ScoreTable, options: &Options) -> String {
    let (verdict, found) = judge_with(table, options);
    let words = verdict_words(&verdict, &found);
    let mut text = format!("{}\n", words.headline);
    words.details.iter().for_each(|line| text.push_str(&format!("{line}\n")));
    for line in &words.trust {
        let _ = writeln!(text, "{line}");
    }
    if let Some(line) = words.trust_in_brief {
        let _ = writeln!(text, "in brief: {line}");
    }
    text
}

/// Three systems of equal lengths without flags.
pub(super) const PLAIN: [System<'_>; 3] =
    [("rain", 100.0, None), ("tale", 100.0, None), ("snow", 100.0, None)];

#[test]
fn a_system_that_leads_by_a_metric_and_loses_by_none_is_the_winner() {
    let table = table(
        &PLAIN,
        &[("union", &[0.5, 0.7, 0.5]), ("bleu", &[0.3, 0.3, 0.3]), ("ter", &[0.1, 0.3, 0.1])],
    );
    let found = judge(&table);
    assert_eq!((found.winner(), found.tests), (Some("tale"), 9));
    assert_eq!(found.columns[0].survives, Some(Lead::Alone { system: "tale".into() }));
    assert_eq!(found.columns[1].lead, Lead::Nobody);
    assert!(!found.length.differs && found.flags.raised.is_empty() && found.reasons.is_empty());
    insta::assert_snapshot!(said(&table));
}

#[test]
fn columns_without_direction_and_constant_columns_are_not_counted() {
    let mut table = table(&PLAIN, &[("union", &[0.5, 0.7, 0.5])]);
    table.push(Column::metric("text-length", Direction::None), levels(5, &[9.0, 1.0, 1.0]));
    table.push(Column::metric("flat", Direction::Higher), vec![Ok(0.5); 3 * ITEMS]);
    let found = judge(&table);
    let votes: Vec<&Vote> = found.columns.iter().map(|one| &one.vote).collect();
    assert_eq!(votes, [&Vote::Votes, &Vote::NoDirection, &Vote::Constant]);
    let cells: Vec<_> = votes.into_iter().filter_map(not_counted).collect();
    assert_eq!(
        cells,
        ["not counted: its direction is not known", "not counted: all values are equal"]
    );
    assert_eq!((found.winner(), found.tests), (Some("tale"), 3));
    let nothing = options().with(|it| it.columns = vec!["text-length".into(), "flat".into()]);
    let none = judge_with(&table, &nothing).0;
    assert_eq!(none.reasons, [Reason::NoVote]);
    assert!(none.chosen && none.winner().is_none());
    insta::assert_snapshot!(said_with(&table, &nothing));
}

#[test]
fn systems_that_lead_by_different_metrics_share_no_victory() {
    let low = [0.7, 0.5, 0.5];
    let high = [0.5, 0.7, 0.5];
    let table = table(
        &PLAIN,
        &[
            ("union", &low),
            ("criteria/plot", &high),
            ("criteria/style", &high),
            ("criteria/fun", &[0.4, 0.4, 0.4]),
        ],
    );
    let found = judge(&table);
    assert_eq!(found.reasons, [Reason::Split { leaders: vec!["rain".into(), "tale".into()] }]);
    assert_eq!(found.groups[1].leads, [("tale".to_owned(), 2)]);
    assert_eq!(found.groups[1].columns, 3);
    insta::assert_snapshot!(said(&table));
}

#[test]
fn a_leader_that_another_system_beats_by_some_metric_is_no_winner() {
    // By bleu, rain and snow share the lead: rain is better than the leader by union.
    let columns: [(&str, &[f64]); 2] = [("union", &[0.5, 0.7, 0.5]), ("bleu", &[0.7, 0.5, 0.7])];
    let table = table(&PLAIN, &columns);
    let found = judge(&table);
    assert!(matches!(&found.reasons[..], [Reason::Contradicted { by, .. }] if by.len() == 2));
    insta::assert_snapshot!(said(&table));
}

#[test]
fn where_nobody_leads_or_there_are_too_few_resamples_nobody_wins() {
    let level = table(&PLAIN, &[("union", &[0.5, 0.5, 0.5]), ("bleu", &[0.5, 0.5, 0.5])]);
    assert_eq!(judge(&level).reasons, [Reason::NobodyLeads]);
    insta::assert_snapshot!("nobody_leads", said(&level));
    let clear = table(&PLAIN, &[("union", &[0.5, 0.9, 0.5]), ("bleu", &[0.5, 0.9, 0.5])]);
    let few = options().with(|it| it.resamples = 99);
    assert_eq!(
        judge_with(&clear, &few).0.reasons,
        [Reason::NobodyLeads, Reason::FewResamples { tests: 6, needed: 120 }]
    );
    insta::assert_snapshot!("few_resamples", said_with(&clear, &few));
}

#[test]
fn with_one_metric_the_conclusion_is_the_headline_unless_the_verdict_takes_it_back() {
    let table_of = |short: f64| {
        let systems = [("rain", short, None), ("tale", 100.0, None)];
        table(&systems, &[("union", &[0.7, 0.5])])
    };
    assert!(said(&table_of(100.0)).starts_with("rain is better than tale by union (p < 0.001)"));
    let found = said(&table_of(20.0));
    assert!(!found.contains("is better than"), "{found}");
    insta::assert_snapshot!(found);
}

#[test]
fn one_system_is_nothing_to_compare() {
    let columns: [(&str, &[f64]); 2] = [("union", &[0.5]), ("bleu", &[0.5])];
    insta::assert_snapshot!(said(&table(&PLAIN[..1], &columns)));
}

/// A value that grows with the logarithm of the length and knows no system.
pub(super) fn by_length(table: &ScoreTable) -> Vec<Value> {
    let value = |(at, row): (usize, &Row)| {
        let words = row.words.unwrap() as f64;
        Ok(0.2 * words.ln() + 0.05 * noise(40_000 + at))
    };
    table.rows().iter().enumerate().map(value).collect()
}

#[test]
fn a_lead_that_comes_from_length_is_lost_by_adjustment() {
    let systems = [("rain", 100.0, None), ("tale", 150.0, None), ("snow", 100.0, None)];
    let mut table = ScoreTable::new(rows(&systems));
    let values = by_length(&table);
    table.push(Column::metric("union", Direction::Higher), values.clone());
    table.push(Column::metric("twice", Direction::Higher), values);
    let found = judge(&table);
    assert_eq!(found.leader.as_deref(), Some("tale"), "it leads without regard to length");
    assert_eq!(found.columns[0].lead.alone(), Some("tale"));
    assert_eq!(found.reasons, [Reason::LostByAdjustment { system: "tale".into(), now: None }]);
    assert!(found.length.apart.is_empty() && found.length.percentiles.is_none());
    // The adjusted means are those of an analysis of covariance: the systems are level.
    let means: Vec<f64> = found.length.adjusted.as_ref().unwrap().columns[0]
        .means
        .iter()
        .map(|one| one.mean.clone().unwrap())
        .collect();
    assert!(means[0] - means[2] < 0.02, "{means:?}");
    insta::assert_snapshot!(said(&table));
}

#[test]
fn a_lead_that_does_not_come_from_length_stays() {
    let systems = [("rain", 100.0, None), ("tale", 150.0, None)];
    let table = table(&systems, &[("union", &[0.5, 0.8]), ("bleu", &[0.5, 0.8])]);
    assert_eq!(judge(&table).winner(), Some("tale"));
    insta::assert_snapshot!(said(&table));
}

/// Norms by which longer human stories score higher: up to 140 words about 0.5, then about 0.8.
pub(super) fn norms() -> Norms {
    let class = |longest, from: usize| LengthClass {
        longest,
        counts: (0..20).map(|bin| u64::from((from..from + 6).contains(&bin))).collect(),
    };
    Norms {
        source: "stories of the test".into(),
        low: 0.0,
        high: 1.0,
        classes: vec![class(Some(140), 8), class(None, 14)],
    }
}

#[test]
fn a_lead_that_human_stories_of_the_same_length_do_not_confirm_is_lost() {
    let systems = [("rain", 100.0, None), ("tale", 160.0, None)];
    let mut table = ScoreTable::new(rows(&systems));
    let column = Column::metric("union", Direction::Higher).with(|it| it.norms = Some(norms()));
    table.push(column, levels(0, &[0.50, 0.60]));
    table.push(Column::metric("bleu", Direction::Higher), levels(1, &[0.5, 0.5]));
    let found = judge(&table);
    let now = Some("rain".to_owned());
    assert_eq!(found.reasons, [Reason::LostByPercentile { system: "tale".into(), now }]);
    insta::assert_snapshot!(said(&table));
}

#[test]
fn lengths_that_hardly_overlap_cannot_be_told_from_the_lead() {
    let systems = [("rain", 54.0, None), ("tale", 1476.0, None), ("snow", 1200.0, None)];
    let columns: [(&str, &[f64]); 2] = [("union", &[0.9, 0.5, 0.5]), ("bleu", &[0.5, 0.5, 0.5])];
    let short = table(&systems, &columns);
    let apart = |other: &str| Reason::LengthsApart { system: "rain".into(), other: other.into() };
    assert_eq!(judge(&short).reasons, [apart("tale"), apart("snow")]);
    insta::assert_snapshot!("apart", said(&short));
    // Where nobody leads, it is still said.
    let level: [(&str, &[f64]); 2] = [("union", &[0.5, 0.5, 0.5]), ("bleu", &[0.5, 0.5, 0.5])];
    insta::assert_snapshot!("apart_and_level", said(&table(&systems, &level)));
    let two = said(&table(&systems[..2], &level.map(|(key, own)| (key, &own[..2]))));
    let only = "The lengths of the stories of rain and of tale hardly overlap; their comparison";
    assert!(two.contains(only), "{two}");
}

#[test]
fn lengths_come_from_the_rows_or_from_a_column_or_are_unknown() {
    let mut bare = rows(&[("rain", 50.0, None), ("tale", 100.0, None)]);
    let words: Vec<Value> = bare.iter().map(|row| Ok(row.words.unwrap() as f64)).collect();
    bare.iter_mut().for_each(|row| row.words = None);
    let mut table = ScoreTable::new(bare);
    table.push(Column::metric("union", Direction::Higher), levels(0, &[0.5, 0.8]));
    table.push(Column::metric("bleu", Direction::Higher), levels(1, &[0.5, 0.8]));
    let unknown = judge(&table);
    assert_eq!((&unknown.length.source, unknown.winner()), (&LengthSource::Unknown, Some("tale")));
    insta::assert_snapshot!("lengths_unknown", said(&table));
    table.push(Column::metric("text-length", Direction::None), words);
    let measured = judge(&table);
    assert_eq!(measured.length.source, LengthSource::Column("text-length".into()));
    assert!(measured.length.differs);
    insta::assert_snapshot!("lengths_of_a_column", said(&table));
}

#[test]
fn a_lead_that_hangs_on_flagged_stories_is_lost() {
    let systems = [("rain", 100.0, None), ("tale", 100.0, Some(("preamble", 3)))];
    let mut table = ScoreTable::new(rows(&systems));
    let mut values = levels(0, &[0.5, 0.5]);
    (ITEMS..2 * ITEMS)
        .filter(|at| (at - ITEMS).is_multiple_of(3))
        .for_each(|at| values[at] = Ok(0.9));
    table.push(Column::metric("union", Direction::Higher), values.clone());
    table.push(Column::metric("twice", Direction::Higher), values);
    let found = judge(&table);
    let lost = Reason::LostWithoutFlagged { system: "tale".into(), now: None };
    assert_eq!(found.reasons, [lost]);
    assert_eq!((found.flags.left[0], found.flags.left[1]), (40, 26));
    insta::assert_snapshot!(said(&table));
}

#[test]
fn a_winner_whose_stories_are_mostly_flagged_is_none() {
    let systems = [("rain", 100.0, None), ("tale", 100.0, Some(("markdown", 1)))];
    let mut table = table(&systems, &[("union", &[0.5, 0.8]), ("bleu", &[0.5, 0.8])]);
    let found = judge(&table);
    assert!(found.reasons.contains(&Reason::FewUnflagged {
        system: "tale".into(),
        left: 0,
        stories: 40
    }));
    insta::assert_snapshot!("mostly_flagged", said(&table));
    // Few flags change nothing, and neither do equally many cut stories.
    let cut = |name| (name, 100.0, Some(("cut", 2)));
    let rare = [("rain", 100.0, Some(("outro", 30))), ("tale", 100.0, None)];
    for systems in [[cut("rain"), cut("tale")], rare] {
        table = self::table(&systems, &[("union", &[0.5, 0.8])]);
        assert_eq!((judge(&table).winner(), judge(&table).flags.raised.len()), (Some("tale"), 0));
    }
    let cut = [cut("rain"), ("tale", 100.0, None)];
    let found = judge(&self::table(&cut, &[("union", &[0.5, 0.8])]));
    assert_eq!((found.winner(), found.flags.raised[0].flag.as_str()), (Some("tale"), "cut"));
}

#[test]
fn flags_are_said_also_where_no_column_is_counted() {
    let systems = [("rain", 100.0, None), ("tale", 100.0, Some(("preamble", 3)))];
    let mut table = ScoreTable::new(rows(&systems));
    table.push(Column::metric("text-length", Direction::None), levels(0, &[0.5, 0.8]));
    let found = judge(&table);
    assert_eq!((found.flags.raised.len(), found.reasons), (1, vec![Reason::NoVote]));
    assert!(said(&table).starts_with("tale scores higher than rain by text-length"));
}

pub(super) fn validity(words: (u64, u64)) -> Option<Validity> {
    Some(Validity {
        measures: "whether a story hangs together".into(),
        tested: "short stories".into(),
        doubtful: "stories by recent models".into(),
        words,
    })
}

#[test]
fn a_column_that_was_tested_on_other_lengths_makes_no_winner_alone() {
    let table_for = |words: (u64, u64), other: &[f64]| {
        let mut table = ScoreTable::new(rows(&PLAIN));
        let column =
            Column::metric("union", Direction::Higher).with(|it| it.validity = validity(words));
        table.push(column, levels(0, &[0.5, 0.8, 0.5]));
        table.push(Column::metric("bleu", Direction::Higher), levels(1, other));
        table
    };
    let level = [0.5, 0.5, 0.5];
    let inside = table_for((20, 500), &level);
    assert_eq!(judge(&inside).winner(), Some("tale"));
    insta::assert_snapshot!("tested_on_these_lengths", said(&inside));
    let outside = table_for((500, 900), &level);
    let columns = vec!["union".into()];
    assert_eq!(
        judge(&outside).reasons,
        [Reason::OutsideLengths { system: "tale".into(), columns }]
    );
    insta::assert_snapshot!("tested_on_other_lengths", said(&outside));
    let mut several = table_for((500, 900), &level);
    let second =
        Column::metric("ter", Direction::Higher).with(|it| it.validity = validity((600, 900)));
    several.push(second, levels(2, &[0.5, 0.8, 0.5]));
    let text = said(&several);
    let expected = "tale leads only by union and ter, and more than half of the stories have other \
                    lengths than those that they were tested on.";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("unlike those on which union and ter were tested."), "{text}");
    let helped = table_for((500, 900), &[0.5, 0.8, 0.5]);
    assert_eq!(judge(&helped).winner(), Some("tale"), "bleu does not depend on it");
}

/// The same with ratings of people: one per story, around the level of its system.
pub(super) fn rated(systems: &[System<'_>], criteria: &[(&str, &[f64])]) -> Vec<Row> {
    let mut all = rows(systems);
    for (at, (criterion, own)) in criteria.iter().enumerate() {
        for (row, value) in all.iter_mut().zip(levels(50 + at, own)) {
            let mut ratings = std::mem::take(&mut row.ratings);
            ratings.push(criterion, value.ok());
            row.ratings = ratings;
        }
    }
    all
}

#[test]
fn people_outrank_metrics() {
    let low = [0.5, 0.8, 0.5];
    let mut table = ScoreTable::new(rated(&PLAIN, &[("plot", &low), ("fun", &[0.5, 0.5, 0.5])]));
    let column = Column::metric("union", Direction::Higher);
    // union prefers rain, and does not run against the ratings within the other two systems.
    let mut values = levels(0, &[0.8, 0.6, 0.3]);
    for (at, value) in values.iter_mut().enumerate() {
        *value = Ok(value.clone().unwrap() + 0.001 * noise(at));
    }
    table.push(column, values);
    let found = judge(&table);
    assert_eq!(found.winner(), Some("tale"));
    assert_eq!(found.columns[0].key.as_str(), "plot", "ratings come first");
    assert_eq!(found.columns[2].vote, Vote::Votes);
    insta::assert_snapshot!(said(&table));
}

#[test]
fn a_metric_against_the_ratings_is_not_counted() {
    let mut table = ScoreTable::new(rated(&PLAIN, &[("plot", &[0.5, 0.8, 0.5])]));
    let against = table.values(0).iter().map(|value| Ok(1.0 - value.clone().unwrap())).collect();
    table.push(Column::metric("union", Direction::Higher), against);
    let lower = table.values(1).to_vec();
    table.push(Column::metric("ter", Direction::Lower), lower);
    let found = judge(&table);
    assert!(matches!(&found.columns[1].vote, Vote::Backwards { r, .. } if *r < -0.99));
    assert_eq!(found.columns[2].vote, Vote::Votes, "less is better");
    let cell = not_counted(&found.columns[1].vote).unwrap();
    assert_eq!(cell, "not counted: it runs against the ratings of plot (r = -1.00)");
    insta::assert_snapshot!(said(&table));
}

#[test]
fn stories_of_people_do_not_compete_with_several_machines() {
    let systems = [PLAIN[0], PLAIN[1], ("human", 400.0, None)];
    let columns: [(&str, &[f64]); 2] = [("union", &[0.5, 0.7, 0.9]), ("bleu", &[0.5, 0.5, 0.9])];
    let table = table(&systems, &columns);
    let found = judge(&table);
    assert_eq!(found.winner(), Some("tale"));
    assert!(!found.length.differs, "the lengths of people do not matter for it");
    insta::assert_snapshot!(said(&table));
}

#[test]
fn every_flag_has_its_sentence() {
    let mut text = String::new();
    let names = [
        "preamble",
        "outro",
        "prompt",
        "markdown",
        "token",
        "the-end",
        "cut",
        "refusal",
        "empty",
        "very short",
        "without sentence ends",
        "poem",
        "German",
        "a flag of a later version",
    ];
    for name in names {
        let systems = [("rain", 100.0, None), ("tale", 100.0, Some((name, 3)))];
        let table = table(&systems, &[("union", &[0.5, 0.5])]);
        let (verdict, found) = judge_with(&table, &options().with(|it| it.resamples = 99));
        let details = verdict_words(&verdict, &found).details;
        let _ = writeln!(text, "{name}: {}", details[0]);
    }
    insta::assert_snapshot!(text);
}

/// Four systems with lengths from 54 to 1,476 words and habits of chat. union prefers the shortest
/// stories, and the seven criteria the longest.
fn issue() -> ScoreTable {
    let systems = [
        ("gpt2-small", 54.0, Some(("preamble", 3))),
        ("gpt2-large", 160.0, None),
        ("llama", 610.0, Some(("markdown", 4))),
        ("gpt-4", 1476.0, Some(("the-end", 5))),
    ];
    let mut table = ScoreTable::new(rows(&systems));
    let (validity, norms) = (validity((20, 500)), Some(norms()));
    let column = Column::metric("union", Direction::Higher)
        .with(|it| (it.validity, it.norms) = (validity, norms));
    table.push(column, levels(0, &[0.8, 0.5, 0.4, 0.3]));
    for at in 0..7 {
        let key = format!("criteria/criterion-{}", at + 1);
        table.push(
            Column::metric(key.as_str(), Direction::Higher),
            levels(at + 1, &[0.3, 0.4, 0.5, 0.8]),
        );
    }
    table
}

#[test]
fn the_case_that_began_this_names_no_winner_and_says_why() {
    let table = issue();
    let options = Options::default().with(|it| it.resamples = 9999);
    let (found, comparisons) = judge_with(&table, &options);
    assert_eq!((found.winner(), found.leader.as_deref()), (None, None));
    assert!(found.length.differs && found.length.apart.len() > 2);
    assert_eq!(found.flags.raised.len(), 3);
    let sheet = text::sheet(&leaders(&found, &comparisons));
    let said = said_with(&table, &options);
    assert!(!said.contains("better than all"), "{said}");
    insta::assert_snapshot!(format!("{said}\n{sheet}"));
    // One column alone cannot make a winner either.
    let union = options.with(|it| it.columns = vec!["union".into()]);
    let alone = said_with(&table, &union);
    assert!(!alone.contains("better than all"), "{alone}");
    insta::assert_snapshot!("the_case_by_union", alone);
}

#[test]
fn a_verdict_is_written_and_read_back() {
    let found = judge(&issue());
    let json = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<Verdict>(&json).unwrap(), found);
}
