"""How a Ray cluster is divided into actors. No Ray is needed for that."""

import pytest

from storymeter._budget import Budget, Machine, budget


def test_one_actor_per_machine_leaves_a_cpu_free() -> None:
    assert budget([Machine(16)], shards=100) == Budget(actors=1, cpus=15)
    assert budget([Machine(16)] * 8, shards=100) == Budget(actors=8, cpus=15)
    assert budget([Machine(2)], shards=100) == Budget(actors=1, cpus=1)


def test_one_actor_per_gpu_shares_the_cpus_of_its_machine() -> None:
    machines = [Machine(128, gpus=8)] * 2
    assert budget(machines, shards=100, gpus=1) == Budget(actors=16, cpus=15, gpus=1)
    # Two actors per GPU.
    assert budget(machines, shards=100, gpus=0.5) == Budget(actors=32, cpus=7, gpus=0.5)


def test_no_more_actors_than_shards() -> None:
    assert budget([Machine(16)] * 8, shards=3).actors == 3


def test_a_single_cpu_is_shared_with_ray() -> None:
    only = budget([Machine(1)], shards=5)
    assert (only.actors, only.cpus, only.threads) == (1, 0.5, 1)


def test_small_machines_beside_the_usual_ones_get_no_actor() -> None:
    """The head of a cluster is often small."""
    assert budget([Machine(2), Machine(64), Machine(64)], shards=9) == Budget(actors=2, cpus=63)
    assert budget([Machine(2), Machine(64)], shards=9) == Budget(actors=1, cpus=63)


def test_actors_that_would_take_every_cpu_are_reduced_with_a_word() -> None:
    two = budget([Machine(4)], shards=9, cpus=1, max_actors=4)
    assert two.actors == 3
    assert two.note == (
        "3 actors instead of 4: the Ray cluster has 4 CPUs, each actor reserves 1, "
        "and one CPU stays free for Ray's own tasks"
    )


def test_too_many_actors_for_the_gpus_are_reduced_with_a_word() -> None:
    one = budget([Machine(16, gpus=1)], shards=9, gpus=1, max_actors=2)
    assert one.actors == 1
    assert one.note.startswith("1 actor instead of 2: the Ray cluster has 16 CPUs, each actor")


def test_one_actor_that_takes_every_cpu_is_an_error() -> None:
    with pytest.raises(ValueError, match="takes every CPU .* set cpus_per_actor to at most 1,"):
        budget([Machine(2)], shards=9, cpus=2)


def test_an_actor_that_is_too_large_is_an_error() -> None:
    with pytest.raises(ValueError, match="the largest has 4; set cpus_per_actor to at most 3"):
        budget([Machine(4), Machine(4)], shards=9, cpus=6)


def test_no_gpu_is_an_error() -> None:
    with pytest.raises(ValueError, match="no machine of the Ray cluster has 1 GPU"):
        budget([Machine(4)], shards=9, gpus=1)


def test_a_cluster_without_cpus_is_an_error() -> None:
    with pytest.raises(ValueError, match="has no CPUs"):
        budget([Machine(0)], shards=9)
