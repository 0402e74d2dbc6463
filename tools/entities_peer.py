#!/usr/bin/env python3
"""Compares storymeter's entities with spaCy's.

Build the example first: cargo build --release -p storymeter-text --example entities

    python tools/entities_peer.py SPACY.json STORIES.jsonl.gz [FIRST END]

SPACY.json is what tools/neural_fixtures_spacy.py wrote for the same stories. The numbers are of the
stories FIRST to END - 1. An entity counts as found if both ends are equal; the label is counted
apart, because SummaQA asks about entities whatever their label is.
"""

import collections
import gzip
import json
import os
import subprocess
import sys

# Labels that the rules do not tell apart from another one.
SAME = {"FAC": "ORG", "WORK_OF_ART": "PERSON", "PRODUCT": "PERSON", "EVENT": "ORG", "LAW": "ORG"}


def main():
    spacy = json.load(open(sys.argv[1]))["stories"]
    with gzip.open(sys.argv[2], "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["story"] for line in lines][: len(spacy)]
    first, end = (int(sys.argv[3]), int(sys.argv[4])) if len(sys.argv) > 4 else (0, len(spacy))
    program = os.path.join(os.path.dirname(__file__), "../target/release/examples/entities")
    output = subprocess.run(
        [program], input="\0".join(texts), capture_output=True, text=True, check=True
    ).stdout
    ours = collections.defaultdict(dict)
    for line in output.splitlines():
        number, start, stop, label = line.split("\t")
        ours[int(number)][int(start), int(stop)] = label
    found, missed, wrong = (collections.Counter() for _ in range(3))
    labels = examples = 0
    overlapping = [0, 0]
    show = collections.defaultdict(collections.Counter)
    for number in range(first, end):
        theirs = {(a, b): SAME.get(label, label) for a, b, label in spacy[number]["entities"]}
        mine = ours[number]
        for span, label in theirs.items():
            (found if span in mine else missed)[label] += 1
            labels += mine.get(span) == label
            if span not in mine:
                show["- " + label][texts[number][span[0] : span[1]]] += 1
        for span, label in mine.items():
            if span not in theirs:
                wrong[label] += 1
                show["+ " + label][texts[number][span[0] : span[1]]] += 1
        touches = lambda one, many: any(one[0] < b and a < one[1] for a, b in many)
        overlapping[0] += sum(touches(span, mine) for span in theirs)
        overlapping[1] += sum(touches(span, theirs) for span in mine)
    total, all_theirs = sum(found.values()), sum(found.values()) + sum(missed.values())
    all_ours = total + sum(wrong.values())
    print(f"spaCy {all_theirs}, ours {all_ours}, equal {total}")
    print(f"precision {total / all_ours:.3f}, recall {total / all_theirs:.3f}, "
          f"F {2 * total / (all_ours + all_theirs):.3f}")
    print(f"overlapping: precision {overlapping[1] / all_ours:.3f}, "
          f"recall {overlapping[0] / all_theirs:.3f}")
    print(f"equal label where the entity is equal: {labels / total:.3f}")
    for label in sorted(found | missed | wrong):
        print(f"{label:9} found {found[label]}, missed {missed[label]}, not spaCy's {wrong[label]}")
    if os.environ.get("SHOW"):
        for label, texts in show.items():
            print(label, texts.most_common(40))


if __name__ == "__main__":
    main()
