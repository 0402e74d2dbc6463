//! The report on HANNA: every figure that rests on its scores is there, with the numbers of the
//! result.

use std::path::PathBuf;

use storymeter_checks::{Result, shared};
use storymeter_meta::folder;
use storymeter_meta::hanna::{Options, analyse};
use storymeter_meta::view::{self, Cell, Form, Sheet};
use storymeter_report::{Figure, FigureSet, Inputs, Report};

fn file(name: &str) -> Result<PathBuf> {
    shared(&format!("data/annotated/hanna/{name}"))
}

/// The number that a mark stands for, by the names in the mark.
///
/// Where the rows of a sheet have two names, one of them stands in the mark's column before a
/// comma.
fn find(sheet: &Sheet, row: &str, column: &str) -> f64 {
    let has_two_names = sheet.form != Form::Heatmap && matches!(sheet.rows[0][1], Cell::Text(_));
    let (other, column) =
        if has_two_names { column.rsplit_once(", ").unwrap() } else { ("", column) };
    let at = sheet.columns.iter().position(|head| head.name == column).unwrap();
    let is_wanted = |cells: &&Vec<Cell>| {
        let names = [cells[0].text(), cells[1].text()];
        match has_two_names {
            true => names == [row, other] || names == [other, row],
            false => names[0] == row,
        }
    };
    sheet.rows.iter().find(is_wanted).unwrap()[at].value()
}

/// The marks of a figure that stand for numbers: row, column and number.
fn marks(figure: &Figure) -> Vec<(String, String, f64)> {
    let unescape = |text: &str| {
        let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
        text.replace("&#39;", "'").replace("&amp;", "&")
    };
    let attribute = |mark: &str, name: &str| {
        let (_, after) = mark.split_once(&format!("{name}=\"")).unwrap();
        unescape(after.split_once('"').unwrap().0)
    };
    let svg = figure.standalone();
    let marks = svg.split('<').filter(|mark| mark.contains("data-v="));
    marks
        .map(|mark| {
            let number = attribute(mark, "data-v").parse().unwrap();
            (attribute(mark, "data-r"), attribute(mark, "data-c"), number)
        })
        .collect()
}

fn every_figure_of_hanna_has_the_numbers_of_the_result_and_the_page_is_small() -> Result {
    let (csv, stories) = (file("hanna_metric_scores.csv")?, file("stories_first48.jsonl.gz")?);
    let temporary = tempfile::tempdir().unwrap();
    let run = temporary.path().join("hanna");
    let ratings = Some(file("ratings.csv")?);
    let options = Options::default().with(|it| it.ratings = ratings);
    let study = analyse(&csv, &options).unwrap();
    folder::write(&study, &run, folder::SheetSet::All, &[]).unwrap();
    let sheets = view::sheets(&folder::read(&run).unwrap());
    let inputs = Inputs::read(&[run, csv], Some(&stories), &storymeter::catalogue()).unwrap();

    let drawn = Report::new(&inputs).figures(FigureSet::All);
    let mut numbers = 0;
    let mut scatters = 0;
    for figure in &drawn {
        scatters += usize::from(figure.id.starts_with("scatter-"));
        // The other figures show the numbers of several sheets, as the ranking with its intervals
        // does, or single stories.
        let is_shown = |sheet: &&Sheet| sheet.id == figure.id && figure.id != "ranking";
        let Some(sheet) = sheets.iter().find(is_shown) else { continue };
        for (row, column, shown) in marks(figure) {
            let real = find(sheet, &row, &column);
            assert_eq!(shown.to_bits(), real.to_bits(), "{}: {row}, {column}", figure.id);
            numbers += 1;
        }
    }
    assert_eq!(scatters, 6, "one per criterion");
    for number in 1..=38 {
        let id = format!("figure-{number}");
        assert!(drawn.iter().any(|figure| figure.id == id), "{id}");
    }
    // Six matrices of 72 x 72 alone have 31,104 numbers.
    assert!(numbers > 60_000, "{numbers} numbers read back");

    let stories = inputs.stories().unwrap();
    assert_eq!(stories.len(), 960, "the human stories are the references and left out");
    let html = Report::new(&inputs).html();
    assert!(html.len() < 6_000_000, "{} bytes", html.len());
    assert!(html.contains("chrF"));
    Ok(())
}

storymeter_checks::checks!(
    every_figure_of_hanna_has_the_numbers_of_the_result_and_the_page_is_small,
);
