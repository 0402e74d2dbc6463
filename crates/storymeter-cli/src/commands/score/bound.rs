//! The limits of `--fail-under`, which the scores of all stories must reach.

use anyhow::{anyhow, bail};
use storymeter::Run;
use storymeter_core::{Direction, Error, ScoreColumn};

use crate::args::Common;

/// A limit that a score must reach.
pub(super) struct Bound {
    column: usize,
    key: String,
    direction: Direction,
    limit: f64,
}

impl Bound {
    /// Reads the limits that were typed, such as `20` or `bleu=20`.
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
                    "--fail-under {typed}: there are several scores, so name one: {first}={typed}"
                )
            }
        };
        let limit: f64 = limit
            .parse()
            .ok()
            .filter(|limit: &f64| limit.is_finite())
            .ok_or_else(|| anyhow!("--fail-under {typed}: {limit} is not a number"))?;
        let keys = || columns.iter().map(|column| column.key.as_str());
        let Some(column) = keys().position(|known| known == key) else {
            let error = Error::unknown("score", key, keys());
            bail!("--fail-under {typed}: {error}")
        };
        Ok(Self { column, key: key.to_owned(), direction: columns[column].direction, limit })
    }

    /// Whether all limits are reached. Reports those that are not on standard error.
    pub(super) fn all_hold(bounds: &[Self], run: &Run, common: &Common) -> bool {
        if bounds.is_empty() {
            return true;
        }
        let scores = run.score_rows().scores(run.metrics());
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
