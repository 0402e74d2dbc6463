"""Expected values of BLEU, chrF, TER and CIDEr-D from sacrebleu, NLTK and pycocoevalcap.

Writes two fixtures:

  crates/storymeter-metrics/tests/fixtures/nasty.json
      Short texts, written for this project, that are difficult for tokenisers, with the values and
      tokens of the other programs.
  crates/storymeter-checks/tests/fixtures/metrics_peers.csv.gz
      Values on pairs of real stories of the shared data. It has only numbers; a pair is named by
      its file and record.

Run with sacrebleu 2.6.0, nltk 3.10.4, pycocoevalcap 1.2, spacy 3.8.18:

  python tools/metrics_fixtures.py ../shared/data
"""

import csv
import gzip
import io
import json
import re
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

import spacy
from nltk.translate.bleu_score import sentence_bleu as nltk_bleu
from pycocoevalcap.cider.cider import Cider
from sacrebleu.metrics import BLEU, CHRF, TER

warnings.filterwarnings("ignore")
ROOT = Path(__file__).resolve().parent.parent
PEERS = {name: version(name) for name in ("sacrebleu", "nltk", "pycocoevalcap", "spacy")}

BLEUS = {
    "bleu": {},
    "bleu:intl": {"tokenize": "intl"},
    "bleu:char": {"tokenize": "char"},
    "bleu:none": {"tokenize": "none"},
    "bleu:floor": {"smooth_method": "floor"},
    "bleu:add-k": {"smooth_method": "add-k"},
    "bleu:unsmoothed": {"smooth_method": "none"},
    "bleu:lc": {"lowercase": True},
    "bleu:intl+floor": {"tokenize": "intl", "smooth_method": "floor"},
}
CHRFS = {"chrf": {}, "chrf:plus-plus": {"word_order": 2}, "chrf:hanna": {"beta": 3, "whitespace": True}}
TERS = {"ter": {}, "ter:cased": {"case_sensitive": True}}


def newline(key, text):
    return text + "\n" if key.endswith(":hanna") else text


def peers(with_ter):
    """Sentence and corpus versions of every sacrebleu metric, by our id."""
    metrics = {}
    for key, options in BLEUS.items():
        metrics[key] = (BLEU(effective_order=True, **options), BLEU(**options))
    for key, options in CHRFS.items():
        metrics[key] = (CHRF(**options),) * 2
    if with_ter:
        for key, options in TERS.items():
            metrics[key] = (TER(**options),) * 2
    return metrics


def values(pairs, with_ter):
    """One dict of values per pair (story, references), and the values of the corpus."""
    rows = [{} for _ in pairs]
    corpus = {}
    for key, (sentence, whole) in peers(with_ter).items():
        for row, (story, references) in zip(rows, pairs):
            row[key] = sentence.sentence_score(newline(key, story), [newline(key, r) for r in references]).score
        stories = [newline(key, story) for story, _ in pairs]
        count = max(len(references) for _, references in pairs)
        # sacrebleu takes None for a reference that a story does not have.
        columns = [
            [newline(key, references[i]) if i < len(references) else None for _, references in pairs]
            for i in range(count)
        ]
        corpus[key] = whole.corpus_score(stories, columns).score
    for row, (story, references) in zip(rows, pairs):
        row["bleu:union"] = float(nltk_bleu([r.split() for r in references], story.split()))
    for key, tokens in (("cider-d", lambda text: " ".join(re.findall(r"\w+", text))), ("cider-d:split", lambda t: t)):
        stories = {i: [tokens(story)] for i, (story, _) in enumerate(pairs)}
        references = {i: [tokens(r) for r in references] for i, (_, references) in enumerate(pairs)}
        for row, value in zip(rows, Cider().compute_score(references, stories)[1]):
            row[key] = float(value)
    return rows, corpus


def nasty():
    """Texts written for this project, each against the next as its reference."""
    lamp = "The lamp went out. \"Don't move,\" she said; he didn't -- he couldn't... At 3.15 a.m., $1,000.50 was gone!"
    texts = [
        lamp,
        "The lamp went out at 3.15, and $1,000.50 was gone. \"Don't you move,\" she whispered...",
        "Lamp",
        ".",
        "?!... --- ''\"\" ;;; ((()))",
        "😀 The dragon 🐉🔥 smiled 👩‍👩‍👧 at the 🇫🇷 flag 👍🏽!",
        "😀😀 A dragon 🐉 smiled at 🇫🇷 👍🏽.",
        "物語は、雨の夜に始まった。彼女は「行かないで」と言った。",
        "物語は雨の朝に終わった。「行って」と彼女は言った。",
        "كان يا ما كان، في قديم الزمان، ملك عظيم؛ هل تصدق؟",
        "كان يا ما كان ملك صغير، هل تصدق ذلك؟",
        "היה היה פעם מלך, והוא אמר: \"שלום!\"",
        "cafe\u0301 nai\u0308ve Z\u0351\u036b\u0343algo co\u0308operate",
        "café naïve Zalgo coöperate",
        "a\u00a0b\u2003c\u3000d\u200be\tf",
        "a b c d e f",
        "I'm sure they'd've said we're not gonna, y'all. Isn't it o'clock? cannot",
        "x-ray well-known 1990-91 4- -5 1,000,000.5 1.2.3 .5 5. 3,4,a ,b",
        "&lt;b&gt; &amp;quot; &amp; <skipped> <s> end-\nof line\nnext",
        "<b> &quot; & <s> endof line next",
        "ÀÉÎ straße STRASSE ﬁn İstanbul ΣΊΣΥΦΟΣ",
        "àéî strasse straße fin istanbul σίσυφος",
        "w" * 300,
        " leading and trailing blanks \n\n",
    ]
    texts.append(" ".join([lamp] * 1000))
    texts.append(" ".join([texts[1]] * 20))
    pairs = [(story, [texts[(i + 1) % len(texts)]]) for i, story in enumerate(texts)]
    pairs += [(story, [story]) for story in texts[:18]]
    pairs += [("", [texts[0]]), ("   ", [texts[1]]), (texts[0], [texts[1], texts[17], texts[6]]), (texts[7], texts[8:10])]
    short = [(s, r) for s, r in pairs if len(s) < 10_000 and all(len(x) < 10_000 for x in r)]
    long = [(s, r) for s, r in pairs if (s, r) not in short]
    rows, corpus = values(short, True)
    long_rows, long_corpus = values(long, False)
    nlp = spacy.blank("en")
    return {
        "about": f"made by tools/metrics_fixtures.py with {PEERS}",
        "groups": [
            {"corpus": corpus, "pairs": [{"story": s, "references": r, "expected": e} for (s, r), e in zip(short, rows)]},
            {"corpus": long_corpus, "pairs": [shortened(s, r, e) for (s, r), e in zip(long, long_rows)]},
        ],
        "spacy": [{"text": text, "tokens": [token.text for token in nlp(text)]} for text in texts if len(text) < 10_000],
    }


def shortened(story, references, expected):
    """A long text as the text that it repeats and the number of repetitions, which is shorter."""

    def unit(text):
        for size in range(1, 400):
            if text[size : size + 1] == " " and len(text) > 1000:
                count = (len(text) + 1) // (size + 1)
                if " ".join([text[:size]] * count) == text:
                    return {"unit": text[:size], "times": count}
        return text

    return {"story": unit(story), "references": [unit(r) for r in references], "expected": expected}


def jsonl(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def real(data):
    """Groups of (name, first records, pairs). The name says which records the pairs have."""
    hanna = jsonl(data / "annotated/hanna/stories_first48.jsonl.gz")
    yield "hanna", [(r["story"], [r["reference"]]) for r in hanna], False
    with gzip.open(data / "roc/stories.tsv.gz", "rt", encoding="utf-8") as lines:
        rows = list(csv.reader((next(lines) for _ in range(2302)), delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    roc = [" ".join(row[1:6]) for row in rows]
    yield "roc", [(roc[i], [roc[i + 1]]) for i in range(1000)], True
    yield "roc-two-references", [(roc[i], [roc[i + 1], roc[i + 2]]) for i in range(1000, 1200)], True
    yield "roc-more", [(roc[i], [roc[i + 1]]) for i in range(1300, 2300)], True
    machine = [r["story"] for r in jsonl(data / "generated/stories.jsonl.gz")[:601]]
    yield "generated", [(machine[i], [machine[i + 1]]) for i in range(600)], False


def main():
    data = Path(sys.argv[1])
    out = ROOT / "crates/storymeter-metrics/tests/fixtures/nasty.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(nasty(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    text = io.StringIO()
    text.write(f"# made by tools/metrics_fixtures.py with {PEERS}; record -1 is the whole group\n")
    writer = csv.writer(text, lineterminator="\n")
    for name, pairs, with_ter in real(data):
        rows, corpus = values(pairs, with_ter)
        keys = list(rows[0])
        writer.writerow(["group", name, *keys])
        writer.writerow([-1, *(f"{corpus[k]:.13g}" if k in corpus else "" for k in keys)])
        for i, row in enumerate(rows):
            writer.writerow([i, *(f"{row[k]:.13g}" for k in keys)])
        print(name, len(rows), file=sys.stderr)
    out = ROOT / "crates/storymeter-checks/tests/fixtures/metrics_peers.csv.gz"
    out.parent.mkdir(parents=True, exist_ok=True)
    with open(out, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as packed:
        packed.write(text.getvalue().encode())
    print(out.stat().st_size, "bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
