#!/usr/bin/env python3
"""Times the jar of METEOR 1.5, NLTK's METEOR and ours on the same pairs, and prints the ratios.

    cargo build --release -p storymeter-metrics --example pair_seconds
    python3 benches/peers/meteor.py STORIES.jsonl[.gz] [PAIRS]

The jar scores all pairs twice before its time is taken, so that its start, its tables and the first
steps of Java's compiler do not count. Our tables do not count either. Times are processor time. Of
Java's threads only the one that scores counts, without the garbage collector and the compiler. The
script needs what tools/peer_scores.py names.
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
    """Processor seconds of each thread of a process."""
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
    # The thread that scores is the one that worked most.
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
            (
                "METEOR 1.5 jar, steady state",
                jar_seconds(pairs),
                our_time(pairs, "meteor", 5, tables),
            ),
            ("NLTK 3.10", nltk_seconds(pairs), our_time(pairs, "meteor:nltk", 10)),
        ]
    )


if __name__ == "__main__":
    main()
