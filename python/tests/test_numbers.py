"""Numbers that a user gives are checked: none is an overflow or silently the default."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import storymeter as sm

LENGTH = ["text-length"]
STORY = "Ken woke up. He went out. The rain was cold. He ran home."
ROWS = [
    {"system": system, "item": item, "human/plot": 1 + (item + at) % 5, "mine": (item * at) % 7}
    for item in range(8)
    for at, system in enumerate(["rain", "tale"])
]
#: The calls of the verbs, each with the names of its counts.
VERBS: dict[str, tuple[Callable[..., Any], list[str]]] = {
    "score": (lambda **given: sm.score([STORY], metrics=LENGTH, **given), ["resamples"]),
    "Scorer": (lambda **given: sm.Scorer(metrics=LENGTH, **given), []),
    "Scorer.score": (
        lambda **given: sm.Scorer(metrics=LENGTH).score([STORY], **given), ["resamples"]
    ),
    "explain": (lambda **given: sm.explain(STORY, **given), []),
    "Scorer.explain": (lambda **given: sm.Scorer().explain(STORY, **given), []),
    "corpus_score": (lambda **given: sm.metric("text-length").corpus_score([STORY], **given), []),
    "perturb": (lambda **given: sm.perturb([STORY], **given), ["per_story"]),
    "correlate": (
        lambda **given: sm.correlate([1, 2, 4, 3], [1, 2, 3, 4], **given), ["resamples"]
    ),
    "compare": (lambda **given: sm.compare(ROWS, "mine", **given), ["resamples"]),
    "meta": (lambda **given: sm.meta(ROWS, **given), ["resamples", "draws"]),
    "merge": (lambda **given: sm.merge("no-such-folder", **given), ["resamples"]),
}
SEEDLESS = {"explain", "Scorer.explain", "corpus_score"}


@pytest.mark.parametrize("verb", VERBS)
def test_threads(verb: str) -> None:
    call, _ = VERBS[verb]
    for threads in (-1, 0, 1025, 2**70):
        with pytest.raises(ValueError, match=rf"threads is {threads}, and not between 1 and 1024"):
            call(threads=threads)
    for wrong in (1.5, "2", True):
        with pytest.raises(TypeError, match="threads is of the type"):
            call(threads=wrong)


@pytest.mark.parametrize("verb", sorted(VERBS.keys() - SEEDLESS))
def test_seeds(verb: str) -> None:
    call, _ = VERBS[verb]
    for seed in (-1, 2**64):
        with pytest.raises(ValueError, match=f"seed is {seed}, and not between 0 and"):
            call(seed=seed)
    with pytest.raises(TypeError, match="seed is of the type float"):
        call(seed=1.0)


@pytest.mark.parametrize("verb", [verb for verb, (_, counts) in VERBS.items() if counts])
def test_counts(verb: str) -> None:
    call, counts = VERBS[verb]
    for name in counts:
        # The limits of the command line.
        for count in (-1, 0, 1_000_001, 2**70):
            with pytest.raises(ValueError, match=f"{name} is {count}, and not between 1 and 100"):
                call(**{name: count})
        with pytest.raises(TypeError, match=f"{name} is of the type float"):
            call(**{name: 2.5})


def test_other_counts(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expect is -1"):
        sm.merge(tmp_path, expect=-1)
    with pytest.raises(ValueError, match="donor_sample is -1"):
        sm.perturb([STORY], donor_sample=-1)
    file = tmp_path / "a.jsonl"
    file.write_text('{"story": "Rain."}\n')
    for shard, message in [
        ((2, 2), "shard: the job is 2, and not between 0 and 1"),
        ((-1, 2), "shard: the job is -1"),
        ((0, 0), "shard: the number of jobs is 0"),
        ((0,), r"shard is a job and the number of jobs, and not \(0,\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            sm.plan_shards(file, tmp_path / "out", shard=shard)  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


def test_names_of_columns_are_checked_by_every_verb(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"story": "Rain."}\n')
    columns: Any = [("story", "Tale")]
    shard = sm.plan_shards(file, tmp_path / "out")[0]
    for call in (
        lambda: sm.score(STORY, metrics=LENGTH, columns=columns),
        lambda: sm.score_files(file, tmp_path / "more", metrics=LENGTH, columns=columns),
        lambda: sm.Scorer(metrics=LENGTH).score_shard(shard, columns=columns),
    ):
        with pytest.raises(TypeError, match="columns is of the type list, and not Mapping"):
            call()


def test_weights_of_techniques_may_be_numbers_of_numpy() -> None:
    np = pytest.importorskip("numpy")
    weights = {"repetition": np.float64(1), "negation": np.int64(3)}
    plain = {"repetition": 1, "negation": 3}
    assert sm.perturb([STORY], techniques=weights).to_json() == sm.perturb(
        [STORY], techniques=plain
    ).to_json()
