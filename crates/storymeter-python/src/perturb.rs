//! Damaged stories.

use std::path::PathBuf;

use pyo3::prelude::*;
use storymeter::damage::{BadDonors, Damage, LexiconFiles, Sample};
use storymeter_perturb::{Config, Edit};

use crate::errors::Failure;
use crate::scorer::Reading;
use crate::work;

/// How stories are damaged; Python fills it in.
#[derive(FromPyObject)]
pub struct DamageSettings {
    preset: String,
    techniques: String,
    counts: String,
    keyword_share: f64,
    garbled: f64,
    spliced: f64,
    seed: u64,
    per_story: u64,
    donor_sample: Option<usize>,
    delexicalise: bool,
    antonyms: Option<PathBuf>,
    more_antonyms: Option<PathBuf>,
    keywords: Option<PathBuf>,
}

/// An edit: technique, number of the sentence, start and end in code points, the text before and
/// the text after.
type EditParts = (&'static str, usize, usize, usize, String, String);

/// A sample: id, number of the draw, original, damaged story, techniques, edits, and the line of
/// JSON.
type SampleParts = (String, u64, String, String, Vec<&'static str>, Vec<EditParts>, String);

/// What comes of damaging stories: the samples, how many draws changed nothing, how many bad
/// records were skipped, and what was wrong with the first of these.
type Made = (Vec<SampleParts>, u64, u64, Vec<String>);

/// Damages stories. Donors are read like the stories; without donors, the stories are the donors.
#[pyfunction]
#[pyo3(signature = (reading, donors, settings, threads, show))]
pub fn perturb(
    py: Python<'_>,
    reading: Reading<'_>,
    donors: Option<Reading<'_>>,
    settings: DamageSettings,
    threads: usize,
    show: Option<&Bound<'_, PyAny>>,
) -> PyResult<Made> {
    let donor_file = donors.as_ref().and_then(|reading| {
        let file = reading.only_file()?;
        Some(reading.options().map(|options| (file, options)))
    });
    let donor_file = donor_file.transpose()?;
    let inputs = reading.inputs(py)?;
    let donors = donors.map(|reading| reading.inputs(py)).transpose()?;
    work::run(py, threads, show, move |progress| {
        let damage = settings.damage()?;
        let inputs = if donors.is_none() { inputs.repeatable()? } else { inputs };
        let found = match (&donors, donor_file) {
            (_, Some((file, options))) => damage.donors_in(&file, options, progress)?,
            (Some(donors), None) => damage.donors(donors, BadDonors::Refuse, progress)?,
            (None, None) => damage.donors(&inputs, BadDonors::Pass, progress)?,
        };
        let mut samples = Vec::new();
        let taken = |samples: Vec<Sample>| samples.into_iter().map(parts).collect::<Vec<_>>();
        let account = damage.over(&found, &inputs, progress, taken, |part| {
            samples.extend(part);
            Ok::<(), Failure>(())
        })?;
        let skipped = account.skipped;
        Ok((samples, account.counts.unchanged, skipped.count, skipped.messages))
    })
}

impl DamageSettings {
    fn damage(self) -> Result<Damage, Failure> {
        let broken = storymeter::Error::from;
        let config = Config {
            preset: self.preset.parse().map_err(broken)?,
            keyword_share: self.keyword_share,
            garbled: self.garbled,
            spliced: self.spliced,
            ..Config::default()
        };
        let config = config
            .only(&self.techniques)
            .and_then(|config| config.with_counts(&self.counts))
            .and_then(Config::checked)
            .map_err(broken)?;
        let files = LexiconFiles {
            antonyms: self.antonyms,
            more_antonyms: self.more_antonyms,
            keywords: self.keywords,
        };
        let lexicon = files.read()?;
        Ok(Damage::default().with(|it| {
            it.config = config;
            it.lexicon = lexicon;
            it.seed = self.seed;
            it.per_story = self.per_story;
            it.donor_sample = self.donor_sample.unwrap_or(it.donor_sample);
            it.delexicalise = self.delexicalise;
        }))
    }
}

fn parts(sample: Sample) -> SampleParts {
    let json = sample.to_json();
    let edits = in_code_points(&sample.original, &sample.perturbation.edits);
    let techniques = sample.perturbation.techniques.iter().map(|one| one.name()).collect();
    let Sample { id, draw, original, perturbation } = sample;
    (id, draw, original, perturbation.story, techniques, edits, json)
}

/// The edits with offsets in code points of the text as the earlier edits left it.
fn in_code_points(original: &str, edits: &[Edit]) -> Vec<EditParts> {
    // In a text of ASCII, bytes are code points.
    let ascii = original.is_ascii() && edits.iter().all(|edit| edit.after().is_ascii());
    let mut text = if ascii { String::new() } else { original.to_owned() };
    let mut converted = Vec::with_capacity(edits.len());
    for edit in edits {
        let start = if ascii { edit.start() } else { text[..edit.start()].chars().count() };
        let end = start + edit.before().chars().count();
        let technique = edit.technique().name();
        let (before, after) = (edit.before().to_owned(), edit.after().to_owned());
        converted.push((technique, edit.sentence(), start, end, before, after));
        if !ascii {
            text.replace_range(edit.start()..edit.end(), edit.after());
        }
    }
    converted
}
