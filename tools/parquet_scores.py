#!/usr/bin/env python3
"""Checks that pyarrow, pandas and polars read the Parquet scores of storymeter, bit for bit.

    pip install pyarrow pandas polars
    cargo build --release -p storymeter-cli
    python3 tools/parquet_scores.py [STORYMETER]

Scores examples/three-generators as JSONL and as Parquet, compares every number with each library,
and lets storymeter read what the libraries write.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

import pandas
import polars
import pyarrow.parquet

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PROGRAM = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "target/release/storymeter")
STORIES = os.path.join(ROOT, "examples/three-generators/rated.jsonl")
KEYS = ["text-length", "distinct-2", "self-bleu"]


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True)
    return done.stdout


def bits(number):
    return None if number is None else struct.pack("<d", number)


def main():
    with tempfile.TemporaryDirectory() as folder:
        at = lambda name: os.path.join(folder, name)
        for name in ["s.jsonl", "s.parquet"]:
            run("score", STORIES, "--metric", ",".join(KEYS), "-o", at(name))
        with open(at("s.jsonl"), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        arrow = pyarrow.parquet.read_table(at("s.parquet"))
        header = json.loads(arrow.schema.metadata[b"storymeter"])
        assert [column["key"] for column in header["columns"]] == KEYS, header
        frames = {
            "pyarrow": arrow.to_pylist(),
            "polars": polars.read_parquet(at("s.parquet")).to_dicts(),
            "pandas": pandas.read_parquet(at("s.parquet")).to_dict("records"),
        }
        for library, rows in frames.items():
            assert len(rows) == len(lines), library
            for line, row in zip(lines, rows):
                assert (row["id"], row["system"], row["item"]) == (line["id"], line["system"], line["item"])
                for key in KEYS:
                    assert bits(row[key]) == bits(line["scores"][key]), (library, key, row)
                assert json.loads(row["human"]) == line["human"], (library, row)
        pyarrow.parquet.write_table(arrow, at("pyarrow.parquet"))
        polars.read_parquet(at("s.parquet")).write_parquet(at("polars.parquet"))
        pandas.read_parquet(at("s.parquet")).to_parquet(at("pandas.parquet"))
        expected = run("compare", at("s.jsonl"), "--resamples", "50", "--format", "json", "-q")
        for library in frames:
            found = run("compare", at(f"{library}.parquet"), "--resamples", "50", "--format", "json", "-q")
            # polars does not keep the metadata, so the signatures in "column" are lost.
            numbers = lambda text: [{**part, "column": None} for part in json.loads(text)]
            assert numbers(found) == numbers(expected), library
        versions = f"pyarrow {pyarrow.__version__}, pandas {pandas.__version__}, polars {polars.__version__}"
        print(f"{len(lines)} stories, {len(KEYS)} scores: {versions} read them bit for bit, and are read back")


main()
