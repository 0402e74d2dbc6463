//! Compares stories with prompts by a tiny sentence encoder with random weights, and keeps it in
//! model folders and model files.

use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};
use storymeter_core::Story;
use storymeter_encoder::{
    Batch, Config, Device, Grid, Model as Encoder, Outputs, Pooling as Pooled, Tokenizer,
    load_parameters,
};
use storymeter_union::criteria::{
    Calibration, CriteriaCard, CriteriaScorer, Criterion, SentenceModel, SentenceScorer, windows,
};
use storymeter_union::{
    Card, Error, Heads, Kind, Location, MODEL_FILES, Model, Pooling, Precision, Reconstruction,
    StoredModel,
};

/// The folder of a tiny encoder. It is also found if the test was built on another machine and runs
/// in the root of the repository.
fn fixture(name: &str) -> PathBuf {
    let file = format!("crates/storymeter-encoder/tests/fixtures/{name}");
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if built.exists() { built.join(file) } else { PathBuf::from(file) }
}

fn story(text: &str, prompt: Option<&str>) -> Story {
    Story { prompt: prompt.map(str::to_owned), ..Story::from(text) }
}

fn stories() -> Vec<Story> {
    let prompts = [None, Some("The baker lost the kite."), Some("an old red kite"), Some(" ")];
    let mut stories: Vec<Story> = (1..30)
        .map(|n| story(&"the kite was red. Mira lost it. ".repeat(n), prompts[n % 4]))
        .collect();
    stories.push(story("", prompts[1]));
    stories.push(story("?! \u{1f327}", prompts[1]));
    stories.push(story(&"kite ".repeat(300), prompts[1]));
    stories
}

fn similarities(scorer: &SentenceScorer, stories: &[Story]) -> Vec<Option<f64>> {
    scorer.similarities(&stories.iter().collect::<Vec<_>>()).unwrap()
}

fn similarity(scorer: &SentenceScorer, text: &str, prompt: &str) -> f64 {
    similarities(scorer, &[story(text, Some(prompt))])[0].unwrap()
}

/// A tiny criteria model whose one criterion is the similarity of prompt and story.
fn model(sentences: SentenceModel) -> Model {
    let encoder = fixture("bert");
    let config = Config::load(&encoder).unwrap();
    let parameters = load_parameters(&encoder, &config).unwrap();
    let calibration = Calibration { cosine: 1.0, low: -1.0, high: 1.0, ..Calibration::default() };
    let heads = vec![Criterion {
        name: "relevance".into(),
        calibration: Some(calibration),
        ..Criterion::default()
    }];
    let card = Card {
        kind: Kind::Criteria,
        pooling: Pooling::Mean,
        reconstruction: Reconstruction::None,
        diagnosis: false,
        max_tokens: 24,
        criteria: Some(CriteriaCard { heads, ..CriteriaCard::default() }),
        ..Card::default()
    };
    let heads =
        Heads { criteria: vec![0.0; config.hidden], criteria_bias: vec![0.0], ..Heads::default() };
    let tokenizer_files = vec![("vocab.txt", std::fs::read(encoder.join("vocab.txt")).unwrap())];
    Model { config, parameters, heads, card, tokenizer_files, sentences: Some(sentences) }
}

fn tiny() -> Model {
    model(SentenceModel::load(&fixture("bert")).unwrap())
}

fn predictions(scorer: &CriteriaScorer) -> Vec<Option<f64>> {
    let stories = stories();
    let predictions = scorer.score(&stories.iter().collect::<Vec<_>>()).unwrap();
    predictions.iter().map(|own| own[0].ok().map(|own| own.value)).collect()
}

#[test]
fn a_similarity_is_the_same_bits_for_any_batch_order_and_number_of_threads() {
    for encoder in ["bert", "mpnet"] {
        for precision in [Precision::F32, Precision::Int8] {
            let scorer = SentenceModel::load(&fixture(encoder)).unwrap().scorer(precision).unwrap();
            let mut stories = stories();
            let together = similarities(&scorer, &stories);
            assert!(together.iter().flatten().count() > 10);
            for (story, expected) in stories.iter().zip(&together) {
                assert_eq!(scorer.similarities(&[story]).unwrap()[0], *expected);
            }
            let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            assert_eq!(one.install(|| similarities(&scorer, &stories)), together);
            stories.reverse();
            let mut backwards = similarities(&scorer, &stories);
            backwards.reverse();
            assert_eq!(backwards, together);
        }
    }
}

#[test]
fn what_cannot_be_compared_is_absent_and_is_not_read() {
    let sentences = SentenceModel::load(&fixture("bert")).unwrap();
    let scorer = sentences.scorer(Precision::Int8).unwrap();
    let incomparable = [
        story("the kite was red.", None),
        story("the kite was red.", Some(" \n")),
        story("the kite was red.", Some("...")),
        story("", Some("a kite")),
        story("?! \u{1f327}", Some("a kite")),
    ];
    assert_eq!(similarities(&scorer, &incomparable), [None; 5]);
    assert_eq!(scorer.tokens_read(), 0);
    assert_eq!(similarities(&scorer, &[]), []);
}

#[test]
fn a_story_is_most_similar_to_itself() {
    let scorer = SentenceModel::load(&fixture("bert")).unwrap().scorer(Precision::Int8).unwrap();
    let text = "Mira lost her red kite. She looked in the barn.";
    assert!((similarity(&scorer, text, text) - 1.0).abs() < 1e-12);
    let other = similarity(&scorer, "The baker burned the bread.", text);
    assert!(other < 0.999, "{other}");
    // Quotes are made alike, and so are spaces, which the tokeniser does not see.
    let curly = similarity(&scorer, "\u{201c}Mira\u{2019}s kite\u{201d}", "\"Mira's  kite\"");
    assert!((curly - 1.0).abs() < 1e-12, "{curly}");
}

#[test]
fn the_stories_of_a_prompt_share_its_vector() {
    let sentences = SentenceModel::load(&fixture("bert")).unwrap();
    let read = |stories: &[Story]| {
        let scorer = sentences.scorer(Precision::Int8).unwrap();
        similarities(&scorer, stories);
        scorer.tokens_read()
    };
    let prompts = ["an old red kite", "the baker"];
    let stories: Vec<Story> = ["the kite was red.", "Mira lost it."]
        .iter()
        .flat_map(|text| prompts.map(|prompt| story(text, Some(prompt))))
        .collect();
    let apart: u64 = stories.iter().map(|story| read(std::slice::from_ref(story))).sum();
    let tokenizer = Tokenizer::load(&fixture("bert"), &Config::load(&fixture("bert")).unwrap());
    let tokenizer = tokenizer.unwrap();
    let of_prompts: usize = prompts.iter().map(|text| tokenizer.tokenize(text).len() + 2).sum();
    assert_eq!(read(&stories), apart - of_prompts as u64);
}

/// The similarity computed anew: the largest cosine over the windows of the story, and the mean
/// over the tokens of all windows of the prompt. The tiny encoder has windows of 96 tokens.
#[test]
fn a_long_story_is_as_similar_as_its_most_similar_window() {
    let folder = fixture("bert");
    let sentences = SentenceModel::load_on(&folder, None).unwrap();
    let scorer = sentences.scorer(Precision::Int8).unwrap();
    let config = Config::load(&folder).unwrap();
    let tokenizer = Tokenizer::load(&folder, &config).unwrap();
    let parameters = load_parameters(&folder, &config).unwrap();
    let encoder = Encoder::from_tensors(config, &parameters, Device::Cpu, Precision::Int8).unwrap();
    let card = Card { max_tokens: 96, normalise: true, ..Card::default() };
    let vectors = |text: &str| -> Vec<(f64, Vec<f64>)> {
        let windows = windows(&tokenizer, &card, &story(text, None));
        let batch: Batch = windows.iter().map(Vec::as_slice).collect();
        let run = encoder.run(&batch, &Outputs::new().pooled(Pooled::Mean)).unwrap();
        let vector = |at: usize| run.pooled(at).iter().map(|x| f64::from(*x)).collect();
        (0..windows.len()).map(|at| (windows[at].len() as f64, vector(at))).collect()
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let text = "Mira lost her red kite. She looked in the old barn. It hung there. ".repeat(9)
        + &"The baker burned the bread. ".repeat(12);
    for (prompt, parts) in [("The baker burned the bread.".to_owned(), 1), (text.clone(), 3)] {
        let own = vectors(&prompt);
        assert!(own.len() >= parts, "{}", own.len());
        let tokens: f64 = own.iter().map(|(tokens, _)| tokens).sum();
        let mut mean = vec![0.0; own[0].1.len()];
        for (count, vector) in &own {
            mean.iter_mut().zip(vector).for_each(|(sum, x)| *sum += count * x / tokens);
        }
        let cosines: Vec<f64> = vectors(&text)
            .iter()
            .map(|(_, v)| dot(&mean, v) / (dot(&mean, &mean) * dot(v, v)).sqrt())
            .collect();
        let largest = cosines.iter().copied().fold(f64::MIN, f64::max);
        let found = similarity(&scorer, &text, &prompt);
        assert!((found - largest).abs() < 1e-9, "{found} {cosines:?}");
        let smallest = cosines.iter().copied().fold(f64::MAX, f64::min);
        assert!(cosines.len() > 2 && smallest < largest - 1e-3, "{cosines:?}");
    }
}

#[test]
fn a_folder_a_file_and_what_is_read_from_them_have_the_same_encoder() {
    for grid in [None, Some(SentenceModel::GRID), Some(Grid { layers: 0.9, words: 1.5 })] {
        for encoder in ["bert", "mpnet"] {
            let sentences = SentenceModel::load_on(&fixture(encoder), grid).unwrap();
            let model = model(sentences.clone());
            let folder = tempfile::tempdir().unwrap();
            model.save(folder.path()).unwrap();
            let from_folder = Model::load(folder.path()).unwrap();
            assert_eq!(from_folder.sentences.as_ref(), Some(&sentences));
            assert_eq!(from_folder.fingerprint(), model.fingerprint());
            let file = folder.path().join("tiny.smq");
            let size = from_folder.store(&file).unwrap();
            let from_file = Location::Path(file.clone()).model().unwrap();
            let mut kept = sentences.clone().describe();
            assert_eq!(
                from_file.sentences.as_ref().map(SentenceModel::describe),
                Some(kept.clone())
            );
            let scorer = sentences.scorer(Precision::Int8).unwrap();
            let expected = similarities(&scorer, &stories());
            for path in [folder.path(), &file] {
                let scorer = CriteriaScorer::load(path, Precision::Int8).unwrap();
                assert_eq!(predictions(&scorer), expected);
                let location = Location::Path(path.to_owned());
                let described = location.describe().unwrap();
                assert_eq!(described.sentences.as_ref(), Some(&kept));
                assert!(described.bytes > kept.bytes as u64);
            }
            kept.name.clear();
            assert!(size > kept.bytes, "{size} {kept:?}");
            assert_eq!((kept.layers, encoder == "bert"), (2, kept.width == 36));
            // Packing again what was read from a file gives the same encoder.
            let again = folder.path().join("again.smq");
            from_file.store(&again).unwrap();
            let scorer = CriteriaScorer::load(&again, Precision::Int8).unwrap();
            assert_eq!(predictions(&scorer), expected);
        }
    }
}

#[test]
fn a_model_file_keeps_its_sentence_encoder_with_another_calibration() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["first.smq", "second.smq"].map(|name| folder.path().join(name));
    tiny().store(&first).unwrap();
    let stored = StoredModel::open(&first).unwrap();
    let mut card = tiny().card;
    for criterion in card.criteria.iter_mut().flat_map(|own| &mut own.heads) {
        criterion.calibration.iter_mut().for_each(|own| own.intercept = 0.125);
    }
    stored.store_with(card, &second).unwrap();
    let [before, after] = [first, second]
        .map(|path| predictions(&CriteriaScorer::load(&path, Precision::Int8).unwrap()));
    let shifted = before.iter().map(|value| value.map(|value| (value + 0.125).min(1.0)));
    assert_eq!(shifted.collect::<Vec<_>>(), after);

    // A file without a sentence encoder cannot get a calibration that needs one.
    let bare = folder.path().join("bare.smq");
    let mut without = Model { sentences: None, ..tiny() };
    let heads = without.card.criteria.iter_mut().flat_map(|own| &mut own.heads);
    heads.for_each(|criterion| criterion.calibration = None);
    without.store(&bare).unwrap();
    let stored = StoredModel::open(&bare).unwrap();
    let error = stored.store_with(tiny().card, &bare).unwrap_err().to_string();
    assert!(error.contains("the model has no sentence encoder"), "{error}");
    let error = Model { sentences: None, ..tiny() }.store(&bare).unwrap_err().to_string();
    assert!(error.contains("the model has no sentence encoder"), "{error}");
}

#[test]
fn a_folder_with_files_of_two_sentence_encoders_is_refused() {
    let other = model(SentenceModel::load_on(&fixture("mpnet"), None).unwrap());
    for name in ["config.json", "packed.safetensors", "vocab.txt", "tokenizer_config.json"] {
        let [old, new] = [0; 2].map(|_| tempfile::tempdir().unwrap());
        tiny().save(old.path()).unwrap();
        other.save(new.path()).unwrap();
        let file = Path::new("sentences").join(name);
        assert!(MODEL_FILES.iter().any(|known| Path::new(known) == file));
        std::fs::copy(new.path().join(&file), old.path().join(&file)).unwrap();
        let error = Model::load(old.path()).unwrap_err();
        assert!(
            matches!(&error, Error::Mixture { file } if file.ends_with(name)),
            "{name}: {error}"
        );
        // Saving the model again heals the folder.
        tiny().save(old.path()).unwrap();
        assert_eq!(Model::load(old.path()).unwrap().fingerprint(), tiny().fingerprint());
        // A file that is not there is named.
        std::fs::remove_file(old.path().join(&file)).unwrap();
        let error = Model::load(old.path()).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
}

#[test]
fn a_save_that_fails_leaves_the_folder_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let names = || {
        let entries = std::fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    // heads.safetensors cannot be replaced by a file.
    std::fs::create_dir(folder.path().join("heads.safetensors")).unwrap();
    assert!(tiny().save(folder.path()).is_err());
    assert_eq!(names(), ["heads.safetensors"]);
    std::fs::remove_dir(folder.path().join("heads.safetensors")).unwrap();

    tiny().save(folder.path()).unwrap();
    let whole = names();
    // The vocabulary of the sentence encoder cannot be replaced by a file.
    let vocabulary = folder.path().join("sentences/vocab.txt");
    let bytes = std::fs::read(&vocabulary).unwrap();
    std::fs::remove_file(&vocabulary).unwrap();
    std::fs::create_dir(&vocabulary).unwrap();
    let other = model(SentenceModel::load_on(&fixture("bert"), None).unwrap());
    assert!(other.save(folder.path()).is_err());
    assert_eq!(names(), whole);
    std::fs::remove_dir(&vocabulary).unwrap();
    std::fs::write(&vocabulary, bytes).unwrap();
    assert_eq!(Model::load(folder.path()).unwrap().fingerprint(), tiny().fingerprint());

    // A model without a sentence encoder does not read what another one left.
    let mut without = Model { sentences: None, ..tiny() };
    let heads = without.card.criteria.iter_mut().flat_map(|own| &mut own.heads);
    heads.for_each(|criterion| criterion.calibration = None);
    without.save(folder.path()).unwrap();
    assert_eq!(Model::load(folder.path()).unwrap().sentences, None);
}

/// A model file whose header is changed, with the right length and checksum.
fn with_header(bytes: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let (header, payload) = bytes[56..].split_at(length);
    let mut header: Value = serde_json::from_slice(header).unwrap();
    change(&mut header);
    let header = header.to_string();
    let content = [header.as_bytes(), payload].concat();
    let mut changed = bytes[..12].to_vec();
    changed.extend((header.len() as u32).to_le_bytes());
    changed.extend((56 + content.len() as u64).to_le_bytes());
    changed.extend(Sha256::digest(&content));
    changed.extend(content);
    changed
}

#[test]
fn a_model_file_with_damaged_parts_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for grid in [None, Some(SentenceModel::GRID)] {
        let path = folder.path().join("tiny.smq");
        let sentences = SentenceModel::load_on(&fixture("bert"), grid).unwrap();
        model(sentences).store(&path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let complaint = |change: &dyn Fn(&mut Value)| {
            let bytes = with_header(&bytes, change);
            let stored = StoredModel::from_bytes(Path::new("tiny.smq"), bytes);
            let opened = stored.and_then(|stored| CriteriaScorer::from_stored(&stored));
            opened.err().map_or(String::new(), |error| error.to_string())
        };
        assert_eq!(complaint(&|_| ()), "");
        let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
        let header: Value = serde_json::from_slice(&bytes[56..56 + length]).unwrap();
        let parts = header["parts"].as_array().unwrap().iter();
        let names = parts.map(|part| part[0].as_str().unwrap().to_owned());
        let names: Vec<String> = names.filter(|name| name.starts_with("sentences/")).collect();
        assert!(names.len() > 20 && names.contains(&"sentences/zlib.tokenizer.json".to_owned()));
        for name in &names {
            // The settings of a tokeniser have defaults.
            if name.ends_with("tokenizer_config.json") {
                continue;
            }
            let own = |part: &Value| part[0].as_str() == Some(name);
            let missing = complaint(&|header| {
                header["parts"].as_array_mut().unwrap().retain(|part| !own(part));
            });
            assert!(missing.contains("tiny.smq"), "{name}: {missing}");
            let shorter = complaint(&|header| {
                let parts = header["parts"].as_array_mut().unwrap();
                let part = parts.iter_mut().find(|part| own(part)).unwrap();
                let end = part[1]["end"].as_u64().unwrap();
                part[1]["end"] = (end - 1).into();
            });
            assert!(shorter.contains("tiny.smq"), "{name}: {shorter}");
        }
        let no_config = complaint(&|header| header["sentences"]["config"] = serde_json::json!({}));
        assert!(no_config.contains("model_type"), "{no_config}");
        let wider = complaint(&|header| header["sentences"]["config"]["hidden_size"] = 72.into());
        assert!(wider.contains("tiny.smq"), "{wider}");
        let odd = complaint(&|header| {
            header["sentences"]["grid"] = serde_json::json!({ "layers": 0.0, "words": 0.5 });
        });
        assert!(odd.contains("a step is from 0.25 to 2"), "{odd}");
        let without = complaint(&|header| {
            header.as_object_mut().unwrap().remove("sentences");
        });
        assert!(without.contains("the model has no sentence encoder"), "{without}");
    }
}

#[test]
fn only_an_encoder_with_mean_pooling_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let complaint = || SentenceModel::load(folder.path()).unwrap_err().to_string();
    assert!(complaint().contains("config.json"));
    for name in ["config.json", "model.safetensors", "vocab.txt"] {
        std::fs::copy(fixture("bert").join(name), folder.path().join(name)).unwrap();
    }
    let loaded = SentenceModel::load(folder.path()).unwrap().describe();
    assert_eq!(loaded.name, folder.path().file_name().unwrap().to_string_lossy());
    let pooling = folder.path().join("1_Pooling/config.json");
    std::fs::create_dir(pooling.parent().unwrap()).unwrap();
    std::fs::write(&pooling, "{\"pooling_mode_mean_tokens\": true}").unwrap();
    assert!(SentenceModel::load(folder.path()).is_ok());
    std::fs::write(&pooling, "{\"pooling_mode_cls_token\": true}").unwrap();
    assert!(complaint().contains("are not means over tokens"), "{}", complaint());
    std::fs::remove_file(&pooling).unwrap();
    std::fs::remove_file(folder.path().join("vocab.txt")).unwrap();
    assert!(complaint().contains("tokeni"), "{}", complaint());
    let grid = Some(Grid { layers: 0.1, words: 0.7 });
    let error = SentenceModel::load_on(&fixture("bert"), grid).unwrap_err().to_string();
    assert!(error.contains("a step is from 0.25 to 2"), "{error}");
}
