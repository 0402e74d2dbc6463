//! Training BLEURT with a tiny encoder: what is learned, what is saved, and how a run goes on.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use storymeter_baselines::bleurt::{Job, Settings, train};
use storymeter_baselines::fine_tune::{CHECKPOINT, EpochReport, Event, Watch};
use storymeter_baselines::{Device, Error, Result};
use storymeter_core::{Ratings, Story};
use storymeter_encoder::{Batch, LabelParts, Model, Outputs, Pooling, Precision};

fn encoder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../storymeter-encoder/tests/fixtures").join(name)
}

/// A story with a rating. Good stories are about a kite, bad ones about bread.
fn story(number: usize) -> Story {
    let who = ["Mira", "Ana", "Zoe", "her brother"][number % 4];
    let how = ["old", "red", "far", "odd"][number / 4 % 4];
    let (text, rating) = match number % 2 {
        0 => (format!("{who} lost her {how} kite. They flew it again."), 0.9),
        _ => (format!("{who} burned the {how} bread. No one came to the cafe."), 0.1),
    };
    let mut ratings = Ratings::new();
    ratings.push("human", Some(rating));
    Story {
        id: number.to_string(),
        references: vec![format!("{who} looked in the {how} barn. It hung in the barn.")],
        ratings,
        ..Story::from(text)
    }
}

fn stories() -> Vec<Story> {
    (0..80).map(story).collect()
}

fn settings() -> Settings {
    Settings { epochs: 3, batch: 8, learning_rate: 3e-3, ..Settings::default() }
}

fn run(
    init: &str,
    stories: &[Story],
    (settings, out, resume): (&Settings, &Path, bool),
    watch: Watch<'_>,
) -> Result<Vec<EpochReport>> {
    let files = [("rated.jsonl".to_owned(), stories.len())];
    let init = encoder(init);
    train(
        &Job { init: &init, stories, files: &files, out, settings, device: Device::Cpu, resume },
        watch,
    )
}

fn quietly(_: Event<'_>) -> Result<()> {
    Ok(())
}

/// The files of a folder and their bytes.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect()
}

#[test]
fn ratings_are_learned_and_the_saved_model_gives_them() {
    let out = tempfile::tempdir().unwrap();
    let (stories, settings) = (stories(), settings());
    fs::write(out.path().join("merges.txt"), "of an earlier model").unwrap();
    let mut notes = Vec::new();
    let reports = run("bert", &stories, (&settings, out.path(), false), &mut |event| {
        if let Event::Note(note) = event {
            notes.push(note.to_owned());
        }
        Ok(())
    });
    let reports = reports.unwrap();
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert!(notes[0].ends_with("to choose the best epoch by"), "{notes:?}");
    assert_eq!(notes[1], "the model has no pooler: new weights are drawn for it");
    assert_eq!(notes[2], "the model has no head for one score: new weights are drawn for it");
    let (first, last) = (&reports[0], &reports[2]);
    assert!(last.loss < 0.5 * first.loss, "{first:?} {last:?}");
    let best = reports.iter().rev().find(|report| report.best).unwrap();
    assert!(best.dev.figures["kendall"] > 0.6, "{best:?}");
    assert_eq!(best.dev.rank, best.dev.figures["kendall"]);

    // What was saved is a model for classification with one label, and nothing else.
    assert!(!out.path().join("merges.txt").exists());
    let config: serde_json::Value =
        serde_json::from_slice(&fs::read(out.path().join("config.json")).unwrap()).unwrap();
    assert_eq!(config["architectures"][0], "BertForSequenceClassification");
    assert_eq!((&config["num_labels"], &config["model_type"]), (&1.into(), &"bert".into()));
    let head = LabelParts::open(out.path()).unwrap();
    let device = storymeter_encoder::Device::Cpu;
    let model = Model::open(out.path(), device, Precision::F32).unwrap();
    let tokenizer = model.tokenizer().unwrap();
    let score = |story: &Story| {
        let [own, reference] =
            [&story.text, &story.references[0]].map(|text| tokenizer.encode_plain(text));
        let pair = tokenizer.pair(&reference, &own, 96);
        let mut batch = Batch::new();
        batch.push_pair(&pair.ids, pair.second);
        let run = model.run(&batch, &Outputs::new().pooled(Pooling::First)).unwrap();
        head.outputs(run.pooled(0)).unwrap()[0]
    };
    let (good, bad) = (score(&stories[0]), score(&stories[1]));
    assert!(good > bad, "{good} {bad}");
    let record: serde_json::Value =
        serde_json::from_slice(&fs::read(out.path().join("training.json")).unwrap()).unwrap();
    assert_eq!((&record["kind"], &record["settings"]["batch"]), (&"bleurt".into(), &8.into()));
    assert!(record["files"]["model.safetensors"].as_str().is_some_and(|sum| sum.len() == 64));
}

#[test]
fn a_resumed_run_and_other_threads_give_the_same_bytes() {
    let [whole, parts, threads] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let (stories, settings) = (stories(), settings());
    run("bert", &stories, (&settings, whole.path(), false), &mut quietly).unwrap();
    for stop in [1, 2] {
        // The run ends with an error after an epoch, when its checkpoint is saved.
        let stopped =
            run("bert", &stories, (&settings, parts.path(), true), &mut |event| match event {
                Event::Epoch(report) if report.epoch == stop => {
                    Err(Error::TooFew { train: 0, dev: 0, least: 0 })
                }
                _ => Ok(()),
            });
        assert!(stopped.is_err());
    }
    // The model of an interrupted save is healed.
    fs::remove_file(parts.path().join("training.json")).unwrap_or_default();
    let mut done = 0;
    let reports = run("bert", &stories, (&settings, parts.path(), true), &mut |event| {
        if let Event::Start(start) = event {
            done = start.epochs_done;
        }
        Ok(())
    });
    assert_eq!((done, reports.unwrap().len()), (2, 3));
    assert!(files(whole.path()) == files(parts.path()), "the resumed run differs");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let again = || run("bert", &stories, (&settings, threads.path(), false), &mut quietly);
    // The closure of a run cannot leave its thread, so the whole run is inside.
    pool.install(|| again().map(|_| ())).unwrap();
    assert!(files(whole.path()) == files(threads.path()), "three threads differ");
}

#[test]
fn a_checkpoint_of_another_run_or_a_damaged_one_is_refused() {
    let out = tempfile::tempdir().unwrap();
    let (stories, one) = (stories(), Settings { epochs: 1, ..settings() });
    run("bert", &stories, (&one, out.path(), false), &mut quietly).unwrap();
    let refused = |stories: &[Story], settings: &Settings| {
        let resumed = run("bert", stories, (settings, out.path(), true), &mut quietly);
        resumed.unwrap_err().to_string()
    };
    let error = refused(&stories, &Settings { batch: 9, ..one.clone() });
    assert!(error.ends_with("belongs to a run with other settings"), "{error}");
    let error = refused(&stories[1..], &one);
    assert!(error.ends_with("belongs to a run with other stories"), "{error}");
    let path = out.path().join(CHECKPOINT);
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, bytes).unwrap();
    let error = refused(&stories, &one);
    assert!(error.ends_with("the checkpoint is damaged: its checksum does not match"), "{error}");
    fs::write(&path, b"not a checkpoint").unwrap();
    let error = refused(&stories, &one);
    assert!(error.contains("training.safetensors: not a complete"), "{error}");
    // A run that starts anew removes it.
    run("bert", &stories, (&one, out.path(), false), &mut quietly).unwrap();
}

#[test]
fn mpnet_is_trained_without_segments_and_other_families_are_refused() {
    let out = tempfile::tempdir().unwrap();
    let (stories, one) = (stories(), Settings { epochs: 1, ..settings() });
    run("mpnet", &stories, (&one, out.path(), false), &mut quietly).unwrap();
    let config = fs::read_to_string(out.path().join("config.json")).unwrap();
    assert!(config.contains("MPNetForSequenceClassification"), "{config}");
    let head = LabelParts::open(out.path()).unwrap();
    assert!(head.outputs(&[0.1; 32]).is_some_and(|outputs| outputs.len() == 1));
    let error = run("distilbert", &stories, (&one, out.path(), false), &mut quietly).unwrap_err();
    assert!(error.to_string().contains("neither a BERT nor an MPNet"), "{error}");
}

#[test]
fn what_cannot_be_learned_from_is_named() {
    let out = tempfile::tempdir().unwrap();
    let refused = |stories: &[Story], settings: &Settings| {
        let trained = run("bert", stories, (settings, out.path(), false), &mut quietly);
        trained.unwrap_err().to_string()
    };
    let (stories, usual) = (stories(), settings());
    let mut bare = stories.clone();
    bare[4].references.clear();
    assert_eq!(refused(&bare, &usual), "training: story 5 (id \"4\") has no reference");
    bare[4] = Story { ratings: Ratings::new(), ..stories[4].clone() };
    assert_eq!(refused(&bare, &usual), "training: story 5 (id \"4\") has no rating");
    let other = Settings { criterion: "plot".to_owned(), ..usual.clone() };
    let error = refused(&stories, &other);
    assert_eq!(error, "training: story 1 (id \"0\") has no rating of the criterion \"plot\"");
    let error = refused(&stories[..1], &usual);
    assert!(error.contains("both must be more than 0"), "{error}");
    let error = refused(&stories, &Settings { warm_up: 1.5, ..usual });
    assert_eq!(error, "training: warm_up must be from 0 to 1, but is 1.5");
    let mut huge = stories.clone();
    huge.iter_mut().for_each(|story| story.ratings.push("human", Some(1e300)));
    let error = refused(&huge, &settings());
    assert!(error.contains("try a smaller learning rate"), "{error}");
}
