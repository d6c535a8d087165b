"""How the users or arrivals of an experiment file are divided among the scenarios of a user's script."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.kit.k6_scripts import evaluated, tried

FUNCTIONS = "export const look = () => 'look', buy = () => 'buy';\nexport default function () {}\n"
BROWSE_AND_BUY = """\
browse: {
  executor: 'constant-vus', vus: 90, duration: '9s', exec: 'look', env: { HOST: 'www' }, tags: { kind: 'reader' },
},
buy: { executor: 'constant-vus', vus: 10, duration: '9s', exec: 'buy', env: { HOST: 'shop' } },
"""
CONSTANT = {"users": [[100, 0], [100, 10]]}


def script_with(scenarios: str) -> str:
    return f"export const options = {{ scenarios: {{ {scenarios} }} }};\n{FUNCTIONS}"


def scenarios_of(scenarios: str, tmp_path: Path, **changes: Any) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = evaluated(
        script_with(scenarios), tmp_path, "main.options.scenarios", **(changes or CONSTANT)
    )
    return found


def test_scenarios_share_the_users_as_they_share_their_own(tmp_path: Path) -> None:
    found = scenarios_of(BROWSE_AND_BUY, tmp_path)
    assert {name: one["startVUs"] for name, one in found.items()} == {"browse": 90, "buy": 10}
    assert found["buy"] == {
        "env": {"HOST": "shop"}, "executor": "ramping-vus", "startVUs": 10, "gracefulStop": "0s",
        "stages": [{"target": 10, "duration": "10000000us"}], "gracefulRampDown": "60000ms",
    }  # fmt: skip
    assert (found["browse"]["env"], found["browse"]["tags"]) == ({"HOST": "www"}, {"kind": "reader"})


def test_each_scenario_calls_its_function(tmp_path: Path) -> None:
    called = "['browse', 'buy', 'browse'].map((name) => { globalThis.scenario = name; return main.default(); })"
    assert evaluated(script_with(BROWSE_AND_BUY), tmp_path, called, **CONSTANT) == ["look", "buy", "look"]


def levels(start: int, stages: list[dict[str, Any]], unit: str) -> list[tuple[float, int]]:
    """When a scenario comes to which number of users: as k6's ramping-vus does."""
    found, at, level = [(0.0, start)], 0.0, start
    for stage in stages:
        over, target = float(stage["duration"].removesuffix(unit).removesuffix("s")), stage["target"]
        sign = 1 if target > level else -1
        for step in range(1, abs(target - level) + 1):
            found.append((at + over * step / abs(target - level), level + sign * step))
        at, level = at + over, target
    return [*found, (at, level)]


def level_at(found: list[tuple[float, int]], when: float) -> int:
    return [level for at, level in found if at <= when][-1]


@pytest.mark.parametrize(
    "users",
    [
        [[1, 0], [100, 20]],
        [[0, 0], [30, 3], [30, 5], [7, 2], [50, 4], [0, 4]],
        [[9, 0], [40, 0], [40, 5], [12, 0], [12, 5]],
        [[100, 0], [0, 7]],
    ],
)
def test_at_any_time_there_are_as_many_users_as_without_scenarios(users: list[list[float]], tmp_path: Path) -> None:
    """And each scenario has its share of them, to less than a user."""
    three = f"{BROWSE_AND_BUY} seldom: {{ executor: 'per-vu-iterations', vus: 6 }}"
    (whole,) = evaluated(FUNCTIONS, tmp_path, "main.options.scenarios", users=users).values()
    expected = levels(whole["startVUs"], whole["stages"], "ms")
    parts = {
        name: levels(one["startVUs"], one["stages"], "us")
        for name, one in scenarios_of(three, tmp_path, users=users).items()
    }
    end = expected[-1][0]
    assert all(part[-1][0] == pytest.approx(1000 * end, abs=1) for part in parts.values())
    for when in [end * (each + 0.37) / 400 for each in range(400)]:
        shares = {name: level_at(part, 1000 * when) for name, part in parts.items()}
        total = level_at(expected, when)
        assert sum(shares.values()) == total, when
        for name, weight in {"browse": 90, "buy": 10, "seldom": 6}.items():
            assert abs(shares[name] - total * weight / 106) < 1, (when, shares)


@pytest.mark.parametrize(
    ("one", "other", "shares"),
    [
        ("'constant-vus', vus: 3", "'constant-vus'", [75, 25]),
        ("'constant-vus', vus: '3'", "'shared-iterations', vus: 1, iterations: 50", [75, 25]),  # as of __ENV
        ("'ramping-vus', startVUs: 2, stages: [{target: 9, duration: '1s'}, {target: 0, duration: '1s'}]",
         "'ramping-vus', stages: [{target: 0, duration: '1s'}]", [90, 10]),
        ("'constant-arrival-rate', rate: 4, preAllocatedVUs: 1",
         "'constant-arrival-rate', rate: 60, timeUnit: '1m', preAllocatedVUs: 9", [80, 20]),
        ("'ramping-arrival-rate', startRate: 1, stages: [{target: 3, duration: '1s'}], timeUnit: '1m30s'",
         "'constant-arrival-rate', rate: 1, timeUnit: 90000, preAllocatedVUs: 1", [75, 25]),
        ("'constant-arrival-rate', rate: 1000, preAllocatedVUs: 15", "'constant-vus', vus: 5", [75, 25]),
    ],
)  # fmt: skip
def test_what_a_scenarios_share_is_counted_in(one: str, other: str, shares: list[int], tmp_path: Path) -> None:
    found = scenarios_of(f"one: {{ executor: {one} }}, other: {{ executor: {other} }}", tmp_path)
    assert [each["startVUs"] for each in found.values()] == shares


def test_arrivals_are_divided_by_their_rates(tmp_path: Path) -> None:
    found = scenarios_of(BROWSE_AND_BUY, tmp_path, users=[], arrivals=[[5, 0], [20, 10], [0.5, 5]])
    rates = {
        name: [rate / 1e6 for rate in (one["startRate"], *(stage["target"] for stage in one["stages"]))]
        for name, one in found.items()
    }
    assert rates == {"browse": [4.5, 18, 0.45], "buy": [0.5, 2, 0.05]}
    assert {(one["executor"], one["timeUnit"]) for one in found.values()} == {("ramping-arrival-rate", "1000000s")}
    assert {name: (one["preAllocatedVUs"], one["maxVUs"]) for name, one in found.items()} == {
        "browse": (216, 216),
        "buy": (24, 24),
    }


def test_a_single_scenario_keeps_what_is_its_own(tmp_path: Path) -> None:
    (found,) = evaluated(FUNCTIONS, tmp_path, "main.options.scenarios", **CONSTANT).values()
    one = "only: { executor: 'shared-iterations', exec: 'buy', startTime: '0s', env: { A: 'b' }, whatever: 1 }"
    assert scenarios_of(one, tmp_path) == {"only": {**found, "env": {"A": "b"}, "whatever": 1}}  # k6 refuses the last


@pytest.mark.parametrize(
    ("scenarios", "changes", "words"),
    [
        ("one: { executor: 'constant-vus', startTime: '30s' }", {}, "'one' has a startTime"),
        ("one: { executor: 'constant-vus', exec: 'sell' }", {}, "no function 'sell'"),
        (f"{BROWSE_AND_BUY} x: {{ executor: 'constant-users' }}", {}, "'x' has an executor that nobody knows"),
        (f"{BROWSE_AND_BUY} x: {{ executor: 'constant-vus', vus: 'many' }}", {}, "'x' does not say how many"),
        (f"{BROWSE_AND_BUY} x: {{ executor: 'constant-vus', vus: 0 }}", {}, "'x' does not say how many"),
        (BROWSE_AND_BUY, {"users": [[2, 0], [5, 10]]}, "with 5 users, the scenario 'buy' has none.* takes 6 users"),
        (f"{BROWSE_AND_BUY} all: {{ executor: 'constant-vus', vus: 9e8 }}", {}, "'browse' has none.* more than"),
        (BROWSE_AND_BUY, {"users": [], "arrivals": [[1, 0], [1, 5]]}, "'buy' has none"),
    ],
)  # fmt: skip
def test_what_would_be_another_load_is_refused(
    scenarios: str, changes: dict[str, Any], words: str, tmp_path: Path
) -> None:
    done = tried(script_with(scenarios), tmp_path, "main.options", changes or CONSTANT)
    assert done.returncode != 0
    assert re.search(words, done.stderr), done.stderr
