"""What the scripts of this folder share: cases from a seed, calls of storymeter, and the comparison.

A script makes its cases, asks a peer and storymeter for the same numbers, and hands both to a
`Comparison`, which prints one row of a Markdown table per kind of number. A number that differs by
more than its limit makes the script fail.
"""

import argparse
import csv
import io
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
from importlib import metadata

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# ---------------------------------------------------------------- storymeter


def arguments():
    """The options that all scripts have."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--storymeter", default=ROOT / "target/release/storymeter", type=pathlib.Path)
    parser.add_argument("--statistics", default=ROOT / "target/release/examples/peer_values", type=pathlib.Path,
                        help="the example peer_values of the crate storymeter-stats")
    parser.add_argument("--seed", default=1, type=int)
    parser.add_argument("--scale", default=1.0, type=float, help="so many times the usual number of cases")
    return parser.parse_args()


class Program:
    """The command line, in a folder of its own."""

    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()
        self.folder = tempfile.TemporaryDirectory()

    def run(self, *words):
        """Runs the program and returns what it printed."""
        command = [self.path, *words, "--quiet"]
        done = subprocess.run(command, cwd=self.folder.name, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, words))}: {done.stderr}")
        return done.stdout

    def write(self, name, text):
        (pathlib.Path(self.folder.name) / name).write_text(text, encoding="utf-8", newline="")

    def json_lines(self, name, records):
        self.write(name, "".join(json.dumps(record) + "\n" for record in records))

    def scores(self, pairs, metrics, *options):
        """Scores of pairs (story, references), one dict per pair."""
        self.json_lines("pairs.jsonl", [
            {"id": str(n), "story": story, "references": references} for n, (story, references) in enumerate(pairs)
        ])
        words = ["score", "pairs.jsonl", "--metric", ",".join(metrics), "-o", "scores.jsonl", "--resamples", "1"]
        self.run(*words, *options)
        with open(pathlib.Path(self.folder.name) / "scores.jsonl", encoding="utf-8") as lines:
            return [json.loads(line)["scores"] for line in lines]

    def sheets(self, records, *names, options=()):
        """Sheets of `meta table` on records, each a list of rows, in full precision."""
        self.json_lines("table.jsonl", records)
        words = ["meta", "table", "table.jsonl", "--draws", "1", "--resamples", "1", "--format", "csv", *options]
        for name in names:
            words += ["--show", name]
        sheets = {name: {} for name in names}
        for cell in csv.DictReader(io.StringIO(self.run(*words))):
            sheets[cell["sheet"]].setdefault(int(cell["row"]), {})[cell["column"]] = number(cell["value"])
        return {name: list(rows.values()) for name, rows in sheets.items()}


def number(text):
    """The number that a cell holds, or its text."""
    try:
        return float(text)
    except ValueError:
        return text


def statistics(path, requests):
    """What the library's own functions answer, one list of numbers per request."""
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    done = subprocess.run([path], input=lines, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(requests)
    return answers


# ---------------------------------------------------------------- the comparison


def absent(value):
    return value is None or not isinstance(value, (int, float)) or math.isnan(value)


class Comparison:
    """Counts cases and values, and keeps the largest difference of each kind of number."""

    def __init__(self, peer, package=None, version=None):
        self.peer = f"{peer} {version or metadata.version(package or peer)}"
        self.kinds = {}

    def values(self, kind, case, ours, theirs, limit=1e-9, relative=False):
        """Compares the numbers of one case, which are two lists of the same length."""
        assert len(ours) == len(theirs), (kind, case)
        row = self.kinds.setdefault(kind, {"cases": 0, "values": 0, "undefined": 0, "largest": 0.0, "where": "",
                                           "limit": limit, "beyond": 0})
        row["cases"] += 1
        for our, their in zip(ours, theirs):
            if absent(our) and absent(their):
                row["undefined"] += 1
                continue
            row["values"] += 1
            if absent(our) or absent(their):
                difference = math.inf
            elif our == their:
                difference = 0.0
            else:
                difference = abs(our - their) / (max(1.0, abs(their)) if relative else 1.0)
            row["beyond"] += difference > limit
            if difference > row["largest"]:
                row["largest"], row["where"] = difference, f"case {case}: ours {our!r}, theirs {their!r}"

    def finish(self):
        """Prints the rows of the table, says where the differences are, and ends the script."""
        wrong = 0
        for kind, row in self.kinds.items():
            largest = "0" if row["largest"] == 0 else f"{row['largest']:.0e}".replace("e-0", "e-")
            print(f"| {self.peer} | {kind} | {row['cases']:,} | {row['values']:,} | {largest} |")
            if row["where"]:
                print(f"{self.peer}, {kind}: the largest difference is in {row['where']}", file=sys.stderr)
            if row["undefined"]:
                print(f"{self.peer}, {kind}: {row['undefined']:,} values are undefined in both", file=sys.stderr)
            if row["beyond"]:
                print(f"WRONG: {self.peer}, {kind}: {row['beyond']:,} of {row['values']:,} values differ by more "
                      f"than {row['limit']}", file=sys.stderr)
                wrong += 1
        raise SystemExit(1 if wrong else 0)


# ---------------------------------------------------------------- texts

WORDS = """the a an old grey lamp river house night storm door key went came said was had under into and but
she he they it Ines Noor Tobias lighthouse bread bicycle walking walked walks running easily happiness stories
story quietly never again through window's don't it's mother-in-law U.S. e.g. 3.14 1,000 $5 50% 2026 x""".split()
ODD = ["", "\u00a0", "\u200b", "\u3000", "é", "e\u0301", "ß", "İ", "ı", "ﬁ", "Straße", "ΣΑΣ", "你好", "故事", "こんにちは",
       "مرحبا", "שלום", "नमस्ते", "👩‍👩‍👧", "🚀", "—", "…", "“so”", "‘no’", "&quot;", "&amp;", "&lt;b&gt;", "<br>", "<skipped>",
       "...", "!?", "-", "--", "_", "a_b", "\\n", "\t", "'", "\"", "(", ")", "[x]", "{y}", "#1", "@me", "a.b.c", "1.", ".5",
       "\ufeff", "\U0001d54f", "ﷺ", "½", "²", "№", "\u2028", "Ⅷ", "ａｂｃ", "٣٤"]
ENDS = [".", ".", ".", "!", "?", ",", ";", ":", "...", ""]


def sentence(draw, odd):
    words = [draw.choice(ODD) if draw.random() < odd else draw.choice(WORDS) for _ in range(draw.randint(1, 14))]
    if draw.random() < 0.7:
        words[0] = words[0].capitalize()
    if draw.random() < 0.1:
        words = [word.upper() for word in words]
    return draw.choice([" ", " ", " ", "  "]).join(words) + draw.choice(ENDS)


def text(draw, odd, empty=True):
    """A text of our own: plain, hostile, repetitive, or empty."""
    kind = draw.randrange(20)
    if kind == 0 and empty:
        return draw.choice(["", " ", "\n", "\t \n", "..."])
    if kind == 1:
        return " ".join([draw.choice(WORDS)] * draw.randint(1, 40))
    if kind == 2:
        return draw.choice(WORDS)
    joined = draw.choice([" ", " ", "\n"]).join(sentence(draw, odd) for _ in range(draw.randint(1, 6)))
    return joined if joined.strip() or empty else "a story"


def damaged(draw, story):
    """The story with words dropped, doubled, moved and replaced, so that both share something."""
    words = story.split(" ")
    for _ in range(draw.randint(0, max(1, len(words) // 3))):
        at = draw.randrange(len(words))
        change = draw.randrange(4)
        if change == 0 and len(words) > 1:
            del words[at]
        elif change == 1:
            words.insert(at, words[at])
        elif change == 2:
            words.insert(draw.randrange(len(words)), words.pop(at))
        else:
            words[at] = draw.choice(WORDS)
    changed = " ".join(words)
    return changed if changed.strip() else "a story"


def pairs(seed, count, most_references=3):
    """Pairs of a story and its references. References have at least one visible character."""
    draw = random.Random(seed)
    made = []
    for n in range(count):
        odd = [0.0, 0.05, 0.4][n % 3]
        story = text(draw, odd)
        references = [
            damaged(draw, story) if draw.random() < 0.8 else text(draw, odd, empty=False)
            for _ in range(draw.randint(1, most_references))
        ]
        made.append((story, references))
    return made
