"""Pairs of real stories on which our metrics are compared with other programs.

They are the same as in crates/storymeter-checks/src/pairs.rs. Only numbers made from them go into
the repository. There are three parts: HANNA's 528 stories with their references; 1,500 pairs of ROC
stories (records 40n and 40n + 20), with one sentence per line; and 300 pairs of longer stories
(records 60n and 60n + 30), of which the first 600 characters are taken.
"""

import gzip
import json
import sys


def story_pairs(shared):
    with gzip.open(f"{shared}/data/annotated/hanna/stories_first48.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            yield record["story"], record["reference"]
    with gzip.open(f"{shared}/data/roc/stories.tsv.gz", "rt", encoding="utf-8", newline="\n") as lines:
        next(lines)
        roc = ["\n".join(line.rstrip("\n").split("\t")[1:6]) for line in lines]
    for n in range(1500):
        yield roc[40 * n], roc[40 * n + 20]
    with gzip.open(f"{shared}/data/long/stories.jsonl.gz", "rt", encoding="utf-8") as lines:
        long = [json.loads(line)["story"][:600] for line in lines]
    for n in range(300):
        yield long[60 * n], long[60 * n + 30]


if __name__ == "__main__":
    for story, reference in story_pairs(sys.argv[1]):
        print(json.dumps({"story": story, "reference": reference}, ensure_ascii=False))
