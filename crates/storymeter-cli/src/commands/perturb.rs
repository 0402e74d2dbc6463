//! `storymeter perturb`: makes damaged stories from good ones.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use rayon::prelude::*;
use serde::Serialize;
use storymeter::core::read::{RawRecord, ReadOptions, Record, Skipped, Summary};
use storymeter::core::rng::StreamId;
use storymeter::core::{AtomicFile, Error, Place, file};
use storymeter::input::{self, Inputs};
use storymeter::perturb::{
    CheckedConfig, Config, DEFAULT_SAMPLE, DonorSampler, Donors, Perturbation, Perturber, Preset,
    Tally, Unchanged, delexicalised,
};
use storymeter::text::lexicon::Lexicon;
use storymeter::text::tagger::Tagger;

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

/// One line of the output.
#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    draw: u64,
    original: &'a str,
    #[serde(flatten)]
    perturbation: &'a Perturbation,
}

/// A sample that is printed after all samples are made.
struct Shown {
    title: String,
    original: String,
    perturbation: Perturbation,
}

/// The samples of a few records, made by one worker.
#[derive(Default)]
struct Part {
    lines: Vec<u8>,
    tally: Tally,
    skipped: Skipped,
    shown: Vec<Shown>,
    records: u64,
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
    let lexicon = &args.lexicon.read()?;
    let tagger = Tagger::embedded();

    let options = ReadOptions { record_offset: args.record_offset, ..args.input.read.options() };
    let inputs = args.input.inputs(options);
    let inputs = if args.donors.is_none() { inputs.repeatable()? } else { inputs };
    let donors = read_donors(args, common, &inputs, tagger, lexicon)?;
    let mut saved = args.save_donors.as_ref().map(|path| save(&donors, path)).transpose()?;

    let perturber = Perturber::new(config, &donors, lexicon, tagger);
    // With --show or --stats, samples are written only if a file is named.
    let wanted = args.output.is_some() || (args.show.is_none() && !args.stats);
    let mut output =
        wanted.then(|| Output::open(args.output.as_deref(), Reader::Program)).transpose()?;
    let worker =
        Worker { args, perturber: &perturber, writes: wanted, skip_bad: inputs.skips_bad() };
    let bar = progress::Shown::new(common);
    bar.progress().begin("damaging stories");
    let mut whole = Part::default();
    let mut intake = inputs.intake();
    for batch in inputs.batches(bar.progress())? {
        let batch = batch?;
        let size = batch.len();
        let records = input::parse(batch, &mut intake)?;
        bar.progress().advance((size - records.len()) as u64);
        let parts: Vec<anyhow::Result<Part>> =
            split(records).into_par_iter().map(|records| worker.work(records)).collect();
        for part in parts {
            let part = part?;
            bar.progress().advance(part.records);
            if let Some(output) = &mut output {
                output.write_all(&part.lines).map_err(|e| Error::io(output_place(args), e))?;
            }
            whole.take(part, args.show.unwrap_or(0));
        }
    }
    drop(bar);
    saved.as_mut().map_or(Ok(()), AtomicFile::sync)?;
    output.as_mut().map_or(Ok(()), Output::prepare)?;
    let mut skipped = intake.skipped().clone();
    skipped.merge(std::mem::take(&mut whole.skipped));
    whole.skipped = skipped;
    let printed = report(args, common, (&whole, &intake.summary()), perturber.config());
    if failed(&printed) {
        return printed.map(|()| Outcome::Done);
    }
    // The samples may go to standard output, which can fail. The donors then get no name.
    let written = output.map_or(Ok(()), Output::finish);
    if !failed(&written) {
        saved.map_or(Ok(()), AtomicFile::commit)?;
    }
    written.and(printed)?;
    Ok(Outcome::Done)
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

/// The number of records that a worker takes at once. It is small enough to keep all threads busy,
/// and large enough that sharing the work costs nothing.
const RECORDS_PER_WORKER: usize = 64;

fn split(mut batch: Vec<Record>) -> Vec<Vec<Record>> {
    let mut pieces = Vec::new();
    while !batch.is_empty() {
        let later = batch.split_off(batch.len().min(RECORDS_PER_WORKER));
        pieces.push(std::mem::replace(&mut batch, later));
    }
    pieces
}

struct Worker<'a> {
    args: &'a PerturbArgs,
    perturber: &'a Perturber<'a>,
    writes: bool,
    skip_bad: bool,
}

impl Worker<'_> {
    fn work(&self, records: Vec<Record>) -> anyhow::Result<Part> {
        let mut part = Part::default();
        for record in records {
            part.records += 1;
            let record = masked(self.args, record);
            let drawn = self.draw_all(&record, &mut part).map(|()| record);
            part.skipped.admit(drawn, self.skip_bad)?;
        }
        Ok(part)
    }

    /// Makes all samples of one story.
    fn draw_all(&self, record: &Record, part: &mut Part) -> storymeter::core::Result<()> {
        let Record { story, number, place } = record;
        for draw in 0..self.args.per_story {
            let stream = StreamId::Draw { record: *number, draw };
            let outcome = self.perturber.perturb(story, self.args.seed, stream);
            part.tally.add(&outcome);
            match outcome {
                Ok(perturbation) => {
                    if self.writes {
                        let line = Line {
                            id: &story.id,
                            draw,
                            original: &story.text,
                            perturbation: &perturbation,
                        };
                        // Writing to memory cannot fail, and all keys of the line are strings.
                        serde_json::to_writer(&mut part.lines, &line)
                            .expect("a sample is plain data");
                        part.lines.push(b'\n');
                    }
                    if part.shown.len() < self.args.show.unwrap_or(0) {
                        let title = format!("{} (draw {draw})", story.id);
                        part.shown.push(Shown {
                            title,
                            original: story.text.clone(),
                            perturbation,
                        });
                    }
                }
                Err(Unchanged::OnlyContext) => {
                    let problem = "the story has only one sentence, which is the leading context \
                                   and stays as it is, so there is nothing to damage; --skip-bad \
                                   skips such stories";
                    return Err(Error::invalid(place.clone().in_field("story"), problem));
                }
                Err(Unchanged::NoEffect) => {}
            }
        }
        Ok(())
    }
}

impl Part {
    fn take(&mut self, other: Self, show: usize) {
        self.tally.merge(&other.tally);
        self.skipped.merge(other.skipped);
        self.records += other.records;
        self.shown.extend(other.shown);
        self.shown.truncate(show);
    }
}

/// The record with its names masked, if the user asked for that.
fn masked(args: &PerturbArgs, record: Record) -> Record {
    if args.delexicalise {
        Record { story: delexicalised(&record.story), ..record }
    } else {
        record
    }
}

fn output_place(args: &PerturbArgs) -> Place {
    Place::file(args.output.as_deref().unwrap_or(Path::new("standard output")))
}

/// The donor stories: a sample that was saved earlier, or a new one from a file or from the input.
fn read_donors(
    args: &PerturbArgs,
    common: &Common,
    inputs: &Inputs,
    tagger: &Tagger,
    lexicon: &Lexicon,
) -> anyhow::Result<Donors> {
    let own;
    let from = match &args.donors {
        None => inputs,
        Some(path) => {
            // The file is opened twice, first to see whether it is a saved sample.
            own = args.input.read.file(path).repeatable()?;
            if let Some(prepared) = read_prepared(path, own.file_of(path))? {
                return Ok(prepared);
            }
            &own
        }
    };
    let bar = progress::Shown::new(common);
    bar.progress().begin("reading donors");
    let mut sampler = DonorSampler::new(args.seed, args.donor_sample);
    for batch in from.batches(bar.progress())? {
        let batch = batch?;
        let size = batch.len() as u64;
        let wanted: Vec<RawRecord> =
            batch.into_iter().filter(|raw| sampler.wants(raw.number())).collect();
        // Bad records of the input are reported later, when the input is read for its samples.
        let parsed: Vec<_> = wanted
            .into_par_iter()
            .map(|raw| Ok(masked(args, raw.parse()?)))
            .collect::<Vec<storymeter::core::Result<Record>>>();
        for record in parsed {
            match record {
                Ok(record) => sampler.offer(record.number, &record.story),
                Err(_) if args.donors.is_none() || from.skips_bad() => {}
                Err(error) => return Err(error.into()),
            }
        }
        bar.progress().advance(size);
    }
    let donors = sampler.finish(tagger, lexicon);
    drop(bar);
    if donors.is_empty() && args.donors.is_some() {
        bail!(
            "{}: the file has no donor story",
            args.donors.as_deref().unwrap_or(Path::new("-")).display()
        );
    }
    Ok(donors)
}

/// Writes the donors to a file that gets its name when all samples are made.
fn save(donors: &Donors, path: &Path) -> anyhow::Result<AtomicFile> {
    let mut file = AtomicFile::create(path)?;
    donors.write_to(&mut file).map_err(|e| Error::io(Place::file(path), e))?;
    Ok(file)
}

/// The saved sample in a file, or `None` if the file is something else. Errors name `path`, of
/// which `file` may be a copy.
fn read_prepared(path: &Path, file: &Path) -> anyhow::Result<Option<Donors>> {
    if file.is_dir() {
        return Ok(None);
    }
    let failed = |e| Error::io(Place::file(path), e);
    let mut beginning = Vec::new();
    File::open(file).map_err(failed)?.take(32).read_to_end(&mut beginning).map_err(failed)?;
    if !Donors::is_prepared(&beginning) {
        return Ok(None);
    }
    let donors = Donors::read_from(&mut File::open(file).map_err(failed)?)
        .with_context(|| path.display().to_string())?;
    Ok(Some(donors))
}

fn report(
    args: &PerturbArgs,
    common: &Common,
    (whole, summary): (&Part, &Summary),
    config: &CheckedConfig,
) -> anyhow::Result<()> {
    args.input.report_read(common, summary);
    report_skipped(common, &whole.skipped);
    if whole.tally.unchanged > 0 && !common.quiet {
        crate::note(&format!(
            "{} samples could not be made, because none of the chosen techniques changes the story",
            whole.tally.unchanged
        ));
    }
    if args.show.is_none() && !args.stats {
        return Ok(());
    }
    let mut out = Output::open(None, Reader::Person)?;
    let page = side_by_side::Page::for_standard_output();
    for shown in &whole.shown {
        page.print(&mut out, &shown.title, &shown.original, &shown.perturbation)?;
    }
    if args.stats {
        writeln!(out, "{}", whole.tally.report(config))?;
    }
    out.finish()
}
