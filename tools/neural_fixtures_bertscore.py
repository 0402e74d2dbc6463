"""Writes the scores of bert-score 0.3.13 with real weights on texts of the project's own.

    python tools/neural_fixtures_bertscore.py WEIGHTS

WEIGHTS is the folder of tools/test_weights.py. The output is
crates/storymeter-neural/tests/fixtures/bertscore.json. Pairs are scored one at a time (batch size
1), because bert-score raises a negative best similarity to 0 where a batch is padded. A text is
named: a name of tools/neural_texts.py, or the id of an example story. null stands for NaN.
"""

import math
import sys
import tempfile
from pathlib import Path

import bert_score
import torch
import transformers

from neural_texts import A, B, C, NASTY, Q, ROOT, long_text, stories, written

OUT = ROOT / "crates/storymeter-neural/tests/fixtures/bertscore.json"

# Candidate and reference. "long" and "long_backwards" have more than 512 tokens.
PAIRS = [
    ("A", "C"),
    ("B", "C"),
    ("C", "C"),
    ("unicode", "capitals"),
    ("spaces", "controls"),
    ("contractions", "long_word"),
    ("one_word", "A"),
    ("one_word", "one_word"),
    ("stop_words", "punctuation"),
    ("empty", "C"),
    ("A", "empty"),
    ("empty", "empty"),
    ("long", "long_backwards"),
    ("long", "Q"),
    ("lighthouse-repetition", "lighthouse-sound"),
    ("bread-sound", "bicycle-sound"),
]
SEVERAL = [("A", ["C", "B"]), ("B", ["Q", "C", "A"]), ("unicode", ["empty", "capitals", "A"])]
BASELINE = [(0.2 + 0.05 * layer, 0.21 + 0.05 * layer, 0.19 + 0.05 * layer) for layer in range(13)]


def texts():
    named = dict(NASTY, A=A, B=B, C=C, Q=Q, empty="", long=long_text())
    named["long_backwards"] = " ".join(reversed(long_text().split(" ")))
    named.update(stories())
    return named


def main():
    weights = Path(sys.argv[1])
    named = texts()
    bases = Path(tempfile.mkdtemp()) / "baseline.tsv"
    lines = ["LAYER,P,R,F"] + [f"{i},{p},{r},{f}" for i, (p, r, f) in enumerate(BASELINE)]
    bases.write_text("\n".join(lines) + "\n")

    def score(folder, layer, pairs, **options):
        candidates = [named[candidate] for candidate, _ in pairs]
        references = [
            [named[name] for name in reference] if isinstance(reference, list) else named[reference]
            for _, reference in pairs
        ]
        values = bert_score.score(
            candidates,
            references,
            model_type=str(weights / folder),
            num_layers=layer,
            device="cpu",
            nthreads=0,
            batch_size=1,
            **options,
        )
        rows = torch.stack(values).T.double().tolist()
        return [[None if math.isnan(x) else float(f"{x:.8g}") for x in row] for row in rows]

    plain = [
        {"model": folder, "layer": layer, "scores": score(folder, layer, PAIRS)}
        for folder, layers in (("minilm", range(1, 7)), ("mpnet", (8, 12)))
        for layer in layers
    ]
    options = []
    for folder, layer in (("minilm", 6), ("minilm", 4), ("mpnet", 8)):
        rescale = dict(rescale_with_baseline=True, baseline_path=str(bases), lang="en")
        several = {
            "plain": score(folder, layer, SEVERAL),
            "idf": score(folder, layer, SEVERAL, idf=True),
        }
        options.append(
            {
                "model": folder,
                "layer": layer,
                "idf": score(folder, layer, PAIRS, idf=True),
                "rescaled": score(folder, layer, PAIRS, **rescale),
                "idf_rescaled": score(folder, layer, PAIRS, idf=True, **rescale),
                "several": several["plain"],
                "several_idf": several["idf"],
            }
        )
    fixture = {
        "tool": f"bert-score {bert_score.__version__}, torch {torch.__version__}, "
        f"transformers {transformers.__version__}",
        "command": "python tools/neural_fixtures_bertscore.py WEIGHTS",
        "note": "Scores are rows of precision, recall and F, in the order of the pairs.",
        "texts": {name: named[name] for name in ["A", "B", "C", "Q", "empty", *NASTY]},
        "long": "the stories of examples/stories.jsonl whose id ends with -sound, joined by blanks",
        "long_backwards": "the words of long, split at single blanks, in reverse order",
        "pairs": [list(pair) for pair in PAIRS],
        "pairs_with_several_references": [list(pair) for pair in SEVERAL],
        "baseline": [list(row) for row in BASELINE],
        "plain": plain,
        "options": options,
    }
    written(OUT, fixture)


if __name__ == "__main__":
    main()
