"""Which processors a node's programs have where nobody says it: a server under load and what loads it must not take
each other's time. `placement` is pure."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

APART = ("load",)  # workloads in which both ends work as hard as they can
FOR_A_ROUTER = 3  # processors on the client's side from which on the router has one of its own
TOPOLOGY = Path("/sys/devices/system/cpu")


def placement(processors: Sequence[str | int], workload: str, *, direct: bool) -> Mapping[str, str]:
    """Return processors by node, as taskset writes them. `processors` are those that there are, neighbours of one core
    beside each other; `direct`: no link has a router. Nothing where a node's programs may run anywhere, or there is
    only one processor.

    The server has half of them: the same on each kind of link, so that these can be compared. The others are the
    generator's, which needs more for a request than a fast server. A router has one of its own where there are enough,
    else it shares the client's: on the server's it would take what is measured.
    """
    if workload not in APART or len(processors) < 2:
        return {}
    names = [str(each) for each in processors]
    server = names[-(len(names) // 2) :]
    client = names[: len(names) - len(server)]
    router = client
    if not direct and len(client) >= FOR_A_ROUTER:
        client, router = client[:-1], client[-1:]
    return {"client": ",".join(client), "server": ",".join(server), "router": ",".join(router)}


def warning(processors: Sequence[str | int], workload: str) -> str:
    """Return what a user should know of it; "" where there is nothing."""
    if workload in APART and len(processors) < 2:
        return "there is one processor: what loads the server takes its time, so throughput says little of the server"
    return ""


def processors_here() -> list[int]:
    """Return the processors that this process may use, threads of one core beside each other."""
    return sorted(os.sched_getaffinity(0), key=lambda number: (*_place(number), number))


def _place(number: int) -> tuple[int, int]:
    """Return package and core of a processor. Where the kernel does not tell, each is a core of its own."""
    folder = TOPOLOGY / f"cpu{number}" / "topology"
    try:
        return int((folder / "physical_package_id").read_text()), int((folder / "core_id").read_text())
    except (OSError, ValueError):
        return 0, number
