//! How far raters agree (HANNA Table 3).

use storymeter_stats::Matrix;
use storymeter_stats::agreement::{Icc, IccForm, Scale as Measure, icc, krippendorff_alpha};

use super::{Raters, RatingTable};
use crate::error::Result;
use crate::sheet::{Cell, Form, Sheet};

/// Intraclass correlations of every criterion: the two that matter (`id`), and all six with their tests
/// (`id-forms`); Krippendorff's alpha beside them.
pub fn agreement(ratings: &RatingTable, id: &str) -> Result<Vec<Sheet>> {
    let note = match ratings.raters {
        Raters::Anonymous => {
            "ICC2k needs worker ids, which these ratings lack: with raters in file order it is arbitrary; ICC1k does not \
             depend on the order"
        }
        Raters::Assigned => {
            "ratings are in columns by worker id: the busiest workers have a column each, others take the first free one"
        }
    };
    let mut short = Sheet::new(id, "Agreement of the raters, with 95% intervals", Form::Table)
        .brief()
        .columns(["criterion", "stories", "raters"], 0)
        .columns(["LB(1k)", "ICC1k", "UB(1k)", "LB(2k)", "ICC2k", "UB(2k)"], 4)
        .column("alpha (ordinal)", 4)
        .column("alpha (interval)", 4)
        .note(note);
    let mut long = Sheet::new(format!("{id}-forms"), "All intraclass correlations", Form::Table)
        .columns(["criterion", "form"], 0)
        .columns(["value", "F"], 4)
        .columns(["df1", "df2"], 0)
        .columns(["p", "low", "high"], 4);
    for (at, criterion) in ratings.criteria.iter().enumerate() {
        let raters = ratings.most_raters();
        let complete: Vec<f64> = ratings
            .stories
            .iter()
            .map(|story| &story.ratings[at])
            .filter(|row| row.len() == raters && row.iter().all(|r| !r.is_nan()))
            .flatten()
            .copied()
            .collect();
        let stories = complete.len().checked_div(raters).unwrap_or(0);
        if stories < ratings.stories.len() {
            let left = ratings.stories.len() - stories;
            short = short.note(format!(
                "{criterion}: {left} stories lack one of {raters} ratings and are left out"
            ));
        }
        let mut row = vec![Cell::from(criterion), stories.into(), raters.into()];
        if stories < 2 || raters < 2 {
            row.extend((0..8).map(|_| Cell::number(f64::NAN, "needs two stories with two raters")));
            short.push(row);
            continue;
        }
        let matrix = Matrix::new(&complete, stories, raters)?;
        let forms = icc(matrix)?;
        for wanted in [IccForm::Icc1k, IccForm::Icc2k] {
            for form in forms.iter().filter(|form| form.form == wanted) {
                row.extend(interval(form));
            }
        }
        for measure in [Measure::Ordinal, Measure::Interval] {
            let alpha = krippendorff_alpha(matrix, measure)?.alpha;
            row.push(Cell::number(alpha, "all ratings are equal"));
        }
        short.push(row);
        for form in &forms {
            let number = |value: f64| Cell::number(value, "no variance");
            long.push(vec![
                criterion.into(),
                form.form.to_string().into(),
                number(form.value),
                number(form.f),
                number(form.df1),
                number(form.df2),
                number(form.p_value),
                number(form.interval.low),
                number(form.interval.high),
            ]);
        }
    }
    Ok(vec![short, long])
}

fn interval(form: &Icc) -> [Cell; 3] {
    [form.interval.low, form.value, form.interval.high]
        .map(|value| Cell::number(value, "no variance"))
}
