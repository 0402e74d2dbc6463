#!/usr/bin/env python3
"""Times scipy, pingouin, krippendorff and storymeter-stats on the same inputs.

    python benches/peers/stats.py

Run it in the root of the project. It needs cargo and the packages of tools/stats_fixtures.py. Both
sides report the best of three runs, and values that differ by more than 1e-10 are marked.
"""

import pathlib
import subprocess
import sys
import time
import warnings

import krippendorff
import numpy as np
import pandas as pd
import pingouin
from scipy import stats

warnings.filterwarnings("ignore")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from stats_fixtures import uniform  # noqa: E402

x = uniform(1, 1_000_000)
y = x + uniform(2, 1_000_000)
x5, y5 = np.floor(x * 5), np.floor(y * 5)
ratings = x5[: 1056 * 3].reshape(1056, 3)
t, r = np.meshgrid(np.arange(1056), np.arange(3), indexing="ij")
frame = pd.DataFrame({"t": t.ravel(), "r": r.ravel(), "v": ratings.ravel()})


def icc1k():
    found = pingouin.intraclass_corr(frame, targets="t", raters="r", ratings="v")
    return found["ICC"].iloc[3]


def bca():
    rng = np.random.default_rng(0)
    stats.bootstrap((x[:200], y[:200]), lambda a, b, axis: stats.pearsonr(a, b, axis=axis).statistic, paired=True,
                    vectorized=True, n_resamples=9999, rng=rng)
    return stats.pearsonr(x[:200], y[:200]).statistic


PEERS = {
    "kendall, 1 million": lambda: stats.kendalltau(x, y).statistic,
    "kendall, 1 million, five and ten values": lambda: stats.kendalltau(x5, y5).statistic,
    "spearman, 1 million": lambda: stats.spearmanr(x, y).statistic,
    "pearson, 1 million": lambda: stats.pearsonr(x, y).statistic,
    "kendall, 400": lambda: stats.kendalltau(x[:400], y[:400]).statistic,
    "spearman, 400": lambda: stats.spearmanr(x[:400], y[:400]).statistic,
    "pearson, 400": lambda: stats.pearsonr(x[:400], y[:400]).statistic,
    "icc, 1056 x 3": icc1k,
    "krippendorff interval, 1056 x 3": lambda: krippendorff.alpha(ratings.T, level_of_measurement="interval"),
    "bca bootstrap of pearson, n = 200, 9,999 resamples": bca,
}

build = ["cargo", "build", "--release", "-q", "-p", "storymeter-stats", "--example", "stats_timings"]
subprocess.run(build, cwd=ROOT, check=True)
ours = subprocess.run([ROOT / "target/release/examples/stats_timings"], check=True, capture_output=True, text=True)
print(f"{'task':52}{'peer ms':>10}{'ours ms':>10}{'ratio':>8}")
for line in ours.stdout.splitlines():
    name, seconds, value = line.split("\t")
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        theirs = PEERS[name]()
        best = min(best, time.perf_counter() - start)
    mark = "" if abs(theirs - float(value)) <= 1e-10 else f"  DIFFERS: {theirs} and {value}"
    print(f"{name:52}{best * 1e3:10.3f}{float(seconds) * 1e3:10.3f}{best / float(seconds):8.1f}{mark}")
