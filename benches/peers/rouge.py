#!/usr/bin/env python3
"""Times ROUGE-1.5.5, rouge-score and our ROUGE on the same pairs, and prints the ratios.

    cargo build --release -p storymeter-metrics --example pair_seconds
    python3 benches/peers/rouge.py STORIES.jsonl[.gz] [PAIRS]

Both sides use one thread, and times are processor time, so that other work on the machine does not
count. The Perl program reads its pairs from files. Its time for one pair of single words, which is
the time of its start, is subtracted. Our time is the mean of 100 rounds with the texts in memory,
tokenised anew in each round. The script needs what tools/peer_scores.py names.
"""
import os
import resource
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../tools"))
from peer_scores import google_rouge, perl_rouge
from story_files import our_time, read_pairs, report


def children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def perl_seconds(pairs):
    start = children()
    perl_rouge(pairs)
    return children() - start


def google_seconds(pairs, stem):
    start = time.thread_time()
    google_rouge(pairs, stem)
    return time.thread_time() - start


def main():
    pairs = read_pairs(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20)
    metrics = ["rouge:155", "rouge:google", "rouge:google-stem"]
    ours = {metric: our_time(pairs, metric, 100) for metric in metrics}
    # One call comes before the clock starts, so that imports do not count.
    google_rouge(pairs[:1], True)
    plain, stemmed = google_seconds(pairs, False), google_seconds(pairs, True)
    perl = perl_seconds(pairs) - perl_seconds([("lamp", ["lamp"])])
    report(
        [
            ("ROUGE-1.5.5, 24 numbers", perl, ours["rouge:155"]),
            ("rouge-score", plain, ours["rouge:google"]),
            ("rouge-score, stemmed", stemmed, ours["rouge:google-stem"]),
            ("rouge-score, stemmed / our 24", stemmed, ours["rouge:155"]),
        ]
    )


if __name__ == "__main__":
    main()
