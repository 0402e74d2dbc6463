#!/usr/bin/env python3
"""Times Python's json and our reader on JSONL files, in turns, and prints the ratios.

    cargo build --release -p storymeter-core --features zstd --example count_stories
    pip install zstandard
    python3 benches/peers/read_jsonl.py [FILE.jsonl[.gz|.zst]]

Without a file, 60,000 stories are written to temporary ones: plain, with gzip and, where the
package zstandard is installed, with Zstandard. Both sides count stories and characters, and must
agree. Each side times its own loop, so start-up does not count. STORYMETER_READER names another
program to time than the one that was built, to compare two versions.
"""
import gzip
import json
import io
import os
import random
import re
import subprocess
import sys
import tempfile
import time

try:
    import zstandard
except ImportError:
    zstandard = None

BUILT = os.path.join(os.path.dirname(__file__), "../../target/release/examples/count_stories")
OURS = os.environ.get("STORYMETER_READER", BUILT)
ROUNDS = 5


def opened(path):
    if path.endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8")
    if path.endswith(".zst"):
        stream = zstandard.ZstdDecompressor().stream_reader(open(path, "rb"))
        return io.TextIOWrapper(io.BufferedReader(stream, 1 << 17), encoding="utf-8")
    return open(path, encoding="utf-8")


def made_up(path):
    story = ("Mara found a small brass key under the loose step. She tried it in every lock of the old house. "
             "\"Perhaps it is for the shed,\" said her brother. In the shed stood a chest nobody had opened. "
             "Inside lay the letters their grandmother had never sent.")
    words = story.split()
    drawn = random.Random(1)
    with open(path, "w", encoding="utf-8") as out:
        for number in range(60_000):
            # In another order for each story, because compression would find copies of one story.
            text = " ".join(drawn.sample(words, len(words)))
            out.write(json.dumps({"id": number, "prompt": story[:50], "story": text}) + "\n")


def packed(path):
    """The file itself, and compressed copies of it."""
    with open(path, "rb") as plain:
        content = plain.read()
    yield path
    with gzip.open(path + ".gz", "wb", 6) as out:
        out.write(content)
    yield path + ".gz"
    if zstandard:
        with open(path + ".zst", "wb") as out:
            out.write(zstandard.ZstdCompressor(3).compress(content))
        yield path + ".zst"


def theirs(path):
    start = time.perf_counter()
    stories = characters = 0
    with opened(path) as lines:
        for line in lines:
            stories += 1
            characters += len(json.loads(line)["story"])
    return stories, characters, time.perf_counter() - start


def ours(path):
    out = subprocess.run([OURS, path], check=True, capture_output=True, text=True).stdout
    found = re.match(r"(\d+) stories, (\d+) characters, 0 skipped, ([\d.]+) s", out)
    return int(found[1]), int(found[2]), float(found[3])


def compare(path):
    rounds = [(theirs(path), ours(path)) for _ in range(ROUNDS)]
    for peer, own in rounds:
        assert peer[:2] == own[:2], (peer, own)
    peer, own = (min(side[2] for side in sides) for sides in zip(*rounds))
    name = os.path.basename(path)
    print(f"{name}, {rounds[0][0][0]} stories: json {peer:.3f} s, storymeter {own:.3f} s, "
          f"{peer / own:.1f} times as fast")


def main():
    if len(sys.argv) > 1:
        return compare(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stories.jsonl")
        made_up(path)
        for path in packed(path):
            compare(path)


main()
