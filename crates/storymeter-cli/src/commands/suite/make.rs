//! `storymeter suite make`: makes pairs of stories and twins.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use storymeter::suite::SuiteMaker;
use storymeter_core::{Aspect, file};
use storymeter_meta::view::text::{self, Emphasis};
use storymeter_perturb::DEFAULT_SAMPLE;

use super::{aspect, chosen};
use crate::Outcome;
use crate::args::Common;
use crate::input::{InputArgs, report_skipped};
use crate::lexicon::LexiconArgs;
use crate::output::{Output, Reader, failed};
use crate::progress;
use crate::side_by_side;

/// Make pairs of stories and twins that differ in one aspect
///
/// For each aspect, a file of pairs is written: the story, its twin, the rule that made it, and
/// every change, so that it can be undone. Eight aspects damage the story, and a metric should
/// prefer the original: lexical repetition, semantic repetition, character behaviour, common sense,
/// consistency, relatedness, cause and time. Six leave the meaning alone, and a metric should not
/// care: synonym, paraphrase, punctuation, contraction, typo, and chat, which puts around the story
/// what chat models do.
///
/// The first sentence is never changed, and neither is a prompt that begins the story. Stories to
/// which no rule of an aspect applies are counted. Semantic repetition and paraphrase need a table
/// of paraphrases, and common sense one of facts; without them they are left out.
///
/// The folder also has texts.jsonl with every text once, for scores of other programs (`suite run
/// --scores`), and suite.json with all counts.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  storymeter suite make stories.jsonl -o suite
  storymeter suite make stories.jsonl --aspects typo,contraction --show 3 -o suite
  storymeter suite make stories.jsonl --triples conceptnet.txt --paraphrases mine.tsv -o suite")]
pub struct MakeArgs {
    #[command(flatten)]
    input: InputArgs,
    /// The aspects, separated by commas: typo,common-sense. The default is all
    #[arg(long, value_name = "ASPECT", value_delimiter = ',', value_parser = aspect)]
    aspects: Vec<Aspect>,
    /// Sentences in other words: JSON {sentence: paraphrase}, JSONL with the fields sentence and
    /// paraphrase, or lines of a sentence, a tab and its paraphrase
    #[arg(long, value_name = "FILE")]
    paraphrases: Option<PathBuf>,
    /// Facts about the world, such as those of ConceptNet: lines of head|||relation|||tail, or with
    /// tabs or commas instead, or of ConceptNet's own dump
    #[arg(long, value_name = "FILE")]
    triples: Option<PathBuf>,
    /// The stories from which foreign words and sentences are taken: a file in any input format, or
    /// one that `perturb --save-donors` wrote. The default is the input itself
    #[arg(long, value_name = "FILE")]
    donors: Option<PathBuf>,
    /// The number of donor stories that are kept. The seed decides which
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SAMPLE)]
    donor_sample: usize,
    #[command(flatten)]
    lexicon: LexiconArgs,
    /// Give every story without a reference another story as its reference, so that metrics that
    /// need one can be tested. It is the same for the story and for its twins
    #[arg(long)]
    borrow_references: bool,
    /// The seed of all random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Print N pairs of each aspect side by side, with the changes marked [default: 2]
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "2")]
    show: Option<usize>,
    /// The folder to write to. It must be new or empty, or hold an older suite, which is replaced
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

/// Makes the pairs.
pub fn run(args: &MakeArgs, common: &Common) -> anyhow::Result<Outcome> {
    let stories = args.input.files.iter().chain(&args.donors);
    let tables = args.paraphrases.iter().chain(&args.triples);
    let read: Vec<&Path> =
        stories.chain(tables).map(PathBuf::as_path).chain(args.lexicon.files()).collect();
    file::named_once(&read)?;
    let mut maker = SuiteMaker {
        aspects: chosen(&args.aspects),
        seed: args.seed,
        donor_sample: args.donor_sample,
        lexicon: args.lexicon.read()?,
        borrow_references: args.borrow_references,
        examples: args.show.unwrap_or(0),
        ..SuiteMaker::default()
    };
    if let Some(path) = &args.paraphrases {
        maker.read_paraphrases(path)?;
    }
    if let Some(path) = &args.triples {
        maker.read_triples(path)?;
    }
    check_tables(args, &maker)?;
    let inputs = args.input.inputs(args.input.read.options());
    let inputs = if args.donors.is_none() { inputs.repeatable()? } else { inputs };
    let bar = progress::Shown::new(common);
    let donors = match &args.donors {
        None => maker.donors(&inputs, bar.progress())?,
        Some(path) => maker.donors_in(path, args.input.read.options(), bar.progress())?,
    };
    let pending = maker.make(&donors, &inputs, &args.output, bar.progress())?;
    drop(bar);
    pending.check_inputs(&read)?;
    let made = pending.made();
    args.input.report_read(common, &made.summary);
    report_skipped(common, &made.skipped);
    report_unused(common, &maker);
    let mut out = Output::open(None, Reader::Person)?;
    write!(out, "{}", text::emphasised(&made.manifest.sheet(), Emphasis::None))?;
    let page = side_by_side::Page::for_standard_output();
    for pair in &made.examples {
        writeln!(out)?;
        page.print_pair(&mut out, pair)?;
    }
    let printed = out.finish();
    if !failed(&printed) {
        pending.commit()?;
    }
    printed?;
    Ok(Outcome::Done)
}

/// Checks that aspects that were named have their tables, and that tables have an aspect.
fn check_tables(args: &MakeArgs, maker: &SuiteMaker) -> anyhow::Result<()> {
    let paraphrased = [Aspect::SemanticRepetition, Aspect::Paraphrase];
    for (option, given, readers) in [
        ("--paraphrases", args.paraphrases.is_some(), &paraphrased[..]),
        ("--triples", args.triples.is_some(), &[Aspect::CommonSense][..]),
    ] {
        if let Some(aspect) = readers.iter().find(|aspect| args.aspects.contains(aspect))
            && !given
        {
            bail!("--aspects {aspect}: the aspect needs a table; name it with {option} FILE");
        }
        if given && !readers.iter().any(|aspect| maker.aspects.contains(aspect)) {
            bail!("{option}: none of the aspects reads this table");
        }
    }
    Ok(())
}

/// Reports how many lines of the tables were left out, because they cannot be used.
fn report_unused(common: &Common, maker: &SuiteMaker) {
    let paraphrases = maker.paraphrases.as_ref().map_or(0, |table| table.left_out);
    let facts = maker.triples.as_ref().map_or(0, |table| table.left_out);
    for (count, what) in [
        (paraphrases, "paraphrases: too like or unlike their sentence, or empty"),
        (facts, "facts: not one English word on each side"),
    ] {
        if count > 0 && !common.quiet {
            crate::note(&format!("{count} lines were left out of the {what}"));
        }
    }
}
