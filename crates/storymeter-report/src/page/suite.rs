//! Test suites for metrics: what each metric sees, in words, in one picture and in numbers.

use std::fmt::Write as _;

use storymeter_core::{Absence, Aspect, Key};
use storymeter_meta::suite::{AspectSummary, Pairing, SuiteResult};
use storymeter_meta::view::{Cell, Form, Sheet, Subject, TrustWords, capitalised, suite_sentence};

use super::Page;
use crate::figures::Source;
use crate::inputs::SuiteRun;
use crate::svg::escape;

/// With more metrics, the sentences about the others fold, so that the picture stays visible.
const MOST_SENTENCES: usize = 6;
/// With more warnings, they fold.
const MOST_WARNINGS: usize = 4;
/// The most characters of the title of a table, which has the name of its metric.
const LONGEST_TITLE: usize = 120;
/// The most characters of a name at the top of the page.
const LONGEST_NAME: usize = 30;

const DISCRIMINATION: &str = "Each twin is a damaged copy of its story. A metric that sees the \
                              damage scores the original higher. The AUC is the probability that \
                              an original scores above a twin: 1 is best, 0.5 is a coin toss, and \
                              below 0.5 the metric prefers the damage.";
const INVARIANCE: &str = "Each twin means the same as its story, so the score should stay the \
                          same. The shift is the mean of original less twin, in standard \
                          deviations: 0 is best. It is positive where the metric prefers the \
                          original, and 0.3 or more in either direction is a disturbance.";
const BASELINES: &str = "The constant metric gives all texts the same score. It is perfectly calm \
                          because it sees nothing, so calm alone is worth nothing. The typo \
                          column shows what a few wrong letters do: a metric that reacts more to \
                          them than to a damage measures spelling rather than stories. In the \
                          tables, \u{201c}times typo\u{201d} is a shift divided by that of typos.";
const COMPAT: &str = "These are the numbers of OpenMEVA's own reading, in which originals and twins \
                      are two samples and not pairs.";
const PAPER: &str = "The aspects are those of Guan, Zhang, Feng, Liu, Ding, Mao, Fan and Huang, \
                     OpenMEVA: A Benchmark for Evaluating Open-ended Story Generation Metrics, ACL \
                     2021.";

impl Page<'_> {
    /// Writes a section for each test suite.
    pub fn write_suites(&mut self) {
        let inputs = self.report.inputs();
        for (at, suite) in inputs.suites.iter().enumerate() {
            let is_first = at == 0 && inputs.has_only_suites();
            self.write_suite(at, suite, is_first);
        }
    }

    fn write_suite(&mut self, at: usize, suite: &SuiteRun, is_first: bool) {
        let is_only = self.report.inputs().suites.len() == 1;
        let prefix = format!("suite-{}", at + 1);
        let id = if is_first { "summary" } else { &prefix };
        let class = if is_first { "first suite" } else { "suite" };
        let heading = match is_only {
            true => heading(&suite.result).to_owned(),
            false => format!("{}: {}", heading(&suite.result), suite.name),
        };
        if !is_first {
            let name = match is_only {
                true => "What metrics see".to_owned(),
                false => format!("What metrics see: {}", beginning(&suite.name, LONGEST_NAME)),
            };
            self.links.push((id.to_owned(), name));
        }
        let _ = writeln!(
            self.main,
            "<section id=\"{id}\" class=\"{class}\" aria-labelledby=\"{id}-h\">\
             <h2 id=\"{id}-h\">{}</h2>",
            escape(&heading)
        );
        self.write_sentences(&suite.result);
        let is_own =
            |source: &Source<'_>| matches!(source, Source::Suite { suite } if *suite == at);
        if let Some(planned) = self.plan.iter().position(|one| is_own(&one.source)) {
            self.write_planned(planned);
        }
        self.write_trust(&TrustWords::of_columns(&suite.result.metrics).lines);
        if at == 0 {
            self.write_reading();
        }
        if suite.result.method.compat {
            self.paragraph("note", COMPAT);
        }
        self.write_suite_warnings(&suite.result);
        // A page with nothing else has links to the parts of its only section.
        let is_linked = is_first && is_only;
        self.write_suite_tables(&prefix, suite, is_linked);
        self.write_suite_examples(&prefix, &suite.result, is_linked);
        self.write_suite_texts(&prefix, &suite.result, is_linked);
        self.main.push_str("</section>\n");
    }

    /// A part of a section that can be folded.
    pub fn open_fold(&mut self, id: &str, link: Option<&str>, heading: &str, about: &str) {
        if let Some(name) = link {
            self.links.push((id.to_owned(), name.to_owned()));
        }
        let _ = writeln!(
            self.main,
            "<details class=\"part\" id=\"{}\"><summary><h3>{}</h3> \
             <span class=\"about\">{}</span></summary>",
            escape(id),
            escape(heading),
            escape(about)
        );
    }

    /// What each metric sees, in words.
    fn write_sentences(&mut self, result: &SuiteResult) {
        let keys: Vec<&Key> = result.metrics.iter().map(|column| &column.key).collect();
        if keys.is_empty() {
            self.paragraph("note", "This result has no metric, so there is nothing to say.");
            return;
        }
        let highlight = self.report.inputs().highlight.as_ref();
        let most = if keys.len() <= MOST_SENTENCES + 1 { keys.len() } else { MOST_SENTENCES };
        // The metric that the user points out is never folded.
        let is_shown = |at: usize| at < most || Some(keys[at]) == highlight;
        let (shown, folded): (Vec<usize>, Vec<usize>) =
            (0..keys.len()).partition(|&at| is_shown(at));
        let words = |positions: &[usize]| -> String {
            let text = |&at: &usize| paragraph(result, keys[at], Some(keys[at]) == highlight);
            positions.iter().map(text).collect()
        };
        let class = if keys.len() > 2 { "meaning columns" } else { "meaning" };
        let mut markup = format!("<div class=\"{class}\"><div>{}</div>", words(&shown));
        if !folded.is_empty() {
            let _ = write!(
                markup,
                "<details><summary>{} more metrics in words</summary><div>{}</div></details>",
                folded.len(),
                words(&folded)
            );
        }
        let _ = writeln!(self.main, "{markup}</div>");
    }

    /// How to read the picture, which is the same for all suites.
    fn write_reading(&mut self) {
        let texts = [
            ("Discrimination", DISCRIMINATION),
            ("Invariance", INVARIANCE),
            ("Two baselines", BASELINES),
        ];
        self.main.push_str("<div class=\"reading\">");
        for (heading, text) in texts {
            let _ = write!(self.main, "<div><h3>{heading}</h3>");
            self.paragraph("", text);
            self.main.push_str("</div>");
        }
        self.main.push_str("</div>\n");
    }

    fn write_suite_warnings(&mut self, result: &SuiteResult) {
        let count = result.warnings.len();
        if count == 0 {
            return;
        }
        let mut items = String::new();
        for warning in &result.warnings {
            let (subject, message) = (escape(&warning.subject), escape(&warning.message));
            let _ = write!(
                items,
                "<li><b>{subject}</b>: {message} <span class=\"about\">({})</span></li>",
                warning.kind
            );
        }
        let what = match count {
            1 => "Before you trust these numbers: 1 warning".to_owned(),
            _ => format!("Before you trust these numbers: {count} warnings"),
        };
        let open = if count <= MOST_WARNINGS { " open" } else { "" };
        let _ = writeln!(
            self.main,
            "<details class=\"warnings\"{open}><summary>{what}</summary><ul>{items}</ul></details>"
        );
    }

    fn write_suite_tables(&mut self, prefix: &str, suite: &SuiteRun, is_linked: bool) {
        if suite.sheets.is_empty() {
            return;
        }
        let about = match suite.result.metrics.len() {
            1 => "AUC, shift with its interval, right order, r".to_owned(),
            count => format!("{count} metrics side by side, and one table for each"),
        };
        let link = is_linked.then_some("Numbers");
        self.open_fold(&format!("{prefix}-numbers"), link, "All numbers", &about);
        for (at, sheet) in suite.sheets.iter().enumerate() {
            let open = if at == 0 { " open" } else { "" };
            let _ = writeln!(
                self.main,
                "<details class=\"sheet\" id=\"{prefix}-sheet-{}\" data-extra=\"{}\"{open}>\
                 <summary>{}</summary></details>",
                at + 1,
                self.extra.len(),
                escape(&beginning(&capitalised(&sheet.title), LONGEST_TITLE))
            );
            self.extra.push(with_reasons(sheet, &suite.result));
        }
        self.close_part();
    }

    /// What the numbers rest on: texts, rules, stories that were left out, and parameters.
    fn write_suite_texts(&mut self, prefix: &str, result: &SuiteResult, is_linked: bool) {
        let link = is_linked.then_some("Texts and method");
        let about = "pairs, stories that were left out and why, parameters";
        self.open_fold(&format!("{prefix}-texts"), link, "What the numbers rest on", about);
        let sheet = texts(format!("{prefix}-texts"), result);
        if sheet.rows.is_empty() {
            self.paragraph("", "This result has no aspect.");
        } else {
            self.write_table(sheet, None);
        }
        let method = &result.method;
        self.paragraph(
            "",
            &format!(
                "Intervals are {}% percentile bootstrap intervals from {} resamples with the seed \
                 {}. The result was made by storymeter {}.",
                (method.confidence * 1e8).round() / 1e6,
                method.resamples,
                method.seed,
                result.version
            ),
        );
        self.paragraph("", PAPER);
        self.paragraph("signature", &result.signature.to_string());
        for column in &result.metrics {
            if let Some(signature) = &column.signature {
                self.paragraph("signature", &format!("{}: {signature}", column.key));
            }
        }
        self.close_part();
    }
}

fn heading(result: &SuiteResult) -> &'static str {
    match result.metrics.len() {
        0 => "What metrics see",
        1 => "What this metric sees",
        _ => "What these metrics see",
    }
}

/// The sentences about one metric. Where they begin with its name, the name is bold.
fn paragraph(result: &SuiteResult, key: &Key, is_own: bool) -> String {
    let words = suite_sentence(result, key.as_str());
    let text = match words.strip_prefix(key.as_str()) {
        Some(after) if !key.as_str().is_empty() => {
            format!("<b>{}</b>{}", escape(key.as_str()), escape(after))
        }
        _ => escape(&words),
    };
    let class = if is_own { " class=\"own\"" } else { "" };
    format!("<p{class}>{text}</p>")
}

/// The beginning of a text.
fn beginning(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}\u{2026}", &text[..end]),
        None => text.to_owned(),
    }
}

/// A sheet whose empty cells are absent numbers with their reasons, as everywhere on the page. Its
/// rows are the aspects of the outline.
fn with_reasons(sheet: &Sheet, result: &SuiteResult) -> Sheet {
    let mut sheet = sheet.clone();
    for (row, (_, reason)) in sheet.rows.iter_mut().zip(result.outline()) {
        let Some(reason) = reason else { continue };
        for cell in
            row.iter_mut().filter(|cell| matches!(cell, Cell::Text(text) if text.is_empty()))
        {
            *cell = Cell::missing(Absence::because(reason.as_str()));
        }
    }
    sheet
}

/// The texts of all aspects: how many, and how many stories have no pair for which reason.
fn texts(id: String, result: &SuiteResult) -> Sheet {
    let title = "The texts of each aspect";
    let mut sheet = Sheet::new(id, Subject::Other, title, Form::Table)
        .columns(["aspect", "test", "what the twin is", "stories", "pairs", "left out"], 0)
        .columns(["why stories were left out", "rules"], 0);
    for (aspect, reason) in result.outline() {
        let mut row: Vec<Cell> =
            vec![aspect.name().into(), aspect.test().name().into(), twin(aspect).into()];
        match result.summary(aspect) {
            Some(summary) => row.extend(counts(summary)),
            None => {
                let reason = reason.unwrap_or_default();
                row.extend([0usize, 0, 0].map(Cell::from));
                row.extend([format!("not tested: {reason}").into(), "".into()]);
            }
        }
        sheet.push(row);
    }
    sheet
}

fn counts(summary: &AspectSummary) -> [Cell; 5] {
    let left_out: usize =
        summary.left_out.iter().fold(0, |sum, left| sum.saturating_add(left.stories));
    let reasons = summary.left_out.iter().map(|left| format!("{} ({})", left.reason, left.stories));
    let rules = summary.rules.iter().map(|own| format!("{} ({})", own.rule, own.pairs));
    [
        summary.stories.into(),
        match summary.pairing {
            Pairing::Paired => summary.pairs.into(),
            Pairing::Unpaired => format!("{}+{}", summary.originals, summary.twins).into(),
        },
        left_out.into(),
        reasons.collect::<Vec<_>>().join("; ").into(),
        rules.collect::<Vec<_>>().join("; ").into(),
    ]
}

/// How the twins of an aspect differ from their stories.
pub(super) fn twin(aspect: Aspect) -> &'static str {
    match aspect {
        Aspect::LexicalRepetition => "the same words or the same sentence again",
        Aspect::SemanticRepetition => "the same event again, in other words",
        Aspect::CharacterBehaviour => "the wrong character acts",
        Aspect::CommonSense => "events contradict what everybody knows",
        Aspect::Consistency => "events contradict each other",
        Aspect::Relatedness => "an event has nothing to do with the story",
        Aspect::Cause => "cause and effect are exchanged",
        Aspect::Time => "the order of time is broken",
        Aspect::Synonym => "words are replaced by synonyms",
        Aspect::Paraphrase => "a sentence says the same in other words",
        Aspect::Punctuation => "marks inside sentences are missing",
        Aspect::Contraction => "contractions are written out, or the other way round",
        Aspect::Typo => "a few letters are mistyped",
        Aspect::Chat => "a preamble, a title or an ending stands around the story",
    }
}
