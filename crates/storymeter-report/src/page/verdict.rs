//! The first screen of a page about systems: the verdict over all columns, who leads by what, and
//! what speaks against it.

use std::fmt::Write as _;

use storymeter_core::number::{Digits, percent, thousands};
use storymeter_core::{Direction, Role};
use storymeter_meta::systems::verdict::{
    ColumnMean, ColumnVerdict, Lead, SystemProfile, Verdict, Vote,
};
use storymeter_meta::view::{TrustLine, VerdictWords, conclusion, verdict_words};

use super::Page;
use crate::svg::escape;

/// The most flags of a system that the first screen names.
const MOST_FLAGS: usize = 3;

/// The most sentences under the headline. The others fold.
const MOST_SENTENCES: usize = 4;

/// The sign of a system that leads by a column after the correction.
const LEADS: &str = "★";

/// The sign of a system that leads by a column alone, but not after the correction.
const LED: &str = "☆";

/// The sign of systems that share the lead.
const SHARES: &str = "≈";

impl Page<'_> {
    /// Writes the first screen for systems: who is best, who leads by what, and why to doubt it.
    pub fn write_verdict(&mut self, verdict: &Verdict) {
        let found = &self.report.comparisons().found;
        let words = verdict_words(verdict, found);
        self.main
            .push_str("<h2 id=\"summary-h\">Which system is best, and is that certain?</h2>\n");
        self.write_headline(verdict, &words);
        let own = self.report.inputs().highlight.as_ref();
        let own = found.first().filter(|one| own == Some(&one.column.key));
        if let Some(own) = own {
            self.paragraph("", &format!("By {} alone: {}", own.column.key, conclusion(own)));
        }
        self.write_matrix(verdict);
        self.write_trust(&words.trust);
    }

    fn write_headline(&mut self, verdict: &Verdict, words: &VerdictWords) {
        let class = if verdict.winner().is_some() { "winner" } else { "none" };
        let _ = writeln!(self.main, "<div class=\"meaning verdict {class}\">");
        self.paragraph("headline", &words.headline);
        let shown = words.details.len().min(MOST_SENTENCES);
        let list = |sentences: &[String]| -> String {
            let items = sentences.iter().map(|text| format!("<li>{}</li>", escape(text)));
            format!("<ul>{}</ul>", items.collect::<String>())
        };
        let (first, more) = words.details.split_at(shown);
        if !first.is_empty() {
            self.main.push_str(&list(first));
        }
        if !more.is_empty() {
            let _ = writeln!(
                self.main,
                "<details><summary>{} more</summary>{}</details>",
                more.len(),
                list(more)
            );
        }
        // The lines about trust stand under the table. That they are warnings is said here.
        if let Some(brief) = words.trust_in_brief.as_ref().filter(|_| warns(&words.trust)) {
            self.paragraph("brief", brief);
        }
        self.main.push_str("</div>\n");
    }

    fn write_matrix(&mut self, verdict: &Verdict) {
        let mut heads = "<th scope=\"col\" class=\"word\">by</th>".to_owned();
        for system in &verdict.systems {
            let people = if system.is_people { " <small>people</small>" } else { "" };
            let _ = write!(heads, "<th scope=\"col\">{}{people}</th>", escape(&system.name));
        }
        let about = profile_rows(verdict);
        let scores: String =
            verdict.columns.iter().map(|column| column_row(column, verdict)).collect();
        let _ = writeln!(
            self.main,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Who leads by what\">\
             <table class=\"leaders\"><caption>Who leads by what</caption>\
             <thead><tr>{heads}</tr></thead><tbody class=\"about-systems\">{about}</tbody>\
             <tbody>{scores}</tbody></table></div>"
        );
        self.paragraph("caption", &legend(verdict));
    }

    fn write_trust(&mut self, lines: &[TrustLine]) {
        if lines.is_empty() {
            return;
        }
        let item = |line: &TrustLine| {
            let class = if line.is_warning { " class=\"warning\"" } else { "" };
            format!("<li{class}>{}</li>", escape(&line.to_string()))
        };
        let items: String = lines.iter().map(item).collect();
        let _ = writeln!(
            self.main,
            "<h3 id=\"trust-h\">How far to trust the numbers</h3>\
             <ul class=\"trust\" aria-labelledby=\"trust-h\">{items}</ul>"
        );
    }
}

fn warns(lines: &[TrustLine]) -> bool {
    lines.iter().any(|line| line.is_warning)
}

/// The rows about the texts: how many there are, how long they are, and what else is in them.
fn profile_rows(verdict: &Verdict) -> String {
    let mut rows = String::new();
    let mut row = |name: &str, cell: &dyn Fn(&SystemProfile) -> String| {
        let cells: String =
            verdict.systems.iter().map(|one| format!("<td>{}</td>", cell(one))).collect();
        let _ = write!(rows, "<tr><th scope=\"row\" class=\"word\">{name}</th>{cells}</tr>");
    };
    row("stories", &|system| thousands(system.stories as u64));
    if verdict.systems.iter().any(|system| system.words.is_some()) {
        row("words: median <small>and middle 80%</small>", &|system| match system.words {
            Some(words) => {
                let [low, median, high] = [words.low, words.median, words.high]
                    .map(|count| thousands(count.round() as u64));
                format!("{median} <small>{low} to {high}</small>")
            }
            None => "<i>unknown</i>".to_owned(),
        });
    }
    if verdict.flags.known {
        row("flags", &flags);
    }
    rows
}

/// The flags of a system, those of most stories first.
fn flags(system: &SystemProfile) -> String {
    let mut flags: Vec<_> = system.flags.iter().collect();
    flags.sort_by(|a, b| b.stories.cmp(&a.stories).then_with(|| a.flag.cmp(&b.flag)));
    let named = flags.iter().take(MOST_FLAGS);
    let mut parts: Vec<String> =
        named.map(|one| format!("{} {}", escape(&one.flag), percent(one.share))).collect();
    match flags.len().saturating_sub(MOST_FLAGS) {
        0 => {}
        more => parts.push(format!("{more} more")),
    }
    if parts.is_empty() {
        "none".to_owned()
    } else {
        format!("<small>{}</small>", parts.join("<br>"))
    }
}

/// One column: the means of the systems with their intervals, and who leads.
fn column_row(column: &ColumnVerdict, verdict: &Verdict) -> String {
    let arrow = match column.direction {
        Direction::Higher => " ↑",
        Direction::Lower => " ↓",
        Direction::None => "",
    };
    let human = if column.role == Role::Human { " <small>rated by people</small>" } else { "" };
    let aside = vote(&column.vote).map_or(String::new(), |text| {
        format!(" <small class=\"no-say\">{}</small>", escape(&text))
    });
    let decimals = decimals(column);
    let means = column.means.iter().filter_map(|own| own.mean.as_ref().ok().copied());
    let digits = Digits::new(means, decimals);
    let cell = |system: &SystemProfile| {
        let own = column.means.iter().find(|own| own.system == system.name);
        let sign = sign(column, &system.name);
        let class = match sign {
            Some(LEADS) => " class=\"leads\"",
            Some(_) => " class=\"led\"",
            None => "",
        };
        let sign = sign.map_or(String::new(), |sign| format!("<b>{sign}</b> "));
        format!("<td{class}>{sign}{}</td>", own.map_or(String::new(), |own| mean(own, digits)))
    };
    let cells: String = verdict.systems.iter().map(cell).collect();
    // Keys of a family may be broken behind its name.
    let key = escape(column.key.as_str()).replace('/', "/<wbr>");
    format!("<tr><th scope=\"row\" class=\"word\">{key}{arrow}{human}{aside}</th>{cells}</tr>")
}

/// A mean and its interval.
fn mean(own: &ColumnMean, digits: Digits) -> String {
    match (&own.mean, &own.interval) {
        (Ok(mean), Ok(interval)) => format!(
            "{} <small>{} to {}</small>",
            digits.text(*mean),
            digits.text(interval.low),
            digits.text(interval.high)
        ),
        (Ok(mean), Err(_)) => digits.text(*mean),
        (Err(reason), _) => {
            format!("<i title=\"{}\">absent</i>", escape(&reason.to_string()))
        }
    }
}

/// The sign of a system in the row of a column, if it leads.
fn sign(column: &ColumnVerdict, system: &str) -> Option<&'static str> {
    let survives = column.survives.as_ref();
    let shares = |lead: &Lead| match lead {
        Lead::Shared { systems } => systems.iter().any(|one| one == system),
        _ => false,
    };
    if survives.and_then(Lead::alone) == Some(system) {
        Some(LEADS)
    } else if column.lead.alone() == Some(system) {
        Some(LED)
    } else if survives.map_or(shares(&column.lead), shares) {
        Some(SHARES)
    } else {
        None
    }
}

/// Why a column has no say, in words.
fn vote(vote: &Vote) -> Option<String> {
    match vote {
        Vote::Votes => None,
        Vote::NoDirection => Some("has no say: it is not known whether more is better".to_owned()),
        Vote::Constant => Some("has no say: all values are equal".to_owned()),
        Vote::Backwards { criterion, r, stories } => Some(format!(
            "has no say: agrees the wrong way with {criterion} (r = {r:.2}, {stories} stories)"
        )),
    }
}

/// As many digits after the point as show one digit of half the narrowest interval.
fn decimals(column: &ColumnVerdict) -> u8 {
    let widths = column.means.iter().filter_map(|own| own.interval.as_ref().ok());
    let narrowest = widths
        .map(|interval| (interval.high - interval.low) / 2.0)
        .filter(|half| *half > 0.0)
        .fold(f64::INFINITY, f64::min);
    if narrowest.is_finite() { (-narrowest.log10().floor()).clamp(0.0, 4.0) as u8 } else { 3 }
}

/// What the signs mean.
fn legend(verdict: &Verdict) -> String {
    let mut signs: Vec<&str> = Vec::new();
    for column in &verdict.columns {
        signs.extend(verdict.systems.iter().filter_map(|system| sign(column, &system.name)));
    }
    let tests = match verdict.tests {
        1 => "for the one test".to_owned(),
        tests => format!("over all {tests} tests of the table"),
    };
    let meanings = [
        (
            LEADS,
            format!("significantly better than all others, also after Holm's correction {tests}"),
        ),
        (LED, "better than all others by this row alone, but not after that correction".to_owned()),
        (SHARES, "shares the lead: better than some others, but not than each other".to_owned()),
    ];
    let used = meanings.iter().filter(|(sign, _)| signs.contains(sign));
    let mut parts: Vec<String> = used.map(|(sign, meaning)| format!("{sign} {meaning}.")).collect();
    if signs.is_empty() {
        parts.push("No system leads by any row.".to_owned());
    }
    parts.push("↑ higher is better, ↓ lower is better.".to_owned());
    parts.push("Small numbers: the 95% interval of the mean.".to_owned());
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use storymeter_core::{Column, Row, ScoreTable};

    use crate::inputs::{Inputs, NamedTable};
    use crate::{Report, StoryTable};

    /// A name that is markup.
    const HOSTILE: &str = "<b>B&amp;</b>";

    /// The page about two systems: the words and the two scores of each, and a flag of the first.
    fn page(words: [u64; 2], scores: [[f64; 2]; 2]) -> String {
        let mut rows = Vec::new();
        let mut values = [Vec::new(), Vec::new()];
        for item in 0..20u64 {
            for (at, name) in ["heron", HOSTILE].into_iter().enumerate() {
                rows.push(Row {
                    id: item.to_string(),
                    system: Some(name.to_owned()),
                    item: item.to_string(),
                    words: Some(words[at] + item % 3),
                    flags: if at == 0 && item < 10 { vec!["preamble".into()] } else { vec![] },
                    ..Row::default()
                });
                for (column, values) in values.iter_mut().enumerate() {
                    let noise = (item as usize * (3 + column) + at) % 11;
                    values.push(Ok(scores[column][at] + noise as f64 / 100.0));
                }
            }
        }
        let mut table = ScoreTable::new(rows);
        let [first, second] = values;
        table.push(Column::metric("plot", super::Direction::Higher), first);
        table.push(Column::metric("slips", super::Direction::Lower), second);
        let stories = StoryTable::new(table, None);
        let tables = vec![NamedTable { name: "scores".to_owned(), stories }];
        Report::new(&Inputs { tables, ..Inputs::default() }).html()
    }

    /// The cells of the row that begins with these words.
    fn cells(page: &str, row: &str) -> Vec<String> {
        let start = page.find(&format!("class=\"word\">{row}")).expect("the row is there");
        let row = page[start..].split("</tr>").next().unwrap_or_default();
        row.split("<td").skip(1).map(str::to_owned).collect()
    }

    #[test]
    fn a_winner_leads_by_every_row_and_names_are_text() {
        let page = page([120, 121], [[0.3, 0.9], [0.8, 0.2]]);
        assert!(page.contains("class=\"meaning verdict winner\""));
        assert!(!page.contains(HOSTILE) && page.contains("&lt;b&gt;B&amp;amp;&lt;/b&gt; leads by"));
        for row in ["plot ↑", "slips ↓"] {
            let cells = cells(&page, row);
            assert!(!cells[0].contains('★') && cells[1].contains("class=\"leads\"><b>★"), "{row}");
        }
        assert_eq!(cells(&page, "stories"), [">20</td>", ">20</td>"]);
        assert_eq!(cells(&page, "flags")[0], "><small>preamble 50%</small></td>");
        assert_eq!(cells(&page, "flags")[1], ">none</td>");
    }

    #[test]
    fn nobody_wins_where_columns_disagree_and_lengths_differ() {
        let page = page([50, 1400], [[0.3, 0.9], [0.2, 0.8]]);
        assert!(page.contains("class=\"meaning verdict none\""));
        assert!(page.contains("The systems write stories of different lengths"));
        assert!(
            cells(&page, "plot ↑")[1].contains('★') && cells(&page, "slips ↓")[0].contains('★')
        );
        let words = cells(&page, "words");
        assert!(words[0].contains(">51 <small>50 to 52<"), "{words:?}");
        assert!(words[1].contains(">1,401 <small>1,400 to 1,402<"), "{words:?}");
    }
}
