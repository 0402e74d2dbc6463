"""Makes the lists of the metric `slop`: what language models of 2023 to 2026 write far more often
than people do. Lists are facts about words; no text of others is copied.

    python3 tools/slop_lists.py ../shared/data crates/storymeter-metrics/data/slop
    python3 tools/slop_lists.py ../shared/data FOLDER --without arena

The second line makes the lists of a study that leaves one set out (`tools/slop_measure.py`). Only
the *making half* is read: stories whose item (for human stories without one, whose number) has an
even hash. The other half is for measuring. Needs only Python's standard library.

Machine side: arena, csg, lamp before editing, confederacy, wqrm and ttcw. Human side: long, ROC,
csg, lamp after editing by a writer. The rate of a set counts by the square root of its size, so
that the arena, which has nine tenths of the words, does not decide alone. An occurrence counts
only if the prompt of its story does not have the word, so that no prompt puts its own words on the
list.
"""
import argparse
import gzip
import hashlib
import json
import math
import re
from collections import Counter, defaultdict
from pathlib import Path

VERSION = 1

# A word is a run of letters with apostrophes inside, as in crates/storymeter-metrics/src/slop.
# A comma is a token of its own. Anything else but blanks and single hyphens ends a segment.
TOKEN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|,|--+|[^\s-]|\n")
JOIN = re.compile(r"(?i) (n't|'s|'re|'ll|'ve|'d|'m)\b")

# How much more often than people, with which smoothing (both in occurrences per million words).
SMOOTHING = 2.0
FACTOR = {1: 3.0, 2: 4.0, 3: 4.0}
# In at least so many documents, systems and prompts.
DOCUMENTS = {1: 12, 2: 10, 3: 8}
SYSTEMS = 6
PROMPTS = 8
# The longest lists.
MOST = {1: 500, 2: 250, 3: 250}
# A phrase has a word that is not among so many most frequent words of people.
COMMON = 150
# A word that has a capital in this share of its occurrences is a name.
NAME = 0.7


def lines(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from file


def plain(text):
    """The text with straight apostrophes and without the blanks of tokenised corpora."""
    return JOIN.sub(r"\1", text.replace("\u2019", "'").replace("\u2018", "'"))


def segments(text):
    """The words of a text between marks that no phrase crosses, with commas."""
    segment = []
    for token in TOKEN.findall(plain(text)):
        if token[0].isalpha() or token == ",":
            segment.append(token)
        elif segment:
            yield segment
            segment = []
    if segment:
        yield segment


def is_making(set_name, item):
    return hashlib.sha256(f"{set_name}/{item}".encode()).digest()[0] % 2 == 0


def stories(data):
    """All stories of both sides as (set, is_human, record)."""
    data = Path(data)
    for name in ["arena", "csg", "lamp", "confederacy", "wqrm", "ttcw"]:
        for line in lines(data / "annotated/modern" / f"{name}.jsonl.gz"):
            record = json.loads(line)
            record["made"] = is_making(name, record["item"])
            if "+ai-edit" in record["system"]:
                continue
            yield name, record["system"] == "human" or "+human-edit" in record["system"], record
    for number, line in enumerate(lines(data / "long/stories.jsonl.gz")):
        record = json.loads(line)
        record |= {"system": record["source"], "item": str(number)}
        yield "long", True, record | {"made": is_making("long", number)}
    for number, line in enumerate(lines(data / "roc/stories.tsv.gz")):
        form, *sentences = line.rstrip("\n").split("\t")
        if form == "cased":
            record = {"system": "roc", "item": str(number), "story": " ".join(sentences)}
            yield "roc", True, record | {"made": is_making("roc", number)}


def grams(segment, order):
    """The n-grams of a segment. A comma is only part of a bigram `, doing`."""
    words = [word.lower() for word in segment]
    for at in range(len(words) - order + 1):
        gram = words[at : at + order]
        commas = gram.count(",")
        if commas == 0 or (order == 2 and gram[0] == "," and is_participle(gram[1])):
            yield " ".join(gram)


def is_participle(word):
    return word.endswith("ing") and len(word) > 5 and not word.endswith("thing")


class Side:
    """The counts of one side."""

    def __init__(self):
        self.words = Counter()
        self.counts = {order: defaultdict(Counter) for order in FACTOR}
        self.documents = {order: Counter() for order in FACTOR}
        self.systems = {order: defaultdict(set) for order in FACTOR}
        self.prompts = {order: defaultdict(set) for order in FACTOR}
        self.capitals = Counter()

    def add(self, name, record, common=None):
        own = set(segments_of_prompt(record)) - (common or set())
        found = {order: Counter() for order in FACTOR}
        for segment in segments(record["story"]):
            self.words[name] += sum(word != "," for word in segment)
            self.capitals.update(word.lower() for word in segment if word[0].isupper())
            for order, counter in found.items():
                for gram in grams(segment, order):
                    if not own or own.isdisjoint(gram.split()):
                        counter[gram] += 1
        for order, counter in found.items():
            self.counts[order][name].update(counter)
            if common is not None:
                for gram in counter:
                    self.documents[order][gram] += 1
                    self.systems[order][gram].add(record["system"])
                    self.prompts[order][gram].add((name, record["item"]))

    def total(self, order):
        return sum(self.counts[order].values(), Counter())


def segments_of_prompt(record):
    for segment in segments(record.get("prompt") or ""):
        yield from (word.lower() for word in segment)


def make(data, without):
    """The entries by order, each list in the order of the alphabet, and how they were found."""
    people, models, machine = Side(), Side(), []
    for name, human, record in stories(data):
        if not record["made"] or name == without:
            continue
        if not human:
            machine.append((name, record))
        elif name != "confederacy":
            record.pop("prompt", None)
            people.add(name, record)
    human = {order: people.total(order) for order in FACTOR}
    common = {word for word, _ in human[1].most_common(COMMON)} | {","}
    for name, record in machine:
        models.add(name, record, common)
    every = models.total(1)
    names = {word for word, count in every.items() if models.capitals[word] > NAME * count}
    weights = {name: math.sqrt(words) for name, words in models.words.items()}
    people_words = sum(people.words.values())
    lists, facts = {}, {}
    for order in FACTOR:
        found = []
        for gram, documents in models.documents[order].items():
            words = gram.split()
            if documents < DOCUMENTS[order] or not names.isdisjoint(words):
                continue
            if len(models.systems[order][gram]) < SYSTEMS:
                continue
            if len(models.prompts[order][gram]) < PROMPTS or common.issuperset(words):
                continue
            rate = sum(
                weight * models.counts[order][name][gram] / models.words[name]
                for name, weight in weights.items()
            )
            rate *= 1e6 / sum(weights.values())
            theirs = 1e6 * human[order][gram] / people_words
            factor = (rate + SMOOTHING) / (theirs + SMOOTHING)
            if factor >= FACTOR[order]:
                found.append((-math.log(factor) * math.sqrt(rate), gram, rate, theirs))
        found.sort()
        lists[order] = sorted(gram for _, gram, _, _ in found[: MOST[order]])
        facts |= {gram: (rate, theirs) for _, gram, rate, theirs in found}
    return lists, facts


def write(lists, path, without):
    left = f", without {without}" if without else ""
    text = [f"# slop list, version {VERSION}", f"# Made by tools/slop_lists.py{left}."]
    for order, title in [(1, "words"), (2, "phrases of two words"), (3, "phrases of three words")]:
        text += ["", f"# {len(lists[order])} {title}", *lists[order]]
    path.write_text("\n".join(text) + "\n", encoding="utf-8")


def entries(path):
    """The entries of a list."""
    listed = Path(path).read_text(encoding="utf-8").splitlines()
    return [line for line in listed if line and not line.startswith("#")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--without", metavar="SET", help="a set that neither side has")
    arguments = parser.parse_args()
    lists, facts = make(arguments.data, arguments.without)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    write(lists, arguments.folder / "slop.txt", arguments.without)
    rows = ["entry\tmodels\tpeople\t(per million words)"]
    order = sorted(facts, key=lambda gram: (-facts[gram][0], gram))
    kept = {gram for entries in lists.values() for gram in entries}
    rows += [f"{g}\t{facts[g][0]:.1f}\t{facts[g][1]:.1f}" for g in order if g in kept]
    print("\n".join(rows))


if __name__ == "__main__":
    main()
