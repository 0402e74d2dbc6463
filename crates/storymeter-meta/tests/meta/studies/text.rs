//! Sheets as text for a terminal and as CSV.

use storymeter_core::Absence;
use storymeter_core::spreadsheet::TextCells;
use storymeter_meta::view::{Cell, Form, Sheet, Subject, text};
use unicode_width::UnicodeWidthStr as _;

fn example() -> Sheet {
    let mut sheet = Sheet::new("table-1", Subject::Other, "Two metrics", Form::Table)
        .column("metric", 0)
        .column("r", 3);
    sheet.push(vec!["BLEU, cased".into(), 0.123_456.into()]);
    sheet.push(vec!["flat".into(), Cell::missing(Absence::Constant)]);
    sheet.push(vec!["tiny".into(), (-0.000_1).into()]);
    sheet.signature = "example|n:3".into();
    sheet
}

#[test]
fn text_is_aligned_and_a_missing_number_gives_its_reason() {
    insta::assert_snapshot!(text::sheet(&example()), @r"
    table-1: Two metrics
      metric          r
      BLEU, cased 0.123
      flat          nan
      tiny        0.000
      nan: flat, r: a column is constant
      example|n:3
    ");
}

#[test]
fn names_from_files_do_nothing_to_a_terminal_and_are_aligned_as_they_are_shown() {
    let hostile = "\u{1b}]0;owned\u{7}\u{202e}\r\n";
    let mut hostile_sheet = Sheet::new("table-1", Subject::Other, hostile, Form::Table)
        .column(format!("metric{hostile}"), 0)
        .column("r", 3)
        .note(hostile);
    hostile_sheet.push(vec![format!("a{hostile}b").into(), 0.5.into()]);
    hostile_sheet.push(vec!["\u{9b}2J".into(), Cell::missing(Absence::Empty)]);
    hostile_sheet.signature = "example\u{1b}[2J|n:3".into();
    let text = text::sheet(&hostile_sheet);
    let obeyed = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
    assert!(!text.contains(obeyed), "{text:?}");
    assert_eq!(text.lines().count(), 7, "{text}");
    let ends: Vec<usize> = text.lines().skip(1).take(3).map(|l| l.chars().count()).collect();
    assert_eq!(ends, [ends[0]; 3], "{text}");
    assert!(
        text::csv(&hostile_sheet, TextCells::Marked).contains(hostile),
        "a file for programs keeps the text"
    );
}

#[test]
fn wide_characters_take_two_columns() {
    let mut sheet =
        Sheet::new("id", Subject::Other, "", Form::Table).column("名前", 0).column("r", 1);
    sheet.push(vec!["雨の物語".into(), 0.5.into()]);
    sheet.push(vec!["tale".into(), (-0.5).into()]);
    let text = text::sheet(&sheet);
    let ends: Vec<usize> = text.lines().skip(1).take(3).map(|line| line.width()).collect();
    assert_eq!(ends, [ends[0]; 3], "{text}");
}

#[test]
fn csv_keeps_full_precision_and_quotes_where_needed() {
    assert_eq!(
        text::csv(&example(), TextCells::Marked),
        "metric,r\n\"BLEU, cased\",0.123456\nflat,nan\ntiny,-0.0001\n"
    );
}

#[test]
fn the_long_form_names_sheet_row_and_column() {
    let long = text::long_csv([&example()], TextCells::Marked);
    assert!(long.contains("table-1,2,r,nan\n"), "{long}");
}

#[test]
fn a_name_cannot_run_as_a_formula_and_a_number_stays_a_number() {
    let mut sheet =
        Sheet::new("@id", Subject::Other, "", Form::Table).column("=1+1", 0).column("-r", 3);
    sheet.push(vec!["+a, b".into(), (-0.5).into()]);
    sheet.push(vec!["'tis".into(), (-1e-9).into()]);
    assert_eq!(text::csv(&sheet, TextCells::Marked), "'=1+1,'-r\n\"'+a, b\",-0.5\n'tis,-1e-9\n");
    assert_eq!(text::csv(&sheet, TextCells::Raw), "=1+1,-r\n\"+a, b\",-0.5\n'tis,-1e-9\n");
    let long = text::long_csv([&sheet], TextCells::Marked);
    assert!(long.contains("\n'@id,1,'-r,-0.5\n"), "{long}");
}
