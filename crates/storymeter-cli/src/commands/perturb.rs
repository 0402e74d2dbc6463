//! `storymeter perturb`: makes damaged stories from good ones.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use storymeter::damage::{Account, BadDonors, Damage, Sample};
use storymeter_core::{AtomicFile, Error, Place, file};
use storymeter_perturb::{CheckedConfig, Config, DEFAULT_SAMPLE, Donors, Perturbation, Preset};

use crate::Outcome;
use crate::args::{Common, count};
use crate::input::{InputArgs, report_skipped};
use crate::lexicon::LexiconArgs;
use crate::output::{Output, Reader, failed, is_stdout, stdout_path};
use crate::progress;
use crate::side_by_side;

/// Make damaged stories (negative samples) from good ones
///
/// Each sample damages its story with one to four techniques: repetition, substitution, reordering
/// and negation alteration (UNION, section 3.2). The leading context, which is the prompt or,
/// without one, the first sentence, stays as it is. Every change is recorded, so that it can be
/// undone.
///
/// The output is JSONL: {"id", "draw", "original", "story", "techniques", "edits"}. With --show or
/// --stats, samples are written only if -o names a file.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  storymeter perturb stories.jsonl --show 3
  storymeter perturb stories.jsonl --per-story 2 --seed 7 -o samples.jsonl
  storymeter perturb stories.jsonl --techniques no-negation --stats")]
pub struct PerturbArgs {
    #[command(flatten)]
    input: InputArgs,
    /// The stories from which foreign words and sentences are taken: a file in any input format, or
    /// one that --save-donors wrote. The default is the input itself
    #[arg(long, value_name = "FILE")]
    donors: Option<PathBuf>,
    /// The number of donor stories that are kept. The seed decides which
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SAMPLE)]
    donor_sample: usize,
    /// Write the donor stories, tagged and ready for use, to a file that --donors accepts
    #[arg(long, value_name = "FILE")]
    save_donors: Option<PathBuf>,
    /// The seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// The number of samples per story
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = count())]
    per_story: u64,
    /// The techniques: all, some (repetition,negation), some with weights
    /// (repetition=1,negation=3), or all but one (no-negation). By default repetition,
    /// substitution, reordering and negation have the weights of the paper, which are 10, 30, 40
    /// and 20
    #[arg(long, value_name = "LIST", default_value = "all")]
    techniques: String,
    /// The weights of one, two, three and four techniques per sample
    #[arg(long, value_name = "LIST", default_value = "50,20,20,10")]
    counts: String,
    /// The share of keywords that a substitution of words replaces
    #[arg(long, value_name = "SHARE", default_value_t = 0.15)]
    keyword_share: f64,
    /// The share of reorderings that move words within sentences instead of whole sentences. The
    /// paper has none. If the chosen sentences are too short, whole sentences are moved
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    garbled: f64,
    /// The share of substitutions that join the beginning of a sentence to the end of a sentence of
    /// another story. The paper has none. If the chosen sentences are too short, the substitution
    /// is made as in the paper
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    spliced: f64,
    /// Whose rules are followed: paper, or released-code for what the scripts of its authors do
    #[arg(long, value_name = "PRESET", default_value_t = Preset::Paper, value_parser = preset())]
    preset: Preset,
    #[command(flatten)]
    lexicon: LexiconArgs,
    /// First replace the names of persons by [MALE], [FEMALE] and [NEUTRAL], as in section 4.2 of
    /// the paper. The field "original" of the output has the replaced names too
    #[arg(long)]
    delexicalise: bool,
    /// Print how often each number of techniques and each technique was used, beside the weights
    /// that were asked for
    #[arg(long)]
    stats: bool,
    /// Print N samples beside their originals, with the changes marked [default: 5]
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "5")]
    show: Option<usize>,
    /// The number of the first record. A part of a larger file then gets the same samples as within
    /// the whole file
    #[arg(long, value_name = "N", default_value_t = 0)]
    record_offset: u64,
    /// Write the samples to this file. The default is standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
}

/// A sample that is printed after all samples are made.
struct Shown {
    title: String,
    original: String,
    perturbation: Perturbation,
}

/// The samples of a few stories, as they are written and shown.
#[derive(Default)]
struct Part {
    lines: Vec<u8>,
    shown: Vec<Shown>,
}

/// Makes the samples.
pub fn run(args: &PerturbArgs, common: &Common) -> anyhow::Result<Outcome> {
    let config = Config {
        preset: args.preset,
        keyword_share: args.keyword_share,
        garbled: args.garbled,
        spliced: args.spliced,
        ..Config::default()
    };
    let config = config
        .only(&args.techniques)
        .and_then(|config| config.with_counts(&args.counts))?
        .checked()?;
    check_files(args)?;
    let lexicon = args.lexicon.read()?;
    let damage = Damage::default().with(|it| {
        it.config = config;
        it.lexicon = lexicon;
        it.seed = args.seed;
        it.per_story = args.per_story;
        it.donor_sample = args.donor_sample;
        it.delexicalise = args.delexicalise;
    });

    let options = args.input.read.options().with(|it| it.record_offset = args.record_offset);
    let inputs = args.input.inputs(options);
    let inputs = if args.donors.is_none() { inputs.repeatable()? } else { inputs };
    let bar = progress::Shown::new(common);
    let donors = match &args.donors {
        None => damage.donors(&inputs, BadDonors::Pass, bar.progress())?,
        Some(path) => damage.donors_in(path, args.input.read.options(), bar.progress())?,
    };
    drop(bar);
    let mut saved = args.save_donors.as_ref().map(|path| save(&donors, path)).transpose()?;

    // With --show or --stats, samples are written only if a file is named.
    let wanted = args.output.is_some() || (args.show.is_none() && !args.stats);
    let mut output =
        wanted.then(|| Output::open(args.output.as_deref(), Reader::Program)).transpose()?;
    let show = args.show.unwrap_or(0);
    let mut shown: Vec<Shown> = Vec::new();
    let bar = progress::Shown::new(common);
    let account = damage.over(
        &donors,
        &inputs,
        bar.progress(),
        |samples| Part::new(samples, wanted, show),
        |part| -> anyhow::Result<()> {
            if let Some(output) = &mut output {
                output.write_all(&part.lines).map_err(|e| Error::io(output_place(args), e))?;
            }
            shown.extend(part.shown);
            shown.truncate(show);
            Ok(())
        },
    )?;
    drop(bar);
    saved.as_mut().map_or(Ok(()), AtomicFile::sync)?;
    output.as_mut().map_or(Ok(()), Output::prepare)?;
    let printed = report(args, common, (&account, &shown), &damage.config);
    if failed(&printed) {
        return printed.map(|()| Outcome::Done);
    }
    // The samples may go to standard output, which can fail. The donors then get no name.
    let save = || Ok(saved.map_or(Ok(()), AtomicFile::commit)?);
    let written = match output {
        Some(output) => output.finish_with(save),
        None => save(),
    };
    written.and(printed)?;
    Ok(Outcome::Done)
}

impl Part {
    /// The samples as lines, if they are written, and the first ones to show.
    fn new(samples: Vec<Sample>, writes: bool, show: usize) -> Self {
        let mut part = Self::default();
        for sample in samples {
            if writes {
                part.lines.extend_from_slice(sample.to_json().as_bytes());
                part.lines.push(b'\n');
            }
            if part.shown.len() < show {
                part.shown.push(Shown {
                    title: format!("{} (draw {})", sample.id, sample.draw),
                    original: sample.original,
                    perturbation: sample.perturbation,
                });
            }
        }
        part
    }
}

/// Reads a preset. clap knows the names, so it suggests the nearest one to a mistyped one.
fn preset() -> impl TypedValueParser<Value = Preset> {
    PossibleValuesParser::new(["paper", "released-code"]).try_map(|name| name.parse())
}

/// Checks that no input is read by two, and that no output is also an input.
fn check_files(args: &PerturbArgs) -> anyhow::Result<()> {
    let stories = args.input.files.iter().chain(&args.donors).map(PathBuf::as_path);
    let inputs: Vec<&Path> = stories.chain(args.lexicon.files()).collect();
    file::named_once(&inputs)?;
    let outputs = [&args.output, &args.save_donors].into_iter().flatten();
    let outputs = outputs.map(PathBuf::as_path).filter(|path| !is_stdout(path));
    let outputs: Vec<&Path> = outputs.chain([stdout_path()]).collect();
    Ok(file::distinct(&outputs, &inputs)?)
}

fn output_place(args: &PerturbArgs) -> Place {
    Place::file(args.output.as_deref().unwrap_or(Path::new("standard output")))
}

/// Writes the donors to a file that gets its name when all samples are made.
fn save(donors: &Donors, path: &Path) -> anyhow::Result<AtomicFile> {
    let mut file = AtomicFile::create(path)?;
    donors.write_to(&mut file).map_err(|e| Error::io(Place::file(path), e))?;
    Ok(file)
}

fn report(
    args: &PerturbArgs,
    common: &Common,
    (account, shown): (&Account, &[Shown]),
    config: &CheckedConfig,
) -> anyhow::Result<()> {
    args.input.report_read(common, &account.summary);
    report_skipped(common, &account.skipped);
    if account.counts.unchanged > 0 && !common.quiet {
        crate::note(&format!(
            "{} samples could not be made, because none of the chosen techniques changes the story",
            account.counts.unchanged
        ));
    }
    if args.show.is_none() && !args.stats {
        return Ok(());
    }
    let mut out = Output::open(None, Reader::Person)?;
    let page = side_by_side::Page::for_standard_output();
    for shown in shown {
        page.print(&mut out, &shown.title, &shown.original, &shown.perturbation)?;
    }
    if args.stats {
        writeln!(out, "{}", account.counts.report(config))?;
    }
    out.finish()
}
