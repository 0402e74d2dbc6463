"""Writes how NLTK's Punkt splits texts that are hard to split into sentences.

    NLTK_DATA=DIR python tools/neural_fixtures_punkt.py

NLTK_DATA has NLTK's punkt_tab. The output is crates/storymeter-neural/tests/fixtures/punkt.json.
The texts are the project's own. Their sentences are given as Punkt returns them, and the splits
of the example stories as numbers of characters.
"""

import importlib.metadata

from nltk.tokenize import sent_tokenize

from neural_texts import A, NASTY, ROOT, stories, written

OUT = ROOT / "crates/storymeter-neural/tests/fixtures/punkt.json"

TEXTS = [
    A,
    "Dr. Hale met Mrs. Pike at noon. They spoke of Mr. Lowe.",
    "He lived in St. Ives. The sea was near.",
    "It cost $3.50. She paid.",
    "Version 2.0 failed. Version 3 worked.",
    "He left at 5 p.m. The train was late.",
    "He left at 5 p.m. on Monday.",
    "J. R. Moss wrote it. Nobody read it.",
    "The U.S. Army came. It stayed.",
    "She moved to the U.S. It was cold.",
    "We need flour, eggs, etc. The shop is shut.",
    "We need flour, eggs, etc. and milk.",
    '"Stop!" he cried. "Why?" she asked.',
    '"I know." She sat down.',
    "He said, \"Go home.\" Then he slept.",
    "“Who is there?” she called. ‘Nobody,’ said a voice.",
    "Wait... what was that? A cat.",
    "Wait... She froze.",
    "No!!! Not again?! Yes.",
    "Run! run! run!",
    "He waited. and waited. Nobody came.",
    "the end. the end. the end.",
    "(It was late.) He yawned.",
    "It was late (very late). He yawned.",
    "The box [see fig. 3] was empty. They left.",
    "See No. 7. It is red.",
    "Turn to p. 12. Read it.",
    "On Jan. 5 he wrote. On Feb. 6 he called.",
    "The meeting, i.e. the party, began. We ate e.g. cake.",
    "Smith et al. were wrong. We told them.",
    "Gen. Ross and Sgt. Hill saluted. Capt. Dunn did not.",
    "It was 1999. He was ten.",
    "He was born in 1999. 20 years later he left.",
    "First line\nSecond line. Third\n\nFourth.",
    "One.Two. Three.",
    "He came;he saw. He left",
    "  Blanks before. And after.  ",
    "Hello . World . Yes",
    "Mr. and Mrs. Bell vs. the Crown. A trial.",
    "I like the letter A. Bees like B.",
    "Ph.D. students read. Prof. Ames taught.",
    "She shouted \"NO.\" and ran. He didn't.",
    "...",
    "",
    "Word",
    "A. B. C.",
    "It ended at 10:30 a.m. Everyone clapped.",
    "Was it you, Tom? Tom! Speak.",
]


def main():
    counts = {}
    for name, story in stories().items():
        counts[name] = [len(sentence) for sentence in sent_tokenize(story)]
    fixture = {
        "tool": f"nltk {importlib.metadata.version('nltk')}, sent_tokenize with punkt_tab, English",
        "command": "NLTK_DATA=DIR python tools/neural_fixtures_punkt.py",
        "texts": [
            {"text": text, "sentences": sent_tokenize(text)} for text in TEXTS + list(NASTY.values())
        ],
        "characters_per_sentence_of_the_example_stories": counts,
    }
    written(OUT, fixture)


if __name__ == "__main__":
    main()
