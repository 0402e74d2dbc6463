//! Predicts ratings with a tiny model that has random weights. Its predictions mean nothing, but
//! they must always be the same.

use std::path::{Path, PathBuf};

use storymeter_core::Story;
use storymeter_encoder::{Config, Grid, Stream, load_parameters};
#[cfg(feature = "cuda")]
use storymeter_union::GpuPrecision;
use storymeter_union::criteria::{
    Calibration, CriteriaCard, CriteriaScorer, Criterion, Prediction, Predictions, Residual,
    SentenceModel, StrongestSentence, Unpredicted, windows,
};
use storymeter_union::{
    Card, EmbeddedModel, Error, Heads, Kind, Location, Model, Pooling, Precision, Reconstruction,
    StoredModel,
};

/// The path of a file of the repository. It is also found if the test was built on another machine
/// and runs in the root of the repository.
fn repository(file: &str) -> PathBuf {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if built.exists() { built.join(file) } else { PathBuf::from(file) }
}

fn random(seed: u64, count: usize) -> Vec<f32> {
    let stream = Stream::new(seed);
    (0..count as u64).map(|i| stream.normal(i)).collect()
}

fn calibration(cosine: f64) -> Calibration {
    let residual = |up_to, low, high| Residual { up_to, low, high };
    Calibration {
        intercept: 3.0,
        head: 0.05,
        cosine,
        low: 1.0,
        high: 5.0,
        residuals: vec![residual(3.0, -0.5, 0.75), residual(5.0, -1.0, 0.5)],
    }
}

/// A model with the criteria relevance, which needs the prompt, and coherence.
fn model() -> Model {
    let encoder = repository("crates/storymeter-encoder/tests/fixtures/bert");
    let config = Config::load(&encoder).unwrap();
    let parameters = load_parameters(&encoder, &config).unwrap();
    let criterion = |name: &str, cosine| Criterion {
        name: name.to_owned(),
        calibration: Some(calibration(cosine)),
        ..Criterion::default()
    };
    let heads = Heads {
        criteria: random(1, 2 * config.hidden),
        criteria_bias: random(2, 2),
        ..Heads::default()
    };
    let card = Card {
        kind: Kind::Criteria,
        pooling: Pooling::Mean,
        reconstruction: Reconstruction::None,
        diagnosis: false,
        max_tokens: 24,
        normalise: true,
        criteria: Some(CriteriaCard {
            heads: vec![criterion("relevance", 1.5), criterion("coherence", 0.0)],
            ..CriteriaCard::default()
        }),
        ..Card::default()
    };
    let tokenizer_files = vec![("vocab.txt", std::fs::read(encoder.join("vocab.txt")).unwrap())];
    let sentences = Some(SentenceModel::load(&encoder).unwrap());
    Model { config, parameters, heads, card, tokenizer_files, sentences }
}

fn with_heads(model: Model, change: impl Fn(&mut Criterion)) -> Model {
    let mut model = model;
    model.card.criteria.iter_mut().flat_map(|own| &mut own.heads).for_each(change);
    model
}

/// Saves the model and loads it from its folder.
fn scorer_of(model: &Model, precision: Precision) -> CriteriaScorer {
    let folder = tempfile::tempdir().unwrap();
    model.save(folder.path()).unwrap();
    CriteriaScorer::load(folder.path(), precision).unwrap()
}

fn story(text: &str, prompt: Option<&str>) -> Story {
    Story { prompt: prompt.map(str::to_owned), ..Story::from(text) }
}

fn stories() -> Vec<Story> {
    let prompts = [None, Some("The baker lost the kite."), Some("an old red kite"), Some(" ")];
    let mut stories: Vec<Story> = (1..12)
        .map(|n| story(&"the kite was red. Mira lost it. ".repeat(n), prompts[n % 4]))
        .collect();
    stories.push(story("", prompts[1]));
    stories.push(story("?! \u{1f327}", prompts[1]));
    stories.push(story(&"kite ".repeat(300), prompts[1]));
    stories
}

fn score(scorer: &CriteriaScorer, stories: &[Story]) -> Vec<Predictions> {
    scorer.score(&stories.iter().collect::<Vec<_>>()).unwrap()
}

#[test]
fn predictions_are_the_same_bits_for_any_batch_order_and_number_of_threads() {
    for precision in [Precision::F32, Precision::Int8] {
        let scorer = scorer_of(&model(), precision);
        let mut stories = stories();
        let together = score(&scorer, &stories);
        for (story, expected) in stories.iter().zip(&together) {
            assert_eq!(scorer.score(&[story]).unwrap()[0], *expected);
        }
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(one.install(|| score(&scorer, &stories)), together);
        stories.reverse();
        let mut backwards = score(&scorer, &stories);
        backwards.reverse();
        assert_eq!(backwards, together);
    }
}

#[test]
fn a_prediction_is_on_the_scale_and_inside_its_interval() {
    let scorer = scorer_of(&model(), Precision::Int8);
    let predicted: Vec<Prediction> =
        score(&scorer, &stories()).into_iter().flatten().flatten().collect();
    assert!(predicted.len() > 15);
    for Prediction { value, interval } in predicted {
        let [low, high] = interval.unwrap();
        assert!(1.0 <= low && low <= value && value <= high && high <= 5.0, "{low} {value} {high}");
    }
}

#[test]
fn only_what_cannot_be_known_is_absent() {
    let scorer = scorer_of(&model(), Precision::Int8);
    let texts = [
        story("the kite was red.", Some("a kite")),
        story("the kite was red.", None),
        story("the kite was red.", Some(" \n")),
        story("the kite was red.", Some("...")),
        story("", Some("a kite")),
        story("?! \u{1f327}", None),
    ];
    let predictions = score(&scorer, &texts);
    assert!(predictions[0].iter().all(Result::is_ok));
    for without_prompt in &predictions[1..4] {
        assert_eq!(without_prompt[0], Err(Unpredicted::NoPrompt));
        assert_eq!(without_prompt[1], predictions[0][1], "the prompt is not read with the story");
    }
    for wordless in &predictions[4..] {
        assert_eq!(wordless[..], [Err(Unpredicted::NoWords); 2]);
    }
}

#[test]
fn a_prompt_that_no_criterion_needs_is_not_read() {
    let read = |model: &Model, raw: bool| {
        let scorer = scorer_of(model, Precision::Int8);
        let story = story("the kite was red.", Some("the old red kite hung in the barn"));
        if raw {
            assert!(scorer.raw(&[&story]).unwrap()[0].as_ref().unwrap().cosine.is_some());
        } else {
            scorer.score(&[&story]).unwrap();
        }
        scorer.tokens_read()
    };
    let uncalibrated = with_heads(model(), |criterion| criterion.calibration = None);
    assert!(read(&uncalibrated, false) < read(&model(), false));
    assert_eq!(read(&uncalibrated, true), read(&model(), true));
}

#[test]
fn without_a_calibration_the_outputs_of_the_heads_are_given() {
    let scorer =
        scorer_of(&with_heads(model(), |criterion| criterion.calibration = None), Precision::F32);
    let stories = stories();
    let all: Vec<&Story> = stories.iter().collect();
    for (predictions, raw) in scorer.score(&all).unwrap().iter().zip(scorer.raw(&all).unwrap()) {
        let outputs = raw.map_or(vec![Err(Unpredicted::NoWords); 2], |raw| {
            raw.outputs.iter().map(|x| Ok(Prediction { value: *x, interval: None })).collect()
        });
        assert_eq!(*predictions, outputs);
    }
}

/// The mean over windows, weighted by tokens, computed anew from the pieces that training uses.
#[test]
fn raw_outputs_are_the_mean_over_windows() {
    let model = model();
    let folder = tempfile::tempdir().unwrap();
    model.save(folder.path()).unwrap();
    let scorer = CriteriaScorer::load(folder.path(), Precision::F32).unwrap();
    let tokenizer = storymeter_encoder::Tokenizer::load(folder.path(), &model.config).unwrap();
    let encoder = storymeter_encoder::Model::from_tensors(
        model.config.clone(),
        &model.parameters,
        storymeter_encoder::Device::Cpu,
        Precision::F32,
    )
    .unwrap();
    let story = &stories()[9];
    let width = model.config.hidden;
    let mean = |windows: &[Vec<u32>]| {
        let batch = windows.iter().map(Vec::as_slice).collect();
        let outputs = storymeter_encoder::Outputs::new().pooled(storymeter_encoder::Pooling::Mean);
        let run = encoder.run(&batch, &outputs).unwrap();
        let tokens: usize = windows.iter().map(Vec::len).sum();
        let mut mean = vec![0.0; width];
        for (at, window) in windows.iter().enumerate() {
            let share = window.len() as f64 / tokens as f64;
            mean.iter_mut().zip(run.pooled(at)).for_each(|(sum, x)| *sum += share * f64::from(*x));
        }
        mean
    };
    let own = windows(&tokenizer, &model.card, story);
    assert!(own.len() > 3 && own.iter().all(|window| window.len() <= 24));
    let own_mean = mean(&own);
    let product = |rows: &[f32], vector: &[f64]| -> Vec<f64> {
        let row = |row: &[f32]| row.iter().zip(vector).map(|(w, x)| f64::from(*w) * x).sum();
        rows.chunks_exact(width).map(row).collect()
    };
    let raw = scorer.raw(&[story]).unwrap().remove(0).unwrap();
    let outputs = product(&model.heads.criteria, &own_mean);
    for ((raw, output), bias) in raw.outputs.iter().zip(outputs).zip(&model.heads.criteria_bias) {
        assert!((raw - output - f64::from(*bias)).abs() < 1e-9);
    }
    let similarities = model.sentences.unwrap().scorer(Precision::F32).unwrap();
    assert_eq!(raw.cosine, similarities.closeness(&[story]).unwrap()[0]);
    assert!(raw.cosine.is_some());
}

#[test]
fn a_file_predicts_exactly_like_its_folder_in_int8() {
    for grid in [None, Some(Grid { layers: 0.5, words: 0.5 })] {
        let mut model = model();
        model.card.grid = grid;
        let folder = tempfile::tempdir().unwrap();
        model.save(folder.path()).unwrap();
        let file = folder.path().join("tiny.smq");
        Model::load(folder.path()).unwrap().store(&file).unwrap();
        let [from_folder, from_file] =
            [folder.path(), &file].map(|path| CriteriaScorer::load(path, Precision::Int8).unwrap());
        assert_eq!(from_folder.signature().to_string(), from_file.signature().to_string());
        assert_eq!(score(&from_folder, &stories()), score(&from_file, &stories()));
        assert_eq!(from_file.criteria(), model.card.criteria.as_ref().unwrap());
        for path in [folder.path(), &file] {
            assert_eq!(Location::Path(path.to_owned()).kind().unwrap(), Kind::Criteria);
        }
    }
}

#[test]
fn the_fingerprint_covers_heads_sentence_encoder_and_calibration() {
    let encoder = repository("crates/storymeter-encoder/tests/fixtures/bert");
    let finer = SentenceModel::load_on(&encoder, None).unwrap();
    let prints = [
        model().fingerprint(),
        Model { heads: Heads { criteria_bias: vec![0.0; 2], ..model().heads }, ..model() }
            .fingerprint(),
        Model { sentences: None, ..model() }.fingerprint(),
        Model { sentences: Some(finer), ..model() }.fingerprint(),
        with_heads(model(), |criterion| criterion.calibration = None).fingerprint(),
        with_heads(model(), |criterion| {
            criterion.calibration.iter_mut().for_each(|own| own.residuals.clear());
        })
        .fingerprint(),
    ];
    for (place, print) in prints.iter().enumerate() {
        assert!(!prints[..place].contains(print), "{prints:?}");
    }
}

#[test]
fn a_model_file_can_get_another_calibration_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["first.smq", "second.smq"].map(|name| folder.path().join(name));
    with_heads(model(), |criterion| criterion.calibration = None).store(&first).unwrap();
    let stored = StoredModel::open(&first).unwrap();
    stored.store_with(model().card, &second).unwrap();
    let again = StoredModel::open(&second).unwrap();
    assert_ne!(again.fingerprint(), stored.fingerprint());
    let scorer = CriteriaScorer::from_stored(&again).unwrap();
    assert_eq!(
        score(&scorer, &stories()),
        score(&scorer_of(&model(), Precision::Int8), &stories())
    );
    let renamed = with_heads(model(), |criterion| criterion.name.push('2')).card;
    let error = stored.store_with(renamed, &second).unwrap_err().to_string();
    assert!(error.contains("only its calibration"), "{error}");
}

#[test]
fn a_model_of_another_kind_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    model().save(folder.path()).unwrap();
    let error = storymeter_union::UnionScorer::load(folder.path(), Precision::Int8).err().unwrap();
    assert_eq!(
        error.to_string(),
        "the model was trained for the metric \"criteria\", not for \"union\""
    );
    let mut union = model();
    (union.card.kind, union.card.criteria, union.sentences) = (Kind::Union, None, None);
    union.heads.score = random(9, union.config.hidden);
    union.save(folder.path()).unwrap();
    let error = CriteriaScorer::load(folder.path(), Precision::Int8).err().unwrap();
    assert!(matches!(error, Error::OtherKind { found: Kind::Union, wanted: Kind::Criteria }));
}

#[test]
fn a_folder_whose_parts_do_not_fit_is_refused() {
    let refused = |model: Model| {
        let folder = tempfile::tempdir().unwrap();
        let saved = model.save(folder.path());
        saved.and_then(|()| Model::load(folder.path()).map(|_| ())).unwrap_err().to_string()
    };
    let change = |card: fn(&mut Card)| {
        let mut model = model();
        model.heads.score = random(9, model.config.hidden);
        card(&mut model.card);
        refused(model)
    };
    let error = change(|card| card.pooling = Pooling::Cls);
    assert!(error.contains("pools by the mean"), "{error}");
    let error = change(|card| card.prompts = true);
    assert!(error.contains("reads the story alone"), "{error}");
    let error = change(|card| card.kind = Kind::Union);
    assert!(error.contains("has no criteria"), "{error}");
    let error = change(|card| card.criteria = None);
    assert!(error.contains("criteria is missing"), "{error}");
    let error = change(|card| card.criteria.iter_mut().for_each(|own| own.heads.truncate(1)));
    assert!(error.contains("criteria.weight"), "{error}");
    let error = refused(Model { sentences: None, ..model() });
    assert!(error.contains("the model has no sentence encoder"), "{error}");
    let error = change(|card| (card.kind, card.criteria) = (Kind::Union, None));
    assert!(error.contains("a model for union has no sentence encoder"), "{error}");
}

#[test]
fn a_damaged_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tiny.smq");
    model().store(&file).unwrap();
    let whole = std::fs::read(&file).unwrap();
    for length in [0, 7, 55, 200, whole.len() - 1] {
        std::fs::write(&file, &whole[..length]).unwrap();
        assert!(CriteriaScorer::load(&file, Precision::Int8).is_err());
        // Only the header says what the model is for, so a file that is cut later has a kind.
        let kind = Location::Path(file.clone()).kind();
        assert!(kind.is_err() || length > 200, "{length}");
    }
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() ^= 1;
    std::fs::write(&file, &changed).unwrap();
    let error = CriteriaScorer::load(&file, Precision::Int8).err().unwrap().to_string();
    assert!(error.contains("damaged"), "{error}");
}

/// A model that was also trained on damage keeps its score head, which other training can use.
#[test]
fn a_score_head_may_come_along() {
    let mut model = model();
    model.heads.score = random(9, model.config.hidden);
    let folder = tempfile::tempdir().unwrap();
    model.save(folder.path()).unwrap();
    assert_eq!(Model::load(folder.path()).unwrap().heads, model.heads);
    let without = self::model();
    without.save(folder.path()).unwrap();
    assert!(Model::load(folder.path()).unwrap().heads.score.is_empty());
}

#[test]
fn the_parts_of_sentences_add_up_to_the_prediction() {
    for model in [model(), with_heads(model(), |criterion| criterion.calibration = None)] {
        let scorer = scorer_of(&model, Precision::F32);
        let mut weighed = 0;
        for story in stories() {
            let explanation = scorer.explain(&story).unwrap();
            let predictions = scorer.score(&[&story]).unwrap().remove(0);
            for (place, own) in explanation.predictions.iter().enumerate() {
                assert_eq!(own.prediction, predictions[place].ok().map(|own| own.value));
                let (Some(base), Some(prediction)) = (own.base, own.prediction) else { continue };
                let sentences = explanation.sentences.iter();
                let parts: f64 = sentences.map(|one| one.contributions[place].unwrap()).sum();
                assert!((base + parts - prediction).abs() < 1e-5, "{base} {parts} {prediction}");
                weighed += 1;
            }
        }
        assert!(weighed > 15, "{weighed}");
    }
}

/// A sentence of n tokens whose tokens have the mean output m changes the mean M of N tokens by
/// n (m - M) / (N - n).
#[test]
fn an_effect_is_what_the_mean_would_lack_without_the_sentence() {
    let sentences = ["the kite was red.", "Mira lost it in the old barn.", "she looked."];
    let model = with_heads(model(), |criterion| criterion.calibration = None);
    let scorer = scorer_of(&model, Precision::F32);
    let story = story(&sentences.join(" "), None);
    let scorer = scorer.with_window(64).unwrap();
    let raw = scorer.raw(&[&story]).unwrap().remove(0).unwrap();
    let explanation = scorer.explain(&story).unwrap();
    let folder = tempfile::tempdir().unwrap();
    model.save(folder.path()).unwrap();
    let tokenizer = storymeter_encoder::Tokenizer::load(folder.path(), &model.config).unwrap();
    let tokens = |text: &str| tokenizer.tokenize(text).len() as f64;
    let all = tokens(&story.text) + 2.0;
    for (place, output) in raw.outputs.iter().enumerate() {
        let mean = output - f64::from(model.heads.criteria_bias[place]);
        for (text, own) in sentences.iter().zip(&explanation.sentences) {
            assert_eq!(&story.text[own.start..own.end], *text);
            let (count, part) = (tokens(text), own.contributions[place].unwrap() * all);
            let expected = (part - count * mean) / (all - count);
            assert!((own.effects[place].unwrap() - expected).abs() < 1e-5, "{own:?} {expected}");
        }
        let effect = |own: &Option<StrongestSentence>| own.as_ref().map(|own| own.effect);
        let effects = explanation.sentences.iter().map(|own| own.effects[place].unwrap());
        let largest = effects.clone().fold(f64::MIN, f64::max);
        let smallest = effects.fold(f64::MAX, f64::min);
        let own = &explanation.predictions[place];
        assert_eq!(effect(&own.raises), Some(largest).filter(|by| *by > 0.0));
        assert_eq!(effect(&own.lowers), Some(smallest).filter(|by| *by < 0.0));
    }
}

#[test]
fn what_cannot_be_explained_is_left_out() {
    let scorer = scorer_of(&model(), Precision::Int8);
    let explain = |text: &str| scorer.explain(&story(text, None)).unwrap();
    let empty = explain("");
    assert!(empty.sentences.is_empty());
    assert!(empty.predictions.iter().all(|own| own.absent == Some("the text has no words")));
    let one = explain("the kite was red.");
    assert!(one.sentences.is_empty() && one.predictions[1].raises.is_none());
    let two = explain("the kite was red. she lost it.");
    assert_eq!(two.predictions[0].absent, Some("the story has no prompt"));
    assert_eq!(two.sentences[0].effects[0], None);
    assert!(two.sentences[0].effects[1].is_some());
    assert!(two.predictions[1].raises.is_some() || two.predictions[1].lowers.is_some());
}

/// Masked names and joined words have other lengths than what the user wrote.
#[test]
fn sentences_are_quoted_as_the_user_wrote_them() {
    let mut model = model();
    model.card.delexicalise = true;
    let scorer = scorer_of(&model, Precision::Int8);
    let text =
        "Susan did n\u{2019}t see the kite. \u{201c}Robert lost it\u{2026}\u{201d} she said.";
    let explanation = scorer.explain(&story(text, None)).unwrap();
    let quoted: Vec<&str> =
        explanation.sentences.iter().map(|own| &text[own.start..own.end]).collect();
    assert_eq!(quoted.concat().replace(' ', ""), text.replace(' ', ""));
    assert!(quoted.len() >= 2 && quoted[0].ends_with("kite."), "{quoted:?}");
}

#[test]
fn fifty_thousand_words_are_read_whole() {
    let scorer = scorer_of(&model(), Precision::Int8);
    let long = story(&"the kite was red and Mira lost it. ".repeat(6250), Some("a kite"));
    let raw = scorer.raw(&[&long]).unwrap().remove(0).unwrap();
    assert!(raw.windows > 1000, "{}", raw.windows);
    let predictions = score(&scorer, std::slice::from_ref(&long)).remove(0);
    assert!(predictions.iter().all(Result::is_ok));
    let explanation = scorer.explain(&long).unwrap();
    assert_eq!(explanation.sentences.len(), 6250);
    assert_eq!(explanation.predictions[0].prediction, predictions[0].ok().map(|own| own.value));
    let one_sentence = story(&"kite ".repeat(50_000), None);
    assert!(score(&scorer, &[one_sentence])[0][1].is_ok());
}

#[test]
fn an_average_has_the_mean_heads_and_no_calibration() {
    let [mut one, mut two] = [model(), model()];
    one.heads.criteria_bias = vec![1.0, 2.0];
    two.heads.criteria_bias = vec![3.0, -2.0];
    let mean = Model::average(&[one.clone(), two]).unwrap();
    assert_eq!(mean.heads.criteria, one.heads.criteria);
    assert_eq!(mean.heads.criteria_bias, [2.0, 0.0]);
    assert_eq!(mean.sentences, one.sentences);
    let criteria = mean.card.criteria.unwrap();
    assert_eq!(criteria.names().collect::<Vec<_>>(), ["relevance", "coherence"]);
    assert!(criteria.heads.iter().all(|criterion| criterion.calibration.is_none()));

    let renamed = with_heads(model(), |criterion| criterion.name.push('2'));
    let error = Model::average(&[one.clone(), renamed]).unwrap_err().to_string();
    assert!(error.contains("different heads"), "{error}");
    let without = Model { sentences: None, ..model() };
    let error = Model::average(&[one, without]).unwrap_err().to_string();
    assert!(error.contains("different sentence encoders"), "{error}");
}

#[test]
fn a_window_changes_the_signature_and_must_fit_the_encoder() {
    let scorer = || scorer_of(&model(), Precision::Int8);
    let signature = scorer().with_window(16).unwrap().signature().to_string();
    assert!(signature.starts_with("criteria|model:unnamed|weights:"), "{signature}");
    assert!(signature.ends_with("|text:normalised|names:kept|window:16"), "{signature}");
    assert!(matches!(scorer().with_window(4), Err(Error::Window { tokens: 4, .. })));
}

#[test]
fn the_embedded_model_is_whole_or_its_absence_is_explained() {
    let loaded = CriteriaScorer::embedded();
    if EmbeddedModel::Criteria.is_included() {
        let stored = StoredModel::embedded_model(EmbeddedModel::Criteria).unwrap();
        assert_eq!(stored.card().about.name, "criteria");
        // Loading does not compare its checksum; opening the file does.
        let file = repository("models/criteria.smq");
        assert_eq!(StoredModel::open(&file).unwrap().fingerprint(), stored.fingerprint());
        let names: Vec<String> = loaded.unwrap().criteria().names().map(str::to_owned).collect();
        assert_eq!(names.last().map(String::as_str), Some("overall"));
    } else if let Err(error) = loaded {
        assert!(matches!(&error, Error::MissingModel { name, .. } if name == "criteria"));
        assert!(error.to_string().contains("criteria.smq is not in "), "{error}");
    }
}

#[cfg(feature = "cuda")]
#[test]
#[ignore = "needs a GPU"]
fn a_gpu_predicts_like_the_cpu() {
    let folder = tempfile::tempdir().unwrap();
    model().save(folder.path()).unwrap();
    let on_cpu = score(&CriteriaScorer::load(folder.path(), Precision::Int8).unwrap(), &stories());
    let int8 = CriteriaScorer::load_on_gpu(folder.path(), 0, GpuPrecision::Int8).unwrap();
    assert_eq!(score(&int8, &stories()), on_cpu);
    let exact = score(&CriteriaScorer::load(folder.path(), Precision::F32).unwrap(), &stories());
    let f32 = CriteriaScorer::load_on_gpu(folder.path(), 0, GpuPrecision::F32).unwrap();
    for (own, expected) in score(&f32, &stories()).iter().flatten().zip(exact.iter().flatten()) {
        match (own, expected) {
            (Ok(own), Ok(expected)) => assert!((own.value - expected.value).abs() < 1e-4),
            (own, expected) => assert_eq!(own, expected),
        }
    }
}
