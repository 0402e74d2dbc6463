//! `storymeter model list`: lists the models of this machine.

use std::fmt::Write as _;

use serde_json::{Value, json};
use storymeter_core::terminal::plain;
use storymeter_union::{
    Description, EmbeddedModel, Error, Kind, Location, installed_paths, models_folder,
};

use crate::Outcome;
use crate::output::Output;

/// Prints the models, the embedded ones first.
pub(super) fn run(as_json: bool) -> anyhow::Result<Outcome> {
    let mut models = EmbeddedModel::ALL
        .map(|model| (model.name().to_owned(), Location::Embedded(model)))
        .to_vec();
    models.extend(installed_paths().into_iter().map(|(name, path)| (name, Location::Path(path))));
    let described: Vec<(String, Location, Result<Description, Error>)> = models
        .into_iter()
        .map(|(name, location)| {
            let description = location.describe();
            (name, location, description)
        })
        .collect();
    if as_json {
        let values: Vec<Value> =
            described.iter().map(|(name, place, d)| value(name, place, d)).collect();
        Output::print_data(&format!("{}\n", serde_json::to_string_pretty(&values)?))?;
    } else {
        let mut text = String::new();
        for (name, place, description) in &described {
            line(&mut text, name, place, description);
        }
        let folder =
            models_folder().map_or_else(|| "nowhere".to_owned(), |f| f.display().to_string());
        let _ = writeln!(
            text,
            "\nModels are installed in {}; set STORYMETER_MODELS to change that.",
            plain(&folder)
        );
        Output::print(&text)?;
    }
    Ok(Outcome::Done)
}

fn line(text: &mut String, name: &str, place: &Location, description: &Result<Description, Error>) {
    let kind = match place {
        Location::Embedded(_) => "embedded",
        Location::Path(path) if path.is_dir() => "folder",
        Location::Path(_) => "file",
    };
    let name = plain(name);
    let _ = match description {
        Ok(model) => writeln!(
            text,
            "{name:<16} {kind:<9} {:>6.1} MB  {}  {:<8}  {}",
            model.bytes as f64 / 1e6,
            plain(&model.fingerprint),
            model.card.kind.metric(),
            plain(&headline(model))
        ),
        Err(error) => writeln!(text, "{name:<16} {kind:<9} {}", plain(&error.to_string())),
    };
}

/// The first agreement on the card that is about the model itself. Columns of criteria are metrics
/// of their own: `criteria/overall`.
fn headline(model: &Description) -> String {
    let card = &model.card;
    let metric = match card.kind {
        Kind::Criteria => Kind::Criteria,
        Kind::Union | Kind::DisScore => Kind::Union,
    };
    let is_own = |named: &str| named.split('/').next().is_some_and(|id| id == metric.metric());
    match card.about.agreement.iter().find(|row| is_own(&row.metric)) {
        Some(row) => format!(
            "{}: r {:.3}, rho {:.3}, tau {:.3} (n = {})",
            row.set, row.pearson.value, row.spearman.value, row.kendall.value, row.n
        ),
        None => "no figures in its card".to_owned(),
    }
}

fn value(name: &str, place: &Location, description: &Result<Description, Error>) -> Value {
    let path = match place {
        Location::Embedded(_) => Value::Null,
        Location::Path(path) => json!(path),
    };
    match description {
        Ok(model) => json!({
            "name": name,
            "embedded": matches!(place, Location::Embedded(_)),
            "path": path,
            "bytes": model.bytes,
            "fingerprint": model.fingerprint,
            "metric": model.card.kind.metric(),
            "agreement": model.card.about.agreement,
        }),
        Err(error) => json!({
            "name": name,
            "embedded": matches!(place, Location::Embedded(_)),
            "path": path,
            "error": error.to_string(),
        }),
    }
}
