#!/usr/bin/env python3
"""Writes the forms of common English words by lemminflect, with which ours are compared.

    pip install lemminflect==0.2.3
    tools/word_forms_fixture.py /usr/share/wordnet crates/storymeter-text/tests/fixtures

The words are the 600 verbs, 600 nouns and 200 adjectives that are most frequent in the sense-tagged
texts of WordNet 3.0 (cntlist.rev). Several forms of a word are separated by "/", lemminflect's
first choice first. "-" means that there is no form.
"""
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import lemminflect

GROUPS = [
    ("verb_forms.tsv", ("2",), 600, ("VBZ", "VBD", "VBN", "VBG")),
    ("noun_forms.tsv", ("1",), 600, ("NNS",)),
    ("adjective_forms.tsv", ("3", "5"), 200, ("JJR", "JJS")),
]
wordnet, folder = map(Path, sys.argv[1:])
lines = (wordnet / "cntlist.rev").read_text().splitlines()
for name, kinds, size, tags in GROUPS:
    counts = Counter()
    for line in lines:
        key, _, count = line.split()
        lemma, rest = key.split("%")
        if rest[0] in kinds and lemma.isalpha():
            counts[lemma] += int(count)
    words = sorted(word for word, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:size])
    with open(folder / name, "w") as out:
        command = "tools/word_forms_fixture.py /usr/share/wordnet crates/storymeter-text/tests/fixtures"
        print(f"# tool: lemminflect {version('lemminflect')}; command: {command}", file=out)
        print("# word", *tags, sep="\t", file=out)
        for word in words:
            # Adjectives have only the forms in its dictionary; its rules would also grade "actual".
            known = [lemminflect.getInflection(word, tag, inflect_oov="JJR" not in tags) for tag in tags]
            forms = ["/".join(choices) or "-" for choices in known]
            print(word, *forms, sep="\t", file=out)
