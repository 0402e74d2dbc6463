"""Makes the list of words that NLTK's METEOR does not accept as synonyms, although WordNet does.

    python3 tools/capitalised_synonyms.py /usr/share/wordnet \
        > crates/storymeter-metrics/data/capitalised_synonyms.txt

NLTK compares the words of a synset, spelled as in WordNet, with lower-case words, so a word with a
capital letter never matches. The embedded lexicon does not keep capital letters. This file lists
the synonyms that the lexicon has only because of that: each line is a word, followed by the
synonyms that it must not have. A word that exists only as a name ("As", the symbol of arsenic) and
ends in "s" lists itself. Otherwise "ass", which looks like its plural, would match "as".
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
