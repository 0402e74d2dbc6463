"""Writes byte-level tokenisers and what Hugging Face makes of difficult texts with them.

    # small tokenisers, into crates/storymeter-encoder/tests/fixtures/bpe
    python tools/bpe_fixtures.py tiny
    # a small tokeniser of SentencePiece in a GGUF file, into the same folder
    python tools/bpe_fixtures.py sentencepiece
    # the values of SmolLM2's tokeniser, into the same folder
    python tools/bpe_fixtures.py gguf MODELS/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf

`tiny` trains two vocabularies on a few sentences and saves them as GPT-2, RoBERTa and BART do. It
needs the packages transformers and tokenizers; `gguf` needs tokenizers and gguf, and
`sentencepiece` also needs sentencepiece.
"""

import json
import sys
from pathlib import Path

import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "crates/storymeter-encoder/tests/fixtures/bpe"

SENTENCES = [
    "The old lighthouse keeper climbed the stairs every night, and the lamp was never dark.",
    "Mara found a rusty key on the beach; she'd tried it on every door in the village.",
    "It's not what they're saying, it's what we've heard: he'll come when I'm there, won't he?",
    "In 1984 there were 12,345 ships and 67 lighthouses. By 2021 there were 890.",
    "\"No,\" said the baker. \"The bread is burned, the oven is cold, and the flour is gone!\"",
    "The café was closed; the naïve waiter had lost the keys — again… 東京 is far.",
    "They walked and walked, through the forest and over the hills, until the morning came.",
    "She told the children a story about a fox, a raven and a piece of cheese.",
]

TEXTS = [
    "",
    " ",
    "   ",
    "\n",
    "\t\t x\n\n\ny  ",
    "Hello world",
    "The old lighthouse keeper's lamp.",
    "It's they're we've I'm he'll she'd can't 's 't",
    "IT'S THEY'RE WE'VE I'M HE'LL SHE'D CAN'T 'S 'LL",
    "rock'n'roll o'clock 'tis '''quoted''' don''t 're're",
    "In 1984, 12345678 ships; 3.14159 and 1,000,000 and 007",
    "x² ½ ⅷ ٣٤٥ 一二三 ①②",
    "The café was naïve: Zoë’s “quotes” — and… dashes–everywhere",
    "cafe\u0301 n\u0303 \u1112\u1161\u11ab \u212b A\u030a",
    "東京 is far. Привет, мир! שלום नमस्ते",
    "emoji 🎈🎈 👩‍👩‍👧 🇩🇪 done",
    "a\u00a0b\u2003c\u3000d\u200be\u0085f\u2028g\u180eh",
    "line one\r\nline two\r\n\r\n  indented\n\tand tabbed",
    "many     blanks      between    words     ",
    "if (x == 1) { return y[0]; } // comment!?",
    "<s> is not </s> nor <pad> or <mask> here <mask>, a<mask>b  <mask>  c",
    "<|endoftext|> and <|endoftext|><|endoftext|> x<|endoftext|>y <|endoftext|",
    "\u0000\u0001\u007f\ufffd\ufeff",
    "supercalifragilisticexpialidocious" * 3,
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "e\u0301\u0301\u0301 '\u017f I'\u017f 'ſt",
    "\n \n  \n a \n\n b\r\r\nc",
    "word\n word !!!\n\n?? \n .",
]

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2 = LLAMA3.replace("{1,3}", "")


def trained(special):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=500,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return tokenizer


def split(pattern):
    return [
        pre_tokenizers.Split(Regex(pattern), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ]


def results(tokenizer):
    """Ids with special tokens, and the bytes of the text that each token without them stands for."""
    content = json.loads(tokenizer.to_str())
    # A post-processor would trim the spans.
    plain = Tokenizer.from_str(json.dumps({**content, "post_processor": None}))
    rows = []
    for text in TEXTS:
        bytes_before = [len(text[:i].encode()) for i in range(len(text) + 1)]
        spans = [(bytes_before[a], bytes_before[b]) for a, b in plain.encode(text).offsets]
        rows.append({"text": text, "ids": tokenizer.encode(text).ids, "spans": spans})
    return rows


def written(value):
    """JSON with one line per text."""
    lines = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return lines.replace('{"text"', '\n{"text"') + "\n"


def tiny():
    import transformers

    tool = f"tokenizers {tokenizers.__version__}, transformers {transformers.__version__}"
    expected = {"tool": tool, "layouts": {}, "variants": {}}
    gpt2, roberta = trained([]), trained(["<s>", "<pad>", "</s>", "<unk>"])
    gpt2.add_special_tokens(["<|endoftext|>"])
    roberta.add_special_tokens(["<mask>"])
    for name, base, kind, options in [
        ("gpt2", gpt2, transformers.GPT2TokenizerFast, {}),
        ("roberta", roberta, transformers.RobertaTokenizerFast, {"add_prefix_space": True}),
        ("bart", roberta, transformers.BartTokenizerFast, {}),
    ]:
        folder = HERE / name
        folder.mkdir(parents=True, exist_ok=True)
        vocabulary = dict(sorted(base.get_vocab().items(), key=lambda item: item[1]))
        merges = [merge if isinstance(merge, str) else " ".join(merge)
                  for merge in json.loads(base.to_str())["model"]["merges"]]
        (folder / "vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False))
        (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n")
        files = str(folder / "vocab.json"), str(folder / "merges.txt")
        tokenizer = kind(*files, **options)
        tokenizer.save_pretrained(folder)
        expected["layouts"][name] = results(tokenizer.backend_tokenizer)
    # The same vocabulary with the words and the added tokens of other models.
    text = (HERE / "gpt2/tokenizer.json").read_text()
    variants = {
        "llama3": (split(LLAMA3), None, []),
        "qwen2": (split(QWEN2), normalizers.NFC(), []),
        "gpt2 as a split": (split(GPT2), None, []),
        "smollm2": (
            [pre_tokenizers.Digits(individual_digits=True),
             pre_tokenizers.ByteLevel(add_prefix_space=False)], None, [],
        ),
        "digits with blanks": (
            [pre_tokenizers.Digits(individual_digits=False),
             pre_tokenizers.ByteLevel(add_prefix_space=True)], None, [],
        ),
        "stripping": (
            [pre_tokenizers.ByteLevel(add_prefix_space=False)], normalizers.NFC(),
            [AddedToken("is", single_word=True), AddedToken("é", normalized=True, rstrip=True),
             AddedToken("<mask>", lstrip=True, rstrip=True, normalized=False)],
        ),
    }
    for name, (steps, normalizer, added) in variants.items():
        tokenizer = Tokenizer.from_str(text)
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
        if normalizer:
            tokenizer.normalizer = normalizer
        tokenizer.add_tokens(added)
        if name == "llama3":
            content = json.loads(tokenizer.to_str())
            content["model"]["ignore_merges"] = True
            # A word that no merges make.
            content["model"]["vocab"]["Ġworld"] = 501
            tokenizer = Tokenizer.from_str(json.dumps(content))
            tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
                single="<|endoftext|> $A", special_tokens=[("<|endoftext|>", 500)]
            )
        content = json.loads(tokenizer.to_str())
        fields = {key: value for key, value in content.items() if key != "model"}
        expected["variants"][name] = {"fields": fields, "texts": results(tokenizer)}
        if name == "llama3":
            # The package gives empty spans to words that were found as a whole.
            for row in expected["variants"][name]["texts"]:
                del row["spans"]
    (HERE / "expected.json").write_text(written(expected))


def gguf(path):
    from gguf import GGUFReader

    fields = GGUFReader(path).fields
    pieces = fields["tokenizer.ggml.tokens"].contents()
    types = fields["tokenizer.ggml.token_type"].contents()
    merges = [tuple(merge.split(" ")) for merge in fields["tokenizer.ggml.merges"].contents()]
    tokenizer = Tokenizer(models.BPE({piece: i for i, piece in enumerate(pieces)}, merges))
    tokenizer.add_special_tokens([piece for piece, kind in zip(pieces, types) if kind == 3])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True),
         pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    expected = {"tool": f"tokenizers {tokenizers.__version__}", "texts": results(tokenizer)}
    (HERE / "smollm2.json").write_text(written(expected))


def write_sentencepiece():
    import io

    import gguf
    import numpy
    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 3), model_writer=model, model_type="bpe", vocab_size=600,
        byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False,
        split_digits=True, allow_whitespace_only_pieces=True, num_threads=1, minloglevel=2,
    )
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    ids = range(processor.get_piece_size())
    kinds = {processor.is_unknown: 2, processor.is_control: 3, processor.is_byte: 6}
    kind_of = lambda i: next((kind for test, kind in kinds.items() if test(i)), 1)
    writer = gguf.GGUFWriter(HERE / "sentencepiece.gguf", "llama")
    for add in [writer.add_context_length, writer.add_embedding_length, writer.add_block_count,
                writer.add_feed_forward_length, writer.add_head_count]:
        add(2)
    writer.add_tokenizer_model("llama")
    writer.add_token_list([processor.id_to_piece(i) for i in ids])
    writer.add_token_scores([processor.get_score(i) for i in ids])
    writer.add_token_types([kind_of(i) for i in ids])
    writer.add_bos_token_id(processor.bos_id())
    writer.add_eos_token_id(processor.eos_id())
    writer.add_unk_token_id(processor.unk_id())
    writer.add_tensor("token_embd.weight", numpy.zeros((len(ids), 2), numpy.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    # The package takes the names of control tokens in a text for text.
    texts = [text for text in TEXTS if "<s>" not in text]
    rows = [{"text": text, "ids": [processor.bos_id()] + processor.encode(text)} for text in texts]
    expected = {"tool": f"sentencepiece {sentencepiece.__version__}", "texts": rows}
    (HERE / "sentencepiece.json").write_text(written(expected))


if __name__ == "__main__":
    if sys.argv[1:] == ["tiny"]:
        tiny()
    elif sys.argv[1:] == ["sentencepiece"]:
        write_sentencepiece()
    elif sys.argv[1:2] == ["gguf"]:
        gguf(sys.argv[2])
    else:
        sys.exit(__doc__)
