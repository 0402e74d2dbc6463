"""Writes what transformers computes with SmolLM2-135M from its GGUF file, in 32 bits.

    python tools/neural_fixtures_smollm2.py WEIGHTS

WEIGHTS is the folder of tools/test_weights.py. The output is
crates/storymeter-neural/tests/fixtures/smollm2.json: the token ids and the log-probability of each
token given those before it, for 20 stories of examples/stories.jsonl and for texts that are hard
on a tokeniser. Needs transformers 4.57.1: version 4.44 cannot read Q4_1 blocks.

The tokens are made by the package tokenizers with SmolLM2's rule, by which every digit stands
alone before the byte-level rule of GPT-2 is applied. The tokeniser that transformers makes from a
GGUF file lacks the rule for digits, so it differs where several blanks precede a digit.
"""

import importlib.metadata
import sys
from pathlib import Path

import torch
import transformers
from gguf import GGUFReader
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from neural_texts import NASTY, ROOT, stories, written

OUT = ROOT / "crates/storymeter-neural/tests/fixtures/smollm2.json"


def tokenizer_of(path):
    reader = GGUFReader(path)

    def strings(name):
        field = reader.fields[name]
        return [bytes(field.parts[index]).decode("utf-8") for index in field.data]

    vocabulary = {token: i for i, token in enumerate(strings("tokenizer.ggml.tokens"))}
    merges = [tuple(merge.split(" ")) for merge in strings("tokenizer.ggml.merges")]
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def main():
    folder = Path(sys.argv[1]) / "smollm2"
    (path,) = folder.glob("*.gguf")
    tokenizer = tokenizer_of(path)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        folder, gguf_file=path.name, torch_dtype=torch.float32, attn_implementation="eager"
    ).eval()

    def likelihoods(ids):
        with torch.no_grad():
            logs = model(torch.tensor([ids])).logits[0].log_softmax(-1)
        return [float(f"{logs[i, token]:.7g}") for i, token in enumerate(ids[1:])]

    texts = stories()
    chosen = [name for name in texts if name.endswith("-sound")] + list(texts)[-2:]
    cases = []
    for name in chosen:
        plain = tokenizer.encode(texts[name]).ids
        # Token 1 is the beginning-of-text token of SmolLM2.
        cases.append({"story": name, "ids": plain, "likelihoods": likelihoods([1] + plain)})
    nasty = []
    for name, text in NASTY.items():
        plain = tokenizer.encode(text).ids
        assert tokenizer.decode(plain) == text, name
        entry = {"name": name, "text": text, "ids": plain, "likelihoods": likelihoods([1] + plain)}
        nasty.append(entry)
    plain = tokenizer.encode(texts[chosen[0]]).ids
    versions = {
        name: importlib.metadata.version(name)
        for name in ("torch", "transformers", "gguf", "tokenizers")
    }
    fixture = {
        "tool": ", ".join(f"{name} {version}" for name, version in versions.items()),
        "command": "python tools/neural_fixtures_smollm2.py WEIGHTS",
        "model": path.name,
        "first_token": 1,
        "note": "likelihoods: of each token of ids, after first_token and the tokens before it",
        "without_first_token": {"story": chosen[0], "likelihoods": likelihoods(plain)},
        "stories": cases,
        "texts": nasty,
    }
    written(OUT, fixture)


if __name__ == "__main__":
    main()
