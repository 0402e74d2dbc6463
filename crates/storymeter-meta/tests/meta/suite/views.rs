//! Tables and sentences.

use storymeter_core::{Aspect, AspectTest};
use storymeter_meta::suite::{LeftOut, MissingAspect, SuiteOptions, SuiteScores, analyse};
use storymeter_meta::view::{
    self, Subject, suite_cells, suite_sentence, suite_sheets, text, typeset,
};

use crate::suite::support::{aspect, example, metrics, present, run, shifted, suite_of};

fn with_missing() -> SuiteScores {
    let mut scores = example();
    let reason = "needs a file of paraphrases".to_owned();
    scores.missing.push(MissingAspect { aspect: Aspect::Paraphrase, reason });
    let mut empty = aspect(Aspect::Consistency, &[(Vec::new(), Vec::new())]);
    empty.left_out.push(LeftOut { reason: "no word to negate".to_owned(), stories: 12 });
    scores.aspects.push(empty);
    scores
}

#[test]
fn a_table_has_one_row_per_aspect() {
    let result = run(&with_missing());
    let sheets = suite_sheets(&result);
    assert_eq!(sheets.len(), 1);
    let names: Vec<&str> = sheets[0].rows.iter().map(|row| row[0].text()).collect();
    let expected: Vec<&str> = result.outline().iter().map(|(aspect, _)| aspect.name()).collect();
    assert_eq!(names, expected);
    assert_eq!(
        sheets[0].cell("paraphrase", "verdict").unwrap().text(),
        "needs a file of paraphrases"
    );
    insta::assert_snapshot!(text::sheet(&sheets[0]));
}

#[test]
fn all_formats_have_all_rows() {
    let sheet = &suite_sheets(&run(&with_missing()))[0];
    for printed in
        [typeset::markdown(sheet), typeset::latex(sheet), text::csv(sheet, Default::default())]
    {
        for aspect in ["lexical repetition", "consistency", "paraphrase", "typo"] {
            assert!(printed.lines().any(|line| line.contains(aspect)), "{printed}");
        }
    }
}

fn three() -> SuiteScores {
    let flat = || (vec![1.0; 60], vec![1.0; 60]);
    let aspects = [(Aspect::Time, 0.5), (Aspect::Cause, 2.0), (Aspect::Typo, 0.3)];
    let aspects = aspects.into_iter().enumerate().map(|(at, (own, by))| {
        aspect(own, &[shifted(60, by, at), shifted(60, -by, at + 7), flat()])
    });
    let columns = metrics(&["bleu", "odd", "flat"]);
    let reason = "needs a file of triples".to_owned();
    let missing = vec![MissingAspect { aspect: Aspect::CommonSense, reason }];
    SuiteScores { columns, aspects: aspects.collect(), missing, originals: Vec::new() }
}

#[test]
fn several_metrics_stand_side_by_side_with_the_constant_one_last() {
    let result = run(&three());
    let sheets = suite_sheets(&result);
    assert_eq!(sheets.len(), 4);
    assert_eq!(sheets[0].subject, Subject::SuiteOverview);
    assert_eq!(sheets[0].value("cause", "constant"), 0.5);
    assert!(sheets[0].value("typo", "constant").is_nan(), "nothing that does not vary has a shift");
    let cell = result.cell("bleu", Aspect::Typo).unwrap();
    assert_eq!(sheets[0].value("typo", "bleu"), cell.shift.clone().unwrap());
    insta::assert_snapshot!(text::sheet(&sheets[0]));
}

#[test]
fn compat_shows_both_sizes_and_no_order() {
    let mut scores = example();
    scores.originals = vec![present(&shifted(1000, 0.0, 9).0)];
    let options = SuiteOptions::default().with(|it| it.compat = true);
    let sheet = &suite_sheets(&analyse(&scores, &options).unwrap())[0];
    assert_eq!(sheet.cell("lexical repetition", "pairs").unwrap().text(), "1000+400");
    assert!(sheet.columns.iter().all(|head| head.name != "right order"));
    assert!(sheet.notes.iter().any(|note| note.starts_with("compat:")));
}

#[test]
fn without_typos_there_is_no_column_of_multiples() {
    let sheet = &suite_sheets(&run(&suite_of(&[(Aspect::Time, 0.5)])))[0];
    assert!(sheet.columns.iter().all(|head| head.name != "times typo"));
    assert!(sheet.notes.iter().any(|note| note.contains("no pairs with typos")));
}

#[test]
fn the_flat_table_has_the_fields_of_the_json_file() {
    let result = run(&three());
    let sheet = suite_cells(&result);
    let json = serde_json::to_value(&result.cells[0]).unwrap();
    let fields: Vec<&String> = json.as_object().unwrap().keys().collect();
    let mut heads: Vec<&String> = sheet.columns.iter().map(|head| &head.name).collect();
    heads.sort();
    assert_eq!(heads, {
        let mut fields = fields;
        fields.sort();
        fields
    });
    assert_eq!(sheet.rows.len(), 9);
}

#[test]
fn sentences_say_what_a_metric_sees() {
    use Aspect::*;
    let sentence = |shifts: &[(Aspect, f64)]| suite_sentence(&run(&suite_of(shifts)), "union");
    let mut absent = suite_of(&[(Time, 0.5)]);
    absent.aspects[0].scores[0].twins.fill(crate::suite::support::absent());
    let sentences = [
        suite_sentence(&run(&example()), "union"),
        sentence(&[(Time, 1.2), (Cause, 2.0), (LexicalRepetition, 3.0), (Typo, 1.5)]),
        sentence(&[(Time, 1.2), (Typo, -1.5)]),
        sentence(&[(Time, -1.2), (Cause, 0.0)]),
        sentence(&[(Time, 0.3), (Cause, 0.35), (Consistency, 0.0), (Relatedness, -1.0)]),
        sentence(&[(Time, 0.3), (Cause, 0.35), (Consistency, 0.0)]),
        sentence(&[(Typo, 0.2), (Synonym, 0.5), (Punctuation, 0.2), (Paraphrase, 0.4)]),
        sentence(&[(Typo, 0.0), (Contraction, 0.15)]),
        sentence(&[]),
        suite_sentence(&run(&three()), "flat"),
        suite_sentence(&run(&three()), "odd"),
        suite_sentence(&run(&absent), "union"),
    ];
    insta::assert_snapshot!(sentences.join("\n"));
}

#[test]
fn every_cell_with_a_number_has_a_reaction_of_its_test() {
    for cell in &run(&three()).cells {
        let Some(reaction) = view::reaction(cell) else {
            assert!(cell.shift.is_err() && cell.is_constant());
            continue;
        };
        let of_invariance = matches!(
            reaction,
            view::Reaction::Calm | view::Reaction::SlightlyDisturbed | view::Reaction::Disturbed
        );
        assert_eq!(of_invariance, cell.test == AspectTest::Invariance);
    }
}

#[test]
fn hostile_names_are_text_in_all_views() {
    let hostile = "\u{1b}[2J|=1+1\n";
    let mut scores = three();
    scores.columns[1].key = hostile.into();
    scores.columns[2].key = "x".repeat(500).as_str().into();
    let result = run(&scores);
    for sheet in suite_sheets(&result) {
        assert!(!text::sheet(&sheet).contains('\u{1b}'));
        assert!(!typeset::markdown(&sheet).contains('\u{1b}'));
    }
    let ids: std::collections::BTreeSet<String> =
        suite_sheets(&result).into_iter().map(|sheet| sheet.id).collect();
    assert_eq!(ids.len(), 4);
    assert!(suite_sentence(&result, &"x".repeat(500)).len() < 200);
    assert!(!suite_sentence(&result, "not there").is_empty());
}
