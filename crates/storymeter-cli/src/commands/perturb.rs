//! `storymeter perturb`: damaged stories from good ones.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use rayon::prelude::*;
use serde::Serialize;
use storymeter::core::read::{RawRecord, ReadOptions, Record, Skipped};
use storymeter::core::rng::StreamId;
use storymeter::core::{AtomicFile, Error, Place};
use storymeter::input::Inputs;
use storymeter::perturb::{
    CheckedConfig, Config, DEFAULT_SAMPLE, DonorSampler, Donors, Perturbation, Perturber, Preset,
    Tally, Unchanged, delexicalised,
};
use storymeter::text::lexicon::Lexicon;
use storymeter::text::tagger::Tagger;

use crate::Outcome;
use crate::args::Common;
use crate::input::{InputArgs, report_skipped};
use crate::output::Output;
use crate::progress;
use crate::side_by_side;

/// Make damaged stories (negative samples) from good ones.
///
/// One to four of four techniques are applied to each story: repetition, substitution, reordering and negation
/// alteration (UNION, section 3.2). The leading context, which is the prompt or else the first sentence, is never
/// touched. Every change is recorded, so that it can be undone.
///
/// The output is JSONL: {"id", "draw", "original", "story", "techniques", "edits"}. With --show or --stats, it is
/// written only where -o says so.
#[derive(Debug, Args)]
pub struct PerturbArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Stories that foreign words and sentences are taken from: a file like the input, or one made by
    /// --save-donors; the default is the input itself
    #[arg(long, value_name = "FILE")]
    donors: Option<PathBuf>,
    /// Number of donor stories kept, drawn at random by the seed
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SAMPLE)]
    donor_sample: usize,
    /// Write the donor sample, read and tagged, to a file that --donors takes
    #[arg(long, value_name = "FILE")]
    save_donors: Option<PathBuf>,
    /// Seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Number of damaged stories per story
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    per_story: u64,
    /// Techniques to draw from: all; names (repetition,negation); names with weights (repetition=1,negation=3);
    /// or all but one (no-negation). The weights of the paper are 10, 30, 40 and 20
    #[arg(long, value_name = "LIST", default_value = "all")]
    techniques: String,
    /// Weights of one, two, three and four techniques in a sample
    #[arg(long, value_name = "LIST", default_value = "50,20,20,10")]
    counts: String,
    /// Share of keywords that word-level substitution replaces
    #[arg(long, value_name = "SHARE", default_value_t = 0.15)]
    keyword_share: f64,
    /// Share of reorderings that move words inside sentences instead of sentences (beyond the paper); where the sentences drawn
    /// are too short, sentences move
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    garbled: f64,
    /// Share of substitutions that join the beginning of a sentence with the end of another story's (beyond the paper); where
    /// the sentences drawn are too short, the paper's way is taken
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    spliced: f64,
    /// Whose rules: paper, or released-code (the choices of the authors' scripts)
    #[arg(long, value_name = "PRESET", default_value_t = Preset::Paper)]
    preset: Preset,
    /// Antonyms and keywords in ConceptNet's form (head|||/r/Antonym|||tail tail) instead of WordNet's
    #[arg(long, value_name = "FILE", conflicts_with = "more_antonyms")]
    antonyms: Option<PathBuf>,
    /// The same, beside WordNet's
    #[arg(long, value_name = "FILE")]
    more_antonyms: Option<PathBuf>,
    /// Replace person names by `[MALE]`, `[FEMALE]` and `[NEUTRAL]` first; the original in the output is masked too
    #[arg(long)]
    delexicalise: bool,
    /// Print how often each number of techniques and each technique came out, beside what was asked for
    #[arg(long)]
    stats: bool,
    /// Print N samples side by side with the originals, edits marked
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "5")]
    show: Option<usize>,
    /// Number of the first record: for a part of a larger file, so that it gets the samples of the whole
    #[arg(long, value_name = "N", default_value_t = 0)]
    record_offset: u64,
    /// Write the samples here; the default is standard output
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

/// A sample to show, once all are made.
struct Shown {
    title: String,
    original: String,
    perturbation: Perturbation,
}

/// What one worker made of a few records.
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
    let own_lexicon = read_lexicon(args)?;
    let lexicon = own_lexicon.as_ref().unwrap_or_else(|| Lexicon::embedded());
    let tagger = Tagger::embedded();

    let options = ReadOptions { record_offset: args.record_offset, ..args.input.options() };
    let inputs = Inputs::new(args.input.files.clone(), options);
    let inputs = if args.donors.is_none() { inputs.repeatable()? } else { inputs };
    let donors = read_donors(args, common, &inputs, tagger, lexicon)?;
    if let Some(path) = &args.save_donors {
        let mut file = AtomicFile::create(path)?;
        donors.write_to(&mut file).map_err(|e| Error::io(Place::file(path), e))?;
        file.commit()?;
    }

    let perturber = Perturber::new(config, &donors, lexicon, tagger);
    // Samples are for looking at or for counting unless a file is named.
    let wanted = args.output.is_some() || (args.show.is_none() && !args.stats);
    let mut output = wanted.then(|| Output::open(args.output.as_deref())).transpose()?;
    let worker =
        Worker { args, perturber: &perturber, writes: wanted, skip_bad: inputs.skips_bad() };
    let bar = progress::bar(common, "damaging stories", None);
    let mut whole = Part::default();
    for batch in inputs.batches()? {
        let parts: Vec<anyhow::Result<Part>> =
            split(batch?).into_par_iter().map(|records| worker.work(records)).collect();
        for part in parts {
            let part = part?;
            bar.inc(part.records);
            if let Some(output) = &mut output {
                output.write_all(&part.lines).map_err(|e| Error::io(output_place(args), e))?;
            }
            whole.take(part, args.show.unwrap_or(0));
        }
    }
    bar.finish_and_clear();
    if let Some(output) = output {
        output.finish()?;
    }
    report(args, common, &whole, perturber.config())?;
    Ok(Outcome::Done)
}

/// Cuts a batch into pieces small enough to share out and large enough not to notice it.
fn split(mut batch: Vec<RawRecord>) -> Vec<Vec<RawRecord>> {
    let mut pieces = Vec::new();
    while !batch.is_empty() {
        let rest = batch.split_off(batch.len().min(64));
        pieces.push(std::mem::replace(&mut batch, rest));
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
    fn work(&self, records: Vec<RawRecord>) -> anyhow::Result<Part> {
        let mut part = Part::default();
        for raw in records {
            part.records += 1;
            let parsed = parse(self.args, raw)
                .and_then(|record| self.draw_all(&record, &mut part).map(|()| record));
            part.skipped.admit(parsed, self.skip_bad)?;
        }
        Ok(part)
    }

    /// All samples of one story.
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
                        // Writing to memory does not fail, and the line has string keys only.
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
                    let problem = "a story of one sentence: the first sentence is the leading context, which is \
                                   never touched, so there is nothing to damage (--skip-bad passes over it)";
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

/// A record with its names masked, where that is asked for.
fn parse(args: &PerturbArgs, raw: RawRecord) -> storymeter::core::Result<Record> {
    let record = raw.parse()?;
    Ok(if args.delexicalise {
        Record { story: delexicalised(&record.story), ..record }
    } else {
        record
    })
}

fn output_place(args: &PerturbArgs) -> Place {
    Place::file(args.output.as_deref().unwrap_or(Path::new("standard output")))
}

fn read_lexicon(args: &PerturbArgs) -> anyhow::Result<Option<Lexicon>> {
    let Some(path) = args.antonyms.as_ref().or(args.more_antonyms.as_ref()) else {
        return Ok(None);
    };
    let name = path.display().to_string();
    let file = File::open(path).map_err(|e| Error::io(Place::file(path), e))?;
    let reader = std::io::BufReader::new(file);
    let lexicon = if args.antonyms.is_some() {
        Lexicon::from_conceptnet(reader, &name)?
    } else {
        Lexicon::embedded().extended_with(reader, &name)?
    };
    Ok(Some(lexicon))
}

/// The donor sample: prepared earlier, or drawn from a file or from the input.
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
            if let Some(prepared) = read_prepared(path)? {
                return Ok(prepared);
            }
            own = InputArgs { files: vec![path.clone()], ..args.input.clone() }.once();
            &own
        }
    };
    let bar = progress::bar(common, "reading donors", None);
    let mut sampler = DonorSampler::new(args.seed, args.donor_sample);
    for batch in from.batches()? {
        let batch = batch?;
        let size = batch.len() as u64;
        let wanted: Vec<RawRecord> =
            batch.into_iter().filter(|raw| sampler.wants(raw.number())).collect();
        // Bad records are found, counted and reported when the input itself is read.
        let parsed: Vec<_> = wanted.into_par_iter().map(|raw| parse(args, raw)).collect();
        for record in parsed {
            match record {
                Ok(record) => sampler.offer(record.number, &record.story),
                Err(_) if args.donors.is_none() || from.skips_bad() => {}
                Err(error) => return Err(error.into()),
            }
        }
        bar.inc(size);
    }
    let donors = sampler.finish(tagger, lexicon);
    bar.finish_and_clear();
    if donors.is_empty() && args.donors.is_some() {
        bail!(
            "{}: no donor story is in it",
            args.donors.as_deref().unwrap_or(Path::new("-")).display()
        );
    }
    Ok(donors)
}

/// The prepared sample in a file, or `None` where the file is something else.
fn read_prepared(path: &Path) -> anyhow::Result<Option<Donors>> {
    if path == Path::new("-") || path.is_dir() {
        return Ok(None);
    }
    let failed = |e| Error::io(Place::file(path), e);
    let mut beginning = Vec::new();
    File::open(path).map_err(failed)?.take(32).read_to_end(&mut beginning).map_err(failed)?;
    if !Donors::is_prepared(&beginning) {
        return Ok(None);
    }
    let donors = Donors::read_from(&mut File::open(path).map_err(failed)?)
        .with_context(|| path.display().to_string())?;
    Ok(Some(donors))
}

fn report(
    args: &PerturbArgs,
    common: &Common,
    whole: &Part,
    config: &CheckedConfig,
) -> anyhow::Result<()> {
    report_skipped(common, &whole.skipped);
    if whole.tally.unchanged > 0 && !common.quiet {
        crate::note(&format!(
            "{} samples could not be made: nothing that was drawn changed the story",
            whole.tally.unchanged
        ));
    }
    let mut out = Output::open(None)?;
    let page = side_by_side::Page::of_this_terminal();
    for shown in &whole.shown {
        page.print(&mut out, &shown.title, &shown.original, &shown.perturbation)?;
    }
    if args.stats {
        writeln!(out, "{}", whole.tally.report(config))?;
    }
    out.finish()
}
