"""The processors and the memory of several beds on one machine: each has its own, so that none takes what is another's.
Pure, but for what ends in `_here`."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path

from lanelab.driver.base.amounts import counted
from lanelab.driver.base.errors import InputError

# What a page load on one bed used here (docs/reference/sweep-scale.md says how that was measured).
PROCESSORS_OF_A_PAGE_LOAD = 2  # with one processor it takes longer
MEMORY_OF_A_BED_MIB = 700
MEMORY_LEFT_MIB = 500  # for the controller and the rest of the machine
TOPOLOGY = Path("/sys/devices/system/cpu")


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a processor. Processors of one core are its threads; `cache`: the lowest number of those that share
    the largest cache with it."""

    package: int
    cache: int
    core: int


Places = Mapping[int, Place]
Core = tuple[int, ...]


def divided(processors: Sequence[int], beds: int, places: Places | None = None) -> list[list[int]]:
    """Return the processors of each bed, as many for each: beds that differ in them would differ in their results.
    Threads of one core stay together, and cores of one cache or package, as far as they go. What is left over is the
    controller's: at least one core where each bed has enough without it. A processor without a place is a core of its
    own."""
    if beds < 1:
        raise InputError(f"{beds} beds cannot work", "Write a number from 1 on")
    if beds > len(processors):
        is_one = len(processors) == 1
        there = "is 1 processor" if is_one else f"are {len(processors)} processors"
        what = f"there {there} here: at most {len(processors)} bed{'s' * (not is_one)}"
        raise InputError(what, "Ask for fewer beds, or lend those of further machines: lanelab worker")
    places = _complete(processors, places or {})
    if beds == 1:
        return [sorted(processors, key=lambda number: _order(places[number], number))]
    cores = _cores(processors, places)
    if beds > len(cores):  # threads of one core are in different beds
        each = len(processors) // beds
        numbers = list(chain.from_iterable(cores))
        return [numbers[each * bed : each * (bed + 1)] for bed in range(beds)]
    each = len(cores) // beds
    if len(cores) % beds == 0 and (each - 1) * len(cores[0]) >= PROCESSORS_OF_A_PAGE_LOAD:
        each -= 1
    return [list(chain.from_iterable(bed)) for bed in _kept_together(cores, beds, each, places)]


def divided_here(beds: int) -> list[list[int]]:
    """Divide the processors of this machine that this process may use."""
    processors = sorted(os.sched_getaffinity(0))
    return divided(processors, beds, places_here(processors))


def _complete(processors: Sequence[int], places: Places) -> Places:
    alone = {number: Place(0, 0, -1 - number) for number in processors}
    return {**alone, **{number: place for number, place in places.items() if number in alone}}


def _order(place: Place, number: int) -> tuple[int, ...]:
    return place.package, place.cache, max(place.core, 0), number


def _cores(processors: Sequence[int], places: Places) -> list[Core]:
    """Return the cores in the order of packages, caches and cores. Where some threads of a core are not ours, it is the
    smaller."""
    in_order = sorted(processors, key=lambda number: _order(places[number], number))
    return [tuple(core) for _, core in groupby(in_order, key=lambda number: _core_of(places[number]))]


def _core_of(place: Place) -> tuple[int, int]:
    return place.package, place.core


def _kept_together(cores: Sequence[Core], beds: int, each: int, places: Places) -> list[Sequence[Core]]:
    """`each` cores for each bed: all in one cache, else all in one package, else wherever they are."""
    ways: list[Callable[[Core], tuple[int, ...]]] = [
        lambda core: (places[core[0]].package, places[core[0]].cache),
        lambda core: (places[core[0]].package,),
    ]
    for way in ways:
        groups = [list(group) for _, group in groupby(cores, key=way)]
        chosen = [group[at : at + each] for group in groups for at in range(0, len(group) - each + 1, each)]
        if len(chosen) >= beds:
            return list(chosen[:beds])
    return [cores[each * bed : each * (bed + 1)] for bed in range(beds)]


def warnings(division: Sequence[Sequence[int]], processors: Sequence[int], places: Places | None = None) -> list[str]:
    """Return what a user should know of beds that are divided like this."""
    if len(division) < 2:
        return []
    known = _complete(processors, places or {})
    sentences = []
    cores = [{_core_of(known[number]) for number in bed} for bed in division]
    if sum(map(len, cores)) > len(set().union(*cores)):
        sentences.append("beds share cores: threads of one core are in different beds, and slow one another down")
    fewest = min(map(len, division))
    if fewest < PROCESSORS_OF_A_PAGE_LOAD:
        has = counted(fewest, "processor")
        sentences.append(
            f"each bed has {has}, and a page load uses {PROCESSORS_OF_A_PAGE_LOAD}: "
            "page load times are longer than on a bed that has this machine to itself"
        )
    if any(len({known[number].package for number in bed}) > 1 for bed in division):
        sentences.append(
            "the processors of a bed are in different packages: its programs wait for memory of the other one"
        )
    if sum(map(len, division)) == len(processors):
        sentences.append(
            "no processor is left over for what gives the beds their work: it takes a little of their time"
        )
    return sentences


def require_memory(beds: int, available_mib: int) -> None:
    """Raises InputError where the memory that is available does not suffice for them."""
    most = max(0, (available_mib - MEMORY_LEFT_MIB) // MEMORY_OF_A_BED_MIB)
    if beds > most:
        what = (
            f"{beds} beds take {beds * MEMORY_OF_A_BED_MIB} MiB, and {available_mib} MiB are available here, "
            f"of which {MEMORY_LEFT_MIB} stay free: at most {most} bed{'s' * (most != 1)}"
        )
        raise InputError(what, "Ask for fewer beds, end other programs, or lend beds of further machines")


def places_here(processors: Sequence[int]) -> Places:
    """Return the places that the kernel tells."""
    by_number = {number: _place(number) for number in processors}
    return {number: place for number, place in by_number.items() if place}


def memory_available_here_mib() -> int:
    """Return the memory that is available, as the kernel estimates it."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            return int(rest.split()[0]) >> 10
    raise InputError("/proc/meminfo does not say what memory is available", "Use a kernel from 3.14 on")


def other_beds_here() -> int:
    """Beds that run on this machine now, whoever made them, as far as their processes can be seen: each has one, with
    this text on its command line. Those of other containers, or of users that the kernel hides, are not seen."""
    return len(list(_beds_here()))


def processors_of_beds_here() -> frozenset[int]:
    """Return the processors that beds of this machine may use now: all, where one has none of its own."""
    processors = set[int]()
    for number in _beds_here():
        with suppress(OSError):  # it has ended
            processors |= os.sched_getaffinity(number)
    return frozenset(processors)


def _beds_here() -> Iterator[int]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                is_bed = b"from lanelab.driver.run.channel.bed_start import main" in (folder / "cmdline").read_bytes()
            except OSError:  # it has ended
                continue
            if is_bed:
                yield int(folder.name)


def _place(number: int) -> Place | None:
    folder = TOPOLOGY / f"cpu{number}"
    try:
        package = int((folder / "topology/physical_package_id").read_text())
        core = int((folder / "topology/core_id").read_text())
    except (OSError, ValueError):
        return None
    caches = sorted((folder / "cache").glob("index*/shared_cpu_list")) if (folder / "cache").is_dir() else []
    try:
        cache = _lowest(caches[-1].read_text()) if caches else 0
    except (OSError, ValueError):
        cache = 0
    return Place(package, cache, core)


def _lowest(numbers: str) -> int:
    """Return the lowest of a list as the kernel writes it: 0-3,8."""
    return min(int(part.partition("-")[0]) for part in numbers.strip().split(","))
