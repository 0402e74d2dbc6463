//! What changed between two runs, in words and as a table.
//!
//! Two runs on the same stories are not independent samples. Where the score tables of both runs
//! are given, [`storymeter_meta::changes`] tests the changes on the stories that both have. Where
//! it is not known whether the stories are the same, there is no test, and the page says so.

use storymeter_core::Absence;
use storymeter_meta::Study;
use storymeter_meta::changes::{Change, Changes, Method};
use storymeter_meta::study::SIGNIFICANT;
use storymeter_meta::view::{Cell, Form, Sheet, Subject};

use crate::inputs::Inputs;
use crate::summary::distinct;

/// The most changes on the first screen.
const MOST_LARGEST: usize = 8;

/// What changed between two runs or two score tables, as the page shows it.
#[derive(Debug, Clone)]
pub struct ShownChanges {
    /// Which of the two is meant: "from a to b".
    pub between: String,
    /// What a reader should conclude, in one sentence.
    pub conclusion: String,
    /// How many correlations changed, with the test and the number of stories.
    pub headline: String,
    /// The largest changes of Pearson's coefficient, certain ones first.
    pub largest: Vec<Change>,
    /// Every correlation that changed, the largest changes first.
    pub sheet: Sheet,
}

/// Compares every later run with the first. Without several runs, compares later score tables with
/// the first.
pub fn all(inputs: &Inputs) -> Vec<ShownChanges> {
    // Each table belongs to one run, or the runs come without their tables.
    let has_tables = inputs.tables.len() == inputs.runs.len();
    let table = |at: usize| has_tables.then(|| inputs.tables[at].stories.scores());
    let study = |at: usize| -> (&Study, _) { (&inputs.runs[at].study, table(at)) };
    if inputs.runs.len() > 1 {
        let show = |at: usize| {
            let names = (inputs.runs[0].name.as_str(), inputs.runs[at].name.as_str());
            let title = format!("What changed from {} to {}", names.0, names.1);
            let found = Changes::between_studies(study(0), study(at));
            ShownChanges::new(found, names, format!("changes-{at}"), title)
        };
        return (1..inputs.runs.len()).map(show).collect();
    }
    let show = |at: usize| {
        let (first, later) = (&inputs.tables[0], &inputs.tables[at]);
        let found = Changes::between_tables(first.stories.scores(), later.stories.scores())?;
        let names = (first.name.as_str(), later.name.as_str());
        let title = format!("The same stories scored twice: {}, then {}", names.0, names.1);
        Some(ShownChanges::new(found, names, format!("same-stories-{at}"), title))
    };
    (1..inputs.tables.len()).filter_map(show).collect()
}

impl ShownChanges {
    fn new(found: Changes, names: (&str, &str), id: String, title: String) -> Self {
        let method = method(&found.method);
        let mut headline = format!(
            "{} of {} shared correlations changed{}",
            found.changes.len(),
            found.shared,
            significant(&found)
        );
        for (count, run) in [(found.only_after, "later"), (found.only_before, "first")] {
            if count > 0 {
                headline.push_str(&format!("; {count} are only in the {run} run"));
            }
        }
        Self {
            between: format!("from {} to {}", names.0, names.1),
            conclusion: conclusion(&found),
            headline: format!("{headline}. {method}"),
            largest: found.largest(MOST_LARGEST).into_iter().cloned().collect(),
            sheet: sheet(id, title, &found).note(method),
        }
    }
}

/// What happened to the agreement with people, in words.
pub fn verdict(change: &Change) -> &'static str {
    match (change.test.is_ok(), change.is_significant(), change.is_stronger()) {
        (false, ..) => "not tested",
        (_, false, _) => "may be chance",
        (_, true, true) => "stronger",
        (_, true, false) => "weaker",
    }
}

/// How the changes were tested.
fn method(method: &Method) -> String {
    match method {
        Method::SameStories(count) => format!(
            "Both rest on the same stories, so changes of Pearson's coefficient are tested by \
             Williams' test for dependent correlations on the {count} stories that both score \
             tables have, two-sided."
        ),
        Method::OtherStories => "The runs rest on different stories, so changes are tested by \
                                 Fisher's z for independent samples, two-sided."
            .into(),
        Method::Untested(reason) => format!("No test was made, because {reason}."),
    }
}

/// What a reader should conclude.
fn conclusion(found: &Changes) -> String {
    if found.changes.is_empty() {
        return "Nothing changed: all correlations that both have are the same.".into();
    }
    let tested = found.changes.iter().filter(|change| change.test.is_ok()).count();
    let largest = found.largest(MOST_LARGEST);
    let Some(first) = largest.first() else {
        return "Correlations appeared or vanished; none that both have changed.".into();
    };
    let number = |value: &Result<f64, Absence>| value.clone().unwrap_or(f64::NAN);
    let example = format!(
        "{} with {} went from r = {:.2} to {:.2} ({} level)",
        first.metric,
        first.criterion,
        number(&first.before),
        number(&first.after),
        first.level
    );
    match (tested, first.is_significant()) {
        (0, _) => format!(
            "It is not known whether the changes are more than chance, because none was tested. \
             The largest: {example}."
        ),
        (_, false) => format!(
            "No change is certain: each of the {tested} tested changes may be chance. The largest: \
             {example}."
        ),
        (_, true) => {
            let agree = |than: &str, is_stronger: bool| {
                let is_own =
                    |one: &&&Change| one.is_significant() && one.is_stronger() == is_stronger;
                let metrics = distinct(largest.iter().filter(is_own).map(|c| c.metric.as_str()));
                let agree = if metrics.len() == 1 { "agrees" } else { "agree" };
                let names = metrics.join(", ");
                (!metrics.is_empty())
                    .then(|| format!("{names} {agree} {than} with people than before"))
            };
            let both = [agree("more", true), agree("less", false)];
            let both: Vec<String> = both.into_iter().flatten().collect();
            format!("Some changes are certain: {}. For example, {example}.", both.join("; "))
        }
    }
}

/// How many changes are significant, where any was tested.
fn significant(found: &Changes) -> String {
    let tested = found.changes.iter().filter(|change| change.test.is_ok()).count();
    if tested == 0 {
        return String::new();
    }
    let count = found.changes.iter().filter(|change| change.is_significant()).count();
    let are = if count == 1 { "is" } else { "are" };
    format!(
        "; of {tested} tested changes, {count} {are} significant (p < {SIGNIFICANT} after Holm's \
         correction)"
    )
}

fn sheet(id: String, title: String, found: &Changes) -> Sheet {
    let mut sheet = Sheet::new(id, Subject::Other, title, Form::Table)
        .columns(["metric", "criterion", "level", "coefficient"], 0)
        .columns(["before", "after", "change"], 4)
        .columns(["test", "n of the test"], 0)
        .columns(["p", "p (Holm)"], 4);
    for change in &found.changes {
        let [name, n, p, corrected] = match &change.test {
            Ok(test) => {
                let (name, n) = match test.n {
                    (n, None) => ("Williams", n.to_string()),
                    (before, Some(after)) => ("Fisher's z", format!("{before} and {after}")),
                };
                [name.into(), n.into(), test.p_value.raw.into(), test.p_value.corrected.into()]
            }
            Err(reason) => ["none".into(), "".into(), Cell::missing(reason), Cell::missing(reason)],
        };
        sheet.push(vec![
            (&change.metric).into(),
            (&change.criterion).into(),
            change.level.name().into(),
            change.coefficient.name().into(),
            (&change.before).into(),
            (&change.after).into(),
            change.difference().into(),
            name,
            n,
            p,
            corrected,
        ]);
    }
    sheet
}
