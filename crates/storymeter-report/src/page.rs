//! The page: one HTML file that needs nothing else.

use std::fmt::Write as _;

use storymeter_meta::view::{Form, Sheet};

use crate::compare::{self, Changes};
use crate::embed::{self, Data};
use crate::figures::{self, Planned, Source, SystemColours};
use crate::inputs::{Inputs, Run};
use crate::summary;
use crate::svg::{Figure, escape};

const STYLE: &str = include_str!("../assets/style.css");
/// The scripts of the page, in the order in which they need each other.
const SCRIPTS: [&str; 8] = [
    include_str!("../assets/dom.js"),
    include_str!("../assets/tables.js"),
    include_str!("../assets/heatmap.js"),
    include_str!("../assets/explorer.js"),
    include_str!("../assets/scatter.js"),
    include_str!("../assets/story.js"),
    include_str!("../assets/stories.js"),
    include_str!("../assets/start.js"),
];
/// Heat-maps with more cells are not part of the page. Its script draws them from the numbers when
/// a reader opens them, which keeps the file small.
const MOST_INLINE_CELLS: usize = 180;

/// Makes the whole page.
pub fn html(inputs: &Inputs) -> String {
    let colours = SystemColours::new(inputs);
    let changes = compare::all(inputs);
    let Data { json, notes } = embed::data(inputs, &changes, &colours);
    let mut main = String::new();
    write_summary(&mut main, inputs, &changes);
    write_comparison(&mut main, &changes);
    write_explorer(&mut main, inputs);
    write_figures(&mut main, inputs, &colours);
    write_tables(&mut main, inputs);
    write_stories(&mut main, inputs, &notes);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the summary</a>\n\
         <header><h1>{title}</h1>{nav}</header>\n<main id=\"main\">\n{main}</main>\n\
         <footer>Made by storymeter {version}. Numbers on this page have six digits; the result \
         files have all digits.</footer>\n\
         <div id=\"tip\" role=\"status\" hidden></div>\n\
         <noscript><p>Without JavaScript, this page shows the summary and the main figures. The \
         tables, the explorer and the stories need it.</p></noscript>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n\
         <script>\n\"use strict\";\n{script}</script>\n</body>\n</html>\n",
        title = escape(&title(inputs)),
        nav = navigation(inputs, !changes.is_empty(), &colours),
        version = env!("CARGO_PKG_VERSION"),
        data = in_script(&json.to_string()),
        script = SCRIPTS.concat(),
    )
}

/// Makes JSON safe inside a script element. No `<` is left that could end the element or open a
/// comment.
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

fn navigation(inputs: &Inputs, has_changes: bool, colours: &SystemColours) -> String {
    let sections = [
        ("summary", "Summary", true),
        ("changes", "Changes", has_changes),
        ("explore", "Explore", inputs.runs.iter().any(has_heatmap)),
        ("figures", "Figures", true),
        ("tables", "Tables", !inputs.runs.is_empty()),
        ("stories", "Stories", inputs.stories().is_some()),
    ];
    let links: String = sections
        .iter()
        .filter(|(_, _, is_there)| *is_there)
        .map(|(id, name, _)| format!("<a href=\"#{id}\">{name}</a>"))
        .collect();
    let options: String =
        colours.names().iter().map(|name| format!("<option>{}</option>", escape(name))).collect();
    let systems = if options.is_empty() {
        String::new()
    } else {
        format!(
            "<label>Highlight <select id=\"highlight\"><option value=\"\">no system</option>\
             {options}</select></label>"
        )
    };
    format!(
        "<nav aria-label=\"Sections\">{links}</nav><div class=\"tools\">{systems}\
         <button type=\"button\" id=\"theme\" aria-pressed=\"false\">Dark</button></div>"
    )
}

fn has_heatmap(run: &Run) -> bool {
    run.sheets.iter().any(|sheet| sheet.form == Form::Heatmap)
}

fn open_section(main: &mut String, id: &str, heading: &str) {
    let _ = writeln!(
        main,
        "<section id=\"{id}\" aria-labelledby=\"{id}-h\"><h2 id=\"{id}-h\">{heading}</h2>"
    );
}

/// Names the run above its part of a section, where there are several runs.
fn write_run_name(main: &mut String, inputs: &Inputs, run: &Run) {
    if inputs.runs.len() > 1 {
        let _ = writeln!(main, "<h3>{}</h3>", escape(&run.name));
    }
}

fn write_summary(main: &mut String, inputs: &Inputs, changes: &[Changes]) {
    open_section(main, "summary", "Summary");
    for Changes { headline, sheet } in changes {
        let (title, headline) = (escape(&sheet.title), escape(headline));
        let _ = writeln!(main, "<p><strong>{title}</strong>: {headline}</p>");
    }
    for run in &inputs.runs {
        write_run_name(main, inputs, run);
        let level = if inputs.runs.len() > 1 { 4 } else { 3 };
        for paragraph in summary::paragraphs(&run.study) {
            let items: String =
                paragraph.sentences.iter().map(|s| format!("<li>{}</li>", escape(s))).collect();
            let heading = escape(paragraph.heading);
            let _ = writeln!(main, "<h{level}>{heading}</h{level}><ul>{items}</ul>");
        }
        write_warnings(main, run);
        let signature = escape(&run.study.signature.to_string());
        let _ = writeln!(main, "<p class=\"signature\">{signature}</p>");
    }
    if inputs.runs.is_empty() {
        for table in &inputs.tables {
            let _ = writeln!(
                main,
                "<p>{}: {} stories, {} columns of scores and ratings.</p>",
                escape(&table.name),
                table.stories.len(),
                table.stories.scores().columns().len()
            );
        }
    }
    main.push_str("</section>\n");
}

fn write_warnings(main: &mut String, run: &Run) {
    let warnings = &run.study.warnings;
    if warnings.is_empty() {
        return;
    }
    let mut items = String::new();
    for warning in warnings {
        let (subject, message) = (escape(&warning.subject), escape(&warning.message));
        let _ = write!(items, "<li><b>{}</b> {subject}: {message}</li>", warning.kind);
    }
    let _ = writeln!(
        main,
        "<details><summary>All {} warnings</summary><ul>{items}</ul></details>",
        warnings.len()
    );
}

fn write_comparison(main: &mut String, changes: &[Changes]) {
    if changes.is_empty() {
        return;
    }
    open_section(main, "changes", "Changes");
    for (at, Changes { sheet, .. }) in changes.iter().enumerate() {
        let title = escape(&sheet.title);
        let _ = writeln!(
            main,
            "<details open class=\"sheet\" data-extra=\"{at}\"><summary>{title}</summary></details>"
        );
    }
    main.push_str("</section>\n");
}

fn write_explorer(main: &mut String, inputs: &Inputs) {
    if !inputs.runs.iter().any(has_heatmap) {
        return;
    }
    open_section(main, "explore", "Explore");
    main.push_str(
        "<form class=\"controls\" id=\"explore-controls\"></form>\n\
         <p id=\"explore-title\" class=\"caption\" aria-live=\"polite\"></p>\
         <div id=\"explore-figure\" class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Heat-map\"></div></section>\n",
    );
}

fn write_figures(main: &mut String, inputs: &Inputs, colours: &SystemColours) {
    open_section(main, "figures", "Figures");
    let plan = figures::plan(inputs);
    let of_run = |at: usize| {
        let is_own = move |source: &Source<'_>| match source {
            Source::Sheet { run, .. } => *run == at,
            Source::Log(_) | Source::Scatter { .. } => false,
        };
        plan.iter().filter(move |planned| is_own(&planned.source))
    };
    for (at, run) in inputs.runs.iter().enumerate() {
        write_run_name(main, inputs, run);
        main.push_str("<div class=\"gallery\">\n");
        of_run(at).for_each(|planned| write_planned(main, planned, inputs, colours));
        main.push_str("</div>\n");
    }
    main.push_str("<div class=\"gallery\">\n");
    let others = plan.iter().filter(|planned| !matches!(planned.source, Source::Sheet { .. }));
    others.for_each(|planned| write_planned(main, planned, inputs, colours));
    main.push_str("</div></section>\n");
}

fn write_planned(
    main: &mut String,
    planned: &Planned<'_>,
    inputs: &Inputs,
    colours: &SystemColours,
) {
    if let Source::Sheet { run, sheet } = planned.source
        && sheet.form == Form::Heatmap
        && sheet.rows.len() * sheet.columns.len() > MOST_INLINE_CELLS
    {
        let label = format!("{}: {}", planned.id, sheet.title);
        write_details(main, "drawn", &inputs.runs[run], run, sheet, &label, false);
    } else if let Some(figure) = figures::draw(planned, inputs, colours) {
        write_figure(main, &figure);
    }
}

/// A closed part of the page that its script fills with a sheet.
fn write_details(
    main: &mut String,
    class: &str,
    run: &Run,
    run_position: usize,
    sheet: &Sheet,
    label: &str,
    is_open: bool,
) {
    let position = run.shown_sheets().position(|shown| std::ptr::eq(shown, sheet));
    let Some(position) = position else { return };
    let _ = writeln!(
        main,
        "<details{open} class=\"{class}\" data-run=\"{run_position}\" data-sheet=\"{position}\" \
         data-id=\"{id}\"><summary>{label}</summary></details>",
        open = if is_open { " open" } else { "" },
        id = escape(&sheet.id),
        label = escape(label),
    );
}

fn write_figure(main: &mut String, figure: &Figure) {
    let notes = match figure.notes.join("; ") {
        notes if notes.is_empty() => notes,
        notes => format!(" <small>{}</small>", escape(&notes)),
    };
    let _ = writeln!(
        main,
        "<figure id=\"{id}\" style=\"width:{width}px\">\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-label=\"{title}\">{svg}</div><figcaption><b>{id}</b> {title}.{notes}\
         <span class=\"signature\">{signature}</span></figcaption></figure>",
        id = escape(&figure.id),
        width = figure.width().ceil(),
        title = escape(&figure.title),
        svg = figure.inline(),
        signature = escape(&figure.signature),
    );
}

fn write_tables(main: &mut String, inputs: &Inputs) {
    if inputs.runs.is_empty() {
        return;
    }
    open_section(main, "tables", "Tables");
    for (at, run) in inputs.runs.iter().enumerate() {
        write_run_name(main, inputs, run);
        let tables = run.shown_sheets().filter(|sheet| sheet.form == Form::Table);
        for (nth, sheet) in tables.enumerate() {
            let label = format!("{}: {}", sheet.id, sheet.title);
            write_details(main, "sheet", run, at, sheet, &label, nth == 0);
        }
    }
    main.push_str("</section>\n");
}

fn write_stories(main: &mut String, inputs: &Inputs, notes: &[String]) {
    if inputs.stories().is_none() {
        return;
    }
    open_section(main, "stories", "Stories");
    for note in notes {
        let _ = writeln!(main, "<p class=\"note\">{}</p>", escape(note));
    }
    main.push_str(
        "<form class=\"controls\" id=\"story-controls\"></form>\
         <figure><div id=\"scatter\" class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Metric against criterion\"></div>\
         <figcaption id=\"scatter-caption\"></figcaption></figure>\
         <p id=\"story-count\" aria-live=\"polite\"></p>\
         <div class=\"browser\"><div id=\"story-list\" role=\"listbox\" tabindex=\"0\" \
         aria-label=\"Stories\"></div>\
         <article id=\"story\" aria-live=\"polite\"><p>Choose a story.</p></article></div>\
         </section>\n",
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
