"""Makes the table in which ROUGE-1.5.5 looks up words before it stems them.

    python3 tools/rouge_exceptions.py /usr/share/wordnet \
        > crates/storymeter-metrics/data/rouge_exceptions.txt

ROUGE-1.5.5 builds its table from the exception lists of WordNet 2.0 (`buildExeptionDB.pl`). It uses
the first base form on a line. Where two lists disagree (best, better, testes), it uses the list
that it reads last; here the order is adj, adv, noun, verb. The lists of WordNet 3.0 (Debian package
wordnet-base) differ only in thirteen forms that were added since, which are left out. Forms of
three or fewer letters or digits are left out too, because ROUGE never looks them up.
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
