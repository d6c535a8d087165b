"""Time limits where everything is slow."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from driver import timeouts as patience
from driver.channel import client
from driver.channel.client import Bed
from driver.cli.main import lanelab
from model.errors import InputError


@pytest.mark.parametrize(("given", "limit_s"), [("", 10), ("1", 10), ("6", 60), ("2.5", 25), ("100", 1000)])
def test_limits_grow_by_the_factor(monkeypatch: pytest.MonkeyPatch, given: str, limit_s: float) -> None:
    monkeypatch.setenv(patience.VARIABLE, given)
    assert patience.patient(10) == limit_s


@pytest.mark.parametrize("given", ["0", "0.1", "-6", "101", "nan", "inf", "long"])
def test_what_is_no_such_factor_is_refused_before_anything_begins(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv(patience.VARIABLE, given)
    with pytest.raises(InputError, match=rf"^LANELAB_PATIENCE: '{given}' .*from 1 to 100$"):
        CliRunner().invoke(lanelab, ["doctor"], catch_exceptions=False, standalone_mode=False)


def test_what_the_user_has_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(patience.VARIABLE, "1")  # so that it is as before afterwards
    monkeypatch.delenv(patience.VARIABLE)
    patience.expect_emulated()
    assert patience.patient(10) == 10 * patience.EMULATED
    monkeypatch.setenv(patience.VARIABLE, "2")
    patience.expect_emulated()
    assert patience.patient(10) == 20


TRIAL = {"timeout_s": 20}
ASKING: dict[str, list[Any]] = {"prepare_trial": [TRIAL], "check_arm": [TRIAL], "go_trial": [20.0], "end_trial": []}


@pytest.mark.parametrize("op", ASKING)
def test_who_asks_a_bed_waits_as_much_longer_as_the_bed_itself(monkeypatch: pytest.MonkeyPatch, op: str) -> None:
    """Else a slow browser counts as a lost bed, and three of those end a run."""

    class Asked:
        def _ask(self, _op: str, *, within_s: float, **_arguments: Any) -> dict[str, Any]:
            limits.append(within_s)
            return {"record": {}}

    limits: list[float] = []
    for given in ("1", "6"):
        monkeypatch.setenv(patience.VARIABLE, given)
        getattr(Bed, op)(Asked(), *ASKING[op])
    load_s = {"prepare_trial": 40.0, "go_trial": 20.0}.get(op, 0.0)  # the experiment's own, which nothing multiplies
    assert limits[1] - load_s == 6 * (limits[0] - load_s)
    assert limits[0] - load_s >= client.ANSWER_WITHIN_S
