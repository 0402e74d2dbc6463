//! `train --kind bleurt`: BERT, fine-tuned on stories with references and human ratings.

use std::path::Path;

use anyhow::bail;
use storymeter::input::Inputs;
use storymeter_baselines::bleurt::{Job, Settings, train};
use storymeter_baselines::configuration::Configuration;
use storymeter_core::read::{DuplicateIds, ReadOptions};
use storymeter_core::terminal::plain;
use storymeter_core::{Progress, Story};

use super::fine_tuned::{device, follow};
use super::{TrainArgs, ends, print_settings, read_stories, settings, take_output};
use crate::Outcome;
use crate::args::Common;

/// Trains, or prints the settings.
pub fn run(args: &TrainArgs, common: &Common) -> anyhow::Result<Outcome> {
    let settings = settings(args, |it: &mut Settings| (&mut it.seed, &mut it.epochs))?;
    if args.print_config {
        return print_settings(&settings.to_toml());
    }
    let (init, out) = ends(args, "a model to start from")?;
    if args.rated.is_empty() {
        bail!("--kind bleurt needs stories with human ratings and references (--rated)");
    }
    let device = device(args)?;
    let place = take_output(args, (init, out), common)?;
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
    let usage = "storymeter score FILE --metric bleurt --weights bleurt=";
    follow((args, common), place, settings.epochs, usage, |watch| {
        train(&job, watch).map_err(|error| in_file(error, &corpus.files))
    })
}

/// The error about a story, with the file of the story and its number there.
pub fn in_file(error: storymeter_baselines::Error, files: &[(String, usize)]) -> anyhow::Error {
    let storymeter_baselines::Error::Story { mut number, id, problem } = error else {
        return error.into();
    };
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
    let options = ReadOptions::default().with(|it| {
        it.text_is_list = true;
        it.duplicates = DuplicateIds::Allow;
    });
    let inputs = Inputs::new(vec![path.to_owned()], options);
    let mut checker = inputs.checker();
    let references = inputs.stories(&mut checker, &Progress::unwatched())?;
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
