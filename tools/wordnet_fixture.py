#!/usr/bin/env python3
"""Writes synonyms and antonyms of common words as WordNet's browser prints them.

    apt-get install wordnet wordnet-base
    tools/wordnet_fixture.py /usr/share/wordnet > crates/storymeter-text/tests/fixtures/wordnet.tsv

The lexicon is compared with them. The words are the 150 nouns, verbs, adjectives and adverbs that
are most frequent in the sense-tagged texts of WordNet 3.0 (cntlist.rev). Only single words are
kept, in lower case and alphabetical order. "-" means that there is none.
"""
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

GROUPS = [("noun", "n", ("1",)), ("verb", "v", ("2",)), ("adjective", "a", ("3", "5")), ("adverb", "r", ("4",))]


def browse(word, option):
    """The blocks of lines that `wn` prints, one per sense.

    Blocks of other lemmas are left out (`wn best` also prints good).
    """
    out = subprocess.run(["wn", word, option], capture_output=True, text=True).stdout
    blocks = [block.strip().splitlines() for block in re.split(r"^Sense \d+$", out, flags=re.M)[1:]]
    return [block for block in blocks if word in single(block[0])]


def single(words):
    """The single words of a list such as "buy, purchase, grease one's palms".

    Notes such as "(vs. cold)" are left out.
    """
    names = (name.strip().lower() for name in re.sub(r"\([^)]*\)", "", words).split(","))
    return {name for name in names if name and " " not in name}


lines = (Path(sys.argv[1]) / "cntlist.rev").read_text().splitlines()
version = subprocess.run(["dpkg-query", "-W", "wordnet"], capture_output=True, text=True).stdout.split()[1]
print(f"# tool: wn of Debian's wordnet {version}; command: tools/wordnet_fixture.py /usr/share/wordnet")
print("# part of speech\tword\tsynonyms\tantonyms")
for name, letter, kinds in GROUPS:
    counts = Counter()
    for line in lines:
        key, _, count = line.split()
        lemma, rest = key.split("%")
        if rest[0] in kinds and lemma.isalpha():
            counts[lemma] += int(count)
    for word in sorted(word for word, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:150]):
        synonyms, antonyms = set(), set()
        for block in browse(word, f"-syns{letter}"):
            synonyms |= single(block[0])
        for block in browse(word, f"-ants{letter}"):
            if letter == "a":
                # "hot (vs. cold), big, ...": an antonym stands after the word that it belongs to.
                own = rf"(?:^|, ){re.escape(word)}(?:\([a-z]+\))? \(vs\. ([^)]*)\)"
                antonyms |= {found for match in re.findall(own, block[0], flags=re.I) for found in single(match)}
            else:
                antonyms |= {match.lower() for match in re.findall(r"Antonym of (\S+) \(Sense", "\n".join(block))}
        synonyms.discard(word)
        print(name, word, " ".join(sorted(synonyms)) or "-", " ".join(sorted(antonyms)) or "-", sep="\t")
