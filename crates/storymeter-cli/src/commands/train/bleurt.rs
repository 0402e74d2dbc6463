//! `train --kind bleurt`: BERT, fine-tuned on stories with references and human ratings.

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use storymeter::baselines::bleurt::{Job, Settings, train};
use storymeter::baselines::configuration::Configuration;

use super::fine_tuned::{device, hear, summarise};
use super::watcher::Watcher;
use super::{Corpus, TrainArgs, read_stories, take_output};
use crate::Outcome;
use crate::args::Common;
use crate::output::{Output, Reader};

/// Trains, or prints the settings.
pub fn run(args: &TrainArgs, common: &Common) -> anyhow::Result<Outcome> {
    let mut settings = match &args.config {
        Some(path) => Settings::read(path)?,
        None => Settings::default(),
    };
    settings.seed = args.seed.unwrap_or(settings.seed);
    settings.epochs = args.epochs.unwrap_or(settings.epochs);
    if args.print_config {
        let mut out = Output::open(None, Reader::Person)?;
        out.write_all(settings.to_toml().as_bytes())?;
        out.finish()?;
        return Ok(Outcome::Done);
    }
    let (Some(init), Some(out)) = (&args.init, &args.output) else {
        bail!("training needs a model to start from (--init) and an output folder (-o)");
    };
    if args.rated.is_empty() {
        bail!("--kind bleurt needs stories with human ratings and references (--rated)");
    }
    let device = device(args)?;
    let log = args.log.clone().unwrap_or_else(|| out.join("train.jsonl"));
    let folder = take_output(args, (init, out, &log), common)?;
    let mut corpus = read_stories(&args.rated, args, common)?;
    for path in &args.references {
        add_references(&mut corpus, path, args, common)?;
    }
    let job = Job {
        init,
        stories: &corpus.stories,
        files: &corpus.files,
        out,
        settings: &settings,
        device,
        resume: args.resume,
    };
    let mut watcher = Watcher::new(common, log, settings.epochs);
    let reports = train(&job, &mut |event| hear(&mut watcher, settings.epochs, event))?;
    watcher.finish();
    drop(folder);
    let usage = "storymeter score FILE --metric bleurt --weights bleurt=";
    summarise(&reports, out, usage)?;
    Ok(Outcome::Done)
}

/// Adds a file of references, one per story and in the order of the stories.
fn add_references(
    corpus: &mut Corpus,
    path: &PathBuf,
    args: &TrainArgs,
    common: &Common,
) -> anyhow::Result<()> {
    let references = read_stories(std::slice::from_ref(path), args, common)?.stories;
    let (found, expected) = (references.len(), corpus.stories.len());
    if found != expected {
        bail!(
            "{}: there are {found} references for {expected} rated stories; each story has one, in \
             the same order",
            path.display()
        );
    }
    for (story, reference) in corpus.stories.iter_mut().zip(references) {
        story.references.push(reference.text);
    }
    Ok(())
}
