"""Scores files of stories on a Ray cluster, or on this machine through Ray.

>>> import storymeter.ray
>>> run = storymeter.ray.score("stories/*.parquet", "scores/")  # doctest: +SKIP
>>> print(run.merge())  # doctest: +SKIP

It needs the extra ``ray``: ``pip install "storymeter[ray]"``.

Each file is a shard, and one actor scores one shard at a time. An actor is a process with several
threads: there is one per machine or, on GPUs, one per GPU. An output is complete, under its own
name, or absent, and it is the same whoever made it. So a shard whose worker died is scored again,
and a run that was killed goes on where it stopped (docs/shards.md). All machines must see the same
files under the same names.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import time
from dataclasses import asdict
from typing import Any, Dict, Iterator, Mapping, Optional, Sequence, TextIO

from . import _budget, _shards
from ._errors import StorymeterError

__all__ = ["NoProgressError", "score"]

#: How often a shard may be begun. Only a dead worker makes Ray begin it again.
ATTEMPTS = 4

#: Shared memory of a cluster that is started here. Only names and counts pass through it.
OBJECT_STORE_BYTES = 128 << 20


class NoProgressError(StorymeterError, TimeoutError):
    """No shard was finished for longer than ``no_progress_timeout_s``.

    ``shards`` are the inputs that were being scored.
    """

    def __init__(self, message: str, shards: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.shards = list(shards)


def score(
    paths: _shards.Paths,
    out: _shards.Path,
    *,
    num_gpus: Optional[float] = None,
    cpus_per_actor: Optional[int] = None,
    max_actors: Optional[int] = None,
    resume: bool = True,
    no_progress_timeout_s: float = 1800,
    progress: bool = True,
    device: str = "cpu",
    **settings: Any,
) -> _shards.ShardRun:
    """Scores each file of stories into a file of scores in the folder `out`.

    If Ray was started before (``ray.init``), or the variable ``RAY_ADDRESS`` names a cluster, the
    actors run there. Else a cluster is started on this machine, which only this machine can reach
    and which ends with the call.

    Parameters
    ----------
    paths
        Files, or patterns such as ``"stories/*.parquet"``.
    out
        The folder of the outputs. An output has the base name of its input.
    num_gpus
        GPUs per actor, 1 by default if `device` is ``"cuda"``. With 0.5, two actors share one.
    cpus_per_actor
        CPUs that an actor reserves, which is also the number of its threads. By default an actor
        gets a machine but for one CPU, which stays free for Ray's own tasks, or the share of its
        GPU.
    max_actors
        At most so many actors.
    resume
        Finished shards in `out` are kept. With ``resume=False``, `out` must be empty.
    no_progress_timeout_s
        The run ends with `NoProgressError` if no shard is finished for so many seconds. It must
        be longer than a shard takes.
    progress
        Whether to write lines about the progress to standard error.
    device, **settings
        How to score: see `storymeter.score_files`.

    Returns
    -------
    ShardRun
        The shards with their counts. ``run.merge()`` makes the table that one run over all
        stories would print.

    Raises
    ------
    BadShards
        Some shards cannot be scored. All others were finished before.
    NoProgressError
        Nothing was finished for too long.
    ValueError
        The actors do not fit on the cluster.
    """
    ray = _import_ray()
    if no_progress_timeout_s <= 0:
        raise ValueError("no_progress_timeout_s must be more than 0")
    if cpus_per_actor is not None and cpus_per_actor < 1:
        raise ValueError("cpus_per_actor must be 1 or more")
    if max_actors is not None and max_actors < 1:
        raise ValueError("max_actors must be 1 or more")
    gpus = num_gpus if num_gpus is not None else (1 if device == "cuda" else 0)
    shards = _shards.plan(paths, out, resume=resume)
    run = _shards.Collected(shards)
    lines = _Lines(len(shards), sys.stderr if progress else None)
    with _cluster(ray):
        machines = [
            _budget.Machine(node["Resources"].get("CPU", 0), node["Resources"].get("GPU", 0))
            for node in ray.nodes()
            if node["Alive"]
        ]
        budget = _budget.budget(
            machines, shards=len(shards), gpus=gpus, cpus=cpus_per_actor, max_actors=max_actors
        )
        lines.begin(budget)
        settings = {"device": device, **settings}
        for answer in _Pass(ray, shards, budget, settings, no_progress_timeout_s):
            if answer["status"] == "no scorer":
                raise StorymeterError(answer["message"])
            lines.add(answer)
            run.add(answer)
    return run.finish()


def _import_ray() -> Any:
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise ImportError(
            'storymeter.ray needs Ray Data: pip install "storymeter[ray]"', name=error.name
        ) from error
    return ray


class _Roll:
    """An actor that knows which shards are being scored, by whom, and how often each was begun."""

    def __init__(self) -> None:
        self._begun: Dict[int, int] = {}
        self._open: Dict[int, Any] = {}

    def begin(self, place: int, worker: Any) -> int:
        """Writes down that a worker begins a shard. Returns how often it was begun, now included."""
        self._begun[place] = self._begun.get(place, 0) + 1
        self._open[place] = worker
        return self._begun[place]

    def end(self, place: int) -> None:
        """Writes down that a shard is finished."""
        self._open.pop(place, None)

    def open(self) -> Dict[int, Any]:
        """The shards that are being scored, with their workers."""
        return self._open


class _Worker:
    """What an actor does: it loads the models once, and then scores shard after shard.

    No exception leaves it, because Ray Data would give up all other shards for it.
    """

    def __init__(self, settings: Mapping[str, Any], roll: Any) -> None:
        self._settings = settings
        self._roll = roll
        self._scorer: Optional[_shards.ShardScorer] = None

    def __call__(self, row: Dict[str, Any]) -> Dict[str, Any]:
        import ray

        shard = _shards.Shard(**row)
        began = time.monotonic()
        me = ray.get_runtime_context().current_actor
        attempt = ray.get(self._roll.begin.remote(shard.place, me))
        if attempt > ATTEMPTS:
            times = attempt - 1
            message = f"its worker died {times} times; a common cause is too little memory"
            answer = _answer("bad", message=message)
        else:
            answer = self._score(shard)
        self._roll.end.remote(shard.place)
        return {"place": shard.place, **answer, "seconds": time.monotonic() - began}

    def _score(self, shard: _shards.Shard) -> Dict[str, Any]:
        try:
            if self._scorer is None:
                self._scorer = _shards.ShardScorer(**self._settings)
        except Exception as error:
            return _answer("no scorer", message=str(error))
        try:
            result = self._scorer.score(shard)
        except Exception as error:
            return _answer("bad", message=str(error))
        status = "scored" if result.scored else "already done"
        return _answer(status, stories=result.stories, skipped=result.skipped)


def _answer(status: str, stories: int = 0, skipped: int = 0, message: str = "") -> Dict[str, Any]:
    """What a worker says about a shard. Every row of Ray Data has the same columns."""
    return {"status": status, "stories": stories, "skipped": skipped, "message": message}


class _Pass:
    """One pass of Ray Data over a dataset that has one row per shard."""

    def __init__(
        self,
        ray: Any,
        shards: Sequence[_shards.Shard],
        budget: _budget.Budget,
        settings: Mapping[str, Any],
        timeout: float,
    ) -> None:
        self._ray = ray
        self._shards = shards
        self._timeout = timeout
        self._roll = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(_Roll).remote()
        rows = [asdict(shard) for shard in shards]
        dataset = ray.data.from_items(rows, override_num_blocks=len(rows))
        context = dataset.context
        context.enable_progress_bars = False
        context.print_on_execution_start = False
        context.enable_auto_log_stats = False
        context.execution_no_progress_timeout_s = timeout
        context.wait_for_min_actors_s = timeout
        self._dataset = dataset.map(
            _Worker,
            fn_constructor_kwargs={
                "settings": {**settings, "threads": budget.threads},
                "roll": self._roll,
            },
            # A shard takes minutes, so nothing is won by giving an actor a second one to wait with.
            compute=ray.data.ActorPoolStrategy(
                min_size=1,
                max_size=budget.actors,
                initial_size=budget.actors,
                max_tasks_in_flight_per_actor=1,
            ),
            num_cpus=budget.cpus,
            num_gpus=budget.gpus,
        )

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        """What the workers say about the shards, as soon as they say it."""
        finished = False
        try:
            batches = self._dataset.iter_batches(
                batch_size=None, batch_format="pyarrow", prefetch_batches=0
            )
            for batch in batches:
                yield from batch.to_pylist()
            finished = True
        except self._ray.data.exceptions.ExecutionTimeoutError as error:
            raise self._stuck() from error
        except self._ray.exceptions.GetTimeoutError as error:
            raise NoProgressError(
                f"Ray could not start an actor within {self._timeout:g} seconds; other work may "
                "hold the CPUs or GPUs of the cluster (`ray status` shows it)"
            ) from error
        finally:
            self._end(kill=not finished)

    def _stuck(self) -> NoProgressError:
        inputs = [self._shards[place].input for place in sorted(self._open())]
        shown = ", ".join(inputs[:5]) + (", ..." if len(inputs) > 5 else "")
        return NoProgressError(
            f"no shard was finished for {self._timeout:g} seconds; in work: {shown or 'none'}. "
            "What is finished stays. Set no_progress_timeout_s higher if a shard takes longer",
            inputs,
        )

    def _open(self) -> Dict[int, Any]:
        try:
            opened: Dict[int, Any] = self._ray.get(self._roll.open.remote(), timeout=10)
            return opened
        except Exception:  # The cluster is gone, and with it whoever worked there.
            return {}

    def _end(self, kill: bool) -> None:
        """Frees what the pass holds on the cluster. A worker that is in the middle of a shard would
        not stop by itself."""
        if kill:
            for worker in self._open().values():
                with contextlib.suppress(Exception):
                    self._ray.kill(worker)
        with contextlib.suppress(Exception):
            self._ray.kill(self._roll)


class _Lines:
    """Lines about the progress of a run, drawn over each other on a terminal."""

    #: Seconds between two lines where they are not drawn over each other.
    PAUSE = 10.0

    def __init__(self, shards: int, stream: Optional[TextIO]) -> None:
        self._shards = shards
        self._stream = stream
        self._began = self._shown = time.monotonic()
        self._done = self._bad = self._stories = self._scored = 0

    def begin(self, budget: _budget.Budget) -> None:
        """Says how the cluster is used."""
        self._began = self._shown = time.monotonic()
        actors = _budget.count(budget.actors, "actor")
        threads = _budget.count(budget.threads, "thread")
        self._write(f"{_budget.count(self._shards, 'shard')} on {actors} with {threads} each\n")
        if budget.note:
            self._write(f"{budget.note}\n")

    def add(self, answer: Mapping[str, Any]) -> None:
        """Counts a shard, and shows the line if it is time."""
        self._done += 1
        self._bad += answer["status"] == "bad"
        self._stories += answer["stories"]
        self._scored += answer["stories"] if answer["status"] == "scored" else 0
        now = time.monotonic()
        last = self._done == self._shards
        terminal = self._stream is not None and self._stream.isatty()
        if terminal or last or now - self._shown >= self.PAUSE:
            self._shown = now
            rate = self._scored / max(now - self._began, 1e-9)
            line = (
                f"{self._done:,} of {_budget.count(self._shards, 'shard')} done"
                + (f", {self._bad:,} of them bad" if self._bad else "")
                + f", {self._stories:,} stories, {rate:,.0f} stories per second"
            )
            self._write(f"\r\x1b[K{line}" + ("\n" if last else "") if terminal else f"{line}\n")

    def _write(self, text: str) -> None:
        if self._stream is not None:
            self._stream.write(text)
            self._stream.flush()


@contextlib.contextmanager
def _cluster(ray: Any) -> Iterator[None]:
    """A connection to a cluster: one that was there, or one that lives as long as the run."""
    if ray.is_initialized():
        with _quiet():
            yield
        return
    address = os.environ.get("RAY_ADDRESS", "local")
    if address == "local":
        # Ray counts logical CPUs. One more than there are cores is for its own tasks, which do
        # next to nothing here, so that an actor can use all cores.
        options = {
            "num_cpus": len(os.sched_getaffinity(0)) + 1,
            "include_dashboard": False,
            "object_store_memory": OBJECT_STORE_BYTES,
        }
    else:
        options = {}
    with _quiet(), _loopback(ray) if address == "local" else contextlib.nullcontext():
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **options)
        try:
            yield
        finally:
            ray.shutdown()


@contextlib.contextmanager
def _loopback(ray: Any) -> Iterator[None]:
    """Makes a cluster that is started meanwhile listen on this machine only, and send nothing.

    Ray has this mode for laptops, where firewalls ask questions otherwise.
    """
    variables = {
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_BACKEND_LOG_LEVEL": "fatal",
    }
    before = {name: os.environ.get(name) for name in variables}
    constants = ray._private.ray_constants
    reachable = getattr(constants, "ENABLE_RAY_CLUSTER", None)
    os.environ.update(variables)
    constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = reachable
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keeps Ray's own messages away. What goes wrong becomes an exception here."""
    loggers = [logging.getLogger(name) for name in ("ray", "ray.data")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels):
            logger.setLevel(level)
