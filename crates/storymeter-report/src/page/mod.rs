//! The page: one HTML file that needs nothing else.
//!
//! The first screen is one ranked table, one picture and what they mean, or the verdict over all
//! columns of a comparison of systems. Everything else folds.
//! Test suites for metrics follow, each in a section of its own. Where there is nothing else, the
//! first of them is the first screen.

mod examples;
mod first;
mod markup;
mod parts;
mod suite;
mod verdict;

use storymeter_meta::view::Sheet;

use crate::embed;
use crate::figures::{self, Planned};
use crate::report::Report;
use crate::svg::escape;

const STYLE: &str = concat!(
    include_str!("../../assets/style.css"),
    include_str!("../../assets/figures.css"),
    include_str!("../../assets/verdict.css"),
    include_str!("../../assets/suite.css"),
    include_str!("../../assets/print.css"),
);
/// The scripts of the page, in the order in which they need each other.
const SCRIPTS: [&str; 10] = [
    include_str!("../../assets/dom.js"),
    include_str!("../../assets/view.js"),
    include_str!("../../assets/save.js"),
    include_str!("../../assets/tables.js"),
    include_str!("../../assets/heatmap.js"),
    include_str!("../../assets/explorer.js"),
    include_str!("../../assets/scatter.js"),
    include_str!("../../assets/story.js"),
    include_str!("../../assets/stories.js"),
    include_str!("../../assets/start.js"),
];

/// A page that is being written.
struct Page<'a> {
    report: &'a Report<'a>,
    /// All figures that the report could have.
    plan: Vec<Planned<'a>>,
    /// The markup so far.
    main: String,
    /// Tables that are made for the page and are part of no study.
    extra: Vec<Sheet>,
    /// The figures that are already on the page.
    drawn: Vec<String>,
    /// The parts so far: the id and the short name of each.
    links: Vec<(String, String)>,
}

/// Makes the whole page.
pub(crate) fn html(report: &Report<'_>) -> String {
    let mut page = Page {
        report,
        plan: figures::plan(report),
        main: String::new(),
        extra: Vec::new(),
        drawn: Vec::new(),
        links: Vec::new(),
    };
    let (stories, notes) = embed::stories(report);
    if !report.inputs().has_only_suites() {
        page.write_first();
        page.write_parts(&notes);
    }
    page.write_suites();
    let json = embed::data(report, &page.extra, stories);
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
         other tables, the explorer and the stories need it.</p></noscript>\n\
         <script type=\"application/json\" id=\"data\">{data}</script>\n\
         <script>\n\"use strict\";\n{script}</script>\n</body>\n</html>\n",
        title = escape(&title(report)),
        nav = page.navigation(),
        main = page.main,
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

fn title(report: &Report<'_>) -> String {
    let inputs = report.inputs();
    let runs = inputs.runs.iter().map(|run| run.name.as_str());
    let tables = inputs.tables.iter().map(|table| table.name.as_str());
    let mut names: Vec<&str> = match inputs.runs.is_empty() {
        true => tables.collect(),
        false => runs.collect(),
    };
    names.extend(inputs.suites.iter().map(|suite| suite.name.as_str()));
    match names.len() {
        0 => "storymeter report".into(),
        _ => format!("storymeter report: {}", names.join(", ")),
    }
}

impl Page<'_> {
    fn navigation(&self) -> String {
        let link = |(id, name): &(String, String)| {
            format!("<a href=\"#{}\">{}</a>", escape(id), escape(name))
        };
        let first = ("summary".to_owned(), "Summary".to_owned());
        let links: String = std::iter::once(&first).chain(&self.links).map(link).collect();
        let names = self.report.colours().names().iter();
        let options: String =
            names.map(|name| format!("<option>{}</option>", escape(name))).collect();
        let systems = match options.is_empty() {
            true => String::new(),
            false => format!(
                "<label>Highlight <select id=\"highlight\"><option value=\"\">no system</option>\
                 {options}</select></label>"
            ),
        };
        format!(
            "<nav aria-label=\"Parts of the page\">{links}</nav><div class=\"tools\">{systems}\
             <button type=\"button\" id=\"link\">Copy link</button>\
             <button type=\"button\" id=\"theme\" aria-pressed=\"false\">Dark</button></div>\
             <p id=\"link-box\" hidden><label>Link to this view <input id=\"link-text\" readonly>\
             </label></p>"
        )
    }
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
