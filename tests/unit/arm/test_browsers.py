"""Which browser a trial gets, and that none is left behind: with stand-ins for Chromium and ChromeDriver."""

import json
from typing import Any

import pytest

from lanelab.driver.arm.browsers import binaries
from lanelab.driver.arm.browsers.binaries import Binary
from lanelab.driver.arm.browsers.browser import Surroundings
from lanelab.driver.arm.browsers.browser_pool import MOST_PAGES
from lanelab.driver.arm.browsers.chromium import browsers as module
from lanelab.driver.arm.browsers.chromium.browsers import ChromiumBrowser
from lanelab.driver.arm.browsers.chromium.page import ChromiumPage
from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.base.errors import NodeError
from lanelab.driver.bed.node import Completed
from lanelab.driver.record.reasons import Reason
from tests.kit.browser_settings import AROUND, Settings

URL = "http://a.example/"
NETLOG = Surroundings(hosts=AROUND.hosts, netlog=True)


class FakeNode:
    def __init__(self) -> None:
        self.written: dict[str, bytes] = {}

    def write(self, path: str, content: bytes) -> None:
        self.written[path] = content

    def run(self, *_: object, **__: object) -> Completed:
        return Completed(0, "", "")

    def read(self, path: str) -> bytes:
        raise NodeError(f"there is no {path}")


class FakeSession:
    current_window_handle = "home"

    def __init__(self) -> None:
        self.limits: list[float] = []
        self.switch_to = self

    def limit(self, load_s: float) -> None:
        self.limits.append(load_s)

    def __getattr__(self, _: str) -> Any:  # whatever else it is told to do
        return lambda *_, **__: []


class FakeChromium:
    """All that were started, in the order of their starts."""

    started: "list[FakeChromium]"  # of each test anew

    def __init__(self, *_: object) -> None:
        self.alive, self.port, self.devtools = True, 1, self
        self.session = FakeSession()
        self.started.append(self)

    def call(self, *_: object, **__: object) -> dict[str, str]:
        return {"browserContextId": "context", "targetId": "target"}

    def ask(self, *_: object, **__: object) -> dict[str, str]:
        return self.call()

    def sandboxed(self) -> bool:
        return True

    def settle(self, _: float) -> float:
        return 0.1

    def ended(self) -> bool:
        return not self.alive

    def leave(self, _: float) -> None:
        self.alive = False

    def kill(self) -> None:
        self.alive = False


class FakeDriver:
    def __init__(self, *_: object) -> None: ...

    def attach(self, _: int) -> FakeSession:
        return FakeChromium.started[-1].session

    def alive(self) -> bool:
        return True

    def close(self) -> None: ...


@pytest.fixture
def browsers(monkeypatch: pytest.MonkeyPatch) -> ChromiumBrowser:
    monkeypatch.setattr(FakeChromium, "started", [], raising=False)
    for name in ("find_chromium", "find_chromedriver"):
        monkeypatch.setattr(binaries, name, lambda _: Binary("/bin/it", "It 1.2.3"))
    monkeypatch.setattr(module, "Chromium", FakeChromium)
    monkeypatch.setattr(module, "Driver", FakeDriver)
    return ChromiumBrowser(FakeNode(), "/run/b")  # type: ignore[arg-type]


@pytest.mark.parametrize("start", ["fresh-process", "fresh-context", "warm"])
def test_a_new_profile_blocks_cookies_of_third_parties(browsers: ChromiumBrowser, start: str) -> None:
    page = browsers.open(Settings(start=start), AROUND, URL)
    written: dict[str, bytes] = browsers._node.written  # type: ignore[attr-defined]
    ((path, content),) = written.items()
    assert path.endswith("/Default/Preferences")
    assert json.loads(content) == {"profile": {"cookie_controls_mode": 1}}
    assert "profile.cookie_controls_mode=1" in page._facts.flags


def facts(page: ChromiumPage) -> tuple[str, int]:
    """What the record says of the browser."""
    return page._facts.start, page._facts.loads_before


def living() -> list[bool]:
    return [chromium.alive for chromium in FakeChromium.started]


@pytest.mark.parametrize("start", ["fresh-process", "fresh-context", "warm"])
def test_no_browser_outlives_a_page_that_could_not_be_made(
    browsers: ChromiumBrowser, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    def begin(_: ChromiumPage) -> None:
        raise BrowserError("it does not answer")

    monkeypatch.setattr(ChromiumPage, "begin", begin)
    with pytest.raises(BrowserError, match="does not answer"):
        browsers.open(Settings(start=start), AROUND, URL)
    assert living()
    assert not any(living())


def test_a_start_is_recorded_as_what_it_was(browsers: ChromiumBrowser) -> None:
    for start in ("fresh-process", "warm"):
        page = browsers.open(Settings(start=start), AROUND, URL)
        assert facts(page) == (start, 0)
        page.close()
        known = browsers.open(Settings(start=start, early_data=True), AROUND, URL)
        assert facts(known) == (start, 1)
        known.close()
    for before in range(3):
        page = browsers.open(Settings(start="fresh-context"), AROUND)
        assert facts(page) == ("fresh-context", before)
        page.close()
    assert facts(browsers.open(Settings(start="fresh-context"), NETLOG)) == ("fresh-process", 0)


def test_a_kept_browser_is_replaced_after_many_pages(browsers: ChromiumBrowser) -> None:
    for _ in range(MOST_PAGES):
        browsers.open(Settings(start="fresh-context"), AROUND).close()
    assert living() == [True]
    assert facts(browsers.open(Settings(start="fresh-context"), AROUND)) == ("fresh-context", 0)
    assert living() == [False, True]


def test_the_load_that_warms_has_the_experiments_time(
    browsers: ChromiumBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    around = Surroundings(hosts=AROUND.hosts, timeout_s=7.0)
    browsers.open(Settings(start="warm"), around, URL)
    assert [chromium.session.limits for chromium in FakeChromium.started] == [[7.0], []]

    def get(_: str) -> None:
        raise BrowserError("timeout", reason=Reason.TIMEOUT)

    monkeypatch.setattr(FakeSession, "get", staticmethod(get), raising=False)
    with pytest.raises(BrowserError):
        browsers.open(Settings(start="warm"), around, URL)
    assert living() == [False, True, False]


def test_an_event_that_lacks_a_key_fails_the_trial_and_not_the_bed(
    browsers: ChromiumBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = browsers.open(Settings(), AROUND)
    said = {"message": {"method": "Network.dataReceived", "params": {"requestId": "1"}}}
    asked = {"request": {"url": "http://a.test/"}, "requestId": "1", "timestamp": 1.0}
    first = {"message": {"method": "Network.requestWillBeSent", "params": asked}}
    log = [{"message": json.dumps(event)} for event in (first, said)]
    monkeypatch.setattr(page._session, "log", lambda _: log, raising=False)
    (failure,) = page.record().failures
    assert failure.reason is Reason.EVIDENCE_MISSING
    assert "dataLength is missing in Network.dataReceived" in failure.detail
