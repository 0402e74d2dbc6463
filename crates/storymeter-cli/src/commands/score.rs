//! `storymeter score`: any set of metrics in one pass over the stories.

mod bound;
mod explain;
mod sink;
mod table;

use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use storymeter::core::read::Format;
use storymeter::core::write::{Layout, ScoreLine, ScoreLines};
use storymeter::core::{Header, Key};
use storymeter::input::ReferenceFiles;
use storymeter::ledger::Resampling;
use storymeter::{Depth, Device, LEARNED, Pass, Precision, Run, Scored, Scorer, Watch};

use crate::Outcome;
use crate::args::Common;
use crate::input::{InputArgs, report_skipped};
use crate::output::Output;
use crate::progress;
use bound::Bound;
use explain::Shown;
use sink::Sink;
use table::Table;

/// Score stories with any set of metrics, in one pass.
///
/// Prints a table: for each metric the score of all stories together and of each system, with a
/// bootstrap interval, and how each number came about. With -o the scores of every story are
/// written as well, in input order, with a header beside them (OUT.meta.json) that says what the
/// columns are. `storymeter metrics list` names the metrics.
#[derive(Debug, Args)]
pub struct ScoreArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Metrics, separated by commas: ids such as bleu, rouge:hanna or bleu:intl+floor. The default
    /// is union, the learned metric
    #[arg(short, long = "metric", value_name = "ID", value_delimiter = ',')]
    metrics: Vec<String>,
    /// The model of the metric union: a folder written by storymeter train, a model file, or the
    /// name of a model (`storymeter model list`). The default is part of the program
    #[arg(long, value_name = "DIR|FILE|NAME")]
    model: Option<PathBuf>,
    /// A folder of weights or tables. NAME is a metric id (meteor) or the usual name of a model. May
    /// be given several times
    #[arg(long, value_name = "NAME=DIR", value_parser = name_and_folder)]
    weights: Vec<(String, PathBuf)>,
    /// How networks multiply. int8, the default, gives the same scores on the CPU and on a GPU, to
    /// the last digit. f32 is exact and slower; a model file has it on a GPU only. f16 and bf16 are
    /// for a GPU
    #[arg(long, value_name = "PRECISION")]
    precision: Option<PrecisionArg>,
    /// Where networks compute: cpu, or cuda for an NVIDIA GPU (the first one that
    /// CUDA_VISIBLE_DEVICES names)
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: DeviceArg,
    /// Say why: what the learned metric would change, how much each sentence adds, and which kind of
    /// damage it sees. On the terminal, or as the field "explanation" of -o X.jsonl. Each sentence is
    /// weighed by reading its part of the story again without it, which takes about five times as
    /// long as the score. Of a story beyond about 10,000 words only the sentences of the weakest
    /// parts are weighed; --explain=all weighs them all. `storymeter model show` says how far each
    /// kind of damage can be trusted
    #[arg(
        long,
        value_name = "SENTENCES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "weakest"
    )]
    explain: Option<Sentences>,
    /// Reference stories, one per story and in the same order, from a file like the input. May be
    /// given several times for several references
    #[arg(long, value_name = "FILE")]
    references: Vec<PathBuf>,
    /// The format of the references, where it cannot be told from name and content
    #[arg(long, value_name = "FORMAT", requires = "references")]
    references_format: Option<Format>,
    /// Compare every other system with this one, on the items that both have (approximate
    /// randomisation)
    #[arg(long, value_name = "SYSTEM")]
    against: Option<String>,
    /// Exit with 1 if the score of all stories is worse than X. With several scores, name one:
    /// bleu=20
    #[arg(long, value_name = "[KEY=]X")]
    fail_under: Vec<String>,
    /// Seed of everything that is drawn: intervals, tests, the sample of self-bleu
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Number of resamples of intervals and tests
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1000,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    resamples: u32,
    /// Folder with the tables of METEOR 1.5; the same as --weights meteor=DIR
    #[arg(long, value_name = "DIR")]
    meteor_data: Option<PathBuf>,
    /// Write the scores of every story here (.jsonl or .csv)
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// What to write: to -o the scores of every story (jsonl, csv) or the table; without -o, to
    /// standard output
    #[arg(long, value_name = "FORMAT")]
    format: Option<OutputFormat>,
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// Scores of systems, for people
    Table,
    /// Scores of stories, one JSON object per line
    Jsonl,
    /// Scores of stories, for spreadsheets
    Csv,
}

/// The values of `--precision`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PrecisionArg {
    /// Eight-bit integers
    Int8,
    /// Sixteen bits, on a GPU
    F16,
    /// Sixteen bits with a larger range and fewer digits, on a GPU
    Bf16,
    /// Single precision
    F32,
}

/// The values of `--device`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DeviceArg {
    /// This machine's processor
    Cpu,
    /// An NVIDIA GPU
    Cuda,
}

/// The values of `--explain`: which sentences of a long story are weighed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sentences {
    /// Those of the windows that score lowest
    Weakest,
    /// Every one
    All,
}

fn name_and_folder(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, folder)) if !name.is_empty() && !folder.is_empty() => {
            Ok((name.to_owned(), folder.into()))
        }
        _ => Err(format!("\"{text}\" is not of the form NAME=DIR")),
    }
}

/// Scores the stories.
pub fn run(args: &ScoreArgs, common: &Common) -> anyhow::Result<Outcome> {
    let format = output_format(args)?;
    let scorer = scorer(args).build()?;
    let bounds = Bound::parse_all(&args.fail_under, scorer.metrics().columns())?;
    let inputs = args.input.allowing_empty_stories();
    let inputs = if scorer.reads_twice() { inputs.repeatable()? } else { inputs };
    let references =
        ReferenceFiles { files: args.references.clone(), format: args.references_format };

    let keys: Vec<Key> =
        scorer.metrics().columns().iter().map(|column| column.key.clone()).collect();
    let to_file = args.output.as_deref();
    let layout = match format {
        OutputFormat::Table => None,
        OutputFormat::Jsonl => Some(Layout::Jsonl),
        OutputFormat::Csv => Some(Layout::Csv),
    };
    let lines = layout.map(|layout| ScoreLines::new(layout, keys));
    let mut sink = lines.as_ref().map(|lines| Sink::open(to_file, lines)).transpose()?;
    // Explanations are for people unless they are written as JSON.
    let show = args.explain.is_some() && format != OutputFormat::Jsonl;
    let shown = Shown::new(show);
    let mut shown_to = show.then(|| Output::open(None)).transpose()?;

    let work = |scored: Scored<'_>| -> anyhow::Result<Done> {
        let lines = lines.as_ref().map(|lines| format_lines(lines, &scored)).transpose()?;
        Ok(Done { lines: lines.unwrap_or_default(), shown: shown.batch(&scored) })
    };
    let mut bar = Bar::new(common);
    let run = scorer.over(&inputs, &references, &mut bar, work, |done| {
        shown_to.as_mut().map_or(Ok(()), |out| std::io::Write::write_all(out, &done.shown))?;
        sink.as_mut().map_or(Ok(()), |sink| sink.write(&done.lines))
    })?;

    let passed = Bound::all_hold(&bounds, &run, common);
    shown_to.map_or(Ok(()), Output::finish)?;
    // The file with the scores gets its name before the table is shown: a closed pipe must not
    // undo it.
    if let Some(sink) = sink {
        let stories = run.ledger().len() as u64;
        sink.finish(&Header::new(stories, run.skipped.count, run.columns()))?;
    }
    // Intervals and tests are drawn only where somebody sees them.
    if format == OutputFormat::Table || args.output.is_some() {
        let table_to = if format == OutputFormat::Table { to_file } else { None };
        print_table(args, &run, table_to)?;
    }
    report_counts(common, &run);
    Ok(if passed { Outcome::Done } else { Outcome::CheckFailed })
}

/// What comes of a batch of stories.
struct Done {
    lines: Vec<u8>,
    shown: Vec<u8>,
}

/// What the user asked for.
fn scorer(args: &ScoreArgs) -> Scorer {
    let typed: Vec<String> =
        args.metrics.iter().map(|id| id.trim().to_owned()).filter(|id| !id.is_empty()).collect();
    let typed = if typed.is_empty() { vec![LEARNED.to_owned()] } else { typed };
    let mut scorer = Scorer::new().metrics(typed).seed(args.seed);
    if let Some(folder) = &args.meteor_data {
        scorer = scorer.weights("meteor", folder);
    }
    for (name, folder) in &args.weights {
        scorer = scorer.weights(name, folder);
    }
    if let Some(model) = &args.model {
        scorer = scorer.model(model);
    }
    if args.device == DeviceArg::Cuda {
        scorer = scorer.device(Device::Cuda(0));
    }
    if let Some(precision) = args.precision {
        scorer = scorer.precision(match precision {
            PrecisionArg::Int8 => Precision::Int8,
            PrecisionArg::F16 => Precision::F16,
            PrecisionArg::Bf16 => Precision::Bf16,
            PrecisionArg::F32 => Precision::F32,
        });
    }
    match args.explain {
        Some(Sentences::Weakest) => scorer.explain(Depth::Weakest),
        Some(Sentences::All) => scorer.explain(Depth::All),
        None => scorer,
    }
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

/// The lines of a batch, made by the thread that scored it.
fn format_lines(lines: &ScoreLines, scored: &Scored<'_>) -> anyhow::Result<Vec<u8>> {
    let mut out = Vec::new();
    for (at, record) in scored.records.iter().enumerate() {
        let story = &record.story;
        let line = ScoreLine {
            id: &story.id,
            system: story.system.as_deref(),
            item: story.item(),
            values: scored.batch.values(at),
            ratings: &story.ratings,
            explanation: scored.rationales.map(|rationales| rationales[at].to_json()),
        };
        lines.line(&mut out, &line)?;
    }
    Ok(out)
}

fn print_table(args: &ScoreArgs, run: &Run, path: Option<&std::path::Path>) -> anyhow::Result<()> {
    let resampling =
        Resampling { resamples: args.resamples as usize, seed: args.seed, ..Resampling::default() };
    let (ledger, metrics) = (run.ledger(), run.metrics());
    let comparisons = match &args.against {
        Some(system) => ledger.against(system, metrics, &resampling)?,
        None => Vec::new(),
    };
    Table {
        columns: metrics.columns(),
        all: ledger.all(metrics, &resampling),
        systems: ledger.by_system(metrics, &resampling),
        comparisons,
        against: args.against.as_deref(),
        signatures: run.signatures(&resampling),
        confidence: resampling.confidence,
    }
    .write(path)
}

/// Says on stderr what a user should know about the stories.
fn report_counts(common: &Common, run: &Run) {
    if !common.quiet {
        let stories = run.ledger().len();
        if run.empty_stories() > 0 {
            let empty = run.empty_stories();
            crate::note(&format!("{empty} of {stories} stories have no text; they are scored too"));
        }
        let mut told: Vec<&str> = Vec::new();
        let columns = run.columns();
        for column in &columns {
            let metric = column.key.metric();
            if told.contains(&metric) {
                continue;
            }
            told.push(metric);
            if column.counts.truncated > 0 {
                let cut = column.counts.truncated;
                crate::note(&format!("{metric}: {cut} of {stories} stories were read in part"));
            }
            if column.counts.absent > 0 {
                let absent = column.counts.absent;
                crate::note(&format!("{metric}: {absent} of {stories} stories have no value"));
            }
        }
    }
    report_skipped(common, &run.skipped);
}

/// A progress bar per pass.
struct Bar<'a> {
    common: &'a Common,
    bar: Option<indicatif::ProgressBar>,
}

impl<'a> Bar<'a> {
    fn new(common: &'a Common) -> Self {
        Self { common, bar: None }
    }
}

impl Watch for Bar<'_> {
    fn begins(&mut self, pass: Pass) {
        let what = match pass {
            Pass::Survey => "reading the corpus",
            Pass::Score => "scoring",
        };
        self.bar = Some(progress::bar(self.common, what, None));
    }

    fn advances(&mut self, stories: u64) {
        self.bar.iter().for_each(|bar| bar.inc(stories));
    }

    fn ends(&mut self) {
        self.bar.take().iter().for_each(indicatif::ProgressBar::finish_and_clear);
    }
}
