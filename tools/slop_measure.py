"""Measures the metric `slop` against readers, and makes the norms that it prints beside a score.

    python3 tools/slop_measure.py ../shared/data --program target/release/storymeter
    python3 tools/slop_measure.py ../shared/data --program target/release/storymeter --norms \\
        crates/storymeter-metrics/data/slop/norms.json

The first line prints the tables of docs/slop.md, and with --weigh that of its weights. Only the
measuring half is scored, which the lists were not made from (`tools/slop_lists.py`). Each set is
also scored with a list made without it, as a list of the user's own (`slop:own`). The weights were
chosen on the making half. Needs only Python's standard library.
"""
import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import slop_lists  # noqa: E402

COLUMNS = ["score", "words", "phrases", "contrast"]
# The longest stories of each class, in words between white space.
CLASSES = [60, 120, 250, 500, 1000, None]
BINS = 100
LIST = Path(__file__).parent.parent / "crates/storymeter-metrics/data/slop/slop.txt"
# Weights of words, phrases and contrasts that --weigh compares.
WEIGHTS = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, 0.15, 0.25), (0.5, 0.4, 0.1), (0.3, 0.6, 0.1)]
HIGH = {"score": 100.0, "words": 150.0, "phrases": 75.0, "contrast": 25.0}


def ranks(values):
    order = sorted(range(len(values)), key=lambda at: values[at])
    ranked, start = [0.0] * len(values), 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for at in order[start:end]:
            ranked[at] = (start + end - 1) / 2
        start = end
    return ranked


def spearman(one, two):
    one, two = ranks(one), ranks(two)
    middle = (len(one) - 1) / 2
    product = sum((a - middle) * (b - middle) for a, b in zip(one, two))
    squares = [sum((a - middle) ** 2 for a in side) for side in (one, two)]
    return product / math.sqrt(squares[0] * squares[1]) if min(squares) > 0 else float("nan")


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def scored(program, records, own=None):
    """The records with their values: the four columns of slop, and the number of words."""
    with tempfile.TemporaryDirectory() as folder:
        stories, scores = Path(folder, "stories.jsonl"), Path(folder, "scores.jsonl")
        with stories.open("w", encoding="utf-8") as file:
            for number, record in enumerate(records):
                text = slop_lists.plain(record["story"])
                file.write(json.dumps({"id": str(number), "story": text}) + "\n")
        metric = "slop:own" if own else "slop"
        command = [program, "score", stories, "-m", metric, "-o", scores, "--quiet"]
        command += ["--weights", f"slop={own}"] if own else []
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
        with scores.open(encoding="utf-8") as file:
            for record, line in zip(records, file):
                values = json.loads(line)["scores"]
                record["slop"] = {key.split("/")[1]: value for key, value in values.items()}
                record["slop"]["length"] = len(record["story"].split())
    return records


def arena(records):
    """Spearman's correlation with the scores of the arena over its systems, by column."""
    systems = defaultdict(list)
    for record in records:
        systems[record["system"]].append(record)
    target = [mean(r["judge"]["arena"] for r in own) for own in systems.values()]
    return {
        key: spearman([mean(r["slop"][key] for r in own) for own in systems.values()], target)
        for key in [*COLUMNS, "length"]
    }


def csg(records):
    expert = [record["human"]["expert"] for record in records]
    return {
        key: spearman([record["slop"][key] for record in records], expert)
        for key in [*COLUMNS, "length"]
    }


def lamp(records):
    """The share of pairs in which writers prefer the version with less. A tie counts half."""
    items = defaultdict(list)
    for record in records:
        items[record["item"]].append(record)
    right, pairs = Counter(), 0
    for versions in items.values():
        for at, one in enumerate(versions):
            for two in versions[:at]:
                liked = sum(one["human"]["preference"]) - sum(two["human"]["preference"])
                if liked == 0:
                    continue
                pairs += 1
                for key in [*COLUMNS, "length"]:
                    less = two["slop"][key] - one["slop"][key]
                    right[key] += 0.5 if less == 0 else float((less > 0) == (liked > 0))
    return {key: right[key] / pairs for key in [*COLUMNS, "length"]}


def rows(data, half):
    """The measured stories by set."""
    found = defaultdict(list)
    for name, human, record in stories(data):
        if record["made"] != (half == "measuring"):
            found[name].append(record | {"is_human": human})
    return found


def stories(data):
    """Those of slop_lists, and the third version of lamp, which no list is made from."""
    yield from slop_lists.stories(data)
    for line in slop_lists.lines(Path(data) / "annotated/modern/lamp.jsonl.gz"):
        record = json.loads(line)
        if "+ai-edit" in record["system"]:
            yield "lamp", False, record | {"made": slop_lists.is_making("lamp", record["item"])}


def show(title, values):
    cells = [f"{values[key]:.2f}" for key in [*COLUMNS, "length"]]
    print(f"| {title} | {' | '.join(cells)} |", flush=True)


def measure(program, data):
    """How the columns agree with readers: our list, and lists made without the set."""
    sets = rows(data, "measuring")
    print(f"| stories of the measuring half | {' | '.join(COLUMNS)} | length |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, how in [("arena", arena), ("csg", csg), ("lamp", lamp)]:
            own = list_without(data, name, folder)
            kinds = {"": lambda record: True}
            if name == "csg":
                kinds = {
                    ", all": lambda record: True,
                    ", machine": lambda record: not record["is_human"],
                    ", human": lambda record: record["is_human"],
                }
            for path in [None, own]:
                records = scored(program, sets[name], path)
                for kind, belongs in kinds.items():
                    title = f"{name}{kind}, {'list made without it' if path else 'our list'}"
                    show(title, how([record for record in records if belongs(record)]))


def list_without(data, name, folder):
    path = Path(folder, f"{name}.txt")
    slop_lists.write(slop_lists.make(data, name)[0], path, name)
    return path


def weigh(program, data):
    """What the weights were chosen by: the making half, with lists made without the set."""
    sets, measured = rows(data, "making"), [("arena", arena), ("csg", csg), ("lamp", lamp)]
    with tempfile.TemporaryDirectory() as folder:
        for name, _ in measured:
            scored(program, sets[name], list_without(data, name, folder))
    print("| words | phrases | contrast | arena | csg | csg, machine | lamp |")
    print("|---|---|---|---|---|---|---|")
    for weights in WEIGHTS:
        for name, _ in measured:
            for record in sets[name]:
                own = record["slop"]
                own["score"] = sum(w * own[key] for w, key in zip(weights, COLUMNS[1:]))
        found = [how(sets[name])["score"] for name, how in measured]
        machine = csg([record for record in sets["csg"] if not record["is_human"]])["score"]
        cells = [*weights, *(f"{value:.2f}" for value in [*found[:2], machine, found[2]])]
        print(f"| {' | '.join(map(str, cells))} |", flush=True)


def levels(program, data):
    """What the kinds of story have, and the entries that come most often in the arena."""
    sets = rows(data, "measuring")
    print(f"\n| per 1,000 words | {' | '.join(COLUMNS)} |")
    print("|---|---|---|---|---|")
    for title, name, human in [
        ("arena, 24 systems of 2025 and 2026", "arena", False),
        ("csg, models of 2023 and 2024", "csg", False),
        ("csg, people", "csg", True),
        ("lamp, drafts of models", "lamp", False),
        ("lamp, edited by a writer", "lamp", True),
        ("long human stories", "long", True),
        ("ROC, people", "roc", True),
    ]:
        own = [record for record in sets[name] if record["is_human"] == human]
        own = [record for record in own if "+ai-edit" not in record["system"]]
        records = scored(program, own)
        words = sum(record["slop"]["length"] for record in records)
        rate = lambda key: sum(r["slop"][key] * r["slop"]["length"] for r in records) / words
        print(f"| {title} | {' | '.join(f'{rate(key):.1f}' for key in COLUMNS)} |", flush=True)


def frequent(data, entries, most=12):
    """The words of the list that come most often in the measuring half of the arena."""
    counts, words = defaultdict(Counter), Counter()
    for name, human, record in slop_lists.stories(data):
        side = "arena" if name == "arena" else "people" if name in ("long", "roc") else None
        if side and not record["made"]:
            for segment in slop_lists.segments(record["story"]):
                for order in (1, 2, 3):
                    grams = slop_lists.grams(segment, order)
                    counts[side].update(gram for gram in grams if gram in entries)
                words[side] += sum(word != "," for word in segment)
    print("\n| entry | arena | people before 2020 | times |\n|---|---|---|---|")
    per_million = lambda side, gram: 1e6 * counts[side][gram] / words[side]
    excess = lambda gram: per_million("arena", gram) - per_million("people", gram)
    for order, shown in [(1, most), (2, most // 3), (3, most // 3)]:
        of_order = (gram for gram in entries if len(gram.split()) == order)
        for gram in sorted(of_order, key=lambda gram: (-excess(gram), gram))[:shown]:
            one, two = per_million("arena", gram), per_million("people", gram)
            times = f"{one / two:.0f}" if two else "-"
            print(f"| {gram} | {one:.0f} | {two:.0f} | {times} |")


def norms(program, data, path):
    """Histograms of what human stories get: long, ROC and csg, the measuring half."""
    sets = rows(data, "measuring")
    people = [r for name in ("long", "roc", "csg") for r in sets[name] if r["is_human"]]
    records = scored(program, people)
    made = {}
    for key in COLUMNS:
        classes, high = [], HIGH[key]
        for longest in CLASSES:
            classes.append({"longest": longest, "counts": [0] * BINS})
        for record in records:
            length = record["slop"]["length"]
            place = next(c for c in classes if c["longest"] is None or length <= c["longest"])
            at = int(record["slop"][key] / high * BINS)
            place["counts"][min(at, BINS - 1)] += 1
        source = f"{len(records)} human stories, nearly all from before 2020"
        made[key] = {"source": source, "low": 0.0, "high": high, "classes": classes}
    text = json.dumps(made, indent=1)
    text = re.sub(r"\[[\d,\s]+\]", lambda found: "".join(found[0].split()), text)
    Path(path).write_text(text + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--program", default="storymeter", help="the program storymeter")
    parser.add_argument("--norms", type=Path, metavar="FILE", help="write the norms, and stop")
    parser.add_argument("--weigh", action="store_true", help="compare weights, and stop")
    arguments = parser.parse_args()
    program, data = arguments.program, arguments.data
    if arguments.norms:
        norms(program, data, arguments.norms)
    elif arguments.weigh:
        weigh(program, data)
    else:
        measure(program, data)
        levels(program, data)
        frequent(data, set(slop_lists.entries(LIST)))


if __name__ == "__main__":
    main()
