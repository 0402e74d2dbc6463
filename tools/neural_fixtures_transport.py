"""Writes values of MoverScore, BaryScore and DepthScore with MiniLM on texts of the project's own.

    python tools/neural_fixtures_transport.py WEIGHTS

WEIGHTS is the folder of tools/test_weights.py. The output is
crates/storymeter-neural/tests/fixtures/transport.json. The procedures are those of
tools/neural_procedures.py, whose solvers are POT and pyemd. A text is named as in bertscore.json.
"""

import importlib.metadata
import sys
from pathlib import Path

import neural_procedures as procedures
from neural_fixtures_bertscore import texts
from neural_texts import ROOT, written

OUT = ROOT / "crates/storymeter-neural/tests/fixtures/transport.json"

# Hypothesis and reference.
PAIRS = [
    ("A", "C"),
    ("B", "C"),
    ("C", "A"),
    ("unicode", "capitals"),
    ("one_word", "A"),
    ("contractions", "spaces"),
    ("lighthouse-repetition", "lighthouse-sound"),
    ("clockmaker-repetition", "clockmaker-sound"),
    ("long", "bread-sound"),
]


def short(value):
    return float(f"{value:.12g}")


def main():
    folder = Path(sys.argv[1]) / "minilm"
    encoder = procedures.Encoder(folder)
    named = texts()
    hypotheses = [named[hypothesis] for hypothesis, _ in PAIRS]
    references = [named[reference] for _, reference in PAIRS]
    tables = (
        procedures.inverse_frequencies([encoder.ids(text) for text in hypotheses]),
        procedures.inverse_frequencies([encoder.ids(text) for text in references]),
    )
    stops = procedures.STOP_WORDS

    def each(score):
        return [short(score(h, r)) for h, r in zip(hypotheses, references)]

    v2, v1 = procedures.moverscore_v2, procedures.moverscore_v1
    mover = {
        "v2": each(lambda h, r: v2(encoder, h, r)),
        "v2_stops": each(lambda h, r: v2(encoder, h, r, stops=stops)),
        "v2_idf": each(lambda h, r: v2(encoder, h, r, tables)),
        "v2_idf_stops": each(lambda h, r: v2(encoder, h, r, tables, stops)),
        "v1_n1": each(lambda h, r: v1(encoder, h, r, 1)),
        "v1_n2": each(lambda h, r: v1(encoder, h, r, 2)),
        "v1_n1_stops": each(lambda h, r: v1(encoder, h, r, 1, stops=stops)),
        "v1_n1_idf_stops": each(lambda h, r: v1(encoder, h, r, 1, tables, stops)),
        "v1_n2_idf_stops": each(lambda h, r: v1(encoder, h, r, 2, tables, stops)),
    }
    layers = range(2, 7)
    clouds = [(encoder.clouds(h, layers), encoder.clouds(r, layers)) for h, r in zip(hypotheses, references)]

    def bary(**how):
        rows = [procedures.baryscore(h, r, **how) for h, r in clouds]
        return [{key: short(value) for key, value in row.items()} for row in rows]

    packages = ("torch", "transformers", "POT", "pyemd", "numpy")
    fixture = {
        "tool": ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages),
        "command": "python tools/neural_fixtures_transport.py WEIGHTS",
        "model": "minilm",
        "note": "idf: hypotheses and references of these pairs, each side with its own table. "
        "MoverScore v2 reads layer 6, v1 and BaryScore layers 2 to 6, DepthScore layer 6. "
        "released: barycentre from zeros, Sinkhorn-Knopp. mean: the mean of the layers, Sinkhorn "
        "in log space (at most 10,000 iterations, tolerance 1e-9; sd-0.001 does not converge).",
        "pairs": [list(pair) for pair in PAIRS],
        "moverscore": mover,
        "baryscore_released": bary(),
        "baryscore_mean": bary(start="mean", method="sinkhorn_log"),
        "depthscore": [short(procedures.depthscore(h[-1], r[-1])) for h, r in clouds],
    }
    written(OUT, fixture)


if __name__ == "__main__":
    main()
