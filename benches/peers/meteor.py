#!/usr/bin/env python3
"""Times METEOR 1.5's jar, NLTK's METEOR and ours on the same pairs, and prints the ratios.

    cargo build --release -p storymeter-metrics --example pair_seconds
    python3 benches/peers/meteor.py STORIES.jsonl[.gz] [PAIRS]

The times are processor times in the steady state: start-up and reading tables do not count on
either side. The jar scores all pairs twice before its time is taken, and only the thread that
scores is counted, without Java's garbage collector and compiler. tools/peer_scores.py says what is
needed.
"""
import os
import sys
import time
from pathlib import Path

import pycocoevalcap

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../tools"))
from peer_scores import MeteorJar, nltk_meteor
from story_files import our_time, read_pairs, report


def thread_seconds(pid):
    """The processor seconds of each thread of a process."""
    spent = {}
    for thread in Path(f"/proc/{pid}/task").iterdir():
        spent[thread.name] = int((thread / "schedstat").read_text().split()[0]) / 1e9
    return spent


def jar_seconds(pairs):
    jar = MeteorJar()
    for _ in range(2):
        for story, references in pairs:
            jar.score(story, references)
    before = thread_seconds(jar.process.pid)
    for story, references in pairs:
        jar.score(story, references)
    after = thread_seconds(jar.process.pid)
    jar.close()
    # The thread that scores is the one with the most processor time.
    return max(after[thread] - before.get(thread, 0.0) for thread in after)


def nltk_seconds(pairs):
    nltk_meteor(pairs[:1])
    start = time.thread_time()
    nltk_meteor(pairs)
    return time.thread_time() - start


def main():
    pairs = read_pairs(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100)
    tables = {"STORYMETER_METEOR_DATA": str(Path(pycocoevalcap.__path__[0]) / "meteor")}
    report(
        [
            ("METEOR 1.5 jar, steady state", jar_seconds(pairs), our_time(pairs, "meteor", 5, tables)),
            ("NLTK 3.10", nltk_seconds(pairs), our_time(pairs, "meteor:nltk", 10)),
        ]
    )


if __name__ == "__main__":
    main()
