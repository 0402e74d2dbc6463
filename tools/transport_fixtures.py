#!/usr/bin/env python3
"""Writes the fixture of storymeter-transport: what POT computes.

Usage:  python tools/transport_fixtures.py
Needs:  pip install POT==0.9.7.post1 'numpy<2'

The inputs are not stored. Coordinates and masses follow from a formula that the test computes too,
so the fixture holds only the recipe of each case and the answer.
"""

import json
import pathlib
import warnings

import numpy as np
import ot

OUT = pathlib.Path(__file__).parent.parent / "crates/storymeter-transport/tests/fixtures/pot.json"


def cloud(points, width, shift):
    """Points on the unit sphere, from sines and cosines."""
    i, j = np.meshgrid(np.arange(points), np.arange(width), indexing="ij")
    x = np.sin(1.3 * i + 0.9 * j + shift) + 0.5 * np.cos(0.37 * i * (j + 1) + shift)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def masses(points, kind):
    """All equal, all different, or with some that are zero."""
    i = np.arange(points)
    if kind == "equal":
        return np.full(points, 1 / points)
    w = 1.5 + np.sin(2.1 * i)
    if kind == "some-zero":
        w[i % 3 == 1] = 0
    return w / w.sum()


def main():
    cases = []
    for left, right, width in [(1, 1, 3), (1, 7, 3), (5, 4, 3), (8, 8, 2), (38, 36, 16), (120, 77, 24)]:
        for kind in ["equal", "different", "some-zero"]:
            x, y = cloud(left, width, 0.0), cloud(right, width, 1.0)
            a, b = masses(left, kind), masses(right, kind)
            if kind == "some-zero" and (left < 4 or right < 4):
                continue
            costs = ot.dist(x, y, metric="sqeuclidean")
            case = {
                "left": left, "right": right, "width": width, "masses": kind,
                "squared": ot.emd2(a, b, costs, numItermax=1_000_000),
                "euclidean": ot.emd2(a, b, np.sqrt(costs), numItermax=1_000_000),
            }
            if kind != "some-zero":
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    for r in [10, 1, 0.1, 0.01, 0.001]:
                        plan = ot.sinkhorn(a, b, costs, r, numItermax=10_000, stopThr=1e-9)
                        case[f"published-{r:g}"] = float((plan * costs).sum())
                    for r in [10, 1, 0.1]:
                        plan = ot.sinkhorn(a, b, costs, r, method="sinkhorn_log",
                                           numItermax=100_000, stopThr=1e-9)
                        case[f"logarithms-{r:g}"] = float((plan * costs).sum())
            cases.append(case)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    made_by = f"tools/transport_fixtures.py, POT {ot.__version__}"
    OUT.write_text(json.dumps({"made_by": made_by, "cases": cases}, indent=1) + "\n")


main()
