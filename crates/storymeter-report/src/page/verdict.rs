//! The first screen of a page about systems: the verdict over all columns, who leads by what, and
//! what speaks against it.

use std::fmt::Write as _;

use storymeter_core::Role;
use storymeter_core::number::{Digits, percent, thousands};
use storymeter_meta::systems::SystemComparison;
use storymeter_meta::systems::verdict::{
    ColumnMean, ColumnVerdict, Lead, SystemProfile, Verdict, Vote,
};
use storymeter_meta::view::{
    LEADERS_TITLE, LeadSign, QUESTION, TRUST_HEADING, TrustLine, VerdictWords, by_one_column,
    column_conclusion, decimals, key_with_arrow, legend, means_beside, means_by_length,
    not_counted,
};

use super::Page;
use crate::svg::escape;

/// The most flags of a system that the first screen names.
const MOST_FLAGS: usize = 3;

/// The most sentences under the headline. The others fold.
const MOST_SENTENCES: usize = 4;

impl Page<'_> {
    /// Writes the first screen for systems: who is best, who leads by what, and why to doubt it.
    pub fn write_verdict(&mut self, verdict: &Verdict, words: &VerdictWords) {
        let found = &self.report.comparisons().found;
        let _ = writeln!(self.main, "<h2 id=\"summary-h\">{QUESTION}</h2>");
        self.write_headline(verdict, words);
        let own = self.report.inputs().highlight.as_ref();
        let own = found.first().filter(|one| own == Some(&one.column.key));
        if let Some(own) = own {
            let conclusion = column_conclusion(verdict, own);
            self.paragraph("", &by_one_column(own.column.key.as_str(), &conclusion));
        }
        self.write_matrix(verdict, found);
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

    fn write_matrix(&mut self, verdict: &Verdict, found: &[SystemComparison]) {
        let heads = heads("by", &verdict.systems);
        let about = profile_rows(&verdict.systems, verdict.flags.known);
        // The comparisons that the page has no room for are part of the verdict, not of the table.
        let comparison = |column: &ColumnVerdict| {
            found.iter().find(|one| one.column.key == column.key && one.column.role == column.role)
        };
        let columns: Vec<ColumnVerdict> = verdict.columns.iter().map(as_compared).collect();
        let shown = || columns.iter().filter_map(|one| Some((one, comparison(one)?)));
        let scores: String =
            shown().map(|(column, own)| column_row(column, own, verdict)).collect();
        let _ = writeln!(
            self.main,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{LEADERS_TITLE}\">\
             <table class=\"leaders\"><caption>{LEADERS_TITLE}</caption>\
             <thead><tr>{heads}</tr></thead><tbody class=\"about-systems\">{about}</tbody>\
             <tbody>{scores}</tbody></table></div>"
        );
        self.paragraph("caption", &legend(verdict, shown().map(|(column, _)| column)));
        for note in &self.report.comparisons().left_out {
            self.paragraph("caption", note);
        }
    }

    /// Writes what the texts of systems are like, where there is no verdict about them.
    pub fn write_profiles(&mut self, systems: &[SystemProfile]) {
        let title = "The texts of the systems";
        let has_flags = systems.iter().any(|system| !system.flags.is_empty());
        let _ = writeln!(
            self.main,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\">\
             <table class=\"leaders profiles\"><caption>{title}</caption>\
             <thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>",
            heads("", systems),
            profile_rows(systems, has_flags)
        );
    }

    /// Writes how far columns can be trusted, if any says so.
    pub fn write_trust(&mut self, lines: &[TrustLine]) {
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
            "<h3 class=\"trust-heading\">{TRUST_HEADING}</h3><ul class=\"trust\">{items}</ul>"
        );
    }
}

fn warns(lines: &[TrustLine]) -> bool {
    lines.iter().any(|line| line.is_warning)
}

/// The heads of a table with one column per system.
fn heads(first: &str, systems: &[SystemProfile]) -> String {
    let mut heads = format!("<th scope=\"col\" class=\"word\">{first}</th>");
    for system in systems {
        let people = if system.is_people { " <small>people</small>" } else { "" };
        let _ = write!(heads, "<th scope=\"col\">{}{people}</th>", escape(&system.name));
    }
    heads
}

/// The rows about the texts: how many there are, how long they are, and what else is in them.
fn profile_rows(systems: &[SystemProfile], with_flags: bool) -> String {
    let mut rows = String::new();
    let mut row = |name: &str, cell: &dyn Fn(&SystemProfile) -> String| {
        let cells: String = systems.iter().map(|one| format!("<td>{}</td>", cell(one))).collect();
        let _ = write!(rows, "<tr><th scope=\"row\" class=\"word\">{name}</th>{cells}</tr>");
    };
    row("stories", &|system| thousands(system.stories as u64));
    if systems.iter().any(|system| system.words.is_some()) {
        row("words: median <small>and middle 80%</small>", &|system| match system.words {
            Some(words) => {
                let [low, median, high] = [words.low, words.median, words.high]
                    .map(|count| thousands(count.round() as u64));
                format!("{median} <small>{low} to {high}</small>")
            }
            None => "<i>unknown</i>".to_owned(),
        });
    }
    if with_flags {
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

/// A column with the leaders that `compare` names: none where the column is not counted, and those
/// of this column alone where the correction over all columns leaves no single one.
fn as_compared(column: &ColumnVerdict) -> ColumnVerdict {
    let mut column = column.clone();
    if column.vote != Vote::Votes {
        (column.lead, column.survives) = (Lead::Nobody, None);
    } else if column.survives.as_ref().is_none_or(|lead| lead.alone().is_none()) {
        // Who is level with the leader after the correction shares no lead by that.
        column.survives = None;
    }
    column
}

/// One column: the means of the systems with their intervals, who leads, and the means that allow
/// for length.
fn column_row(column: &ColumnVerdict, found: &SystemComparison, verdict: &Verdict) -> String {
    let human = if column.role == Role::Human { " <small>rated by people</small>" } else { "" };
    let aside = not_counted(&column.vote).map_or(String::new(), |text| {
        format!(" <small class=\"not-counted\">{}</small>", escape(&text))
    });
    let means = column.means.iter().filter_map(|own| own.mean.as_ref().ok().copied());
    let digits = Digits::new(means, decimals(found));
    let by_length = means_by_length(&verdict.length, &column.key, column.role);
    let cell = |system: &SystemProfile| {
        let own = column.means.iter().find(|own| own.system == system.name);
        let sign = LeadSign::new(column, &system.name);
        let class = match sign {
            Some(LeadSign::Leads) => " class=\"leads\"",
            Some(_) => " class=\"led\"",
            None => "",
        };
        let sign = sign.map_or(String::new(), |sign| format!("<b>{}</b> ", sign.symbol()));
        let mean = own.map_or(String::new(), |own| mean(own, digits));
        let [adjusted, percentile] = by_length.map(|means| {
            let own = means?.iter().find(|own| own.system == system.name)?;
            own.mean.as_ref().ok().copied()
        });
        let adjusted = adjusted.map(|mean| digits.text(mean));
        let beside = match means_beside(adjusted.as_deref(), percentile) {
            none if none.is_empty() => none,
            beside => format!(" <small class=\"by-length\">{beside}</small>"),
        };
        format!("<td{class}>{sign}{mean}{beside}</td>")
    };
    let cells: String = verdict.systems.iter().map(cell).collect();
    // Keys of a family may be broken behind its name.
    let key = escape(&key_with_arrow(column.key.as_str(), column.direction));
    let key = key.replace('/', "/<wbr>");
    format!("<tr><th scope=\"row\" class=\"word\">{key}{human}{aside}</th>{cells}</tr>")
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

#[cfg(test)]
mod tests {
    use storymeter_core::{Column, Counts, Direction, Key, Row, ScoreTable, Validity};
    use storymeter_meta::systems::verdict::verdict;
    use storymeter_meta::systems::{Options, compare};
    use storymeter_meta::view::verdict_words;

    use super::*;
    use crate::inputs::{Inputs, NamedTable};
    use crate::svg::escape;
    use crate::{Report, StoryTable};

    /// A name that is markup.
    const HOSTILE: &str = "<b>B&amp;</b>";

    /// The stories of two systems: the words of each, and a flag of the first.
    fn rows(words: [u64; 2]) -> Vec<Row> {
        let row = |item: u64, at: usize| Row {
            id: item.to_string(),
            system: Some(["heron", HOSTILE][at].to_owned()),
            item: item.to_string(),
            words: Some(words[at] + item % 3),
            flags: if at == 0 && item < 10 { vec!["preamble".into()] } else { vec![] },
            ..Row::default()
        };
        (0..20).flat_map(|item| [row(item, 0), row(item, 1)]).collect()
    }

    /// The page about a table, with a metric that the user points out.
    fn page_of(table: ScoreTable, highlight: Option<&str>) -> String {
        let stories = StoryTable::new(table, None);
        let tables = vec![NamedTable { name: "scores".to_owned(), stories }];
        let highlight = highlight.map(Key::new);
        Report::new(&Inputs { tables, highlight, ..Inputs::default() }).html()
    }

    /// Adds a metric around a level of each system.
    fn push(table: &mut ScoreTable, column: Column, levels: [f64; 2]) {
        let step = 3 + table.columns().len();
        let value = |row: usize| {
            let (item, at) = (row / 2, row % 2);
            Ok(levels[at] + ((item * step + at) % 11) as f64 / 100.0)
        };
        let values = (0..table.rows().len()).map(value).collect();
        table.push(column, values);
    }

    /// The page about two systems: the words and the two scores of each.
    fn page(words: [u64; 2], scores: [[f64; 2]; 2]) -> String {
        let mut table = ScoreTable::new(rows(words));
        push(&mut table, Column::metric("plot", Direction::Higher), scores[0]);
        push(&mut table, Column::metric("slips", Direction::Lower), scores[1]);
        page_of(table, Some("plot"))
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

    #[test]
    fn marks_name_the_leaders_that_a_comparison_names() {
        let shared = || Lead::Shared { systems: vec!["heron".into(), "owl".into()] };
        let alone = || Lead::Alone { system: "heron".into() };
        let mut table = ScoreTable::new(rows([120, 121]));
        push(&mut table, Column::metric("plot", Direction::Higher), [0.3, 0.9]);
        let options = Options::default();
        let found = compare(&table, &options).unwrap();
        let column = verdict(&table, &found, &options).unwrap().columns.remove(0);
        let signs = |vote: Vote, lead: Lead, survives: Option<Lead>| {
            let column = ColumnVerdict { vote, lead, survives, ..column.clone() };
            let own = as_compared(&column);
            ["heron", "owl"].map(|system| LeadSign::new(&own, system))
        };
        let (leads, led, shares) =
            (Some(LeadSign::Leads), Some(LeadSign::Led), Some(LeadSign::Shares));
        assert_eq!(signs(Vote::Votes, alone(), Some(alone())), [leads, None]);
        assert_eq!(signs(Vote::Votes, alone(), Some(shared())), [led, None]);
        assert_eq!(signs(Vote::Votes, shared(), Some(Lead::Nobody)), [shares, shares]);
        assert_eq!(signs(Vote::NoDirection, alone(), None), [None, None]);
    }

    #[test]
    fn a_column_without_direction_has_no_star() {
        let mut table = ScoreTable::new(rows([120, 121]));
        push(&mut table, Column::metric("length", Direction::None), [0.3, 0.9]);
        push(&mut table, Column::metric("plot", Direction::Higher), [0.3, 0.9]);
        let page = page_of(table, None);
        assert!(page.contains("not counted: its direction is not known"));
        assert!(cells(&page, "length").iter().all(|cell| !cell.contains('★')));
        assert!(cells(&page, "plot ↑")[1].contains('★'));
    }

    #[test]
    fn the_sentence_of_the_own_metric_claims_no_more_than_the_verdict() {
        let page = page([50, 1400], [[0.3, 0.9], [0.2, 0.8]]);
        let name = escape(HOSTILE);
        let hedged = format!(
            "<p>By plot alone: No clear winner by plot: {name} has the best mean, but that may have \
             other reasons than better stories.</p>"
        );
        assert!(page.contains(&hedged));
        // Neither the first screen nor the rankings by each column call a system better.
        assert!(
            !page.contains(&format!("{name} is better than")) && !page.contains("heron is better")
        );
        let clear = self::page([120, 121], [[0.3, 0.9], [0.8, 0.2]]);
        assert!(clear.contains(&format!("By plot alone: {name} is better than heron by plot")));
    }

    #[test]
    fn the_verdict_is_about_all_columns_also_where_the_tables_have_no_room() {
        let mut table = ScoreTable::new(rows([120, 121]));
        for at in 0..14 {
            // The last metric alone prefers the other system.
            let levels = if at == 13 { [0.9, 0.3] } else { [0.3, 0.9] };
            let column = Column::metric(format!("metric-{at}").as_str(), Direction::Higher);
            push(&mut table, column, levels);
        }
        let options = Options::default();
        let found = compare(&table, &options).unwrap();
        let judged = verdict(&table, &found, &options).unwrap();
        let words = verdict_words(&judged, &found);
        assert!(words.headline.starts_with("No clear winner: "), "{}", words.headline);
        assert!(words.headline.contains("heron leads by metric-13"), "{}", words.headline);
        let page = page_of(table, None);
        for sentence in words.details.iter().chain([&words.headline]) {
            assert!(page.contains(&escape(sentence)), "{sentence}");
        }
        assert!(
            page.contains("The tables have 12 of 14 metrics; the verdict is about all of them.")
        );
        assert!(page.contains("over all 14 tests of the table"));
        assert!(cells(&page, "metric-11 ↑").len() == 2 && !page.contains("word\">metric-12 ↑"));
    }

    #[test]
    fn means_that_allow_for_length_stand_in_the_matrix_if_lengths_differ() {
        let differ = page([50, 1400], [[0.3, 0.9], [0.2, 0.8]]);
        let cell = &cells(&differ, "plot ↑")[1];
        assert!(cell.contains("<small class=\"by-length\">adj. "), "{cell}");
        assert!(!page([120, 121], [[0.3, 0.9], [0.8, 0.2]]).contains("by-length\">"));
    }

    fn card() -> Validity {
        Validity {
            measures: "whether a story hangs together".into(),
            tested: "old stories".into(),
            doubtful: "new stories".into(),
            words: (20, 500),
        }
    }

    #[test]
    fn a_page_about_one_system_says_how_far_to_trust_a_trained_metric() {
        let validity = Some(card());
        let mut table = ScoreTable::new(rows([700, 700]).into_iter().step_by(2).collect());
        let counts = Counts { present: 20, outside: 20, ..Counts::default() };
        let metric = Column::metric("union", Direction::Higher);
        push(
            &mut table,
            metric.with(|it| (it.validity, it.counts) = (validity, counts)),
            [0.5, 0.5],
        );
        let page = page_of(table, None);
        assert!(page.contains("<li class=\"warning\">Warning: union: whether a story hangs"));
        assert!(page.contains("Here, 100% of these stories have other lengths."));
    }

    #[test]
    fn a_page_about_a_study_has_trust_lengths_and_flags() {
        let mut rated = rows([120, 700]);
        for (at, row) in rated.iter_mut().enumerate() {
            row.ratings.push("fun", Some((at * 7 % 5) as f64));
        }
        let mut table = ScoreTable::new(rated);
        let validity = Some(card());
        let metric = Column::metric("union", Direction::Higher);
        push(&mut table, metric.with(|it| it.validity = validity), [0.5, 0.6]);
        let study = storymeter_meta::table::analyse(&table, &Default::default()).unwrap();
        let page = Report::new(&Inputs::of_study("study", study, table, None)).html();
        assert!(page.contains("<li>union: whether a story hangs together; tested on old stories"));
        assert!(page.contains("The texts of the systems"));
        let words = cells(&page, "words");
        assert!(words[1].contains(">701 <small>700 to 702<"), "{words:?}");
        assert_eq!(cells(&page, "flags")[0], "><small>preamble 50%</small></td>");
    }
}
