"""Many files into many files, and back into one table."""

from __future__ import annotations

import json
import pathlib
import pickle
import random
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

import storymeter as sm

METRICS = ["text-length", "bleu", "rouge", "repetition-3"]
WORDS = "the lamp went out and nobody in house by sea knew why rain fell on red kite".split()


def story(number: int, length: int) -> str:
    chosen = random.Random(number)
    return " ".join(chosen.choice(WORDS) for _ in range(length)).capitalize() + "."


def write(path: pathlib.Path, numbers: range, length: int = 20) -> pathlib.Path:
    records = [
        {
            "id": str(number),
            "system": "Heron" if number % 3 else "Kestrel",
            "story": story(number, length),
            "reference": story(number // 2, length),
        }
        for number in numbers
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def files(folder: pathlib.Path, shards: int, stories: int = 120) -> list[pathlib.Path]:
    """The same stories in any number of files, of which no two are equally long."""
    folder.mkdir()
    ends = [stories * (at + 1) ** 2 // shards**2 for at in range(shards)]
    starts = [0, *ends]
    return [
        write(folder / f"part-{at:03}.jsonl", range(start, end))
        for at, (start, end) in enumerate(zip(starts, ends))
    ]


def content(folder: pathlib.Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def command(*args: object) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "storymeter", *map(str, args)]
    return subprocess.run(line, capture_output=True, text=True, check=True)


def rows(result: Any) -> list[Any]:
    """The summaries of a result, to the last bit."""
    native = result._merged if isinstance(result, sm.MergedScores) else result._scored
    return list(native.summaries())


@pytest.mark.parametrize("shards", [1, 3, 17])
def test_merged_shards_are_one_run(tmp_path: pathlib.Path, shards: int) -> None:
    stories = files(tmp_path / "in", shards)
    run = sm.score_files(stories, tmp_path / "out", metrics=METRICS)
    assert (len(run.shards), run.scored, run.stories, run.skipped) == (shards, shards, 120, 0)
    merged = run.merge()
    once = sm.score(stories, metrics=METRICS)
    assert rows(merged) == rows(once)
    assert merged.signature == once.signature
    assert (merged.mean, merged.interval, merged.stories) == (once.mean, once.interval, 120)
    headers = [f"{result.shard.output}.meta.json" for result in run.shards]
    random.Random(shards).shuffle(headers)
    assert str(sm.merge(headers)) == str(sm.merge(tmp_path / "out")) == str(merged)


def test_the_files_are_those_of_the_command_line(tmp_path: pathlib.Path) -> None:
    stories = files(tmp_path / "in", 3)
    sm.score_files(tmp_path / "in" / "*.jsonl", tmp_path / "python", metrics=METRICS)
    command("score", *stories, "-m", ",".join(METRICS), "--out-dir", tmp_path / "command")
    assert content(tmp_path / "python") == content(tmp_path / "command")


def test_the_merged_table_and_scores_are_those_of_the_command_line(tmp_path: pathlib.Path) -> None:
    stories = files(tmp_path / "in", 3)
    merged = sm.score_files(stories, tmp_path / "out", metrics=METRICS).merge()
    assert command("merge", tmp_path / "out").stdout == f"{merged}\n"
    assert merged._repr_html_().startswith("<table>")
    merged.write(tmp_path / "joined.jsonl")
    command("score", *stories, "-m", ",".join(METRICS), "-o", tmp_path / "once.jsonl")
    assert (tmp_path / "joined.jsonl").read_bytes() == (tmp_path / "once.jsonl").read_bytes()


def test_parquet_shards_are_one_run_of_the_command_line(tmp_path: pathlib.Path) -> None:
    stories = files(tmp_path / "in", 3)
    run = sm.score_files(stories, tmp_path / "out", metrics=METRICS, out_format="parquet")
    assert sorted(path.name for path in (tmp_path / "out").glob("*.parquet")) == [
        "part-000.parquet", "part-001.parquet", "part-002.parquet",
    ]
    command("score", *stories, "-m", ",".join(METRICS), "-o", tmp_path / "once.parquet")
    run.merge().write(tmp_path / "joined.parquet")
    sm.score(stories, metrics=METRICS).write(tmp_path / "python.parquet")
    once = (tmp_path / "once.parquet").read_bytes()
    assert (tmp_path / "joined.parquet").read_bytes() == once
    assert (tmp_path / "python.parquet").read_bytes() == once


def test_corpus_statistics_make_shards_of_metrics_that_need_all_stories(
    tmp_path: pathlib.Path,
) -> None:
    stories = files(tmp_path / "in", 3)
    metrics = ["cider-d", "self-bleu"]
    kept = tmp_path / "corpus"
    with pytest.raises(sm.MissingFileError, match="sm.score_files gather them") as missing:
        sm.Scorer(metrics=metrics, corpus_stats=kept)
    assert missing.value.file == str(kept)
    with pytest.raises(sm.MissingFileError):
        sm.score(["Rain fell."], metrics=metrics, corpus_stats=kept)
    # One job of two gathers them from all files.
    for job in [1, 0]:
        sm.score_files(
            stories, tmp_path / "out", metrics=metrics, shard=(job, 2), corpus_stats=kept
        )
    merged = sm.merge(tmp_path / "out")
    once = sm.score(stories, metrics=metrics)
    assert rows(merged) == rows(once)

    by_score = tmp_path / "by-score"
    with_file = sm.score(stories, metrics=metrics, corpus_stats=by_score)
    assert rows(with_file) == rows(once)
    assert merged.signature == with_file.signature != once.signature
    command("score", *stories, "-m", "cider-d,self-bleu", "--corpus-stats", tmp_path / "by-command")
    assert by_score.read_bytes() == kept.read_bytes() == (tmp_path / "by-command").read_bytes()

    judge = pickle.loads(pickle.dumps(sm.Scorer(metrics=metrics, corpus_stats=kept)))
    records = [json.loads(line) for line in stories[1].read_text().splitlines()]
    alone = judge.score(records)
    start = len(stories[0].read_text().splitlines())
    assert list(alone.scores) == list(once.scores[start : start + len(records)])

    with pytest.raises(sm.CorpusStatsUnusedError):
        sm.score(stories, metrics=["bleu"], corpus_stats=kept)
    sm.score(stories, metrics=["cider-d"], corpus_stats=tmp_path / "one")
    with pytest.raises(sm.CorpusStatsLackError) as lacking:
        sm.score(stories, metrics=metrics, corpus_stats=tmp_path / "one")
    assert (lacking.value.metric, lacking.value.known) == ("self-bleu", ["cider-d"])
    with pytest.raises(sm.CorpusStatsMismatchError):
        sm.score(stories, metrics=["self-bleu"], seed=1, corpus_stats=kept)


def test_a_second_run_does_nothing(tmp_path: pathlib.Path) -> None:
    stories = files(tmp_path / "in", 3)
    sm.score_files(stories, tmp_path / "out", metrics=METRICS)
    ages = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    with pytest.raises(sm.NotEmptyError, match="the folder is not empty"):
        sm.score_files(stories, tmp_path / "out", metrics=METRICS)
    again = sm.score_files(stories, tmp_path / "out", metrics=METRICS, resume=True)
    assert (again.scored, again.stories) == (0, 120)
    assert ages == {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}


def test_a_bad_shard_is_named_and_the_others_finish(tmp_path: pathlib.Path) -> None:
    stories = files(tmp_path / "in", 5)
    good = stories[1].read_text()
    stories[1].write_text(good + '{"id": "x", "story": 7}\n')
    with pytest.raises(sm.BadShardsError) as raised:
        sm.score_files(stories, tmp_path / "out", metrics=METRICS)
    assert [bad.shard.input for bad in raised.value.bad] == [str(stories[1])]
    assert str(raised.value).startswith("1 of 5 shards cannot be scored; all others are finished\n")
    assert f"{stories[1]}:" in str(raised.value)
    assert len(raised.value.run.shards) == 4
    with pytest.raises(sm.MissingShardsError) as missing:
        sm.merge(tmp_path / "out")
    assert (missing.value.of, missing.value.places) == (5, [1])

    stories[1].write_text(good)
    run = sm.score_files(stories, tmp_path / "out", metrics=METRICS, resume=True)
    assert (run.scored, len(run.shards)) == (1, 5)
    assert rows(run.merge()) == rows(sm.score(stories, metrics=METRICS))


def test_an_empty_shard_is_a_shard_without_stories(tmp_path: pathlib.Path) -> None:
    stories = files(tmp_path / "in", 3)
    empty = tmp_path / "in" / "part-900.jsonl"
    empty.write_text("")
    run = sm.score_files([*stories, empty], tmp_path / "out", metrics=METRICS)
    assert [result.stories for result in run.shards][-1] == 0
    assert rows(run.merge()) == rows(sm.score(stories, metrics=METRICS))


def test_jobs_take_every_nth_file(tmp_path: pathlib.Path) -> None:
    stories = files(tmp_path / "in", 7)
    for job in [2, 0]:
        sm.score_files(stories, tmp_path / "out", metrics=METRICS, shard=(job, 3))
    with pytest.raises(sm.MissingShardsError, match="2 of 7 shards are missing: number 2"):
        sm.merge(tmp_path / "out")
    last = sm.score_files(stories, tmp_path / "out", metrics=METRICS, shard=(1, 3))
    assert [result.shard.place for result in last.shards] == [1, 4]
    assert rows(sm.merge(tmp_path / "out")) == rows(sm.score(stories, metrics=METRICS))
    with pytest.raises(ValueError, match="shard: the job is 3, and not between 0 and 2"):
        sm.score_files(stories, tmp_path / "out", metrics=METRICS, shard=(3, 3))


def test_shards_can_be_scored_one_by_one(tmp_path: pathlib.Path) -> None:
    """As an engine does it: the plan is made in one place, and others score."""
    stories = files(tmp_path / "in", 3)
    scorer = sm.Scorer(metrics=METRICS)
    shards = sm.plan_shards(stories, tmp_path / "out")
    assert [(shard.place, shard.of) for shard in shards] == [(0, 3), (1, 3), (2, 3)]
    for shard in reversed(shards):
        shard = pickle.loads(pickle.dumps(shard))
        assert scorer.score_shard(shard).scored
        assert not scorer.score_shard(shard).scored
        assert scorer.score_shard(shard, resume=False).scored
    sm.score_files(stories, tmp_path / "whole", metrics=METRICS)
    assert content(tmp_path / "out") == content(tmp_path / "whole")


def test_mistakes_have_their_own_exceptions(tmp_path: pathlib.Path) -> None:
    stories = files(tmp_path / "in", 2)
    out = tmp_path / "out"
    sm.score_files(stories, out, metrics=METRICS)
    with pytest.raises(sm.OtherSettingsError) as other:
        sm.score_files(stories, out, metrics=["bleu"], resume=True)
    assert str(pickle.loads(pickle.dumps(other.value))) == str(other.value)
    assert other.value.header.endswith("part-000.jsonl.meta.json")
    (tmp_path / "more").mkdir()
    twin = write(tmp_path / "more" / stories[0].name, range(3))
    with pytest.raises(sm.ShardOutputError) as same:
        sm.score_files([stories[0], twin], tmp_path / "other")
    assert (same.value.first, same.value.second) == (str(stories[0]), str(twin))
    with pytest.raises(sm.NeedsCorpusError, match="cider"):
        sm.score_files(stories, tmp_path / "corpus", metrics=["cider-d"])
    with pytest.raises(sm.NoHeaderError):
        sm.merge(tmp_path / "in")
    with pytest.raises(sm.DoubledShardError):
        sm.merge([out, out])
    with pytest.raises(sm.ShardCountError, match="there are 2 shards, and 3 are expected"):
        sm.merge(out, expect=3)
    with pytest.raises(ValueError, match="no file matches"):
        sm.score_files(tmp_path / "nothing" / "*.jsonl", out)
    with pytest.raises(sm.MissingFileError):
        sm.score_files(tmp_path / "nothing.jsonl", out, resume=True)
    (out / "part-001.jsonl").write_text("")
    with pytest.raises(sm.DamagedShardError, match="score the input again"):
        sm.merge(out)


def test_a_run_that_fails_leaves_no_empty_folder(tmp_path: pathlib.Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text("{}\n")
    with pytest.raises(sm.BadShardsError):
        sm.score_files(bad, tmp_path / "out", metrics=["text-length"])
    assert not (tmp_path / "out").exists()
    with pytest.raises(sm.StorymeterError, match="rogue"):
        sm.score_files(bad, tmp_path / "out", metrics=["rogue"])
    assert not (tmp_path / "out").exists()
    # A folder of the user stays.
    (tmp_path / "own").mkdir()
    with pytest.raises(sm.BadShardsError):
        sm.score_files(bad, tmp_path / "own", metrics=["text-length"])
    assert (tmp_path / "own").exists()


def test_frames(tmp_path: pathlib.Path) -> None:
    pandas = pytest.importorskip("pandas")
    stories = files(tmp_path / "in", 2)
    merged = sm.score_files(stories, tmp_path / "out", metrics=["text-length"]).merge()
    frame = merged.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["stories"]) == [120, 40, 80]
    assert merged.shards[0] == (str(tmp_path / "out" / "part-000.jsonl"), 30)
    polars = pytest.importorskip("polars")
    assert isinstance(merged.to_polars(), polars.DataFrame)


SLOW = """
import pathlib, sys
import storymeter as sm
folder = pathlib.Path(sys.argv[1])
sm.score_files(sorted((folder / "in").iterdir()), folder / "out", resume=True, threads=1)
"""


def start(folder: pathlib.Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", SLOW, str(folder)])


def wait_for(condition: Any, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.01)


def test_a_run_that_is_killed_goes_on(tmp_path: pathlib.Path) -> None:
    """Two runs at once; both are killed in the middle of a shard; a third one ends the work."""
    (tmp_path / "in").mkdir()
    stories = [
        write(tmp_path / "in" / f"{at}.jsonl", range(20 * at, 20 * at + 20), 60) for at in range(4)
    ]
    both = [start(tmp_path), start(tmp_path)]
    wait_for(lambda: (tmp_path / "out" / "0.jsonl.meta.json").exists())
    time.sleep(0.2)
    for process in both:
        process.kill()
        process.wait()
    assert len(list((tmp_path / "out").glob("*.meta.json"))) < 4
    run = sm.score_files(stories, tmp_path / "out", resume=True)
    assert 1 <= run.scored <= 3
    merged, once = run.merge(), sm.score(stories)
    assert rows(merged) == rows(once)
    assert merged.signature == once.signature
    # What the killed runs left is gone.
    left = [path.name for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]
    assert left == []


def test_ctrl_c_ends_a_run_within_two_seconds(tmp_path: pathlib.Path) -> None:
    (tmp_path / "in").mkdir()
    write(tmp_path / "in" / "0.jsonl", range(5))
    write(tmp_path / "in" / "1.jsonl", range(5, 5000), 60)
    process = start(tmp_path)
    wait_for(lambda: (tmp_path / "out" / "0.jsonl.meta.json").exists())
    time.sleep(0.5)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait() != 0
    assert time.monotonic() - began < 2
    assert not (tmp_path / "out" / "1.jsonl").exists()


def test_two_runs_at_once_do_no_harm(tmp_path: pathlib.Path) -> None:
    (tmp_path / "in").mkdir()
    stories = [
        write(tmp_path / "in" / f"{at}.jsonl", range(20 * at, 20 * at + 20)) for at in range(4)
    ]
    both = [start(tmp_path), start(tmp_path)]
    assert [process.wait() for process in both] == [0, 0]
    assert rows(sm.merge(tmp_path / "out")) == rows(sm.score(stories))


def test_without_ray_there_is_a_clear_error(tmp_path: pathlib.Path) -> None:
    program = (
        "import sys; sys.modules['ray'] = None\n"
        "import storymeter.ray\n"
        "try: storymeter.ray.score('in', 'out')\n"
        "except ImportError as error: print(error)\n"
    )
    line = [sys.executable, "-c", program]
    said = subprocess.run(line, capture_output=True, text=True, check=True)
    assert said.stdout == 'storymeter.ray needs Ray Data: pip install "storymeter[ray]"\n'
