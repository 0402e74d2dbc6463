"""Times the whole HANNA analysis in Python and as `storymeter meta hanna`, in one run.

    python benches/peers/hanna.py [FOLDER] [BINARY]

FOLDER holds hanna_metric_scores.csv and ratings.csv (by default ../shared/data/annotated/hanna).
BINARY is target/release/storymeter by default. The script needs numpy, pandas, scipy, scikit-learn
and pingouin, and takes a few minutes, because every number is computed and nothing is extrapolated.
It prints wall time and processor time; on a busy machine, trust the second.

The Python side is the straightforward program: one scipy call per correlation, and numpy over the
columns in the bootstrap.
"""

import itertools
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pingouin
from scipy import stats
from sklearn.metrics import f1_score

warnings.filterwarnings("ignore")
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data/annotated/hanna")
binary = sys.argv[2] if len(sys.argv) > 2 else "target/release/storymeter"
COEFFICIENTS = {
    "pearson": lambda a, b: stats.pearsonr(a, b).statistic,
    "spearman": lambda a, b: stats.spearmanr(a, b).statistic,
    "kendall": lambda a, b: stats.kendalltau(a, b).statistic,
}
steps = {}


class step:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self.start = time.perf_counter()

    def __exit__(self, *_):
        steps[self.name] = time.perf_counter() - self.start
        print(f"  {self.name}: {steps[self.name]:.2f} s", flush=True)


def coefficient(name, a, b):
    if np.all(a == a[0]) or np.all(b == b[0]):
        return np.nan
    return COEFFICIENTS[name](a, b)


def williams(r12, r13, r23, n):
    sign = np.sign(r12) * np.sign(r13)
    r12, r13, r23 = abs(r12), abs(r13), sign * r23
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    t = (r12 - r13) * np.sqrt((n - 1) * (1 + r23))
    t /= np.sqrt(2 * k * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3)
    return 1 - stats.t.cdf(t, n - 3)


print("Python:")
begin = time.perf_counter()
begin_cpu = time.process_time()
with step("read"):
    frame = pd.read_csv(folder / "hanna_metric_scores.csv", index_col=0).map(json.loads)
    columns = list(frame.columns)
    criteria, metrics = columns[:6], columns[6:]
    systems = [s for s in frame.index if s != "Human"]
    # By column, system and item.
    scores = np.array([[frame.loc[s, c] for s in systems] for c in columns], dtype=float)
    ratings = pd.read_csv(folder / "ratings.csv")
pairs = list(itertools.combinations(range(len(columns)), 2))
means = scores.mean(axis=2)
found = {}
with step("story-level correlations"):
    for name in COEFFICIENTS:
        for a, b in pairs:
            each = [coefficient(name, scores[a, :, i], scores[b, :, i]) for i in range(scores.shape[2])]
            found["story", name, a, b] = np.nanmean(each)
with step("system-level correlations"):
    for name in COEFFICIENTS:
        for a, b in pairs:
            found["system", name, a, b] = coefficient(name, means[a], means[b])
with step("pooled correlations"):
    for name in COEFFICIENTS:
        for a, b in pairs:
            found["pooled", name, a, b] = coefficient(name, scores[a].ravel(), scores[b].ravel())
with step("paired bootstrap and F1"):
    rng = np.random.default_rng(1)
    labels = {c: [] for c in range(len(columns))}
    for later in range(1, len(systems)):
        for earlier in range(later):
            wins = np.zeros((2, len(columns)))
            for _ in range(1000):
                draw = rng.integers(0, scores.shape[2], scores.shape[2])
                one, two = scores[:, later, draw].mean(axis=1), scores[:, earlier, draw].mean(axis=1)
                wins[0] += one > two
                wins[1] += two > one
            for c in range(len(columns)):
                labels[c].append(1 if wins[0, c] >= 950 else 2 if wins[1, c] >= 950 else 0)
    f1 = [[f1_score(labels[c], labels[m], average="weighted") for c in range(6)] for m in range(6, len(columns))]
with step("Williams matrices"):
    for level, n in (("story", scores.shape[2]), ("system", len(systems))):
        for c in range(6):
            for a, b in itertools.combinations(range(6, len(columns)), 2):
                r12, r13 = found[level, "pearson", c, a], found[level, "pearson", c, b]
                r23 = found[level, "pearson", a, b]
                williams(*((r12, r13) if abs(r12) >= abs(r13) else (r13, r12)), r23, n)
with step("Borda counts"):
    voters = [
        np.abs([found[level, name, c, m] for m in range(6, len(columns))])
        for level in ("story", "system")
        for name in COEFFICIENTS
        for c in range(6)
    ]
    borda = sum(stats.rankdata(v) - 1 for v in voters)
with step("top-k systems"):
    for c in range(6):
        order = np.argsort(-means[c])
        for m in range(6, len(columns)):
            for k in range(4, len(systems) + 1):
                coefficient("spearman", means[c, order[:k]], means[m, order[:k]])
with step("agreement and averages"):
    for c in ["relevance", "coherence", "empathy", "surprise", "engagement", "complexity"]:
        pingouin.intraclass_corr(ratings, targets="story_id", raters="rater", ratings=c)
        for _, group in ratings.groupby("system")[c]:
            stats.t.ppf(0.975, len(group) - 1) * stats.sem(group)
python, python_cpu = time.perf_counter() - begin, time.process_time() - begin_cpu
print(f"Python in total: {python:.2f} s, {python_cpu:.2f} s of processor time")

arguments = [binary, "meta", "hanna", folder / "hanna_metric_scores.csv", "--ratings", folder / "ratings.csv"]
runs = []


def children_cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


begin_cpu = children_cpu()
for _ in range(5):
    with tempfile.TemporaryDirectory() as out:
        begin = time.perf_counter()
        subprocess.run([*arguments, "-o", f"{out}/result"], check=True, stdout=subprocess.DEVNULL)
        runs.append(time.perf_counter() - begin)
ours_cpu = (children_cpu() - begin_cpu) / len(runs)
print("storymeter, with all files written: " + ", ".join(f"{run:.2f}" for run in runs) + " s")
ours = sorted(runs)[len(runs) // 2]
print(f"median {ours:.2f} s, {ours_cpu:.2f} s of processor time")
print(f"Python takes {python / ours:.0f} times as long, and {python_cpu / ours_cpu:.0f} times the processor time")

# Both must have done the same work, so all correlations with the criteria are compared.
with tempfile.TemporaryDirectory() as out:
    subprocess.run([*arguments, "-o", f"{out}/result"], check=True, stdout=subprocess.DEVNULL)
    table = pd.read_csv(f"{out}/result/correlations.csv")
worst = 0.0
for row in table.itertuples():
    a, b = columns.index(row.criterion), columns.index(row.metric)
    # Means that tie in exact arithmetic tie in storymeter, but not always in numpy. This happens
    # for Complexity at the system level.
    if not (row.level == "system" and row.criterion == "Complexity" and row.coefficient != "pearson"):
        worst = max(worst, abs(row.value - found[row.level, row.coefficient, a, b]))
print(f"largest difference between the two over {len(table)} correlations: {worst:.1e}")
