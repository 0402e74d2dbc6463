//! Raters and ratings.

use super::{Cell, Form, Sheet, Subject};
use crate::outcome::Absence;
use crate::study::{
    Finding, HumanScores, IccEstimate, Kind, RaterAgreement, Raters, RatingDistribution, Standing,
    Study, SystemAverages,
};

/// How far raters agree, the systems' means, and the distribution of ratings, under these ids.
pub(super) fn sheets(study: &Study, [agrees, means, ratings]: [&str; 3]) -> Vec<Sheet> {
    let sheets = study.findings.iter().flat_map(|finding| match finding {
        Finding::RaterAgreement(found) => agreement(agrees, found),
        Finding::SystemAverages(found) => vec![system_averages(means, found, study.kind)],
        Finding::Ratings(found) => distribution(ratings, found),
        _ => Vec::new(),
    });
    sheets.collect()
}

/// How far raters agree: the two intraclass correlations that matter with alpha, kappa and W
/// (`id`), and all six (`id-forms`).
pub(super) fn agreement(id: &str, found: &[RaterAgreement]) -> Vec<Sheet> {
    let title = "Agreement of the raters, with 95% intervals";
    let mut short = Sheet::new(id, Subject::RaterAgreement, title, Form::Table)
        .brief()
        .columns(["criterion", "stories", "raters"], 0)
        .columns(["LB(1k)", "ICC1k", "UB(1k)", "LB(2k)", "ICC2k", "UB(2k)"], 4)
        .columns(["alpha (ordinal)", "alpha (interval)", "kappa (Fleiss)", "W (Kendall)"], 4);
    if let Some(first) = found.first() {
        short = short.note(match first.raters_known {
            Raters::Anonymous => {
                "ICC2k and W need worker ids, which these ratings lack: with raters in file order \
                 they are arbitrary; the others do not depend on the order"
            }
            Raters::Assigned => {
                "ratings are in columns by worker id: the busiest workers have a column each, and \
                 others take the first free one"
            }
        });
    }
    let mut long = Sheet::new(
        format!("{id}-forms"),
        Subject::IntraclassCorrelations,
        "All intraclass correlations",
        Form::Table,
    )
    .columns(["criterion", "form"], 0)
    .columns(["value", "F"], 4)
    .columns(["df1", "df2"], 0)
    .p_columns(["p"], 4)
    .columns(["low", "high"], 4);
    for one in found {
        if one.left_out > 0 {
            short = short.note(format!(
                "{}: {} stories lack one of {} ratings and are left out, except from alpha, which \
                 rests on the {} stories with two ratings",
                one.criterion, one.left_out, one.raters, one.alpha_stories
            ));
        }
        let mut row = vec![Cell::from(&one.criterion), one.n.into(), one.raters.into()];
        for wanted in ["ICC1k", "ICC2k"] {
            row.extend(match &one.icc {
                Err(reason) => [(); 3].map(|()| Cell::missing(reason)),
                Ok(forms) => match forms.iter().find(|icc| icc.form == wanted) {
                    Some(icc) => interval(icc),
                    None => [(); 3].map(|()| Cell::missing(Absence::NotComputed)),
                },
            });
        }
        let others = [&one.alpha_ordinal, &one.alpha_interval, &one.fleiss_kappa, &one.kendall_w];
        row.extend(others.map(Cell::from));
        short.push(row);
        for icc in one.icc.iter().flatten() {
            let [low, _, high] = interval(icc);
            long.push(vec![
                (&one.criterion).into(),
                (&icc.form).into(),
                (&icc.value).into(),
                (&icc.f).into(),
                icc.df1.into(),
                icc.df2.into(),
                (&icc.p_value).into(),
                low,
                high,
            ]);
        }
    }
    vec![short, long]
}

fn interval(icc: &IccEstimate) -> [Cell; 3] {
    let end = |end: fn(&crate::study::Interval) -> f64| match &icc.interval {
        Ok(interval) => Cell::from(end(interval)),
        Err(reason) => Cell::missing(reason),
    };
    [end(|i| i.low), (&icc.value).into(), end(|i| i.high)]
}

/// The systems' means by criterion and, from single ratings, over all, with intervals and marks.
fn system_averages(id: &str, found: &SystemAverages, kind: Kind) -> Sheet {
    if !found.single_ratings {
        let title = "Mean scores by system (intervals need single ratings)";
        let mut sheet = Sheet::new(id, Subject::SystemAverages, title, Form::Table)
            .brief()
            .column("system", 0)
            .columns(&found.criteria, 2);
        for (system, averages) in &found.systems {
            let mut row = vec![Cell::from(system)];
            row.extend(averages.iter().map(|average| Cell::from(&average.mean)));
            sheet.push(row);
        }
        return sheet;
    }
    let title = "Mean ratings with the half width of their 95% interval";
    let mut sheet =
        Sheet::new(id, Subject::SystemAverages, title, Form::Table).brief().column("system", 0);
    for name in found.criteria.iter().map(|key| key.as_str()).chain(["Average"]) {
        sheet = sheet.column(name, 2).column(format!("{name} ±"), 2).column(format!("{name} *"), 0);
    }
    for (system, averages) in &found.systems {
        let mut row = vec![Cell::from(system)];
        for average in averages {
            row.push((&average.mean).into());
            row.push((&average.half_width).into());
            row.push(Cell::from(match average.standing {
                Standing::Best => "*",
                Standing::Near => "+",
                Standing::Below | Standing::Outside => "",
            }));
        }
        sheet.push(row);
    }
    let sheet = sheet.note("* best, + inside the interval of the best");
    match kind {
        // HANNA's own table says so in its paper.
        Kind::Hanna => sheet,
        _ => sheet.note(
            "±: takes every rating as independent, as HANNA does, also where several are of one \
             story or item; the intervals of `compare` and the sheet system-pairs rest on items",
        ),
    }
}

/// Counts and quartiles (`id`), and the outlines of violins (`id-density`).
fn distribution(id: &str, found: &RatingDistribution) -> Vec<Sheet> {
    let title = "Distribution of ratings by system";
    let mut counts = Sheet::new(id, Subject::Ratings, title, Form::Bars)
        .columns(["system", "criterion", "n"], 0)
        .columns(found.steps.iter().map(|step| format!("rated {step}")), 0)
        .columns(["mean", "quartile 1", "median", "quartile 3"], 2);
    let mut outlines = Sheet::new(
        format!("{id}-density"),
        Subject::RatingDensities,
        "Outlines of the violins",
        Form::Lines,
    )
    .columns(["system", "criterion"], 0)
    .columns(found.grid.iter().map(|x| format!("{x:.3}")), 4);
    for one in &found.rows {
        let names = || [Cell::from(&one.system), (&one.criterion).into()];
        let mut row = names().to_vec();
        row.push(one.n.into());
        row.extend(one.counts.iter().map(|&count| Cell::from(count)));
        row.extend(match &one.summary {
            Ok(summary) => summary.map(Cell::from),
            Err(reason) => [(); 4].map(|()| Cell::missing(reason)),
        });
        counts.push(row);
        let mut row = names().to_vec();
        match &one.density {
            Ok(density) => row.extend(density.iter().map(|&d| Cell::from(d))),
            Err(reason) => row.extend(found.grid.iter().map(|_| Cell::missing(reason))),
        }
        outlines.push(row);
    }
    vec![counts, outlines]
}

/// How many stories have which human score.
pub(super) fn human_scores(id: &str, found: &HumanScores) -> Sheet {
    let mut sheet = Sheet::new(id, Subject::HumanScores, "Stories by human score", Form::Bars)
        .brief()
        .column("score", 0)
        .column("mean rating", 4)
        .column("stories", 0);
    for (score, &count) in found.counts.iter().enumerate() {
        let name = format!("{score}/{}", found.raters);
        sheet.push(vec![name.into(), (score as f64 / found.raters as f64).into(), count.into()]);
    }
    sheet
}
