#!/usr/bin/env python3
"""ROUGE, compared with rouge-score (with and without its stemmer)."""

from common import Comparison, Program, arguments, pairs
from rouge_score import rouge_scorer

NAMES = {"rouge1": "rouge-1", "rouge2": "rouge-2", "rougeL": "rouge-l", "rougeLsum": "rouge-lsum"}

options = arguments()
made = pairs(options.seed + 1000, int(500 * options.scale))
ours = Program(options.storymeter).scores(made, ["rouge:google", "rouge:google-stem"])
comparison = Comparison("rouge-score", "rouge_score")
for preset, stems in [("google", False), ("google-stem", True)]:
    scorer = rouge_scorer.RougeScorer(list(NAMES), use_stemmer=stems)
    for n, ((story, references), mine) in enumerate(zip(made, ours)):
        found = scorer.score_multi(references, story)
        theirs, keys = [], []
        for name, member in NAMES.items():
            theirs += [found[name].recall, found[name].precision, found[name].fmeasure]
            keys += [f"rouge:{preset}/{member}-{part}" for part in "rpf"]
        where = f"{n} {story[:60]!r} {references!r:.120}"
        comparison.values("ROUGE-1, -2, -L, -Lsum" + ", stemmed" * stems, where, [mine[key] for key in keys], theirs)
comparison.finish()
