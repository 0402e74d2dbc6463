//! The page: one HTML file that needs nothing else.

use std::fmt::Write as _;

use storymeter_meta::{Document, Form, Sheet};

use crate::compare;
use crate::embed::{self, Data};
use crate::figures::{self, SystemColours};
use crate::inputs::Inputs;
use crate::scatter;
use crate::summary;
use crate::svg::{Figure, escape};

const STYLE: &str = include_str!("../assets/style.css");
/// The page's scripts, in the order they need each other.
const SCRIPTS: [&str; 7] = [
    include_str!("../assets/dom.js"),
    include_str!("../assets/tables.js"),
    include_str!("../assets/heatmap.js"),
    include_str!("../assets/explorer.js"),
    include_str!("../assets/scatter.js"),
    include_str!("../assets/stories.js"),
    include_str!("../assets/start.js"),
];
/// A heat-map with more cells is drawn by the page when it is opened, from the numbers it has anyway.
const MOST_INLINE_CELLS: usize = 180;

/// The whole page.
pub fn html(inputs: &Inputs) -> String {
    let colours = SystemColours::of(inputs);
    let mut extra = compare::runs(inputs);
    extra.extend(compare::same_stories(inputs));
    let Data { json, notes } = embed::data(inputs, &extra, &colours);
    let mut main = String::new();
    write_summary(&mut main, inputs, &extra, &notes);
    write_comparison(&mut main, &extra);
    write_explorer(&mut main, inputs);
    write_figures(&mut main, inputs, &colours);
    write_tables(&mut main, inputs);
    write_stories(&mut main, inputs, &notes);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'; img-src data:\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the summary</a>\n\
         <header><h1>{title}</h1>{nav}</header>\n<main id=\"main\">\n{main}</main>\n\
         <footer>Made by storymeter {version}. Numbers on this page have six digits; the result files have all.</footer>\n\
         <div id=\"tip\" role=\"status\" hidden></div>\n\
         <noscript><p>Without JavaScript the summary and the main figures are shown; tables, explorer and stories need it.</p></noscript>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n<script>\n\"use strict\";\n{script}</script>\n</body>\n</html>\n",
        title = escape(&title(inputs)),
        nav = navigation(inputs, !extra.is_empty(), &colours),
        version = env!("CARGO_PKG_VERSION"),
        data = in_script(&json.to_string()),
        script = SCRIPTS.concat(),
    )
}

/// JSON that cannot end the script element it stands in, nor open a comment: no `<` is left.
fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

fn title(inputs: &Inputs) -> String {
    let names: Vec<&str> = inputs.runs.iter().map(|run| run.name.as_str()).collect();
    match names.len() {
        0 => "storymeter report".into(),
        _ => format!("storymeter report: {}", names.join(", ")),
    }
}

fn navigation(inputs: &Inputs, compared: bool, colours: &SystemColours) -> String {
    let mut links = vec![("summary", "Summary")];
    if compared {
        links.push(("changes", "Changes"));
    }
    if inputs.runs.iter().any(|run| has_heatmap(&run.document)) {
        links.push(("explore", "Explore"));
    }
    links.push(("figures", "Figures"));
    if !inputs.runs.is_empty() {
        links.push(("tables", "Tables"));
    }
    if !inputs.stories.is_empty() {
        links.push(("stories", "Stories"));
    }
    let links: String =
        links.iter().map(|(id, name)| format!("<a href=\"#{id}\">{name}</a>")).collect();
    let options: String =
        colours.names().iter().map(|name| format!("<option>{}</option>", escape(name))).collect();
    let systems = if options.is_empty() {
        String::new()
    } else {
        format!(
            "<label>Highlight <select id=\"highlight\"><option value=\"\">no system</option>{options}</select></label>"
        )
    };
    format!(
        "<nav aria-label=\"Sections\">{links}</nav><div class=\"tools\">{systems}\
         <button type=\"button\" id=\"theme\" aria-pressed=\"false\">Dark</button></div>"
    )
}

fn has_heatmap(document: &Document) -> bool {
    document.sheets.iter().any(|sheet| sheet.form == Form::Heatmap)
}

fn write_summary(main: &mut String, inputs: &Inputs, extra: &[Sheet], notes: &[String]) {
    main.push_str(
        "<section id=\"summary\" aria-labelledby=\"summary-h\"><h2 id=\"summary-h\">Summary</h2>\n",
    );
    for note in extra.iter().filter_map(|sheet| Some((sheet, sheet.notes.first()?))) {
        let _ = writeln!(
            main,
            "<p><strong>{}</strong>: {}.</p>",
            escape(&note.0.title),
            escape(note.1)
        );
    }
    for run in &inputs.runs {
        if inputs.runs.len() > 1 {
            let _ = writeln!(main, "<h3>{}</h3>", escape(&run.name));
        }
        for paragraph in summary::of(&run.document) {
            // What differs is a long list in a large study: the first lines show, the rest on request.
            let items: Vec<String> =
                paragraph.sentences.iter().map(|s| format!("<li>{}</li>", escape(s))).collect();
            let heading = escape(&paragraph.heading);
            let level = if inputs.runs.len() > 1 { 4 } else { 3 };
            let _ = writeln!(main, "<h{level}>{heading}</h{level}><ul>{}</ul>", items.concat());
        }
        if !run.document.warnings.is_empty() {
            let rows: String = run
                .document
                .warnings
                .iter()
                .map(|w| {
                    format!(
                        "<li><b>{}</b> {}: {}</li>",
                        escape(&w.kind),
                        escape(&w.subject),
                        escape(&w.message)
                    )
                })
                .collect();
            let count = run.document.warnings.len();
            let _ = writeln!(
                main,
                "<details><summary>All {count} warnings</summary><ul>{rows}</ul></details>"
            );
        }
        let _ = writeln!(main, "<p class=\"signature\">{}</p>", escape(&run.document.signature));
    }
    if inputs.runs.is_empty() {
        let stories = inputs.stories.len();
        let columns = inputs.stories.columns.len();
        let _ =
            writeln!(main, "<p>Stories: {stories}. Columns of scores and ratings: {columns}.</p>");
    }
    for note in notes {
        let _ = writeln!(main, "<p class=\"sampled\">{}</p>", escape(note));
    }
    main.push_str("</section>\n");
}

fn write_comparison(main: &mut String, extra: &[Sheet]) {
    if extra.is_empty() {
        return;
    }
    main.push_str("<section id=\"changes\" aria-labelledby=\"changes-h\"><h2 id=\"changes-h\">Changes between runs</h2>\n");
    for (at, sheet) in extra.iter().enumerate() {
        let _ = writeln!(
            main,
            "<details open class=\"sheet\" data-extra=\"{at}\"><summary>{}</summary></details>",
            escape(&sheet.title)
        );
    }
    main.push_str("</section>\n");
}

fn write_explorer(main: &mut String, inputs: &Inputs) {
    if !inputs.runs.iter().any(|run| has_heatmap(&run.document)) {
        return;
    }
    main.push_str(
        "<section id=\"explore\" aria-labelledby=\"explore-h\"><h2 id=\"explore-h\">Explore</h2>\n\
         <form class=\"controls\" id=\"explore-controls\"></form>\n\
         <p id=\"explore-title\" class=\"caption\" aria-live=\"polite\"></p>\
         <div id=\"explore-figure\" class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Heat-map\"></div></section>\n",
    );
}

fn write_figures(main: &mut String, inputs: &Inputs, colours: &SystemColours) {
    main.push_str(
        "<section id=\"figures\" aria-labelledby=\"figures-h\"><h2 id=\"figures-h\">Figures</h2>\n",
    );
    for (at, run) in inputs.runs.iter().enumerate() {
        if inputs.runs.len() > 1 {
            let _ = writeln!(main, "<h3>{}</h3>", escape(&run.name));
        }
        for sheet in run.document.sheets.iter().filter(|sheet| sheet.form != Form::Table) {
            let cells = sheet.rows.len() * sheet.columns.len();
            if sheet.form == Form::Heatmap && cells > MOST_INLINE_CELLS {
                let _ = writeln!(
                    main,
                    "<details class=\"drawn\" data-run=\"{at}\" data-sheet=\"{}\"><summary>{}</summary></details>",
                    escape(&sheet.id),
                    escape(&format!("{}: {}", sheet.id, sheet.title)),
                );
            } else if let Some(figure) = figures::of_sheet(&run.document, sheet, colours) {
                write_figure(main, &figure);
            }
        }
    }
    for figure in figures::of_logs(inputs).iter().chain(&scatter::of_best(&inputs.stories, colours))
    {
        write_figure(main, figure);
    }
    main.push_str("</section>\n");
}

fn write_figure(main: &mut String, figure: &Figure) {
    let notes = match figure.notes.join("; ") {
        notes if notes.is_empty() => notes,
        notes => format!(" <small>{}</small>", escape(&notes)),
    };
    let _ = writeln!(
        main,
        "<figure id=\"{id}\"><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\">{svg}</div>\
         <figcaption><b>{id}</b> {title}.{notes}<span class=\"signature\">{signature}</span></figcaption></figure>",
        id = escape(&figure.id),
        title = escape(&figure.title),
        svg = figure.inline(),
        signature = escape(&figure.signature),
    );
}

fn write_tables(main: &mut String, inputs: &Inputs) {
    if inputs.runs.is_empty() {
        return;
    }
    main.push_str(
        "<section id=\"tables\" aria-labelledby=\"tables-h\"><h2 id=\"tables-h\">Tables</h2>\n",
    );
    for (at, run) in inputs.runs.iter().enumerate() {
        if inputs.runs.len() > 1 {
            let _ = writeln!(main, "<h3>{}</h3>", escape(&run.name));
        }
        let tables =
            run.document.sheets.iter().filter(|s| s.form == Form::Table && embed::is_shown(s));
        for (nth, sheet) in tables.enumerate() {
            let _ = writeln!(
                main,
                "<details{} class=\"sheet\" data-run=\"{at}\" data-sheet=\"{}\"><summary>{}</summary></details>",
                if nth == 0 { " open" } else { "" },
                escape(&sheet.id),
                escape(&format!("{}: {}", sheet.id, sheet.title)),
            );
        }
    }
    main.push_str("</section>\n");
}

fn write_stories(main: &mut String, inputs: &Inputs, notes: &[String]) {
    if inputs.stories.is_empty() {
        return;
    }
    let notes: String =
        notes.iter().map(|n| format!("<p class=\"sampled\">{}</p>", escape(n))).collect();
    let _ = writeln!(
        main,
        "<section id=\"stories\" aria-labelledby=\"stories-h\"><h2 id=\"stories-h\">Stories</h2>{notes}\
         <form class=\"controls\" id=\"story-controls\"></form>\
         <figure><div id=\"scatter\" class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Metric against criterion\"></div>\
         <figcaption id=\"scatter-caption\"></figcaption></figure>\
         <p id=\"story-count\" aria-live=\"polite\"></p>\
         <div class=\"browser\"><div id=\"story-list\" role=\"listbox\" tabindex=\"0\" aria-label=\"Stories\"></div>\
         <article id=\"story\" aria-live=\"polite\"><p>Choose a story.</p></article></div></section>"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_data_cannot_leave_its_script_element() {
        let safe = in_script("{\"t\":\"</script><script>alert(1)</script><!--\u{2028}\"}");
        assert!(!safe.contains('<'));
        let back: serde_json::Value = serde_json::from_str(&safe).unwrap();
        assert_eq!(back["t"], "</script><script>alert(1)</script><!--\u{2028}");
    }
}
