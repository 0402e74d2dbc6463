//! `train --rated`: heads for the criteria that readers rated.

use std::path::Path;

use anyhow::bail;
use storymeter_baselines::configuration::Configuration;
use storymeter_baselines::criteria::{CriteriaMap, Job, LeftOut, Set, Settings, train};

use super::bleurt::in_file;
use super::fine_tuned::{device, follow};
use super::{Corpus, TrainArgs, ends, print_settings, read_stories, settings, take_output};
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
        bail!("--kind criteria needs stories with human ratings (--rated)");
    }
    if args.resume && !settings.checkpoints {
        bail!("--resume: the setting `checkpoints` is false, so there is nothing to resume from");
    }
    let device = device(args)?;
    let map = match &args.criteria {
        Some(path) => CriteriaMap::read(path)?,
        None => CriteriaMap::default(),
    };
    let place = take_output(args, (init, out), common)?;
    let Corpus { stories: rated, files } = read_stories(&args.rated, args, common)?;
    let human = match args.stories.is_empty() {
        true => Corpus::default(),
        false => read_stories(&args.stories, args, common)?,
    };
    let names: Vec<String> = files.iter().map(|(name, _)| set_name(name)).collect();
    let (mut sets, mut begin) = (Vec::new(), 0);
    for (name, (_, count)) in names.iter().zip(&files) {
        sets.push(Set { name, stories: &rated[begin..begin + count] });
        begin += count;
    }
    let left_out = match (&args.fold, &args.leave_out) {
        (Some((number, of)), _) => LeftOut::Fold { number: *number, of: *of },
        (None, Some(set)) => LeftOut::Set(set),
        (None, None) => LeftOut::Nothing,
    };
    let job = Job {
        init,
        sets: &sets,
        map: &map,
        left_out,
        stories: &human.stories,
        sentences: args.sentences.as_deref(),
        out,
        settings: &settings,
        device,
        resume: args.resume,
    };
    let usage = "storymeter score FILE --metric criteria --model ";
    follow((args, common), place, settings.epochs, usage, |watch| {
        train(&job, watch).map_err(|error| in_file(error, &files))
    })
}

/// The name of a set: that of its file up to the first dot.
fn set_name(file: &str) -> String {
    let stem = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
    stem.split('.').find(|part| !part.is_empty()).unwrap_or_default().to_owned()
}
