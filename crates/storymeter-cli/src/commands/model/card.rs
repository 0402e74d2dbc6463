//! `storymeter model show`: prints a model card.

use std::fmt::Write as _;

use serde_json::json;
use storymeter_core::Validity;
use storymeter_core::terminal::{plain, plain_lines};
use storymeter_union::criteria::{
    CalibratedOn, Calibration, CriteriaCard, Criterion, SentenceDescription,
};
use storymeter_union::{Agreement, Card, Description, Estimate, Location, ReferenceScores};

use crate::Outcome;
use crate::output::Output;

/// Prints the card of a model.
pub(super) fn run(name: &str, as_json: bool) -> anyhow::Result<Outcome> {
    let model = Location::find(name)?.describe()?;
    if as_json {
        let mut value = json!({
            "bytes": model.bytes,
            "fingerprint": model.fingerprint,
            "card": model.card,
        });
        if let Some(sentences) = &model.sentences {
            value["sentences"] = json!(sentences);
        }
        Output::print_data(&format!("{}\n", serde_json::to_string_pretty(&value)?))?;
    } else {
        Output::print(&text(&model))?;
    }
    Ok(Outcome::Done)
}

fn text(model: &Description) -> String {
    let about = &model.card.about;
    let mut text = String::new();
    let name = if about.name.is_empty() { "a model without a name" } else { &about.name };
    let name = plain(name);
    let _ = writeln!(
        text,
        "{name}  ({:.1} MB, weights {})",
        model.bytes as f64 / 1e6,
        plain(&model.fingerprint)
    );
    let _ = writeln!(text, "\nMetric: {}", model.card.kind.metric());
    for (title, content) in
        [("", &about.summary), ("Licence: ", &about.licence), ("Recipe: ", &about.recipe)]
    {
        if !content.is_empty() {
            let _ = writeln!(text, "\n{title}{}", plain_lines(content));
        }
    }
    if !about.sources.is_empty() {
        text.push_str("\nMade from\n");
        for source in &about.sources {
            let [name, licence, note] =
                [&source.name, &source.licence, &source.note].map(|field| plain(field));
            let space = if note.is_empty() { "" } else { " " };
            let _ = writeln!(text, "  {name} ({licence}).{space}{note}");
        }
    }
    agreement(&mut text, model);
    if let Some(reference) = &about.reference_scores {
        compared(&mut text, reference);
    }
    for (title, points) in [
        ("About these figures", &about.notes),
        ("Limits", &about.limits),
        ("Not to be used for", &about.not_for),
    ] {
        if !points.is_empty() {
            let _ = writeln!(text, "\n{title}");
            points.iter().for_each(|point| {
                let _ = writeln!(text, "  - {}", plain_lines(point));
            });
        }
    }
    if let Some(criteria) = &model.card.criteria {
        predicted(&mut text, criteria);
    }
    reads(&mut text, &model.card);
    if let Some(SentenceDescription { name, layers, width, bytes, .. }) = &model.sentences {
        let _ = writeln!(
            text,
            "Sentence encoder, which compares prompt and story: {}, {layers} layers of width {width}, \
             {:.1} MB",
            plain(name),
            *bytes as f64 / 1e6
        );
    }
    text
}

/// How the model reads a story and turns it into a score.
fn reads(text: &mut String, card: &Card) {
    let _ = write!(
        text,
        "\nHow it reads: windows of {} tokens; prompts {}; text {}; names {}",
        card.max_tokens,
        match (&card.criteria, card.prompts) {
            (Some(criteria), _) if criteria.needs_prompt() => "compared with the story",
            (None, true) => "read",
            _ => "left out",
        },
        if card.normalise { "normalised" } else { "as it is" },
        if card.delexicalise { "masked" } else { "kept" },
    );
    if card.criteria.is_none() {
        let _ = write!(
            text,
            "; probability sigmoid((logit - {}) / {}{})",
            card.bias,
            card.temperature,
            if card.repetition == 0.0 {
                String::new()
            } else {
                format!(" - {} * repeated", card.repetition)
            },
        );
    }
    text.push('\n');
}

/// What a model of criteria predicts, on which scale, and whose ratings it learned.
fn predicted(text: &mut String, criteria: &CriteriaCard) {
    text.push_str("\nCriteria");
    if let Some(on) = &criteria.calibrated_on {
        let CalibratedOn { set, stories, items } = on;
        let set = plain(set);
        let _ = write!(text, ", calibrated on {stories} held-out stories of {set} ({items} items)");
    }
    let _ = writeln!(
        text,
        "\n  {:<12} {:<8} {:<42} 80% of ratings are off by",
        "criterion", "scale", "rating"
    );
    for Criterion { name, union, calibration } in &criteria.heads {
        let Some(own) = calibration else {
            let _ = writeln!(text, "  {name:<12} {:<8} output, not calibrated", "none");
            continue;
        };
        let mut rating = format!("{:.3} + {:.3} * output", own.intercept, own.head);
        if *union != 0.0 {
            let _ = write!(rating, " + {:.3} * union", own.head * union);
        }
        if own.cosine != 0.0 {
            let _ = write!(rating, " + {:.3} * closeness", own.cosine);
        }
        let scale = format!("{} to {}", own.low, own.high);
        let off = widest_interval(own)
            .map_or("unknown".to_owned(), |[low, high]| format!("{low:+.2} to {high:+.2} at most"));
        let _ = writeln!(text, "  {name:<12} {scale:<8} {rating:<42} {off}");
    }
    text.push_str("  output: of the head of the criterion, in standard units");
    if criteria.needs_union() {
        text.push_str("; union: the score of union-compact, in standard units");
    }
    if criteria.needs_prompt() {
        text.push_str("\n  closeness: how close the story is to its prompt");
    }
    text.push('\n');
    if !criteria.training.is_empty() {
        text.push_str("\nTrained on the ratings of\n");
    }
    for set in &criteria.training {
        let names: Vec<_> = set.criteria.iter().map(|name| plain(name)).collect();
        let _ = writeln!(
            text,
            "  {:<20} {:>5} stories of {} items, {:.1} raters per story: {}",
            plain(&set.name),
            set.stories,
            set.items,
            set.raters,
            names.join(", ")
        );
    }
}

/// The widest interval around a prediction.
fn widest_interval(calibration: &Calibration) -> Option<[f64; 2]> {
    let intervals = calibration.residuals.iter().map(|residual| [residual.low, residual.high]);
    intervals.max_by(|a, b| (a[1] - a[0]).total_cmp(&(b[1] - b[0])))
}

fn agreement(text: &mut String, model: &Description) {
    let about = &model.card.about;
    if about.agreement.is_empty() {
        text.push_str("\nThe card has no figures on the agreement with human readers.\n");
        return;
    }
    let shown = |x: Estimate| format!("{:.3} [{:.3}, {:.3}]", x.value, x.low, x.high);
    text.push_str("\nAgreement with human readers, with 95% intervals\n");
    let _ = writeln!(
        text,
        "  {:<28} {:<12} {:<7} {:<13} {:>4}  {:<22} {:<22} Kendall",
        "set", "criterion", "level", "metric", "n", "Pearson", "Spearman"
    );
    for row in &about.agreement {
        let Agreement { set, criterion, level, metric, n, .. } = row;
        let [set, criterion, level, metric] =
            [set, criterion, level, metric].map(|field| plain(field));
        let [pearson, spearman, kendall] = [row.pearson, row.spearman, row.kendall].map(shown);
        let _ = write!(text, "  {set:<28} {criterion:<12} {level:<7} {metric:<13} {n:>4}");
        let _ = writeln!(text, "  {pearson:<22} {spearman:<22} {kendall}");
    }
    if !about.diagnosis.is_empty() {
        text.push_str(
            "\nDiagnosis: area under the ROC curve against what at least 3 of 7 readers said\n",
        );
        for row in &about.diagnosis {
            let _ = writeln!(
                text,
                "  {:<14} {:<18} {:>3} stories  {:.3}",
                plain(&row.output),
                plain(&row.error),
                row.positives,
                row.auc
            );
        }
    }
}

/// How far the columns can be trusted, the stories that their numbers are compared with, and the
/// diagnoses that explanations show.
fn compared(text: &mut String, reference: &ReferenceScores) {
    for column in &reference.columns {
        let _ = writeln!(text, "\n{}", plain(&column.name));
        if let Some(Validity { measures, tested, doubtful, words: (fewest, most) }) =
            &column.validity
        {
            let [measures, tested] = [measures, tested].map(|field| plain(field));
            let _ = writeln!(text, "  measures {measures}");
            let _ = writeln!(text, "  tested on {tested}, of {fewest} to {most} words");
            if !doubtful.is_empty() {
                let _ = writeln!(text, "  at chance or wrong on {}", plain(doubtful));
            }
        }
        for (writer, norms) in [("human", &column.human), ("machine", &column.machine)] {
            let Some(norms) = norms else { continue };
            let _ = writeln!(text, "  compared with {writer} stories: {}", plain(&norms.source));
            for class in &norms.classes {
                let stories: u64 = class.counts.iter().sum();
                let lengths =
                    class.longest.map_or("longer".to_owned(), |most| format!("up to {most} words"));
                let _ = writeln!(text, "    {stories:>5} {lengths}");
            }
        }
    }
    if !reference.diagnosis.is_empty() {
        text.push_str("\nDiagnoses that explanations show\n");
    }
    for one in &reference.diagnosis {
        let verdict = if one.is_trusted() { "shown" } else { "not shown" };
        let _ = writeln!(
            text,
            "  {:<14} {verdict:<10} area {:.2} [{:.2}, {:.2}] against \"{}\"",
            plain(&one.output),
            one.area.value,
            one.area.low,
            one.area.high,
            plain(&one.error)
        );
    }
}
