//! Scores stories with a tiny model that has random weights. Its scores mean nothing, but they must
//! always be the same.

use std::path::{Path, PathBuf};

use storymeter_core::Story;
use storymeter_encoder::{Config, Stream, load_parameters};
#[cfg(feature = "cuda")]
use storymeter_union::GpuPrecision;
use storymeter_union::{
    Card, DamageCalibration, Error, Explanation, Heads, Model, Pooling, Precision, Reconstruction,
    StoredModel, UnionScorer,
};

/// The path of a file of the repository. It is also found if the test was built on another machine
/// and runs in the root of the repository.
pub fn repository(file: &str) -> PathBuf {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if built.exists() { built.join(file) } else { PathBuf::from(file) }
}

/// The folder of a fixture of the encoder: two layers and a few dozen words.
fn encoder_folder(name: &str) -> PathBuf {
    repository("crates/storymeter-encoder/tests/fixtures").join(name)
}

fn random(seed: u64, count: usize) -> Vec<f32> {
    let stream = Stream::new(seed);
    (0..count as u64).map(|i| stream.normal(i)).collect()
}

/// Writes the tiny model with this card into a folder.
pub fn write_model(folder: &Path, card: Card) {
    write_model_of("bert", folder, card);
}

fn write_model_of(encoder: &str, folder: &Path, card: Card) {
    let encoder = encoder_folder(encoder);
    let config = Config::load(&encoder).unwrap();
    let parameters = load_parameters(&encoder, &config).unwrap();
    let (hidden, vocabulary) = (config.hidden, config.vocabulary);
    let heads = Heads {
        score: random(1, hidden),
        score_bias: 0.1,
        diagnosis: random(2, 4 * hidden),
        diagnosis_bias: random(3, 4),
        reconstruction: if card.reconstruction == Reconstruction::Own {
            random(4, vocabulary * hidden)
        } else {
            vec![]
        },
        reconstruction_bias: random(5, vocabulary),
        ..Heads::default()
    };
    let tokenizer_files = vec![("vocab.txt", std::fs::read(encoder.join("vocab.txt")).unwrap())];
    Model { config, parameters, heads, card, tokenizer_files, sentences: None }
        .save(folder)
        .unwrap();
}

pub fn card() -> Card {
    Card { max_tokens: 24, reconstruction: Reconstruction::Own, ..Card::default() }
}

fn scorer_with(card: Card, precision: Precision) -> UnionScorer {
    let folder = tempfile::tempdir().unwrap();
    write_model(folder.path(), card);
    UnionScorer::load(folder.path(), precision).unwrap()
}

pub fn story(text: &str) -> Story {
    Story { text: text.into(), ..Story::default() }
}

/// The stories that have a letter or digit, so that the model scores them.
fn with_words(stories: &[Story]) -> Vec<&Story> {
    stories.iter().filter(|story| story.text.contains(char::is_alphanumeric)).collect()
}

pub fn stories() -> Vec<Story> {
    let mut stories: Vec<Story> = (1..12).map(|n| story(&"the kite was red. ".repeat(n))).collect();
    stories.push(story(""));
    stories.push(story("?"));
    stories.push(story(&"kite ".repeat(300)));
    stories[3].prompt = Some("The baker lost the kite.".into());
    stories
}

#[test]
fn scores_are_the_same_bits_for_any_batch_order_and_number_of_threads() {
    for precision in [Precision::F32, Precision::Int8] {
        for pooling in [Pooling::Cls, Pooling::Mean] {
            let scorer = scorer_with(Card { pooling, ..card() }, precision);
            let stories = stories();
            let all: Vec<&Story> = stories.iter().collect();
            let together = scorer.score(&all).unwrap();
            for (story, expected) in all.iter().zip(&together) {
                assert_eq!(scorer.score(&[story]).unwrap()[0], *expected);
            }
            let reversed: Vec<&Story> = all.iter().rev().copied().collect();
            let mut backwards = scorer.score(&reversed).unwrap();
            backwards.reverse();
            assert_eq!(backwards, together);
            let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            assert_eq!(one.install(|| scorer.score(&all).unwrap()), together);
        }
    }
}

#[test]
fn every_story_gets_a_probability_even_an_empty_one() {
    let scorer = scorer_with(card(), Precision::Int8);
    let stories = stories();
    let scores = scorer.score(&stories.iter().collect::<Vec<_>>()).unwrap();
    assert!(scores.iter().all(|score| (0.0..=1.0).contains(&score.probability)));
    let damage: Vec<f64> = scores.iter().filter_map(|score| score.damage).flatten().collect();
    assert_eq!(damage.len(), 4 * with_words(&stories).len());
    assert!(damage.iter().all(|p| (0.0..=1.0).contains(p)));
    assert_eq!(scores[0].windows, 1);
    assert!(scores.last().unwrap().windows > 10);
}

#[test]
fn calibration_moves_the_probability_and_not_the_order() {
    let plain = scorer_with(card(), Precision::F32);
    let cool = scorer_with(Card { temperature: 3.0, bias: 0.5, ..card() }, Precision::F32);
    let stories = stories();
    let all = with_words(&stories);
    let (a, b) = (plain.score(&all).unwrap(), cool.score(&all).unwrap());
    for (a, b) in a.iter().zip(&b) {
        assert_eq!(a.logit, b.logit);
        assert_eq!(b.probability, 1.0 / (1.0 + (-(b.logit - 0.5) / 3.0).exp()));
    }
}

/// A card whose repetition output counts the word pairs that two sentences have in common.
fn counting_card() -> Card {
    let mut card = card();
    card.diagnosis_calibration[0] = DamageCalibration { scale: 0.5, overlap: 4.0, bias: -1.0 };
    card
}

#[test]
fn the_diagnosis_is_the_sigmoid_of_the_logits_until_it_is_calibrated() {
    let (plain, counting) =
        (scorer_with(card(), Precision::F32), scorer_with(counting_card(), Precision::F32));
    let stories = stories();
    let all = with_words(&stories);
    let sigmoid = |z: f64| 1.0 / (1.0 + (-z).exp());
    for (a, b) in plain.score(&all).unwrap().iter().zip(&counting.score(&all).unwrap()) {
        let (logits, found) = (a.damage_logits.unwrap(), b.damage.unwrap());
        assert_eq!(a.damage.unwrap(), logits.map(sigmoid));
        assert_eq!(a.probability, b.probability, "the score does not count it");
        assert_eq!(found[1..], a.damage.unwrap()[1..], "nor do the other outputs");
        assert_eq!(found[0], sigmoid(0.5 * logits[0] + 4.0 * b.overlap - 1.0));
    }
}

#[test]
fn a_repeated_sentence_raises_the_repetition_output_of_a_calibrated_model() {
    let scorer = scorer_with(Card { max_tokens: 64, ..counting_card() }, Precision::F32);
    let once = "Mira lost her red kite. The baker burned the bread.";
    let [once, twice] =
        [once.to_owned(), format!("{once} Mira lost her red kite.")].map(|text| story(&text));
    let scores = scorer.score(&[&once, &twice]).unwrap();
    assert_eq!([scores[0].overlap, scores[1].overlap], [0.0, 1.0]);
    let repetition =
        |example: &Story| scorer.explain(example).unwrap().diagnosis.unwrap().repetition;
    assert!(repetition(&twice) > repetition(&once));
    assert_eq!(repetition(&twice), scores[1].damage.unwrap()[0]);
}

#[test]
fn a_long_story_s_overlap_is_the_mean_of_its_windows() {
    let scorer = scorer_with(card(), Precision::F32);
    let fresh = "Mira lost her red kite. The baker burned the bread.";
    let all_again = scorer.score(&[&story(&"the kite was red. ".repeat(30))]).unwrap()[0];
    assert!(all_again.windows > 3);
    assert_eq!(all_again.overlap, 1.0);
    let some_again =
        scorer.score(&[&story(&format!("{fresh} {}", "the kite was red. ".repeat(6)))]).unwrap()[0];
    assert!(
        some_again.windows > 1 && some_again.overlap > 0.0 && some_again.overlap < 1.0,
        "{some_again:?}"
    );
}

#[test]
fn a_card_from_before_the_diagnosis_was_calibrated_is_read_and_written_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    write_model(folder.path(), card());
    let path = folder.path().join("storymeter.json");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("diagnosis_calibration"));
    let plain = Model::load(folder.path()).unwrap();
    assert_eq!(plain.card.diagnosis_calibration, [DamageCalibration::default(); 4]);

    write_model(folder.path(), counting_card());
    let counting = Model::load(folder.path()).unwrap();
    assert_eq!(counting.card.diagnosis_calibration, counting_card().diagnosis_calibration);
    assert_ne!(counting.fingerprint(), plain.fingerprint(), "other outputs, another name");

    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"scale\": 0.5", "\"scale\": 1e999")).unwrap();
    let error = Model::load(folder.path()).unwrap_err().to_string();
    assert!(error.contains("storymeter.json"), "{error}");
}

#[test]
fn a_model_file_takes_another_calibration_under_another_fingerprint_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let card = Card { reconstruction: Reconstruction::None, ..card() };
    write_model(folder.path(), card.clone());
    let [file, again] = ["tiny.smq", "again.smq"].map(|name| folder.path().join(name));
    Model::load(folder.path()).unwrap().store(&file).unwrap();
    let stored = StoredModel::open(&file).unwrap();
    let calibrated =
        Card { diagnosis_calibration: counting_card().diagnosis_calibration, ..card.clone() };
    stored.store_with(calibrated.clone(), &again).unwrap();
    let changed = StoredModel::open(&again).unwrap();
    assert_eq!(changed.card(), &calibrated);
    assert_ne!(changed.fingerprint(), stored.fingerprint());
    assert_ne!(
        UnionScorer::from_stored(&changed).unwrap().signature().to_string(),
        UnionScorer::from_stored(&stored).unwrap().signature().to_string()
    );
    let error =
        stored.store_with(Card { normalise: true, ..card }, &again).unwrap_err().to_string();
    assert!(
        error.contains("only its calibration, window and description can be changed"),
        "{error}"
    );
}

#[test]
fn a_word_over_and_over_costs_what_the_card_says_and_an_ordinary_story_nothing() {
    let scores = |repetition| {
        let scorer = scorer_with(Card { repetition, ..card() }, Precision::F32);
        let example = story(&"kite ".repeat(300));
        let scores = scorer.score(&[&example, &story("the kite was red.")]).unwrap();
        assert_eq!(
            scorer.explain(&example).unwrap().repetition_cost,
            repetition * scores[0].repeated
        );
        scores
    };
    let (free, dear) = (scores(0.0), scores(3.0));
    assert!(dear[0].repeated > 0.6 && dear[0].probability < free[0].probability);
    assert_eq!(dear[0].logit, free[0].logit);
    assert_eq!(dear[1], free[1]);
}

#[test]
fn a_story_without_a_word_scores_nothing() {
    let scorer = scorer_with(Card { prompts: true, ..card() }, Precision::F32);
    let with_prompt = Story { prompt: Some("The baker lost the kite.".into()), ..Story::default() };
    for nothing in
        [story(""), story(" \n\t "), with_prompt, story("?"), story("... ***"), story("😀")]
    {
        let score = scorer.score(&[&nothing]).unwrap()[0];
        assert_eq!((score.probability, score.damage), (0.0, None), "{:?}", nothing.text);
        assert_eq!(scorer.explain(&nothing).unwrap().diagnosis, None);
    }
    for something in [story("a"), story("...7"), story("鳥")] {
        let score = scorer.score(&[&something]).unwrap()[0];
        assert!(score.probability > 0.0 && score.damage.is_some(), "{:?}", something.text);
    }
}

#[test]
fn windows_of_another_size_are_another_reading_of_long_stories_alone() {
    let scorer = |tokens| scorer_with(card(), Precision::F32).with_window(tokens);
    let (long, short) = (story(&"the kite was red. ".repeat(9)), story("the kite was red."));
    let scores = |tokens: usize| scorer(tokens).unwrap().score(&[&long, &short]).unwrap();
    let (wide, narrow) = (scores(24), scores(12));
    assert!(narrow[0].windows > wide[0].windows && narrow[0].logit != wide[0].logit);
    assert_eq!(narrow[1], wide[1]);
    assert!(scorer(12).unwrap().signature().to_string().contains("window:12"));
    let error = scorer(10_000).err().unwrap().to_string();
    assert_eq!(error, "a window of 10000 tokens is not possible: the encoder reads 8 to 96");
}

#[test]
fn the_signature_names_the_instruction_set_only_where_it_can_change_a_score() {
    let signature = |precision| scorer_with(card(), precision).signature();
    assert_eq!(signature(Precision::Int8).get("isa"), None);
    assert!(signature(Precision::F32).get("isa").is_some());
    assert_eq!(signature(Precision::Int8).get("precision"), Some("int8"));
    let text = signature(Precision::Int8).to_string();
    let (_, after) = text.split_once("|precision:").unwrap();
    assert_eq!(after, "int8|text:as-is|names:kept|prompt:left-out|window:24");
}

#[test]
fn a_model_trained_without_prompts_does_not_read_them() {
    let scorer = scorer_with(card(), Precision::F32);
    let without = story("the kite was red.");
    let with = Story { prompt: Some("The baker lost the kite.".into()), ..without.clone() };
    assert_eq!(scorer.score(&[&with]).unwrap(), scorer.score(&[&without]).unwrap());
    assert!(scorer.signature().to_string().contains("prompt:left-out"));
}

#[test]
fn a_model_trained_with_prompts_reads_them_before_the_story() {
    let scorer = scorer_with(Card { prompts: true, ..card() }, Precision::F32);
    let mut with = story("the kite was red.");
    let without = scorer.score(&[&with]).unwrap()[0];
    with.prompt = Some("The baker lost the kite.".into());
    assert_ne!(scorer.score(&[&with]).unwrap()[0].logit, without.logit);
    // The prompt is not read twice if the story begins with it.
    let whole = story("The baker lost the kite. the kite was red.");
    let again = Story { prompt: Some("The baker lost the kite.".into()), ..whole.clone() };
    assert_eq!(scorer.score(&[&whole]).unwrap(), scorer.score(&[&again]).unwrap());
}

#[test]
fn masked_names_make_names_alike() {
    let scorer = scorer_with(Card { delexicalise: true, ..card() }, Precision::F32);
    let scores =
        scorer.score(&[&story("Robert lost the kite."), &story("Michael lost the kite.")]).unwrap();
    assert_eq!(scores[0], scores[1]);
}

#[test]
fn an_explanation_points_into_the_text() {
    let mut edits = 0;
    for reconstruction in [Reconstruction::Own, Reconstruction::Tied, Reconstruction::None] {
        let scorer = scorer_with(Card { reconstruction, ..card() }, Precision::F32);
        let text = "Mira lost her red kite. The kite was red. The baker burned the bread. \
                    The kite was red.";
        let explanation = scorer.explain(&story(text)).unwrap();
        assert_eq!(explanation.text, text);
        assert_eq!(explanation.union, scorer.score(&[&story(text)]).unwrap()[0].probability);
        assert_eq!(explanation.sentences.len(), 4);
        edits += explanation.edits.len();
        for edit in &explanation.edits {
            assert_eq!(&text[edit.start..edit.end], edit.text);
            assert!(edit.probability > 0.0 && edit.probability <= 1.0);
            assert_ne!(edit.suggestion, edit.text.to_lowercase());
        }
        assert!(explanation.edits.is_sorted_by_key(|edit| edit.start));
        assert!(reconstruction != Reconstruction::None || explanation.edits.is_empty());
    }
    assert!(edits > 0, "some edits were compared");
}

#[test]
fn a_sentence_s_share_is_what_leaving_it_out_changes() {
    let scorer = scorer_with(card(), Precision::F32);
    let explanation =
        scorer.explain(&story("the kite was red. The baker burned the bread.")).unwrap();
    let rest = scorer.score(&[&story("The baker burned the bread.")]).unwrap()[0];
    assert_eq!(explanation.sentences[0].contribution, Some(explanation.logit - rest.logit));
}

/// A story with this number of sentences, which are of four kinds in a changing order.
fn long_story(sentences: usize) -> Story {
    let kinds = [
        "the kite was red. ",
        "She looked in the old barn. ",
        "Ana said no. ",
        "It hung there again. ",
    ];
    story(&(0..sentences).map(|n| kinds[n * n / 3 % 4]).collect::<String>())
}

/// Does some work, and returns its result and the number of tokens that the scorer read for it.
fn tokens_of<T>(scorer: &UnionScorer, work: impl FnOnce() -> Result<T, Error>) -> (T, u64) {
    let before = scorer.tokens_read();
    (work().unwrap(), scorer.tokens_read() - before)
}

#[test]
fn explaining_a_long_story_reads_no_more_than_twice_what_its_score_takes() {
    let scorer =
        scorer_with(Card { reconstruction: Reconstruction::None, ..card() }, Precision::Int8);
    let long = long_story(12_000);
    let (score, once) = tokens_of(&scorer, || scorer.score(&[&long]));
    let (explanation, bounded) = tokens_of(&scorer, || scorer.explain(&long));
    let (full, unbounded) = tokens_of(&scorer, || scorer.explain_every_sentence(&long));
    assert!(once > 1 << 16, "longer than what is always read again: {once}");
    // The pairs of neighbours of one window are read as well, if the score is low.
    let pairs = 4 * card().max_tokens as u64;
    assert!(bounded > once + once * 9 / 10 && bounded <= 2 * once + pairs, "{bounded} of {once}");
    // Each window is read again without each of its four sentences.
    assert!(unbounded > 3 * once && unbounded < 5 * once, "{unbounded} of {once}");
    assert_eq!(explanation.union, score[0].probability);
    // The sentences that were weighed have the same contributions in both explanations.
    let mut weighed = explanation
        .sentences
        .iter()
        .zip(&full.sentences)
        .filter(|(bounded, _)| bounded.contribution.is_some());
    assert!(weighed.clone().count() > 2_000);
    assert!(weighed.all(|(bounded, full)| bounded == full));
    assert!(full.sentences.iter().all(|sentence| sentence.contribution.is_some()));
}

#[test]
fn every_sentence_of_a_story_is_weighed_until_it_is_very_long() {
    let scorer = scorer_with(card(), Precision::Int8);
    for sentences in [2, 4, 40, 800] {
        let example = long_story(sentences);
        let (one, all) =
            (scorer.explain(&example).unwrap(), scorer.explain_every_sentence(&example).unwrap());
        // They differ only in how many sentences are shown to people.
        assert!(!one.every_sentence && all.every_sentence);
        assert_eq!(Explanation { every_sentence: true, ..one.clone() }, all);
        assert!(one.sentences.iter().all(|sentence| sentence.contribution.is_some()));
    }
    // Two sentences of 5 and 7 tokens stand between [CLS] and [SEP], and each is left out once.
    let (_, tokens) = tokens_of(&scorer, || {
        scorer.explain(&story("the kite was red. She looked in the old barn."))
    });
    assert_eq!(tokens, 14 + 9 + 7);
}

/// The example stories of the repository, and those of this file.
#[cfg(feature = "cuda")]
fn stories_to_compare() -> Vec<Story> {
    let text = std::fs::read_to_string(repository("examples/stories.jsonl")).unwrap();
    let line = |line: &str| -> Story {
        let fields: serde_json::Value = serde_json::from_str(line).unwrap();
        story(fields["story"].as_str().unwrap())
    };
    text.lines().map(line).chain(stories()).collect()
}

/// In int8 not a bit may differ: together, one by one, and explained.
#[test]
#[cfg(feature = "cuda")]
#[ignore = "needs an NVIDIA GPU; run with --ignored"]
fn a_gpu_gives_the_cpus_int8_scores_of_the_embedded_model_byte_for_byte() {
    let stored = StoredModel::embedded().unwrap();
    let gpu = UnionScorer::from_stored_on_gpu(&stored, 0, GpuPrecision::default()).unwrap();
    let cpu = UnionScorer::from_stored(&stored).unwrap();
    let stories = stories_to_compare();
    let all: Vec<&Story> = stories.iter().collect();
    let (expected, found) = (cpu.score(&all).unwrap(), gpu.score(&all).unwrap());
    let pairs = || expected.iter().zip(&found);
    let largest = pairs().map(|(a, b)| (a.probability - b.probability).abs()).fold(0f64, f64::max);
    let differing = pairs().filter(|(a, b)| a != b).count();
    println!("{} stories, {differing} scores differ, {largest:.2e} at most", all.len());
    assert_eq!(expected, found);
    assert_eq!(gpu.score(&all[..1]).unwrap()[0], found[0], "alone as among others");
    assert_eq!(gpu.explain(all[0]).unwrap(), cpu.explain(all[0]).unwrap());
    assert!(gpu.signature().to_string().contains("int8"), "{}", gpu.signature());
}

/// Compares the model that the environment variable `STORYMETER_MODEL` names, or else a fixture.
#[test]
#[cfg(feature = "cuda")]
#[ignore = "needs an NVIDIA GPU; run with --ignored"]
fn a_gpu_scores_the_example_stories_as_the_cpu_does() {
    let stories = stories_to_compare();
    let all: Vec<&Story> = stories.iter().collect();
    let own = std::env::var_os("STORYMETER_MODEL").map(PathBuf::from);
    for pooling in [Pooling::Cls, Pooling::Mean] {
        let temporary = tempfile::tempdir().unwrap();
        let folder = own.as_deref().unwrap_or(temporary.path());
        if own.is_none() {
            write_model_of("distilbert", folder, Card { pooling, ..card() });
            // Smaller weights make scores like those of a calibrated model, which are rarely 0 or
            // 1.
            let mut model = Model::load(folder).unwrap();
            model.heads.score.iter_mut().for_each(|weight| *weight *= 0.1);
            model.save(folder).unwrap();
        }
        let cpu = UnionScorer::load(folder, Precision::F32).unwrap().score(&all).unwrap();
        let int8 = UnionScorer::load_on_gpu(folder, 0, GpuPrecision::Int8).unwrap();
        let expected = UnionScorer::load(folder, Precision::Int8).unwrap().score(&all).unwrap();
        assert_eq!(int8.score(&all).unwrap(), expected, "{pooling:?}, int8");
        // bf16 has three bits less than f16. PyTorch's autocast, too, is off by 3e-3 on a MiniLM
        // with a random head.
        let all_of_them =
            [(GpuPrecision::F32, 1e-5), (GpuPrecision::F16, 2e-3), (GpuPrecision::Bf16, 1e-2)];
        for (precision, tolerance) in all_of_them {
            let scorer = UnionScorer::load_on_gpu(folder, 0, precision).unwrap();
            let gpu = scorer.score(&all).unwrap();
            assert_eq!(scorer.score(&all).unwrap(), gpu, "the same stories, the same bytes");
            let far = |found: &[storymeter_union::Score]| {
                assert_eq!(found.len(), cpu.len());
                let differences =
                    cpu.iter().zip(found).map(|(a, b)| (a.probability - b.probability).abs());
                differences.fold(0f64, f64::max)
            };
            let alone: Vec<_> =
                all.iter().map(|story| scorer.score(&[story]).unwrap()[0]).collect();
            let (together, alone) = (far(&gpu), far(&alone));
            println!(
                "{pooling:?}, {precision:?}: largest difference {together:.2e}, one by one {alone:.2e}"
            );
            assert!(together < tolerance && alone < tolerance);
            let explained = scorer.explain(all[0]).unwrap();
            assert!((explained.union - cpu[0].probability).abs() < tolerance);
            if own.is_none() {
                // The weights of a model file are rounded to eight bits.
                let model = Model::load(folder).unwrap();
                let file = folder.join("tiny.smq");
                Model {
                    card: Card { reconstruction: Reconstruction::Tied, ..model.card.clone() },
                    ..model
                }
                .store(&file)
                .unwrap();
                let from_file =
                    UnionScorer::load_on_gpu(&file, 0, precision).unwrap().score(&all).unwrap();
                println!("  from a model file: largest difference {:.2e}", far(&from_file));
                assert!(far(&from_file) < 5e-2);
            }
        }
    }
}
