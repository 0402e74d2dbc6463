//! Prints how well a model agrees with human readers, on the shared data.
//!
//! ```text
//! cargo run --release -p storymeter-checks --bin evaluate -- --model DIR --selection
//! cargo run --release -p storymeter-checks --bin evaluate -- --model DIR --report
//! cargo run --release -p storymeter-checks --bin evaluate -- --criteria \
//!     --held-out FOLD/held-out.jsonl... --left-out SET/held-out.jsonl...
//! ```
//!
//! `--selection` prints only what a recipe may be chosen by. `--report` prints the rest, which is
//! looked at once per released model.
//!
//! `--criteria` is about models that were trained on ratings. It reads what `storymeter train
//! --rated` wrote about stories that it had left out: `--held-out` takes the files of `--fold`, all
//! folds of a cross-validation over HANNA's prompts, and `--left-out` the files of `--leave-out`,
//! one rated set each. Several files with the same stories are runs with different seeds, and their
//! predictions are averaged. The rated sets must have the ids that `recipes/criteria/rated_sets.py`
//! gives them. With `--model`, it also looks at a finished model: whether its predictions change
//! when stories are written down differently, and the mean ratings that it predicts for HANNA's
//! systems.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use storymeter::union::{EMBEDDED_NAME, Estimate, Location, Precision};
use storymeter_checks::criteria::{self, Inputs};
use storymeter_checks::evaluate::{Evaluation, report, selection};
use storymeter_checks::{Error, Result};

/// Prints how well a model agrees with human readers, with 95% bootstrap intervals
#[derive(Debug, Parser)]
#[command(group = clap::ArgGroup::new("what").required(true))]
struct Arguments {
    /// The model: a folder, a model file, or the name of an installed or the embedded model
    /// [default: union-compact; with --criteria, none]
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// What a recipe may be chosen by: annotated/other and the even lines of union_roc
    #[arg(long, group = "what")]
    selection: bool,
    /// What is reported of a released model: all lines and the odd lines of union_roc, HANNA, the
    /// diagnosis, and the paper's examples
    #[arg(long, group = "what")]
    report: bool,
    /// How models of criteria agree with readers whose ratings they have not seen, from the files
    /// of --held-out and --left-out, and how robust a finished one (--model) is
    #[arg(long, group = "what")]
    criteria: bool,
    /// Files of held-out predictions from a cross-validation: all folds, written by `storymeter
    /// train --rated --fold I/N`. Only HANNA's stories count
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "criteria")]
    held_out: Vec<PathBuf>,
    /// Files of predictions for sets that the models have not seen, written by `storymeter train
    /// --rated --leave-out SET`
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "criteria")]
    left_out: Vec<PathBuf>,
    /// How the model multiplies
    #[arg(long, value_enum, default_value_t = Multiply::Int8)]
    precision: Multiply,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Multiply {
    Int8,
    F32,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("evaluate: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result {
    let precision = match arguments.precision {
        Multiply::Int8 => Precision::Int8,
        Multiply::F32 => Precision::F32,
    };
    if arguments.criteria {
        return run_criteria(arguments, precision);
    }
    let scorer =
        Location::find(arguments.model.as_deref().unwrap_or(EMBEDDED_NAME))?.scorer(precision)?;
    let evaluation = if arguments.selection { selection(&scorer)? } else { report(&scorer)? };
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&evaluation)?);
    } else {
        print(&evaluation);
    }
    Ok(())
}

fn run_criteria(arguments: &Arguments, precision: Precision) -> Result {
    let Arguments { held_out, left_out, model, .. } = arguments;
    if held_out.is_empty() && left_out.is_empty() && model.is_none() {
        let problem = "--criteria needs --held-out, --left-out or --model";
        return Err(Error::Failed(problem.to_owned()));
    }
    let report = criteria::evaluate(&Inputs {
        held_out: held_out.clone(),
        left_out: left_out.clone(),
        model: model.clone().map(|name| (name, precision)),
    })?;
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{}", criteria::page(&report));
    }
    Ok(())
}

fn print(evaluation: &Evaluation) {
    println!("{}\n", evaluation.signature);
    println!(
        "{:<32} {:<16} {:<7} {:<13} {:>4}  {:<24} {:<24} Kendall",
        "set", "criterion", "level", "metric", "n", "Pearson", "Spearman"
    );
    let shown = |x: Estimate| format!("{:.3} [{:.3}, {:.3}]", x.value, x.low, x.high);
    for row in &evaluation.agreement {
        println!(
            "{:<32} {:<16} {:<7} {:<13} {:>4}  {:<24} {:<24} {}",
            row.set,
            row.criterion,
            row.level,
            row.metric,
            row.n,
            shown(row.pearson),
            shown(row.spearman),
            shown(row.kendall)
        );
    }
    if let Some(mean) = evaluation.selection_mean {
        println!(
            "\nmean Spearman over the sets (even lines of union_roc; the last criterion of each \
             other): {mean:.4}"
        );
    }
    if let Some([pearson, spearman]) = evaluation.other_sets {
        println!("the other sets alone: mean Pearson {pearson:.4}, mean Spearman {spearman:.4}");
    }
    if !evaluation.robustness.is_empty() {
        println!(
            "\nSpearman's correlation of union_roc's scores with those of the same stories, \
             written differently"
        );
    }
    for (variant, spearman) in &evaluation.robustness {
        println!("{variant:<16} {spearman:.4}");
    }
    if !evaluation.diagnosis.is_empty() {
        println!(
            "\n{:<14} {:<18} {:>8} {:>9} {:>19}",
            "diagnosis", "error type", "stories", "AUC", "AUC to reasonable"
        );
    }
    for row in &evaluation.diagnosis {
        println!(
            "{:<14} {:<18} {:>8} {:>9.3} {:>19.3}",
            row.output, row.error, row.positives, row.auc, row.auc_reasonable
        );
    }
    for ranking in &evaluation.examples {
        let scores: Vec<String> =
            ranking.scores.iter().map(|score| format!("{score:.3}")).collect();
        println!(
            "\n{}: {} of {} pairs in order (the paper's better baseline: {}); scores {}",
            ranking.table,
            ranking.model,
            ranking.pairs,
            ranking.best_baseline,
            scores.join(" ")
        );
    }
}
