"""How many actors fit on a Ray cluster without making it stand still.

Ray waits for ever, without an error, if actors hold every CPU and one of its own tasks needs one
(https://github.com/ray-project/ray/issues/44687). So a run leaves at least one CPU of the cluster
free, and says so where that makes it smaller than what was asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ._lines import count


@dataclass(frozen=True)
class Machine:
    """What one machine of the cluster offers."""

    cpus: float
    gpus: float = 0


@dataclass(frozen=True)
class Budget:
    """The actors of a run: how many there are, and what each of them reserves."""

    actors: int
    cpus: float
    gpus: float = 0
    note: str = ""

    @property
    def threads(self) -> int:
        """The threads of an actor. Ray does not limit them, so they must fit what is reserved."""
        return max(1, int(self.cpus))


def budget(
    machines: Sequence[Machine],
    *,
    shards: int,
    gpus: float = 0,
    cpus: int | None = None,
    max_actors: int | None = None,
) -> Budget:
    """Divides a cluster into actors: one per machine or, with `gpus`, one per GPU.

    `gpus` and `cpus` are what one actor reserves. Without `cpus`, an actor gets the CPUs of the
    most common kind of machine but one, or its share of them if the machine has several GPUs.

    Raises ``ValueError`` if not even one actor fits.
    """
    machines = [machine for machine in machines if machine.cpus > 0]
    total = sum(machine.cpus for machine in machines)
    if gpus:
        machines = [machine for machine in machines if machine.gpus >= gpus]
        if not machines:
            raise ValueError(
                f"no machine of the Ray cluster has {count(gpus, 'GPU')} for an actor; start Ray "
                'on machines with GPUs, or use device="cpu"'
            )
    if not machines:
        raise ValueError("the Ray cluster has no CPUs; start Ray with --num-cpus=2 or more")
    reserved: float = _share(machines, gpus) if cpus is None else cpus
    most = 1 if cpus is None and not gpus else None
    places = sum(_places(machine, reserved, gpus, most) for machine in machines)
    if places == 0:
        largest = max(machine.cpus for machine in machines)
        raise ValueError(
            f"an actor with {count(reserved, 'CPU')} fits on no machine of the Ray cluster: the "
            f"largest has {largest:g}; set cpus_per_actor to at most {max(1, int(largest) - 1)}"
        )
    wanted = min(shards, places if max_actors is None else max_actors)
    actors = min(wanted, places)
    spare = min(1.0, reserved)
    while actors > 0 and total - actors * reserved < spare:
        actors -= 1
    if actors == 0:
        raise ValueError(
            f"one actor with {count(reserved, 'CPU')} takes every CPU of the Ray cluster, which "
            f"has {total:g}, and Ray needs a free one for its own tasks; set cpus_per_actor to at "
            f"most {max(1, int(total) - 1)}, or start Ray with more logical CPUs (--num-cpus)"
        )
    note = ""
    if actors < wanted:
        note = (
            f"{count(actors, 'actor')} instead of {wanted}: the Ray cluster has "
            f"{count(total, 'CPU')}, each actor reserves {reserved:g}"
            + (f" and {count(gpus, 'GPU')}" if gpus else "")
            + ", and one CPU stays free for Ray's own tasks"
        )
    return Budget(actors, reserved, gpus, note)


def _share(machines: Sequence[Machine], gpus: float) -> float:
    """The CPUs of one actor on the most common kind of machine, of which one stays free."""
    kinds = Counter((machine.cpus, machine.gpus) for machine in machines)
    (cores, cards), _ = max(kinds.items(), key=lambda kind: (kind[1], kind[0]))
    actors = int(cards / gpus) if gpus else 1
    whole = int(cores - 1) // actors
    # An actor that reserves half a CPU leaves the other half to Ray.
    return whole or 0.5


def _places(machine: Machine, cpus: float, gpus: float, most: int | None) -> int:
    """How many actors fit on a machine."""
    places = int(machine.cpus / cpus)
    if gpus:
        places = min(places, int(machine.gpus / gpus))
    return places if most is None else min(places, most)

