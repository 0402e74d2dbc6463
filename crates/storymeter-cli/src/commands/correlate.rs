//! `storymeter correlate`: how scores agree with human judgments.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use storymeter::meta::join::{self, HumanScores, ScoreSource};
use storymeter::meta::render;

use crate::Outcome;

/// Arguments of `storymeter correlate`.
#[derive(Debug, Args)]
pub struct CorrelateArgs {
    /// Human judgments: `ID ||| story ||| r1 .. r7` (the mean counts), or JSONL with `human`
    #[arg(long, value_name = "FILE")]
    human: PathBuf,
    /// Which criterion of `human` to use, where there are several
    #[arg(long, value_name = "C")]
    criterion: Option<String>,
    /// Scores to correlate: one number a line (joined by order), or JSONL from `score` (joined by id)
    #[arg(long, value_name = "NAME=FILE[#METRIC]", required = true, num_args = 1..)]
    scores: Vec<ScoreSource>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Correlates each score file with the human judgments and prints the result.
pub fn run(args: &CorrelateArgs) -> anyhow::Result<Outcome> {
    let human = HumanScores::read(&args.human, args.criterion.as_deref())?;
    let mut rows = Vec::new();
    for source in &args.scores {
        let joined = human.join(source).with_context(|| format!("--scores {source}"))?;
        rows.push((source.name.clone(), joined));
    }
    let mut out = std::io::stdout().lock();
    if args.json {
        let object = join::to_json(&human, &rows);
        writeln!(out, "{}", serde_json::to_string_pretty(&object)?)?;
    } else {
        let sheet = join::to_sheet(&human, &rows);
        write!(out, "{}", render::sheet(&sheet))?;
    }
    Ok(Outcome::Done)
}
