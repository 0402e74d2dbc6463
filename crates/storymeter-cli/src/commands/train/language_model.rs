//! `train --kind language-model`: a causal language model, fine-tuned on stories.

use storymeter_baselines::configuration::Configuration as _;
use storymeter_baselines::language_model::{Settings, Training, train};

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
    let (init, out) = ends(args, "a language model")?;
    let place = take_output(args, (init, out), common)?;
    let corpus = read_stories(&args.stories, args, common)?;
    let training = Training {
        stories: &corpus.stories,
        init,
        out,
        settings: &settings,
        device: device(args)?,
        resume: args.resume,
    };
    let usage = "storymeter score FILE --metric perplexity --weights perplexity=";
    follow((args, common), place, settings.epochs, usage, |watch| Ok(train(&training, watch)?))
}
