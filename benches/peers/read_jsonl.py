#!/usr/bin/env python3
"""Times Python's json and our reader on one JSONL file, in turns, and prints the ratio.

    cargo build --release -p storymeter-core --example count_stories
    python3 benches/peers/read_jsonl.py [FILE.jsonl[.gz]]

Without a file, 60,000 stories are written to a temporary one. Both sides count stories and
characters, and must agree. Each side times its own loop, so start-up does not count.
"""
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time

OURS = os.path.join(os.path.dirname(__file__), "../../target/release/examples/count_stories")
ROUNDS = 5


def made_up(path):
    story = ("Mara found a small brass key under the loose step. She tried it in every lock of the old house. "
             "\"Perhaps it is for the shed,\" said her brother. In the shed stood a chest nobody had opened. "
             "Inside lay the letters their grandmother had never sent.")
    with open(path, "w", encoding="utf-8") as out:
        for number in range(60_000):
            out.write(json.dumps({"id": number, "prompt": story[:50], "story": story}) + "\n")


def theirs(path):
    opener = gzip.open if path.endswith(".gz") else open
    start = time.perf_counter()
    stories = characters = 0
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            stories += 1
            characters += len(json.loads(line)["story"])
    return stories, characters, time.perf_counter() - start


def ours(path):
    out = subprocess.run([OURS, path], check=True, capture_output=True, text=True).stdout
    found = re.match(r"(\d+) stories, (\d+) characters, 0 skipped, ([\d.]+) s", out)
    return int(found[1]), int(found[2]), float(found[3])


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(folder, "stories.jsonl")
        if len(sys.argv) < 2:
            made_up(path)
        rounds = [(theirs(path), ours(path)) for _ in range(ROUNDS)]
    for peer, own in rounds:
        assert peer[:2] == own[:2], (peer, own)
    peer, own = (min(side[2] for side in sides) for sides in zip(*rounds))
    print(f"{rounds[0][0][0]} stories: json {peer:.3f} s, storymeter {own:.3f} s, {peer / own:.1f} times as fast")


main()
