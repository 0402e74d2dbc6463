"""Prints the long stories on which the second model of Table 6 is trained.

    long_stories.py LONG [--prompts] > long.jsonl

LONG is `long/stories.jsonl.gz` of the shared data, and `storymeter train --stories` reads the
output. Prompts are left out, because the rated stories are scored without them; with --prompts,
which is for RUBER-BERT, only stories that have one are printed, with it. Stories that were cut short, and those that are rated in `annotated/other`, are left out too.
"""

import gzip
import json
import sys

RATED = {"storyer-story_correlation", "storyer-scary_story_correlation"}

with gzip.open(sys.argv[1], "rt", encoding="utf-8") as file:
    kept = (story for story in map(json.loads, file) if story["source"] not in RATED and not story["truncated"])
    for number, story in enumerate(kept):
        record = {"id": str(number), "story": story["story"]}
        if "--prompts" in sys.argv:
            if not story["prompt"]:
                continue
            record["prompt"] = story["prompt"]
        print(json.dumps(record, ensure_ascii=False))
