#!/usr/bin/env python3
"""Writes the fixtures of storymeter-stats: what five Python packages compute.

Usage:  python tools/stats_fixtures.py [NAME...]        (all fixtures if no NAME is given)
Needs:  pip install scipy==1.17.1 pingouin==0.7.0 scikit-learn==1.9.1 statsmodels==0.15.0
        krippendorff==0.9.0

The inputs are not stored. They follow from a shape, a seed and a length by splitmix64, which numpy
computes here and tests/stats/support.rs computes there, bit for bit. A fixture therefore holds only
the recipe of each case and the answer.
"""

import json
import pathlib
import sys
import warnings

import numpy as np

warnings.filterwarnings("ignore")
OUT = pathlib.Path(__file__).parent.parent / "crates/storymeter-stats/tests/fixtures"
FIXTURES = {}


def fixture(make):
    FIXTURES[make.__name__] = make
    return make


# ---------------------------------------------------------------- inputs


def bits(seed, n):
    """The first n outputs of splitmix64, started at `seed`."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def uniform(seed, n):
    return (bits(seed, n) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def bell(seed, n):
    """The sum of four uniform numbers, minus two: bell-shaped, and exactly reproducible."""
    u = uniform(seed, 4 * n)
    return u[0::4] + u[1::4] + u[2::4] + u[3::4] - 2.0


def values(shape, seed, n, x=None):
    """The vector of a shape such as "bell", "ties:5", "follow:2:0.1" or "bell+nan:7"."""
    shape, *marks = shape.split("+")
    kind, *args = shape.split(":")
    args = [float(a) for a in args]
    if kind == "uniform":
        v = uniform(seed, n)
    elif kind == "bell":
        v = bell(seed, n)
    elif kind == "grid":
        v = np.floor(bell(seed, n) * 2.0**20) / 2.0**20
    elif kind == "ties":
        v = np.floor(uniform(seed, n) * args[0])
    elif kind == "const":
        v = np.full(n, args[0])
    elif kind == "offset":
        v = args[0] + uniform(seed, n)
    elif kind == "scaled":
        v = args[0] * bell(seed, n)
    elif kind == "heavy":
        v = 1.0 / (uniform(seed, n) + 1e-6)
    elif kind == "ramp":
        v = args[0] * np.arange(n)
    elif kind == "follow":
        v = args[0] * x + args[1] * bell(seed, n)
    elif kind == "step":
        v = np.floor((args[0] * x + args[1] * bell(seed, n)) * args[2])
    else:
        raise ValueError(shape)
    for mark in marks:
        what, every = mark.split(":")
        v[bits(seed ^ 0xABCDEF, n) % np.uint64(every) == 0] = {"nan": np.nan, "inf": np.inf}[what]
    return v


# ---------------------------------------------------------------- correlation

SHAPES = [
    ("bell", "bell"), ("bell", "follow:1:1"), ("bell", "follow:-1:0.5"), ("uniform", "follow:1:0.05"),
    ("bell", "follow:2:0"), ("bell", "follow:-3:0"), ("ties:5", "ties:5"), ("ties:3", "step:1:1:1"),
    ("ties:7", "bell"), ("bell", "ties:2"), ("heavy", "bell"), ("offset:1e6", "bell"), ("scaled:1e150", "bell"),
    ("scaled:1e-150", "step:1e150:1:3"), ("const:3", "bell"), ("bell", "const:0"), ("ramp:1", "follow:1:0.3"),
    ("bell+nan:5", "bell"), ("ties:4", "ties:4+nan:4"), ("bell+nan:6", "follow:1:1+nan:6"),
]


@fixture
def correlation():
    """scipy.stats.pearsonr, spearmanr, kendalltau and the Fisher interval of pearsonr"""
    from scipy import stats

    cases, seed = [], 1
    sizes = [2, 3, 4, 5, 8, 10, 20, 33, 34, 100, 400]
    plan = [(s, n) for n in sizes for s in SHAPES]
    plan += [(s, 5000) for s in SHAPES[:8]] + [(s, 100_000) for s in SHAPES[:14]]
    for (a, b), n in plan:
        seed += 1000
        x = values(a, seed, n)
        y = values(b, seed + 1, n, x)
        keep = ~(np.isnan(x) | np.isnan(y))
        x, y = x[keep], y[keep]
        row = [a, b, seed, n, int(n - keep.sum())]
        if len(x) >= 2:
            r = stats.pearsonr(x, y)
            ci = r.confidence_interval(0.95) if len(x) > 3 else (None, None)
            s, k = stats.spearmanr(x, y), stats.kendalltau(x, y)
            row += [r.statistic, r.pvalue, s.statistic, s.pvalue, k.statistic, k.pvalue, *ci]
        cases.append(row)
    return {"columns": "x y seed n dropped r p rho p tau p low high", "cases": cases}


@fixture
def distributions():
    """scipy.stats norm, t, f, chi2: sf and ppf"""
    from scipy import stats

    dfs = [1, 2, 3, 4.5, 8, 30, 287, 1055, 99_998, 1_000_000]
    ts = [-3, -0.5, 0, 1e-3, 0.1, 0.7, 1, 1.96, 2.5, 5, 9, 17, 37]
    fs = [(d1, d2) for d1 in dfs[:9] for d2 in (1, 2, 7, 40.25, 2112, 100_000)]
    probs = [1e-12, 1e-5, 0.01, 0.025, 0.3, 0.5, 0.6, 0.95, 0.975, 0.999, 0.9999999]
    cases = [["norm_sf", z, stats.norm.sf(z)] for z in np.linspace(-8, 37, 46)]
    cases += [["norm_ppf", p, stats.norm.ppf(p)] for p in probs]
    cases += [["t_sf", t, d, stats.t.sf(t, d)] for t in ts for d in dfs]
    cases += [["t_ppf", p, d, stats.t.ppf(p, d)] for p in probs for d in dfs]
    cases += [["f_sf", f, a, b, stats.f.sf(f, a, b)] for f in (0.01, 0.5, 0.97, 1, 1.03, 1.6, 4, 30) for a, b in fs]
    cases += [["f_ppf", p, a, b, stats.f.ppf(p, a, b)] for p in (0.025, 0.5, 0.95, 0.975) for a, b in fs]
    cases += [["chi2_sf", q * d, d, stats.chi2.sf(q * d, d)] for q in (0.01, 0.5, 0.97, 1, 1.01, 1.2, 3) for d in dfs]
    return {"columns": "function arguments... value", "cases": cases}


# ---------------------------------------------------------------- intervals and tests


@fixture
def bootstrap():
    """scipy.stats.bootstrap, percentile and BCa, on resamples drawn here (bootstrap_result=, n_resamples=0)"""
    from scipy import stats
    from scipy.stats._resampling import BootstrapResult

    cases = []
    for case in range(200):
        seed, n = 50_000 + 10 * case, [3, 5, 10, 40, 2000][case % 5]
        resamples, confidence = [20, 99, 400][case % 3], [0.95, 0.9, 0.5][case % 3]
        # Sums of multiples of 2^-20 are exact. A resample that permutes the sample ties with it.
        shape = ["grid", "ties:4", "ties:1000", "const:2"][case % 4 if case % 20 else 3]
        x = values(shape, seed, n)
        drawn = (bits(seed + 1, n * resamples) % np.uint64(n)).astype(int).reshape(resamples, n)
        made = BootstrapResult(None, np.mean(x[drawn], axis=1), None)
        row = [shape, seed, n, resamples, confidence]
        for method in ("percentile", "BCa"):
            found = stats.bootstrap((x,), np.mean, n_resamples=0, bootstrap_result=made, method=method,
                                    confidence_level=confidence)
            row += list(found.confidence_interval)
        cases.append(row)
    return {"columns": "shape seed n resamples confidence percentile_low percentile_high bca_low bca_high",
            "cases": cases}


@fixture
def bootstrap_correlation():
    """scipy.stats.bootstrap(paired=True), percentile and BCa, of correlations, on resamples drawn here"""
    from scipy import stats
    from scipy.stats._resampling import BootstrapResult

    kinds = [("pearson", stats.pearsonr), ("spearman", stats.spearmanr), ("kendall", stats.kendalltau)]
    cases = []
    for case in range(60):
        seed, n, resamples = 55_000 + 10 * case, [12, 40, 96][case % 4 % 3], 200
        (name, kind), confidence = kinds[case % 3], [0.95, 0.9][case % 2]
        x = values("bell", seed, n)
        y = values(["follow:1:1", "follow:-1:2", "bell"][case // 3 % 3], seed + 1, n, x)

        def statistic(a, b):
            return kind(a, b).statistic

        drawn = (bits(seed + 2, n * resamples) % np.uint64(n)).astype(int).reshape(resamples, n)
        made = BootstrapResult(None, np.array([statistic(x[d], y[d]) for d in drawn]), None)
        row = [name, ["follow:1:1", "follow:-1:2", "bell"][case // 3 % 3], seed, n, resamples, confidence]
        for method in ("percentile", "BCa"):
            found = stats.bootstrap((x, y), statistic, paired=True, vectorized=False, n_resamples=0,
                                    bootstrap_result=made, method=method, confidence_level=confidence)
            row += list(found.confidence_interval)
        cases.append(row)
    return {"columns": "coefficient y seed n resamples confidence percentile_low percentile_high bca_low bca_high",
            "cases": cases}


@fixture
def multiple():
    """scipy.stats.false_discovery_control (bh, by), checked against statsmodels multipletests, and its holm"""
    from scipy import stats
    from statsmodels.stats.multitest import multipletests

    cases = []
    for case in range(200):
        seed, n = 60_000 + case, 100_000 if case == 199 else [1, 2, 3, 7, 20, 136][case % 6]
        p = uniform(seed, n) ** 2
        if case % 4 == 1:
            p = np.floor(p * 10) / 10
        row = [seed, n, case % 4 == 1]
        for ours, theirs in (("bh", "fdr_bh"), ("by", "fdr_by")):
            q = stats.false_discovery_control(p, method=ours)
            assert np.allclose(q, multipletests(p, method=theirs)[1], rtol=1e-12)
            row += [q[0], q[n // 2], q[-1], q.min(), q.sum()]
        q = multipletests(p, method="holm")[1]
        row += [q[0], q[n // 2], q[-1], q.min(), q.sum()]
        cases.append(row)
    return {"columns": "seed n coarse (first middle last least sum) x (bh by holm)", "cases": cases}


@fixture
def fisher():
    """scipy.stats.norm.sf of the difference of numpy.arctanh of two correlations, by its standard deviation"""
    from scipy import stats

    def variance(name, r, n):
        return {"pearson": 1 / (n - 3), "spearman": (1 + r * r / 2) / (n - 3), "kendall": 0.437 / (n - 4)}[name]

    cases = []
    for case in range(120):
        name = ["pearson", "spearman", "kendall"][case % 3]
        r = np.floor(uniform(160_000 + case, 2) * 1998 - 999) / 1000
        n = [[5, 5], [10, 96], [960, 400], [30, 100_000]][case % 4]
        deviation = np.sqrt(variance(name, r[0], n[0]) + variance(name, r[1], n[1]))
        z = (np.arctanh(r[0]) - np.arctanh(r[1])) / deviation
        cases.append([name, r[0], n[0], r[1], n[1], z, 2 * stats.norm.sf(abs(z))])
    return {"columns": "coefficient r1 n1 r2 n2 z p", "cases": cases}


@fixture
def randomisation():
    """scipy.stats.permutation_test, permutation_type="samples", all exchanges"""
    from scipy import stats

    def difference(a, b, axis):
        return np.mean(a, axis=axis) - np.mean(b, axis=axis)

    cases = []
    for case in range(200):
        seed, n = 70_000 + 10 * case, [2, 3, 5, 8, 11][case % 5]
        shape = ["bell", "ties:3", "heavy", "ties:10"][case % 4]
        a = values(shape, seed, n)
        b = values(shape, seed + 1, n) + [0.0, 0.5][case % 2]
        row = [shape, seed, n, [0.0, 0.5][case % 2]]
        for alternative in ("two-sided", "greater"):
            found = stats.permutation_test((a, b), difference, permutation_type="samples", vectorized=True,
                                           n_resamples=np.inf, alternative=alternative)
            row.append(found.pvalue)
        cases.append(row + [found.statistic])
    return {"columns": "shape seed n shift p p_greater difference", "cases": cases}


@fixture
def permutation():
    """all exchanges of standardised scores by brute force, correlations by scipy.stats (Deutsch et al. 2021)"""
    import itertools

    from scipy import stats

    kinds = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}

    def level_correlation(level, kind, scores, ratings):
        if level == "system":
            return kind(scores.mean(axis=1), ratings.mean(axis=1)).statistic
        if level == "pooled":
            return kind(scores.ravel(), ratings.ravel()).statistic
        return np.nanmean([kind(scores[:, j], ratings[:, j]).statistic for j in range(scores.shape[1])])

    cases = []
    for case in range(216):
        seed, (rows, cols) = 80_000 + 10 * case, (3, 3) if case < 12 else [(3, 2), (4, 2), (6, 1)][case % 3]
        level, (name, kind) = ["system", "item", "pooled"][case // 3 % 3], list(kinds.items())[case // 9 % 3]
        exchange = ["both", "systems", "items"][case % 4 % 3]
        first, second, ratings = (bell(seed + k, rows * cols).reshape(rows, cols) for k in range(3))
        first = first + 0.7 * ratings
        z1, z2 = ((m - m.mean()) / m.std() for m in (first, second))

        def delta(swap):
            a, b = np.where(swap, z2, z1), np.where(swap, z1, z2)
            return level_correlation(level, kind, a, ratings) - level_correlation(level, kind, b, ratings)

        pieces = {"both": (rows, cols), "systems": (rows, 1), "items": (1, cols)}[exchange]
        observed = delta(np.zeros((rows, cols), bool))
        all_deltas = np.array([
            delta(np.broadcast_to(np.array(coins, bool).reshape(pieces), (rows, cols)))
            for coins in itertools.product([0, 1], repeat=pieces[0] * pieces[1])
        ])
        p = np.mean(np.abs(all_deltas) >= abs(observed) - 1e-12)
        cases.append([seed, rows, cols, level, name, exchange, observed, p,
                      np.mean(all_deltas >= observed - 1e-12)])
    return {"columns": "seed systems items level coefficient exchange difference p p_greater", "cases": cases}


# ---------------------------------------------------------------- agreement


def ratings(shape, seed, rows, cols):
    """Ratings that depend on the row with a share of E.

    "rate:E:K" stands for whole numbers below K, "smooth:E" for real numbers.
    """
    head, *marks = shape.split("+")
    kind, *args = head.split(":")
    share = float(args[0])
    row = np.repeat(np.arange(rows), cols)
    if kind == "rate":
        own, cell = uniform(seed + 1, rows)[row], uniform(seed, rows * cols)
        v = np.floor((share * own + (1.0 - share) * cell) * float(args[1]))
    else:
        v = share * bell(seed + 1, rows)[row] + (1.0 - share) * bell(seed, rows * cols)
    for mark in marks:
        v[bits(seed ^ 0xABCDEF, rows * cols) % np.uint64(mark.split(":")[1]) == 0] = np.nan
    return v.reshape(rows, cols)


RATED = ["rate:0.5:5", "rate:0.9:5", "rate:0:3", "smooth:0.5", "smooth:0.95", "rate:0.3:2", "rate:0:1", "smooth:0"]
SIZES = [(5, 2), (6, 3), (10, 4), (30, 3), (100, 7), (3, 6), (2, 8)]


@fixture
def icc():
    """pingouin.intraclass_corr"""
    import pandas as pd
    import pingouin as pg

    pg.options["round.column.CI95"] = None
    cases = []
    for case in range(200):
        seed, (rows, cols) = 90_000 + 10 * case, SIZES[case % 7]
        if case in (17, 18):
            rows, cols = 33_334, 3
        shape = RATED[case % 8] + ("+nan:40" if case % 7 in (3, 4) else "")
        table = ratings(shape, seed, rows, cols)
        t, r = np.meshgrid(np.arange(rows), np.arange(cols), indexing="ij")
        frame = pd.DataFrame({"t": t.ravel(), "r": r.ravel(), "v": table.ravel()})
        found = pg.intraclass_corr(frame, targets="t", raters="r", ratings="v", nan_policy="omit")
        row = [shape, seed, rows, cols]
        for _, form in found.iterrows():
            row.append([form["ICC"], form["F"], form["df1"], form["df2"], form["pval"], *form["CI95"]])
        cases.append(row)
    return {"columns": "shape seed targets raters (icc F df1 df2 p low high) x (1 2 3 1k 2k 3k)", "cases": cases}


@fixture
def krippendorff():
    """krippendorff.alpha"""
    import krippendorff as kr

    cases = []
    for case in range(200):
        seed, (rows, cols) = 100_000 + 10 * case, SIZES[case % 7]
        if case in (18, 41):
            rows, cols = 20_000, 5
        shape = [s for s in RATED if not (rows > 1000 and s.startswith("smooth"))][case % 8 % 6]
        shape = shape + ["", "+nan:3", "+nan:9"][case % 3]
        table = ratings(shape, seed, rows, cols)
        row = [shape, seed, rows, cols]
        for level in ("nominal", "ordinal", "interval", "ratio"):
            if level == "ratio" and shape.startswith("smooth"):
                table = np.abs(table)
            try:
                row.append(kr.alpha(table.T, level_of_measurement=level))
            except ValueError as e:
                row.append("nan" if "domain" in str(e) else None)
        cases.append(row)
    return {"columns": "shape seed units raters nominal ordinal interval ratio", "cases": cases}


@fixture
def fleiss():
    """statsmodels.stats.inter_rater.aggregate_raters, fleiss_kappa"""
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    cases = []
    for case in range(200):
        seed, (rows, cols) = 110_000 + 10 * case, (100_000, 3) if case == 7 else SIZES[case % 7]
        shape = ["rate:0.5:5", "rate:0.9:5", "rate:0:3", "rate:0.3:2", "rate:0:1", "rate:1:4"][case % 6]
        table = ratings(shape, seed, rows, cols)
        cases.append([shape, seed, rows, cols, fleiss_kappa(aggregate_raters(table)[0])])
    return {"columns": "shape seed subjects raters kappa", "cases": cases}


@fixture
def kendall_w():
    """pingouin.friedman (W, Q, p)"""
    import pandas as pd
    import pingouin as pg

    cases = []
    for case in range(200):
        seed, (items, raters) = 120_000 + 10 * case, [(5, 3), (10, 4), (30, 3), (4, 20), (2, 9)][case % 5]
        if case == 8:
            items, raters = 20_000, 5
        shape = RATED[case % 8] + ("+nan:40" if (items, raters) == (4, 20) else "")
        table = ratings(shape, seed, items, raters).T
        found = pg.friedman(pd.DataFrame(table)).iloc[0]
        cases.append([shape, seed, items, raters, found["W"], found["Q"], found["ddof1"], found["p_unc"]])
    return {"columns": "shape seed items raters W chi2 df p", "cases": cases}


# ---------------------------------------------------------------- rankings and labels


@fixture
def labels():
    """sklearn.metrics f1_score(average="weighted") and roc_auc_score"""
    from sklearn.metrics import f1_score, roc_auc_score

    cases = []
    for case in range(240):
        seed, n = 130_000 + 10 * case, 100_000 if case % 100 == 99 else [1, 2, 5, 12, 45, 300][case % 6]
        classes = [2, 3, 6][case % 3]
        shape = ["bell", "ties:3", "heavy", "const:1"][case % 4]
        truth = values(f"ties:{classes}", seed, n)
        predicted = truth.copy() if case % 10 == 0 else values(f"ties:{classes}", seed + 1, n)
        scores, positive = values(shape, seed + 2, n), truth > 0
        both = 0 < positive.sum() < n
        cases.append([seed, n, classes, case % 10 == 0, shape, f1_score(truth, predicted, average="weighted"),
                      roc_auc_score(positive, scores) if both else "nan"])
    return {"columns": "seed n classes copied shape f1 auc", "cases": cases}


@fixture
def ranks():
    """scipy.stats.rankdata summed over columns (Borda, mean rank)"""
    from scipy.stats import rankdata

    cases = []
    for case in range(200):
        seed, (rows, cols) = 140_000 + 10 * case, [(3, 1), (5, 4), (17, 6), (72, 12)][case % 4]
        if case == 199:
            rows, cols = 20_000, 5
        shape = ["ties:3", "bell", "ties:20", "const:1"][case % 5 % 4]
        scores = values(shape, seed, rows * cols).reshape(rows, cols)
        below = (rankdata(scores, axis=0) - 1).sum(axis=1)
        mean = rankdata(-scores, axis=0).mean(axis=1)
        shown = min(rows, 17)
        cases.append([shape, seed, rows, cols, below[:shown], (below**2).sum(), mean[:shown]])
    return {"columns": "shape seed candidates columns borda sum_of_squares mean_rank", "cases": cases}


@fixture
def numpy_order():
    """numpy.argsort before 1.25, made in an environment with numpy==1.23.5"""
    if tuple(int(v) for v in np.__version__.split(".")[:2]) >= (1, 25):
        return None
    cases = []
    for case in range(260):
        seed, n = 150_000 + case, [1, 2, 15, 16, 17, 18, 33, 72, 150, 1000, 20_000][case % 11]
        shape = ["ties:3", "ties:10", "bell", "const:1", "ties:30"][case % 5]
        if case >= 240:
            shape, n = "killer", [20, 72, 400, 1000, 5000][case % 5]
        v = killer(n, seed) if shape == "killer" else values(shape, seed, n)
        order = np.argsort(v)
        digest = 0
        for i in order:
            digest = (digest * 31 + int(i)) % (1 << 53)
        cases.append([shape, seed, n, order[:8], digest])
    return {"columns": "shape seed n first_positions digest", "cases": cases}


def killer(n, seed):
    """Musser's sequence with ties, which reaches the depth limit of median-of-three."""
    k = n // 2
    v = np.zeros(n)
    for i in range(1, k + 1):
        v[i - 1] = i if i % 2 else k + i - 1
        v[k + i - 1] = 2 * i
    return np.floor(v / (1 + seed % 2))


@fixture
def ties_matter():
    """pairwise accuracy and best threshold by brute force (Deutsch, Foster & Freitag 2023, eq. 5 and section 6)"""
    cases = []
    for case in range(200):
        seed, n = 160_000 + 10 * case, [2, 3, 6, 10, 25][case % 5]
        groups = [1, 4][case % 2]
        shape = ["bell", "ties:4", "uniform"][case % 3]
        i, j = np.triu_indices(n, 1)
        human, distance, right = [], [], []
        for g in range(groups):
            h, m = values("ties:3", seed + 2 * g, n), values(shape, seed + 2 * g + 1, n)
            human.append(h[i] == h[j])
            distance.append(np.abs(m[i] - m[j]))
            right.append((h[i] - h[j]) * (m[i] - m[j]) > 0)

        def accuracy(threshold):
            return np.mean([np.mean(np.where(d <= threshold, t, r)) for t, d, r in zip(human, distance, right)])

        tried = np.unique(np.concatenate([[0.0], *distance]))
        found = np.array([accuracy(t) for t in tried])
        best = np.nonzero(found >= found.max() - 1e-12)[0][0]
        cases.append([shape, seed, n, groups, accuracy(0.0), accuracy(0.3), tried[best], found[best]])
    return {"columns": "shape seed n groups at_zero at_0.3 threshold accuracy", "cases": cases}


# ---------------------------------------------------------------- writing


def plain(value):
    """Turns numpy numbers into Python's, and NaN and infinities into text, which JSON can hold."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(v) for v in value]
    if isinstance(value, (np.integer, np.bool_)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        value = float(value)
        return value if np.isfinite(value) else str(value)
    return value


def versions():
    import importlib.metadata as metadata

    peers = ("numpy", "scipy", "pingouin", "scikit-learn", "statsmodels", "krippendorff")
    installed = {d.metadata["Name"].lower(): d.version for d in metadata.distributions()}
    return {peer: installed[peer] for peer in peers if peer in installed}


def main():
    for name in sys.argv[1:] or FIXTURES:
        made = FIXTURES[name]()
        if made is None:
            print(f"{name}: left as it is, needs another environment: {FIXTURES[name].__doc__}")
            continue
        head = {"made_with": f"python tools/stats_fixtures.py {name}", "from": FIXTURES[name].__doc__}
        head |= {"versions": versions(), "columns": made["columns"]}
        lines = ",\n".join(json.dumps(plain(c), separators=(",", ":")) for c in made["cases"])
        text = json.dumps(head, indent=1)[:-2] + ',\n "cases": [\n' + lines + "\n]}\n"
        (OUT / f"{name}.json").write_text(text)
        print(f"{name}: {len(made['cases'])} cases, {len(text)} bytes")


if __name__ == "__main__":
    main()
