"""Stamps of a worker whose clock is wrong, as the controller's clock would have them. Pure."""

from __future__ import annotations

from dataclasses import replace

from driver.run.copies import SelfTestCopy, TrialCopy
from model.clock import shifted


def trial_at_our_clock(trial: TrialCopy, ahead_s: float) -> TrialCopy:
    if not ahead_s:
        return trial
    return replace(trial, record={**trial.record, "started_utc": shifted(trial.record["started_utc"], -ahead_s)})


def test_at_our_clock(test: SelfTestCopy, ahead_s: float) -> SelfTestCopy:
    return replace(test, at_utc=shifted(test.at_utc, -ahead_s)) if ahead_s else test
