"""Makes crates/storymeter-metrics/data/capitalised_synonyms.txt, what NLTK's METEOR does not take for synonyms.

    python3 tools/capitalised_synonyms.py /usr/share/wordnet > crates/storymeter-metrics/data/capitalised_synonyms.txt

NLTK compares the names of a synset's words as WordNet writes them with lower-case words, so names with capital letters
never match. The embedded lexicon keeps no letter case; here are the words it links only through such names: a line is a
word and the synonyms it does not have. A word that is itself only a name ("As", the symbol of arsenic) has itself on its line
if it ends in s: so that "ass", taken for its plural, does not match "as".
"""

import collections
import sys

synsets = []
for part in ["noun", "verb", "adj", "adv"]:
    with open(f"{sys.argv[1]}/data.{part}", encoding="ascii") as lines:
        for line in lines:
            if not line.startswith(" "):
                fields = line.split()
                names = [fields[4 + 2 * n].split("(")[0] for n in range(int(fields[3], 16))]
                synsets.append((part, [name for name in names if "_" not in name]))

spelled = collections.defaultdict(set)
nouns = collections.defaultdict(set)
for part, names in synsets:
    for name in names:
        spelled[name.lower()].update(names)
        if part == "noun":
            nouns[name.lower()].add(name)
for word in sorted(spelled):
    lower = {name for name in spelled[word] if name == name.lower()}
    missing = {name.lower() for name in spelled[word]} - lower - {word}
    if word.endswith("s") and word in nouns and word not in nouns[word]:
        missing.add(word)
    if missing:
        print(word, *sorted(missing))
