#!/usr/bin/env python3
"""METEOR 1.5 and CIDEr-D, compared with the jar and the code of pycocoevalcap. Needs java."""

import pathlib
import sys

import pycocoevalcap
from common import ROOT, Comparison, Program, arguments, pairs
from pycocoevalcap.cider.cider import Cider

sys.path.insert(0, str(ROOT / "tools"))
from peer_scores import meteor_jar  # noqa: E402

options = arguments()
program = Program(options.storymeter)
comparison = Comparison("pycocoevalcap")
made = pairs(options.seed + 2000, int(400 * options.scale))
folder = pathlib.Path(pycocoevalcap.__path__[0]) / "meteor"
ours = program.scores(made, ["meteor"], "--weights", f"meteor={folder}")
for n, ((story, references), mine, theirs) in enumerate(zip(made, ours, meteor_jar(made))):
    comparison.values("METEOR 1.5 (the jar)", f"{n} {story[:60]!r} {references!r:.120}", [mine["meteor"]], [theirs])

# Document frequencies belong to a batch, and so batches of several sizes are cases of their own.
made = pairs(options.seed + 3000, int(1000 * options.scale))
for size in (2, 7, 40, 150):
    for start in range(0, len(made) // 4, size):
        batch = made[start:start + size]
        theirs = Cider().compute_score({n: r for n, (_, r) in enumerate(batch)}, {n: [s] for n, (s, _) in enumerate(batch)})
        for n, (mine, their) in enumerate(zip(program.scores(batch, ["cider-d:split"]), theirs[1])):
            story, references = batch[n]
            where = f"{start + n} of batches of {size} {story[:60]!r} {references!r:.120}"
            comparison.values("CIDEr-D", where, [mine["cider-d:split"]], [float(their)])
comparison.finish()
