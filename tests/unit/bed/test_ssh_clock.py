"""The clock of a machine, which a bed may set where the machine is lanelab's own."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.bed.remote import keeper
from lanelab.driver.bed.ssh.connection import SshConnection
from lanelab.driver.bed.ssh.hosts import SshHost


@pytest.mark.parametrize(
    ("ahead_s", "steps"), [(0.0, []), (-0.2, []), (3600.0, [3600.0]), (-3600.0, [-3600.0]), (0.5, [0.5])]
)
def test_a_clock_that_is_off_is_set_and_one_that_is_right_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ahead_s: float, steps: list[float]
) -> None:
    connection = SshConnection("client", SshHost("client1", "192.0.2.1"), tmp_path / "log", os.getpid())
    asked: list[float] = []

    def ask(op: str, **words: Any) -> object:
        if op == "set-clock":
            asked.append(words["ahead_s"])
        return time.time() + ahead_s

    monkeypatch.setattr(connection, "ask", ask)
    connection.set_clock()
    connection.close()
    assert [round(step, 1) for step in asked] == steps


def test_the_clock_of_a_machine_that_a_bed_uses_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step would be in the time stamps of that bed's captures."""
    told: list[float] = []
    monkeypatch.setattr(time, "clock_settime", lambda _clock, now: told.append(now))
    monkeypatch.setattr(keeper, "in_use", lambda: ["eth1"])
    keeper.set_clock(3600.0)
    assert told == []
    monkeypatch.setattr(keeper, "in_use", list)
    before = time.time()
    keeper.set_clock(3600.0)
    assert 0 <= told[0] - (before - 3600.0) < 60
