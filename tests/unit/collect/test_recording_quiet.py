"""When a page that is recorded counts as quiet."""

from typing import Any, cast

import pytest

from lanelab.driver.arm.browsers.devices import DEVICES, device_named
from lanelab.driver.base.errors import InputError
from lanelab.driver.collect.recording.page_activity import HELD_OPEN_S, QUIET_S, Activity, Event

PAGE, FRAME = "page", "frame"


def asks(activity: Activity, number: str, now_s: float, session: str = PAGE, kind: str = "Script") -> None:
    url = f"http://a.test/{number}"
    event: Event = {"requestId": number, "request": {"url": url}, "type": kind}
    activity.take(session, "Network.requestWillBeSent", event, now_s)


def says(activity: Activity, method: str, now_s: float, session: str = PAGE, **event: Any) -> None:
    activity.take(session, method, cast(Event, event), now_s)


def loaded() -> Activity:
    activity = Activity(PAGE, 0.0)
    says(activity, "Page.loadEventFired", 0.1, timestamp=1.0)  # of the empty page before
    asks(activity, "1", 1.0, kind="Document")
    response = {"status": 200, "mimeType": "text/html"}
    says(activity, "Network.responseReceived", 1.1, requestId="1", type="Document", response=response)
    says(activity, "Network.loadingFinished", 1.2, requestId="1")
    assert activity.loaded is None
    assert not activity.is_quiet(100)
    says(activity, "Page.loadEventFired", 2.0, timestamp=77.5)
    return activity


def test_quiet_is_a_while_after_the_last_word() -> None:
    activity = loaded()
    assert activity.loaded == 77.5
    assert activity.answer == (200, "text/html")
    assert not activity.is_quiet(2.0 + QUIET_S / 2)
    assert activity.is_quiet(2.0 + QUIET_S)
    asks(activity, "2", 2.5)
    assert not activity.is_quiet(2.5 + QUIET_S)
    says(activity, "Network.loadingFailed", 4.0, requestId="2")
    assert not activity.is_quiet(4.0 + QUIET_S / 2)
    assert activity.is_quiet(4.0 + QUIET_S)


def test_a_frame_that_moves_to_another_process_ends_there() -> None:
    activity = loaded()
    asks(activity, "f", 2.1, kind="Document")
    says(activity, "Network.loadingFinished", 2.2, FRAME, requestId="f")
    assert activity.is_quiet(2.2 + QUIET_S)
    assert activity.answer == (200, "text/html"), "a frame's answer is not the page's"


def test_what_a_worker_had_under_way_ends_with_it() -> None:
    activity = loaded()
    asks(activity, "w", 2.1, FRAME)
    says(activity, "Target.detachedFromTarget", 2.2, sessionId=FRAME)
    assert activity.is_quiet(2.1 + QUIET_S)


def test_what_is_held_open_is_not_waited_for() -> None:
    activity = loaded()
    asks(activity, "stream", 2.1, kind="EventSource")
    assert activity.is_quiet(2.1 + QUIET_S)
    asks(activity, "poll", 3.0)
    assert not activity.is_quiet(3.0 + HELD_OPEN_S - 0.1)
    assert activity.is_quiet(3.0 + HELD_OPEN_S)
    assert activity.held_open(3.0 + HELD_OPEN_S) == ["http://a.test/poll"]
    says(activity, "Network.dataReceived", 9.0, requestId="poll")
    assert not activity.is_quiet(9.0 + QUIET_S)


def test_data_addresses_are_no_requests() -> None:
    activity = loaded()
    event: Event = {"requestId": "d", "request": {"url": "data:,x"}, "type": "Image"}
    activity.take(PAGE, "Network.requestWillBeSent", event, 2.1)
    assert activity.is_quiet(2.0 + QUIET_S)


def test_downloads_crashes_and_sockets_show() -> None:
    activity = loaded()
    says(activity, "Browser.downloadWillBegin", 3, url="http://a.test/x.zip")
    says(activity, "Network.webSocketCreated", 3, url="ws://a.test/s")
    says(activity, "Inspector.targetCrashed", 3)
    assert (activity.download, list(activity.sockets), activity.crashed) == (
        "http://a.test/x.zip", ["ws://a.test/s"], True,
    )  # fmt: skip


def test_devices() -> None:
    assert "Lumia 900" in str(device_named("lumia-900").user_agent)
    assert len({each.name for each in DEVICES}) == len(DEVICES)
    assert all(each.user_agent is None or each.user_agent.isascii() for each in DEVICES)
    with pytest.raises(InputError, match="lumia-900"):
        device_named("lumia 900")
