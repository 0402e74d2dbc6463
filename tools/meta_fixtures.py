"""Correlations, tests and their numbers of observations on tables with absent cells, by scipy.

Writes crates/storymeter-meta/tests/fixtures/absent_cells.json, which the tests of storymeter-meta
compare with. Everything is computed here from the definitions with scipy, without any code of ours:

- story level: for each item, the correlation over the systems that have both values (at least
  three); then the mean over the items where it is defined;
- system level: the correlation of the systems' means over the values that are present;
- pooled: the correlation over all stories that have both values;
- p-values: those of scipy; of up to nine observations, the share of all their orders with a
  correlation at least as strong; and where several stories of the pool are of one item, Student's t
  of Fisher's z with the standard error of the jackknife over items;
- Williams' test between two metrics on the observations that have the rating and both scores, with
  both metrics turned so that they correlate positively.

Run with numpy 2 and scipy 1.17: python tools/meta_fixtures.py
"""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import scipy
from scipy import stats

TARGET = Path(__file__).parent.parent / "crates/storymeter-meta/tests/fixtures/absent_cells.json"
CRITERIA = ["story-level flow", "plot/pace", "lexical-density"]
METRICS = ["bleu", "rouge:hanna/rouge-1-r", "rouge:google/rouge-1-r", "flat"]
COEFFICIENTS = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall": stats.kendalltau,
}


def table(rng, systems, items, shared, absent):
    """Rows of stories; `absent` is the share of scores and ratings that are missing."""
    rows = []
    for s in range(systems):
        for i in range(items):
            quality = 0.4 * s + rng.normal()
            item = f"p{i}" if shared else f"p{s}-{i}"
            keep = lambda value: None if rng.random() < absent else float(value)
            human = {c: keep(round(3 + quality + rng.normal())) for c in CRITERIA}
            scores = {
                "bleu": keep(quality + rng.normal()),
                "rouge:hanna/rouge-1-r": keep(0.5 * quality + rng.normal()),
                "rouge:google/rouge-1-r": keep(-quality + 0.5 * rng.normal()),
                "flat": 1.0,
            }
            rows.append(
                {"id": f"s{s}-{i}", "system": f"s{s}", "item": item, "scores": scores, "human": human}
            )
    return rows


def value(row, name):
    number = row["human"].get(name) if name in CRITERIA else row["scores"][name]
    return math.nan if number is None else number


def correlate(function, columns):
    """The correlation and its p-value over complete observations, or None with their number."""
    complete = [v for v in zip(*columns) if not any(map(math.isnan, v))]
    n = len(complete)
    if n < 3 or any(len(set(column)) < 2 for column in zip(*complete)):
        return None, None, n
    x, y = map(list, zip(*complete))
    r, p = map(float, function(x, y))
    if n <= 9:
        orders = [abs(function(x, list(order))[0]) for order in itertools.permutations(y)]
        p = float(np.mean(np.array(orders) >= abs(r) - 1e-12))
    return r, p, n


def item_p_value(rows, function, names):
    """The p-value of stories of which several are of one item: items are left out one by one."""

    def z(some):
        columns = vectors(some, "pooled", names)
        complete = [v for v in zip(*columns) if not any(map(math.isnan, v))]
        return math.atanh(function(*map(list, zip(*complete)))[0])

    complete = [row for row in rows if not any(math.isnan(value(row, name)) for name in names)]
    items = sorted({row["item"] for row in complete})
    left = [z([row for row in complete if row["item"] != item]) for item in items]
    error = math.sqrt((len(items) - 1) * np.var(left))
    return float(2 * stats.t.sf(abs(z(complete)) / error, len(items) - 1))


def vectors(rows, level, names):
    if level == "pooled":
        return [[value(row, name) for row in rows] for name in names]
    systems = sorted({row["system"] for row in rows})
    means = []
    for name in names:
        own = [[value(row, name) for row in rows if row["system"] == s] for s in systems]
        own = [[v for v in values if not math.isnan(v)] for values in own]
        means.append([float(np.mean(values)) if values else math.nan for values in own])
    return means


def by_item(rows):
    items = {}
    for row in rows:
        items.setdefault(row["item"], []).append(row)
    return items.values()


def agreement(rows, level, function, metric, criterion):
    if level != "story":
        names = [metric, criterion]
        r, p, n = correlate(function, vectors(rows, level, names))
        if r is not None and level == "pooled" and len(by_item(rows)) < len(rows):
            p = item_p_value(rows, function, names)
        return r, p, n
    found = []
    for item in by_item(rows):
        r, _, _ = correlate(function, vectors(item, "pooled", [metric, criterion]))
        if r is not None:
            found.append(r)
    return (float(np.mean(found)) if found else None), None, len(found)


def three(rows, level, criterion, first, second):
    """The three correlations and the number of observations that all of them rest on."""

    def one(columns):
        complete = [v for v in zip(*columns) if not any(map(math.isnan, v))]
        if len(complete) < 3 or any(len(set(column)) < 2 for column in zip(*complete)):
            return None, len(complete)
        x, y, z = map(list, zip(*complete))
        r = lambda a, b: float(stats.pearsonr(a, b)[0])
        return (r(x, y), r(x, z), r(y, z)), len(complete)

    names = [criterion, first, second]
    if level != "story":
        return one(vectors(rows, level, names))
    found = [one(vectors(item, "pooled", names))[0] for item in by_item(rows)]
    found = [r for r in found if r is not None]
    return (tuple(map(float, np.mean(found, axis=0))) if found else None), len(found)


def williams(correlations, n):
    """One-sided p-value that the stronger correlation is stronger by chance."""
    if correlations is None or n < 4:
        return None
    r12, r13, r23 = correlations
    r23 *= np.sign(r12) * np.sign(r13)
    r12, r13 = sorted([abs(r12), abs(r13)], reverse=True)
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    if k < 0:
        return None
    mean = (r12 + r13) / 2
    t = (r12 - r13) * np.sqrt((n - 1) * (1 + r23))
    t /= np.sqrt(2 * k * (n - 1) / (n - 3) + mean**2 * (1 - r23) ** 3)
    return float(stats.t.sf(t, n - 3))


def expected(rows):
    agreements, tests = [], []
    for level in ["story", "system", "pooled"]:
        for criterion in CRITERIA:
            for name, function in COEFFICIENTS.items():
                for metric in METRICS:
                    r, p, n = agreement(rows, level, function, metric, criterion)
                    agreements.append([metric, criterion, level, name, r, p, n])
            for j, second in enumerate(METRICS):
                for first in METRICS[:j]:
                    correlations, n = three(rows, level, criterion, first, second)
                    tests.append([first, second, criterion, level, williams(correlations, n), n])
    return {"rows": rows, "agreements": agreements, "williams": tests}


def main():
    rng = np.random.default_rng(15)
    tables = {
        "four systems without a shared item": expected(table(rng, 4, 8, False, 0.0)),
        "six systems with absent cells": expected(table(rng, 6, 9, True, 0.15)),
    }
    made = {
        "made_by": f"tools/meta_fixtures.py, numpy {np.__version__}, scipy {scipy.__version__}",
        "tables": tables,
    }
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(json.dumps(made, indent=None, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
