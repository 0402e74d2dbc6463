//! Everything below the first screen, in parts that fold.

use std::fmt::Write as _;

use storymeter_meta::systems::verdict::system_profiles;
use storymeter_meta::view::{
    Form, Sheet, TrustWords, capitalised, column_conclusion, conclusion, metric_ranking, text,
    warnings,
};
use storymeter_meta::{Kind, Level};

use super::Page;
use crate::figures::Source;
use crate::inputs::StudyRun;
use crate::summary;
use crate::svg::escape;
use crate::systems;

/// Tables with more cells are not printed unless they are open: they would fill dozens of pages.
const MOST_PRINTED_CELLS: usize = 2_000;

/// What the papers are that the analyses come from. The page has no address of any kind.
const HANNA: &str = "The analysis is that of Chhun, Colombo, Suchanek and Clavel, Of Human \
                     Criteria and Automatic Metrics: A Benchmark of the Evaluation of Story \
                     Generation, COLING 2022.";
const UNION: &str = "The analysis is that of Guan and Huang, UNION: An Unreferenced Metric for \
                     Evaluating Open-ended Story Generation, EMNLP 2020.";
const SIZES: &str = "The words small, medium and large for correlations of 0.1, 0.3 and 0.5 are \
                     those of Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988.";

impl Page<'_> {
    /// Writes all parts that there is something for.
    pub fn write_parts(&mut self, story_notes: &[String]) {
        self.write_changes_part();
        self.write_metrics_part();
        self.write_certainty();
        self.write_pairs();
        self.write_distribution();
        self.write_other_metrics();
        self.write_explorer();
        self.write_figures();
        self.write_more_figures();
        self.write_tables();
        self.write_stories(story_notes);
        self.write_method();
    }

    fn runs(&self) -> impl Iterator<Item = (usize, &'_ StudyRun)> {
        self.report.inputs().runs.iter().enumerate()
    }

    /// Names the run above its section of a part, where there are several runs.
    fn write_run_name(&mut self, run: &StudyRun) {
        if self.report.inputs().runs.len() > 1 {
            let _ = writeln!(self.main, "<h3>{}</h3>", escape(&run.name));
        }
    }

    fn write_changes_part(&mut self) {
        let report = self.report;
        if report.changes().is_empty() {
            return;
        }
        self.open_part("changes", "Changes", "All changes", "every correlation that differs");
        for (at, changes) in report.changes().iter().enumerate() {
            let _ = writeln!(self.main, "<h3>{}</h3>", escape(&changes.sheet.title));
            self.paragraph("", &changes.conclusion);
            self.paragraph("caption", &changes.headline);
            if at > 0 {
                self.write_first_of(
                    |source| matches!(source, Source::Changes { at: own } if *own == at),
                );
            }
            self.write_sorted(changes.sheet.clone());
        }
        self.close_part();
    }

    fn write_metrics_part(&mut self) {
        let inputs = self.report.inputs();
        let most = inputs.runs.iter().map(|run| run.study.metrics().len()).max();
        let Some(most) = most else { return };
        self.open_part(
            "metrics",
            "Metrics",
            "All metrics, ranked",
            &format!("{} at every level", counted(most, "metric")),
        );
        for (at, run) in inputs.runs.iter().enumerate() {
            self.write_run_name(run);
            let id = format!("metrics-{}", at + 1);
            let Some(sheet) = metric_ranking(&run.study, &id, None) else {
                self.paragraph("caption", "No metric has a correlation with a criterion.");
                continue;
            };
            let is_own =
                |source: &Source<'_>| matches!(source, Source::Ranking { run } if *run == at);
            if let Some(planned) = self.plan.iter().position(|one| is_own(&one.source)) {
                self.write_planned(planned);
            }
            if inputs.runs.len() > 1 {
                let verdict = summary::verdict(&run.study, inputs.highlight.as_ref());
                verdict.iter().for_each(|sentence| self.paragraph("", sentence));
            }
            let metrics = sheet.rows.iter().map(|row| row[1].text());
            let glyphs = summary::glyphs(metrics).map(str::to_owned);
            self.write_sorted(sheet);
            for text in [glyphs, summary::left_out(&run.study)].into_iter().flatten() {
                self.paragraph("caption", &text);
            }
        }
        self.close_part();
    }

    fn write_certainty(&mut self) {
        let inputs = self.report.inputs();
        if inputs.runs.is_empty() {
            return;
        }
        self.open_part(
            "certainty",
            "Certainty",
            "How certain it is",
            "tests by criterion, systems, warnings",
        );
        for (at, run) in inputs.runs.iter().enumerate() {
            self.write_run_name(run);
            let level = if inputs.runs.len() > 1 { 4 } else { 3 };
            let verdict = inputs
                .scores_of(at)
                .and_then(|scores| systems::verdict_of_study(&run.study, scores));
            for paragraph in summary::paragraphs(&run.study, verdict.as_ref()) {
                let items: String =
                    paragraph.sentences.iter().map(|s| format!("<li>{}</li>", escape(s))).collect();
                let heading = escape(paragraph.heading);
                let _ = writeln!(self.main, "<h{level}>{heading}</h{level}><ul>{items}</ul>");
            }
            if inputs.runs.len() > 1 {
                self.write_trust(&TrustWords::of_columns(&run.study.columns).lines);
            }
            self.write_warnings(run);
        }
        self.write_texts();
        self.close_part();
    }

    /// Writes how long the stories of the systems are and which flags they have, if that is known.
    fn write_texts(&mut self) {
        let Some(stories) = self.report.inputs().stories() else { return };
        let Ok(systems) = system_profiles(stories.scores()) else { return };
        let is_known = systems.iter().any(|one| one.words.is_some() || !one.flags.is_empty());
        if is_known && systems.len() > 1 {
            self.write_profiles(&systems);
        }
    }

    fn write_warnings(&mut self, run: &StudyRun) {
        let warnings = text::warnings(&run.study);
        if warnings.is_empty() {
            return;
        }
        let mut items = String::new();
        for (kind, warning) in &warnings {
            let _ = write!(items, "<li><b>{kind}</b> {}</li>", escape(&warning.to_string()));
        }
        let _ = writeln!(
            self.main,
            "<details><summary>{}</summary><ul>{items}</ul></details>",
            match warnings.len() {
                1 => "The warning".to_owned(),
                2 => "Both warnings".to_owned(),
                count => format!("All {count} warnings"),
            }
        );
    }

    fn write_pairs(&mut self) {
        let report = self.report;
        let Some(found) = report.comparisons().found.first().filter(|one| !one.pairs.is_empty())
        else {
            return;
        };
        let pairs = if found.pairs.len() == 1 { "pair" } else { "pairs" };
        let about = format!("{} {pairs} by {}", found.pairs.len(), found.column.key);
        self.open_part("pairs", "Pairs", "Every two systems", &about);
        self.write_first_of(|source| matches!(source, Source::Pairs { .. }));
        if let (_, Some(pairs)) = systems::sheets(None, found) {
            self.write_sorted(pairs);
        }
        for text in warnings(found) {
            self.paragraph("note", &text);
        }
        self.close_part();
    }

    /// Draws the first figure of a kind, unless it is already on the page.
    fn write_first_of(&mut self, is_wanted: impl Fn(&Source<'_>) -> bool) {
        if let Some(at) = self.plan.iter().position(|planned| is_wanted(&planned.source)) {
            self.write_planned(at);
        }
    }

    fn write_distribution(&mut self) {
        let is_own = |source: &Source<'_>| matches!(source, Source::Distribution { .. });
        if !self.plan.iter().any(|planned| is_own(&planned.source)) {
            return;
        }
        let about = "the scores of single stories, by system";
        self.open_part("distribution", "Distribution", "How the scores are distributed", about);
        self.write_first_of(is_own);
        self.close_part();
    }

    fn write_other_metrics(&mut self) {
        let report = self.report;
        let comparisons = report.comparisons();
        if comparisons.found.len() < 2 && comparisons.notes.is_empty() {
            return;
        }
        // The first screen has the ranking by the first metric, unless it has a verdict.
        let verdict = comparisons.verdict().map(|(verdict, _)| verdict);
        let shown = usize::from(verdict.is_none());
        let (name, heading, about) = match comparisons.found.len().saturating_sub(shown) {
            count if shown == 0 => ("Columns", "By each column", counted(count, "ranking")),
            count => {
                let about = format!("the same comparison by {}", counted(count, "other metric"));
                ("Other metrics", "By other metrics", about)
            }
        };
        self.open_part("others", name, heading, &about);
        if let Some(means) = systems::means(&comparisons.found) {
            self.write_sorted(means);
        }
        if shown == 0 {
            self.write_first_of(|source| matches!(source, Source::Intervals { .. }));
        }
        for found in comparisons.found.iter().skip(shown) {
            let _ = writeln!(self.main, "<h3>{}</h3>", escape(found.column.key.as_str()));
            let sentence = match verdict {
                Some(verdict) => column_conclusion(verdict, found),
                None => conclusion(found),
            };
            self.paragraph("", &sentence);
            if let (Some(ranking), _) = systems::sheets(verdict, found) {
                self.write_sorted(ranking);
            }
        }
        comparisons.notes.iter().for_each(|note| self.paragraph("note", note));
        self.close_part();
    }

    fn write_explorer(&mut self) {
        if !self.runs().any(|(_, run)| has_heatmap(run)) {
            return;
        }
        self.open_part(
            "explore",
            "Explore",
            "Explore correlations and tests",
            "any level, coefficient and criterion",
        );
        self.main.push_str(
            "<form class=\"controls\" id=\"explore-controls\"></form>\n\
             <p id=\"explore-title\" class=\"caption\" aria-live=\"polite\"></p>\
             <div id=\"explore-figure\" class=\"scroll\" tabindex=\"0\" role=\"region\" \
             aria-label=\"Heat-map\"></div><p class=\"save\" id=\"explore-save\"></p>",
        );
        self.close_part();
    }

    fn write_figures(&mut self) {
        let main = |page: &Self| -> Vec<usize> {
            let is_left = |at: &usize| {
                let planned = &page.plan[*at];
                // The figure of a test suite is part of its own section.
                let is_of_suite = matches!(planned.source, Source::Suite { .. });
                planned.is_main && !is_of_suite && !page.drawn.contains(&planned.id)
            };
            (0..page.plan.len()).filter(is_left).collect()
        };
        let left = main(self);
        if left.is_empty() {
            return;
        }
        let about = match left.len() {
            1 => "the one that answers a usual question".to_owned(),
            count => format!("the {count} that answer the usual questions"),
        };
        self.open_part("figures", "Figures", "Figures", &about);
        let inputs = self.report.inputs();
        for group in inputs.runs.iter().enumerate().map(Some).chain([None]) {
            let run = group.map(|(at, _)| at);
            let own: Vec<usize> =
                left.iter().copied().filter(|&at| self.plan[at].source.run() == run).collect();
            if own.is_empty() {
                continue;
            }
            if let Some((_, run)) = group {
                self.write_run_name(run);
            }
            self.main.push_str("<div class=\"gallery\">\n");
            for at in own {
                self.write_planned(at);
            }
            self.main.push_str("</div>\n");
        }
        self.close_part();
    }

    /// The figures on demand: those of all coefficients, levels and criteria.
    fn write_more_figures(&mut self) {
        let inputs = self.report.inputs();
        let left: Vec<usize> = (0..self.plan.len())
            .filter(|&at| {
                !self.drawn.contains(&self.plan[at].id)
                    && matches!(self.plan[at].source, Source::Sheet { .. })
            })
            .collect();
        if left.is_empty() {
            return;
        }
        let about = match left.len() {
            1 => "one more, drawn when it is opened".to_owned(),
            count => format!("{count} more, drawn when they are opened"),
        };
        self.open_part("more-figures", "", "All other figures", &about);
        for at in left {
            let Source::Sheet { run, sheet } = self.plan[at].source else { continue };
            let label = format!("{}: {}", self.plan[at].id, capitalised(&sheet.title));
            if sheet.form == Form::Heatmap {
                self.write_details("drawn shelf", &inputs.runs[run], run, sheet, &label);
            } else {
                let _ = writeln!(
                    self.main,
                    "<details class=\"shelf\"><summary>{}</summary>",
                    escape(&label)
                );
                self.write_planned(at);
                self.main.push_str("</details>\n");
            }
        }
        self.close_part();
    }

    /// A closed part of the page that its script fills with a sheet.
    fn write_details(
        &mut self,
        class: &str,
        run: &StudyRun,
        at: usize,
        sheet: &Sheet,
        label: &str,
    ) {
        let position = run.shown_sheets().position(|shown| std::ptr::eq(shown, sheet));
        let Some(position) = position else { return };
        let _ = writeln!(
            self.main,
            "<details class=\"{class}\" id=\"run{at}-{id}\" data-run=\"{at}\" \
             data-sheet=\"{position}\" data-id=\"{id}\"><summary>{label}</summary></details>",
            id = escape(&sheet.id),
            label = escape(label),
        );
    }

    fn write_tables(&mut self) {
        let inputs = self.report.inputs();
        let is_table = |sheet: &&Sheet| sheet.form == Form::Table && !sheet.rows.is_empty();
        let count: usize =
            inputs.runs.iter().map(|run| run.shown_sheets().filter(is_table).count()).sum();
        if count == 0 {
            return;
        }
        let about = format!("{}; a click on a head sorts", counted(count, "table"));
        self.open_part("tables", "Tables", "Tables", &about);
        for (at, run) in inputs.runs.iter().enumerate() {
            self.write_run_name(run);
            for sheet in run.shown_sheets().filter(is_table) {
                let label = format!("{}: {}", sheet.id, capitalised(&sheet.title));
                let is_small = sheet.rows.len() * sheet.columns.len() <= MOST_PRINTED_CELLS;
                let class = if is_small { "sheet" } else { "sheet shelf" };
                self.write_details(class, run, at, sheet, &label);
            }
        }
        self.close_part();
    }

    fn write_stories(&mut self, notes: &[String]) {
        let Some(stories) = self.report.inputs().stories() else { return };
        let about = format!("{} stories to filter, sort and read", stories.len());
        self.open_part("stories", "Stories", "Stories", &about);
        for note in notes {
            self.paragraph("note", note);
        }
        self.main.push_str(
            "<form class=\"controls\" id=\"story-controls\"></form>\
             <figure><div id=\"story-scatter\" class=\"scroll\" tabindex=\"0\" role=\"region\" \
             aria-label=\"Metric against criterion\"></div>\
             <figcaption id=\"scatter-caption\"></figcaption>\
             <p class=\"save\" id=\"scatter-save\"></p></figure>\
             <p id=\"story-count\" aria-live=\"polite\"></p>\
             <div class=\"browser\"><div id=\"story-list\" role=\"listbox\" tabindex=\"0\" \
             aria-label=\"Stories\"></div>\
             <article id=\"story\" tabindex=\"-1\" aria-label=\"The chosen story\">\
             <p>Choose a story.</p></article></div><div id=\"story-print\"></div>",
        );
        self.close_part();
    }

    fn write_method(&mut self) {
        let report = self.report;
        let inputs = report.inputs();
        if inputs.runs.is_empty() && report.comparisons().found.is_empty() {
            return;
        }
        let about = "levels, papers, parameters";
        self.open_part("method", "", "How the numbers were made", about);
        for run in &inputs.runs {
            self.write_run_name(run);
            let mut levels: Vec<Level> = run.study.levels();
            levels.dedup();
            for level in levels {
                self.paragraph("", &format!("{}.", level.observation()));
            }
            summary::left_out(&run.study).iter().for_each(|text| self.paragraph("", text));
            match run.study.kind {
                Kind::Hanna => self.paragraph("", HANNA),
                Kind::Union => self.paragraph("", UNION),
                Kind::Table => {}
            }
            self.paragraph("", SIZES);
            self.paragraph("signature", &run.study.signature.to_string());
        }
        for found in &report.comparisons().found {
            self.paragraph("signature", &found.signature.to_string());
        }
        self.close_part();
    }
}

/// A number of things: "1 table", "2 tables".
fn counted(count: usize, thing: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{s}")
}

fn has_heatmap(run: &StudyRun) -> bool {
    run.sheets.iter().any(|sheet| sheet.form == Form::Heatmap)
}
