//! The report on HANNA: every figure that rests on its scores, with the numbers of the result.

use std::fs;

use storymeter::meta::hanna::{Options, analyse};
use storymeter::meta::{Cell, Sheet, folder};
use storymeter::report::{Inputs, figures, page};
use storymeter_checks::shared;

/// The number a mark stands for. Where rows have two names, one of them is in the mark's column, before a comma.
fn find(sheet: &Sheet, row: &str, column: &str) -> f64 {
    // An empty cell of a matrix is text as well.
    let two = matches!(&sheet.rows[0][1], Cell::Text(name) if !name.is_empty());
    let (other, column) = if two { column.rsplit_once(", ").unwrap() } else { ("", column) };
    let at = sheet.columns.iter().position(|head| head.name == column).unwrap();
    let is = |cells: &&Vec<Cell>| match two {
        true => {
            [cells[0].text(), cells[1].text()] == [row, other]
                || [cells[0].text(), cells[1].text()] == [other, row]
        }
        false => cells[0].text() == row,
    };
    sheet.rows.iter().find(is).unwrap()[at].value()
}

fn unescape(text: &str) -> String {
    let text = text
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'");
    text.replace("&amp;", "&")
}

#[test]
fn every_figure_of_hanna_has_the_numbers_of_the_result_and_the_page_is_small() {
    let Some(csv) = shared("data/annotated/hanna/hanna_metric_scores.csv") else { return };
    let Some(ratings) = shared("data/annotated/hanna/ratings.csv") else { return };
    let Some(stories) = shared("data/annotated/hanna/stories_first48.jsonl.gz") else { return };
    let temporary = tempfile::tempdir().unwrap();
    let run = temporary.path().join("hanna");
    let document =
        analyse(&csv, &Options { ratings: Some(ratings), ..Options::default() }).unwrap();
    folder::write(&document, &run).unwrap();
    let result: storymeter::meta::Document =
        serde_json::from_str(&fs::read_to_string(run.join("result.json")).unwrap()).unwrap();
    let inputs = Inputs::read(&[run, csv], Some(&stories)).unwrap();

    let drawn = figures::all(&inputs);
    let mut numbers = 0;
    for figure in drawn.iter().filter(|figure| !figure.id.starts_with("scatter-")) {
        let sheet = result.sheet(&figure.id).unwrap();
        let svg = figure.standalone();
        let attribute = |mark: &str, name: &str| {
            let rest = mark.split_once(&format!("{name}=\"")).unwrap().1;
            unescape(rest.split_once('"').unwrap().0)
        };
        for mark in svg.split('<').filter(|mark| mark.contains("data-v=")) {
            let (row, column) = (attribute(mark, "data-r"), attribute(mark, "data-c"));
            let shown: f64 = attribute(mark, "data-v").parse().unwrap();
            let real = find(sheet, &row, &column);
            assert_eq!(shown.to_bits(), real.to_bits(), "{}: {row}, {column}", figure.id);
            numbers += 1;
        }
    }
    for number in 1..=38 {
        assert!(
            drawn.iter().any(|figure| figure.id == format!("figure-{number}")),
            "figure {number}"
        );
    }
    // Six matrices of 72 x 72 alone have 31,104 numbers.
    assert!(numbers > 60_000, "{numbers} numbers read back");

    let html = page::html(&inputs);
    assert!(html.len() < 6_000_000, "{} bytes", html.len());
    assert!(html.contains("chrF"));
}
