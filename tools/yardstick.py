#!/usr/bin/env python3
"""Makes the yardstick of a model: what `storymeter score --explain` compares a score with.

It is the part "yardstick" of models/union-compact.about.json: histograms of the scores of human and
of machine stories by length, and how well each diagnosis agrees with readers, with 95% intervals.

    tools/yardstick.py stories DATA > stories.jsonl
    tools/yardstick.py rated DATA > rated.jsonl
    storymeter score stories.jsonl -o scores.jsonl
    storymeter score rated.jsonl --explain -o explained.jsonl
    tools/yardstick.py write DATA scores.jsonl explained.jsonl models/union-compact.about.json

DATA is the folder of the shared data, which is not part of the repository. The scores take about
half an hour on one core. Only the standard library of Python is needed.

Stories that the model was trained on are left out: the short human stories are the references of
the UNION authors' test set, which were removed from the training data.
"""

import gzip
import json
import random
import re
import sys

PARTS = 100  # of the range of scores
RESAMPLES = 2000
# The largest numbers of words of a class. Stories of five sentences have up to 80 words and are
# read at once; longer ones are read in windows and score lower, whoever wrote them.
LENGTHS = [80, 250, None]
ERRORS = {
    "repetition": ("repeated plots", 1),
    "incoherence": ("bad coherence", 2),
    "wrong order": ("chaotic scenes", 4),
    "contradiction": ("conflicting logic", 3),
}
ENOUGH_READERS = 3  # of seven
SOURCES = {
    ("human", 0): "ROCStories (held out)",
    ("human", 1): "WritingPrompts, Reddit, MCTest and fairy tales",
    ("human", 2): "WritingPrompts, Reddit, MCTest and fairy tales",
    ("machine", 0): "ROCStories prompts: BART, GPT-3, HINT, KG-GPT-2, Megatron, ProGen",
    ("machine", 1): "WritingPrompts prompts: BART, GPT-3, HINT, ProGen, HANNA's ten systems",
    ("machine", 2): "WritingPrompts prompts: HANNA's ten systems, BART, GPT-3, HINT, ProGen",
}


def lines(path):
    opened = gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8")
    with opened as file:
        return [line for line in file if line.strip()]


def stories(data):
    """All stories as (id, writer, text)."""
    found = []
    for number, line in enumerate(lines(f"{data}/annotated/union_roc/reference.txt")):
        found.append((f"roc-{number}", "human", line.strip()))
    # Every fifth story keeps the mixture of the file.
    for number, line in enumerate(lines(f"{data}/long/stories.jsonl.gz")[::5]):
        found.append((f"long-{number}", "human", json.loads(line)["story"]))
    for number, line in enumerate(lines(f"{data}/generated/stories.jsonl.gz")):
        story = json.loads(line)
        # "BART-manipulated-plot" was made to be implausible.
        if story["source"] == "nextchapter":
            lead = story["prompt"] + " " if story["dataset"] == "roc" else ""
            found.append((f"next-{number}", "machine", lead + story["story"]))
    for line in lines(f"{data}/annotated/hanna/stories_first48.jsonl.gz"):
        story = json.loads(line)
        if story["system"] != "Human":
            found.append((f"hanna-{story['story_id']}", "machine", story["story"]))
    return found


def rated(data):
    """The rated stories as (id, text, answers of seven readers)."""
    found = []
    for number, line in enumerate(lines(f"{data}/annotated/union_roc/ant_data_all.txt")):
        _, text, answers = line.split("|||")
        found.append((f"rated-{number}", text.strip(), [int(answer) for answer in answers.split()]))
    return found


def length_class(text):
    words = len(text.split())
    return next(at for at, most in enumerate(LENGTHS) if most is None or words <= most)


def histograms(data, scores):
    counts = {}
    for id, writer, text in stories(data):
        own = counts.setdefault((writer, length_class(text)), [0] * PARTS)
        own[min(int(scores[id] * PARTS), PARTS - 1)] += 1
    return [
        {"writer": writer, "longest": LENGTHS[at], "source": SOURCES[writer, at], "counts": counts[writer, at]}
        for writer in ("human", "machine")
        for at in range(len(LENGTHS))
    ]


def area(positive, negative):
    """The area under the ROC curve, from mid-ranks."""
    both = sorted([(value, 1) for value in positive] + [(value, 0) for value in negative])
    ranks, at = 0.0, 0
    while at < len(both):
        end = at
        while end < len(both) and both[end][0] == both[at][0]:
            end += 1
        ranks += sum(one for _, one in both[at:end]) * (at + end + 1) / 2
        at = end
    n = len(positive)
    return (ranks - n * (n + 1) / 2) / (n * len(negative))


def areas(data, explained):
    rows = []
    for output, (error, number) in ERRORS.items():
        values = {True: [], False: []}
        for id, _, answers in rated(data):
            has = answers.count(number) >= ENOUGH_READERS
            values[has].append(explained[id]["diagnosis"][output.replace(" ", "_")])
        draw = random.Random(0)
        resampled = sorted(
            area(
                draw.choices(values[True], k=len(values[True])),
                draw.choices(values[False], k=len(values[False])),
            )
            for _ in range(RESAMPLES)
        )
        estimate = {
            "value": round(area(values[True], values[False]), 4),
            "low": round(resampled[int(0.025 * RESAMPLES)], 4),
            "high": round(resampled[int(0.975 * RESAMPLES)], 4),
        }
        rows.append(
            {
                "output": output,
                "error": error,
                "stories": len(values[True]) + len(values[False]),
                "positives": len(values[True]),
                "area": estimate,
            }
        )
    return rows


def write(data, scores_path, explained_path, about_path):
    scores = {}
    for line in lines(scores_path):
        row = json.loads(line)
        scores[row["id"]] = row["scores"]["union"]
    rows = map(json.loads, lines(explained_path))
    explained = {row["id"]: row["explanation"] for row in rows}
    with open(scores_path + ".meta.json", encoding="utf-8") as file:
        weights = re.search(r"weights:([0-9a-f]+)", file.read()).group(1)
    with open(about_path, encoding="utf-8") as file:
        about = json.load(file)
    about["yardstick"] = {
        "weights": weights,
        "scores": histograms(data, scores),
        "diagnosis": areas(data, explained),
    }
    text = json.dumps(about, indent=2, ensure_ascii=False)
    # A histogram on one line is easier to read than on a hundred.
    text = re.sub(r"\[\s+((?:\d+,?\s+)+)\]", lambda found: "[" + " ".join(found.group(1).split()) + "]", text)
    with open(about_path, "w", encoding="utf-8") as file:
        file.write(text + "\n")


def main(arguments):
    match arguments:
        case ["stories", data]:
            for id, writer, text in stories(data):
                print(json.dumps({"id": id, "system": writer, "story": text}))
        case ["rated", data]:
            for id, text, _ in rated(data):
                print(json.dumps({"id": id, "story": text}))
        case ["write", data, scores, explained, about]:
            write(data, scores, explained, about)
        case _:
            sys.exit(__doc__)


main(sys.argv[1:])
