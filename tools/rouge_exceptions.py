"""Makes rouge_exceptions.txt, the table in which ROUGE-1.5.5 looks words up before stemming.

    cd crates/storymeter-metrics/data
    python3 ../../../tools/rouge_exceptions.py /usr/share/wordnet > rouge_exceptions.txt

ROUGE-1.5.5 builds its table from the exception lists of WordNet 2.0 (`buildExeptionDB.pl`). The
first base form of a line counts. Where lists disagree (best, better, testes), the list that is read
last counts, here in the order adj, adv, noun, verb. The lists of WordNet 3.0 (Debian package
wordnet-base) differ only in thirteen forms that were added since, which are left out here. Only
forms that ROUGE can meet are kept: those of more than three letters or digits.
"""

import re
import sys

ADDED_AFTER_2_0 = set(
    "ashes aurar cognosenti diastemata gps halfpence houses_of_cards lisente loups-garous morses "
    "optic_axes staretsy sudatoria".split()
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
