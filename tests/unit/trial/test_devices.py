"""Devices: what an arm gets by the name of one, and trials in which the page did not have it."""

from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.browsers.devices import DEVICES, Device
from lanelab.driver.base.errors import InputError
from lanelab.driver.record.evidence.browser import BrowserEvidence, Slowdown
from lanelab.driver.record.reasons import Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.page_load.expectation import Expected
from lanelab.driver.trial.page_load.judges.device import device_failures, device_missing
from lanelab.driver.trial.page_load.judges.registry import judge
from lanelab.driver.trial.recorders.tcpdump import CaptureOptions
from lanelab.driver.trial.tolerances import Tolerances
from tests.kit.records import LINK, SITE, browser, record

PHONE = Arm.parse("phone", {"device": "moto-g-power"})
PHONE_VIEW = {"width": 412, "pixel_ratio": 1.75, "touch_points": 5}
FOUR_TIMES = {
    "slowed_ms": [130.0, 121.5, 160.2], "plain_ms": [30.0, 30.4, 58.0],
    "slowed_cpu_ms": [132.0, 70.1, 133.9], "plain_cpu_ms": [29.8, 30.1, 30.0],
}  # fmt: skip
NOT_SLOWED = FOUR_TIMES | {"slowed_cpu_ms": [30.0, 31.0, 140.0]}


def evidence(**changed: Any) -> BrowserEvidence:
    return BrowserEvidence.from_json(browser() | {"view": PHONE_VIEW, "slowdown": FOUR_TIMES} | changed)


def told(arm: Arm, found: BrowserEvidence) -> str:
    return "; ".join(each.detail for each in device_failures(arm, found))


@pytest.mark.parametrize("device", DEVICES, ids=lambda each: each.name)
def test_an_arm_has_what_its_device_has(device: Device) -> None:
    arm = Arm.parse("an arm", {"device": device.name})
    assert (arm.viewport, arm.user_agent) == (device.viewport, device.user_agent)
    assert (arm.pixel_ratio, arm.touch, arm.cpu_slowdown) == (device.pixel_ratio, device.touch, device.cpu_slowdown)
    assert bool(device.why) == (device.cpu_slowdown != 1), "a slowdown has a source"


def test_what_the_arm_says_takes_the_place_of_the_devices() -> None:
    arm = Arm.parse("an arm", {"device": "pixel", "cpu_slowdown": 1, "viewport": "800x600"})
    assert (arm.cpu_slowdown, arm.viewport, arm.pixel_ratio, arm.touch) == (1, (800, 600), 2.625, True)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"device": "pixle"}, "Did you mean pixel?"),
        ({"cpu_slowdown": 0.5}, "'0.5' is no slowdown. Write a number from 1 to 20"),
        ({"cpu_slowdown": "fast"}, "'fast' is no slowdown"),
        ({"cpu_slowdown": True}, "is no slowdown"),
        ({"cpu_slowdown": "nan"}, "is no slowdown"),
        ({"pixel_ratio": 0}, "is no pixel ratio. Write a number from 0.5 to 5"),
        ({"touch": "sometimes"}, "touch"),
    ],
)
def test_what_cannot_be_is_refused(settings: dict[str, object], says: str) -> None:
    with pytest.raises(InputError) as refused:
        Arm.parse("an arm", settings)
    assert says in str(refused.value)


def test_a_sound_trial_has_its_device() -> None:
    assert told(PHONE, evidence()) == ""
    assert list(device_missing(PHONE, evidence())) == []


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"view": PHONE_VIEW | {"width": 980}}, "980 pixels wide instead of 412"),
        ({"view": PHONE_VIEW | {"pixel_ratio": 1.0}}, "pixel ratio was 1 instead of 1.75"),
        ({"view": PHONE_VIEW | {"touch_points": 0}}, "told of 0 touch points"),
        ({"slowdown": NOT_SLOWED}, "slowed down 1.03 times instead of 4 times"),
    ],
)
def test_a_device_that_was_not_there_is_found(changed: dict[str, Any], says: str) -> None:
    assert says in told(PHONE, evidence(**changed))


def test_how_long_work_takes_on_a_busy_machine_decides_nothing() -> None:
    """Measured at a load of 30 on two processors: without a slowdown work took 2.04 times as long, with one of 4 it
    took 1.11 times as long. The thread's processor time was 1.01 and 3.65 times as much."""
    longer = {"slowed_ms": [204.0], "plain_ms": [100.0], "slowed_cpu_ms": [30.3], "plain_cpu_ms": [30.0]}
    slowed = {"slowed_ms": [111.0], "plain_ms": [100.0], "slowed_cpu_ms": [109.5], "plain_cpu_ms": [30.0]}
    twice = Arm.parse("phone", {"device": "moto-g-power", "cpu_slowdown": 2})
    assert "slowed down 1.01 times instead of 2 times" in told(twice, evidence(slowdown=longer))
    assert told(PHONE, evidence(slowdown=slowed)) == ""


@pytest.mark.parametrize(
    ("changed", "lacks"),
    [
        ({"view": None}, "evidence.browser.view"),
        ({"slowdown": None}, "evidence.browser.slowdown"),
        ({"slowdown": FOUR_TIMES | {"slowed_ms": []}}, "evidence.browser.slowdown"),
        ({"slowdown": FOUR_TIMES | {"plain_cpu_ms": []}}, "evidence.browser.slowdown"),
    ],
)
def test_absent_evidence_is_named(changed: dict[str, Any], lacks: str) -> None:
    assert list(device_missing(PHONE, evidence(**changed))) == [lacks]


def test_the_verdict_asks_for_both() -> None:
    arm = Arm.parse("slowed", {"cpu_slowdown": 4, "protocol": "http/1.1"})
    expected = Expected(arm, SITE, LINK, Tolerances(), {"capture": CaptureOptions()})
    data = record(arm)
    data["evidence"]["browser"]["slowdown"] = None
    assert Reason.EVIDENCE_MISSING in {each.reason for each in judge(TrialRecord.from_json(data), expected)}
    data["evidence"]["browser"]["slowdown"] = NOT_SLOWED
    assert Reason.DEVICE_IGNORED in {each.reason for each in judge(TrialRecord.from_json(data), expected)}


def test_the_factor_is_of_the_fastest_runs_and_that_of_processor_time_of_the_usual() -> None:
    found = Slowdown((130.0, 120.0, 500.0), (30.0, 90.0), (60.0, 128.0, 130.0), (31.0, 32.0, 33.0))
    assert (found.factor, found.cpu_factor) == (4, 4)
