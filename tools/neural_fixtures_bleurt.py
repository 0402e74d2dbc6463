"""Writes BLEURT's scores of a tiny model, computed with transformers.

    python tools/neural_fixtures_bleurt.py
    python tools/neural_fixtures_bleurt.py FOLDER STORY REFERENCE

Needs what tools/neural_tiny.py needs. The model is BERT with a head of one label and the weights of
the formula; its vocabulary is that of crates/storymeter-neural/tests/neural/support.rs. The output is
crates/storymeter-neural/tests/fixtures/bleurt.json.

With three arguments, the script prints the score of a pair by a model in a folder, such as one that
`storymeter train --kind bleurt` saved. It then fails if transformers would have to make up a
tensor, or has no use for one.
"""

import json
import re
import sys
import tempfile
from pathlib import Path

import torch
import transformers

from neural_tiny import TOOL, fill

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "crates/storymeter-neural/tests"


def inputs(tokenizer, reference, story, most):
    """[CLS] reference [SEP] story [SEP]: the longer text loses its last token until both fit."""
    first, second = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in (reference, story))
    while len(first) + len(second) > most - 3:
        (first if len(first) > len(second) else second).pop()
    ids = [tokenizer.cls_token_id, *first, tokenizer.sep_token_id, *second, tokenizer.sep_token_id]
    segments = [0] * (len(first) + 2) + [1] * (len(second) + 1)
    return torch.tensor([ids]), torch.tensor([segments])


def score(model, tokenizer, reference, story, most):
    ids, segments = inputs(tokenizer, reference, story, most)
    with torch.no_grad():
        return model(input_ids=ids, token_type_ids=segments).logits[0, 0].item()


def texts(source):
    """The texts A, B and C of the tests."""
    found = re.findall(r'pub const ([ABC]): &str = "((?:[^"\\]|\\\n)*)";', source)
    return {name: re.sub(r"\\\n\s*", "", text) for name, text in found}


def tiny():
    source = (TESTS / "support/mod.rs").read_text()
    pieces = [f"[unused{i}]" for i in range(30522)]
    for piece, number in re.findall(r'\("([^"]+)", (\d+)\)', source):
        pieces[int(number)] = piece
    folder = Path(tempfile.mkdtemp())
    (folder / "vocab.txt").write_text("\n".join(pieces))
    tokenizer = transformers.BertTokenizerFast(str(folder / "vocab.txt"))
    config = transformers.BertConfig(
        vocab_size=30522, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=64, max_position_embeddings=512, num_labels=1,
    )
    model = fill(transformers.BertForSequenceClassification(config))
    text = texts(source)
    assert len(text) == 3, text
    a, b, c = (text[name] for name in "ABC")
    pairs = [(c, a), (c, b), (a, a), (b, " ".join([a] * 20)), (" ".join([b] * 9), " ".join([c] * 9)), (a, "")]
    cases = [
        {"reference": reference, "story": story,
         "512": score(model, tokenizer, reference, story, 512),
         "128": score(model, tokenizer, reference, story, 128)}
        for reference, story in pairs
    ]
    result = {"tool": TOOL, "command": "tools/neural_fixtures_bleurt.py", "cases": cases}
    (TESTS / "fixtures/bleurt.json").write_text(json.dumps(result, indent=1) + "\n")


def saved(folder, story, reference):
    model, info = transformers.AutoModelForSequenceClassification.from_pretrained(
        folder, output_loading_info=True
    )
    odd = {name: list(found) for name, found in info.items() if found}
    assert not odd, odd
    assert model.config.num_labels == 1, model.config
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    most = model.config.task_specific_params["bleurt"]["max_tokens"]
    print(score(model.eval(), tokenizer, reference, story, most))


if len(sys.argv) == 4:
    saved(*sys.argv[1:])
else:
    tiny()
