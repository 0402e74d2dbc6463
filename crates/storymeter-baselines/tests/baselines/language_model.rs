//! Fine-tunes tiny language models, and reads what was saved.

use std::path::{Path, PathBuf};

use storymeter_baselines::fine_tune::{CHECKPOINT, Event};
use storymeter_baselines::folder::RECORD;
use storymeter_baselines::language_model::{Settings, Training, train};
use storymeter_baselines::{Device, Error};
use storymeter_core::Story;
use storymeter_encoder::{Batch, Config, Model, Outputs, Parameters, Precision};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../storymeter-encoder/tests/fixtures").join(name)
}

/// Writes a model of two small layers with random weights, which reads the bytes of a text.
fn write_tiny(folder: &Path, model_type: &str) {
    let fields = match model_type {
        "gpt2" => serde_json::json!({
            "model_type": "gpt2", "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 128,
            "vocab_size": 257,
        }),
        _ => serde_json::json!({
            "model_type": model_type, "hidden_size": 32, "num_hidden_layers": 2,
            "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 64,
            "max_position_embeddings": 128, "vocab_size": 257,
        }),
    };
    let config = Config::from_fields(fields.as_object().cloned().unwrap(), folder.into()).unwrap();
    let weights = Parameters::random(&config, 5).into_language_model(&config);
    std::fs::write(folder.join("config.json"), config.to_bytes(folder).unwrap()).unwrap();
    std::fs::write(folder.join("model.safetensors"), weights.to_bytes(folder).unwrap()).unwrap();
    for name in ["vocab.json", "merges.txt"] {
        std::fs::copy(fixture("gpt2").join(name), folder.join(name)).unwrap();
    }
}

/// Stories that say the same things in different orders.
fn stories(count: usize) -> Vec<Story> {
    let who = ["The baker", "Mira", "The old dog", "A sailor"];
    let did = ["burned the bread", "lost a red kite", "slept all day", "found the map"];
    let then = ["Nobody was angry.", "It rained.", "The end came soon."];
    let story =
        |i: usize| Story::from(&*format!("{} {}. {}", who[i % 4], did[i / 4 % 4], then[i / 3 % 3]));
    (0..count).map(story).collect()
}

fn settings() -> Settings {
    Settings { epochs: 3, learning_rate: 3e-3, stories_a_batch: 4, ..Settings::default() }
}

fn fine_tune(init: &Path, out: &Path, settings: &Settings, resume: bool) -> Vec<f64> {
    let stories = stories(60);
    let training = Training { stories: &stories, init, out, settings, device: Device::Cpu, resume };
    let reports = train(&training, &mut |_| Ok(())).unwrap();
    reports.iter().map(|report| report.dev.loss).collect()
}

/// The mean surprise per token of stories that were not trained on.
fn surprise(folder: &Path) -> f64 {
    let model = Model::open(folder, Default::default(), Precision::F32).unwrap();
    let tokenizer = model.tokenizer().unwrap();
    let (mut sum, mut count) = (0.0, 0);
    for text in ["A sailor burned the bread. It rained.", "Mira slept all day. It rained."] {
        let mut ids: Vec<u32> = tokenizer.bos().into_iter().collect();
        ids.extend(tokenizer.encode_plain(text));
        let batch: Batch = [ids.as_slice()].into_iter().collect();
        let run = model.run(&batch, &Outputs::new().likelihoods()).unwrap();
        sum -= run.likelihoods(0).iter().map(|x| f64::from(*x)).sum::<f64>();
        count += run.likelihoods(0).len();
    }
    sum / count as f64
}

#[test]
fn a_model_is_less_surprised_by_such_stories_after_training_than_before() {
    for model_type in ["gpt2", "llama", "qwen2", "mistral"] {
        let (init, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write_tiny(init.path(), model_type);
        let losses = fine_tune(init.path(), out.path(), &settings(), false);
        let (before, after) = (surprise(init.path()), surprise(out.path()));
        assert!((before - 257f64.ln()).abs() < 0.2, "{model_type}: untrained: {before}");
        assert!(after < 0.7 * before, "{model_type}: {before} before, {after} after");
        assert!(losses.is_sorted_by(|a, b| a > b), "{model_type}: {losses:?}");
        let record = std::fs::read_to_string(out.path().join(RECORD)).unwrap();
        let record: serde_json::Value = serde_json::from_str(&record).unwrap();
        assert_eq!(record["kind"], "language-model");
        assert_eq!((&record["stories_cut"], &record["stories_left_out"]), (&0.into(), &0.into()));
        let dev = &record["epochs"][2]["dev"];
        let perplexity = dev["figures"]["perplexity"].as_f64().unwrap();
        assert!((perplexity.ln() - dev["loss"].as_f64().unwrap()).abs() < 1e-9);
        let config = std::fs::read_to_string(out.path().join("config.json")).unwrap();
        let config: serde_json::Value = serde_json::from_str(&config).unwrap();
        let class = match model_type {
            "gpt2" => "GPT2LMHeadModel",
            "llama" => "LlamaForCausalLM",
            "qwen2" => "Qwen2ForCausalLM",
            _ => "MistralForCausalLM",
        };
        assert_eq!(config["architectures"][0], class);
        assert_eq!(config["tie_word_embeddings"], true);
    }
}

#[test]
fn a_run_ends_with_the_same_bytes_for_any_threads_and_after_an_interruption() {
    let init = tempfile::tempdir().unwrap();
    write_tiny(init.path(), "gpt2");
    let model = |out: &Path| std::fs::read(out.join("model.safetensors")).unwrap();
    let with_threads = |threads: usize| {
        let out = tempfile::tempdir().unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fine_tune(init.path(), out.path(), &settings(), false));
        model(out.path())
    };
    let whole = with_threads(1);
    assert!(whole == with_threads(3), "three threads differ from one");

    let (out, stories, settings) = (tempfile::tempdir().unwrap(), stories(60), settings());
    let training = Training {
        stories: &stories,
        init: init.path(),
        out: out.path(),
        settings: &settings,
        device: Device::Cpu,
        resume: false,
    };
    let stop = train(&training, &mut |event| match event {
        Event::Epoch(_) => {
            let path = "somewhere".into();
            Err(Error::Model { path, problem: "stopped".into() })
        }
        _ => Ok(()),
    });
    assert!(stop.is_err());
    assert!(out.path().join(CHECKPOINT).exists());
    assert!(model(out.path()) != whole, "one epoch is not three");
    train(&Training { resume: true, ..training }, &mut |_| Ok(())).unwrap();
    assert!(model(out.path()) == whole, "the resumed run differs");

    let other = Settings { learning_rate: 1e-3, ..settings.clone() };
    let refused = train(&Training { resume: true, settings: &other, ..training }, &mut |_| Ok(()));
    let said = refused.unwrap_err().to_string();
    assert!(said.ends_with("belongs to a run with other settings"), "{said}");
}

#[test]
fn a_run_whose_perplexity_is_beyond_all_numbers_can_be_resumed() {
    let (init, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_tiny(init.path(), "gpt2");
    // The last norm makes logits so large that every wrong guess is a certain one.
    let path = init.path().join("model.safetensors");
    let config = Config::load(init.path()).unwrap();
    let mut weights = Parameters::random(&config, 5);
    let is_last = |name: &str| name.ends_with("ln_f.weight");
    let last = weights.tensors.iter_mut().find(|tensor| is_last(&tensor.name)).unwrap();
    last.data.fill(1e6);
    let weights = weights.into_language_model(&config);
    std::fs::write(&path, weights.to_bytes(&path).unwrap()).unwrap();

    let (stories, settings) = (stories(60), Settings { learning_rate: 1e-6, ..settings() });
    let training = Training {
        stories: &stories,
        init: init.path(),
        out: out.path(),
        settings: &settings,
        device: Device::Cpu,
        resume: false,
    };
    let stop = train(&training, &mut |event| match event {
        Event::Epoch(report) => {
            assert!(report.dev.loss.exp().is_infinite(), "{report:?}");
            assert!(report.dev.figures.is_empty(), "{report:?}");
            Err(Error::Ratings { problem: "stopped".into() })
        }
        _ => Ok(()),
    });
    assert!(stop.unwrap_err().to_string().ends_with("stopped"));
    let reports = train(&Training { resume: true, ..training }, &mut |_| Ok(())).unwrap();
    assert_eq!(reports.len(), 3);
}

#[test]
fn long_stories_are_cut_and_empty_ones_left_out() {
    let (init, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_tiny(init.path(), "llama");
    let mut stories = stories(80);
    stories.extend((0..40).map(|_| Story::from("  \n")));
    let settings = Settings { max_tokens: 20, epochs: 1, ..settings() };
    let training = Training {
        stories: &stories,
        init: init.path(),
        out: out.path(),
        settings: &settings,
        device: Device::Cpu,
        resume: false,
    };
    let mut notes = Vec::new();
    let mut tokens = 0;
    train(&training, &mut |event| {
        match event {
            Event::Note(note) => notes.push(note.to_owned()),
            Event::Epoch(report) => tokens = report.tokens,
            _ => {}
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(
        notes,
        ["71 stories to learn from and 4 to choose the best epoch by; 75 of them are longer than \
          20 tokens and are cut, and 39 without text are left out"]
    );
    assert_eq!(tokens, 71 * 20);
}

#[test]
fn what_is_no_language_model_is_refused() {
    let bert = fixture("bert");
    let out = tempfile::tempdir().unwrap();
    let (stories, settings) = (stories(60), settings());
    let training = Training {
        stories: &stories,
        init: &bert,
        out: out.path(),
        settings: &settings,
        device: Device::Cpu,
        resume: false,
    };
    let said = train(&training, &mut |_| Ok(())).unwrap_err().to_string();
    assert!(said.ends_with("a model of the type bert is not a causal language model"), "{said}");

    let none = Settings { epochs: 0, ..settings };
    let said = train(&Training { settings: &none, ..training }, &mut |_| Ok(())).unwrap_err();
    assert_eq!(said.to_string(), "training: epochs must be from 1 to 1000000, but is 0");
}
