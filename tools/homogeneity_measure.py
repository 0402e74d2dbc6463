#!/usr/bin/env python3
"""Measures what the metric `homogeneity` says about people and models, and whether a ratio of
compression would say more.

    python3 tools/homogeneity_measure.py ../shared/data --program target/release/storymeter

It prints the tables of docs/homogeneity.md. Stories are cut to the same number of words, and shorter
ones are left out, because longer stories share more. Needs only Python's standard library.
"""
import argparse
import gzip
import json
import random
import subprocess
import sys
import tempfile
import zlib
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from slop_measure import mean, spearman  # noqa: E402

COLUMNS = ["ngrams", "pos"]
# Words of each story that are read, by set.
WORDS = {"csg": 60, "confederacy": 90, "arena": 500}
# Bytes of each system that are compressed. Deflate looks back over 32 KiB.
BYTES = {"csg": 1_000, "confederacy": 1_800, "arena": 100_000}

SIZES = [1_000, 10_000, 100_000, 200_000]
# Orders of the stories over which a ratio is averaged, because it depends on them.
ORDERS = 20


def stories(data, name):
    """The stories of a set, cut to the same length."""
    with gzip.open(data / f"annotated/modern/{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    for record in records:
        words = record["story"].split()
        if len(words) >= WORDS[name]:
            yield record | {"story": " ".join(words[: WORDS[name]])}


def homogeneity(program, records):
    """The mean of both columns by system, and the number of stories."""
    with tempfile.TemporaryDirectory() as folder:
        path, scores = Path(folder, "stories.jsonl"), Path(folder, "scores.jsonl")
        with path.open("w", encoding="utf-8") as file:
            for number, one in enumerate(records):
                line = {"id": str(number), "system": one["system"], "story": one["story"]}
                file.write(json.dumps(line) + "\n")
        command = [program, "score", path, "-m", "homogeneity", "-o", scores, "--quiet"]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
        with scores.open(encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
    found = defaultdict(list)
    for line in lines:
        found[line["system"]].append([line["scores"][f"homogeneity/{key}"] for key in COLUMNS])
    return {
        system: [mean(x for x in column if x is not None) for column in zip(*rows)] + [len(rows)]
        for system, rows in found.items()
        if len(rows) > 1
    }


def ratios(texts, most):
    """How many times smaller deflate makes the first bytes of the joined texts, by their order."""
    found, draw, texts = [], random.Random(1), list(texts)
    for _ in range(ORDERS):
        draw.shuffle(texts)
        joined = "\n".join(texts).encode()[:most]
        if len(joined) < most:
            return None
        found.append(len(joined) / len(zlib.compress(joined, 9)))
    return found


def ratio(texts, most):
    found = ratios(texts, most)
    return found and mean(found)


def by_system(records):
    systems = defaultdict(list)
    for record in records:
        systems[record["system"]].append(record["story"])
    return systems


def alone(texts):
    """The mean ratio of single stories: what compresses without any other story."""
    return mean(len(text.encode()) / len(zlib.compress(text.encode(), 9)) for text in texts)


def people(program, data, name):
    records = list(stories(data, name))
    found = homogeneity(program, records)
    texts = by_system(records)
    joined = {system: ratio(own, BYTES[name]) for system, own in texts.items()}
    models = {system: own for system, own in found.items() if system != "human"}
    ordered = lambda values: sorted(value for value in values if value is not None)
    print(f"\n| {name}, {WORDS[name]} words per story | stories | ngrams | pos | compression |")
    print("|---|---|---|---|---|")
    human, count = found["human"], found["human"][2]
    orders = ratios(texts["human"], BYTES[name])
    spread = f"{joined['human']:.2f} ({min(orders):.2f} to {max(orders):.2f} by order)"
    print(f"| people | {count} | {human[0]:.4f} | {human[1]:.4f} | {spread} |")
    of = [ordered(own[at] for own in models.values()) for at in (0, 1)]
    of.append(ordered(joined[system] for system in models))
    counts = [own[2] for own in models.values()]
    each = f"{min(counts)} to {max(counts)} each"
    for title, at in [("lowest", 0), ("middle", None), ("highest", -1)]:
        values = [one[len(one) // 2 if at is None else at] for one in of]
        cells = f"{values[0]:.4f} | {values[1]:.4f} | {values[2]:.2f}"
        print(f"| {len(models)} models, one by one: {title} | {each} | {cells} |")
    above = [sum(value > own for value in one) for one, own in zip(of, [*human[:2], joined["human"]])]
    print(f"| models above people | | {above[0]} | {above[1]} | {above[2]} of {len(of[2])} |")
    merged = [r | {"system": "people" if r["system"] == "human" else "models"} for r in records]
    own = homogeneity(program, merged)["models"]
    print(f"| all models as one system | {own[2]} | {own[0]:.4f} | {own[1]:.4f} | |", flush=True)


def arena(program, data):
    records = list(stories(data, "arena"))
    found, target = homogeneity(program, records), {}
    for record in records:
        target[record["system"]] = record["judge"]["arena"]
    systems, texts = sorted(found), by_system(records)
    columns = {key: [found[s][at] for s in systems] for at, key in enumerate(COLUMNS)}
    columns["compression"] = [ratio(texts[s], BYTES["arena"]) for s in systems]
    columns["compression of single stories"] = [alone(texts[s]) for s in systems]
    judged = [target[s] for s in systems]
    print(f"\n| {len(systems)} systems of the arena | lowest | highest | arena's score | "
          + " | ".join(columns) + " |")
    print("|---|---|---|---|" + "---|" * len(columns))
    for key, own in columns.items():
        cells = [f"{spearman(own, other):.2f}" for other in [judged, *columns.values()]]
        print(f"| {key} | {min(own):.4f} | {max(own):.4f} | {' | '.join(cells)} |", flush=True)
    print("\n| bytes of each system of the arena | lowest ratio | highest |\n|---|---|---|")
    for most in SIZES:
        own = [ratio(texts[system], most) for system in systems]
        print(f"| {most:,} | {min(own):.2f} | {max(own):.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--program", default="storymeter", help="the program storymeter")
    arguments = parser.parse_args()
    people(arguments.program, arguments.data, "csg")
    people(arguments.program, arguments.data, "confederacy")
    arena(arguments.program, arguments.data)


if __name__ == "__main__":
    main()
