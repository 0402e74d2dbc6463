"""Scores, tables and files equal those of the command line, to the last bit and byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import EXAMPLE, FAST, Program

import storymeter as sm

SETS = [None, FAST, ["self-bleu", "repetition-3", "distinct-4"], ["criteria"]]


@pytest.mark.parametrize("metrics", SETS, ids=str)
def test_lines_and_table(metrics: list[str] | None, program: Program) -> None:
    chosen = [] if metrics is None else ["--metric", ",".join(metrics)]
    result = sm.score(EXAMPLE, metrics=metrics)
    lines = program("score", EXAMPLE, "--format", "jsonl", *chosen).stdout
    assert result.to_json() == lines
    table = program("score", EXAMPLE, *chosen).stdout
    assert f"{result}\n" == table
    assert repr(result) == str(result)
    assert table.endswith(result.signature + "\n")


def test_one_story(program: Program) -> None:
    draft = EXAMPLE.parent / "draft.txt"
    table = program("score", draft).stdout
    assert f"{sm.score(draft)}\n" == table
    assert "The number of one story is a hint" in table


def test_memory_equals_the_file(stories: list[dict[str, object]]) -> None:
    from_file = sm.score(EXAMPLE).to_json()
    assert sm.score(stories).to_json() == from_file
    assert sm.score(iter(stories)).to_json() == from_file
    texts = sm.score([str(story["story"]) for story in stories])
    assert (texts.scores == sm.score(EXAMPLE).scores).all()


@pytest.mark.parametrize("name", ["scores.jsonl", "scores.csv"])
def test_written_files(name: str, tmp_path: Path, program: Program) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    sm.score(EXAMPLE, metrics=FAST).write(ours / name)
    program("score", EXAMPLE, "--metric", ",".join(FAST), "-o", theirs / name)
    files = sorted(path.name for path in theirs.iterdir())
    assert sorted(path.name for path in ours.iterdir()) == files
    for file in files:
        assert (ours / file).read_bytes() == (theirs / file).read_bytes(), file


def test_options(tmp_path: Path, program: Program) -> None:
    references = tmp_path / "references.txt"
    references.write_text("".join(f"A reference, number {n}.\n" for n in range(36)), "utf-8")
    result = sm.score(EXAMPLE, metrics="chrf", references=references, seed=3, resamples=200,
                      against="author")
    table = program("score", EXAMPLE, "--metric", "chrf", "--references", references,
                    "--seed", 3, "--resamples", 200, "--against", "author").stdout
    assert f"{result}\n" == table


def test_threads_do_not_matter(stories: list[dict[str, object]]) -> None:
    one = sm.score(stories, threads=1)
    for threads in (2, 3, 7):
        other = sm.score(stories, threads=threads)
        assert (one.to_json(), str(one)) == (other.to_json(), str(other))


def test_the_example_of_the_readme() -> None:
    result = sm.score(EXAMPLE)
    assert len(result) == 36
    assert round(result.mean, 4) == 0.3571
    low, high = result.interval or (0.0, 0.0)
    assert low < result.mean < high
    assert [row.system for row in result.systems] == ["author", "careless"]


def test_the_file_of_the_stories_is_not_overwritten(tmp_path: Path) -> None:
    stories = tmp_path / "stories.jsonl"
    stories.write_text('{"story": "Rain fell."}\n', encoding="utf-8")
    result = sm.score(stories, metrics=["text-length"])
    with pytest.raises(sm.StorymeterError, match="would destroy the input"):
        result.write(stories)
    assert stories.read_text(encoding="utf-8") == '{"story": "Rain fell."}\n'
    result.write(tmp_path / "scores.jsonl")
