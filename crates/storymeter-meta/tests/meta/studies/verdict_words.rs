//! The sentences about verdicts that the tests of the decisions do not print, the signs of the
//! matrix, and how far columns are trusted.

use storymeter_core::{
    Absence, Column, Counts, Direction, LengthClass, Norms, Range, Row, ScoreTable, Value,
};
use storymeter_meta::systems::verdict::{ColumnTrust, Reason, StoriesLeft, StoryCounts};
use storymeter_meta::view::{
    DescribedComparisons, TrustWords, by_one_column, conclusion, legend, text, verdict_sheets,
};
use storymeter_stats::Correction;

use super::verdict::{
    PLAIN, by_length, judge, judge_with, levels, norms, options, rated, rows, said, said_with,
    table, validity,
};
use crate::studies::support::noise;

#[test]
fn a_lead_that_only_a_weaker_correction_gives_survives_no_stricter_one() {
    let options = options().with(|it| it.correction = Correction::BenjaminiHochberg);
    let table_of =
        |step: u32| table(&PLAIN, &[("union", &[0.5, 0.5 + f64::from(step) / 400.0, 0.5])]);
    let is_lost = |table: &ScoreTable| {
        let found = judge_with(table, &options).0;
        found.columns[0].lead.alone().is_some() && found.leader.is_none()
    };
    let table = (1..40).map(table_of).find(is_lost).expect("a lead between the two corrections");
    let text = said_with(&table, &options);
    assert!(text.starts_with("No clear winner by union: tale has the best mean"), "{text}");
    assert!(text.contains("\nNo lead survives Holm's correction over 3 tests.\n"), "{text}");
    let matrix = legend(&judge_with(&table, &options).0, &judge_with(&table, &options).0.columns);
    assert!(matrix.starts_with("☆ better than all others by this row alone"), "{matrix}");
}

#[test]
fn no_sentence_about_one_column_calls_a_system_better_that_is_not_the_winner() {
    let low = [0.7, 0.5, 0.5];
    let high = [0.5, 0.7, 0.5];
    let split = table(&PLAIN, &[("union", &low), ("bleu", &high)]);
    let (found, comparisons) = judge_with(&split, &options());
    assert!(conclusion(&comparisons[0]).starts_with("rain is better than both others"));
    let document = DescribedComparisons::new(&found, &comparisons);
    for (one, best) in document.comparisons.iter().zip(["rain", "tale"]) {
        let expected = format!("No clear winner by {}: {best} has", one.comparison.column.key);
        assert!(one.conclusion.starts_with(&expected), "{}", one.conclusion);
    }
    let alone = by_one_column("union", &document.comparisons[0].conclusion);
    assert!(alone.starts_with("By union alone: No clear winner by union"), "{alone}");
    // A winner is one by every column that it leads by.
    let clear = table(&PLAIN, &[("union", &low), ("bleu", &low)]);
    let (found, comparisons) = judge_with(&clear, &options());
    let document = DescribedComparisons::new(&found, &comparisons);
    assert!(document.comparisons.iter().all(|one| one.conclusion.contains("rain is better than")));
    let matrix = legend(&found, &found.columns);
    assert!(matrix.starts_with("★ significantly better than all others, also after"), "{matrix}");
    assert!(matrix.contains("over all 6 tests of the table. ↑ higher"), "{matrix}");
}

#[test]
fn systems_that_share_a_lead_have_a_sign_and_a_page_without_leads_says_so() {
    let shared = judge(&table(&PLAIN, &[("union", &[0.9, 0.9, 0.5])]));
    let matrix = legend(&shared, &shared.columns);
    assert!(matrix.starts_with("≈ shares the lead"), "{matrix}");
    let level = judge(&table(&PLAIN[..2], &[("union", &[0.5, 0.5])]));
    assert_eq!((level.tests, level.winner()), (1, None));
    assert!(legend(&level, &level.columns).starts_with("No system leads by any row."));
    let clear = judge(&table(&PLAIN[..2], &[("union", &[0.5, 0.9])]));
    assert!(legend(&clear, &clear.columns).contains("Holm's correction for the one test."));
}

#[test]
fn a_lead_that_human_stories_of_the_same_length_confirm_is_said_to_stay() {
    let column = || Column::metric("union", Direction::Higher).with(|it| it.norms = Some(norms()));
    let systems = [("rain", 100.0, None), ("tale", 140.0, None)];
    let mut table = ScoreTable::new(rows(&systems));
    table.push(column(), levels(0, &[0.45, 0.95]));
    table.push(Column::metric("bleu", Direction::Higher), levels(1, &[0.5, 0.5]));
    assert_eq!(judge(&table).winner(), Some("tale"));
    let both = "tale still leads when stories are compared with human stories of the same length, \
                and after an adjustment for length.";
    assert!(said(&table).contains(both), "{}", said(&table));
    // Human stories of all lengths in one class confirm a lead that an adjustment takes away.
    let mut table = ScoreTable::new(rows(&[("rain", 100.0, None), ("tale", 150.0, None)]));
    let classes = vec![LengthClass { longest: None, counts: vec![1; 20] }];
    let one_class = Norms { classes, ..norms() };
    let half = |value: Value| value.map(|value| value / 2.0);
    let values: Vec<Value> = by_length(&table).into_iter().map(half).collect();
    let column = column().with(|it| it.norms = Some(one_class));
    table.push(column, values);
    table.push(Column::metric("bleu", Direction::Higher), levels(1, &[0.5, 0.5]));
    let lost = Reason::LostByAdjustment { system: "tale".into(), now: None };
    assert_eq!(judge(&table).reasons, [lost]);
    let one = "tale still leads when stories are compared with human stories of the same length.\n";
    assert!(said(&table).contains(one), "{}", said(&table));
}

#[test]
fn where_no_system_leads_overall_it_is_said_whether_length_explains_the_leads() {
    // By union, tale is better by more than length; by twice, by nothing else; by bleu, rain is.
    let systems = [("rain", 100.0, None), ("tale", 150.0, None)];
    let mut table = ScoreTable::new(rows(&systems));
    let values = by_length(&table);
    let column = Column::metric("union", Direction::Higher).with(|it| it.norms = Some(norms()));
    table.push(column, levels(0, &[0.45, 0.95]));
    table.push(Column::metric("twice", Direction::Higher), values);
    table.push(Column::metric("bleu", Direction::Higher), levels(1, &[0.9, 0.5]));
    let (found, comparisons) = judge_with(&table, &options());
    assert_eq!(found.leader, None);
    let expected = "After an adjustment for length, 2 of the 3 leads remain; compared with human \
                    stories of the same length, the lead that can be checked remains.";
    assert!(said(&table).contains(expected), "{}", said(&table));
    // The means that allow for length stand beside the plain ones.
    let sheets = verdict_sheets(&found, &comparisons);
    let shown: Vec<String> = sheets.iter().filter(|one| one.brief).map(text::sheet).collect();
    insta::assert_snapshot!("means_by_length", shown[0]);
    let heads = |at: usize| sheets[at].columns.iter().map(|head| head.name.as_str());
    assert_eq!(sheets[4].id, "systems-twice");
    assert!(heads(4).any(|name| name == "adjusted") && !heads(4).any(|name| name == "percentile"));
    let matrix = legend(&found, &found.columns);
    assert!(matrix.contains("adj.: the mean of the scores less"), "{matrix}");
}

#[test]
fn a_flag_is_set_beside_the_smallest_share_of_another_system() {
    let of = |rain: usize, tale: usize| {
        let systems =
            [("rain", 100.0, Some(("preamble", rain))), ("tale", 100.0, Some(("preamble", tale)))];
        said(&table(&systems, &[("union", &[0.5, 0.5])]))
    };
    let contrast = of(20, 3);
    let expected = "35% of the texts of tale begin with words to the user, but only 5% of those of \
                    rain; the option clean of score removes that.";
    assert!(contrast.contains(expected), "{contrast}");
    let alike = of(3, 3);
    let expected = "35% of the texts of rain begin with words to the user; the option clean";
    assert!(alike.contains(expected), "{alike}");
}

#[test]
fn a_flag_that_a_third_system_has_too_is_not_said_to_be_rare() {
    let of = |rain| {
        let flagged = |name, every| (name, 100.0, Some(("cut", every)));
        let systems = [flagged("rain", rain), flagged("tale", 1), flagged("snow", 3)];
        let text = said(&table(&systems, &[("union", &[0.5, 0.5, 0.9])]));
        text.lines().find(|line| line.starts_with("100%")).expect("a flag").to_owned()
    };
    let stop = "100% of the texts of tale stop in the middle of a sentence, but only";
    assert_eq!(of(20), format!("{stop} 5% of those of rain."));
    assert_eq!(of(3), format!("{stop} 35% of those of rain and snow."));
    let systems = [("rain", 100.0, None), ("tale", 100.0, Some(("cut", 1))), PLAIN[2]];
    let text = said(&table(&systems, &[("union", &[0.5, 0.5, 0.9])]));
    assert!(text.contains("of a sentence, and none of those of rain and snow.\n"), "{text}");
}

#[test]
fn a_lead_over_a_system_without_unflagged_stories_cannot_be_checked() {
    let judged = |keep: usize| {
        let mut rows = rows(&[PLAIN[0], PLAIN[1]]);
        rows.iter_mut().take(40 - keep).for_each(|row| row.flags = vec!["cut".into()]);
        let mut table = ScoreTable::new(rows);
        table.push(Column::metric("union", Direction::Higher), levels(0, &[0.5, 0.8]));
        (judge(&table), said(&table))
    };
    let cannot = "Whether tale still leads without these stories cannot be checked: ";
    for (keep, left) in [
        (0, "none of the 40 stories of rain would remain.\n"),
        (5, "only 5 of 40 stories of rain would remain, which is too few to compare them.\n"),
    ] {
        let (found, text) = judged(keep);
        let few = vec![StoriesLeft { system: "rain".into(), left: keep, stories: 40 }];
        let unchecked = Reason::UncheckedWithoutFlagged { system: "tale".into(), few };
        assert_eq!(found.reasons, [unchecked]);
        assert!(text.contains(&format!("{cannot}{left}")), "{text}");
        assert!(!text.contains("no longer leads") && !text.contains("without them"), "{text}");
    }
    // Six items are enough for a test; that few of many are left is said all the same.
    let (found, text) = judged(6);
    assert_eq!(found.winner(), Some("tale"));
    let few = "\nOnly 6 of 40 stories of rain would remain without them.\n";
    assert!(text.contains(few), "{text}");
}

#[test]
fn an_adjusted_mean_that_no_stories_can_have_is_left_out() {
    let mut table = ScoreTable::new(rows(&[("rain", 100.0, None), ("tale", 400.0, None)]));
    // Longer stories have more, and yet the system with the long stories has little: at the length
    // of both systems together it would have less than nothing.
    let words: Vec<f64> = table.rows().iter().map(|row| row.words.unwrap() as f64).collect();
    let value = |(at, words): (usize, f64)| {
        let level = if at < 40 { 5.0 + (words / 60.0).ln() } else { (words / 240.0).ln() };
        Ok(level + 0.1 * noise(at))
    };
    let column = Column::metric("union", Direction::Lower);
    let values: Vec<Value> = words.into_iter().enumerate().map(value).collect();
    table.push(column.with(|it| it.range = Range::NOT_NEGATIVE), values);
    let (found, comparisons) = judge_with(&table, &options());
    let means = &found.length.adjusted.as_ref().unwrap().columns[0].means;
    let mean = |name: &str| means.iter().find(|one| one.system == name).unwrap().mean.clone();
    assert!(mean("rain").unwrap() > 5.0);
    let reason = "the adjustment leaves the possible values (0 and up)";
    assert_eq!(mean("tale").unwrap_err().to_string(), reason);
    // The sheet names the system that a reason is about, which stands behind its rank.
    let sheets = verdict_sheets(&found, &comparisons);
    let shown: Vec<String> = sheets.iter().map(text::sheet).collect();
    assert!(shown.concat().contains(&format!("\n  nan: tale, adjusted: {reason}\n")), "{shown:?}");
}

#[test]
fn a_warning_about_the_same_systems_is_said_once_for_all_columns() {
    // Of each item, rain and tale have four stories and snow has two; some have no value.
    let counts = [("rain", 4), ("snow", 2), ("tale", 4)];
    let row = |item: usize, system: &str, at: usize| Row {
        id: format!("{item}-{at}"),
        system: Some(system.to_owned()),
        item: item.to_string(),
        words: Some(100),
        ..Row::default()
    };
    let rows: Vec<Row> = (0..14)
        .flat_map(|item| counts.map(|(name, count)| (item, name, count)))
        .flat_map(|(item, name, count)| (0..count).map(move |at| row(item, name, at)))
        .collect();
    let column = |turned: bool| -> Vec<Value> {
        let value = |(at, row): (usize, &Row)| {
            let system = row.system.as_deref().unwrap();
            let better = (system == "rain") != turned;
            match system == "tale" && row.item.parse::<usize>().unwrap() < 3 {
                true => Err(Absence::Empty),
                false => Ok(f64::from(u8::from(better)) * 0.3 + 2.0 * noise(at)),
            }
        };
        rows.iter().enumerate().map(value).collect()
    };
    let columns = [column(false), column(true)];
    let mut table = ScoreTable::new(rows.clone());
    for (key, values) in ["union", "bleu"].into_iter().zip(columns) {
        table.push(Column::metric(key, Direction::Higher), values);
    }
    let (found, comparisons) = judge_with(&table, &options());
    let told = DescribedComparisons::new(&found, &comparisons).warnings();
    let about = |what: &str| told.iter().filter(|line| line.contains(what)).collect::<Vec<_>>();
    let several = "union and 1 other column: rain and snow have several stories for 14 items, and \
                   tale for 11 items; their mean counts in paired tests.";
    assert_eq!(about("several stories"), [several]);
    let shared = |one: &str, other: &str| {
        format!(
            "union and 1 other column: {one} and {other} are compared on the 11 items that both \
             have, of up to 14."
        )
    };
    let mut pairs = about("are compared on");
    pairs.sort();
    assert_eq!(pairs, [&shared("rain", "tale"), &shared("snow", "tale")]);
    // The tests count items, and so do the warnings.
    let few = about("too few");
    assert!(
        !few.is_empty() && few.iter().all(|line| line.contains(" items are too few")),
        "{told:?}"
    );
}

#[test]
fn a_trained_column_warns_of_lengths_and_of_one_frequent_flag_and_not_of_cut_or_markdown() {
    let validity = validity((20, 500)).unwrap();
    let of = |flags: &[(&'static str, u64)], outside: u64| {
        let counts = StoryCounts { texts: 100, measured: 100, outside, flags: flags.to_vec() };
        ColumnTrust::new(&validity, &counts)
    };
    // A flag counts from its own share on, and the line says what the texts have.
    let calm = [
        of(&[], 10),
        of(&[("cut", 15), ("markdown", 60)], 0),
        of(&[("preamble", 10), ("outro", 10)], 0),
        of(&[("a flag of a later version", 90)], 0),
    ];
    let loud = [of(&[], 11), of(&[("preamble", 11), ("outro", 40)], 0), of(&[("poem", 20)], 30)];
    let line = |trust: &ColumnTrust| {
        let key = "union".into();
        TrustWords::new([(&key, trust)])
    };
    for trust in &calm {
        let words = line(trust);
        assert!(!trust.warns && !words.lines[0].to_string().contains("Here"), "{trust:?}");
        let brief = "union was only tested on some kinds of story, and may be wrong on others.";
        assert_eq!(words.brief.as_deref(), Some(brief));
    }
    let ends: Vec<String> = loud
        .iter()
        .map(|trust| {
            let words = line(trust);
            assert!(trust.warns && words.lines[0].is_warning);
            assert!(words.brief.unwrap().starts_with("Warning: many of these stories are unlike"));
            let text = words.lines[0].to_string();
            text[text.find("Here").expect("what is different here")..].to_owned()
        })
        .collect();
    assert_eq!(
        ends,
        [
            "Here, 11% of these stories have other lengths.",
            "Here, 40% of the texts end with words to the user.",
            "Here, 30% of these stories have other lengths and 20% of the texts look like \
             something else than a story (poem).",
        ]
    );
    assert_eq!(TrustWords::new([]), TrustWords::default());
}

#[test]
fn columns_of_a_file_are_trusted_by_the_counts_of_its_header() {
    let column = |key: &str, outside: u64| {
        Column::metric(key, Direction::Higher).with(|it| {
            it.validity = validity((20, 500));
            it.counts = Counts { present: 50, outside, ..Counts::default() };
        })
    };
    let columns = [column("criteria/a", 0), column("criteria/b", 0), column("union", 20)];
    let words = TrustWords::of_columns(&columns);
    let lines: Vec<String> = words.lines.iter().map(ToString::to_string).collect();
    assert!(lines[0].starts_with("all 2 criteria: whether a story hangs together"), "{lines:?}");
    assert!(
        lines[1].starts_with("Warning: union: ")
            && lines[1].ends_with("40% of these stories have other lengths."),
        "{lines:?}"
    );
    let calm = TrustWords::of_columns(&columns[..2]).brief.unwrap();
    assert!(calm.starts_with("all 2 criteria were only tested"), "{calm}");
    assert_eq!(TrustWords::of_columns(&[Column::metric("bleu", Direction::Higher)]).brief, None);
}

#[test]
fn ratings_that_favour_different_systems_make_no_winner() {
    let criteria: [(&str, &[f64]); 2] = [("plot", &[0.5, 0.8, 0.5]), ("fun", &[0.8, 0.5, 0.5])];
    let mut table = ScoreTable::new(rated(&PLAIN, &criteria));
    table.push(Column::metric("union", Direction::Higher), levels(0, &[0.5, 0.5, 0.5]));
    let text = said(&table);
    let expected = "No clear winner: tale leads by 1 of 2 ratings of people; rain leads by 1 of 2 \
                    ratings of people.\n";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.contains("\nDifferent ratings of people favour different systems.\n"), "{text}");
}

#[test]
fn where_people_are_worse_than_some_machine_that_is_said() {
    let systems = [PLAIN[0], PLAIN[1], ("human", 100.0, None)];
    let columns: [(&str, &[f64]); 2] = [("union", &[0.5, 0.7, 0.9]), ("bleu", &[0.5, 0.7, 0.6])];
    let text = said(&table(&systems, &columns));
    let expected = "The stories of human are better than those of all machines by 1 of 2 columns, \
                    and worse than those of some machine by 1.";
    assert!(text.contains(expected), "{text}");
}
