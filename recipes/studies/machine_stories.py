"""Prints machine stories for `storymeter train --kind disscore --machine`.

    machine_stories.py GENERATED roc|wp > machine.jsonl

GENERATED is `generated/stories.jsonl.gz` of the shared data. The prompt of a ROC story is its first
sentence, so it becomes part of the story, as in human ROC stories. Prompts of long stories are left
out.
"""

import gzip
import json
import sys

path, dataset = sys.argv[1:]
with gzip.open(path, "rt", encoding="utf-8") as file:
    stories = [story for story in map(json.loads, file) if story["dataset"] == dataset]
for number, story in enumerate(stories):
    text = f'{story["prompt"]} {story["story"]}' if dataset == "roc" else story["story"]
    print(json.dumps({"id": str(number), "system": story["model"], "story": text}, ensure_ascii=False))
