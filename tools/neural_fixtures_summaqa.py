"""Writes SummaQA's scores of a tiny model, computed with transformers.

    python tools/neural_fixtures_summaqa.py

Needs what tools/neural_tiny.py needs. The model is BERT with a head for answers and the weights of
the formula; its vocabulary is that of crates/storymeter-neural/tests/neural/support.rs. The questions
are given here, because they depend on the entities that are found. The output is
crates/storymeter-neural/tests/fixtures/summaqa.json.
"""

import collections
import json
import re
import string
import tempfile
from pathlib import Path

import torch
import transformers

from neural_tiny import TOOL, fill

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "crates/storymeter-neural/tests"
REFERENCE = "Mara saw the lighthouse every night. At last she lit two lamps in the dark."
QUESTIONS = [
    ("MASKED saw the lighthouse every night.", "Mara"),
    ("Mara saw the lighthouse MASKED.", "every night"),
    ("At last she lit MASKED lamps in the dark.", "two"),
]
SHORT = "Every night Mara climbed the stairs, and she lit the small lamp."
LONG = "The old keeper lit a small candle, and a lost ship found its way home. " * 40


def f1(answer, expected):
    def words(text):
        text = "".join(c for c in text.lower() if c not in string.punctuation)
        return re.sub(r"\b(a|an|the)\b", " ", text).split()

    ours, theirs = words(answer), words(expected)
    same = sum((collections.Counter(ours) & collections.Counter(theirs)).values())
    return 2 * same / (len(ours) + len(theirs)) if same else 0.0


def main():
    source = (TESTS / "support/mod.rs").read_text()
    pieces = [f"[unused{i}]" for i in range(30522)]
    for piece, number in re.findall(r'\("([^"]+)", (\d+)\)', source):
        pieces[int(number)] = piece
    folder = Path(tempfile.mkdtemp())
    (folder / "vocab.txt").write_text("\n".join(pieces))
    tokenizer = transformers.BertTokenizerFast(str(folder / "vocab.txt"))
    config = transformers.BertConfig(
        vocab_size=30522, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=64, max_position_embeddings=512,
    )
    model = fill(transformers.BertForQuestionAnswering(config))
    cases = []
    for story in (SHORT, LONG):
        rows = []
        for question, expected in QUESTIONS:
            one = tokenizer(question, story, max_length=384, truncation="longest_first",
                            return_offsets_mapping=True)
            offsets = one.pop("offset_mapping")
            plain = {name: torch.tensor([value]) for name, value in one.items()}
            with torch.no_grad():
                out = model(**plain)
            start = torch.softmax(out.start_logits[0].double(), 0)
            end = torch.softmax(out.end_logits[0].double(), 0)
            places = [i for i, s in enumerate(one["token_type_ids"]) if s == 1][:-1]
            _, a, b = max(
                ((float(start[a] * end[b]), -a, -b) for a in places for b in places if a <= b)
            )
            a, b = -a, -b
            answer = story[offsets[a][0] : offsets[b][1]]
            row = {"probability": float(start[a] * end[b]), "answer": answer,
                   "f": f1(answer, expected)}
            padded = tokenizer(question, story, max_length=384, truncation="longest_first",
                               padding="max_length", return_tensors="pt")
            with torch.no_grad():
                out = model(**padded)
            segments = padded["token_type_ids"][0].double()
            start = torch.softmax(out.start_logits[0].double(), 0) * segments
            end = torch.softmax(out.end_logits[0].double(), 0) * segments
            row["padded"] = float(start.max() * end.max())
            rows.append(row)
        cases.append({"story": story, "questions": rows})
    fixture = {
        "tool": TOOL,
        "command": "python tools/neural_fixtures_summaqa.py",
        "reference": REFERENCE,
        "cases": cases,
    }
    (TESTS / "fixtures/summaqa.json").write_text(json.dumps(fixture, indent=1) + "\n")


if __name__ == "__main__":
    main()
