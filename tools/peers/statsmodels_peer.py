#!/usr/bin/env python3
"""Corrections of p-values for their number, compared with statsmodels."""

import random

from common import Comparison, arguments, statistics
from statsmodels.stats.multitest import multipletests

NAMES = {"holm": "holm", "benjamini-hochberg": "fdr_bh", "benjamini-yekutieli": "fdr_by"}

options = arguments()
requests, theirs = [], []
for case in range(int(100 * options.scale)):
    draw = random.Random(options.seed * 100_000 + case)
    values = [draw.random() ** 3 for _ in range(draw.choice([1, 2, 5, 20, 60]))]
    if case % 3 == 0:
        values = [round(value, 1) for value in values]
    for name, method in NAMES.items():
        requests.append({"name": name, "x": values})
        theirs.append([float(q) for q in multipletests(values, method=method)[1]])
comparison = Comparison("statsmodels")
for n, (mine, their) in enumerate(zip(statistics(options.statistics, requests), theirs)):
    comparison.values("p-values corrected by Holm, Benjamini-Hochberg and -Yekutieli", n // 3, mine, their)
comparison.finish()
