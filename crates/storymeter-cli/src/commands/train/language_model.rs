//! `train --kind language-model`: a causal language model, fine-tuned on stories.

use anyhow::bail;
use storymeter::baselines::fine_tune::Event;
use storymeter::baselines::language_model::{Settings, Training, train};

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
        bail!("training needs a language model (--init) and an output folder (-o)");
    };
    let log = args.log.clone().unwrap_or_else(|| out.join("train.jsonl"));
    let folder = take_output(args, (init, out, &log), common)?;
    let corpus = read_stories(&args.stories, args, common)?;
    let training = Training {
        stories: &corpus.stories,
        init,
        out,
        settings: &settings,
        device: device(args)?,
        resume: args.resume,
    };
    let mut watcher = Watcher::new(common, log, settings.epochs);
    let reports = train(&training, &mut |event| {
        if args.overwrite && matches!(event, Event::Start(_)) {
            clear_folder(args.kind(), out)?;
        }
        hear(&mut watcher, settings.epochs, event)
    })?;
    watcher.finish();
    drop(folder);
    let usage = "storymeter score FILE --metric perplexity --weights perplexity=";
    summarise(&reports, out, usage)?;
    Ok(Outcome::Done)
}
