//! Damaged stories from memory and from inputs.

use storymeter::Error;
use storymeter::damage::{BadDonors, Damage, Sample};
use storymeter::input::Inputs;
use storymeter_core::read::ReadOptions;
use storymeter_core::{MetricError, Progress};

const STORIES: [&str; 3] = [
    "🪁 Zoë woke up. She went out. The rain was cold and wet. She ran home.",
    "Ben lost his dog. He looked in the old barn. The dog was asleep. They walked home.",
    "Ida baked bread. The dough was heavy. She waited for hours. Her brother ate all of it.",
];

fn inputs(texts: &[&str], skip_bad: bool) -> Inputs {
    let texts = texts.iter().map(|text| (*text).to_owned()).collect();
    Inputs::texts(texts, ReadOptions::default().with(|it| it.skip_bad = skip_bad))
}

/// The lines of samples that are made batch by batch.
fn lines(damage: &Damage, inputs: &Inputs) -> Result<(Vec<String>, u64), Error> {
    let unseen = Progress::unwatched();
    let donors = damage.donors(inputs, BadDonors::Pass, &unseen)?;
    let mut lines = Vec::new();
    let written =
        |samples: Vec<Sample>| -> Vec<String> { samples.iter().map(Sample::to_json).collect() };
    let account = damage.over(&donors, inputs, &unseen, written, |part| {
        lines.extend(part);
        Ok::<(), Error>(())
    })?;
    Ok((lines, account.skipped.count))
}

#[test]
fn memory_and_inputs_give_the_same_samples_which_can_be_undone() {
    let damage = Damage::default().with(|it| {
        it.seed = 7;
        it.per_story = 5;
    });
    let made = damage.run(STORIES, None, &Progress::unwatched()).unwrap();
    assert_eq!(made.samples.len(), 15);
    let texts: Vec<String> = made.samples.iter().map(Sample::to_json).collect();
    assert_eq!(lines(&damage, &inputs(&STORIES, false)).unwrap().0, texts);
    for sample in &made.samples {
        assert_eq!(sample.undo().unwrap(), sample.original);
        assert_ne!(sample.perturbation.story, sample.original);
    }
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let alone = one.install(|| damage.run(STORIES, None, &Progress::unwatched())).unwrap();
    assert_eq!(alone.samples, made.samples);
}

#[test]
fn a_story_of_one_sentence_is_an_error_or_is_skipped() {
    let damage = Damage::default();
    let texts = [STORIES[1], "Rain."];
    let error = damage.run(texts, None, &Progress::unwatched()).unwrap_err();
    assert!(matches!(error, Error::OnlyContext { .. }), "{error}");
    assert!(error.to_string().contains("so there is nothing to damage"), "{error}");
    assert!(lines(&damage, &inputs(&texts, false)).is_err());
    let (lines, skipped) = lines(&damage, &inputs(&texts, true)).unwrap();
    assert_eq!((lines.len(), skipped), (1, 1));
}

#[test]
fn cancelled_work_ends() {
    let progress = Progress::watched();
    progress.cancel();
    let error = Damage::default().run(STORIES, None, &progress).unwrap_err();
    assert!(matches!(error, Error::Metric(MetricError::Interrupted)), "{error}");
}

#[test]
fn a_file_of_donors_without_a_story_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("donors");
    std::fs::write(&path, b"not a sample").unwrap();
    let damage = Damage::default().with(|it| it.donor_sample = 0);
    let error = damage.donors_in(&path, ReadOptions::default(), &Progress::unwatched());
    assert!(matches!(error, Err(Error::NoDonor { .. })));
}
