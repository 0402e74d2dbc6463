#!/usr/bin/env python3
"""Times the Python package: beside the command line, and BLEU beside sacrebleu, in one run.

Both sides of each pair do the same work, by turns, and the median of the rounds counts. Processor
time is that of the whole process and its children, start and opening of the model included.

    cargo build --release
    pip install . sacrebleu
    python benches/peers/python.py [--stories 10000] [--union 1000] [--rounds 5]
        [--binary target/release/storymeter]

The stories are written for the purpose, from the example stories of the repository.
"""
import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAST = "bleu,rouge,chrf,distinct-2,repetition-3,text-length"


def make_stories(count, sentences_at_most=12):
    """Stories of mixed sentences, each with a reference."""
    lines = (ROOT / "examples" / "stories.jsonl").read_text(encoding="utf-8").splitlines()
    sentences = [s for line in lines for s in json.loads(line)["story"].split(". ") if s]
    draw = random.Random(1)

    def text():
        drawn = [draw.choice(sentences) for _ in range(draw.randint(5, 12))]
        return ". ".join(drawn[:sentences_at_most]) + "."

    return [{"id": str(n), "story": text(), "reference": text()} for n in range(count)]


def processor_time(command):
    """Seconds of the processor that a command takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def beside_the_command_line(options, stories, metrics, folder):
    count = len(stories)
    file = folder / f"{count}.jsonl"
    file.write_text("".join(json.dumps(story) + "\n" for story in stories), encoding="utf-8")
    code = (
        "import json, sys, storymeter as sm\n"
        "with open(sys.argv[1], encoding='utf-8') as lines:\n"
        "    stories = [json.loads(line) for line in lines]\n"
        "print(sm.score(stories, metrics=sys.argv[2]))\n"
    )
    by_path = (
        "import pathlib, sys, storymeter as sm\n"
        "print(sm.score(pathlib.Path(sys.argv[1]), metrics=sys.argv[2]))\n"
    )
    program = [options.binary, "score", file, "--metric", metrics, "-q"]
    sides = {
        "command line": program,
        "sm.score(path)": [sys.executable, "-c", by_path, file, metrics],
        "sm.score(list of dictionaries)": [sys.executable, "-c", code, file, metrics],
    }
    # What every program in Python pays, whatever it does.
    sides["(interpreter and import alone)"] = [
        sys.executable, "-c", "import pathlib, storymeter as sm; sm.score, sm.ScoreResult"
    ]
    took = {name: [] for name in sides}
    for _ in range(options.rounds):
        for name, command in sides.items():
            took[name].append(processor_time(command))
    print(f"{count} stories, {metrics}: seconds of the processor, median of {options.rounds}")
    base = statistics.median(took["command line"])
    for name, seconds in took.items():
        median = statistics.median(seconds)
        more = "" if name.startswith("(") else f"{100 * (median / base - 1):+6.1f}%"
        print(f"  {name:32} {median:8.3f}  {more}")


def beside_sacrebleu(options):
    try:
        import sacrebleu
    except ImportError:
        print("BLEU: sacrebleu is not installed")
        return
    import storymeter as sm

    stories = make_stories(options.stories)
    texts = [story["story"] for story in stories]
    references = [story["reference"] for story in stories]
    ours, theirs = [], []
    for _ in range(options.rounds):
        begun = time.perf_counter()
        our_score = sm.score(texts, metrics=["bleu"], references=references, resamples=1).mean
        ours.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        their_score = sacrebleu.corpus_bleu(texts, [references]).score
        theirs.append(time.perf_counter() - begun)
    assert abs(our_score - their_score) < 1e-9, (our_score, their_score)
    our_time, their_time = statistics.median(ours), statistics.median(theirs)
    print(f"BLEU of {len(texts)} stories, wall clock: {our_time:.3f} s, sacrebleu "
          f"{sacrebleu.__version__} {their_time:.3f} s, {their_time / our_time:.0f} times")


def beginnings(options):
    def wall(code):
        def once():
            begun = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
            return time.perf_counter() - begun

        return statistics.median(once() for _ in range(options.rounds))

    bare = wall("pass")
    print(f"import storymeter: {1000 * (wall('import storymeter') - bare):.0f} ms")
    first = wall("import storymeter as sm; print(sm.score('Rain fell all night.').score)")
    print(f"first score, interpreter and import included: {first:.2f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stories", type=int, default=10_000)
    parser.add_argument("--union", type=int, default=1000,
                        help="stories of at most three sentences for the learned metric")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--binary", default=str(ROOT / "target" / "release" / "storymeter"))
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        beside_the_command_line(options, make_stories(options.stories), FAST, Path(folder))
        if options.union:
            short = make_stories(options.union, sentences_at_most=3)
            beside_the_command_line(options, short, "union", Path(folder))
    beside_sacrebleu(options)
    beginnings(options)


if __name__ == "__main__":
    main()
