//! Compares whole models of every family on the GPU with the same models on the CPU: hidden
//! states, vectors, logits and likelihoods.

use super::report::{Report, Results};
use serde_json::{Value, json};
use std::path::PathBuf;
use storymeter_encoder::{
    Batch, Config, Device, Head, Model, Outputs, Parameters, Pooling, Precision, Stream, Tensor,
};

/// A small model with random weights, which needs no file.
struct Tiny {
    name: &'static str,
    config: Value,
    /// The name and the shape of every tensor.
    shapes: Vec<(String, Vec<usize>)>,
    heads: &'static [Head],
}

const VOCABULARY: usize = 211;

impl Tiny {
    fn tensor(&mut self, name: &str, shape: &[usize]) {
        self.shapes.push((name.into(), shape.into()));
    }

    /// A linear map or, with one size, a norm.
    fn pair(&mut self, name: &str, shape: &[usize]) {
        self.tensor(&format!("{name}.weight"), shape);
        self.tensor(&format!("{name}.bias"), &shape[..1]);
    }

    fn config(&self) -> Config {
        let Value::Object(fields) = self.config.clone() else { panic!("a configuration") };
        Config::from_fields(fields, PathBuf::from(self.name)).unwrap()
    }

    /// Weights whose sizes are those of trained ones.
    fn weights(&self) -> Parameters {
        let fill = |(number, (name, shape)): (usize, &(String, Vec<usize>))| {
            let stream = Stream::new(17).child(number as u64);
            let is_norm = name.to_lowercase().contains("norm") || name.contains("ln_");
            let (centre, spread) = match (shape.len(), is_norm && name.ends_with("weight")) {
                (_, true) => (1.0, 0.1),
                (1, false) => (0.0, 0.1),
                _ => (0.0, 1.2 / (shape[shape.len() - 1] as f32).sqrt()),
            };
            let count = shape.iter().product::<usize>() as u64;
            let data = (0..count).map(|i| centre + spread * stream.normal(i)).collect();
            Tensor { name: name.clone(), shape: shape.clone(), data }
        };
        Parameters { tensors: self.shapes.iter().enumerate().map(fill).collect() }
    }
}

/// The BERT family: two blocks of 64 columns with four heads.
fn encoder(name: &'static str, more: Value, names: [&str; 9]) -> Tiny {
    let (h, wide, positions) = (64, 128, 160);
    let mut config = json!({
        "vocab_size": VOCABULARY, "hidden_size": h, "dim": h, "num_hidden_layers": 2,
        "n_layers": 2, "num_attention_heads": 4, "n_heads": 4, "intermediate_size": wide,
        "hidden_dim": wide, "max_position_embeddings": positions,
    });
    let fields = config.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    let segments = fields.get("type_vocab_size").and_then(Value::as_u64);
    let relative = fields["model_type"] == "mpnet";
    let mut tiny =
        Tiny { name, config, shapes: Vec::new(), heads: &[Head::MaskedWord, Head::Answer] };
    let [before, query, key, value, output, norm, up, down, last] = names;
    tiny.tensor("embeddings.word_embeddings.weight", &[VOCABULARY, h]);
    tiny.tensor("embeddings.position_embeddings.weight", &[positions, h]);
    if let Some(segments) = segments {
        tiny.tensor("embeddings.token_type_embeddings.weight", &[segments as usize, h]);
    }
    tiny.pair("embeddings.LayerNorm", &[h]);
    if relative {
        tiny.tensor("encoder.relative_attention_bias.weight", &[32, 4]);
    }
    for block in 0..2 {
        let mut pair =
            |part: &str, shape: &[usize]| tiny.pair(&format!("{before}{block}.{part}"), shape);
        [query, key, value, output].iter().for_each(|part| pair(part, &[h, h]));
        pair(up, &[wide, h]);
        pair(down, &[h, wide]);
        [norm, last].iter().for_each(|part| pair(part, &[h]));
    }
    tiny.pair("qa_outputs", &[2, h]);
    tiny
}

fn bert_head(tiny: &mut Tiny, dense: &str, norm: &str, bias: &str) {
    tiny.pair(dense, &[64, 64]);
    tiny.pair(norm, &[64]);
    tiny.tensor(bias, &[VOCABULARY]);
}

const BERT: [&str; 9] = [
    "encoder.layer.",
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "attention.output.LayerNorm",
    "intermediate.dense",
    "output.dense",
    "output.LayerNorm",
];

fn bert() -> Tiny {
    let config = json!({ "model_type": "bert", "type_vocab_size": 2 });
    let mut tiny = encoder("bert", config, BERT);
    let before = "cls.predictions";
    let (dense, norm) =
        (format!("{before}.transform.dense"), format!("{before}.transform.LayerNorm"));
    bert_head(&mut tiny, &dense, &norm, &format!("{before}.bias"));
    tiny
}

fn roberta() -> Tiny {
    let config = json!({ "model_type": "roberta", "type_vocab_size": 1, "pad_token_id": 1 });
    let mut tiny = encoder("roberta", config, BERT);
    bert_head(&mut tiny, "lm_head.dense", "lm_head.layer_norm", "lm_head.bias");
    tiny
}

fn distilbert() -> Tiny {
    let names = [
        "transformer.layer.",
        "attention.q_lin",
        "attention.k_lin",
        "attention.v_lin",
        "attention.out_lin",
        "sa_layer_norm",
        "ffn.lin1",
        "ffn.lin2",
        "output_layer_norm",
    ];
    let mut tiny = encoder("distilbert", json!({ "model_type": "distilbert" }), names);
    bert_head(&mut tiny, "vocab_transform", "vocab_layer_norm", "vocab_projector.bias");
    tiny
}

fn mpnet() -> Tiny {
    let names = [
        "encoder.layer.",
        "attention.attn.q",
        "attention.attn.k",
        "attention.attn.v",
        "attention.attn.o",
        "attention.LayerNorm",
        "intermediate.dense",
        "output.dense",
        "output.LayerNorm",
    ];
    let mut tiny = encoder("mpnet", json!({ "model_type": "mpnet" }), names);
    bert_head(&mut tiny, "lm_head.dense", "lm_head.layer_norm", "lm_head.bias");
    tiny
}

fn gpt2() -> Tiny {
    let (h, wide, positions, heads, words) = (64, 256, 160, 2, VOCABULARY);
    let config = json!({
        "model_type": "gpt2", "vocab_size": words, "n_embd": h, "n_layer": 2, "n_head": heads,
        "n_positions": positions, "n_inner": wide,
    });
    let mut tiny = Tiny { name: "gpt2", config, shapes: Vec::new(), heads: &[Head::NextToken] };
    tiny.tensor("wte.weight", &[words, h]);
    tiny.tensor("wpe.weight", &[positions, h]);
    for block in 0..2 {
        let mut map = |part: &str, inputs: usize, outputs: usize| {
            // GPT-2's matrices have one row per input.
            tiny.tensor(&format!("h.{block}.{part}.weight"), &[inputs, outputs]);
            tiny.tensor(&format!("h.{block}.{part}.bias"), &[outputs]);
        };
        map("attn.c_attn", h, 3 * h);
        map("attn.c_proj", h, h);
        map("mlp.c_fc", h, wide);
        map("mlp.c_proj", wide, h);
        ["ln_1", "ln_2"].iter().for_each(|norm| tiny.pair(&format!("h.{block}.{norm}"), &[h]));
    }
    tiny.pair("ln_f", &[h]);
    tiny
}

/// Llama with heads of `width` columns, where two heads of queries share one of keys.
fn llama(name: &'static str, heads: usize, width: usize) -> Tiny {
    let (h, wide) = (64, 96);
    let config = json!({
        "model_type": "llama", "vocab_size": VOCABULARY, "hidden_size": h, "num_hidden_layers": 2,
        "num_attention_heads": heads, "num_key_value_heads": heads / 2, "head_dim": width,
        "intermediate_size": wide, "max_position_embeddings": 160, "rms_norm_eps": 1e-5,
    });
    let mut tiny = Tiny { name, config, shapes: Vec::new(), heads: &[Head::NextToken] };
    tiny.tensor("embed_tokens.weight", &[VOCABULARY, h]);
    for block in 0..2 {
        let mut tensor = |part: &str, shape: &[usize]| {
            tiny.tensor(&format!("layers.{block}.{part}.weight"), shape);
        };
        tensor("self_attn.q_proj", &[heads * width, h]);
        tensor("self_attn.k_proj", &[heads / 2 * width, h]);
        tensor("self_attn.v_proj", &[heads / 2 * width, h]);
        tensor("self_attn.o_proj", &[h, heads * width]);
        tensor("mlp.gate_proj", &[wide, h]);
        tensor("mlp.up_proj", &[wide, h]);
        tensor("mlp.down_proj", &[h, wide]);
        tensor("input_layernorm", &[h]);
        tensor("post_attention_layernorm", &[h]);
    }
    tiny.tensor("norm.weight", &[h]);
    tiny.tensor("lm_head.weight", &[VOCABULARY, h]);
    tiny
}

fn bart() -> Tiny {
    let (h, wide, positions, heads, words) = (64, 128, 160, 4, VOCABULARY);
    let config = json!({
        "model_type": "bart", "vocab_size": words, "d_model": h, "encoder_layers": 2,
        "decoder_layers": 2, "encoder_attention_heads": heads, "decoder_attention_heads": heads,
        "encoder_ffn_dim": wide, "decoder_ffn_dim": wide, "max_position_embeddings": positions,
    });
    let mut tiny = Tiny { name: "bart", config, shapes: Vec::new(), heads: &[Head::NextToken] };
    tiny.tensor("shared.weight", &[words, h]);
    tiny.tensor("final_logits_bias", &[1, words]);
    for side in ["encoder", "decoder"] {
        tiny.tensor(&format!("{side}.embed_positions.weight"), &[positions + 2, h]);
        tiny.pair(&format!("{side}.layernorm_embedding"), &[h]);
        for block in 0..2 {
            let mut pair = |part: &str, shape: &[usize]| {
                tiny.pair(&format!("{side}.layers.{block}.{part}"), shape)
            };
            let across =
                if side == "decoder" { &["self_attn", "encoder_attn"][..] } else { &["self_attn"] };
            for attention in across {
                for part in ["q_proj", "k_proj", "v_proj", "out_proj"] {
                    pair(&format!("{attention}.{part}"), &[h, h]);
                }
                pair(&format!("{attention}_layer_norm"), &[h]);
            }
            pair("fc1", &[wide, h]);
            pair("fc2", &[h, wide]);
            pair("final_layer_norm", &[h]);
        }
    }
    tiny
}

fn all() -> [Tiny; 8] {
    [
        bert(),
        roberta(),
        distilbert(),
        mpnet(),
        gpt2(),
        llama("llama, heads of 16", 4, 16),
        llama("llama, heads of 80", 2, 80),
        bart(),
    ]
}

fn ids(seed: u64, len: usize) -> Vec<u32> {
    let stream = Stream::new(seed);
    (0..len as u64).map(|i| (stream.bits(i) % VOCABULARY as u64) as u32).collect()
}

/// Sequences that end within, at the end of and after a tile of attention, and whatever else the
/// model can read: second segments, padding, targets.
fn batch(config: &Config) -> Batch {
    let mut batch = Batch::new();
    for (i, len) in [5, 1, 64, 130, 33].into_iter().enumerate() {
        batch.push(&ids(i as u64, len));
    }
    if !config.is_causal() {
        batch.push_padded(&ids(20, 70), 70, 50);
    }
    if config.segments > 1 {
        batch.push_pair(&ids(21, 40), 13);
    }
    if config.has_decoder() {
        for (sequence, len) in [(3, 66), (0, 7), (3, 1), (5, 130)] {
            batch.push_target(sequence, &ids(30 + sequence as u64, len));
        }
    }
    batch
}

/// What is asked for at one time, with a name.
fn questions(model: &Model, batch: &Batch, heads: &[Head]) -> Vec<(&'static str, Outputs)> {
    let mut questions = vec![
        ("layers 0 to 2", Outputs::new().layers([0, 1, 2])),
        ("layer 1 and its mean", Outputs::new().layers([1]).pooled(Pooling::Mean)),
        ("first states", Outputs::new().pooled(Pooling::First)),
    ];
    // Of a decoder, these are places in targets.
    let other = if model.config().has_decoder() { 1 } else { batch.len() - 1 };
    let places = [(3, 129), (0, 0), (other, 3), (3, 64)];
    for head in heads {
        questions.push(("logits", Outputs::new().layers([2]).logits(*head, places)));
    }
    if model.has(Head::NextToken) {
        questions.push(("likelihoods", Outputs::new().likelihoods()));
    }
    questions
}

/// All numbers of the answers.
fn answers(model: &Model, batch: &Batch, heads: &[Head]) -> Results {
    let mut results = Results::new();
    for (name, outputs) in questions(model, batch, heads) {
        let run = model.run(batch, &outputs).unwrap();
        let mut numbers = Vec::new();
        let layers: &[usize] = match name {
            "layers 0 to 2" => &[0, 1, 2],
            "layer 1 and its mean" => &[1],
            "logits" => &[2],
            _ => &[],
        };
        for layer in layers {
            (0..batch.len()).for_each(|i| numbers.extend(run.layer(*layer).sequence(i)));
        }
        match name {
            "layer 1 and its mean" | "first states" => {
                (0..batch.len()).for_each(|i| numbers.extend(run.pooled(i)));
            }
            "logits" => (0..4).for_each(|n| numbers.extend(run.logits(n))),
            "likelihoods" => {
                let decoder = model.config().has_decoder();
                let count = if decoder { batch.targets() } else { batch.len() };
                (0..count).for_each(|i| numbers.extend(run.likelihoods(i)));
            }
            _ => {}
        }
        results.push((name, numbers));
    }
    results
}

#[test]
#[ignore = "needs an NVIDIA GPU; run with --ignored"]
fn models_of_all_families_compute_on_the_gpu_what_they_compute_on_the_cpu() {
    let mut failures = Vec::new();
    let precisions = [(Precision::F32, 5e-6), (Precision::F16, 4e-3), (Precision::Bf16, 3e-2)];
    for tiny in all() {
        let (weights, config) = (tiny.weights(), tiny.config());
        let batch = batch(&config);
        let open = |device: Device, precision: Precision| {
            Model::from_tensors(tiny.config(), &weights, device, precision).unwrap()
        };
        let cpu = open(Device::Cpu, Precision::F32);
        let truth = answers(&cpu, &batch, tiny.heads);
        for (precision, tolerance) in precisions {
            let mut report =
                Report { precision: precision.name(), tolerance, failures: Vec::new() };
            let gpu = open(Device::Cuda(0), precision);
            tiny.heads.iter().for_each(|head| assert_eq!(gpu.has(*head), cpu.has(*head)));
            report.compare(tiny.name, &truth, &answers(&gpu, &batch, tiny.heads));
            failures.append(&mut report.failures);
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// The expected numbers were computed with `transformers` 4.44.2 in f32.
#[test]
#[ignore = "needs an NVIDIA GPU; run with --ignored"]
fn likelihoods_on_the_gpu_are_those_of_transformers() {
    let open = |tiny: super::tiny::Tiny| {
        Model::from_tensors(tiny.config, &tiny.weights, Device::Cuda(0), Precision::F32).unwrap()
    };
    let gpt2 = open(super::tiny::tiny("gpt2"));
    let mut batch = Batch::new();
    batch.push(&[5, 17, 101, 42, 7, 9, 9, 150]);
    let run = gpt2.run(&batch, &Outputs::new().likelihoods()).unwrap();
    let mean = run.likelihoods(0).iter().map(|x| f64::from(*x)).sum::<f64>() / 7.0;
    assert!((mean + 6.141_297_340_4).abs() < 1e-5, "{mean}");

    let bart = open(super::tiny::tiny("bart"));
    let mut batch = Batch::new();
    batch.push(&[0, 10, 20, 30, 40, 50, 2]);
    batch.push_target(0, &[0, 11, 21, 31, 2]);
    batch.push_target(0, &[0, 10, 20, 30, 40, 50, 2]);
    let run = bart.run(&batch, &Outputs::new().likelihoods()).unwrap();
    let expected =
        [-5.239_071_369_2, -4.729_831_218_7, -6.249_547_958_4, -5.564_707_756, -8.006_878_852_8];
    for (found, expected) in run.likelihoods(0).iter().zip(expected) {
        assert!((f64::from(*found) - expected).abs() < 1e-5, "{found} for {expected}");
    }
    let mean = run.likelihoods(1).iter().map(|x| f64::from(*x)).sum::<f64>() / 7.0;
    assert!((mean + 5.806_986_195_7).abs() < 1e-5, "{mean}");
}

/// The other sequences of a batch do not change a bit of a sequence.
#[test]
#[ignore = "needs an NVIDIA GPU; run with --ignored"]
fn a_sequence_has_the_same_bytes_alone_and_in_a_batch() {
    let tiny = llama("llama", 4, 16);
    let weights = tiny.weights();
    let outputs = Outputs::new().layers([2]).likelihoods();
    for precision in [Precision::F32, Precision::F16, Precision::Bf16] {
        let model =
            Model::from_tensors(tiny.config(), &weights, Device::Cuda(0), precision).unwrap();
        let mut batch = Batch::new();
        let sequences: Vec<Vec<u32>> =
            (0..300).map(|i| ids(i, 2 + (i as usize * 37) % 150)).collect();
        sequences.iter().for_each(|ids| batch.push(ids));
        let together = model.run(&batch, &outputs).unwrap();
        for i in [0, 1, 2, 150, 299] {
            let mut one = Batch::new();
            one.push(&sequences[i]);
            let alone = model.run(&one, &outputs).unwrap();
            let bits = |numbers: &[f32]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            let name = precision.name();
            assert_eq!(
                bits(alone.layer(2).sequence(0)),
                bits(together.layer(2).sequence(i)),
                "{name}"
            );
            assert_eq!(bits(alone.likelihoods(0)), bits(together.likelihoods(i)), "{name}");
        }
    }
}
