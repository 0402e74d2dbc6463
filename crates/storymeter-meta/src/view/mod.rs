//! Studies as sheets: tables, the numbers behind figures, file names and titles.
//!
//! Everything here is made from the types of a [`Study`], and only for showing. Nothing reads it
//! back: programs use the types, or choose sheets by their [`Subject`].

mod conclusion;
mod correlations;
mod hanna;
mod leaders;
mod names;
mod rankings;
mod ratings;
mod robustness;
mod sheet;
mod suite;
mod suite_words;
mod systems;
mod table;
mod tests;
pub mod text;
pub mod typeset;
mod union;
mod verdict;
mod words;

pub(crate) use conclusion::short;
pub use conclusion::{
    DescribedComparison, DescribedComparisons, DescribedVerdict, conclusion, p_value, warnings,
};
pub(crate) use correlations::{interval_cells, p_cell, resampled, value_cell};
pub use leaders::leaders;
pub use names::{file_stem, unique_stems};
pub use rankings::{correlation_symbol, meaning_of_r, metric_ranking};
pub use sheet::{BiasedSetsPart, Cell, Form, Head, Mark, Sheet, Subject};
pub use suite::{suite_cells, suite_sheets};
pub use suite_words::{Reaction, reaction, suite_sentence};
pub use systems::{
    decimals, flat_means, flat_pairs, flat_systems, means_by_length, system_sheets, verdict_sheets,
};
pub(crate) use tests::INDEPENDENT;
pub use tests::test_title;
pub use verdict::{
    LEADERS_TITLE, LeadSign, QUESTION, TRUST_HEADING, TrustLine, TrustWords, VerdictWords,
    by_one_column, column_conclusion, columns_left_out, key_with_arrow, legend, means_beside,
    not_counted, verdict_words,
};
pub use words::capitalised;
pub(crate) use words::joined;

use crate::study::{Kind, Study};

/// All sheets of a study, in reading order. Their ids are unique and can be used as file names.
///
/// HANNA's and UNION's sheets are numbered as in the papers: `table-5`, `figure-14`.
pub fn sheets(study: &Study) -> Vec<Sheet> {
    let mut sheets: Vec<Sheet> = metric_ranking(study, "ranking", None).into_iter().collect();
    sheets.extend(match study.kind {
        Kind::Hanna => hanna::sheets(study),
        Kind::Union => union::sheets(study),
        Kind::Table => table::sheets(study),
    });
    // A folder has a file `index.csv` of its own.
    let ids = unique_stems(sheets.iter().map(|sheet| sheet.id.as_str()), &["index"]);
    for (sheet, id) in sheets.iter_mut().zip(ids) {
        sheet.signature = format!("{id}|{}", study.signature);
        sheet.id = id;
    }
    sheets
}

/// The ids of the sheets that people open first, of which a study may lack some.
pub(crate) fn main_sheets(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Hanna => {
            &["ranking", "correlations", "table-3", "table-4", "table-5", "table-6", "system-pairs"]
        }
        Kind::Union => &["ranking", "table-2", "table-5", "table-6", "table-7", "figure-2"],
        Kind::Table => &[
            "ranking",
            "correlations",
            "best-metrics",
            "systems",
            "agreement",
            "pairwise",
            "system-pairs",
            // These two are only there if the user gave error types or drifted scores.
            "error-types",
            "dataset-drift",
        ],
    }
}

/// What a sheet is called.
struct Label {
    id: String,
    title: String,
}

fn label(id: impl Into<String>, title: impl Into<String>) -> Label {
    Label { id: id.into(), title: title.into() }
}

impl Label {
    fn sheet(self, subject: Subject, form: Form) -> Sheet {
        Sheet::new(self.id, subject, self.title, form)
    }
}
