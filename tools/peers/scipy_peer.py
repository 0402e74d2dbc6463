#!/usr/bin/env python3
"""Correlations with p-values and intervals of `correlate`, compared with scipy."""

import functools
import itertools
import warnings

import numpy as np
from common import Comparison, Program, arguments
from correlations import complete, correlate, data_set
from scipy import stats

warnings.filterwarnings("ignore")

# Up to so many stories, p-values are those of all permutations.
EXACT = 9
FUNCTIONS = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


@functools.cache
def orders(n):
    """All orders of n things, one per row."""
    return np.array(list(itertools.permutations(range(n))))


def signs(values):
    return np.sign(np.subtract.outer(values, values))


def strengths(name, x, y):
    """For every order of y, a number that is proportional to its correlation with x."""
    every = orders(len(x))
    if name == "kendall":
        ours, theirs = signs(x), signs(y)
        pairs = itertools.combinations(range(len(x)), 2)
        return sum(ours[i, j] * theirs[every[:, i], every[:, j]] for i, j in pairs)
    if name == "spearman":
        x, y = stats.rankdata(x), stats.rankdata(y)
    x, y = (np.array(v) - np.mean(v) for v in (x, y))
    return (y / np.abs(y).max())[every] @ (x / np.abs(x).max())


def p_value(name, x, y):
    """The two-sided p-value. The first of all orders is the one that was observed."""
    if len(x) > EXACT or len(set(x)) == 1 or len(set(y)) == 1:
        return float(FUNCTIONS[name](x, y).pvalue)
    found = np.abs(strengths(name, np.array(x), np.array(y)))
    # Sums that differ by so little are equal but for rounding.
    return float(np.mean(found >= found[0] - 1e-12 * len(x)))


options = arguments()
program = Program(options.storymeter)
comparison = Comparison("scipy")
for case in range(int(400 * options.scale)):
    human, scores = data_set(options.seed * 100_000 + case)
    found = correlate(program, human, scores)
    for name, values in scores.items():
        x, y = complete(human, values)
        if len(x) < 3:
            continue
        mine, where = found[name], f"{case} {name}, n = {len(x)}"
        theirs = [function(x, y).statistic for function in FUNCTIONS.values()]
        comparison.values("Pearson's r, Spearman's rho, Kendall's tau", where, [mine[c] for c in FUNCTIONS], theirs)
        # Of a correlation of 1, up to rounding, p and interval are what rounding makes of them.
        if 1 - abs(theirs[0]) < 1e-9:
            continue
        kind = "p-values of all orders, up to 9 stories (counted by the script)" if len(x) <= EXACT else "p-values, from 10 stories on"
        comparison.values(kind, where, [mine[f"p_{c}"] for c in FUNCTIONS], [p_value(c, x, y) for c in FUNCTIONS])
        if len(x) > 3 and not np.isnan(theirs[0]):
            interval = list(stats.pearsonr(x, y).confidence_interval(0.95))
            comparison.values("Fisher's intervals", where, mine["interval_pearson"] or [None, None], interval)
comparison.finish()
