#!/usr/bin/env python3
"""Freeze what scipy, pingouin, scikit-learn, statsmodels and krippendorff say, for the tests of storymeter-stats.

Usage:  python tools/stats_fixtures.py [NAME...]        (all fixtures when no NAME is given)
Needs:  pip install scipy==1.17.1 pingouin==0.7.0 scikit-learn==1.9.1 statsmodels==0.15.0 krippendorff==0.9.0

The inputs are not stored: they follow from a shape, a seed and a length by splitmix64, in numpy here and in
tests/support/mod.rs there, bit for bit. A fixture therefore holds only the recipe of each case and the answer.
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
    """The first n outputs of splitmix64 started at `seed`."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def uniform(seed, n):
    return (bits(seed, n) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def bell(seed, n):
    """Sum of four uniforms less two: bell-shaped, and exact to reproduce."""
    u = uniform(seed, 4 * n)
    return u[0::4] + u[1::4] + u[2::4] + u[3::4] - 2.0


def values(shape, seed, n, x=None):
    """The vector a shape such as "bell", "ties:5", "follow:2:0.1" or "bell+nan:7" stands for."""
    shape, *marks = shape.split("+")
    kind, *args = shape.split(":")
    args = [float(a) for a in args]
    if kind == "uniform":
        v = uniform(seed, n)
    elif kind == "bell":
        v = bell(seed, n)
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


# ---------------------------------------------------------------- writing


def plain(value):
    """numpy numbers as Python's, NaN and infinities as text, because JSON has neither."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(v) for v in value]
    if isinstance(value, (np.integer, np.bool_)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        value = float(value)
        return value if np.isfinite(value) else str(value)
    return value


def main():
    import krippendorff as kr
    import pingouin
    import scipy
    import sklearn
    import statsmodels

    tools = {m.__name__: m.__version__ for m in (np, scipy, pingouin, sklearn, statsmodels)}
    tools["krippendorff"] = kr.__version__ if hasattr(kr, "__version__") else "0.9.0"
    for name in sys.argv[1:] or FIXTURES:
        made = FIXTURES[name]()
        head = {"made_with": f"python tools/stats_fixtures.py {name}", "from": FIXTURES[name].__doc__, "tools": tools}
        head["columns"] = made["columns"]
        lines = ",\n".join(json.dumps(plain(c), separators=(",", ":")) for c in made["cases"])
        text = json.dumps(head, indent=1)[:-2] + ',\n "cases": [\n' + lines + "\n]}\n"
        (OUT / f"{name}.json").write_text(text)
        print(f"{name}: {len(made['cases'])} cases, {len(text)} bytes")


if __name__ == "__main__":
    main()
