#!/usr/bin/env python3
"""Measures whether reading and tokenising keep an NVIDIA GPU busy while `union` scores.

Stories are scored from plain and from gzipped JSONL, with `--out-dir`, with two worker threads and
in bf16. For each run it prints the stories per second and the share of time in which the GPU
worked: the mean of what `nvidia-smi` shows every 50 milliseconds in the middle half of the run. In
the end it checks that all int8 runs wrote the same scores.

    cargo build --release
    python benches/peers/gpu_feed.py STORIES.tsv.gz [--times 16]
        [--binary target/release/storymeter]

STORIES has a line of names and then one story per line, its sentences in the columns after the
first. With the 60,802 stories of ROCStories it takes about five minutes on an H200.
"""
import argparse
import gzip
import json
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def write_stories(source, times, folder):
    """Four files with all stories `times` times, one file of all, and the same gzipped."""
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        next(lines)
        texts = [" ".join(line.rstrip("\n").split("\t")[1:]) for line in lines]
    parts = [folder / f"part-{part}.jsonl" for part in range(4)]
    whole = folder / "all.jsonl"
    with whole.open("w", encoding="utf-8") as everything:
        for number, part in enumerate(parts):
            with part.open("w", encoding="utf-8") as out:
                for copy in range(number, times, len(parts)):
                    for at, text in enumerate(texts):
                        story = {"id": f"{copy}-{at}", "story": text}
                        out.write(json.dumps(story, ensure_ascii=False) + "\n")
            everything.write(part.read_text(encoding="utf-8"))
    packed = folder / "all.jsonl.gz"
    with whole.open("rb") as plain, gzip.open(packed, "wb", compresslevel=1) as out:
        shutil.copyfileobj(plain, out)
    return whole, packed, parts, len(texts) * times


def measure(name, command, stories):
    query = ["--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "-lms", "50"]
    watcher = subprocess.Popen(["nvidia-smi", *query], stdout=subprocess.PIPE, text=True)
    began = time.perf_counter()
    try:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    finally:
        seconds = time.perf_counter() - began
        watcher.terminate()
    shares = [int(line) for line in watcher.communicate()[0].split() if line.isdigit()]
    middle = shares[len(shares) // 4 : len(shares) * 3 // 4] or [0]
    busy = statistics.mean(middle)
    print(f"{name:30} {stories / seconds:8.0f} stories/s   GPU busy {busy:3.0f}%", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("stories")
    parser.add_argument("--times", type=int, default=16)
    parser.add_argument("--binary", default=str(ROOT / "target" / "release" / "storymeter"))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole, packed, parts, stories = write_stories(given.stories, given.times, folder)
        score = [given.binary, "score", "--device", "cuda", "-q"]

        def run(title, inputs, output, *more):
            measure(title, [*score, *map(str, inputs), *output, *more], stories)

        # The first run on a machine compiles kernels, so it does not count.
        subprocess.run([*score, "--text", "Rain fell. It was cold."], check=True,
                       stdout=subprocess.DEVNULL)
        run("one JSONL file", [whole], ["-o", str(folder / "plain.jsonl")])
        run("the same, gzipped", [packed], ["-o", str(folder / "gzip.jsonl")])
        run("four files with --out-dir", parts, ["--out-dir", str(folder / "shards")])
        run("one file, two worker threads", [whole], ["-o", str(folder / "two.jsonl")],
            "--threads", "2")
        run("one file, bf16", [whole], ["-o", str(folder / "bf16.jsonl")], "--precision", "bf16")
        merged = folder / "merged.jsonl"
        subprocess.run([given.binary, "merge", "-q", str(folder / "shards"), "-o", str(merged)],
                       check=True, stdout=subprocess.DEVNULL)
        wanted = (folder / "plain.jsonl").read_bytes()
        for other in ("gzip.jsonl", "two.jsonl", "merged.jsonl"):
            same = (folder / other).read_bytes() == wanted
            print(f"{other}: {'the same scores' if same else 'OTHER SCORES'}")
            if not same:
                raise SystemExit(1)


if __name__ == "__main__":
    main()
