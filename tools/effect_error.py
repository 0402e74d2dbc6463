#!/usr/bin/env python3
"""Measures the error of what `score --explain` says about single sentences.

    python3 tools/effect_error.py ../shared/data --program target/release/storymeter

`storymeter suite make` makes twins of human stories that mean the same: synonyms, contractions,
punctuation. The effect of a sentence in the story and in its twin should be the same, so their
difference is an error. The table of docs/explain.md is made by this command; the cut below which an
effect is not shown is the 90th percentile of all. Needs only Python's standard library.

The short stories are those that the model was not trained on. Of the longer ones it may have seen
some. Twins whose sentences are counted otherwise than those of the story are left out.
"""
import argparse
import gzip
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

SHORT, LONG = 300, 30  # stories of each class of length
WORDS = {"up to 80 words": (20, 80), "81 to 250 words": (81, 250), "251 to 600 words": (251, 600)}
HARMLESS = ["synonym", "contraction", "punctuation"]
# The steps of the words for effects (crates/storymeter-union/src/explain.rs), and one below.
STEPS = [0.0, 0.02, 0.07, 0.10, 0.20]


def human_stories(data):
    """Stories by people as (class of length, text), evenly from each file."""
    short = (data / "annotated/union_roc/reference.txt").read_text(encoding="utf-8").splitlines()
    short = [line.strip() for line in short if line.strip()]
    with gzip.open(data / "long/stories.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    # What was cut into tokens or written in small letters is not how people write.
    plain = [r["story"] for r in records if not (r["tokenised"] or r["lowercased"])]
    for name, (fewest, most) in WORDS.items():
        source, wanted = (short, SHORT) if most == 80 else (plain, LONG)
        own = [text for text in source if fewest <= len(text.split()) <= most]
        step = max(1, len(own) // wanted)
        yield from ((name, text) for text in own[::step][:wanted])


def run(program, *arguments):
    command = [str(program), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")


def effects(program, folder, texts):
    """The effects of all sentences of each text."""
    stories, scores = folder / "texts.jsonl", folder / "explained.jsonl"
    with stories.open("w", encoding="utf-8") as file:
        for number, text in enumerate(texts):
            file.write(json.dumps({"id": str(number), "story": text}) + "\n")
    run(program, "score", stories, "--explain=all", "-o", scores, "--quiet")
    with scores.open(encoding="utf-8") as file:
        explained = [json.loads(line)["explanation"] for line in file]
    return [[sentence["effect"] for sentence in one["sentences"]] for one in explained]


def pairs(program, data, folder):
    """(aspect, class of length, effect in the story, effect in the twin) of every sentence."""
    stories = list(human_stories(data))
    with (folder / "stories.jsonl").open("w", encoding="utf-8") as file:
        for number, (_, text) in enumerate(stories):
            file.write(json.dumps({"id": str(number), "story": text}) + "\n")
    run(program, "suite", "make", folder / "stories.jsonl", "-o", folder / "suite")
    twins = []
    for aspect in HARMLESS:
        with (folder / f"suite/{aspect}.jsonl").open(encoding="utf-8") as file:
            for pair in map(json.loads, file):
                twins.append((aspect, int(pair["id"]), pair["twin"]))
    found = effects(program, folder, [text for _, text in stories] + [twin for *_, twin in twins])
    for (aspect, number, _), twin in zip(twins, found[len(stories):]):
        story = found[number]
        if len(story) == len(twin):
            for one, two in zip(story, twin):
                yield aspect, stories[number][0], one, two


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)]


def show(title, own):
    """One row: how far the effects of story and twin are apart."""
    apart = [abs(one - two) for one, two in own]
    spread = math.sqrt(sum(x * x for x in apart) / len(apart))
    cells = [f"{x:.3f}" for x in (quantile(apart, 0.5), quantile(apart, 0.9), spread)]
    print(f"| {title} | {len(own)} | {' | '.join(cells)} |")


def sizes(rows):
    """How many sentences have an effect of each size, and how many keep its sign in the twin."""
    print("\n| effect in the story | share of sentences | same sign in the twin |\n|---|---|---|")
    for low, high in zip(STEPS, [*STEPS[1:], math.inf]):
        own = [(one, two) for *_, one, two in rows if low <= abs(one) < high]
        same = sum(one * two > 0 for one, two in own) / len(own)
        title = f"{low:.2f} to {high:.2f}" if high < math.inf else f"{low:.2f} or more"
        print(f"| {title} | {len(own) / len(rows):.0%} | {same:.0%} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--program", default="storymeter", help="the program storymeter")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = list(pairs(arguments.program, arguments.data, Path(folder)))
    print("| twins | sentences | median | 90th percentile | root mean square |")
    print("|---|---|---|---|---|")
    for aspect in HARMLESS:
        show(aspect, [(one, two) for name, _, one, two in rows if name == aspect])
    for name in WORDS:
        show(name, [(one, two) for _, own, one, two in rows if own == name])
    show("all", [(one, two) for *_, one, two in rows])
    sizes(rows)


if __name__ == "__main__":
    main()
