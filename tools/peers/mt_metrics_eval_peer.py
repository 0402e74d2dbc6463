#!/usr/bin/env python3
"""Correlations per item, pairwise accuracy and Williams' test, compared with mt-metrics-eval.

    MT_METRICS_EVAL=FOLDER mt_metrics_eval_peer.py

The folder is a clone of https://github.com/google-research/mt-metrics-eval at the commit below;
`run` makes it. The program is not on the Python package index. The package that has its name there
is not Google's, and must not be installed.
"""

import os
import random
import sys
import warnings

from common import Comparison, Program, arguments, statistics
from correlations import complete, correlate, data_set

COMMIT = "0b82d96b9a75ac392ddc44587fff2acae2c3c63e"
sys.path.insert(0, os.environ["MT_METRICS_EVAL"])
from mt_metrics_eval import stats  # noqa: E402

warnings.filterwarnings("ignore")
METRICS = 4


def study(seed):
    """Ratings and scores of all systems and items. Some ratings are missing, and some values tie."""
    draw = random.Random(seed)
    systems, items = draw.choice([4, 5, 8, 10]), draw.choice([4, 10, 30])
    missing = draw.choice([0.0, 0.0, 0.1])
    human, scores = [], {f"m{m}": [] for m in range(METRICS)}
    for _ in range(systems * items):
        quality = draw.gauss(0, 1)
        human.append(None if draw.random() < missing else float(round(quality * 1.5)))
        for m, values in enumerate(scores.values()):
            value = quality * (m - 1) / 2 + draw.gauss(0, 1)
            values.append(float(round(value)) if m == 3 else value)
    return systems, items, human, scores


def values_of_study(systems, items, human, scores):
    records = [
        {"id": str(n), "system": f"s{n // items}", "item": str(n % items),
         "scores": {name: values[n] for name, values in scores.items()},
         "human": {} if human[n] is None else {"quality": human[n]}}
        for n in range(systems * items)
    ]
    higher = [word for name in scores for word in ("--higher", name)]
    sheets = program.sheets(records, "correlations", "pair-accuracy", options=higher)
    found = {(row["metric"], row["level"], row["coefficient"]): row["value"] for row in sheets["correlations"]}
    return found, {row["metric"]: row for row in sheets["pair-accuracy"]}


def compare_study(case):
    systems, items, human, scores = study(options.seed * 100_000 + case)
    found, accuracy = values_of_study(systems, items, human, scores)
    # Two systems always have a correlation of 1 or -1. We leave items with fewer than three out.
    rated = [sum(human[s * items + item] is not None for s in range(systems)) for item in range(items)]
    enough = [value if rated[n % items] > 2 else None for n, value in enumerate(human)]
    for name, values in scores.items():
        where = f"{case} {name}"
        for level, average, gold in [("story", "item", enough), ("pooled", "none", human)]:
            peer = stats.Correlation(systems, gold, values)
            theirs = [peer.Pearson(average)[0], peer.Spearman(average)[0], peer.Kendall(average)[0]]
            ours = [found[name, level, c] for c in ("pearson", "spearman", "kendall")]
            comparison.values("correlations per item and pooled", where, ours, [float(v) for v in theirs])
        peer = stats.Correlation(systems, human, values)
        calibrated = peer.KendallWithTiesOpt("item", sample_rate=1.0)[0]
        exact = peer.KendallVariants("item", variant="acc23")[0]
        ours = [accuracy[name]["accuracy"], accuracy[name]["without calibration"]]
        comparison.values("pairwise accuracy with and without tie calibration", where, ours,
                          [float(calibrated), float(exact)])


def strengths(human, first, second, function):
    """Correlations of metrics whose direction is unknown: both are turned to be positive."""
    r12, r13, r23 = (float(function(a, b)[0]) for a, b in [(human, first), (human, second), (first, second)])
    turn = (-1 if r12 < 0 else 1) * (-1 if r13 < 0 else 1)
    return abs(r12), abs(r13), turn * r23


def compare_tests(case):
    """Williams' test of `correlate`, two-sided."""
    human, scores = data_set(options.seed * 100_000 + case)
    scores = {name: values for name, values in scores.items() if None not in values}
    if len(scores) < 2:
        return
    functions = {"pearson": stats.scipy.stats.pearsonr, "spearman": stats.scipy.stats.spearmanr,
                 "kendall": stats.scipy.stats.kendalltau}
    for test in correlate(program, human, scores)["=tests"]:
        x, y, z = complete(human, scores[test["first"]], scores[test["second"]])
        r12, r13, r23 = strengths(x, y, z, functions[test["coefficient"]])
        # Correlations of 1, up to rounding, leave nothing but rounding errors to divide.
        determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
        if not determinant > 1e-6 or len(x) < 4:
            continue
        theirs = float(stats.WilliamsTest(r12, r13, r23, len(x), one_sided=False))
        where = f"{case} {test['first']} {test['second']} {test['coefficient']}, n = {len(x)}"
        comparison.values("Williams' test of `correlate`", where, [test["p"]], [theirs])


def compare_library():
    """Williams' test of the library, on correlations that can occur together."""
    draw = random.Random(options.seed)
    requests, theirs = [], []
    while len(requests) < 1500 * options.scale:
        r = [draw.choice([draw.uniform(-0.99, 0.99), round(draw.uniform(-0.9, 0.9), 1)]) for _ in range(3)]
        n = draw.choice([4, 5, 10, 96, 1000])
        if 1 - r[0]**2 - r[1]**2 - r[2]**2 + 2 * r[0] * r[1] * r[2] < 1e-6:
            continue
        requests.append({"name": "williams", "x": r, "n": n})
        theirs.append(float(stats.WilliamsTest(*r, n, one_sided=False)))
    for n, (mine, their) in enumerate(zip(statistics(options.statistics, requests), theirs)):
        comparison.values("Williams' test of three correlations", f"{n} {requests[n]}", [mine[2]], [their])


options = arguments()
program = Program(options.storymeter)
comparison = Comparison("mt-metrics-eval", version=COMMIT[:7])
for number in range(int(150 * options.scale)):
    compare_study(number)
for number in range(int(150 * options.scale)):
    compare_tests(number)
compare_library()
comparison.finish()
