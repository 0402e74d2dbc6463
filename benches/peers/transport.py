#!/usr/bin/env python3
"""Times POT and storymeter-transport on the same problems.

    python benches/peers/transport.py

Run it in the root of the project. It needs cargo and the packages of tools/transport_fixtures.py.
Both sides report the best of three runs, and costs that differ by more than 1e-8 are marked.
"""

import subprocess
import time

import numpy as np
import ot


def problem(points, width=64):
    at = np.arange(points * width, dtype=float)
    cloud = lambda shift: (np.sin(at * at * 0.7 + shift) / 8).reshape(points, width)
    return np.full(points, 1 / points), ot.dist(cloud(0.0), cloud(1.0))


def entropic(masses, costs):
    plan = ot.sinkhorn(masses, masses, costs, 0.1, method="sinkhorn_log", numItermax=10_000,
                       stopThr=1e-9)
    return float((plan * costs).sum())


peers = {}
for points in (100, 500):
    a, c = problem(points)
    peers[f"exact, {points} points"] = lambda a=a, c=c: ot.emd2(a, a, c, numItermax=10_000_000)
    peers[f"sinkhorn 0.1, {points} points"] = lambda a=a, c=c: entropic(a, c)

command = ["cargo", "run", "--release", "-q", "-p", "storymeter-transport", "--example", "timings"]
ours = subprocess.run(command, check=True, capture_output=True, text=True).stdout
for line in ours.splitlines():
    name, seconds, cost = line.split("\t")
    best, value = float("inf"), None
    for _ in range(3):
        start = time.perf_counter()
        value = peers[name]()
        best = min(best, time.perf_counter() - start)
    mark = "" if abs(value - float(cost)) < 1e-8 else f"  DIFFERENT: {value} and {cost}"
    print(f"{name:28} {best / float(seconds):6.1f} times as fast as POT{mark}")
