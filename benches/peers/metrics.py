#!/usr/bin/env python3
"""Times sacrebleu and pycocoevalcap and our BLEU, chrF, TER and CIDEr-D on the same pairs.

Prints the ratios, and then how much faster our metrics are on two threads than on one.

    cargo build --release -p storymeter-metrics --examples
    python3 benches/peers/metrics.py [STORIES.jsonl[.gz] [METRIC...]]

Stories 0 and 1, 2 and 3, and so on are pairs. No text is seen twice, so no cache helps either side.
Without a file, the pairs are made up. Both sides use one thread with the texts in memory. Times are
processor time of the best round, so that other work on the machine does not count.

Two threads are timed on the clock, on up to 6,000 pairs, with rounds on one and on two threads in
turns. This is meaningful only on an idle machine. What the machine itself gains from a second
thread is printed before it. If the file is short, each story meets other references to make more
pairs. If metrics are named after the file, only these are timed. sacrebleu's TER takes minutes. The
script needs sacrebleu 2 and pycocoevalcap.
"""
import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time

from pycocoevalcap.cider.cider import Cider
from sacrebleu.metrics import BLEU, CHRF, TER

EXAMPLES = os.path.join(os.path.dirname(__file__), "../../target/release/examples")
PAIRS = 300
TER_PAIRS = 10
THREAD_PAIRS = 6000


def made_up():
    words = (
        "the a she he they lamp storm night door key old house river went came said was had under "
        "into and but"
    ).split()
    rng = random.Random(7)
    story = lambda: " ".join(rng.choice(words) for _ in range(300)).capitalize() + "."
    return [story() for _ in range(2 * THREAD_PAIRS)]


def stories(path):
    opener = gzip.open if path.endswith(".gz") else open
    texts = []
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            texts.append(json.loads(line)["story"])
            if len(texts) == 2 * THREAD_PAIRS:
                break
    return texts


def best(work):
    times = []
    for _ in range(3):
        start = time.thread_time()
        work()
        times.append(time.thread_time() - start)
    return min(times)


def ours(path, metric):
    command = [os.path.join(EXAMPLES, "throughput"), path, metric]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def more_pairs(pairs):
    """Enough pairs for the threads: the pairs, then each story with the next reference, and so on."""
    count = len(pairs)
    for n in range(THREAD_PAIRS):
        yield pairs[n % count][0], pairs[(n + n // count) % count][1]


def threads(path, metrics):
    """The lines of the example `threads`, one after the other."""
    command = [os.path.join(EXAMPLES, "threads"), path, "2", *metrics]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield from map(json.loads, process.stdout)
    if process.returncode:
        sys.exit("the example `threads` failed")


def sentence(make, pairs):
    # Every round has a new metric, because sacrebleu's tokenisers remember lines.
    def work():
        metric = make()
        if hasattr(metric, "tokenizer"):
            for tokenizer in (metric.tokenizer, getattr(metric.tokenizer, "_post_tokenizer", None)):
                if tokenizer is not None and hasattr(type(tokenizer).__call__, "cache_clear"):
                    type(tokenizer).__call__.cache_clear()
        for story, reference in pairs:
            metric.sentence_score(story, [reference])

    return work


def cider(pairs):
    def work():
        words = lambda text: [" ".join(re.findall(r"\w+", text))]
        references = {i: words(reference) for i, (_, reference) in enumerate(pairs)}
        candidates = {i: words(story) for i, (story, _) in enumerate(pairs)}
        Cider().compute_score(references, candidates)

    return work


def main():
    texts = stories(sys.argv[1]) if len(sys.argv) > 1 else made_up()
    many = list(zip(texts[::2], texts[1::2]))
    pairs = many[:PAIRS]
    mean = sum(len(text.encode()) for pair in pairs for text in pair) / len(pairs) / 2
    print(f"{len(pairs)} pairs, {mean:.0f} bytes per text")
    asked = sys.argv[2:]
    print(f"{'metric':12} {'peer s':>9} {'ours s':>9} {'ratio':>8} {'ours MB/s':>10}")
    with tempfile.TemporaryDirectory() as folder:

        def write(name, pairs):
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as out:
                for story, reference in pairs:
                    out.write(json.dumps({"story": story, "reference": reference}) + "\n")
            return path

        whole, few = write("pairs.jsonl", pairs), write("few.jsonl", pairs[:TER_PAIRS])
        for metric, peer, path in [
            ("bleu", sentence(lambda: BLEU(effective_order=True), pairs), whole),
            ("chrf", sentence(CHRF, pairs), whole),
            ("cider-d", cider(pairs), whole),
            ("ter", sentence(TER, pairs[:TER_PAIRS]), few),
        ]:
            if asked and metric not in asked:
                continue
            theirs, mine = best(peer), ours(path, metric)
            print(
                f"{metric:12} {theirs:9.3f} {mine['seconds']:9.4f} {theirs / mine['seconds']:7.1f}x"
                f" {mine['megabytes_per_second']:10.1f}"
            )
        print(f"\ntwo threads, {THREAD_PAIRS} pairs, medians of rounds in turns")
        print(f"{'':24} {'one s':>9} {'two s':>9} {'ratio':>8}")
        path = write("many.jsonl", more_pairs(many))
        for line in threads(path, asked or ["bleu", "chrf", "cider-d", "rouge:hanna"]):
            one, two, ratio = line["one"], line["several"], line["ratio"]
            print(f"{line['name']:24} {one:9.4f} {two:9.4f} {ratio:7.2f}x", flush=True)


if __name__ == "__main__":
    main()
