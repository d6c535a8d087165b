"""Processors and memory of several beds on one machine."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.base.errors import InputError
from lanelab.driver.run.sweep import processors as module
from lanelab.driver.run.sweep.processors import Place, divided, other_beds_here, require_memory, warnings


def machine(packages: int, cores: int, threads: int, caches: int = 1) -> dict[int, Place]:
    """As Linux numbers them: all first threads, then all second ones. `caches`: of a package."""
    every = [(package, core) for package in range(packages) for core in range(cores)]
    return {
        thread * len(every) + at: Place(package, package * cores + core * caches // cores * cores // caches, core)
        for thread in range(threads)
        for at, (package, core) in enumerate(every)
    }


@pytest.mark.parametrize("beds", [0, -1])
def test_no_bed_cannot_work(beds: int) -> None:
    with pytest.raises(InputError, match="from 1 on"):
        divided([0, 1], beds)


def test_more_beds_than_processors_are_refused() -> None:
    with pytest.raises(InputError, match="there are 2 processors here: at most 2 beds"):
        divided([0, 1], 3)
    with pytest.raises(InputError, match="there is 1 processor here: at most 1 bed"):
        divided([5], 2)


def test_one_bed_has_all() -> None:
    assert divided([3, 1], 1) == [[1, 3]]


def test_two_processors_are_one_for_each() -> None:
    assert divided([0, 1], 2, machine(1, 2, 1)) == [[0], [1]]


def test_threads_of_a_core_stay_together_and_a_core_is_left_over() -> None:
    assert divided(range(8), 2, machine(1, 4, 2)) == [[0, 4], [1, 5]]
    assert divided(range(8), 3, machine(1, 4, 2)) == [[0, 4], [1, 5], [2, 6]]
    assert divided(range(8), 4, machine(1, 4, 2)) == [[0, 4], [1, 5], [2, 6], [3, 7]]


def test_a_bed_stays_in_one_package_and_one_cache() -> None:
    assert divided(range(10), 2, machine(2, 5, 1)) == [[0, 1, 2, 3], [5, 6, 7, 8]]
    assert divided(range(8), 3, machine(1, 8, 1, caches=2)) == [[0, 1], [2, 3], [4, 5]]
    # Three cores for each do not fit into caches of four, but into the package.
    assert divided(range(16), 5, machine(1, 16, 1, caches=4)) == [[3 * bed + at for at in range(3)] for bed in range(5)]


def test_more_beds_than_cores_have_threads() -> None:
    places = machine(1, 2, 2)
    division = divided(range(4), 4, places)
    assert sorted(division) == [[0], [1], [2], [3]]
    assert any("share cores" in line for line in warnings(division, range(4), places))


@given(st.integers(1, 2), st.integers(1, 12), st.integers(1, 2), st.integers(1, 3), st.integers(1, 30), st.data())
def test_beds_are_disjoint_and_alike(
    packages: int, cores: int, threads: int, caches: int, beds: int, data: st.DataObject
) -> None:
    places = machine(packages, cores, threads, caches)
    own = data.draw(st.sets(st.sampled_from(sorted(places)), min_size=1))
    known = {number: place for number, place in places.items() if data.draw(st.booleans()) or number % 3}
    if beds > len(own):
        with pytest.raises(InputError, match="at most"):
            divided(sorted(own), beds, known)
        return
    division = divided(sorted(own), beds, known)
    given_out = [number for bed in division for number in bed]
    assert len(division) == beds
    assert all(division)
    assert len(given_out) == len(set(given_out))
    assert set(given_out) <= own
    warnings(division, sorted(own), known)


def test_what_a_user_is_told() -> None:
    places = machine(1, 2, 1)
    few = warnings([[0], [1]], [0, 1], places)
    assert any("each bed has 1 processor, and a page load uses 2" in line for line in few)
    assert any("no processor is left over" in line for line in few)
    assert warnings([[0, 4], [1, 5]], range(8), machine(1, 4, 2)) == []
    assert warnings([[0, 1]], [0, 1], places) == []
    assert any("different packages" in line for line in warnings([[0, 1, 2], [3, 4, 5]], range(7), machine(4, 2, 1)))


def test_memory_has_to_suffice() -> None:
    one, left = module.MEMORY_OF_A_BED_MIB, module.MEMORY_LEFT_MIB
    require_memory(3, 3 * one + left)
    with pytest.raises(InputError, match="at most 2 beds"):
        require_memory(3, 3 * one + left - 1)
    with pytest.raises(InputError, match="at most 0 beds"):
        require_memory(1, 0)


def test_this_machine_can_be_divided() -> None:
    (all_of_them,) = module.divided_here(1)
    assert set(all_of_them) == os.sched_getaffinity(0)
    assert module.memory_available_here_mib() > 0
    assert other_beds_here() >= 0


def test_the_lowest_of_a_list_of_the_kernel() -> None:
    assert module._lowest("4-7,2,9\n") == 2
