//! The numbers behind Figures 1 to 8 and 10 to 38; Figure 9 needs single ratings.

use storymeter_stats::Coefficient;

use crate::error::Result;
use crate::level::Level;
use crate::sheet::Sheet;
use crate::study::Study;
use crate::study::heatmaps::Label;

/// Levels and coefficients in the order of the appendix: Kendall, Spearman, Pearson, story before system.
const APPENDIX: [(Level, Coefficient); 6] = [
    (Level::Story, Coefficient::Kendall),
    (Level::System, Coefficient::Kendall),
    (Level::Story, Coefficient::Spearman),
    (Level::System, Coefficient::Spearman),
    (Level::Story, Coefficient::Pearson),
    (Level::System, Coefficient::Pearson),
];

pub(super) fn label(id: impl Into<String>, title: impl Into<String>) -> Label {
    Label { id: id.into(), title: title.into() }
}

fn figure(number: usize, title: String) -> Label {
    label(format!("figure-{number}"), title)
}

/// All figures, in order.
pub(super) fn all(study: &Study, selected: &[usize], figure_8: &[usize]) -> Result<Vec<Sheet>> {
    let metrics = study.metrics();
    let between = |level, coefficient, what| {
        format!("{level}-level {coefficient} correlations between {what}")
    };
    let criteria = |number, (level, coefficient)| {
        let label = figure(number, between(level, coefficient, "criteria"));
        study.square(label, level, coefficient, study.criteria())
    };
    let against = |number, (level, coefficient), metrics| {
        let label = figure(number, between(level, coefficient, "metrics and criteria"));
        study.against_criteria(label, level, coefficient, metrics)
    };
    let square = |number, (level, coefficient), metrics| {
        let label = figure(number, between(level, coefficient, "metrics"));
        study.square(label, level, coefficient, metrics)
    };
    let [story, system] = [APPENDIX[0], APPENDIX[1]];
    let mut sheets = vec![
        criteria(1, story).brief(),
        criteria(2, system).brief(),
        against(3, story, selected).brief(),
        against(4, system, selected).brief(),
        square(5, story, selected),
        square(6, system, selected),
        study
            .pairwise(
                figure(7, "Weighted macro F1 (%) of paired bootstrap resampling".into()),
                selected,
            )?
            .brief(),
        study.top_systems(
            figure(8, "System-level |Spearman| among the k best systems".into()),
            figure_8,
        )?,
    ];
    sheets.extend(APPENDIX[2..].iter().zip(10..).map(|(&which, number)| criteria(number, which)));
    sheets
        .extend(APPENDIX.iter().zip(14..).map(|(&which, number)| against(number, which, metrics)));
    sheets.extend(APPENDIX.iter().zip(20..).map(|(&which, number)| square(number, which, metrics)));
    sheets.push(study.pairwise(figure(26, "Weighted macro F1 (%), all metrics".into()), metrics)?);
    for (level, first) in [(Level::Story, 27), (Level::System, 33)] {
        let labels = study.criteria().iter().zip(first..).map(|(&criterion, number)| {
            let name = &study.table().columns()[criterion].name;
            figure(
                number,
                format!("Williams tests between metrics for {name}, {level}-level Pearson"),
            )
        });
        let matrices = study.williams_matrices(labels.collect(), level, Coefficient::Pearson)?;
        sheets.extend(matrices.into_iter().map(|sheet| match level {
            Level::Story => {
                sheet.note("without oracle: the authors' code does not produce this matrix")
            }
            _ => sheet,
        }));
    }
    // Not in the paper: all stories in one pool, as the authors do in their later work.
    for coefficient in Coefficient::ALL {
        let title = between(Level::Pooled, coefficient, "metrics and criteria");
        let label = label(format!("pooled-{coefficient}"), title);
        sheets.push(study.against_criteria(label, Level::Pooled, coefficient, metrics));
    }
    Ok(sheets)
}
