"""`--scale`: a load with fewer users in less time."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from lanelab.analysis.results.axes import dimension
from lanelab.analysis.results.model import Arm as ShownArm
from lanelab.analysis.results.model import Cell as ShownCell
from lanelab.analysis.results.model import LinkCase as ShownLink
from lanelab.driver.api.run_experiment import run
from lanelab.driver.base.errors import ArgumentError, InputError
from lanelab.driver.cli.experiments import plan
from lanelab.driver.experiment.dimensions import words_of_scale
from lanelab.driver.experiment.figures import is_axis
from lanelab.driver.experiment.model import Experiment, shows
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.experiment.scale import over_scale
from lanelab.driver.run import start
from lanelab.driver.run.loads import check_loads, limits_told
from lanelab.driver.trial.load_settings import Stage
from lanelab.driver.trial.server_load.generators.k6 import scenario

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
    assert fifth.pairs.cells[0][0] == fifth.cells[0]
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


# --- names


SEVERAL = """\
workload: {kind: load, script: object, users: [1, 10, 1000], duration: 10s, warm_up: 2s}
sites: dummy
links: {rtt: [20ms, 100ms]}
arms: {a: {}, b: {mpm: worker}}
"""


def test_links_are_named_after_the_scaled_load() -> None:
    half = over_scale(read(SEVERAL), 0.5)
    named = {case.label: case.load.users[0].target for case in half.links if case.load}
    assert named == {f"{rtt}, {users} users": users for rtt in ("20ms", "100ms") for users in (1, 5, 500)}
    assert {cell.link.label for cell in half.cells} == set(named)
    assert {cell.link.label for pair in half.pairs.cells for cell in pair} == set(named)
    assert {cell.link.to_mapping()["users"] for cell in half.cells} == {"1", "5", "500"}
    whole = read(SEVERAL.replace("[1, 10, 1000]", "[1, 5, 500]"))
    assert [cell.label for cell in half.cells] == [cell.label for cell in whole.cells]


def test_ramps_of_one_experiment_are_named_with_their_new_time() -> None:
    ramps = SEVERAL.replace("[1, 10, 1000], duration: 10s", "[{to: 100, over: 20s}, {to: 1000, over: 200s}]")
    assert [case.label for case in over_scale(read(ramps), 0.2).links][:2] == [
        "20ms, 0 to 20 users in 4 s",
        "20ms, 0 to 200 users in 40 s",
    ]


def test_one_load_is_in_no_name() -> None:
    assert [case.label for case in over_scale(read(), 0.2).links] == ["20ms"]


def test_figures_choose_the_scaled_load() -> None:
    figures = "figures: [{only: {users: 1000}, x: rtt}, {only: {link: '20ms, 10 users'}, x: arm, title: mine}]\n"
    made, named = over_scale(read(SEVERAL + figures), 0.5).figures
    assert (made.only, named.only) == ((("users", ("500",)),), (("link", ("20ms, 5 users",)),))
    assert made.title.endswith("500")
    assert named.title == "mine"
    half = over_scale(read(SEVERAL), 0.5)
    assert sum(shows(figure, cell) for figure in half.figures for cell in half.cells) == len(half.cells)


def test_what_is_compared_with_nothing_is_named_after_the_scaled_load() -> None:
    cells = "cells: [{arm: [a, b], link: 20ms}, {arm: a, link: 100ms}]\n"
    half = over_scale(read(SEVERAL + cells), 0.5)
    assert half.pairs.left_out == tuple(f"dummy, 100ms, {n} users: a is the only arm there" for n in (1, 5, 500))


def test_claims_stay_about_the_whole_load() -> None:
    change = "change: {of: b, to: a, metric: requests_per_s}, expect: lower"
    claim = f"claims: {{c: {{where: {{users: 1000, rtt: 20ms}}, {change}}}}}\n"
    whole = read(SEVERAL + claim)
    assert over_scale(whole, 0.5).claims == whole.claims
    assert whole.claims[0].places[0].words == "dummy, 20ms, 1000 users"


# --- loads that cannot be so small


def test_loads_that_would_be_the_same_are_refused_by_name() -> None:
    with pytest.raises(InputError) as raised:
        over_scale(read(SEVERAL), 0.1)
    assert str(raised.value) == (
        "--scale: with 0.1 the loads '1 users' and '10 users' would be the same: 1 users. "
        "Write a larger one, or leave one of the loads out of the file"
    )


def test_they_are_refused_before_there_is_a_folder(tmp_path: Path) -> None:
    file = tmp_path / "made.yaml"
    file.write_text(SEVERAL)
    with pytest.raises(ArgumentError, match="'1 users' and '10 users'") as raised:
        run(file, scale=0.1, out=tmp_path / "run")
    assert raised.value.key == "scale"
    assert not (tmp_path / "run").exists()


def test_ramps_that_would_have_one_name_are_refused() -> None:
    """Their stages differ, and what they are called does not."""
    one, other = "[{to: 100, over: 1min}, {to: 1000, over: 2min}]", "[{to: 104, over: 2min}, {to: 1000, over: 1min}]"
    text = SEVERAL.replace("[1, 10, 1000], duration: 10s", f"[{{stages: {one}}}, {{stages: {other}}}]")
    assert over_scale(read(text), 0.5).scale == 0.5
    with pytest.raises(InputError, match="'0 to 100 to 1000 users in 180 s' and '0 to 104 to 1000 users in 180 s'"):
        over_scale(read(text), 0.1)


def test_a_ramp_that_would_be_none_is_refused() -> None:
    words = "the load .1 to 4 users in 1200 s. would be no ramp, but 1 users all the time"
    with pytest.raises(InputError, match=words):
        over_scale(read(TEXT.replace("1000", "4")), 0.1)


def test_the_warm_up_stays_the_same_part_of_the_load() -> None:
    (load,) = {cell.link.load for cell in over_scale(read(SEVERAL.replace("[1, 10, 1000]", "10")), 0.2).cells}
    assert load
    assert (load.duration_s, load.warm_up_s) == (2, 0.4)
    assert load.limit_ms == 3000


def test_a_load_of_no_time_is_refused() -> None:
    text = SEVERAL.replace("[1, 10, 1000]", "1000")
    with pytest.raises(InputError) as raised:
        over_scale(read(text), 0.1)
    assert str(raised.value) == (
        "--scale: with 0.1 the load '1000 users' would take 0.8 s after its warm-up, less than 1 s. Write a larger one"
    )


# --- arrivals


RATES = TEXT.replace("users: {from: 1, to: 1000, over: 20min}", "arrivals: [1, 3, 50], duration: 60s")


def test_rates_keep_their_fractions() -> None:
    fifth = over_scale(read(RATES), 0.2)
    assert [case.label for case in fifth.links] == [f"20ms, {rate} arrivals/s" for rate in ("0.2", "0.6", "10")]
    assert [case.load.arrivals[0].target for case in fifth.links if case.load] == [0.2, 0.6, 10]
    assert {cell.link.to_mapping()["arrivals"] for cell in fifth.cells} == {"0.2", "0.6", "10"}


def test_rates_with_fractions_lie_on_an_axis() -> None:
    fifth = over_scale(read(RATES), 0.2)
    assert is_axis("arrivals", fifth.cells)
    arm = ShownArm(1, "a", {})
    shown = [ShownCell(1, "", "dummy", ShownLink(1, "", {"arrivals": rate}), arm) for rate in ("10", "0.2")]
    assert [place.number for place in dimension(shown, "arrivals").places] == [0.2, 10]


def test_k6_is_told_the_rate_that_its_name_says() -> None:
    (load,) = {cell.link.load for cell in over_scale(read(RATES.replace("[1, 3, 50]", "7")), 0.123).cells}
    assert load
    assert (load.arrivals[0].target, scenario(load)["startRate"], scenario(load)["timeUnit"]) == (0.86, 86, "100s")


def test_arrivals_of_which_none_is_due_are_refused() -> None:
    with pytest.raises(InputError, match=r"'1 arrivals/s' would begin no page: 0\.6 are due in 6 s\. Write"):
        over_scale(read(RATES), 0.1)


# --- what is told


def test_a_plan_says_that_its_load_is_scaled(tmp_path: Path) -> None:
    file = tmp_path / "made.yaml"
    file.write_text(SEVERAL)
    said = words_of_scale(0.5)
    assert said.startswith("The load is scaled (--scale 0.5): 0.5 of the users or arrivals that its experiment says")

    def planned(*options: str) -> str:
        arguments = [str(file), *options]
        return CliRunner().invoke(plan, arguments, env={"COLUMNS": "200"}, catch_exceptions=False).stdout

    assert said in planned("--scale", "0.5")
    assert "500 users" in planned("--scale", "0.5")
    assert "1000 users" not in planned("--scale", "0.5")
    assert json.loads(planned("--scale", "0.5", "--json"))["scale"] == 0.5
    assert "scaled" not in planned()
    assert json.loads(planned("--json"))["scale"] == 1


def test_a_run_goes_on_with_the_scale_that_it_began_with(tmp_path: Path) -> None:
    """Whatever its digits: the time of a load, which is a part of each cell's identifier, follows from all of them."""
    experiment = over_scale(read(), 0.12345678)
    begun = start.begin(experiment, "0", tmp_path / "run", 1, {})
    begun.store.close()
    again = start.resume(tmp_path / "run")
    again.store.close()
    assert again.experiment.scale == experiment.scale
