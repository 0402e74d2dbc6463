"""Makes capitalised_synonyms.txt, the words that NLTK's METEOR does not take for synonyms.

    cd crates/storymeter-metrics/data
    python3 ../../../tools/capitalised_synonyms.py /usr/share/wordnet > capitalised_synonyms.txt

NLTK compares words in lower case with the names in a synset as WordNet writes them, so names with
capital letters never match. The embedded lexicon does not keep the case of letters. The table has
the words that it links only through such names. A line has a word, and then the synonyms that are
not its synonyms in NLTK. A word that is itself only a name ("As", the symbol of arsenic) has itself
on its line if it ends in s, so that "ass", which is taken for its plural, does not match "as".
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
