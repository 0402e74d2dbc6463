"""Writes the cosines of sentence vectors of prompts and stories, for storymeter-union's tests.

    python tools/sentence_fixtures.py WEIGHTS

Needs the packages torch and transformers, and a folder WEIGHTS with `minilm`, as
tools/test_weights.py makes it. Vectors are made as sentence-transformers makes them for
all-MiniLM-L6-v2: the mean of the last hidden states over all tokens, special ones included. The tiny
encoder of tools/encoder_fixtures.py is asked too, so that the tests need no weights. Everything is
computed in double precision.
"""

import json
import sys
from pathlib import Path

import torch
import transformers
from transformers import AutoTokenizer, BertModel

ROOT = Path(__file__).resolve().parent.parent / "crates"
TINY = ROOT / "storymeter-encoder/tests/fixtures/bert"
OUT = ROOT / "storymeter-union/tests/fixtures/sentences.json"

# A prompt and a story for each pair.
PAIRS = [
    ("The baker lost the kite.", "Mira lost her red kite. She looked in the barn."),
    ("an old red kite", "The baker burned the bread. It rained all night."),
    ("The last lighthouse keeper hears a knock at the door.",
     "Nobody had climbed the stairs of the lighthouse for years. Then someone knocked."),
    ("You wake up and can hear the thoughts of animals.",
     "The stock market fell for the third day. Brokers stared at their screens."),
    ("A whale sings in the harbour, and only one girl understands it.",
     "Every evening the girl sat on the pier and answered the whale. It asked about the moon."),
]


def cosines(folder):
    tokenizer, model = AutoTokenizer.from_pretrained(folder), BertModel.from_pretrained(folder)
    model = model.double().eval()

    def vector(text):
        inputs = tokenizer(text, return_tensors="pt")
        states = model(**inputs).last_hidden_state
        mask = inputs["attention_mask"].unsqueeze(-1).double()
        return ((states * mask).sum(1) / mask.sum(1))[0]

    with torch.no_grad():
        return [
            torch.nn.functional.cosine_similarity(vector(prompt), vector(story), dim=0).item()
            for prompt, story in PAIRS
        ]


def main():
    result = {
        "tool": f"torch {torch.__version__}, transformers {transformers.__version__}",
        "command": "tools/sentence_fixtures.py WEIGHTS",
        "pairs": [{"prompt": prompt, "story": story} for prompt, story in PAIRS],
        "bert": cosines(TINY),
        "minilm": cosines(Path(sys.argv[1]) / "minilm"),
    }
    OUT.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
