"""What the scripts that time ROUGE and METEOR share: pairs from a file of stories, and our own time on them."""
import gzip
import json
import os
import subprocess
import tempfile

OURS = os.path.join(os.path.dirname(__file__), "../../target/release/examples/pair_seconds")


def read_pairs(path, count):
    """Stories 0 and 1, 2 and 3, ... of a JSONL file: no text comes twice, so no cache helps either side."""
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
    print(f"{len(pairs)} pairs, {sum(len(text.encode()) for text in texts) / len(texts):.0f} bytes a text")
    return pairs


def our_time(pairs, metric, rounds, environment=None):
    """Our seconds a round on these pairs: processor and wall, and the bytes."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "pairs.jsonl")
        with open(file, "w", encoding="utf-8") as out:
            for story, references in pairs:
                out.write(json.dumps({"story": story, "reference": references}) + "\n")
        command = [OURS, file, str(rounds), metric]
        out = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **(environment or {})})
    return json.loads(out.stdout)


def report(rows):
    """A table of (peer, its processor seconds, ours)."""
    print(f"{'peer':32} {'peer s':>10} {'ours s':>10} {'ratio':>8} {'ours MB/s':>10}")
    for name, theirs, ours in rows:
        mine = ours["processor"]
        print(f"{name:32} {theirs:10.3f} {mine:10.5f} {theirs / mine:7.1f}x {ours['bytes'] / mine / 1e6:10.2f}")
