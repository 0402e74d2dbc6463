//! `storymeter score`: scores stories with any set of metrics.

mod bound;
mod explain;
pub mod report;
mod shards;

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::{Args, ValueEnum};
use storymeter::input::ReferenceFiles;
use storymeter::summary::{Against, Resampling};
use storymeter::{Depth, Overview, ScoreSink, Scored, Scorer};
use storymeter_core::file::{Ending, FileName};
use storymeter_core::read::Format;
use storymeter_core::spreadsheet::TextCells;
use storymeter_core::write::ScoreFormat;
use storymeter_core::{Header, file};

use crate::Outcome;
use crate::args::{Common, count};
use crate::commands::meta::settings::SidesArgs;
use crate::input::InputArgs;
use crate::output::{Output, Reader, failed, is_stdout, stdout_path};
use crate::progress;
use crate::scorer::ScorerArgs;
use bound::Bound;
use explain::Shown;
use report::{report_counts, write_table};
use shards::Job;

/// Score stories with any set of metrics
///
/// Prints a table with the score of all stories together and of each system, with bootstrap
/// intervals (Student's t for fewer than 50 stories), and with the signatures of the metrics. Where
/// several stories are of one item, intervals resample whole items, and a note says so. With -o,
/// the scores of every story are written to a file as well, in input order. A header beside it
/// (OUT.meta.json) says what the columns are.
///
/// Up to five stories are shown one by one instead: each score, the share of human stories of the
/// same length that it is higher than, what the text has that is not story, and what such numbers
/// can and cannot say about a single story (--quiet keeps that to one line). Metrics that score
/// many stories as a whole, such as bleu, and --against always print means.
///
/// With --out-dir, every input file is scored to a file of its own, so that the work can be killed,
/// resumed and shared by many machines. `storymeter merge` then prints the table.
///
/// Metrics are named by their ids: bleu. Options follow a colon and are joined by a plus sign:
/// bleu:intl+floor. `storymeter metrics` lists all metrics.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  storymeter score stories.jsonl
  storymeter score --explain --text 'The lamp went out. Nobody had touched it.'
  storymeter score texts
  storymeter score stories.csv --story-col Tale --system-col Writer
  storymeter score stories.csv --wide
  storymeter score stories.jsonl --metric bleu,rouge:hanna -o scores.jsonl
  storymeter score stories.jsonl --references references.txt --metric chrf,ter
  storymeter score stories.jsonl --metric perplexity --weights perplexity=model.gguf
  storymeter score stories.jsonl --metric bleu --against baseline
  storymeter score stories.jsonl --metric cider-d --corpus-stats corpus.bin
  storymeter score stories.jsonl --metric union,criteria --explain -o scores.jsonl
  storymeter score new.jsonl --metric union,bleu --fail-under union=0.5 --fail-under bleu=20
  storymeter score part-*.jsonl.gz --out-dir scores --resume
  storymeter score part-*.jsonl.gz --out-dir scores --shard 3/100")]
pub struct ScoreArgs {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    scorer: ScorerArgs,
    /// Explain the scores of union: where each stands among human stories and those by models of
    /// 2018 to 2021, which three sentences lower it most and which two raise it most, and what
    /// seems wrong with the story; those of criteria: the range of ratings that each may mean; and
    /// those of slop: where each overused word, phrase and contrast stands
    ///
    /// The explanation is printed, in colour on a terminal, or it is the field "explanation" of -o
    /// OUT.jsonl or OUT.parquet, whose offsets are bytes of UTF-8 in the story. It warns of texts
    /// that the metric was not made for: other languages, poems, lists, news, very short texts. Of
    /// the kinds of damage, only those are shown that agree with human readers (`storymeter model
    /// show`). If no single sentence explains a low score, it shows the two neighbours that fit
    /// least.
    ///
    /// To weigh a sentence, its part of the story is read again without it. That takes about five
    /// times as long as the score. If a story has more than about 10,000 words, only the sentences
    /// of its weakest parts are weighed. With --explain=all, all sentences are weighed and shown,
    /// also those that change the score by less than 0.07. What single sentences do to criteria is
    /// in the field "explanation" alone (docs/criteria.md says why).
    #[arg(
        long,
        value_name = "SENTENCES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "weakest"
    )]
    explain: Option<Sentences>,
    /// A file of references in any input format, with one reference per story, in the order of the
    /// stories. Plain text has one per line, or, if it has blank lines, one per block. The option
    /// may be given several times for several references per story
    #[arg(long, value_name = "FILE")]
    references: Vec<PathBuf>,
    /// The format of the references, if it is not found from the name and the content
    #[arg(long, value_name = "FORMAT", requires = "references")]
    references_format: Option<Format>,
    /// Compare every other system with this one, as `compare` does: on the items that both have,
    /// with a randomisation test and Holm's correction. Corpus metrics such as BLEU can be compared
    /// only here
    #[arg(long, value_name = "SYSTEM")]
    against: Option<String>,
    #[command(flatten)]
    sides: SidesArgs,
    /// Remove what surrounds a story before it is scored: words to the user ("Sure, here is your
    /// story:"), Markdown, the prompt once more, tokens that end a text, "The End."
    ///
    /// A note says what was removed and how often, the header counts it by system, and signatures
    /// say clean:yes. The offsets of --explain are then those of the cleaned text. docs/flags.md
    /// lists what is found in texts and what is removed.
    #[arg(long)]
    clean: bool,
    /// Score refusals ("I cannot write this story") and empty texts like stories. By default they
    /// have no score, and no mean and no interval knows of them
    #[arg(long)]
    keep_refusals: bool,
    /// Exit with code 1 if the score of all stories is worse than X. If there are several scores,
    /// name one: bleu=20. The option may be given several times
    #[arg(long, value_name = "[KEY=]X")]
    fail_under: Vec<String>,
    /// The seed of everything that is drawn at random. The default is 1 for intervals and tests,
    /// and 0 for the sample of self-bleu
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The number of resamples for intervals and tests
    #[arg(long, value_name = "N", default_value_t = Resampling::RESAMPLES as u64, value_parser = count())]
    resamples: u64,
    /// Take what metrics such as cider-d must know about all stories from this file, instead of
    /// from a first pass over the input. If the file does not exist, the first pass is made and
    /// writes it, and it stays there even if the scoring fails. Stories that are scored in parts
    /// then get the scores of one run. The file is made for the metrics and settings of the run
    /// that writes it, and others are refused
    #[arg(long, value_name = "FILE")]
    corpus_stats: Option<PathBuf>,
    /// Write the scores of every story to this file. Its format is found from its name: .jsonl,
    /// .csv or .parquet, or .txt for the table
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Score every file on its own: write its scores to a file of the same name in this folder,
    /// with a header (NAME.meta.json) and row statistics (NAME.stats) for `storymeter merge`
    ///
    /// An input that is compressed loses the ending of the compression, and an ending that is not
    /// .jsonl, .csv or .parquet is replaced by .jsonl, or by that of --format. The folder must be
    /// empty unless --resume is given; with --shard, only the files of this job must not be there.
    /// If a file is bad, the others are scored nevertheless, and the exit code is 2. Stories
    /// without an id are numbered within their file. docs/shards.md has the details.
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = ["output", "text", "references", "against", "fail_under"]
    )]
    out_dir: Option<PathBuf>,
    /// Skip files that are scored completely. It is an error if they were scored with other metrics
    /// or settings, and a file whose content has changed since is scored again. Files that
    /// storymeter did not write are never replaced
    #[arg(long, requires = "out_dir")]
    resume: bool,
    /// Score only every N-th file, from number I on, counted from 0: job I of N. All jobs must name
    /// the same files in the same order
    #[arg(long, value_name = "I/N", requires = "out_dir", value_parser = shards::job)]
    shard: Option<Job>,
    /// What is written to OUT, or to standard output if there is no OUT. The default on standard
    /// output is the table
    #[arg(long, value_name = "FORMAT")]
    format: Option<OutputFormat>,
    /// Write names to CSV as they are. By default a name that a spreadsheet would run as a formula,
    /// such as =1+1, gets an apostrophe in front, which storymeter removes when it reads the file
    #[arg(long)]
    raw_csv: bool,
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// The scores of all stories together and of each system, as a table
    Table,
    /// The scores of every story, as one JSON object per line
    Jsonl,
    /// The scores of every story, as comma-separated values
    Csv,
    /// The scores of every story, as Parquet: one column per score
    Parquet,
}

impl OutputFormat {
    /// The format of the scores of every story, if they are written.
    fn of_scores(self) -> Option<ScoreFormat> {
        match self {
            Self::Table => None,
            Self::Jsonl => Some(ScoreFormat::Jsonl),
            Self::Csv => Some(ScoreFormat::Csv),
            Self::Parquet => Some(ScoreFormat::Parquet),
        }
    }
}

/// The values of `--explain`: which sentences of a long story are weighed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sentences {
    /// The sentences that change the score most
    Weakest,
    /// All sentences
    All,
}

/// Scores the stories.
pub fn run(args: &ScoreArgs, common: &Common) -> anyhow::Result<Outcome> {
    if let Some(out_dir) = &args.out_dir {
        return shards::run(args, out_dir, common);
    }
    if args.resume {
        bail!("--resume goes on with the shards of a folder; name it with --out-dir");
    }
    let format = output_format(args)?;
    check_files(args)?;
    if args.explain.is_some() && format == Some(ScoreFormat::Csv) && output_file(args).is_none() {
        bail!(
            "CSV has no explanations, and standard output has the CSV; write it to a file with \
               -o, or choose --format jsonl, which has both"
        );
    }
    let mut scorer = scorer(args).build()?;
    args.scorer.refuse_unused_model(&scorer, args.explain.is_some())?;
    let bounds = Bound::parse_all(&args.fail_under, scorer.metrics().columns())?;
    let references = ReferenceFiles::default().with(|it| {
        it.files = args.references.clone();
        it.format = args.references_format;
    });
    let inputs = args.input.inputs(args.input.read.options()).references(references);
    let inputs = if scorer.reads_twice() { inputs.repeatable()? } else { inputs };

    let to_file = output_file(args);
    let mut stdout = match (format, to_file) {
        (Some(ScoreFormat::Parquet), None) if io::stdout().is_terminal() => {
            bail!("Parquet is not made for terminals; name a file with -o")
        }
        (Some(_), None) => Some(Output::open(None, Reader::Program)?),
        _ => None,
    };
    let sink = match (format, to_file, &mut stdout) {
        (Some(format), Some(path), _) => ScoreSink::file(path, format),
        (Some(format), None, Some(out)) => ScoreSink::writer(out, format),
        _ => ScoreSink::nowhere(),
    };
    // Explanations are printed unless they are part of the file.
    let show = args.explain.is_some() && matches!(format, None | Some(ScoreFormat::Csv));
    let mut shown = show.then(Shown::open).transpose()?;
    let mut show = |scored: Scored| shown.as_mut().map_or(Ok(()), |shown| shown.batch(&scored));

    let bar = progress::Shown::new(common);
    if args.corpus_stats.is_some() {
        scorer.gather_corpus_stats(&inputs, bar.progress())?;
    }
    let sink = sink.text_cells(text_cells(args)).each(&mut show);
    let written = scorer.write_scores(&inputs, sink, bar.progress())?;
    let run = &written.run;
    args.input.report_read(common, run.summary());

    let resampling = resampling(args.resamples, args.seed);
    let against =
        args.against.as_ref().map(|system| Against::new(system).sides(args.sides.sides()));
    let passed = Bound::all_hold(&bounds, run, common);
    // Intervals and tests take time, so they are computed only if the table is printed. That comes
    // first, because it finds an unknown system, and then nothing may be written.
    let table = (format.is_none() || to_file.is_some())
        .then(|| Overview::new(run, &resampling, against.as_ref(), bar.progress()))
        .transpose()?;
    drop(bar);
    // What is printed comes before the file gets its name, so that a run that fails leaves no file.
    let printed = shown.map_or(Ok(()), Shown::finish).and_then(|()| match &table {
        Some(table) => write_table(table, to_file.filter(|_| format.is_none()), common),
        None => stdout.map_or(Ok(()), Output::finish),
    });
    if failed(&printed) {
        return printed.map(|()| Outcome::Done);
    }
    let run = written.commit()?;
    printed?;
    report_counts(common, &run);
    Ok(if passed { Outcome::Done } else { Outcome::CheckFailed })
}

/// How intervals and tests are drawn.
pub(crate) fn resampling(resamples: u64, seed: Option<u64>) -> Resampling {
    let seed = seed.unwrap_or(Resampling::SEED);
    Resampling::default().with(|it| {
        it.resamples = resamples as usize;
        it.seed = seed;
    })
}

/// How texts stand in CSV.
fn text_cells(args: &ScoreArgs) -> TextCells {
    if args.raw_csv { TextCells::Raw } else { TextCells::Marked }
}

/// The scorer with the metrics and settings that the user typed.
fn scorer(args: &ScoreArgs) -> Scorer {
    let mut scorer = args
        .scorer
        .scorer()
        .seed(args.seed.unwrap_or_default())
        .keeping_rows(args.against.is_some())
        .clean(args.clean)
        .keep_refusals(args.keep_refusals);
    if let Some(file) = &args.corpus_stats {
        scorer = scorer.corpus_stats(file);
    }
    match args.explain {
        Some(Sentences::Weakest) => scorer.explain(Depth::Weakest),
        Some(Sentences::All) => scorer.explain(Depth::All),
        None => scorer,
    }
}

/// The file of -o, unless that is standard output.
fn output_file(args: &ScoreArgs) -> Option<&Path> {
    args.output.as_deref().filter(|path| !is_stdout(path))
}

/// Checks that no input is read by two, and that neither the output nor its header is also an
/// input.
fn check_files(args: &ScoreArgs) -> anyhow::Result<()> {
    let read = args.input.files.iter().chain(&args.references).map(PathBuf::as_path);
    file::named_once(&read.collect::<Vec<_>>())?;
    let inputs = args.input.files.iter().chain(&args.references).map(PathBuf::as_path);
    let inputs: Vec<&Path> = inputs.chain(args.scorer.files()).collect();
    let header = output_file(args).map(Header::path_of);
    let outputs = output_file(args).into_iter().chain(header.as_deref()).chain([stdout_path()]);
    let outputs = outputs.chain(args.corpus_stats.as_deref());
    Ok(file::distinct(&outputs.collect::<Vec<_>>(), &inputs)?)
}

/// The format of the scores of every story; `None` if only the table is written.
fn output_format(args: &ScoreArgs) -> anyhow::Result<Option<ScoreFormat>> {
    if let Some(format) = args.format {
        return Ok(format.of_scores());
    }
    let Some(path) = output_file(args) else { return Ok(None) };
    match ScoreFormat::of_name(path) {
        Some(format) => Ok(Some(format)),
        None if FileName::of(path).ending() == Some(Ending::Text) => Ok(None),
        None => Err(anyhow!(
            "{}: the name does not say which format to write; name it with --format jsonl, csv, \
             parquet or table",
            path.display()
        )),
    }
}
