//! `train --kind bleurt`: BERT, fine-tuned on stories with references and human ratings.

use std::path::Path;

use anyhow::bail;
use storymeter::baselines;
use storymeter::baselines::bleurt::{Job, Settings, train};
use storymeter::baselines::configuration::Configuration;
use storymeter::baselines::fine_tune::Event;
use storymeter::core::read::{DuplicateIds, ReadOptions};
use storymeter::core::terminal::plain;
use storymeter::core::{Progress, Story};
use storymeter::input::Inputs;

use super::fine_tuned::{device, hear, summarise};
use super::watcher::Watcher;
use super::{TrainArgs, clear_folder, print_settings, read_stories, take_output};
use crate::Outcome;
use crate::args::Common;

/// Trains, or prints the settings.
pub fn run(args: &TrainArgs, common: &Common) -> anyhow::Result<Outcome> {
    let mut settings = match &args.config {
        Some(path) => Settings::read(path)?,
        None => Settings::default(),
    };
    settings.seed = args.seed.unwrap_or(settings.seed);
    settings.epochs = args.epochs.unwrap_or(settings.epochs);
    if args.print_config {
        return print_settings(&settings.to_toml());
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
        add_references(&mut corpus.stories, path)?;
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
    let reports = train(&job, &mut |event| {
        if args.overwrite && matches!(event, Event::Start(_)) {
            clear_folder(args.kind(), out)?;
        }
        hear(&mut watcher, settings.epochs, event)
    });
    let reports = reports.map_err(|error| in_file(error, &corpus.files))?;
    watcher.finish();
    drop(folder);
    let usage = "storymeter score FILE --metric bleurt --weights bleurt=";
    summarise(&reports, out, usage)?;
    Ok(Outcome::Done)
}

/// The error about a story, with the file of the story and its number there.
pub fn in_file(error: baselines::Error, files: &[(String, usize)]) -> anyhow::Error {
    let baselines::Error::Story { mut number, id, problem } = error else { return error.into() };
    for (name, stories) in files {
        if number <= *stories {
            return anyhow::anyhow!("{}: story {number} (id {id}) {problem}", plain(name));
        }
        number -= stories;
    }
    anyhow::anyhow!("story {number} (id {id}) {problem}")
}

/// Adds a file of references, one per story and in the order of the stories. Its format is found
/// from the name and the content, because the stories may have another. Their ids do not matter.
fn add_references(stories: &mut [Story], path: &Path) -> anyhow::Result<()> {
    let options = ReadOptions {
        text_is_list: true,
        duplicates: DuplicateIds::Allow,
        ..ReadOptions::default()
    };
    let inputs = Inputs::new(vec![path.to_owned()], options);
    let mut intake = inputs.intake();
    let references = inputs.stories(&mut intake, &Progress::unwatched())?;
    let (found, expected) = (references.len(), stories.len());
    if found != expected {
        bail!(
            "{}: there are {found} references for {expected} rated stories; each story has one, in \
             the same order",
            path.display()
        );
    }
    for (story, reference) in stories.iter_mut().zip(references) {
        story.references.push(reference.text);
    }
    Ok(())
}
