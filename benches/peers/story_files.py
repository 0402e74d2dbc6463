"""Pairs of stories from a file and our own time on them, for the scripts on ROUGE and METEOR."""
import gzip
import json
import os
import subprocess
import tempfile

OURS = os.path.join(os.path.dirname(__file__), "../../target/release/examples/pair_seconds")


def read_pairs(path, count):
    """Pairs stories 0 and 1, 2 and 3, ... of a JSONL file, so that no text comes twice."""
    opener = gzip.open if path.endswith(".gz") else open
    texts = []
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            story = json.loads(line)["story"]
            if story not in texts:
                texts.append(story)
            if len(texts) == 2 * count:
                break
    pairs = [(story, [reference]) for story, reference in zip(texts[::2], texts[1::2])]
    print(f"{len(pairs)} pairs, {sum(len(text.encode()) for text in texts) / len(texts):.0f} bytes per text")
    return pairs


def our_time(pairs, metric, rounds, environment=None):
    """Our processor and wall seconds per round on these pairs, and the number of bytes."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "pairs.jsonl")
        with open(file, "w", encoding="utf-8") as out:
            for story, references in pairs:
                out.write(json.dumps({"story": story, "reference": references}) + "\n")
        command = [OURS, file, str(rounds), metric]
        out = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **(environment or {})})
    return json.loads(out.stdout)


def report(rows):
    """Prints a table from rows of (program, its processor seconds, ours)."""
    print(f"{'peer':32} {'peer s':>10} {'ours s':>10} {'ratio':>8} {'ours MB/s':>10}")
    for name, theirs, ours in rows:
        mine = ours["processor"]
        print(f"{name:32} {theirs:10.3f} {mine:10.5f} {theirs / mine:7.1f}x {ours['bytes'] / mine / 1e6:10.2f}")
