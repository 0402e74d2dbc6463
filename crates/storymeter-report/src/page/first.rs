//! The first screen: one ranked table, one picture, and what they mean in a few sentences.

use std::fmt::Write as _;

use storymeter_meta::Study;
use storymeter_meta::systems::SystemComparison;
use storymeter_meta::view::{
    Cell, Form, Sheet, Subject, TrustWords, capitalised, conclusion, meaning_of_r, metric_ranking,
    warnings,
};

use super::Page;
use crate::changes::{ShownChanges, verdict};
use crate::figures::{MOST_METRICS, Source, first_places};
use crate::summary;
use crate::systems;

impl Page<'_> {
    /// Writes the first screen for what the report is about: changes, metrics, systems, or only
    /// stories and logs.
    pub fn write_first(&mut self) {
        let report = self.report;
        let changed = report.changes().first().filter(|changes| !changes.largest.is_empty());
        let ranked = report.inputs().runs.first().map(|run| &run.study);
        let ranked = ranked.filter(|study| !study.metric_rankings().is_empty());
        self.main
            .push_str("<section id=\"summary\" class=\"first\" aria-labelledby=\"summary-h\">");
        if let Some(changes) = changed {
            self.write_changes(changes);
        } else if let Some(study) = ranked {
            self.write_metrics(study);
        } else if let Some((verdict, words)) = report.comparisons().verdict() {
            self.write_verdict(verdict, words);
        } else if let Some(found) = report.comparisons().found.first() {
            self.write_systems(found);
        } else {
            self.write_plain();
        }
        self.main.push_str("</section>\n");
    }

    /// The question that the first screen answers.
    fn write_question(&mut self, question: &str) {
        let question = crate::svg::escape(question);
        let _ =
            writeln!(self.main, "<h2 id=\"summary-h\">{question}</h2>\n<div class=\"pair\"><div>");
    }

    /// The picture beside the table, and the sentences under both.
    fn write_picture_and_meaning(
        &mut self,
        is_wanted: impl Fn(&Source<'_>) -> bool,
        meaning: &[String],
        note: &str,
    ) {
        self.main.push_str("</div>");
        let at = self.plan.iter().position(|planned| is_wanted(&planned.source));
        if let Some(at) = at {
            self.write_planned(at);
        }
        self.main.push_str("</div>\n<div class=\"meaning\"><h3>What this means</h3>");
        meaning.iter().for_each(|text| self.paragraph("", text));
        self.main.push_str("</div>\n");
        self.paragraph("caption", note);
    }

    fn write_metrics(&mut self, study: &Study) {
        let rankings = study.metric_rankings();
        let Some(ranking) = rankings.first() else { return };
        let highlight = self.report.inputs().highlight.as_ref();
        self.write_question("Which metrics agree best with people, and is that certain?");
        let shown = first_places(ranking, MOST_METRICS, highlight);
        if let Some(sheet) = metric_ranking(study, "best-metrics", Some(&shown)) {
            self.write_table(sheet, highlight);
        }
        let mut note = format!(
            "{} The table has its mean over {}, at {} level.",
            meaning_of_r(study, ranking),
            match ranking.criteria.len() {
                1 => "one criterion".to_owned(),
                count => format!("{count} criteria"),
            },
            ranking.level
        );
        if ranking.unranked > 0 {
            let _ = write!(
                note,
                " {} a correlation with a criterion and {} not ranked.",
                match ranking.unranked {
                    1 => "One more metric lacks".to_owned(),
                    count => format!("{count} more metrics lack"),
                },
                if ranking.unranked == 1 { "is" } else { "are" }
            );
        }
        let names = ranking.places.iter().map(|place| place.metric.as_str());
        let more = [summary::left_out(study), summary::glyphs(names).map(str::to_owned)];
        for text in more.into_iter().flatten() {
            note.push(' ');
            note.push_str(&text);
        }
        let meaning = summary::verdict(study, highlight);
        let is_own = |source: &Source<'_>| matches!(source, Source::Ranking { .. });
        self.write_picture_and_meaning(is_own, &meaning, &note);
        self.write_trust(&TrustWords::of_columns(&study.columns).lines);
    }

    fn write_changes(&mut self, changes: &ShownChanges) {
        self.write_question(&format!("What changed {}, and is that certain?", changes.between));
        let title = match changes.largest.len() {
            1 => "The largest change".to_owned(),
            count => format!("The {count} largest changes"),
        };
        let mut sheet = Sheet::new("largest-changes", Subject::Other, title, Form::Table)
            .columns(["metric", "criterion", "level", "certain?"], 0)
            .columns(["r before", "r after", "change"], 3)
            .p_column("p (Holm)");
        for change in &changes.largest {
            sheet.push(vec![
                (&change.metric).into(),
                (&change.criterion).into(),
                change.level.name().into(),
                verdict(change).into(),
                (&change.before).into(),
                (&change.after).into(),
                change.difference().into(),
                match &change.test {
                    Ok(test) => test.p_value.corrected.into(),
                    Err(reason) => Cell::missing(reason),
                },
            ]);
        }
        self.write_table(sheet, self.report.inputs().highlight.as_ref());
        let mut meaning = vec![
            changes.conclusion.clone(),
            format!("{}.", changes.headline.trim_end_matches('.')),
        ];
        for more in self.report.changes().iter().skip(1) {
            meaning.push(format!("{}: {}", more.between, more.conclusion));
        }
        let note = "r is Pearson's correlation with people's ratings. Certain changes come first, \
                    then the largest. Stronger and weaker say how the agreement with people \
                    changed in the direction of the metric.";
        let is_own = |source: &Source<'_>| matches!(source, Source::Changes { .. });
        self.write_picture_and_meaning(is_own, &meaning, note);
        let columns = self.report.inputs().runs.iter().flat_map(|run| &run.study.columns);
        self.write_trust(&TrustWords::of_columns(summary::distinct(columns)).lines);
    }

    fn write_systems(&mut self, found: &SystemComparison) {
        let key = &found.column.key;
        let question = match found.systems.len() {
            1 => format!("How are the stories scored by {key}?"),
            _ => format!("Which system is best by {key}, and is that certain?"),
        };
        self.write_question(&question);
        let (ranking, _) = systems::sheets(None, found);
        let notes = ranking.iter().flat_map(|sheet| &sheet.notes);
        let notes: Vec<String> = notes.map(|note| capitalised(note)).collect();
        if let Some(ranking) = ranking {
            self.write_table(ranking, None);
        }
        let mut meaning = vec![conclusion(found)];
        meaning.extend(warnings(found).into_iter().take(2));
        let is_own = |source: &Source<'_>| matches!(source, Source::Intervals { .. });
        self.write_picture_and_meaning(is_own, &meaning, &format!("{}.", notes.join(". ")));
        self.write_trust(&TrustWords::of_columns([&found.column]).lines);
    }

    /// What there is, where nothing is ranked: training logs, or stories without scores.
    fn write_plain(&mut self) {
        let inputs = self.report.inputs();
        let heading = match inputs.logs.is_empty() {
            true => "What is in this report",
            false => "How did the training go?",
        };
        let _ = writeln!(self.main, "<h2 id=\"summary-h\">{heading}</h2>");
        for table in &inputs.tables {
            self.paragraph(
                "",
                &format!(
                    "{}: {} stories, {} columns of scores and ratings.",
                    table.name,
                    table.stories.len(),
                    table.stories.scores().columns().len()
                ),
            );
        }
        for run in &inputs.runs {
            let text = "no metric of this result has a correlation with a criterion.";
            self.paragraph("", &format!("{}: {text}", run.name));
        }
        for at in 0..self.plan.len() {
            if matches!(self.plan[at].source, Source::Log(_)) {
                self.write_planned(at);
            }
        }
    }
}
