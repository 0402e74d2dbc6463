"""Compares the speed and accuracy of our part-of-speech tagger with NLTK's, in one run.

    pip install nltk
    python benches/peers/tagger.py TRAIN.tsv.gz TEST.tsv.gz [TEST.tsv.gz ...]

NLTK's English weights are a separate download (`averaged_perceptron_tagger_eng`), and are used if
they are installed. Otherwise NLTK's PerceptronTagger is trained here on TRAIN. Its speed is then
that of NLTK's code with a model of this size, and its accuracy that of its features on our training
data. The first line of the output says which weights were used.
"""

import gzip
import subprocess
import sys
import time
from pathlib import Path

import nltk
from nltk.tag.perceptron import PerceptronTagger

# The speed hardly depends on it. NLTK's own default is 5.
ITERATIONS = 2


def read(path):
    text = gzip.open(path, "rt", encoding="utf-8").read()
    return [[tuple(line.split("\t")) for line in block.split("\n")] for block in text.strip().split("\n\n")]


def peer(train):
    try:
        return PerceptronTagger(), "its own weights"
    except LookupError:
        tagger = PerceptronTagger(load=False)
        tagger.train(read(train), nr_iter=ITERATIONS)
        return tagger, f"trained here on {Path(train).name}, {ITERATIONS} iterations"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    train, tests = sys.argv[1], sys.argv[2:]
    root = Path(__file__).resolve().parents[2]
    command = ["cargo", "run", "--release", "--quiet", "-p", "storymeter-text", "--example", "eval_tagger", "--"]
    ours = subprocess.run(command + [str(Path(t).resolve()) for t in tests], cwd=root, check=True, capture_output=True, text=True)
    rows = [line.split() for line in ours.stdout.splitlines()[1:]]
    tagger, weights = peer(train)
    print(f"NLTK {nltk.__version__} PerceptronTagger, {weights}")
    print(f"{'file':<24} {'NLTK':>8} {'ours':>8} {'NLTK tokens/s':>15} {'ours tokens/s':>15} {'ratio':>7}")
    for test, row in zip(tests, rows):
        sentences = read(test)
        words = [[word for word, _ in sentence] for sentence in sentences]
        # The processor time of the best of three passes, as in our own measurement, so that other
        # work on the machine hardly counts.
        seconds = float("inf")
        for _ in range(3):
            start = time.process_time()
            tagged = [tagger.tag(sentence) for sentence in words]
            seconds = min(seconds, time.process_time() - start)
        pairs = [(a, b) for s, t in zip(sentences, tagged) for (_, a), (_, b) in zip(s, t)]
        accuracy = 100 * sum(a == b for a, b in pairs) / len(pairs)
        speed, our_speed = len(pairs) / seconds, float(row[4])
        print(f"{row[0]:<24} {accuracy:>7.2f}% {row[2]:>8} {speed:>15.0f} {our_speed:>15.0f} {our_speed / speed:>7.1f}")


if __name__ == "__main__":
    main()
