//! Writes the seeds that cannot be written by hand: a tiny model, its checkpoint, donors, a study,
//! Parquet and corpus statistics. Run it in this folder: `cargo run --example seeds`.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use storymeter::Scorer;
use storymeter::input::Inputs;
use storymeter_core::read::ReadOptions;
use storymeter_core::{Catalogue, Progress, Story, read};
use storymeter_encoder::{Config, Parameters};
use storymeter_meta::{folder, table};
use storymeter_perturb::DonorSampler;
use storymeter_text::lexicon::Lexicon;
use storymeter_text::tagger::Tagger;
use storymeter_union::Model;
use storymeter_union::train::{Device, Job, Settings, train};

const CONFIG: &str = r#"{"model_type": "bert", "hidden_size": 8, "num_attention_heads": 2,
"num_hidden_layers": 1, "intermediate_size": 8, "max_position_embeddings": 16,
"type_vocab_size": 2, "vocab_size": 24, "hidden_act": "gelu", "layer_norm_eps": 1e-12}
"#;

const VOCABULARY: &str = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n.\n,\n-\nmia\nlost\nthe\nkite\nit\n\
                          rain\n##ed\nold\nred\nshe\nwas\nhappy\nnot\na\n##s\n##a\n";

fn main() -> Result<(), Box<dyn Error>> {
    let work = tempfile::tempdir()?;
    let (encoder, out) = (work.path().join("encoder"), work.path().join("out"));
    for folder in [&encoder, &out] {
        fs::create_dir(folder)?;
    }
    fs::write(encoder.join("config.json"), CONFIG)?;
    fs::write(encoder.join("vocab.txt"), VOCABULARY)?;
    fs::write(encoder.join("model.safetensors"), weights(&encoder)?)?;
    let settings = "max_tokens = 12\nepochs = 1\ntokens_a_batch = 64\nname_tokens = false\n";
    let settings = Settings::from_text(Path::new("seed"), settings, None)?;
    let stories: Vec<Story> = (0..120).map(story).collect();
    let job = Job {
        init: &encoder,
        stories: &stories,
        files: &[],
        out: &out,
        settings: &settings,
        teachers: &[],
        device: Device::Cpu,
        resume: false,
    };
    train(&job, &mut |_| Ok(()))?;
    let tiny = Path::new("tiny");
    fs::create_dir_all(tiny)?;
    let seeds = [
        ("config.json", "config/tiny.json"),
        ("model.safetensors", "weights/tiny.safetensors"),
        ("heads.safetensors", "heads/tiny.safetensors"),
        ("storymeter.json", "card/tiny.json"),
        ("training.safetensors", "checkpoint/tiny.safetensors"),
    ];
    for (name, seed) in seeds {
        write(Path::new("seeds").join(seed), &fs::read(out.join(name))?)?;
        if name != "training.safetensors" {
            fs::copy(out.join(name), tiny.join(name))?;
        }
    }
    fs::write(tiny.join("vocab.txt"), VOCABULARY)?;
    write(
        "seeds/vocabulary/vocab",
        format!("v{VOCABULARY}\0{{\"do_lower_case\": true}}").as_bytes(),
    )?;
    write("seeds/settings/all.toml", settings.to_toml().as_bytes())?;
    fs::create_dir_all("seeds/model_file")?;
    Model::load(&out)?.store(Path::new("seeds/model_file/tiny.smq"))?;

    let mut sampler = DonorSampler::new(1, 2);
    stories.iter().take(2).enumerate().for_each(|(i, story)| sampler.offer(i as u64, story));
    let mut donors = Vec::new();
    sampler.finish(Tagger::embedded(), Lexicon::embedded()).write_to(&mut donors)?;
    write("seeds/donors/two.bin", &donors)?;
    fs::write(tiny.join("donors.bin"), &donors)?;

    let scores = Path::new("seeds/table/scores.jsonl");
    let study =
        table::analyse(&read::scores(scores, &Catalogue::default())?, &table::Options::default())?;
    folder::write(&study, &out)?;
    write("seeds/study/table.json", &fs::read(out.join("study.json"))?)?;
    parquet_file(Path::new("seeds/reader_parquet/stories.parquet"))?;
    let parquet = out.join("scores.parquet");
    read::scores(scores, &Catalogue::default())?.write(&parquet)?;
    write("seeds/score_parquet/scores.parquet", &fs::read(parquet)?)?;
    corpus_stats(&out, Path::new("seeds/corpus_stats/two.bin"))
}

/// What the first pass over two stories gathers.
fn corpus_stats(out: &Path, path: &Path) -> Result<(), Box<dyn Error>> {
    let stories = out.join("stories.csv");
    fs::write(&stories, "story,reference\nThe lamp went out.,A lamp.\nIt rained.,A lamp.\n")?;
    let file = out.join("corpus.bin");
    let mut scorer = Scorer::new().metrics(["cider-d", "self-bleu"]).corpus_stats(&file).build()?;
    let inputs = Inputs::new(vec![stories], ReadOptions::default());
    scorer.gather_corpus_stats(&inputs, &Progress::unwatched())?;
    Ok(write(path, &fs::read(file)?)?)
}

fn write(path: impl AsRef<Path>, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = path.as_ref().parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, bytes)
}

fn story(i: usize) -> Story {
    let pick = |list: &[&'static str], salt: usize| list[(i / salt) % list.len()];
    let text = format!(
        "Mia lost the {} kite. It {}. She was {} happy. The rain was old.",
        pick(&["red", "old"], 1),
        pick(&["rained", "was lost"], 2),
        pick(&["not", "a", "the"], 4)
    );
    Story { id: i.to_string(), text, ..Story::default() }
}

/// The weights of a tiny encoder, drawn at random.
fn weights(folder: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let config = Config::load(folder)?;
    Ok(Parameters::random(&config, 1).to_bytes(folder)?)
}

fn parquet_file(path: &Path) -> Result<(), Box<dyn Error>> {
    let schema = "message stories { REQUIRED INT64 id; OPTIONAL BYTE_ARRAY system (UTF8);
                  REQUIRED BYTE_ARRAY story (UTF8); }";
    let schema = Arc::new(parse_message_type(schema)?);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut writer =
        SerializedFileWriter::new(fs::File::create(path)?, schema, Default::default())?;
    let mut group = writer.next_row_group()?;
    let texts =
        |texts: &[&str]| texts.iter().map(|text| ByteArray::from(*text)).collect::<Vec<_>>();
    let mut column = 0;
    while let Some(mut cells) = group.next_column()? {
        match column {
            0 => cells.typed::<Int64Type>().write_batch(&[7, 8], None, None)?,
            1 => cells.typed::<ByteArrayType>().write_batch(
                &texts(&["Tale"]),
                Some(&[1, 0]),
                None,
            )?,
            _ => cells.typed::<ByteArrayType>().write_batch(
                &texts(&["A door opened.", "A cat came."]),
                None,
                None,
            )?,
        };
        cells.close()?;
        column += 1;
    }
    group.close()?;
    writer.close()?;
    Ok(())
}
