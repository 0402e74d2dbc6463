"""Threads, processes, signals and memory."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import EXAMPLE

import storymeter as sm

STORY = (
    "Mira lost her kite in the storm. She looked in the barn and on the roof. "
    "Her brother found it in the end, behind the old mill. "
)


def test_the_lock_is_released() -> None:
    counted = 0
    done = threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begun = time.monotonic()
    try:
        sm.score([STORY * 4] * 200)
    finally:
        seconds = time.monotonic() - begun
        done.set()
        thread.join()
    # Were the lock held, the thread would count to one or two.
    assert counted > 20 * seconds, (counted, seconds)


def test_the_lock_is_released_while_results_are_written() -> None:
    result = sm.score(["Rain."] * 200_000, metrics=["text-length"], resamples=1)
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        for write in (result._scored.json_lines, result._scored.__arrow_c_stream__):
            begun = time.monotonic()
            write()
            during = sum(begun < at < time.monotonic() for at in ticks)
            # Were the lock held, the thread would tick once at most.
            assert during > 2, write
    finally:
        done.set()
        thread.join()


def test_threads_share_a_scorer() -> None:
    judge = sm.Scorer()
    texts = [STORY * n for n in range(1, 9)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda text: judge.score(text).score, texts))
    assert found == [judge.score(text).score for text in texts]


def _score_in_child(queue: Any, judge: sm.Scorer) -> None:
    queue.put((os.getpid(), judge.score(STORY).score, sm.score(STORY).score))


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_other_processes(method: str) -> None:
    judge = sm.Scorer()
    here = judge.score(STORY).score  # The parent has used its threads before it forks.
    context: Any = multiprocessing.get_context(method)
    queue = context.Queue()
    children = [context.Process(target=_score_in_child, args=(queue, judge)) for _ in range(2)]
    for child in children:
        child.start()
    answers = [queue.get(timeout=60) for _ in children]
    for child in children:
        child.join(60)
        assert child.exitcode == 0
    assert {process for process, *_ in answers} == {child.pid for child in children}
    assert all(scores == [here, here] for _, *scores in answers)


def _number(judge: sm.Scorer, text: str) -> float:
    return judge.score(text).score


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_pool_of_processes() -> None:
    judge = sm.Scorer(metrics=["text-length"])
    judge.score(STORY)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        texts = ["Rain.", "Rain fell.", "It fell and fell."]
        results = pool.starmap(_number, [(judge, text) for text in texts])
    assert results == [2.0, 3.0, 5.0]


def test_unpickling_opens_the_files_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stories = tmp_path / "stories.jsonl"
    stories.write_text('{"story": "Rain fell."}\n{"story": "It fell."}\n')
    monkeypatch.chdir(tmp_path)
    metrics = ["self-bleu"]
    sm.score(stories, metrics=metrics, corpus_stats="corpus.json")
    judge = sm.Scorer(metrics=metrics, corpus_stats="corpus.json")
    pickled = pickle.dumps(judge)
    assert pickle.loads(pickled).columns == judge.columns
    # A relative path is meant from where it is unpickled.
    monkeypatch.chdir("/")
    with pytest.raises(sm.MissingFileError, match="corpus.json"):
        pickle.loads(pickled)


def test_a_pickle_says_how_to_open_and_holds_no_weights() -> None:
    judge = sm.Scorer(metrics=["union", "text-length"], seed=3, threads=2)
    pickled = pickle.dumps(judge)
    assert len(pickled) < 1000
    again = pickle.loads(pickled)
    assert again.columns == judge.columns == ["union", "text-length"]
    assert again.score(STORY).to_json() == judge.score(STORY).to_json()
    assert repr(again) == "Scorer(metrics=['union', 'text-length'], device='cpu')"


INTERRUPTED = """
import sys, time
import storymeter as sm
stories = ["{story}" * 30] * 3000
print("ready", flush=True)
try:
    sm.score(stories, {options})
except KeyboardInterrupt:
    print("interrupted", flush=True)
# The package still works.
print(sm.score("Rain fell.", metrics=["text-length"]).score)
"""


@pytest.mark.parametrize("options", ["", "metrics=['self-bleu', 'meteor'], references=stories"])
def test_ctrl_c(options: str) -> None:
    code = INTERRUPTED.format(story=STORY, options=options)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        time.sleep(1.5)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - begun < 2.0
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "3.0\n", "")


def test_memory_does_not_grow() -> None:
    texts = [STORY] * 10_000
    judge = sm.Scorer(metrics=["text-length", "distinct-2"])

    def high_water() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    for _ in range(2):
        judge.score(texts, resamples=10)
    before = high_water()
    for _ in range(8):
        judge.score(texts, resamples=10)
    # In KiB: ten times the stories of a call may leave at most 30 MB behind.
    assert high_water() - before < 30_000


PROGRAM = [sys.executable, "-m", "storymeter"]


def run(*args: object, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [*PROGRAM, *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def test_the_command_line_of_the_package() -> None:
    assert run("--version").stdout == f"storymeter {sm.__version__}\n"
    done = run("score", EXAMPLE, "--metric", "text-length", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{sm.score(EXAMPLE, metrics=['text-length'])}\n" == done.stdout
    bad = run("score", "no-such-file.jsonl")
    assert bad.returncode == 2 and bad.stderr.startswith("storymeter: no-such-file.jsonl: ")
    wrong = run("skore")
    assert wrong.returncode == 2 and "a similar subcommand exists" in wrong.stderr
    check = run("score", EXAMPLE, "-m", "text-length", "--fail-under", "100000", "-q")
    assert check.returncode == 1


@pytest.mark.skipif(sys.platform == "win32", reason="shells of Unix")
def test_pipes_and_closed_outputs_of_the_command_line() -> None:
    def shell(line: str) -> subprocess.CompletedProcess[str]:
        line = line.replace("storymeter", f"{sys.executable} -m storymeter", 1)
        return subprocess.run(
            ["bash", "-c", f"set -o pipefail; {line}"], capture_output=True, text=True, timeout=120
        )

    head = shell(f"storymeter score {EXAMPLE} -m text-length -q --format jsonl | head -1")
    assert (head.returncode, head.stdout.count("\n"), head.stderr) == (0, 1, "")
    closed = shell(f"storymeter score {EXAMPLE} -m text-length -q >&-")
    assert (closed.returncode, closed.stderr) == (2, "storymeter: standard output is closed\n")


def test_ctrl_c_ends_the_command_line_by_the_signal() -> None:
    with subprocess.Popen(
        [*PROGRAM, "score", "-", "--metric", "text-length"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode == -signal.SIGINT
    assert "interrupted by SIGINT" in err and "Traceback" not in err


def test_imports_are_quick_and_few() -> None:
    code = (
        "import time, sys; begun = time.perf_counter(); import storymeter; "
        "took = time.perf_counter() - begun; "
        "heavy = {'numpy', 'pandas', 'storymeter._native'} & set(sys.modules); "
        "print(took, heavy or '')"
    )
    took = []
    for _ in range(3):
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
        seconds, *heavy = out.split()
        assert not heavy
        took.append(float(seconds))
    assert min(took) < 0.05
