//! `--fail-under`: scores that must be reached.

use anyhow::{anyhow, bail};
use storymeter::Run;
use storymeter::core::{Direction, Error, ScoreColumn};

use crate::args::Common;

/// A score that must be reached.
pub(super) struct Bound {
    column: usize,
    key: String,
    direction: Direction,
    limit: f64,
}

impl Bound {
    pub(super) fn parse_all(
        typed: &[String],
        columns: &[ScoreColumn],
    ) -> anyhow::Result<Vec<Self>> {
        typed.iter().map(|typed| Self::parse(typed, columns)).collect()
    }

    fn parse(typed: &str, columns: &[ScoreColumn]) -> anyhow::Result<Self> {
        let (key, limit) = match (typed.rsplit_once('='), columns) {
            (Some((key, limit)), _) => (key, limit),
            (None, [only]) => (only.key.as_str(), typed),
            (None, _) => {
                let first = columns.first().map_or("KEY", |column| column.key.as_str());
                bail!(
                    "--fail-under {typed}: there are several scores; name one, such as \
                     {first}={typed}"
                )
            }
        };
        let limit: f64 = limit
            .parse()
            .ok()
            .filter(|limit: &f64| !limit.is_nan())
            .ok_or_else(|| anyhow!("--fail-under {typed}: {limit} is not a number"))?;
        let keys = || columns.iter().map(|column| column.key.as_str());
        let Some(column) = keys().position(|known| known == key) else {
            let error = Error::unknown("score", key, keys());
            bail!("--fail-under {typed}: {error}")
        };
        Ok(Self { column, key: key.to_owned(), direction: columns[column].direction, limit })
    }

    /// Whether all bounds hold. Says which do not.
    pub(super) fn all_hold(bounds: &[Self], run: &Run, common: &Common) -> bool {
        if bounds.is_empty() {
            return true;
        }
        let scores = run.ledger().scores(run.metrics());
        let mut hold = true;
        for bound in bounds {
            let message = match &scores[bound.column] {
                Ok(score) => {
                    let (good, word) = match bound.direction {
                        Direction::Lower => (*score <= bound.limit, "above"),
                        Direction::Higher | Direction::None => (*score >= bound.limit, "below"),
                    };
                    if good {
                        continue;
                    }
                    format!("{} is {score:.4}, {word} the limit of {}", bound.key, bound.limit)
                }
                Err(absence) => format!("{} has no value: {absence}", bound.key),
            };
            hold = false;
            if !common.quiet {
                crate::note(&message);
            }
        }
        hold
    }
}
