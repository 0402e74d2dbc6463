#!/usr/bin/env python3
"""Makes the reference scores of a model: what `storymeter score` compares a score with.

They are the part "reference_scores" of models/NAME.about.json: histograms of the scores of human
and of machine stories by length, and how well each diagnosis of union agrees with readers, with 95%
intervals. What the part says about validity is written by hand, with the numbers of the check
`trust::the_cards_say_what_was_measured_on_modern_stories`, and stays as it is.

    tools/reference_scores.py stories DATA > stories.jsonl
    tools/reference_scores.py rated DATA > rated.jsonl
    storymeter score stories.jsonl -o scores.jsonl
    storymeter score rated.jsonl --explain -o explained.jsonl
    tools/reference_scores.py write DATA scores.jsonl explained.jsonl models/union-compact.about.json

The histograms of criteria are of fewer stories, and of human ones alone:

    tools/reference_scores.py human DATA > human.jsonl
    storymeter score human.jsonl --metric criteria -o human-scores.jsonl
    tools/reference_scores.py norms DATA human-scores.jsonl models/criteria.about.json

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
FEWEST = 100  # stories of a class; fewer say nothing
RESAMPLES = 2000
# The largest numbers of words of a class. Stories of five sentences have up to 80 words and are
# read at once; longer ones are read in windows and score lower, whoever wrote them.
LENGTHS = [80, 250, None]
CRITERIA_LENGTHS = [80, 250, 600, None]
ERRORS = {
    "repetition": ("repeated plots", 1),
    "incoherence": ("bad coherence", 2),
    "wrong order": ("chaotic scenes", 4),
    "contradiction": ("conflicting logic", 3),
}
ENOUGH_READERS = 3  # of seven
SOURCES = {
    "human": "ROCStories (held out) up to 80 words; WritingPrompts, Reddit, MCTest and fairy tales above",
    "machine": "models of 2018 to 2021",
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


def human(data):
    """The human stories of the histograms of criteria, as (id, prompt, text)."""
    roc = lines(f"{data}/annotated/union_roc/reference.txt")
    found = [(f"roc-{at}", None, roc[at].strip()) for at in range(0, len(roc), len(roc) // 2000)]
    for number, line in enumerate(lines(f"{data}/long/stories.jsonl.gz")[::24]):
        story = json.loads(line)
        found.append((f"long-{number}", story["prompt"] or None, story["story"]))
    return found


def norms(scored, source, low, high, lengths):
    """The histograms of (text, score), by length."""
    classes = [{"longest": most, "counts": [0] * PARTS} for most in lengths]
    for text, score in scored:
        words = len(text.split())
        own = next(one for one in classes if one["longest"] is None or words <= one["longest"])
        part = int((score - low) / (high - low) * PARTS)
        own["counts"][min(part, PARTS - 1)] += 1
    for own in classes:
        if sum(own["counts"]) < FEWEST:
            own["counts"] = [0] * PARTS
    return {"source": source, "low": low, "high": high, "classes": classes}


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


def scores_of(path):
    """The scores by id, and the hash of the weights that computed them."""
    scores = {row["id"]: row["scores"] for row in map(json.loads, lines(path))}
    with open(path + ".meta.json", encoding="utf-8") as file:
        weights = re.search(r"weights:([0-9a-f]+)", file.read()).group(1)
    return scores, weights


def write(data, scores_path, explained_path, about_path):
    scores, weights = scores_of(scores_path)
    rows = map(json.loads, lines(explained_path))
    explained = {row["id"]: row["explanation"] for row in rows}
    own = {"name": "union"}
    for kind in ("human", "machine"):
        scored = [(text, scores[id]["union"]) for id, writer, text in stories(data) if writer == kind]
        own[kind] = norms(scored, SOURCES[kind], 0.0, 1.0, LENGTHS)
    save(about_path, weights, [own], areas(data, explained))


def write_norms(data, scores_path, about_path):
    """The histograms of every column of criteria. A story without a prompt has no relevance."""
    scores, weights = scores_of(scores_path)
    sample = human(data)
    columns = []
    for key in scores[sample[0][0]]:
        scored = [(text, scores[id][key]) for id, _, text in sample if scores[id][key] is not None]
        classes = norms(scored, SOURCES["human"], 1.0, 5.0, CRITERIA_LENGTHS)
        columns.append({"name": key.split("/")[1], "human": classes})
    save(about_path, weights, columns, [])


def save(path, weights, columns, diagnosis):
    """Puts reference scores into the texts of a card, and keeps what they say about validity."""
    with open(path, encoding="utf-8") as file:
        about = json.load(file)
    old = {one["name"]: one for one in about.get("reference_scores", {}).get("columns", [])}
    for column in columns:
        if "validity" in old.get(column["name"], {}):
            column["validity"] = old[column["name"]]["validity"]
    about["reference_scores"] = {"weights": weights, "columns": columns, "diagnosis": diagnosis}
    text = json.dumps(about, indent=2, ensure_ascii=False)
    # A histogram on one line is easier to read than on a hundred.
    text = re.sub(r"\[\s+((?:\d+,?\s+)+)\]", lambda found: "[" + " ".join(found.group(1).split()) + "]", text)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "\n")


def main(arguments):
    match arguments:
        case ["stories", data]:
            for id, writer, text in stories(data):
                print(json.dumps({"id": id, "system": writer, "story": text}))
        case ["rated", data]:
            for id, text, _ in rated(data):
                print(json.dumps({"id": id, "story": text}))
        case ["human", data]:
            for id, prompt, text in human(data):
                print(json.dumps({"id": id, "prompt": prompt, "story": text}))
        case ["write", data, scores, explained, about]:
            write(data, scores, explained, about)
        case ["norms", data, scores, about]:
            write_norms(data, scores, about)
        case _:
            sys.exit(__doc__)


main(sys.argv[1:])
