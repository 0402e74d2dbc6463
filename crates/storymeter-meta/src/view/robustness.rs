//! Biased sets, error types, drift, edits and misjudged stories.

use storymeter_stats::Coefficient;

use super::correlations::{p_cell, value_cell};
use super::{BiasedSetsPart, Cell, Form, Sheet, Subject};
use crate::outcome::Outcome;
use crate::study::{
    Agreement, BiasedSets, Drift, Edits, ErrorTypeShares, ErrorTypesTable, Estimate, Misjudgements,
};

/// What the sets hold (`id-distribution`), each metric's mean correlation (`id`), and its variance
/// over the draws (`id-variance`).
pub(super) fn biased_sets(id: &str, found: &BiasedSets) -> Vec<Sheet> {
    let subject = |part| Subject::BiasedSets { criterion: found.criterion.clone(), part };
    let heads = || found.sets.iter().map(|set| format!("#{}", set.index));
    let drawn = format!(
        "means over {} draws, seed {}; set I takes a story of level k with probability 1/(|I-k|+1)",
        found.draws, found.seed
    );
    let mut stories = Sheet::new(
        format!("{id}-distribution"),
        subject(BiasedSetsPart::Stories),
        "Biased sets: stories by human score",
        Form::Lines,
    )
    .column("score", 0)
    .columns(heads(), 1)
    .note(drawn.as_str());
    for (level, name) in found.levels.iter().enumerate() {
        let mut row = vec![Cell::from(name)];
        row.extend(found.sets.iter().map(|set| Cell::from(set.stories[level])));
        stories.push(row);
    }
    let mut means = Sheet::new(
        id,
        subject(BiasedSetsPart::Means),
        "Biased sets: Pearson correlation, mean over draws",
        Form::Lines,
    )
    .column("metric", 0)
    .columns(heads(), 4)
    .column("variance between sets", 5)
    .note(drawn);
    let mut variances = Sheet::new(
        format!("{id}-variance"),
        subject(BiasedSetsPart::Variances),
        "Biased sets: variance of the correlation over draws",
        Form::Lines,
    )
    .column("metric", 0)
    .columns(heads(), 5)
    .columns(heads().map(|head| format!("draws {head}")), 0);
    for (at, metric) in found.metrics.iter().enumerate() {
        let over_sets: Vec<Outcome<f64>> =
            found.sets.iter().map(|set| set.metrics[at].mean.clone()).collect();
        let mut row = vec![Cell::from(metric)];
        row.extend(over_sets.iter().map(Cell::from));
        row.push(crate::analysis::spread(&over_sets).variance.into());
        means.push(row);
        let mut row = vec![Cell::from(metric)];
        row.extend(found.sets.iter().map(|set| Cell::from(&set.metrics[at].variance)));
        row.extend(found.sets.iter().map(|set| Cell::from(set.metrics[at].n)));
        variances.push(row);
    }
    vec![stories, means, variances]
}

/// The shares of error types (`id`), how many a story has (`id-shares`), and whether they occur
/// together (`id-correlations`).
pub(super) fn error_types(id: &str, found: &ErrorTypeShares) -> Vec<Sheet> {
    let title = "Error types of the unreasonable stories";
    let mut shares = Sheet::new(id, Subject::ErrorTypes, title, Form::Table)
        .brief()
        .column("type", 0)
        .column("stories", 0)
        .column("prop (%)", 1)
        .note(format!(
            "{} of {} stories are called unreasonable by at least one rater",
            found.unreasonable, found.stories
        ));
    for one in &found.types {
        shares.push(vec![(&one.name).into(), one.stories.into(), (&one.percent).into()]);
    }
    let title = "How many error types a story has";
    let mut numbers =
        Sheet::new(format!("{id}-shares"), Subject::ErrorTypeCounts, title, Form::Table)
            .brief()
            .column("types", 0)
            .column("stories", 0)
            .column("share (%)", 2);
    if !found.others.is_empty() {
        let others = found.others.join(", ");
        numbers =
            numbers.note(format!("{others} does not count: a story with 0 types has nothing else"));
    }
    for one in &found.by_number_of_types {
        numbers.push(vec![(&one.name).into(), one.stories.into(), (&one.percent).into()]);
    }
    let title = "Spearman correlation between error types";
    let mut together = Sheet::new(
        format!("{id}-correlations"),
        Subject::ErrorTypeCorrelations,
        title,
        Form::Table,
    )
    .brief()
    .columns(["type", "with"], 0)
    .column("rho (unreasonable)", 4)
    .p_columns(["p (unreasonable)"], 4)
    .column("rho (all)", 4)
    .p_columns(["p (all)"], 4);
    for one in &found.correlations {
        let mut row = vec![Cell::from(&one.first), (&one.second).into()];
        row.extend(with_p(&one.unreasonable));
        row.extend(with_p(&one.all));
        together.push(row);
    }
    vec![shares, numbers, together]
}

/// A coefficient and its p-value.
fn with_p(value: &Outcome<Estimate>) -> [Cell; 2] {
    [value_cell(value), p_cell(value)]
}

/// Pearson by error type.
pub(super) fn by_error_type(id: &str, found: &ErrorTypesTable) -> Sheet {
    let subject = Subject::ByErrorType { criterion: found.criterion.clone() };
    let mut sheet = Sheet::new(id, subject, "Pearson correlation by error type", Form::Table)
        .brief()
        .column("metric", 0)
        .columns(found.sets.iter().map(|(name, own)| format!("{name} ({own})")), 4)
        .note(format!(
            "each set has the {} stories that all raters found reasonable, and those for which at \
             least {} raters name the error type",
            found.reasonable, found.raters_needed
        ));
    for row in &found.rows {
        let mut cells = vec![Cell::from(&row.metric)];
        cells.extend(row.values.iter().map(Cell::from));
        sheet.push(cells);
    }
    sheet
}

/// The paper's star: a p-value below 0.01.
pub(super) const SIGNIFICANT: f64 = 0.01;

/// The symbols of the three coefficients, as UNION's paper writes them.
pub(super) const SYMBOLS: [&str; 3] = ["r", "rho", "tau"];

/// Columns for three coefficients with stars, and for their p-values.
pub(super) fn starred_columns(mut sheet: Sheet) -> Sheet {
    for symbol in SYMBOLS {
        sheet = sheet.column(symbol, 4).column(format!("{symbol}*"), 0);
    }
    sheet.p_columns(SYMBOLS.map(|symbol| format!("p({symbol})")), 4)
}

/// Three coefficients with stars, and their p-values.
pub(super) fn starred(row: &mut Vec<Cell>, found: &[&Agreement]) {
    for one in found {
        let [value, p] = with_p(&one.value);
        let star = if p.value() < SIGNIFICANT { "*" } else { "" };
        row.extend([value, star.into()]);
    }
    row.extend(found.iter().map(|one| p_cell(&one.value)));
}

/// UNION's Table 6: scores of metrics trained on other data, beside those at home.
pub(super) fn union_drift(id: &str, found: &Drift) -> Sheet {
    let title =
        format!("Dataset drift: scores in {} against the ratings of {}", found.scores, found.rated);
    let head = Sheet::new(id, Subject::Drift, title, Form::Table).brief();
    let mut sheet = starred_columns(head.columns(["metric", "n"], 0))
        .columns(SYMBOLS.map(|symbol| format!("{symbol} at home")), 4)
        .note(format!("* p < {SIGNIFICANT}, two-sided"))
        .note("at home: the same metric trained on this dataset, from metric_output");
    for one in &found.rows {
        let mut row = vec![Cell::from(&one.metric), one.drifted[0].n.into()];
        starred(&mut row, &one.drifted.iter().collect::<Vec<_>>());
        row.extend(at_home(one));
        sheet.push(row);
    }
    sheet
}

fn at_home(row: &crate::study::DriftRow) -> Vec<Cell> {
    match &row.home {
        Ok(home) => home.iter().map(|one| value_cell(&one.value)).collect(),
        Err(reason) => SYMBOLS.iter().map(|_| Cell::missing(reason)).collect(),
    }
}

/// The same on a user's own stories, for several criteria.
pub(super) fn own_drift(id: &str, found: &Drift) -> Sheet {
    let names = Coefficient::ALL.map(Coefficient::name);
    let title = "Scores of metrics trained on other data, beside those at home";
    let mut sheet = Sheet::new(id, Subject::Drift, title, Form::Table)
        .brief()
        .columns(["metric", "criterion", "n"], 0)
        .columns(names, 4)
        .p_columns(names.map(|name| format!("p_{name}")), 4)
        .columns(names.map(|name| format!("{name} at home")), 4)
        .note(format!(
            "all stories in one pool; {} of {} stories of the table have such scores",
            found.joined, found.stories
        ));
    for one in &found.rows {
        let mut row =
            vec![Cell::from(&one.metric), (&one.criterion).into(), one.drifted[0].n.into()];
        row.extend(one.drifted.iter().map(|one| value_cell(&one.value)));
        row.extend(one.drifted.iter().map(|one| p_cell(&one.value)));
        row.extend(at_home(one));
        sheet.push(row);
    }
    sheet
}

/// Whether a model edits the stories that people find bad.
pub(super) fn edits(id: &str, found: &Edits) -> Sheet {
    let title = "Editing behaviour against human scores (Spearman)";
    let mut sheet = Sheet::new(id, Subject::Edits, title, Form::Table)
        .brief()
        .columns(["set", "stories"], 0)
        .column("rho", 4)
        .p_columns(["p"], 4)
        .note(format!("{} of {} stories were edited", found.edited, found.stories))
        .note(
            "edited = 1, so that a model that edits bad stories has a negative value; the paper \
             prints it without its sign",
        );
    for one in &found.rows {
        let mut row = vec![Cell::from(&one.set), one.n.into()];
        row.extend(with_p(&one.value));
        sheet.push(row);
    }
    sheet
}

/// The stories that metrics misjudge most.
pub(super) fn misjudged(id: &str, found: &Misjudgements) -> Sheet {
    let stories =
        if found.most == 1 { "story".to_owned() } else { format!("{} stories", found.most) };
    let title = format!("The {stories} that each metric overrates and underrates most");
    let mut sheet = Sheet::new(id, Subject::Misjudged, title, Form::Table)
        .columns(["metric", "judged", "line", "id"], 0)
        .columns(["human", "score"], 2)
        .columns(["human place", "score place"], 3)
        .columns(["raters by error type", "story"], 0)
        .note(
            "a place is the rank among all stories with a score, from 0 (lowest) to 1 (highest); a \
             story is misjudged as far as its two places are apart",
        )
        .note(
            "error types: Repe repeated plots, Cohe poor coherence, Conf conflicting logic, Chao \
             chaotic scenes; the number is that of the raters who named it",
        );
    for own in &found.metrics {
        let lists = [("overrated", &own.overrated), ("underrated", &own.underrated)];
        for (judged, story) in
            lists.iter().flat_map(|(judged, list)| list.iter().map(move |one| (*judged, one)))
        {
            let errors: Vec<String> = story
                .errors
                .iter()
                .flatten()
                .map(|(name, raters)| format!("{name} {raters}"))
                .collect();
            sheet.push(vec![
                Cell::from(&own.metric),
                judged.into(),
                story.line.into(),
                Cell::from(&story.id),
                story.human.into(),
                story.score.into(),
                story.human_place.into(),
                story.score_place.into(),
                errors.join(", ").into(),
                Cell::from(&story.text),
            ]);
        }
    }
    sheet
}
