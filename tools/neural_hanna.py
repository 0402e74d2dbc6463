"""Prepares HANNA's stories for scoring, and joins our scores with the published ones.

    python3 tools/neural_hanna.py stories HANNA.jsonl.gz STORIES.jsonl
    python3 tools/neural_hanna.py join HANNA.jsonl.gz OUT.jsonl NAME=SCORES.jsonl...
    python3 tools/neural_hanna.py directions OUT.jsonl

HANNA.jsonl.gz is `annotated/hanna/stories_first48.jsonl.gz` of the shared data: 528 stories with
prompts, references, the ratings of three readers and the published scores. `stories` writes what
`storymeter score` reads. `join` writes one table for `storymeter meta table`: the published scores
of the columns that we compute too, and behind each of them the same metric of the files of scores,
with NAME behind its key. tools/neural_hanna.sh runs everything.
"""

import gzip
import json
import sys

# Published columns (the text before the two glyphs of their group), under our keys.
PUBLISHED = {
    "BERTScore Precision": "bertscore/p",
    "BERTScore Recall": "bertscore/r",
    "BERTScore F1": "bertscore/f",
    "MoverScore": "moverscore",
    "DepthScore": "depthscore",
    "BaryScore-W": "baryscore/w",
    "BaryScore-SD-10": "baryscore/sd-10",
    "BaryScore-SD-0.01": "baryscore/sd-0.01",
    "ROUGE-WE-3 Recall": "rouge-we-3/r",
    "ROUGE-WE-3 Precision": "rouge-we-3/p",
    "ROUGE-WE-3 F-Score": "rouge-we-3/f",
    "S3-Pyramid": "s3/pyramid",
    "S3-Responsiveness": "s3/responsiveness",
    "SUPERT-Golden": "supert/golden",
    "SUPERT-PS": "supert/ps",
    "SUPERT-SS": "supert/ss",
}


def records(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def identity(record):
    return {
        "id": str(record["story_id"]),
        "system": record["system"],
        "item": str(record["prompt_index"]),
    }


def stories(source, out):
    with open(out, "w", encoding="utf-8") as file:
        for record in records(source):
            line = identity(record)
            line.update({key: record[key] for key in ("prompt", "reference", "story")})
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def plain_key(key):
    """bertscore:layer-6/f becomes bertscore/f, because NAME says how it was computed."""
    metric, slash, column = key.partition("/")
    return metric.split(":")[0] + slash + column


def join(source, out, *named):
    files = {}
    for name, path in (pair.split("=", 1) for pair in named):
        with open(path, encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        files[name] = {
            row["id"]: {plain_key(key): value for key, value in row["scores"].items()}
            for row in rows
        }
    with open(out, "w", encoding="utf-8") as file:
        for record in records(source):
            line = identity(record)
            published = {
                PUBLISHED.get(column.rsplit(" ", 1)[0]): value
                for column, value in record["metrics"].items()
            }
            columns = {"published": published}
            columns.update({name: rows[line["id"]] for name, rows in files.items()})
            # A published column, and then the same metric with other weights.
            line["scores"] = {
                f"{key} {name}": scores[key]
                for key in [*PUBLISHED.values(), "perplexity"]
                for name, scores in columns.items()
                if key in scores
            }
            line["human"] = record["human"]
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def directions(table):
    """Prints the options of `storymeter meta table` that say which columns are distances."""
    with open(table, encoding="utf-8") as file:
        keys = json.loads(file.readline())["scores"]
    for key in keys:
        lower = key.startswith(("depthscore", "baryscore", "perplexity"))
        print("--lower" if lower else "--higher")
        print(key)


if __name__ == "__main__":
    {"stories": stories, "join": join, "directions": directions}[sys.argv[1]](*sys.argv[2:])
