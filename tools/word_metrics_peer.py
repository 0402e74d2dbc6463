#!/usr/bin/env python3
"""Values of ROUGE-WE and S3 by the released functions, for storymeter's checks.

Needs numpy, scipy, nltk (with its stop words) and the folder of the package summ-eval 0.892, whose
module s3_utils is used as it is. The stories are HANNA's (stories_first48.jsonl.gz), the vectors
GloVe's of 50 numbers, and the tables are those of the regressions. The last argument is the
number of prompts; the released functions need some seconds per story.

    python tools/word_metrics_peer.py SUMM_EVAL GLOVE TABLES STORIES 3 | gzip -n > \
        crates/storymeter-checks/tests/fixtures/word_metrics.csv.gz
"""

import gzip
import importlib.util
import json
import pathlib
import sys

import numpy as np


def regression(path):
    lines = [line.split("\t") for line in open(path) if not line.startswith("#")]
    rows = np.array([[float(x) for x in line] for line in lines[2:]])
    intercept = float(lines[0][1])
    return lambda x: float(rows[:, 0] @ np.exp(-((rows[:, 1:] - x) ** 2).sum(1) / 6) + intercept)


def main():
    package, glove, tables, stories, prompts = sys.argv[1:]
    source = pathlib.Path(package) / "s3_utils.py"
    spec = importlib.util.spec_from_file_location("s3_utils", source)
    s3 = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(s3)
    vectors = s3.load_embeddings(glove)
    pyramid = regression(pathlib.Path(tables) / "s3_svr_pyr.tsv")
    responsiveness = regression(pathlib.Path(tables) / "s3_svr_resp.tsv")
    print("# summ-eval 0.892, GloVe 6B 50d, by tools/word_metrics_peer.py")
    print("line,we-1-p,we-1-r,we-2-p,we-2-r,we-3-p,we-3-r,js-1,js-2,rouge-1-r,we-1-r,rouge-2-r,"
          "we-2-r,pyramid,responsiveness")
    with gzip.open(stories, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            story = json.loads(line)
            if story["prompt_index"] >= int(prompts):
                continue
            text, reference = [story["story"]], [[story["reference"]]]
            row = []
            for n in (1, 2, 3):
                row += s3.rouge_n_we(text, reference, vectors, n, return_all=True, tokenize=True)[:2]
            features = s3.extract_feature(reference, text, vectors, True)
            x = [features[name] for name in sorted(features)]
            row += x + [pyramid(np.array(x)), responsiveness(np.array(x))]
            print(number, *(repr(float(value)) for value in row), sep=",", flush=True)


if __name__ == "__main__":
    main()
