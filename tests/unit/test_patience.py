"""Time limits where everything is slow."""

from __future__ import annotations

import pytest

from driver import patience


@pytest.mark.parametrize(
    ("given", "limit_s"), [("", 10), ("1", 10), ("6", 60), ("2.5", 25), ("0.1", 10), ("1000", 1000), ("long", 10)]
)
def test_limits_grow_and_never_shrink(monkeypatch: pytest.MonkeyPatch, given: str, limit_s: float) -> None:
    monkeypatch.setenv(patience.VARIABLE, given)
    assert patience.patient(10) == limit_s


def test_what_the_user_has_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(patience.VARIABLE, "1")  # so that it is as before afterwards
    monkeypatch.delenv(patience.VARIABLE)
    patience.expect_emulated()
    assert patience.patient(10) == 10 * patience.EMULATED
    monkeypatch.setenv(patience.VARIABLE, "2")
    patience.expect_emulated()
    assert patience.patient(10) == 20
