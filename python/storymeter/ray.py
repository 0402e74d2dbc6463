"""Scores files of stories on a Ray cluster, or on this machine through Ray.

It needs the extra ``ray``: ``pip install "storymeter[ray]"``.

>>> import storymeter.ray
>>> run = storymeter.ray.score("stories/*.parquet", "scores/")  # doctest: +SKIP
>>> print(run.merge())  # doctest: +SKIP

Each file is a shard, and an actor scores one shard at a time. An actor is a process with several
threads: there is one per machine or, on GPUs, one per GPU. An output is complete, under its own
name, or absent, and it is the same whoever made it. So a shard whose worker died is scored again,
and a run that was killed goes on where it stopped (docs/shards.md). docs/scale.md says more.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import pickle
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from . import _budget, _shards
from ._errors import StorymeterError
from ._how import checked_columns, no_corpus_stats
from ._lines import Lines, count
from ._score import Scorer

__all__ = ["NoProgressError", "score"]

#: How often a shard may be begun. Only a dead worker makes Ray begin it again.
ATTEMPTS = 4

#: The shared memory of a cluster that is started here. Only names and counts pass through it.
OBJECT_STORE_BYTES = 128 << 20


class NoProgressError(StorymeterError, TimeoutError):
    """No shard was finished for longer than ``no_progress_timeout_s``.

    Attributes
    ----------
    inputs
        The files that were being scored.
    """

    inputs: Sequence[str] = ()


def score(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    metrics: str | Sequence[str] | None = None,
    model: str | os.PathLike[str] | None = None,
    weights: Mapping[str, str | os.PathLike[str]] | None = None,
    device: str = "cpu",
    precision: str | None = None,
    columns: Mapping[str, str] | None = None,
    format: str | None = None,
    out_format: str | None = None,
    skip_bad: bool = False,
    renumber: bool = False,
    seed: int = 0,
    num_gpus: float | None = None,
    cpus_per_actor: int | None = None,
    max_actors: int | None = None,
    resume: bool = True,
    no_progress_timeout_s: float = 1800,
    progress: bool = True,
    corpus_stats: str | os.PathLike[str] | None = None,
    clean: bool = False,
    keep_refusals: bool = False,
) -> _shards.ShardRun:
    """Score each file of stories into a file of scores in the folder `out`, on a Ray cluster.

    If Ray was started before (``ray.init``), or the variable ``RAY_ADDRESS`` names a cluster, the
    actors run there. Otherwise a cluster is started on this machine, which only this machine can
    reach and which ends with the call.

    Parameters
    ----------
    paths, out, out_format, format
        The files: see :func:`storymeter.plan_shards`. All machines must see them under the same
        names.
    metrics, model, weights, device, precision, seed
        The scorer: see :class:`storymeter.Scorer`. The device is ``"cpu"`` or ``"cuda"``; Ray
        chooses the GPU.
    columns, skip_bad, renumber
        How the stories are read: see :func:`storymeter.score`.
    num_gpus
        The GPUs that an actor reserves: 1 by default if the device is a GPU. With 0.5, two actors
        share a GPU.
    cpus_per_actor
        The CPUs that an actor reserves, which is also the number of its threads. By default it is
        all CPUs of a machine but one, which stays free for Ray's own tasks, divided by the number
        of its actors.
    max_actors
        The largest number of actors. By default there is one per machine or GPU.
    resume
        Whether outputs may be there already: finished shards are kept. Otherwise the folder must
        be empty.
    no_progress_timeout_s
        The run ends with :class:`NoProgressError` if no shard is finished for so many seconds. It
        must be longer than a shard takes.
    progress
        Whether to write lines about the progress to standard error.
    corpus_stats
        A file with what metrics such as ``cider-d`` must know about all stories. It must be there:
        ``storymeter score FILES --corpus-stats FILE`` and :func:`storymeter.score_files` write it.
    clean, keep_refusals
        What is done with texts that are not only a story; see :class:`storymeter.Scorer`.

    Returns
    -------
    ShardRun
        The shards with their counts. Its ``merge()`` makes the table that one run over all stories
        would print.

    Raises
    ------
    BadShardsError
        Some files cannot be scored. All others were finished before.
    NoProgressError
        Nothing was finished for too long.
    ValueError
        The actors do not fit on the cluster.
    """
    ray = _import_ray()
    for name, number in [
        ("no_progress_timeout_s", no_progress_timeout_s),
        ("cpus_per_actor", cpus_per_actor),
        ("max_actors", max_actors),
    ]:
        if number is not None and number <= 0:
            raise ValueError(f"{name} must be more than 0, and is {number}")
    if device not in ("cpu", "cuda"):
        raise ValueError(f'device: "{device}" is neither "cpu" nor "cuda"; Ray chooses the GPU')
    if num_gpus is None:
        num_gpus = 1 if device == "cuda" else 0
    if corpus_stats is not None and not os.path.exists(corpus_stats):
        raise no_corpus_stats(os.fspath(corpus_stats))
    # A path is meant from here, and a worker may stand elsewhere.
    is_path = model is not None and os.path.exists(model)
    scorer = {
        "model": os.path.abspath(model) if model is not None and is_path else model,
        "metrics": metrics,
        "weights": {name: os.path.abspath(path) for name, path in (weights or {}).items()},
        "device": device,
        "precision": precision,
        "seed": seed,
        "corpus_stats": None if corpus_stats is None else os.path.abspath(corpus_stats),
        "clean": clean,
        "keep_refusals": keep_refusals,
    }
    reading = _shards.Reading(tuple(checked_columns(columns)), format, skip_bad, renumber)
    shards = _shards.plan_shards(paths, out, out_format=out_format, format=format, resume=resume)
    collected = _shards.Collected(shards)
    with _cluster(ray), Lines(len(shards), progress) as lines:
        budget = _budget.budget(
            _machines(ray),
            shards=len(shards),
            gpus=num_gpus,
            cpus=cpus_per_actor,
            max_actors=max_actors,
        )
        actors, threads = count(budget.actors, "actor"), count(budget.threads, "thread")
        lines.say(f"{count(len(shards), 'shard')} on {actors} with {threads} each")
        if budget.note:
            lines.say(budget.note)
        for answer in _Pass(ray, shards, budget, scorer, reading, no_progress_timeout_s):
            shard = shards[answer["place"]]
            if answer["status"] == "general":
                raise pickle.loads(answer["error"])
            if answer["status"] == "bad":
                collected.bad[shard.place] = _shards.BadShard(shard, answer["message"])
                lines.bad()
            else:
                scored = answer["status"] == "scored"
                stories, skipped = answer["stories"], answer["skipped"]
                result = _shards.ShardResult(shard, scored, stories, skipped, answer["seconds"])
                collected.finished[shard.place] = result
                lines.finished(stories, scored)
    return collected.finish()


def _import_ray() -> Any:
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise ImportError(
            'storymeter.ray needs Ray Data: pip install "storymeter[ray]"', name=error.name
        ) from error
    return ray


def _machines(ray: Any) -> list[_budget.Machine]:
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    return [_budget.Machine(node.get("CPU", 0), node.get("GPU", 0)) for node in nodes]


class _Roll:
    """An actor that knows which shards are being scored, by whom, and how often each was begun."""

    def __init__(self) -> None:
        self._begun: dict[int, int] = {}
        self._open: dict[int, Any] = {}

    def begin(self, place: int, worker: Any) -> int:
        """Write down that a worker begins a shard, and return how often it was begun by now."""
        self._begun[place] = self._begun.get(place, 0) + 1
        self._open[place] = worker
        return self._begun[place]

    def end(self, place: int) -> None:
        """Write down that a worker is through with a shard."""
        self._open.pop(place, None)

    def open(self) -> dict[int, Any]:
        """The shards that are being scored, with their workers."""
        return self._open


class _Worker:
    """What an actor does: it opens the models once, and then scores shard after shard.

    No exception leaves it, because Ray Data would give up all other shards for it.
    """

    def __init__(self, scorer: Mapping[str, Any], reading: _shards.Reading, roll: Any) -> None:
        self._how = scorer
        self._reading = reading
        self._roll = roll
        self._scorer: Scorer | None = None

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        import ray

        shard = _shards.Shard(**row)
        began = time.monotonic()
        me = ray.get_runtime_context().current_actor
        attempt = ray.get(self._roll.begin.remote(shard.place, me))
        if attempt > ATTEMPTS:
            message = f"its worker died {attempt - 1} times; a common cause is too little memory"
            answer = _answer("bad", message=message)
        else:
            answer = self._score(shard)
        self._roll.end.remote(shard.place)
        return {"place": shard.place, **answer, "seconds": time.monotonic() - began}

    def _score(self, shard: _shards.Shard) -> dict[str, Any]:
        try:
            if self._scorer is None:
                self._scorer = Scorer(**self._how)
        except Exception as error:
            return _answer("general", error=error)
        try:
            # An earlier attempt, or another run, may have finished the shard.
            result = _shards.score_shard(self._scorer, shard, self._reading, resume=True)
        except _shards.GENERAL as error:
            return _answer("general", error=error)
        except Exception as error:
            return _answer("bad", message=str(error))
        status = "scored" if result.scored else "finished before"
        return _answer(status, stories=result.stories, skipped=result.skipped)


def _answer(
    status: str,
    stories: int = 0,
    skipped: int = 0,
    message: str = "",
    error: Exception | None = None,
) -> dict[str, Any]:
    """What a worker says about a shard. Every row of a dataset has the same columns."""
    return {
        "status": status,
        "stories": stories,
        "skipped": skipped,
        "message": message,
        "error": b"" if error is None else _packed(error),
    }


def _packed(error: Exception) -> bytes:
    try:
        return pickle.dumps(error)
    except Exception:
        return pickle.dumps(StorymeterError(f"{type(error).__name__}: {error}"))


class _Pass:
    """One pass of Ray Data over a dataset that has one row per shard."""

    def __init__(
        self,
        ray: Any,
        shards: Sequence[_shards.Shard],
        budget: _budget.Budget,
        scorer: Mapping[str, Any],
        reading: _shards.Reading,
        timeout: float,
    ) -> None:
        self._ray = ray
        self._inputs = {shard.place: shard.input for shard in shards}
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
        self._dataset: Any = dataset.map(
            _Worker,
            fn_constructor_kwargs={
                "scorer": {**scorer, "threads": budget.threads},
                "reading": reading,
                "roll": self._roll,
            },
            # A shard takes minutes, so nothing is won if a second one waits for the same actor.
            compute=ray.data.ActorPoolStrategy(
                min_size=1,
                max_size=budget.actors,
                initial_size=budget.actors,
                max_tasks_in_flight_per_actor=1,
            ),
            num_cpus=budget.cpus,
            num_gpus=budget.gpus,
        )

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """What the workers say about the shards, as soon as they say it."""
        problem = None
        finished = False
        try:
            batches = self._dataset.iter_batches(
                batch_size=None, batch_format="pyarrow", prefetch_batches=0
            )
            for batch in batches:
                yield from batch.to_pylist()
            finished = True
        except self._ray.data.exceptions.ExecutionTimeoutError:
            problem = self._stuck()
        except self._ray.exceptions.GetTimeoutError:
            problem = NoProgressError(
                f"Ray could not start an actor within {self._timeout:g} seconds; other work may "
                "hold the CPUs or GPUs of the cluster (`ray status` shows it)"
            )
        finally:
            self._end(kill=not finished)
        # Ray's exception is not kept as the cause: it would keep the actors alive, and an actor
        # that waits for a place would take it as soon as there is one.
        if problem is not None:
            raise problem

    def _stuck(self) -> NoProgressError:
        inputs = [self._inputs[place] for place in sorted(self._open())]
        shown = ", ".join(inputs[:5]) + (", ..." if len(inputs) > 5 else "")
        message = (
            f"no shard was finished for {self._timeout:g} seconds; these are being scored: "
            f"{_shards.printable(shown) or 'none'}. What is finished stays. If a shard takes "
            "longer than that, set no_progress_timeout_s higher"
        )
        return NoProgressError(message, inputs=inputs)

    def _open(self) -> dict[int, Any]:
        try:
            shards: dict[int, Any] = self._ray.get(self._roll.open.remote(), timeout=10)
        except Exception:  # The cluster is gone, and with it everybody who worked there.
            return {}
        return shards

    def _end(self, kill: bool) -> None:
        """Free what the pass holds on the cluster.

        A worker in the middle of a shard would not stop by itself.
        """
        if kill:
            for worker in self._open().values():
                with contextlib.suppress(Exception):
                    self._ray.kill(worker)
        with contextlib.suppress(Exception):
            self._ray.kill(self._roll)
        if kill:
            # Actors that were not started yet end with the last reference to them.
            self._dataset = None
            gc.collect()


@contextlib.contextmanager
def _cluster(ray: Any) -> Iterator[None]:
    """A connection to a cluster: one that was there, or one that lives as long as the run."""
    if ray.is_initialized():
        with _quiet():
            yield
        return
    address = os.environ.get("RAY_ADDRESS", "local")
    with contextlib.ExitStack() as stack:
        stack.enter_context(_quiet())
        options: dict[str, Any] = {}
        if address == "local":
            stack.enter_context(_alone(ray))
            # Ray counts logical CPUs. One more than there are cores is for Ray's own tasks, which
            # do next to nothing here, so that an actor can use all cores.
            options = {
                "num_cpus": _cores() + 1,
                "include_dashboard": False,
                "object_store_memory": OBJECT_STORE_BYTES,
            }
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **options)
        try:
            yield
        finally:
            ray.shutdown()


def _cores() -> int:
    """The cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # Only Linux has it.
        return os.cpu_count() or 1


@contextlib.contextmanager
def _alone(ray: Any) -> Iterator[None]:
    """Makes a cluster that is started meanwhile listen on this machine only, and report nothing.

    Ray has this mode for systems whose firewalls ask questions otherwise.
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
