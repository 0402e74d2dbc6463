//! `storymeter merge`: one table from the scores of many files.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use storymeter::Overview;
use storymeter::shards::{self, MergeNote, MergeOptions, Merged};
use storymeter::summary::Resampling;
use storymeter_core::file::{Ending, FileName};
use storymeter_core::write::ScoreFormat;
use storymeter_core::{Header, Settings, file};

use crate::Outcome;
use crate::args::{Common, count};
use crate::commands::score::report::{report_counts, write_table};
use crate::commands::score::resampling;
use crate::input::report_read;
use crate::output::{failed, is_stdout, stdout_path};
use crate::progress;
use crate::scorer::name_and_folder;

/// Make one table from the scores of many files
///
/// Reads the headers that `score --out-dir` wrote, and prints the table that one run of `score`
/// over all inputs would have printed: the same scores, intervals and signatures, whatever the
/// order of the arguments. Shards that were scored in different ways, are missing, doubled or
/// damaged are refused.
///
/// Up to 1,000,000 stories, the row statistics beside the scores are read, so that the intervals
/// are those of the bootstrap. Beyond, exact sums are added and intervals are normal ones, as in
/// one run of `score`. docs/shards.md explains the files.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  storymeter score part-*.jsonl.gz --metric union,bleu --out-dir scores --resume
  storymeter merge scores/*.meta.json
  storymeter merge scores -o all.jsonl
  storymeter merge scores --expect 400")]
pub struct MergeArgs {
    /// Headers of scores (*.meta.json), or folders of them, in any order
    #[arg(required = true, value_name = "META")]
    headers: Vec<PathBuf>,
    /// Write the table (.txt), or the scores of all stories, joined in the order of the inputs
    /// (.jsonl, .csv or .parquet, if the scores of the files are in that format)
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// The number of files that were scored, if each was scored by a run of its own, so that their
    /// headers do not know of each other
    #[arg(long, value_name = "N")]
    expect: Option<u64>,
    /// The seed, as in `score`
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The number of resamples for intervals
    #[arg(long, value_name = "N", default_value_t = Resampling::RESAMPLES as u64, value_parser = count())]
    resamples: u64,
    /// The folder or file with the weights or tables of a metric that adds up statistics of the
    /// stories, if it needs any, as in `score`
    #[arg(long, value_name = "NAME=DIR", value_parser = name_and_folder)]
    weights: Vec<(String, PathBuf)>,
    /// The folder with the tables of METEOR 1.5. The same as --weights meteor=DIR
    #[arg(long, value_name = "DIR")]
    meteor_data: Option<PathBuf>,
}

/// Merges the scores.
pub fn run(args: &MergeArgs, common: &Common) -> anyhow::Result<Outcome> {
    let output = args.output.as_deref().filter(|path| !is_stdout(path));
    let format = output.map(score_format).transpose()?.flatten();
    let headers = shards::headers(&args.headers)?;
    check_files(args, &headers, output)?;
    let mut settings = Settings { seed: args.seed.unwrap_or_default(), ..Settings::default() };
    let tables = args.meteor_data.iter().map(|folder| ("meteor".to_owned(), folder.clone()));
    settings.weights.extend(tables.chain(args.weights.iter().cloned()));
    let options = MergeOptions::default().with(|it| {
        it.settings = settings;
        it.expect = args.expect;
    });
    let merged = shards::merge(&headers, &options)?;
    output.map_or(Ok(()), |path| shards::refuse_replacing(&merged, path))?;
    report_read(common, merged.run.summary());
    let resampling = resampling(args.resamples, args.seed);
    let bar = progress::Shown::new(common);
    let table = Overview::new(&merged.run, &resampling, None, bar.progress())?;
    drop(bar);
    // Everything is complete before anything is printed or gets its name.
    let joined = match (format, output) {
        (Some(format), Some(path)) => Some(shards::join(&merged, format, path)?),
        _ => None,
    };
    let printed = write_table(&table, output.filter(|_| joined.is_none()), common);
    if !failed(&printed)
        && let Some(joined) = joined
    {
        joined.commit()?;
    }
    printed?;
    report_counts(common, &merged.run);
    report_notes(common, &merged);
    Ok(Outcome::Done)
}

/// In which format the scores of all stories are written; `None` for the table.
fn score_format(path: &Path) -> anyhow::Result<Option<ScoreFormat>> {
    let format = ScoreFormat::of_name(path);
    if format.is_none() && FileName::of(path).ending() != Some(Ending::Text) {
        bail!("{}: the name must end in .txt, .jsonl, .csv or .parquet", path.display());
    }
    Ok(format)
}

/// Checks that the output is none of the files that are read.
fn check_files(args: &MergeArgs, headers: &[PathBuf], output: Option<&Path>) -> anyhow::Result<()> {
    let scores: Vec<PathBuf> = headers.iter().filter_map(|path| Header::file_of(path)).collect();
    let rows: Vec<PathBuf> = scores.iter().map(|path| shards::rows_of(path)).collect();
    let inputs = headers.iter().chain(&scores).chain(&rows).chain(&args.meteor_data);
    let inputs = inputs.chain(args.weights.iter().map(|(_, folder)| folder));
    let inputs: Vec<&Path> = inputs.map(PathBuf::as_path).collect();
    let header = output.map(Header::path_of);
    let outputs = output.into_iter().chain(header.as_deref()).chain([stdout_path()]);
    Ok(file::distinct(&outputs.collect::<Vec<_>>(), &inputs)?)
}

fn report_notes(common: &Common, merged: &Merged) {
    if common.quiet {
        return;
    }
    let sentence = |note: &MergeNote| match note {
        MergeNote::Unchecked { shards } => Some(format!(
            "each file was scored by a run of its own, so it is not known whether all are there; \
             --expect {shards} checks that"
        )),
        MergeNote::NoRows { output } => Some(format!(
            "{}: there are no row statistics, so intervals are normal ones; `score --out-dir` \
             writes them",
            output.display()
        )),
        _ => None,
    };
    crate::notes(&merged.notes.iter().filter_map(sentence).collect::<Vec<_>>());
}
