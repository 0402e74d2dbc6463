"""Writes made-up stories into Parquet files, to try the recipes with and to measure speed.

usage: make_stories.py DIR FILES STORIES

Each of the FILES files in DIR has STORIES stories of five sentences. It needs pyarrow.
"""

import pathlib
import sys

import pyarrow
import pyarrow.parquet

SUBJECTS = ["Ines", "The baker", "Her brother", "A tired goat", "Nobody", "The old captain"]
VERBS = ["lost", "found", "burned", "painted", "sold", "forgot", "carried home"]
OBJECTS = ["the red kite", "an old lamp", "every letter", "the ferry", "a loaf of bread"]
ENDS = ["before noon", "at the edge of the lake", "while the rain fell", "without a word"]


def story(number: int) -> str:
    """Five sentences that follow from the number."""
    mixed = number * 2654435761 % 2**32
    sentences = []
    for _ in range(5):
        mixed = (mixed * 1664525 + 1013904223) % 2**32
        subject, verb = SUBJECTS[(mixed >> 8) % 6], VERBS[(mixed >> 12) % 7]
        thing, end = OBJECTS[(mixed >> 16) % 5], ENDS[(mixed >> 20) % 4]
        sentences.append(f"{subject} {verb} {thing} {end}.")
    return " ".join(sentences)


def table(first: int, stories: int) -> pyarrow.Table:
    """Stories of two systems, with references."""
    numbers = range(first, first + stories)
    return pyarrow.table(
        {
            "id": [str(number) for number in numbers],
            "system": ["Heron" if number % 2 else "Kestrel" for number in numbers],
            "story": [story(number) for number in numbers],
            "reference": [story(number // 2) for number in numbers],
        }
    )


def make(folder: pathlib.Path, files: int, stories: int) -> "list[pathlib.Path]":
    """Writes the files, and returns their names."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for number in range(files):
        path = folder / f"part-{number:05}.parquet"
        pyarrow.parquet.write_table(table(number * stories, stories), path, compression="zstd")
        made.append(path)
    return made


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    make(pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
