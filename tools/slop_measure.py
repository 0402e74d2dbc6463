"""Measures the metric `slop` against readers, and makes the norms that it prints beside a score.

    python3 tools/slop_measure.py ../shared/data --program target/release/storymeter
    python3 tools/slop_measure.py ../shared/data --program target/release/storymeter --norms \\
        crates/storymeter-metrics/data/slop/norms.json

The first line prints the tables of docs/slop.md. Only the measuring half is scored, which the lists
were not made from (`tools/slop_lists.py`); and each set is also scored with lists made without it,
as a list of the user's own (`slop:own`). Needs only Python's standard library.
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


def scored(program, records, own=None, name="slop"):
    """The records with their values: the four columns of slop, and the number of words."""
    with tempfile.TemporaryDirectory() as folder:
        stories, scores = Path(folder, "stories.jsonl"), Path(folder, "scores.jsonl")
        with stories.open("w", encoding="utf-8") as file:
            for number, record in enumerate(records):
                text = slop_lists.plain(record["story"])
                file.write(json.dumps({"id": str(number), "story": text}) + "\n")
        metric = f"{name}:own" if own else name
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


def measure(program, data, half):
    sets = rows(data, half)
    print(f"| stories of the {half} half | {' | '.join(COLUMNS)} | length |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, how in [("arena", arena), ("csg", csg), ("lamp", lamp)]:
            slop_lists.write(slop_lists.make(data, name)[0], Path(folder, f"{name}.txt"), name)
            kinds = [("", lambda record: True)]
            if name == "csg":
                kinds = [
                    (", all", lambda record: True),
                    (", machine", lambda record: not record["is_human"]),
                    (", human", lambda record: record["is_human"]),
                ]
            for own in [None, Path(folder, f"{name}.txt")]:
                if own is None and half == "making":
                    continue
                records = scored(program, sets[name], own)
                for kind, belongs in kinds:
                    title = f"{name}{kind}, {'list made without it' if own else 'our list'}"
                    show(title, how([record for record in records if belongs(record)]))
    return sets


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


def frequent(data, entries, most=24):
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
        some = sorted((g for g in entries if len(g.split()) == order), key=lambda g: (-excess(g), g))
        for gram in some[:shown]:
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
    parser.add_argument(
        "--half", default="measuring", choices=["measuring", "making"],
        help="making: what the weights were chosen on; only lists made without a set",
    )
    arguments = parser.parse_args()
    if arguments.norms:
        return norms(arguments.program, arguments.data, arguments.norms)
    measure(arguments.program, arguments.data, arguments.half)
    if arguments.half == "measuring":
        levels(arguments.program, arguments.data)
        lines = Path(__file__).parent.parent / "crates/storymeter-metrics/data/slop/slop.txt"
        listed = lines.read_text(encoding="utf-8").splitlines()
        frequent(arguments.data, {line for line in listed if line and not line.startswith("#")})


if __name__ == "__main__":
    main()
