#!/usr/bin/env python3
"""Krippendorff's alpha on the nominal and the ratio scale, compared with krippendorff.

`agreement_peers.py` compares the scales that `meta table` prints.
"""

import random
import warnings

import krippendorff
import numpy as np
from common import Comparison, arguments, statistics

warnings.filterwarnings("ignore")
options = arguments()
requests, theirs = [], []
for case in range(int(500 * options.scale)):
    draw = random.Random(options.seed * 100_000 + case)
    units, raters = draw.choice([3, 6, 20, 60]), draw.choice([2, 3, 5])
    levels, missing = draw.choice([2, 5, 9]), draw.choice([0.0, 0.2, 0.5])
    values = [[None if draw.random() < missing else float(1 + draw.randrange(levels)) for _ in range(raters)]
              for _ in range(units)]
    data = np.array([[np.nan if v is None else v for v in row] for row in values]).T
    pairable = [row for row in values if sum(v is not None for v in row) > 1]
    if len({v for row in pairable for v in row if v is not None}) < 2:
        continue
    for scale in ("nominal", "ratio"):
        requests.append({"name": f"alpha-{scale}", "x": [v for row in values for v in row], "n": raters})
        theirs.append(float(krippendorff.alpha(data, level_of_measurement=scale)))
comparison = Comparison("krippendorff")
for n, (mine, their) in enumerate(zip(statistics(options.statistics, requests), theirs)):
    comparison.values("alpha (nominal, ratio), with missing ratings", n // 2, mine, [their])
comparison.finish()
