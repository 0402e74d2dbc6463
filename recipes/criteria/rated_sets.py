"""Writes the nine rated sets of the shared data as JSONL for `storymeter train --rated`.

    rated_sets.py DATA OUT

DATA is the folder `data` of the shared data, and OUT a folder, which is made. Each set becomes one
file, whose name is the name of the set: `hanna.jsonl`, `union_roc.jsonl`, and the seven studies of
`annotated/other`. An id begins with the name of its set, so that it is unique over all files.
Stories with the same prompt share their item. A field is left out where the data have nothing for
it. The field `human` has the ratings of each criterion, one per rater where they were published,
and otherwise their mean.
"""

import gzip
import json
import pathlib
import sys


def hanna(folder):
    """HANNA's stories for its first 48 prompts, those of people among them."""
    with gzip.open(folder / "stories_first48.jsonl.gz", "rt", encoding="utf-8") as file:
        for record in map(json.loads, file):
            yield "hanna", {
                "id": record["story_id"],
                "system": record["system"],
                "item": str(record["prompt_index"]),
                "prompt": record["prompt"],
                "story": record["story"],
                "reference": record["reference"],
                "human": {
                    criterion: [rater[criterion] for rater in record["human"]]
                    for criterion in record["human"][0]
                },
            }


def union_roc(folder):
    """UNION's rated ROC stories. Their leading context is part of the story and not a prompt."""
    for line in (folder / "ant_data.txt").read_text(encoding="utf-8").splitlines():
        number, story, ratings = (field.strip() for field in line.split("|||"))
        yield "union_roc", {
            "id": number,
            "item": number,
            "story": story,
            "human": {"score": [int(rating) for rating in ratings.split()]},
        }


def other(folder):
    """The smaller studies. Where there are no prompts, each story is an item of its own."""
    with gzip.open(folder / "annotated.jsonl.gz", "rt", encoding="utf-8") as file:
        for record in map(json.loads, file):
            yield record["dataset"], {
                "id": record["id"],
                "system": record["model"],
                "item": record["prompt"] or str(record["id"]),
                "prompt": record["prompt"],
                "story": record["story"],
                "reference": record["reference"],
                "human": record["ratings"],
            }


def read(data):
    """The stories of all sets, by the name of the set. Fields that say nothing are left out."""
    sets = {}
    for reader in hanna, union_roc, other:
        for name, story in reader(data / "annotated" / reader.__name__):
            story["id"] = f"{name}-{story['id']}"
            sets.setdefault(name, []).append({key: value for key, value in story.items() if value})
    for name, stories in sets.items():
        ids = {story["id"] for story in stories}
        assert len(ids) == len(stories), f"{name}: an id is used twice"
    return sets


def main():
    data, out = map(pathlib.Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    for name, stories in read(data).items():
        lines = (json.dumps(story, ensure_ascii=False) + "\n" for story in stories)
        (out / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
