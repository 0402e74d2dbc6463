//! The numbers in a figure are those of the result, bit for bit.

use std::fs;

use storymeter_meta::{Document, Form, Sheet, folder};
use storymeter_report::{Inputs, figures, files, page};

fn document() -> Document {
    let mut against = Sheet::new(
        "against",
        "story-level kendall correlations between metrics and criteria",
        Form::Heatmap,
    )
    .column("metric", 0)
    .columns(["plot", "<style>"], 4);
    against.push(vec!["BLEU \u{39e}".into(), (1.0 / 3.0).into(), (-0.1).into()]);
    against.push(vec!["chr\"F".into(), 0.7.into(), f64::NAN.into()]);
    let mut curves = Sheet::new("drift", "Biased sets", Form::Lines)
        .column("metric", 0)
        .columns(["#1", "#2", "#3"], 4)
        .column("variance", 4);
    curves.push(vec!["BLEU".into(), 0.1.into(), 0.25.into(), (1.0 / 7.0).into(), 9.0.into()]);
    let mut bars = Sheet::new("counts", "Stories by human score", Form::Bars)
        .columns(["score", "mean", "stories"], 0);
    bars.push(vec!["0/7".into(), 0.0.into(), 18usize.into()]);
    bars.push(vec!["1/7".into(), 0.14.into(), 48usize.into()]);
    let sheets = vec![against, curves, bars];
    Document { kind: "table".into(), signature: "test".into(), warnings: vec![], sheets }
}

/// Every mark of an SVG that stands for a number: row, column, number.
fn read_back(svg: &str) -> Vec<(String, String, f64)> {
    let attribute = |mark: &str, name: &str| {
        let rest = mark.split_once(&format!("{name}=\"")).unwrap().1;
        let text = rest.split_once('"').unwrap().0;
        text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
    };
    let marks = svg.split('<').filter(|mark| mark.contains("data-v="));
    marks
        .map(|m| {
            (
                attribute(m, "data-r"),
                attribute(m, "data-c"),
                attribute(m, "data-v").parse().unwrap(),
            )
        })
        .collect()
}

fn inputs() -> (tempfile::TempDir, Inputs) {
    let temporary = tempfile::tempdir().unwrap();
    folder::write(&document(), &temporary.path().join("run")).unwrap();
    let inputs = Inputs::read(&[temporary.path().join("run")], None).unwrap();
    (temporary, inputs)
}

#[test]
fn every_number_of_a_figure_is_the_one_in_the_result() {
    let (temporary, inputs) = inputs();
    let out = temporary.path().join("figures");
    files::write(&figures::all(&inputs), &out).unwrap();
    let result: Document = serde_json::from_str(
        &fs::read_to_string(temporary.path().join("run/result.json")).unwrap(),
    )
    .unwrap();
    for (id, expected) in [("against", 3), ("drift", 3), ("counts", 2)] {
        let marks = read_back(&fs::read_to_string(out.join(format!("{id}.svg"))).unwrap());
        assert_eq!(marks.len(), expected, "{id}: one mark a number, none for a gap or a summary");
        for (row, column, value) in marks {
            let real = result.sheet(id).unwrap().value(&row, &column);
            assert_eq!(value.to_bits(), real.to_bits(), "{id}, {row}, {column}");
        }
    }
}

#[test]
fn the_page_shows_the_same_drawings() {
    let (_temporary, inputs) = inputs();
    let page = page::html(&inputs);
    let own = read_back(page.split("<script").next().unwrap());
    assert_eq!(own.len(), 8);
    assert!(own.contains(&("BLEU \u{39e}".into(), "plot".into(), 1.0 / 3.0)));
    assert!(page.matches("<style>").count() == 1, "names stay text");
}
