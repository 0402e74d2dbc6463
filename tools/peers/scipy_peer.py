#!/usr/bin/env python3
"""Correlations with p-values and intervals of `correlate`, compared with scipy."""

import warnings

import numpy as np
from common import Comparison, Program, arguments
from correlations import complete, correlate, data_set
from scipy import stats

warnings.filterwarnings("ignore")

# Up to so many observations, the p-values of Spearman's coefficient are those of all permutations.
EXACT = 9


def spearman_p(x, y):
    """The two-sided p-value of Spearman's coefficient: of all permutations for small samples."""
    if len(x) > EXACT or len(set(x)) == 1 or len(set(y)) == 1:
        return stats.spearmanr(x, y).pvalue
    ranks = stats.rankdata(x), stats.rankdata(y)
    # Sums of products of ranks order the permutations as the coefficient does, without rounding.
    orders = np.array(list(permutations(len(x))))
    centre = len(x) * ((len(x) + 1) / 2) ** 2
    observed = abs(ranks[0] @ ranks[1] - centre)
    return float(np.mean(np.abs(ranks[1][orders] @ ranks[0] - centre) >= observed - 1e-9))


def permutations(n, known={}):
    if n not in known:
        import itertools
        known[n] = list(itertools.permutations(range(n)))
    return known[n]


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
        pearson, spearman, kendall = stats.pearsonr(x, y), stats.spearmanr(x, y), stats.kendalltau(x, y)
        theirs = [pearson.statistic, spearman.statistic, kendall.statistic]
        comparison.values("Pearson's r, Spearman's rho, Kendall's tau", where, [mine[c] for c in ("pearson", "spearman", "kendall")], theirs)
        comparison.values(f"p-values of Spearman's rho, {'at most' if len(x) <= EXACT else 'more than'} {EXACT} stories",
                          where, [mine["p_spearman"]], [spearman_p(x, y)])
        comparison.values("p-values of Kendall's tau", where, [mine["p_kendall"]], [kendall.pvalue])
        # Of a correlation of 1, up to rounding, p and interval are what rounding makes of them.
        if 1 - abs(pearson.statistic) < 1e-9:
            continue
        comparison.values("p-values of Pearson's r", where, [mine["p_pearson"]], [pearson.pvalue])
        if len(x) > 3 and not np.isnan(pearson.statistic):
            theirs = list(pearson.confidence_interval(0.95))
            comparison.values("Fisher's intervals", where, mine["interval_pearson"] or [None, None], theirs)
comparison.finish()
