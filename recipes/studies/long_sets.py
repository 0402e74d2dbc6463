"""Writes rated long stories as JSONL, one file per set, for `storymeter correlate`.

    long_sets.py ANNOTATED OUT

The criterion "overall" is the mean of all criteria of a story. HANNA's human stories are left out,
as in its paper.
"""

import gzip
import json
import pathlib
import sys

annotated, out = map(pathlib.Path, sys.argv[1:])
LONG = ["nextchapter_crowdsource_wp", "nextchapter_inhouse_wp", "storyer_story_correlation", "scratchplot"]


def mean(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers)


def write(name, stories):
    with open(out / f"{name}.jsonl", "w", encoding="utf-8") as file:
        for number, (prompt, story, overall) in enumerate(stories):
            record = {"id": str(number), "story": story, "human": {"overall": overall}}
            if prompt:
                record["prompt"] = prompt
            file.write(json.dumps(record) + "\n")


def records(path):
    with gzip.open(annotated / path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


other = records("other/annotated.jsonl.gz")
for name in LONG:
    write(name, [(r["prompt"], r["story"], mean(mean(v) for v in r["ratings"].values()))
                 for r in other if r["dataset"] == name])
hanna = [r for r in records("hanna/stories_first48.jsonl.gz") if r["system"] != "Human"]
write("hanna_first48", [(r["prompt"], r["story"], mean(mean(rater.values()) for rater in r["human"])) for r in hanna])
