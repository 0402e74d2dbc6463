//! `storymeter score`: any set of metrics in one pass over the stories.

mod explain;
mod learned;
mod lines;
mod references;
mod report;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use clap::{Args, ValueEnum};
use rayon::prelude::*;
use storymeter::core::Direction;
use storymeter::core::read::{Format, RawRecord, Record, Skipped};
use storymeter::metrics::{Options, Rows, Scorer, in_order};
use storymeter::summary::{Ledger, Resampling, Summary};
use storymeter::union::UnionMetric;

use crate::Outcome;
use crate::args::Common;
use crate::input::{AHEAD, InputArgs, Inputs, report_skipped};
use crate::output::Output;
use crate::progress;
use explain::{Explainer, Sentences};
use learned::{Learned, UNION};
use lines::Lines;
use references::{Given, References};
use report::Report;

/// Score stories with any set of metrics, in one pass.
///
/// Prints a table: for each metric the score of all stories together and of each system, with a bootstrap interval,
/// and how each number came about. With -o the scores of every story are written as well, in input order.
/// `storymeter metrics list` names the metrics.
#[derive(Debug, Args)]
pub struct ScoreArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Metrics, separated by commas: ids such as bleu or rouge:hanna; the default is union, the learned metric
    #[arg(short, long = "metric", value_name = "ID", value_delimiter = ',')]
    metrics: Vec<String>,
    #[command(flatten)]
    learned: learned::LearnedArgs,
    /// Say why: what the learned metric would change, which sentences weigh, which damage it sees. On the terminal, or
    /// as the field "explanation" of -o X.jsonl. Each sentence is weighed by reading its part of the story again without it, which
    /// takes some five times as long as the score with the embedded model. Of a story beyond about 10,000 words only the sentences of the parts that
    /// score lowest are weighed, in about the time of the score again; --explain=all weighs them all. How far each kind of damage can
    /// be trusted stands in `storymeter model show`
    #[arg(long, value_name = "SENTENCES", num_args = 0..=1, require_equals = true, default_missing_value = "weakest")]
    explain: Option<Sentences>,
    /// Reference stories, one a story and in the same order, from a file like the input; may be given several times
    /// for several references
    #[arg(long, value_name = "FILE")]
    references: Vec<PathBuf>,
    /// The format of the references, where it cannot be told or is told wrongly
    #[arg(long, value_name = "FORMAT", requires = "references")]
    references_format: Option<Format>,
    /// Compare every other system with this one, on the items both have (approximate randomisation)
    #[arg(long, value_name = "SYSTEM")]
    against: Option<String>,
    /// Exit with 1 if the score of all stories is worse than X; with several scores, name one: bleu=20
    #[arg(long, value_name = "[KEY=]X")]
    fail_under: Vec<String>,
    /// Seed of everything that is drawn: intervals, tests, the sample of self-bleu
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Number of resamples of intervals and tests
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    resamples: u32,
    /// Folder with the tables of METEOR 1.5
    #[arg(long, value_name = "DIR")]
    meteor_data: Option<PathBuf>,
    /// Write the scores of every story here (.jsonl or .csv)
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// What to write: to -o the scores of every story (jsonl, csv) or the table; without -o, to standard output
    #[arg(long, value_name = "FORMAT")]
    format: Option<OutputFormat>,
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// Scores of systems, for people
    Table,
    /// Scores of stories, one JSON object a line
    Jsonl,
    /// Scores of stories, for spreadsheets
    Csv,
}

/// Scores the stories.
pub fn run(args: &ScoreArgs, common: &Common) -> anyhow::Result<Outcome> {
    let format = output_format(args)?;
    let options = Options { seed: args.seed, meteor_data: args.meteor_data.clone() };
    let (mut scorer, learned) = learned::scorer(&args.learned, &metric_ids(args), &options)?;
    let explainer = explainer(args, &learned, format)?;
    let bounds = Bound::parse_all(&args.fail_under, &scorer)?;

    let inputs = if scorer.needs_survey() { args.input.repeatable()? } else { args.input.once() };
    let inputs = inputs.allowing_empty_stories();
    if scorer.needs_survey() {
        scorer = survey(args, common, &inputs, scorer)?;
    }
    let mut ledger = Ledger::new(scorer.width());
    let to_file = args.output.as_deref();
    let mut lines = match format {
        OutputFormat::Table => None,
        OutputFormat::Jsonl => Some(Lines::jsonl(to_file, scorer.columns())?),
        OutputFormat::Csv => Some(Lines::csv(to_file, scorer.columns())?),
    };
    let layout = lines.as_ref().map(Lines::layout);
    let work = |records: &[Record]| -> anyhow::Result<Done> {
        if explainer.is_some() {
            // Before the time for the explanations is spent; the scores are checked anyway.
            scorer.check_all(records)?;
        }
        let explained =
            explainer.as_ref().map(|explainer| explainer.explain(records)).transpose()?;
        let explanations = explained.as_ref().map(|explained| explained.explanations.as_slice());
        // An explanation contains the score: the model need not read the stories for it again.
        let known =
            |key: &str| explanations.filter(|_| key == UNION).map(UnionMetric::stats_of_explained);
        let rows = scorer.batch_knowing(records, known)?;
        learned.check()?;
        let lines =
            layout.as_ref().map(|layout| layout.lines(records, &rows, explanations)).transpose()?;
        Ok(Done {
            lines: lines.unwrap_or_default(),
            ledger: entries(records, &rows, scorer.width()),
            empty: rows.empty_stories(),
            shown: explained.map(|explained| explained.shown).unwrap_or_default(),
        })
    };
    let mut empty = 0;
    let mut shown = explainer.as_ref().map(|_| Output::open(None)).transpose()?;
    // The learned metric has a batch to itself: it uses all threads as it is.
    let ahead = if learned.is_on() || args.explain.is_some() { 1 } else { AHEAD };
    let skipped = for_each_batch(args, common, &inputs, ("scoring", ahead), work, |done| {
        ledger.append(done.ledger);
        empty += done.empty;
        shown.as_mut().map_or(Ok(()), |shown| shown.write_all(&done.shown))?;
        lines.as_mut().map_or(Ok(()), |lines| lines.write(&done.lines))
    })?;

    let resampling =
        Resampling { resamples: args.resamples as usize, seed: args.seed, ..Resampling::default() };
    let all = ledger.all(&scorer, &resampling);
    let passed = Bound::all_hold(&bounds, &all, common);
    shown.map_or(Ok(()), Output::finish)?;
    let table_wanted = format == OutputFormat::Table || args.output.is_some();
    if table_wanted {
        let report = Report {
            scorer: &scorer,
            systems: if ledger.systems().is_empty() {
                Vec::new()
            } else {
                ledger.by_system(&scorer, &resampling)
            },
            comparisons: compare(args, &ledger, &scorer, &resampling)?,
            against: args.against.as_deref(),
            all,
            resampling,
        };
        let table_to = if format == OutputFormat::Table { to_file } else { None };
        // The file with the scores gets its name before the table is shown: a closed pipe must not undo it.
        lines.take().map_or(Ok(()), Lines::finish)?;
        report.write(table_to)?;
    } else {
        lines.take().map_or(Ok(()), Lines::finish)?;
    }
    if empty > 0 && !common.quiet {
        crate::note(&format!(
            "{empty} of {} stories have no text; they are scored as they are",
            ledger.len()
        ));
    }
    report_skipped(common, &skipped);
    Ok(if passed { Outcome::Done } else { Outcome::CheckFailed })
}

/// What explains the stories, where that is asked for: the metric's model, or one of its own.
fn explainer(
    args: &ScoreArgs,
    learned: &Learned,
    format: OutputFormat,
) -> anyhow::Result<Option<Explainer>> {
    let Some(sentences) = args.explain else { return Ok(None) };
    let model = learned.model().map_or_else(|| args.learned.load().map(Arc::new), Ok)?;
    Ok(Some(Explainer::new(model, sentences, format)))
}

/// The metrics asked for; the learned one where none was.
fn metric_ids(args: &ScoreArgs) -> Vec<String> {
    let ids: Vec<String> =
        args.metrics.iter().map(|id| id.trim().to_owned()).filter(|id| !id.is_empty()).collect();
    if ids.is_empty() { vec![UNION.to_owned()] } else { ids }
}

fn output_format(args: &ScoreArgs) -> anyhow::Result<OutputFormat> {
    let Some(path) = &args.output else { return Ok(args.format.unwrap_or(OutputFormat::Table)) };
    if let Some(format) = args.format {
        return Ok(format);
    }
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("jsonl" | "json" | "ndjson") => Ok(OutputFormat::Jsonl),
        Some("csv") => Ok(OutputFormat::Csv),
        Some("txt") => Ok(OutputFormat::Table),
        _ => Err(anyhow!("{}: name the format with --format jsonl, csv or table", path.display())),
    }
}

/// What comes of a batch of stories.
struct Done {
    ledger: Ledger,
    lines: Vec<u8>,
    empty: usize,
    shown: Vec<u8>,
}

/// The first pass, for metrics that must know the corpus.
fn survey(
    args: &ScoreArgs,
    common: &Common,
    inputs: &Inputs,
    scorer: Scorer,
) -> anyhow::Result<Scorer> {
    let survey = scorer.survey();
    let work = |records: &[Record]| {
        scorer.check_all(records)?;
        survey.batch(records);
        Ok(())
    };
    // Bad records are reported by the second pass.
    for_each_batch(args, common, inputs, ("reading the corpus", AHEAD), work, |()| Ok(()))?;
    Ok(scorer.surveyed(survey)?)
}

/// Reads the input, batch by batch, with the references of the reference files. `work` is done on all threads, on so many
/// batches at once; what comes of it is for `take`, in input order.
fn for_each_batch<R: Send>(
    args: &ScoreArgs,
    common: &Common,
    inputs: &Inputs,
    (what, ahead): (&'static str, usize),
    work: impl Fn(&[Record]) -> anyhow::Result<R> + Sync,
    mut take: impl FnMut(R) -> anyhow::Result<()>,
) -> anyhow::Result<Skipped> {
    let mut references = References::open(&args.references, args.references_format)?;
    let mut skipped = Skipped::default();
    let bar = progress::bar(common, what, None);
    let batches = inputs.batches()?.map(|batch| -> anyhow::Result<_> {
        let batch = batch?;
        let given = references.next(&batch)?;
        Ok((batch, given))
    });
    let skip_bad = inputs.skip_bad();
    let work = |batch: anyhow::Result<(Vec<RawRecord>, Given)>| -> anyhow::Result<_> {
        let (batch, given) = batch?;
        let mut skipped = Skipped::default();
        let records = parse(batch, given, &mut skipped, skip_bad)?;
        Ok((work(&records)?, records.len() as u64, skipped))
    };
    in_order(batches, ahead, work, |done| {
        let (result, stories, passed_over) = done?;
        skipped.merge(passed_over);
        bar.inc(stories);
        take(result)
    })?;
    references.finish()?;
    bar.finish_and_clear();
    Ok(skipped)
}

/// The good records of a batch, with their references.
fn parse(
    batch: Vec<RawRecord>,
    given: Given,
    skipped: &mut Skipped,
    skip_bad: bool,
) -> storymeter::core::Result<Vec<Record>> {
    let mut given = given.parse()?;
    let parsed: Vec<_> = batch.into_par_iter().map(RawRecord::parse).collect();
    let mut records = Vec::with_capacity(parsed.len());
    for record in parsed {
        let references: Vec<String> = given.iter_mut().filter_map(Iterator::next).collect();
        if let Some(mut record) = skipped.admit(record, skip_bad)? {
            record.story.references.extend(references);
            records.push(record);
        }
    }
    Ok(records)
}

/// What is kept of a batch.
fn entries(records: &[Record], rows: &Rows, width: usize) -> Ledger {
    let mut ledger = Ledger::new(width);
    for (at, record) in records.iter().enumerate() {
        ledger.push(&record.story, rows.stats(at));
    }
    ledger
}

fn compare(
    args: &ScoreArgs,
    ledger: &Ledger,
    scorer: &Scorer,
    resampling: &Resampling,
) -> anyhow::Result<Vec<storymeter::summary::Comparison>> {
    let Some(system) = &args.against else { return Ok(Vec::new()) };
    ledger.against(system, scorer, resampling).with_context(|| match ledger.systems() {
        [] => format!("--against {system}: no story says which system wrote it"),
        known => {
            format!("--against {system}: there is no such system; there are {}", known.join(", "))
        }
    })
}

/// A score that must be reached.
struct Bound {
    column: usize,
    key: String,
    direction: Direction,
    limit: f64,
}

impl Bound {
    fn parse_all(typed: &[String], scorer: &Scorer) -> anyhow::Result<Vec<Self>> {
        typed.iter().map(|typed| Self::parse(typed, scorer)).collect()
    }

    fn parse(typed: &str, scorer: &Scorer) -> anyhow::Result<Self> {
        let columns = scorer.columns();
        let (key, limit) = match (typed.rsplit_once('='), columns) {
            (Some((key, limit)), _) => (key, limit),
            (None, [only]) => (only.as_str(), typed),
            (None, _) => {
                bail!(
                    "--fail-under {typed}: there are several scores; name one: {}={typed}",
                    columns[0]
                )
            }
        };
        let limit: f64 =
            limit.parse().map_err(|_| anyhow!("--fail-under {typed}: {limit} is not a number"))?;
        let column = columns.iter().position(|column| column == key).with_context(|| {
            format!(
                "--fail-under {typed}: there is no score {key}; there are {}",
                columns.join(", ")
            )
        })?;
        let direction = scorer
            .parts()
            .find(|part| part.scores.contains(&column))
            .map(|part| part.metric.direction());
        Ok(Self { column, key: key.to_owned(), direction: direction.unwrap_or_default(), limit })
    }

    /// Whether all bounds hold; says which do not.
    fn all_hold(bounds: &[Self], all: &Summary, common: &Common) -> bool {
        let mut hold = true;
        for bound in bounds {
            let score = all.columns[bound.column].score;
            let (good, word) = match bound.direction {
                Direction::Lower => (score <= bound.limit, "above"),
                Direction::Higher | Direction::None => (score >= bound.limit, "below"),
            };
            if !good {
                hold = false;
                if !common.quiet {
                    crate::note(&format!(
                        "{} is {score:.4}, {word} the limit of {}",
                        bound.key, bound.limit
                    ));
                }
            }
        }
        hold
    }
}
