"""The recipes for many machines, as far as their programs are installed here."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import storymeter as sm

RECIPES = pathlib.Path(__file__).parents[2] / "recipes" / "scale"
METRICS = ["bleu", "repetition-3"]
OPTIONS = ["--metric", ",".join(METRICS)]

pytestmark = pytest.mark.skipif(not RECIPES.exists(), reason="the repository is not here")


@pytest.fixture
def stories(tmp_path: pathlib.Path) -> pathlib.Path:
    folder = tmp_path / "stories"
    folder.mkdir()
    for file in range(7):
        lines = [
            {
                "id": f"{file}-{number}",
                "story": f"Rain fell on roof {number} of {file}.",
                "reference": f"Rain fell on the roof of house {number}.",
            }
            for number in range(10 + file)
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"part-{file}.jsonl").write_text(text)
    return folder


@pytest.fixture
def environment(tmp_path: pathlib.Path) -> dict[str, str]:
    """The variables of the recipes. `storymeter` is the program of this package."""
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "storymeter"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m storymeter "$@"\n')
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}


def assert_whole(stories: pathlib.Path, scores: pathlib.Path) -> None:
    once = sm.score(sorted(stories.iterdir()), metrics=METRICS)
    merged = sm.merge(scores)
    assert merged.signature == once.signature
    assert (merged.mean, merged.interval) == (once.mean, once.interval)


def run(line: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_slurm(
    stories: pathlib.Path, tmp_path: pathlib.Path, environment: dict[str, str]
) -> None:
    """The jobs of an array of three, in any order; then two of them again, by themselves."""
    scores = tmp_path / "scores"
    script = [str(RECIPES / "slurm.sh"), str(stories), str(scores), *OPTIONS]

    def submit(jobs: list[int], variables: dict[str, str]) -> list[str]:
        count = {"SLURM_ARRAY_TASK_COUNT": str(len(jobs)), "SLURM_CPUS_PER_TASK": "1"}
        return [
            run(script, {**environment, **count, **variables, "SLURM_ARRAY_TASK_ID": str(job)})
            for job in jobs
        ]

    submit([2, 0, 1], {})
    assert_whole(stories, scores)
    # Scores without a header could be anybody's, and would not be replaced.
    for name in ("part-4.jsonl", "part-4.jsonl.meta.json"):
        (scores / name).unlink()
    said = submit([1, 2], {"JOBS": "3"})
    assert "scored 14 stories from 1 file; 1 file was complete already" in said[0]
    assert_whole(stories, scores)


@pytest.mark.parametrize("program", ["parallel", "xargs"])
def test_parallel(
    program: str, stories: pathlib.Path, tmp_path: pathlib.Path, environment: dict[str, str]
) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    if program == "xargs":
        # A program of that name that is not GNU parallel.
        other = tmp_path / "bin" / "parallel"
        other.write_text("#!/bin/sh\nexit 1\n")
        other.chmod(0o755)
    scores = tmp_path / "scores"
    run([str(RECIPES / "parallel.sh"), "2", str(stories), str(scores), *OPTIONS], environment)
    assert_whole(stories, scores)


def test_datatrove(
    stories: pathlib.Path, tmp_path: pathlib.Path, environment: dict[str, str]
) -> None:
    if importlib.util.find_spec("datatrove") is None:
        pytest.skip("datatrove is not installed")
    script = str(RECIPES / "datatrove_block.py")
    line = [sys.executable, script, str(stories), str(tmp_path / "scores"), "3", *METRICS]
    done = subprocess.run(line, env=environment, cwd=tmp_path, timeout=300)
    assert done.returncode == 0
    assert_whole(stories, tmp_path / "scores")


def test_spark(stories: pathlib.Path, tmp_path: pathlib.Path, environment: dict[str, str]) -> None:
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        pytest.skip("Spark is not installed")
    import pyarrow
    import pyarrow.parquet

    texts = [path.read_text() for path in sorted(stories.iterdir())]
    records = [json.loads(line) for text in texts for line in text.splitlines()]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(records), tmp_path / "in.parquet")
    local = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    submit = pathlib.Path(sys.executable).parent / "spark-submit"
    spark = [str(submit), "--master", "local[2]", "--conf", "spark.ui.enabled=false"]
    script = [str(RECIPES / "spark.py"), str(tmp_path / "in.parquet"), str(tmp_path / "out")]
    run([*spark, *script], {**environment, **local})
    table = pyarrow.parquet.read_table(tmp_path / "out").sort_by("id")
    once = sm.score([record["story"] for record in records])
    expected = {record["id"]: score for record, score in zip(records, once.scores)}
    assert dict(zip(table["id"].to_pylist(), table["score"].to_pylist())) == expected
