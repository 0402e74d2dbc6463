//! Trains a tiny encoder from random weights on stories that are made from a few patterns. It must
//! learn, and a run that was interrupted must end like one that was not.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use storymeter_core::Story;
use storymeter_core::rng::StreamId;
use storymeter_core::split::{Split, assign};
use storymeter_encoder::{Config, Parameters, Stream};
use storymeter_perturb::{DonorSampler, Perturber};
use storymeter_text::{lexicon::Lexicon, tagger::Tagger};
#[cfg(feature = "cuda")]
use storymeter_union::train::Activations;
use storymeter_union::train::{Batches, Device, EpochReport, Event, Job, Preset, Settings, train};
use storymeter_union::{Error, Kind, Model, Pooling, Precision, Reconstruction, UnionScorer};

/// Stories of five sentences in a fixed order: wish, search, trouble, help, end.
fn stories(from: u64, count: u64) -> Vec<Story> {
    let pick =
        |stream: Stream, i: u64, list: &[&'static str]| list[stream.bits(i) as usize % list.len()];
    let story = |number: u64| {
        let stream = Stream::new(77).child(number);
        let who = pick(stream, 0, &["Mira", "Ken", "Ana", "Tom", "Zoe", "Ben"]);
        let thing =
            pick(stream, 1, &["kite", "drum", "lamp", "boat", "coat", "book", "cake", "bike"]);
        let place = pick(stream, 2, &["barn", "shop", "garden", "school", "harbour", "kitchen"]);
        let friend = pick(stream, 3, &["brother", "teacher", "neighbour", "aunt"]);
        let sentences = [
            format!(
                "{who} wanted {} {thing}.",
                pick(stream, 4, &["a new", "an old", "a small", "the best"])
            ),
            format!(
                "First {who} {} to the {place}.",
                pick(stream, 5, &["walked", "ran", "went", "rode"])
            ),
            format!(
                "But the {thing} there was {}.",
                pick(stream, 6, &["broken", "too heavy", "very wet", "sold"])
            ),
            format!(
                "So the {friend} {} {who} a better one.",
                pick(stream, 7, &["made", "found", "gave", "bought"])
            ),
            format!(
                "In the end {who} {} the {thing}.",
                pick(stream, 8, &["loved", "kept", "shared", "painted"])
            ),
        ];
        let mut story = Story { id: number.to_string(), ..Story::default() };
        sentences.iter().for_each(|sentence| story.push_sentence(sentence));
        story
    };
    (from..from + count).map(story).collect()
}

/// Writes an encoder of two layers and width 64 with random weights. Its vocabulary has all
/// letters, so that no word is unknown.
fn write_encoder(folder: &Path) {
    let mut pieces: Vec<String> =
        ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"].map(String::from).to_vec();
    let texts: Vec<String> =
        stories(0, 400).into_iter().map(|story| story.text.to_lowercase()).collect();
    let words = texts.iter().flat_map(|text| text.split(|c: char| !c.is_ascii_alphabetic()));
    let words: BTreeSet<&str> = words.filter(|word| word.len() > 1).collect();
    pieces.extend((0..5).map(|i| format!("[unused{i}]")));
    pieces.extend(words.into_iter().map(String::from));
    pieces.extend(
        ["not", "did", "was", "were"]
            .iter()
            .filter(|w| !pieces.contains(&w.to_string()))
            .map(|w| w.to_string())
            .collect::<Vec<_>>(),
    );
    pieces.extend(
        ('!'..='~')
            .filter(|c| !c.is_ascii_uppercase())
            .flat_map(|c| [c.to_string(), format!("##{c}")]),
    );
    fs::write(folder.join("vocab.txt"), pieces.join("\n")).unwrap();
    let config = serde_json::json!({
        "model_type": "bert", "vocab_size": pieces.len(), "hidden_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "intermediate_size": 128, "max_position_embeddings": 96, "pad_token_id": 0,
        "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1,
    });
    fs::write(folder.join("config.json"), config.to_string()).unwrap();
    let config = Config::load(folder).unwrap();
    let weights = folder.join("model.safetensors");
    let bytes = Parameters::random(&config, 5).to_bytes(&weights).unwrap();
    fs::write(weights, bytes).unwrap();
}

fn settings() -> Settings {
    Settings {
        epochs: 12,
        tokens_a_batch: 1024,
        max_tokens: 96,
        learning_rate: 2e-3,
        warm_up: 0.1,
        ..Settings::default()
    }
}

fn job<'a>(
    init: &'a Path,
    stories: &'a [Story],
    out: &'a Path,
    settings: &'a Settings,
    resume: bool,
) -> Job<'a> {
    Job {
        init,
        stories,
        machine: None,
        files: &[],
        teachers: &[],
        out,
        settings,
        lexicon: Lexicon::embedded(),
        device: Device::Cpu,
        resume,
    }
}

fn run(init: &Path, out: &Path, settings: &Settings, count: u64, resume: bool) -> Vec<EpochReport> {
    let stories = stories(0, count);
    train(&job(init, &stories, out, settings, resume), &mut |_| Ok(())).unwrap()
}

/// The share of held-out pairs in which the human story scores higher than its negative.
fn share_won(model: &Path) -> f64 {
    let held_out = stories(10_000, 150);
    let (tagger, lexicon) = (Tagger::embedded(), Lexicon::embedded());
    let mut sampler = DonorSampler::new(3, 100);
    held_out.iter().enumerate().for_each(|(i, story)| sampler.offer(i as u64, story));
    let donors = sampler.finish(tagger, lexicon);
    let perturber =
        Perturber::new(storymeter_perturb::CheckedConfig::default(), &donors, lexicon, tagger);
    let negatives: Vec<Story> = held_out
        .iter()
        .enumerate()
        .map(|(i, story)| {
            let text = perturber
                .perturb(story, 99, StreamId::Draw { record: i as u64, draw: 0 })
                .unwrap()
                .story;
            Story { text, ..Story::default() }
        })
        .collect();
    let scorer = UnionScorer::load(model, Precision::F32).unwrap();
    let human = scorer.score(&held_out.iter().collect::<Vec<_>>()).unwrap();
    let damaged = scorer.score(&negatives.iter().collect::<Vec<_>>()).unwrap();
    let won =
        human.iter().zip(&damaged).filter(|(human, damaged)| human.logit > damaged.logit).count();
    won as f64 / held_out.len() as f64
}

#[test]
fn a_tiny_model_learns_to_tell_held_out_negatives_with_and_without_reconstruction() {
    let init = tempfile::tempdir().unwrap();
    write_encoder(init.path());
    let variants = [
        Settings { reconstruction: Reconstruction::Tied, ..settings() },
        Settings {
            reconstruction: Reconstruction::None,
            pooling: Pooling::Mean,
            diagnosis: false,
            ..settings()
        },
        // The heads of the released code, on one set of negatives in batches drawn at random.
        Settings {
            pooling: Pooling::Pooler,
            reconstruction: Reconstruction::Dense,
            diagnosis: false,
            fresh_negatives: false,
            batches: Batches::Random,
            ..settings()
        },
    ];
    for variant in variants {
        let out = tempfile::tempdir().unwrap();
        let reports = run(init.path(), out.path(), &variant, 400, false);
        assert_eq!(reports.len(), 12);
        // Chance wins 75 of the 150 pairs, and four fifths of them less than once in 10^12 times.
        let won = share_won(out.path());
        assert!(won >= 0.8, "{:?}: wins {won} of the pairs", variant.reconstruction);
        let best = reports.iter().rev().find(|report| report.best).unwrap();
        assert!(
            best.dev.all.loss < std::f64::consts::LN_2,
            "better than a coin: {}",
            best.dev.all.loss
        );
        assert_eq!(best.dev.all.examples, 2 * best.dev.human.examples);
    }
}

#[test]
fn the_heads_of_the_released_code_are_saved_averaged_and_packed() {
    let [init, out] = [0; 2].map(|_| tempfile::tempdir().unwrap());
    write_encoder(init.path());
    let settings = Settings {
        epochs: 1,
        max_tokens: 96,
        tokens_a_batch: 1024,
        ..Settings::of(Preset::ReleasedCode)
    };
    run(init.path(), out.path(), &settings, 120, false);
    let model = Model::load(out.path()).unwrap();
    assert_eq!(model.heads.pooler.len(), 64 * 64);
    assert_eq!(model.heads.dense.len(), 64 * 64);
    assert_eq!(Model::average(&[model.clone(), model.clone()]).unwrap().heads, model.heads);
    let packed = out.path().join("packed.smq");
    model.store(&packed).unwrap();
    let story = &stories(30_000, 1)[0];
    let explained = [out.path(), &packed]
        .map(|path| UnionScorer::load(path, Precision::Int8).unwrap().explain(story).unwrap());
    assert_eq!(explained[0], explained[1]);
    assert!(!explained[0].edits.is_empty(), "a head of one epoch does not copy yet");
}

#[test]
fn a_discriminator_tells_the_stories_of_a_machine_that_it_has_not_seen() {
    let [init, out] = [0; 2].map(|_| tempfile::tempdir().unwrap());
    write_encoder(init.path());
    // The machine has the sentences in another order, and stops early.
    let machine = |from, count| -> Vec<Story> {
        let backwards = |story: Story| {
            let mut told = Story { id: story.id.clone(), ..Story::default() };
            let sentences = story.sentences.iter().rev().take(4);
            sentences.for_each(|range| told.push_sentence(&story.text[range.clone()]));
            told
        };
        stories(from, count).into_iter().map(backwards).collect()
    };
    let (human, told) = (stories(0, 400), machine(5_000, 200));
    let settings = settings().for_machine_stories();
    let job =
        Job { machine: Some(&told), ..job(init.path(), &human, out.path(), &settings, false) };
    let mut split = None;
    train(&job, &mut |event| {
        if let Event::Start(start) = event {
            split = start.split.get("train").copied();
        }
        Ok(())
    })
    .unwrap();
    assert!(split.is_some_and(|train| (150..200).contains(&train)), "one partner each: {split:?}");
    let scorer = UnionScorer::load(out.path(), Precision::F32).unwrap();
    assert_eq!(scorer.card().kind, Kind::DisScore);
    assert!(scorer.signature().to_string().starts_with("disscore|"));
    let mean = |stories: Vec<Story>| {
        let scores = scorer.score(&stories.iter().collect::<Vec<_>>()).unwrap();
        scores.iter().map(|score| score.probability).sum::<f64>() / scores.len() as f64
    };
    let (human, told) = (mean(stories(8_000, 50)), mean(machine(9_000, 50)));
    assert!(human > told + 0.5, "{human} for human stories, {told} for those of the machine");

    // There is no damage to repair or to name.
    let with_heads = Settings { reconstruction: Reconstruction::Tied, ..settings.clone() };
    let error = train(&Job { settings: &with_heads, ..job }, &mut |_| Ok(())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "training: reconstruction must be \"none\": stories of machines are not damaged ones"
    );
}

#[test]
fn one_layer_on_a_grid_learns_too_and_its_file_scores_exactly_like_its_folder() {
    let [init, out] = [0; 2].map(|_| tempfile::tempdir().unwrap());
    write_encoder(init.path());
    let settings = Settings {
        layers: 1,
        weight_step: 0.7,
        word_step: 0.9,
        pooling: Pooling::Mean,
        ..settings()
    };
    run(init.path(), out.path(), &settings, 400, false);
    let won = share_won(out.path());
    assert!(won >= 0.8, "wins {won} of the pairs");

    let model = Model::load(out.path()).unwrap();
    assert_eq!(model.config.layers, 1);
    let (packed, whole) = (out.path().join("packed.smq"), out.path().join("whole.smq"));
    let size = model.store(&packed).unwrap();
    let mut in_eight_bits = model.clone();
    in_eight_bits.card.grid = None;
    let larger = in_eight_bits.store(&whole).unwrap();
    assert!(size * 3 < larger * 2, "{size} bytes, {larger} in eight bits");
    let scorers =
        [out.path(), &packed].map(|path| UnionScorer::load(path, Precision::Int8).unwrap());
    let held_out = stories(20_000, 20);
    let [folder, file] = scorers
        .each_ref()
        .map(|scorer| scorer.score(&held_out.iter().collect::<Vec<_>>()).unwrap());
    assert_eq!(folder, file);
    assert_eq!(scorers[0].signature().to_string(), scorers[1].signature().to_string());
    // The same weights without the grid are another model.
    let exact = UnionScorer::load(&whole, Precision::Int8).unwrap();
    assert_ne!(exact.score(&held_out.iter().collect::<Vec<_>>()).unwrap(), file);
}

#[test]
fn a_run_cut_off_after_its_second_epoch_and_resumed_ends_with_the_same_bytes() {
    let init = tempfile::tempdir().unwrap();
    write_encoder(init.path());
    // The stories have about forty tokens, so most of them are read in windows.
    let settings = Settings {
        epochs: 4,
        max_tokens: 32,
        delexicalise: 0.5,
        reconstruction: Reconstruction::Own,
        ..settings()
    };
    let (whole, cut) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let stories = stories(0, 120);
    let job = job(init.path(), &stories, whole.path(), &settings, false);
    // The folder after the second epoch is what an interrupted run leaves behind.
    let reports = train(&job, &mut |event| {
        if matches!(event, Event::Epoch(report) if report.epoch == 2) {
            copy_files(whole.path(), cut.path());
        }
        Ok(())
    })
    .unwrap();
    assert!(reports.iter().all(|report| report.windows > 90), "{:?}", reports[0]);
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let job = Job { out: cut.path(), resume: true, ..job };
    assert_eq!(one.install(|| train(&job, &mut |_| Ok(())).unwrap()), reports);
    for file in ["model.safetensors", "heads.safetensors", "storymeter.json"] {
        let read = |folder: &Path| fs::read(folder.join(file)).unwrap();
        assert!(read(whole.path()) == read(cut.path()), "{file} differs");
    }
    // A run with other settings cannot continue from this checkpoint.
    let other = Settings { seed: 2, ..settings.clone() };
    let error = train(&Job { settings: &other, ..job }, &mut |_| Ok(())).unwrap_err();
    assert!(matches!(error, Error::OtherRun { .. }), "{error}");
    assert!(error.to_string().contains("a run with other settings"), "{error}");
    // Neither does any run from a checkpoint with one wrong bit.
    let path = cut.path().join("training.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, bytes).unwrap();
    let error = train(&job, &mut |_| Ok(())).unwrap_err().to_string();
    assert!(error.contains("the checkpoint is damaged"), "{error}");
}

/// Copies all files of a folder into another one, which exists.
fn copy_files(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

/// A run saves its checkpoint and then the files of the model, one after the other. Whatever it has
/// saved when it is killed, the resumed run ends with the same bytes.
#[test]
fn a_run_killed_between_its_checkpoint_and_its_model_is_healed_when_it_is_resumed() {
    let init = tempfile::tempdir().unwrap();
    write_encoder(init.path());
    let settings = Settings { epochs: 2, ..settings() };
    let (whole, first) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let stories = stories(0, 120);
    let job = job(init.path(), &stories, whole.path(), &settings, false);
    train(&job, &mut |event| {
        if matches!(event, Event::Epoch(report) if report.epoch == 1) {
            copy_files(whole.path(), first.path());
        }
        Ok(())
    })
    .unwrap();
    let saved = ["config.json", "model.safetensors", "heads.safetensors", "vocab.txt"];
    // The folder had nothing before, or the model of an earlier run with other weights.
    let other = tempfile::tempdir().unwrap();
    let other_settings = Settings { seed: 7, epochs: 1, ..settings.clone() };
    run(init.path(), other.path(), &other_settings, 120, false);
    for before in [None, Some(other.path())] {
        for done in 0..=saved.len() {
            let cut = tempfile::tempdir().unwrap();
            before.into_iter().for_each(|before| copy_files(before, cut.path()));
            for file in ["training.safetensors"].iter().chain(&saved[..done]) {
                fs::copy(first.path().join(file), cut.path().join(file)).unwrap();
            }
            if before.is_some() && done > 1 {
                let error = Model::load(cut.path()).unwrap_err();
                assert!(matches!(error, Error::Mixture { .. }), "{error}");
            }
            train(&Job { out: cut.path(), resume: true, ..job }, &mut |_| Ok(())).unwrap();
            for file in saved.into_iter().chain(["storymeter.json"]) {
                let read = |folder: &Path| fs::read(folder.join(file)).unwrap();
                assert!(read(whole.path()) == read(cut.path()), "{file} differs after {done}");
            }
            Model::load(cut.path()).unwrap();
        }
    }
}

#[test]
#[cfg(feature = "cuda")]
#[ignore = "needs an NVIDIA GPU; run with --ignored"]
fn two_runs_on_a_gpu_give_the_same_bytes() {
    let init = tempfile::tempdir().unwrap();
    write_encoder(init.path());
    let (settings, stories) = (Settings { epochs: 2, ..settings() }, stories(0, 300));
    for activations in [Activations::Bf16, Activations::F32] {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        for out in &folders {
            let device = Device::Cuda { gpu: 0, activations, team: None };
            let job = Job { device, ..job(init.path(), &stories, out.path(), &settings, false) };
            let reports = train(&job, &mut |_| Ok(())).unwrap();
            println!("{activations:?}: dev loss {:.6}", reports[1].dev.all.loss);
        }
        for file in ["model.safetensors", "heads.safetensors", "storymeter.json"] {
            let [first, second] =
                [0, 1].map(|i: usize| fs::read(folders[i].path().join(file)).unwrap());
            assert!(first == second, "{activations:?}: {file} differs");
        }
    }
}

#[test]
fn a_model_reads_masked_names_as_one_token_and_its_card_says_how_it_came_about() {
    let init = tempfile::tempdir().unwrap();
    write_encoder(init.path());
    let train_with = |delexicalise: f64| {
        let out = tempfile::tempdir().unwrap();
        let settings = Settings { epochs: 1, delexicalise, ..settings() };
        run(init.path(), out.path(), &settings, 60, false);
        let scorer = UnionScorer::load(out.path(), Precision::F32).unwrap();
        (out, scorer)
    };
    let (_out, scorer) = train_with(0.5);
    let card = scorer.card();
    assert_eq!(card.name_tokens["[MALE]"], 5);
    assert!(card.normalise && !card.delexicalise);
    let record = serde_json::to_value(&card.training).unwrap();
    assert_eq!(record["settings"]["delexicalise"], 0.5);
    let signature = card.training.signature().unwrap();
    assert!(signature.starts_with("union-training|preset:default|settings:"), "{signature}");
    // If all stories were masked in training, names are masked in scoring too.
    let (_out, scorer) = train_with(1.0);
    let story = |text: &str| Story { text: text.into(), ..Story::default() };
    let scores = scorer.score(&[&story("Tom ran."), &story("[MALE] ran.")]).unwrap();
    assert_eq!(scores[0], scores[1]);
}

#[test]
fn a_model_reads_prompts_if_its_settings_say_so_and_not_because_a_story_has_one() {
    let init = tempfile::tempdir().unwrap();
    write_encoder(init.path());
    let without = stories(0, 60);
    let mut with = without.clone();
    with[7].prompt = Some("the old boat".into());
    let trained = |stories: &[Story], prompts: bool| {
        let out = tempfile::tempdir().unwrap();
        let settings = Settings { epochs: 1, prompts, ..settings() };
        let mut counted = None;
        train(&job(init.path(), stories, out.path(), &settings, false), &mut |event| {
            if let Event::Start(start) = event {
                counted = Some((start.settings.prompts, start.stories_with_prompts));
            }
            Ok(())
        })
        .unwrap();
        let model = Model::load(out.path()).unwrap();
        let record = serde_json::to_value(&model.card.training).unwrap();
        assert_eq!(record["settings"]["prompts"], prompts);
        (
            model.card.prompts,
            counted.unwrap(),
            fs::read(out.path().join("model.safetensors")).unwrap(),
        )
    };
    let (reads, counted, weights) = trained(&without, false);
    assert_eq!((reads, counted), (false, (false, 0)));
    // The prompt of one story changes nothing: neither what the model reads nor what it learns.
    let (reads, counted, same) = trained(&with, false);
    assert_eq!((reads, counted), (false, (false, 1)));
    assert!(same == weights);
    let (reads, counted, other) = trained(&with, true);
    assert_eq!((reads, counted), (true, (true, 1)));
    assert!(other != weights, "the prompt was read");
    assert!(trained(&without, true).0, "the card keeps what was set");
}

#[test]
fn the_released_code_s_preset_trains_its_own_way() {
    let (init, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_encoder(init.path());
    let released = Settings::of(Preset::ReleasedCode);
    let settings = Settings { epochs: 6, learning_rate: 1e-3, max_tokens: 96, ..released };
    let reports = run(init.path(), out.path(), &settings, 300, false);
    // A batch has ten examples: five stories and their negatives.
    let (steps, left_out) = (reports[0].steps as usize, reports[0].left_out);
    let stories = (0..300).filter(|i| assign(settings.seed, *i) == Split::Train).count();
    assert_eq!(steps, (stories - left_out).div_ceil(5));
    let best = reports.iter().map(|report| report.dev.all.loss).fold(f64::INFINITY, f64::min);
    assert!(best < std::f64::consts::LN_2, "better than a coin: {best}");
    let model = Model::load(out.path()).unwrap();
    assert!(model.heads.diagnosis.is_empty() && model.heads.reconstruction.is_empty());
    assert!(!model.heads.reconstruction_bias.is_empty() && model.card.name_tokens.is_empty());
}

#[test]
fn settings_and_stories_that_do_not_work_are_errors() {
    let (init, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_encoder(init.path());
    let attempt = |settings: &Settings, count: u64| -> Error {
        let stories = stories(0, count);
        let job = job(init.path(), &stories, out.path(), settings, false);
        train(&job, &mut |_| Ok(())).unwrap_err()
    };
    let error = attempt(&Settings { max_tokens: 97, ..settings() }, 50);
    assert_eq!(
        error.to_string(),
        format!(
            "training: max_tokens is 97, but the encoder in {} reads 8 to 96 tokens",
            init.path().display()
        )
    );
    let error = attempt(&settings(), 1);
    assert!(matches!(error, Error::TooFewStories { stories: 1, .. }), "{error}");
    let error =
        attempt(&Settings { learning_rate: 1.0, weight_decay: 1e6, epochs: 8, ..settings() }, 60);
    assert!(matches!(error, Error::Diverged { .. }), "{error}");
    let wrong: Result<Settings, _> = serde_json::from_str("{\"epoch\": 3}");
    assert!(wrong.unwrap_err().to_string().contains("unknown field `epoch`"));
}

#[test]
fn a_student_learns_its_teacher_s_judgement_as_far_as_it_is_told_to() {
    let init = tempfile::tempdir().unwrap();
    write_encoder(init.path());
    let stories = stories(0, 200);
    let teacher = tempfile::tempdir().unwrap();
    train(&job(init.path(), &stories, teacher.path(), &settings(), false), &mut |_| Ok(()))
        .unwrap();
    let teachers = [teacher.path().to_owned()];
    let taught = |teacher_share: f64, teachers: &[std::path::PathBuf], epochs: u64| {
        let out = tempfile::tempdir().unwrap();
        let settings = Settings { teacher_share, epochs, seed: 2, ..settings() };
        let job = Job { teachers, ..job(init.path(), &stories, out.path(), &settings, false) };
        train(&job, &mut |_| Ok(())).unwrap();
        out
    };

    // A teacher with a share of 0 changes nothing.
    let weights =
        |folder: &tempfile::TempDir| fs::read(folder.path().join("model.safetensors")).unwrap();
    assert!(weights(&taught(0.0, &teachers, 1)) == weights(&taught(1.0, &[], 1)));

    // With a share of 1, the student agrees more with its teacher on new stories than without it.
    let held_out = self::stories(10_000, 150);
    let logits = |folder: &Path| -> Vec<f64> {
        let scorer = UnionScorer::load(folder, Precision::F32).unwrap();
        let scores = scorer.score(&held_out.iter().collect::<Vec<_>>()).unwrap();
        scores.iter().map(|score| score.logit / 2.0).collect()
    };
    let judged = logits(teacher.path());
    let distance = |folder: &tempfile::TempDir| -> f64 {
        let probability = |logit: f64| 1.0 / (1.0 + (-logit).exp());
        let pairs = judged.iter().zip(logits(folder.path()));
        pairs.map(|(a, b)| (probability(*a) - probability(2.0 * b)).abs()).sum::<f64>() / 150.0
    };
    let (with, without) = (distance(&taught(1.0, &teachers, 12)), distance(&taught(1.0, &[], 12)));
    assert!(with < 0.8 * without, "mean distance {with} with the teacher, {without} without");

    let other = Settings { normalise: false, ..settings() };
    let job =
        Job { teachers: &teachers, ..job(init.path(), &stories, teacher.path(), &other, false) };
    let error = train(&job, &mut |_| Ok(())).unwrap_err();
    assert!(error.to_string().contains("normalise differs"), "{error}");
}
