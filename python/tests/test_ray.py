"""Ray on this machine, with two logical CPUs, reachable from this machine only.

Workers and drivers are killed here by their process ids, which are all below this process.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import storymeter as sm

ray = pytest.importorskip("ray")
pytest.importorskip("ray.data")
parquet = pytest.importorskip("pyarrow.parquet")

import storymeter.ray as smr  # noqa: E402

# Ray warns about many things that are not ours.
pytestmark = pytest.mark.filterwarnings("ignore")

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "recipes" / "scale"))
from make_stories import make, table  # noqa: E402

METRICS = ["bleu", "rouge:hanna", "chrf", "repetition-3"]
FILES, STORIES = 20, 1000


@pytest.fixture(scope="module", autouse=True)
def bounded_in_time() -> Iterator[None]:
    """Ends the tests after ten minutes, whatever happens. Ray's processes end with this one."""
    faulthandler.dump_traceback_later(600, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="module")
def stories(tmp_path_factory: pytest.TempPathFactory) -> list[pathlib.Path]:
    """20,000 stories in 20 Parquet files."""
    return make(tmp_path_factory.mktemp("stories"), FILES, STORIES)


@pytest.fixture(scope="module")
def once(stories: list[pathlib.Path], tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """What one run of the command line writes for all stories."""
    output = tmp_path_factory.mktemp("once") / "once.parquet"
    line = [sys.executable, "-m", "storymeter", "score", *map(str, stories)]
    line += ["--metric", ",".join(METRICS), "--output", str(output)]
    output.with_suffix(".txt").write_bytes(subprocess.run(line, check=True, stdout=-1).stdout)
    return output


@pytest.fixture(scope="module")
def two_cpus() -> Iterator[None]:
    with smr._alone(ray):
        ray.init(
            address="local",
            num_cpus=2,
            include_dashboard=False,
            log_to_driver=False,
            object_store_memory=smr.OBJECT_STORE_BYTES,
        )
        yield
        ray.shutdown()


def descendants(process: int) -> dict[int, str]:
    """The processes below a process, with their titles."""
    parents, titles = {}, {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                status = (entry / "stat").read_text()
                parents[int(entry.name)] = int(status.rpartition(")")[2].split()[1])
                titles[int(entry.name)] = (entry / "cmdline").read_text().replace("\0", " ")
    below, found = {process}, {}
    while below:
        below = {child for child, parent in parents.items() if parent in below}
        found.update({child: titles.get(child, "") for child in below})
    return found


def workers(process: int) -> list[int]:
    below = descendants(process)
    return [child for child, title in below.items() if title.startswith("ray::MapWorker")]


def headers(folder: pathlib.Path) -> int:
    return len(list(folder.glob("*.meta.json")))


def wait_for(condition: Callable[[], Any], seconds: float = 60) -> Any:
    end = time.monotonic() + seconds
    while True:
        if found := condition():
            return found
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.01)


def assert_whole(out: pathlib.Path, once: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """The shards of a folder, merged, are what one run of the command line made."""
    assert headers(out) == FILES
    merged = sm.merge(out)
    line = [sys.executable, "-m", "storymeter", "merge", str(out)]
    printed = subprocess.run(line, check=True, stdout=-1).stdout
    assert printed == once.with_suffix(".txt").read_bytes()
    assert f"{merged}\n".encode() == printed
    merged.write(tmp_path / once.name)
    assert (tmp_path / once.name).read_bytes() == once.read_bytes()
    assert merged.stories == FILES * STORIES


@pytest.mark.usefixtures("two_cpus")
def test_a_worker_is_killed_on_the_way(
    stories: list[pathlib.Path],
    once: pathlib.Path,
    tmp_path: pathlib.Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    killed: list[int] = []

    def kill() -> None:
        wait_for(lambda: headers(out) >= 3)
        for worker in workers(os.getpid()):
            os.kill(worker, signal.SIGKILL)
            killed.append(headers(out))

    killer = threading.Thread(target=kill)
    killer.start()
    run = smr.score(stories, out, metrics=METRICS, no_progress_timeout_s=60)
    killer.join()
    assert len(killed) == 1 and 3 <= killed[0] < FILES
    assert (len(run.shards), run.stories, run.skipped) == (FILES, FILES * STORIES, 0)
    assert_whole(out, once, tmp_path)
    said = capfd.readouterr().err
    assert "storymeter: 20 shards on 1 actor with 1 thread each\n" in said
    assert "storymeter: 20 of 20 shards done, 20,000 stories, " in said

    # A second run does nothing.
    ages = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    again = smr.score(stories, out, metrics=METRICS, progress=False)
    assert (again.scored, again.stories) == (0, FILES * STORIES)
    assert ages == {path: path.stat().st_mtime_ns for path in out.iterdir()}
    assert capfd.readouterr().err == ""
    with pytest.raises(sm.NotEmptyError):
        smr.score(stories, out, metrics=METRICS, resume=False)
    # Somebody else's cluster is still there.
    assert ray.is_initialized()


@pytest.mark.usefixtures("two_cpus")
def test_a_bad_shard_is_named_and_an_empty_one_is_fine(tmp_path: pathlib.Path) -> None:
    stories = make(tmp_path / "in", 4, 50)
    stories[2].write_bytes(b"PAR1 this is not a Parquet file")
    parquet.write_table(table(0, 0), stories[3])
    with pytest.raises(sm.BadShardsError) as raised:
        smr.score(stories, tmp_path / "out", metrics=METRICS, progress=False)
    assert [bad.shard.input for bad in raised.value.bad] == [str(stories[2])]
    assert str(stories[2]) in str(raised.value)
    assert [result.stories for result in raised.value.run.shards] == [50, 50, 0]


@pytest.mark.usefixtures("two_cpus")
def test_corpus_statistics_must_be_there(tmp_path: pathlib.Path) -> None:
    stories = make(tmp_path / "in", 3, 20)
    options: dict[str, Any] = {"metrics": ["cider-d"], "corpus_stats": tmp_path / "corpus"}
    with pytest.raises(sm.MissingFileError, match="`storymeter score FILES --corpus-stats FILE`"):
        smr.score(stories, tmp_path / "out", progress=False, **options)
    once = sm.score(stories, **options)
    merged = smr.score(stories, tmp_path / "out", progress=False, **options).merge()
    assert (merged.mean, merged.signature) == (once.mean, once.signature)
    with pytest.raises(sm.NeedsCorpusError):
        smr.score(stories, tmp_path / "other", metrics=["cider-d"], progress=False)


@pytest.mark.usefixtures("two_cpus")
def test_what_is_wrong_with_all_shards_is_said_once(tmp_path: pathlib.Path) -> None:
    stories = make(tmp_path / "in", 2, 5)
    with pytest.raises(sm.UnknownMetricError) as unknown:
        smr.score(stories, tmp_path / "out", metrics=["blue"], progress=False)
    assert unknown.value.nearest == "bleu"
    assert headers(tmp_path / "out") == 0
    with pytest.raises(ValueError, match="takes every CPU of the Ray cluster, which has 2"):
        smr.score(stories, tmp_path / "out", cpus_per_actor=2)
    with pytest.raises(ValueError, match="no machine of the Ray cluster has 1 GPU"):
        smr.score(stories, tmp_path / "out", device="cuda")
    with pytest.raises(ValueError, match="Ray chooses the GPU"):
        smr.score(stories, tmp_path / "out", device="cuda:1")


@pytest.mark.usefixtures("two_cpus")
def test_too_many_actors_are_reduced_with_a_word(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    stories = make(tmp_path / "in", 4, 5)
    smr.score(stories, tmp_path / "out", metrics=METRICS, cpus_per_actor=1, max_actors=2)
    said = capfd.readouterr().err
    assert "storymeter: 1 actor instead of 2: the Ray cluster has 2 CPUs" in said


@pytest.mark.usefixtures("two_cpus")
def test_a_run_that_stands_still_ends(tmp_path: pathlib.Path) -> None:
    """First a shard takes too long, then other work holds all CPUs."""
    # An actor may take seconds to start on a busy machine, and the shard must take longer.
    stories = make(tmp_path / "in", 2, 12_000)
    stories[0] = make(tmp_path / "small", 1, 5)[0].rename(tmp_path / "small" / "small.parquet")
    stands_still = "no shard was finished for 10 seconds"
    with pytest.raises(smr.NoProgressError, match=stands_still) as stuck:
        smr.score(stories, tmp_path / "out", no_progress_timeout_s=10, progress=False)
    assert stuck.value.inputs == [str(stories[1])]
    assert isinstance(stuck.value, TimeoutError)
    assert headers(tmp_path / "out") == 1
    # The cluster is free again.
    wait_for(lambda: ray.available_resources().get("CPU") == 2)

    holder = ray.remote(num_cpus=2)(smr._Roll).remote()
    ray.get(holder.open.remote())
    with pytest.raises(smr.NoProgressError, match="Ray could not start an actor within 3 seconds"):
        smr.score(stories, tmp_path / "out", no_progress_timeout_s=3, progress=False)
    ray.kill(holder)
    wait_for(lambda: ray.available_resources().get("CPU") == 2)


@pytest.mark.usefixtures("two_cpus")
def test_a_shard_that_kills_its_workers_is_given_up(tmp_path: pathlib.Path) -> None:
    stories = make(tmp_path / "in", 1, 20_000)
    over = threading.Event()

    def kill() -> None:
        while not over.wait(0.2):
            for worker in workers(os.getpid()):
                # It has begun when its threads are there.
                if len(list(pathlib.Path(f"/proc/{worker}/task").iterdir())) > 1:
                    with contextlib.suppress(OSError):
                        names = pathlib.Path(f"/proc/{worker}/task").glob("*/comm")
                        if any(name.read_text().startswith("storymeter") for name in names):
                            os.kill(worker, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        with pytest.raises(sm.BadShardsError, match="its worker died 4 times"):
            smr.score(stories, tmp_path / "out", no_progress_timeout_s=120, progress=False)
    finally:
        over.set()
        killer.join()
    assert headers(tmp_path / "out") == 0


DRIVER = """
import sys
import storymeter.ray
stories, out, metrics = sys.argv[1], sys.argv[2], sys.argv[3].split(",")
run = storymeter.ray.score(stories + "/*.parquet", out, metrics=metrics)
print(run.scored)
"""


def driver(stories: list[pathlib.Path], out: pathlib.Path) -> subprocess.Popen[str]:
    arguments = [str(stories[0].parent), str(out), ",".join(METRICS)]
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, *arguments], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.skipif(
    "STORYMETER_SLOW_CHECKS" not in os.environ,
    reason="it takes more than a minute and is part of .ci/full; set STORYMETER_SLOW_CHECKS=1",
)
def test_the_driver_is_killed_and_resumed(
    stories: list[pathlib.Path], once: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """Each driver has a cluster of its own, which ends with it."""
    out = tmp_path / "out"
    killed = driver(stories, out)
    wait_for(lambda: headers(out) >= 2)
    cluster = descendants(killed.pid)
    assert any("raylet" in title for title in cluster.values())
    killed.kill()
    killed.wait()
    before = headers(out)
    assert 2 <= before < FILES
    # Ray's helpers live a minute longer, but what could compute is gone.
    wait_for(lambda: not any(is_computing(process) for process in cluster))

    both = [driver(stories, out), driver(stories, out)]
    scored = []
    for process in both:
        said, _ = process.communicate(timeout=240)
        assert process.returncode == 0
        scored.append(int(said))
    assert FILES - before <= sum(scored) <= 2 * (FILES - before)
    assert_whole(out, once, tmp_path)


def is_computing(process: int) -> bool:
    try:
        title = pathlib.Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return False
    return "raylet/raylet" in title or title.startswith("ray::MapWorker")
