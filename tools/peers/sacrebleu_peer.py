#!/usr/bin/env python3
"""BLEU, chrF and TER of single stories, compared with sacrebleu."""

import sacrebleu.metrics as peer
from common import Comparison, Program, arguments, pairs

BLEU = {
    "bleu": {},
    "bleu:intl": {"tokenize": "intl"},
    "bleu:char": {"tokenize": "char"},
    "bleu:none": {"tokenize": "none"},
    "bleu:floor": {"smooth_method": "floor"},
    "bleu:add-k": {"smooth_method": "add-k"},
    "bleu:unsmoothed": {"smooth_method": "none"},
    "bleu:lc": {"lowercase": True},
    "bleu:intl+floor+lc": {"tokenize": "intl", "smooth_method": "floor", "lowercase": True},
}
CHRF = {"chrf": {}, "chrf:plus-plus": {"word_order": 2}}
TER = {"ter": {}, "ter:cased": {"case_sensitive": True}}

options = arguments()
made = pairs(options.seed, int(600 * options.scale))
scorers = {key: peer.BLEU(effective_order=True, **how) for key, how in BLEU.items()}
scorers |= {key: peer.CHRF(**how) for key, how in CHRF.items()}
scorers |= {key: peer.TER(**how) for key, how in TER.items()}
ours = Program(options.storymeter).scores(made, list(scorers))
comparison = Comparison("sacrebleu")
for n, ((story, references), mine) in enumerate(zip(made, ours)):
    for kind, keys in [("BLEU", BLEU), ("chrF, chrF++", CHRF), ("TER", TER)]:
        theirs = [scorers[key].sentence_score(story, references).score for key in keys]
        comparison.values(kind, f"{n} {story[:60]!r} {references!r:.120}", [mine[key] for key in keys], theirs)
comparison.finish()
