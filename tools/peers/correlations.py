"""Columns of numbers with ties, outliers and missing values, and what `correlate` says about them."""

import json
import random


def column(draw, n, kind, follow=None):
    """Numbers of one kind. A column that follows another one is correlated with it."""
    base = [draw.gauss(0, 1) for _ in range(n)]
    if follow is not None:
        share = draw.choice([-1.0, -0.5, 0.3, 0.8, 1.0])
        base = [share * (value or 0.0) + (1.0 - abs(share)) * own for value, own in zip(follow, base)]
    if kind == "ties":
        return [float(round(2 * value)) for value in base]
    if kind == "outliers":
        return [value ** 5 * 1e3 for value in base]
    if kind == "huge":
        return [1e9 + value for value in base]
    if kind == "tiny":
        return [value * 1e-120 for value in base]
    return base


KINDS = ["plain", "plain", "ties", "outliers", "huge", "tiny"]


def data_set(seed, metrics=5):
    """Human judgments and metrics of n stories, of which some have no score."""
    draw = random.Random(seed)
    n = draw.choice([3, 4, 5, 6, 7, 8, 9, 10, 15, 30, 100, 400])
    human = column(draw, n, draw.choice(["plain", "ties"]))
    scores = {}
    for m in range(metrics):
        kind = draw.choice(KINDS)
        values = column(draw, n, kind, human if draw.random() < 0.7 else None)
        if draw.random() < 0.05:
            values = [1.5] * n
        if n > 6 and draw.random() < 0.2:
            values = [None if draw.random() < 0.2 else value for value in values]
        scores[f"m{m}"] = values
    return human, scores


def correlate(program, human, scores, *options):
    """What `correlate --json` prints about a data set."""
    program.json_lines("human.jsonl", [
        {"id": str(n), "story": "A story.", "human": {"quality": value}} for n, value in enumerate(human)
    ])
    program.json_lines("scores.jsonl", [
        {"id": str(n), "system": None, "item": str(n), "scores": {name: values[n] for name, values in scores.items()}}
        for n in range(len(human))
    ])
    words = ["correlate", "--human", "human.jsonl", "--json", "--resamples", "1"]
    for name in scores:
        words += ["--scores", f"{name}=scores.jsonl#{name}"]
    return json.loads(program.run(*words, *options))


def complete(*columns):
    """The observations that have a value in every column."""
    kept = [row for row in zip(*columns) if None not in row]
    return [list(column) for column in zip(*kept)] if kept else [[] for _ in columns]
