"""Which cells are compared with which: as the file says, or every arm with the first; nothing vanishes silently."""

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.model import Experiment
from tests.kit.experiments import read

ARMS = "arms: {http: {}, https: {tls: 1.3}, h2: {protocol: h2, tls: 1.3}}\n"
GRID = f"sites: [dummy, shop]\nlinks: {{rtt: [20ms, 100ms]}}\n{ARMS}"
LISTED = f"""\
sites: dummy
{ARMS}
cells:
  - {{link: {{rtt: 20ms}}}}
  - {{link: {{rtt: 40ms}}, arm: [https, h2]}}
  - {{link: {{rtt: 60ms}}, arm: h2}}
"""


def pairs(experiment: Experiment) -> list[str]:
    return [f"{arm.link.label}: {arm.arm.name} to {base.arm.name}" for base, arm in experiment.pairs.cells]


def test_every_arm_is_compared_with_the_first() -> None:
    experiment = read(GRID)
    assert len(experiment.pairs.cells) == 8
    assert {base.arm.name for base, _ in experiment.pairs.cells} == {"http"}
    assert all((base.site, base.link) == (arm.site, arm.link) for base, arm in experiment.pairs.cells)
    assert experiment.pairs.left_out == ()


def test_where_the_first_is_not_there_the_next_one_takes_its_place() -> None:
    experiment = read(LISTED)
    assert pairs(experiment) == ["20ms: https to http", "20ms: h2 to http", "40ms: h2 to https"]
    assert experiment.pairs.left_out == ("dummy, 60ms: h2 is the only arm there",)


def test_one_arm_alone_has_nothing_to_be_compared_with() -> None:
    pairs = read("sites: dummy\nlinks: {rtt: [1ms, 2ms]}\narms: {http: {}}\n").pairs
    assert (pairs.cells, pairs.left_out) == ((), ())


@pytest.mark.parametrize(
    "written", ["{h2: https}", "[{of: h2, to: https}]", "{of: h2, to: https}", "[{of: [h2], to: [https]}]"]
)
def test_the_file_names_the_pairs(written: str) -> None:
    experiment = read(f"{LISTED}compare: {written}\n")
    assert pairs(experiment) == ["20ms: h2 to https", "40ms: h2 to https"]
    assert experiment.pairs.left_out == ("dummy, 60ms: h2 is not compared with https, for there is no https",)


def test_several_pairs() -> None:
    experiment = read(f"{GRID}compare: [{{of: [https, h2], to: http}}, {{of: h2, to: https}}]\n")
    assert len(experiment.pairs.cells) == 12
    assert pairs(experiment)[:3] == ["20ms: https to http", "20ms: h2 to http", "20ms: h2 to https"]


def test_arms_that_never_meet_cannot_be_compared() -> None:
    cells = "cells: [{link: {rtt: 1ms}, arm: http}, {link: {rtt: 2ms}, arm: [https, h2]}]\n"
    with pytest.raises(InputError, match="no site and link has both 'h2' and 'http'"):
        read(f"sites: dummy\n{ARMS}{cells}compare: {{h2: http}}\n")


def test_until_a_change_is_known_there_must_be_one() -> None:
    text = "sites: dummy\nlinks: {}\narms: {http: {}}\nuntil: {ci: 2%, of: change}\n"
    with pytest.raises(InputError, match="no two cells differ in their arm only"):
        read(text)
    with pytest.raises(InputError, match="with order: sequential there are none"):
        read(f"{GRID}until: {{ci: 2%, of: change}}\norder: sequential\n")
