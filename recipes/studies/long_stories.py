"""Long stories to train Table 6's second model on, as `storymeter train --stories` reads them.

usage: long_stories.py LONG > long.jsonl

LONG is `long/stories.jsonl.gz` of the shared data. Left out are prompts, because rated stories are scored without them, stories that
were cut short, and those that are rated in `annotated/other`.
"""

import gzip
import json
import sys

RATED = {"storyer-story_correlation", "storyer-scary_story_correlation"}

with gzip.open(sys.argv[1], "rt", encoding="utf-8") as file:
    kept = (story for story in map(json.loads, file) if story["source"] not in RATED and not story["truncated"])
    for number, story in enumerate(kept):
        print(json.dumps({"id": str(number), "story": story["story"]}, ensure_ascii=False))
