//! What a reader needs to know to read a figure: marks, colours, units, and who is left out.

use storymeter_core::Role;
use storymeter_meta::view::{BiasedSetsPart, Sheet, Subject};
use storymeter_meta::{Edition, Study};

use crate::stories::StoryTable;
use crate::summary;

/// How to read the figure of a sheet.
pub(super) fn sheet(study: &Study, sheet: &Sheet) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let coefficient = match study.edition {
        Edition::Corrected => "Coefficients have a sign and lie between \u{2212}1 and 1",
        Edition::Published => "Percentages without a sign, rounded as they were published",
    };
    let rests_on_systems = match &sheet.subject {
        Subject::Against { level, .. } => {
            notes.push(format!("{}. {coefficient}", level.observation()));
            if study.edition == Edition::Corrected {
                notes.push(
                    "A metric where less is better should have negative numbers; the last column \
                     is the mean of the others"
                        .into(),
                );
            }
            true
        }
        Subject::Between { role, level, .. } => {
            let what = match role {
                Role::Metric => "How alike the scores of two metrics are",
                Role::Human => "How alike the ratings on two criteria are",
            };
            notes.push(format!("{what}. {}. {coefficient}", level.observation()));
            true
        }
        Subject::Tests { .. } => {
            notes.push(
                "A coloured cell says that the metric of the row has the stronger correlation; \
                 the darker, the less likely by chance"
                    .into(),
            );
            true
        }
        Subject::Pairwise => {
            notes.push(
                "How often a metric agrees with people about which of two systems is better: \
                 weighted F1 in percent, 100 is perfect"
                    .into(),
            );
            true
        }
        Subject::TopSystems => {
            notes.push(
                "The further left, the more alike the systems are, and the harder is the task \
                 for a metric. Correlations of metrics where less is better are turned round"
                    .into(),
            );
            true
        }
        Subject::Ratings => {
            notes.push(
                "The wider a shape, the more ratings lie there; shapes end where the scale ends"
                    .into(),
            );
            let excluded = summary::excluded(study);
            if !excluded.is_empty() {
                notes.push(format!("{} is included here", excluded.join(", ")));
            }
            false
        }
        Subject::HumanScores => {
            notes.push("A bar counts the stories with this human score".into());
            false
        }
        Subject::BiasedSets { part, .. } => {
            let what = match part {
                BiasedSetsPart::Stories => "The mean number of stories of each quality in a set",
                BiasedSetsPart::Means => {
                    "The mean correlation on sets of mostly bad (left) to mostly good stories; a \
                     flat curve is a metric that is equally good everywhere"
                }
                BiasedSetsPart::Variances => "The variance of the correlation over the draws",
            };
            notes.push(what.into());
            false
        }
        _ => false,
    };
    let excluded = summary::excluded(study);
    if rests_on_systems && !excluded.is_empty() {
        notes.push(format!("{} excluded", excluded.join(", ")));
    }
    notes
}

/// How to read plots of metrics against criteria.
pub(super) fn scatter(stories: &StoryTable) -> Vec<String> {
    let mut notes = vec![
        "A dot is a story, its colour the system; shades show where stories are dense, and the \
         line is the least-squares fit; r is Pearson's correlation over all stories"
            .to_owned(),
    ];
    if !stories.excluded().is_empty() {
        notes.push(format!("{} excluded", stories.excluded().join(", ")));
    }
    notes
}
