//! Writes a byte-level tokeniser as the files that Hugging Face's `tokenizers` reads: a tokeniser
//! from a GGUF file goes into the folder of a model that was trained from it.

use super::bpe::{Preparation, Step};
use super::load_bpe::BpeParts;
use super::split::{LLAMA3, QWEN2, Splitter};
use super::{Special, Tokenizer};
use crate::config::Config;
use crate::{Error, Result};
use serde_json::{Map, Value, json};
use std::path::Path;

impl BpeParts {
    /// The contents of `tokenizer.json` and `tokenizer_config.json`. Errors name `path`.
    ///
    /// # Errors
    /// Returns an error if the tokeniser is one that these files, as this crate reads them, cannot
    /// describe.
    pub(super) fn to_files(&self, path: &Path, config: &Config) -> Result<[(String, Vec<u8>); 2]> {
        let refuse =
            |problem: &str| Error::Tokenizer { path: path.into(), problem: problem.into() };
        if self.has_characters {
            return Err(refuse(
                "a vocabulary of SentencePiece cannot be written as a tokenizer.json that is read \
                 again; start from the model's folder instead of its GGUF file",
            ));
        }
        let split = self.splitting().ok_or_else(|| refuse("its words cannot be written down"))?;
        let vocabulary: Map<String, Value> =
            self.entries.iter().map(|(piece, id)| (piece.clone(), (*id).into())).collect();
        let merges: Vec<String> =
            self.merges.iter().map(|(left, right)| format!("{left} {right}")).collect();
        let added: Vec<Value> = self
            .added
            .iter()
            .map(|added| {
                json!({
                    "id": added.id, "content": added.text, "special": true,
                    "single_word": added.flags.single_word, "lstrip": added.flags.strip_left,
                    "rstrip": added.flags.strip_right, "normalized": added.normalised,
                })
            })
            .collect();
        let normalizer = match self.preparation {
            Preparation::Nfc => json!({"type": "NFC"}),
            _ => Value::Null,
        };
        let tokenizer = json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": added,
            "normalizer": normalizer, "pre_tokenizer": split,
            "post_processor": self.around(),
            "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true,
                        "use_regex": true},
            "model": {"type": "BPE", "dropout": null, "unk_token": self.unknown,
                      "continuing_subword_prefix": null, "end_of_word_suffix": null,
                      "fuse_unk": false, "byte_fallback": false,
                      "ignore_merges": self.ignore_merges,
                      "vocab": vocabulary, "merges": merges},
        });
        let mut settings = Map::new();
        settings.insert("tokenizer_class".into(), "PreTrainedTokenizerFast".into());
        settings.insert("model_max_length".into(), config.max_tokens().into());
        for (field, id) in self.special.named() {
            if let Some(piece) = id.and_then(|id| self.piece(id)) {
                settings.insert(field.into(), piece.into());
            }
        }
        let write = |value: &Value| {
            serde_json::to_vec(value).map_err(|source| Error::Json { path: path.into(), source })
        };
        let files = [
            ("tokenizer.json".to_owned(), write(&tokenizer)?),
            ("tokenizer_config.json".to_owned(), write(&settings.into())?),
        ];
        let given: Vec<(&str, &[u8])> = files.iter().map(|(n, b)| (&n[..], &b[..])).collect();
        let read = Tokenizer::from_files(&given, path, config)?;
        if read.special != self.special {
            return Err(refuse("its special tokens cannot be written down"));
        }
        Ok(files)
    }

    /// The steps from a text to its words; `None` if there is no way to write them.
    fn splitting(&self) -> Option<Value> {
        let (mut steps, mut prefix, mut regex) = (Vec::new(), false, false);
        for step in &self.steps {
            // A blank goes before the words of GPT-2, and nothing follows these.
            if regex || (prefix && *step != Step::Split(Splitter::Gpt2)) {
                return None;
            }
            match step {
                Step::PrefixBlank => prefix = true,
                Step::Split(Splitter::Gpt2) => regex = true,
                Step::Split(Splitter::Digits { individual }) => {
                    steps.push(json!({"type": "Digits", "individual_digits": individual}));
                }
                Step::Split(Splitter::Llama3 { digits }) => {
                    let pattern = if *digits == 1 { QWEN2 } else { LLAMA3 };
                    steps.push(json!({"type": "Split", "pattern": {"Regex": pattern},
                                      "behavior": "Isolated", "invert": false}));
                }
            }
        }
        steps.push(json!({"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": true,
                          "use_regex": regex}));
        Some(json!({"type": "Sequence", "pretokenizers": steps}))
    }

    /// The special tokens before and after every text.
    fn around(&self) -> Value {
        let Special { before, after, .. } = &self.special;
        let piece = |id: &u32| self.piece(*id).unwrap_or_default();
        let token = |id: &u32| json!({"SpecialToken": {"id": piece(id), "type_id": 0}});
        let side = |ids: &[u32]| ids.iter().map(token).collect::<Vec<Value>>();
        let text = |name: &str, kind: u32| vec![json!({"Sequence": {"id": name, "type_id": kind}})];
        let known: Map<String, Value> = before
            .iter()
            .chain(after)
            .map(|id| {
                (piece(id).to_owned(), json!({"id": piece(id), "ids": [id], "tokens": [piece(id)]}))
            })
            .collect();
        if known.is_empty() {
            return Value::Null;
        }
        let one = |name, kind| [side(before), text(name, kind), side(after)].concat();
        let (single, pair) = (one("A", 0), [one("A", 0), one("B", 1)].concat());
        json!({"type": "TemplateProcessing", "single": single, "pair": pair,
               "special_tokens": known})
    }

    fn piece(&self, id: u32) -> Option<&str> {
        self.entries.iter().find(|(_, known)| *known == id).map(|(piece, _)| piece.as_str())
    }
}

impl Special {
    /// The special tokens by the fields that name them.
    fn named(&self) -> [(&'static str, Option<u32>); 7] {
        [
            ("bos_token", self.bos),
            ("eos_token", self.eos),
            ("cls_token", self.cls),
            ("sep_token", self.sep),
            ("pad_token", self.pad),
            ("unk_token", self.unk),
            ("mask_token", self.mask),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::bpe::{Flags, byte_characters};
    use crate::tokenizer::load::Source;
    use crate::tokenizer::load_bpe::Added;

    /// The bytes, two merges, and two special tokens, of which the first begins every text.
    fn parts(steps: &[Step], preparation: Preparation) -> BpeParts {
        let bytes = byte_characters().map(|letter| letter.to_string());
        let more = ["th", "the", "<start>", "<end>"].map(str::to_owned);
        let entries: Vec<(String, u32)> = bytes.into_iter().chain(more).zip(0..).collect();
        let added = |text: &str, id| Added {
            text: text.into(),
            id,
            flags: Flags { strip_left: id == 259, ..Flags::default() },
            normalised: false,
        };
        let pair = |left: &str, right: &str| (left.to_owned(), right.to_owned());
        BpeParts {
            entries,
            merges: vec![pair("t", "h"), pair("th", "e")],
            added: vec![added("<start>", 258), added("<end>", 259)],
            preparation,
            steps: steps.to_vec(),
            special: Special {
                before: vec![258],
                bos: Some(258),
                eos: Some(259),
                ..Special::default()
            },
            ..BpeParts::default()
        }
    }

    fn config() -> Config {
        let fields = json!({
            "model_type": "llama", "hidden_size": 8, "num_hidden_layers": 1,
            "num_attention_heads": 1, "intermediate_size": 8, "max_position_embeddings": 64,
            "vocab_size": 260,
        });
        Config::from_fields(fields.as_object().cloned().unwrap(), "config.json".into()).unwrap()
    }

    #[test]
    fn a_written_tokeniser_is_read_as_it_was() {
        let (path, config) = (Path::new("model.gguf"), config());
        let digits = Step::Split(Splitter::Digits { individual: true });
        let gpt2 = Step::Split(Splitter::Gpt2);
        let cases: [(&[Step], Preparation); 5] = [
            (&[gpt2], Preparation::Nothing),
            (&[Step::PrefixBlank, gpt2], Preparation::Nothing),
            (&[digits, gpt2], Preparation::Nothing),
            (&[Step::Split(Splitter::Llama3 { digits: 3 })], Preparation::Nothing),
            (&[Step::Split(Splitter::Llama3 { digits: 1 })], Preparation::Nfc),
        ];
        for (steps, preparation) in cases {
            let files = parts(steps, preparation).to_files(path, &config).unwrap();
            let given: Vec<(&str, &[u8])> = files.iter().map(|(n, b)| (&n[..], &b[..])).collect();
            let read = Tokenizer::from_files(&given, path, &config).unwrap();
            let source = Source { path: path.into(), given: None };
            let known = parts(steps, preparation).build(&source, &config).unwrap();
            for text in ["the 12 thieves", "the <end> e\u{301}", "", "the the  The\n12345"] {
                assert_eq!(read.encode(text, 99), known.encode(text, 99), "{steps:?} {text:?}");
            }
            assert_eq!((read.bos(), read.eos(), read.start()), (Some(258), Some(259), Some(258)));
        }
    }

    #[test]
    fn what_a_file_cannot_say_is_refused() {
        let (path, config) = (Path::new("model.gguf"), config());
        let refused = |parts: BpeParts| parts.to_files(path, &config).unwrap_err().to_string();
        let gpt2 = Step::Split(Splitter::Gpt2);
        let odd = parts(&[gpt2, Step::PrefixBlank], Preparation::Nothing);
        assert_eq!(refused(odd), "model.gguf: its words cannot be written down");
        let pieces = BpeParts { has_characters: true, ..parts(&[gpt2], Preparation::Nothing) };
        assert!(refused(pieces).starts_with("model.gguf: a vocabulary of SentencePiece cannot"));
    }
}
