"""`--scale`: a load with fewer users in less time."""

from __future__ import annotations

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.experiment.scale import over_scale
from lanelab.driver.run.loads import check_loads, limits_told
from lanelab.driver.trial.load_settings import Stage

TEXT = """\
workload: {kind: load, users: {from: 1, to: 1000, over: 20min}}
sites: dummy
links: {rtt: 20ms}
arms: {a: {}, b: {mpm: worker}}
"""


def read(text: str = TEXT) -> Experiment:
    return parse_experiment(text, "made.yaml", ["dummy"])


def test_users_come_as_fast_as_before() -> None:
    whole, fifth = read(), over_scale(read(), 0.2)
    loads = {cell.link.load for cell in fifth.cells} | {case.load for case in fifth.links}
    (load,) = loads
    assert load
    assert load.users == (Stage(1, 0), Stage(200, 240))
    assert fifth.timeout.seconds == 300
    assert fifth.pairs.made[0][0] == fifth.cells[0]
    assert {cell.id for cell in whole.cells}.isdisjoint(cell.id for cell in fifth.cells)


def test_the_whole_load_is_what_the_file_says() -> None:
    assert over_scale(read(), 1) == read()


@pytest.mark.parametrize("scale", [0, 1.5, -1, 0.0001])
def test_a_scale_that_is_none_is_refused(scale: float) -> None:
    with pytest.raises(InputError, match=r"Write a number from 0.001 to 1"):
        over_scale(read(), scale)


def test_page_loads_have_no_scale() -> None:
    with pytest.raises(InputError, match="only loads by users"):
        over_scale(read(TEXT.split("\n", 1)[1]), 0.5)


def test_a_load_that_this_machine_has_too_few_files_for_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not limits_told(over_scale(read(), 0.01))
    monkeypatch.setattr("lanelab.driver.run.loads.resource.getrlimit", lambda _what: (1024, 4096))
    told = limits_told(read())
    assert len(told) == 2
    assert "open files, and this machine allows 4096" in told[0]


def test_answers_that_are_made_need_a_server_that_makes_them() -> None:
    slow = TEXT.replace("kind: load, ", "kind: load, script: slow, ")
    with pytest.raises(InputError, match="only jetty and tomcat have answers below /lanelab/"):
        check_loads(read(slow))
    check_loads(read(slow.replace("a: {}", "a: {server: tomcat}").replace("b: {mpm: worker}", "b: {server: jetty}")))
