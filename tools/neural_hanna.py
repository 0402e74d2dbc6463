"""Prepares HANNA's stories for scoring, and joins our scores with the published ones.

    python3 tools/neural_hanna.py stories HANNA.jsonl.gz STORIES.jsonl
    python3 tools/neural_hanna.py join HANNA.jsonl.gz OUT.jsonl NAME=SCORES.jsonl...

HANNA.jsonl.gz is `annotated/hanna/stories_first48.jsonl.gz` of the shared data: 528 stories with
prompts, references, the ratings of three readers and the published scores. `stories` writes what
`storymeter score` reads. `join` writes one table for `storymeter meta table`: the published scores
of the columns that we compute too, and of each file of scores its columns with NAME in front of
them. tools/neural_hanna.sh runs everything.
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
    columns = {}
    for name, path in (pair.split("=", 1) for pair in named):
        with open(path, encoding="utf-8") as file:
            for line in file:
                scored = json.loads(line)
                row = columns.setdefault(scored["id"], {})
                for key, value in scored["scores"].items():
                    row[f"{name} {plain_key(key)}"] = value
    shown = {key for row in columns.values() for key in row}
    wanted = {key.split(" ", 1)[1] for key in shown}
    with open(out, "w", encoding="utf-8") as file:
        for record in records(source):
            line = identity(record)
            scores = {}
            for column, value in record["metrics"].items():
                key = PUBLISHED.get(column.rsplit(" ", 1)[0])
                if key in wanted:
                    scores[f"published {key}"] = value
            for key, value in columns[line["id"]].items():
                # Of our columns, those that are published too, and those that HANNA does not have.
                plain = key.split(" ", 1)[1]
                if plain in PUBLISHED.values() or "perplexity" in plain:
                    scores[key] = value
            line["scores"] = scores
            line["human"] = record["human"]
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    {"stories": stories, "join": join}[sys.argv[1]](*sys.argv[2:])
