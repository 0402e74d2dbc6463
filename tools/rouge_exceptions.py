"""Makes crates/storymeter-metrics/data/rouge_exceptions.txt, the table ROUGE-1.5.5 looks words up in before stemming.

    python3 tools/rouge_exceptions.py /usr/share/wordnet > crates/storymeter-metrics/data/rouge_exceptions.txt

ROUGE-1.5.5 builds its table from the exception lists of WordNet 2.0 (`buildExeptionDB.pl`): the first base form of a
line counts, and where lists disagree (best, better, testes) the list read last, here in the order adj, adv, noun, verb.
The lists of WordNet 3.0 (Debian package wordnet-base) are the same but for the thirteen forms added since, left out here.
Only forms ROUGE can meet are kept: more than three letters or digits.
"""

import re
import sys

ADDED_AFTER_2_0 = set(
    "ashes aurar cognosenti diastemata gps halfpence houses_of_cards lisente loups-garous morses optic_axes staretsy "
    "sudatoria".split()
)

table = {}
for part in ["adj", "adv", "noun", "verb"]:
    with open(f"{sys.argv[1]}/{part}.exc", encoding="ascii") as lines:
        for line in lines:
            form, base = line.split()[:2]
            if form not in ADDED_AFTER_2_0 and re.fullmatch("[a-z0-9]{4,}", form):
                table[form] = base
for form in sorted(table):
    print(form, table[form])
