//! Training on ratings with a tiny encoder: what is learned, what is left out, and how a run goes
//! on.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use storymeter_baselines::criteria::{
    CriteriaMap, HELD_OUT, HeldOut, Job, LeftOut, Set, Settings, train,
};
use storymeter_baselines::fine_tune::{CHECKPOINT, EpochReport, Event, Watch};
use storymeter_baselines::{Device, Error, Result};
use storymeter_core::{Ratings, Story};
use storymeter_union::{Kind, Model, Precision};

fn encoder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../storymeter-encoder/tests/fixtures/bert")
}

/// A rated story. Those about a kite are good and those about bread are bad; ratings are on the
/// scale of their set.
fn story(number: usize, criteria: &[&str], scale: f64) -> Story {
    let who = ["Mira", "Ana", "Zoe", "her brother"][number % 4];
    let how = ["old", "red", "far", "odd"][number / 4 % 4];
    let (text, rating) = match number % 2 {
        0 => (format!("{who} lost her {how} kite. They flew it again."), 0.9),
        _ => (format!("{who} burned the {how} bread. No one came to the cafe."), 0.1),
    };
    let mut ratings = Ratings::new();
    for (at, criterion) in criteria.iter().enumerate() {
        ratings.push(criterion, Some(scale * (rating + 0.01 * (number % 3 + at) as f64)));
    }
    let item = Some((number / 2).to_string());
    Story { id: format!("s{number}"), item, ratings, ..Story::from(text) }
}

fn first() -> Vec<Story> {
    (0..60).map(|number| story(number, &["coherence", "interest"], 5.0)).collect()
}

fn second() -> Vec<Story> {
    (0..40).map(|number| story(number, &["Logic"], 100.0)).collect()
}

fn settings() -> Settings {
    Settings { epochs: 3, batch: 8, max_tokens: 40, learning_rate: 3e-3, ..Settings::default() }
}

struct Data {
    sets: [Vec<Story>; 2],
    human: Vec<Story>,
    sentences: Option<PathBuf>,
    map: CriteriaMap,
}

impl Data {
    fn new() -> Self {
        let table = BTreeMap::from([("Logic".to_owned(), "coherence".to_owned())]);
        let map = [("second".to_owned(), table)].into_iter().collect();
        Self { sets: [first(), second()], human: Vec::new(), sentences: None, map }
    }

    fn run(
        &self,
        left_out: LeftOut<'_>,
        (settings, out, resume): (&Settings, &Path, bool),
        watch: Watch<'_>,
    ) -> Result<Vec<EpochReport>> {
        let sets = [
            Set { name: "first", stories: &self.sets[0] },
            Set { name: "second", stories: &self.sets[1] },
        ];
        let job = Job {
            init: &encoder(),
            sets: &sets,
            map: &self.map,
            left_out,
            stories: &self.human,
            sentences: self.sentences.as_deref(),
            out,
            settings,
            device: Device::Cpu,
            resume,
        };
        train(&job, watch)
    }
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

fn held_out(folder: &Path) -> Vec<HeldOut> {
    let text = fs::read_to_string(folder.join(HELD_OUT)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn stories_that_were_left_out_are_predicted() {
    let out = tempfile::tempdir().unwrap();
    let (data, settings) = (Data::new(), settings());
    let mut notes = Vec::new();
    let left_out = LeftOut::Fold { number: 2, of: 5 };
    let reports = data.run(left_out, (&settings, out.path(), false), &mut |event| {
        if let Event::Note(note) = event {
            notes.push(note.to_owned());
        }
        Ok(())
    });
    let reports = reports.unwrap();
    assert!(reports[2].loss < 0.5 * reports[0].loss, "{reports:?}");
    assert!(notes[0].ends_with("20 left out"), "{notes:?}");

    let lines = held_out(out.path());
    assert_eq!(lines.len(), 20);
    // Items 1, 6, 11, ... of each set, and both stories of each.
    let items: Vec<&str> = lines.iter().take(4).map(|line| line.item.as_str()).collect();
    assert_eq!(items, ["1", "1", "6", "6"]);
    for line in &lines {
        let good = line.rating["overall"] > if line.set == "first" { 2.5 } else { 50.0 };
        assert_eq!(line.raw["coherence"] > 0.0, good, "{line:?}");
        assert_eq!(line.raw["overall"] > 0.0, good, "{line:?}");
    }
    let names: Vec<&str> = lines[0].raw.keys().map(String::as_str).collect();
    assert_eq!(names, ["coherence", "interest", "overall"]);
    assert_eq!(lines[12].rating.len(), 2, "the second set has no ratings of interest");

    let model = Model::load(out.path()).unwrap();
    assert_eq!(model.card.kind, Kind::Criteria);
    let criteria = model.card.criteria.unwrap();
    let sets: Vec<(&str, usize, usize)> =
        criteria.training.iter().map(|set| (set.name.as_str(), set.stories, set.items)).collect();
    assert_eq!(sets, [("first", 48, 24), ("second", 32, 16)]);
}

#[test]
fn a_model_of_a_hundred_criteria_is_read_back() {
    let out = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..100).map(|number| format!("criterion-{number}")).collect();
    let criteria: Vec<&str> = names.iter().map(String::as_str).collect();
    let first = (0..60).map(|number| story(number, &criteria, 5.0)).collect();
    let data = Data { sets: [first, second()], ..Data::new() };
    let settings = Settings { epochs: 1, ..settings() };
    data.run(LeftOut::Nothing, (&settings, out.path(), false), &mut quietly).unwrap();
    let model = Model::load(out.path()).unwrap();
    let heads = model.card.criteria.clone().unwrap().heads.len();
    assert_eq!(heads, 102, "a hundred, coherence of the second set, and one for all");

    // What could not be read back is not written.
    let mut twice = model;
    let card = twice.card.criteria.as_mut().unwrap();
    card.heads[1].name = card.heads[0].name.clone();
    let empty = tempfile::tempdir().unwrap();
    let said = twice.save(empty.path()).unwrap_err().to_string();
    assert!(said.ends_with("the name criterion-0 is there twice"), "{said}");
    assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0);
}

#[test]
fn a_set_that_is_left_out_is_predicted_from_the_other() {
    let out = tempfile::tempdir().unwrap();
    let settings = Settings { dev_share: 0.0, checkpoints: false, ..settings() };
    let left_out = LeftOut::Set("second");
    let reports = Data::new().run(left_out, (&settings, out.path(), false), &mut quietly).unwrap();
    // Without dev stories the last epoch is kept.
    let best: Vec<bool> = reports.iter().map(|report| report.best).collect();
    assert_eq!(best, [false, false, true]);
    assert!(!out.path().join(CHECKPOINT).exists());
    let lines = held_out(out.path());
    assert_eq!(lines.len(), 40);
    assert!(
        lines.iter().all(|line| (line.raw["overall"] > 0.0) == (line.rating["overall"] > 50.0))
    );
}

#[test]
fn a_resumed_run_ends_with_the_same_bytes_for_any_number_of_threads() {
    let [whole, stopped] = [0; 2].map(|_| tempfile::tempdir().unwrap());
    let mut data = Data::new();
    data.human = (0..30)
        .map(|number| Story { ratings: Ratings::new(), ..story(number, &[], 1.0) })
        .collect();
    let settings = Settings { damage_pairs: 20, weight_step: 0.71, word_step: 1.15, ..settings() };
    let left_out = LeftOut::Fold { number: 1, of: 5 };
    data.run(left_out, (&settings, whole.path(), false), &mut quietly).unwrap();

    let stop = |event: Event<'_>| match event {
        Event::Epoch(report) if report.epoch == 2 => {
            Err(Error::Ratings { problem: "stop".to_owned() })
        }
        _ => Ok(()),
    };
    let mut stop = stop;
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    one_thread.install(|| {
        data.run(left_out, (&settings, stopped.path(), false), &mut stop).unwrap_err();
        data.run(left_out, (&settings, stopped.path(), true), &mut quietly).unwrap();
    });
    let (whole, stopped) = (files(whole.path()), files(stopped.path()));
    assert_eq!(whole.keys().collect::<Vec<_>>(), stopped.keys().collect::<Vec<_>>());
    for (name, bytes) in &whole {
        assert!(*bytes == stopped[name], "{name} differs");
    }

    let another = tempfile::tempdir().unwrap();
    data.run(left_out, (&settings, another.path(), false), &mut quietly).unwrap();
    let other = Settings { seed: 2, ..settings };
    let error = data.run(left_out, (&other, another.path(), true), &mut quietly).unwrap_err();
    assert!(matches!(error, Error::OtherRun { .. }), "{error}");
}

#[test]
fn the_head_for_damage_is_kept_with_the_model() {
    let out = tempfile::tempdir().unwrap();
    let mut data = Data::new();
    data.human = data.sets[0].clone();
    let settings = Settings { epochs: 1, ..settings() };
    data.run(LeftOut::Nothing, (&settings, out.path(), false), &mut quietly).unwrap();
    let model = Model::load(out.path()).unwrap();
    assert_eq!(model.heads.score.len(), model.config.hidden);
    assert!(!out.path().join(HELD_OUT).exists());
}

#[test]
fn a_sentence_encoder_and_unions_score_become_part_of_the_model() {
    let out = tempfile::tempdir().unwrap();
    let mut data = Data::new();
    for story in data.sets.iter_mut().flatten() {
        story.prompt = Some("Mira lost her old kite.".to_owned());
    }
    data.sentences = Some(encoder());
    let settings = Settings { epochs: 1, union_share_overall: 2.0, ..settings() };
    let left_out = LeftOut::Fold { number: 1, of: 5 };
    data.run(left_out, (&settings, out.path(), false), &mut quietly).unwrap();
    let model = Model::load(out.path()).unwrap();
    assert!(model.sentences.is_some());
    let criteria = model.card.criteria.as_ref().unwrap();
    let shares: Vec<f64> = criteria.heads.iter().map(|head| head.union).collect();
    assert_eq!(shares, [0.0, 0.0, 2.0]);

    // A scorer of the model says what training wrote.
    let scorer =
        storymeter_union::criteria::CriteriaScorer::load(out.path(), Precision::F32).unwrap();
    let [first, _] = &data.sets;
    for line in held_out(out.path()).iter().filter(|line| line.set == "first") {
        let story = first.iter().find(|story| story.id == line.id).unwrap();
        let raw = scorer.raw(&[story]).unwrap().remove(0).unwrap();
        for (criterion, output) in criteria.heads.iter().zip(&raw.outputs) {
            let written = line.raw[&criterion.name];
            assert!((output - written).abs() < 1e-4, "{} {output} {written}", criterion.name);
        }
        assert!((raw.cosine.unwrap() - line.cosine.unwrap()).abs() < 0.05, "{line:?}");
    }
}

#[test]
fn what_was_preferred_inside_an_item_is_learned_although_items_differ() {
    // The level of an item says nothing about its stories, and is a thousand times what tells them
    // apart: as ratings they could not be learned.
    let mut data = Data::new();
    for (number, story) in data.sets[1].iter_mut().enumerate() {
        let level = 1000.0 * ((number / 2 * 7) % 11) as f64;
        let better = if number % 2 == 0 { 1.0 } else { 0.0 };
        story.ratings = Ratings::new();
        story.ratings.push("Choice", Some(level + better));
    }
    data.map = CriteriaMap::default();
    let wrong = |settings: &Settings| {
        let out = tempfile::tempdir().unwrap();
        let left_out = LeftOut::Fold { number: 2, of: 5 };
        data.run(left_out, (settings, out.path(), false), &mut quietly).unwrap();
        let lines = held_out(out.path());
        let choice = |line: &HeldOut| line.raw["choice"];
        let second: Vec<&HeldOut> = lines.iter().filter(|line| line.set == "second").collect();
        assert_eq!(second.len(), 8);
        second.chunks(2).filter(|pair| choice(pair[0]) <= choice(pair[1])).count()
    };
    let pairs = Settings { pairs: vec!["second".to_owned()], ..settings() };
    assert_eq!(wrong(&pairs), 0);
    let unknown = Settings { pairs: vec!["third".to_owned()], ..settings() };
    let out = tempfile::tempdir().unwrap();
    let said = data.run(LeftOut::Nothing, (&unknown, out.path(), false), &mut quietly);
    assert_eq!(
        said.unwrap_err().to_string(),
        "training: the setting `pairs` names the set \"third\"; there are: \"first\", \"second\""
    );
}

#[test]
fn a_model_that_learns_sentence_vectors_compares_prompts_by_itself() {
    let out = tempfile::tempdir().unwrap();
    let mut data = Data::new();
    for (number, story) in data.sets.iter_mut().flatten().enumerate() {
        let about = ["Mira lost her old kite.", "Ana burned the red bread."][number % 2];
        story.prompt = Some(about.to_owned());
    }
    let settings = Settings { sentence_weight: 2.0, epochs: 12, ..settings() };
    let left_out = LeftOut::Fold { number: 1, of: 5 };
    let lacks = data.run(left_out, (&settings, out.path(), false), &mut quietly).unwrap_err();
    assert!(lacks.to_string().contains("needs a sentence encoder to learn from"), "{lacks}");

    data.sentences = Some(encoder());
    data.run(left_out, (&settings, out.path(), false), &mut quietly).unwrap();
    let model = Model::load(out.path()).unwrap();
    assert!(model.sentences.is_none(), "the model has no second encoder");
    assert_eq!(model.card.criteria.as_ref().unwrap().sentence, model.config.hidden);
    assert_eq!(model.heads.sentence_bias.len(), model.config.hidden);

    // Its closeness follows that of the encoder that taught it, on stories that it has not seen.
    let scorer =
        storymeter_union::criteria::CriteriaScorer::load(out.path(), Precision::Int8).unwrap();
    let teacher = storymeter_union::criteria::SentenceModel::load(&encoder()).unwrap();
    let teacher = teacher.scorer(Precision::Int8).unwrap();
    let lines = held_out(out.path());
    let [first, _] = &data.sets;
    let (mut own, mut taught) = (Vec::new(), Vec::new());
    for line in lines.iter().filter(|line| line.set == "first") {
        let story = first.iter().find(|story| story.id == line.id).unwrap();
        let raw = scorer.raw(&[story]).unwrap().remove(0).unwrap();
        assert_eq!(raw.cosine, line.cosine, "training wrote what the model says");
        own.push(raw.cosine.unwrap());
        // The other prompt is as good a story to compare with.
        let other = if story.prompt == first[0].prompt { &first[1] } else { &first[0] };
        let swapped = Story { prompt: other.prompt.clone(), ..story.clone() };
        own.push(scorer.raw(&[&swapped]).unwrap().remove(0).unwrap().cosine.unwrap());
        taught.extend(teacher.closeness(&[story, &swapped]).unwrap().into_iter().flatten());
    }
    let agreement = storymeter_stats::correlation::pearson(&own, &taught).unwrap().coefficient;
    assert!(agreement > 0.6, "{agreement}: {own:?} {taught:?}");

    let explained = scorer.explain(&first[0]).unwrap();
    assert_eq!(explained.sentences.len(), 2);
}
