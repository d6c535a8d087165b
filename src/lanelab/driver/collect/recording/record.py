"""Recording a page: a browser of its own, led through the page, and its log of the network read afterwards.

The log holds cookies and whatever was typed or sent: it is in a folder of this user alone, and gone when this ends.
"""

import contextlib
import datetime
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lanelab.driver.arm.browsers import binaries
from lanelab.driver.arm.browsers.browser import Surroundings
from lanelab.driver.arm.browsers.chromium import flags
from lanelab.driver.arm.browsers.chromium.chromium import Chromium
from lanelab.driver.arm.browsers.devices import Device
from lanelab.driver.arm.browsers.fields import without_arm
from lanelab.driver.base.errors import BedError, RecordingError
from lanelab.driver.base.paths import build_folder
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.node import Node
from lanelab.driver.collect.recording import exchanges, netlog
from lanelab.driver.collect.recording.page import Page, View
from lanelab.driver.site.exchange import Exchange

NETLOG = "netlog.json"
FINISHES_WITHIN_S = 30.0  # a log of hundreds of megabytes takes its time
MS_PER_S = 1000.0
MACHINE = Surroundings(hosts={}, dns="machine")
PLAIN_NAME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{}.0.0.0 Safari/537.36"
LOCK = "in-use"


@dataclass(frozen=True, slots=True)
class Wish:
    """The wish to record a page: which one, and how."""

    url: str
    device: Device
    scroll: bool = False
    wait_s: float = 0.0
    browser_flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recording:
    """A page as it was, with its secrets still in it."""

    url: str  # as the browser asks for it
    title: str
    date: str  # UTC
    user_agent: str
    viewport: tuple[int, int]
    exchanges: tuple[Exchange, ...]
    unanswered: tuple[str, ...]
    left_out: tuple[str, ...]
    screenshot: bytes  # PNG
    notes: tuple[str, ...] = ()  # for the user
    hosts_of_browser: tuple[str, ...] = ()  # hosts that the browser itself asked for something
    whole_log: bool = True


@dataclass(slots=True)
class _Seen:
    """The things that the browser's page told."""

    loaded_ms: float | None = None
    title: str = ""
    screenshot: bytes = b""
    sockets: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)


def _say_nothing(_: str) -> None:
    """Who does not ask is not told."""


def record(
    node: Node, wish: Wish, around: Surroundings = MACHINE, tell: Callable[[str], None] = _say_nothing
) -> Recording:
    """Load the page in a new browser on that node, and read what came. Raises RecordingError, BedError."""
    with _private_folder() as folder, _socket_folder(folder) as sockets:
        program = binaries.find_chromium(node)
        user_agent = wish.device.user_agent or PLAIN_NAME.format(program.major)
        browser_flags = _log_flags(folder, wish.browser_flags)
        start = without_arm(
            user_agent=user_agent, viewport=wish.device.viewport, browser_flags=browser_flags, scripts="as-is"
        )
        date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        chromium = _start(node, program.path, flags.flags(start, around, str(folder / "profile")), folder, sockets)
        try:
            seen = _visit(chromium, wish, tell)
            tell("reading the browser's log")
            chromium.leave(scaled(FINISHES_WITHIN_S))
        finally:
            chromium.kill()
        log = _read_log(folder)
        exchanges_of_page = exchanges.recorded(log, seen.loaded_ms)
    if exchanges_of_page.entry is None:
        what = f"{exchanges.shown(wish.url)} was loaded, and its answer is not in the browser's log"
        raise RecordingError(what, "Try again")
    left_out = [*exchanges_of_page.left_out, *(f"the WebSocket {exchanges.shown(each)}" for each in seen.sockets)]
    return Recording(
        url=exchanges_of_page.entry,
        title=seen.title,
        date=date,
        user_agent=user_agent,
        viewport=wish.device.viewport,
        exchanges=exchanges_of_page.exchanges,
        unanswered=exchanges_of_page.unanswered,
        left_out=tuple(dict.fromkeys(left_out)),
        screenshot=seen.screenshot,
        notes=tuple(seen.notes),
        hosts_of_browser=exchanges_of_page.hosts_of_browser,
        whole_log=log.whole,
    )


def _log_flags(folder: Path, further: tuple[str, ...]) -> tuple[str, ...]:
    return (*further, f"--log-net-log={folder / NETLOG}", "--net-log-capture-mode=Everything")


def _start(node: Node, program: str, argv: tuple[str, ...], folder: Path, sockets: str) -> Chromium:
    """`sockets`: a folder for these, whose names the kernel wants to be short; the build folder's may be long."""
    home = str(folder / "home")
    environment = {
        "HOME": home,
        "XDG_CONFIG_HOME": home,
        "XDG_CACHE_HOME": home,
        "TMPDIR": sockets,
        "LANGUAGE": "en_US",
    }
    environment |= dict.fromkeys(("GOOGLE_API_KEY", "GOOGLE_DEFAULT_CLIENT_ID", "GOOGLE_DEFAULT_CLIENT_SECRET"), "no")
    (folder / "home").mkdir()
    return Chromium(node, [program, *argv], environment)


def _visit(chromium: Chromium, wish: Wish, tell: Callable[[str], None]) -> _Seen:
    seen, device = _Seen(), wish.device
    page = Page(chromium, View(device.viewport, device.pixel_ratio, device.touch))
    try:
        tell(f"loading {exchanges.shown(wish.url)}")
        page.load(wish.url)
        seen.screenshot = page.screenshot()  # when a trial takes its own
        tell("waiting until the page is quiet")
        page.settle(seen.notes.append)
        if wish.scroll:
            page.scroll()
            page.settle(seen.notes.append)
        if wish.wait_s:
            page.wait(wish.wait_s)
            page.settle(seen.notes.append)
        seen.title, seen.sockets = page.title(), page.sockets
        seen.loaded_ms = None if page.loaded is None else page.loaded * MS_PER_S
    finally:
        page.close()
    return seen


def _read_log(folder: Path) -> netlog.Netlog:
    file = folder / NETLOG
    try:
        with file.open("rb") as opened:
            return netlog.read(netlog.lines_of(opened))
    except OSError as error:
        what = f"Chromium left no log of its network: {error.strerror}"
        raise RecordingError(what, "Free some space in the build folder") from error


@contextlib.contextmanager
def _private_folder() -> Iterator[Path]:
    """Make a folder for this user alone, which goes with everything in it. Those that a killed recording left go
    first."""
    place = build_folder() / "recording"
    try:
        place.mkdir(parents=True, exist_ok=True)
        with _one_at_a_time(place):
            _forget_left(place)
            folder = Path(tempfile.mkdtemp(dir=place))  # 0700
            lock = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError as error:
        what = f"cannot make a folder for the recording in {place}: {error.strerror}"
        raise BedError(what, "Free some space, or set LANELAB_BUILD to a folder that can be written") from error
    try:
        yield folder
    finally:
        _remove(folder)
        os.close(lock)


def _sockets_of(folder: Path) -> Path:
    return Path(tempfile.gettempdir()) / f"lanelab-{folder.name}"


@contextlib.contextmanager
def _socket_folder(folder: Path) -> Iterator[str]:
    """Make a folder for the browser's sockets: a short path, as they need one. The name says whose it is, should it be
    left."""
    place = _sockets_of(folder)
    place.mkdir(mode=0o700)
    try:
        yield str(place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


@contextlib.contextmanager
def _one_at_a_time(place: Path) -> Iterator[None]:
    """Else a folder that is made, and not locked yet, would pass for one that was left."""
    opened = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)


def _forget_left(place: Path) -> None:
    for folder in place.iterdir():
        with contextlib.suppress(OSError):
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(_sockets_of(folder), ignore_errors=True)
                _remove(folder)
            finally:
                os.close(lock)


def _remove(folder: Path) -> None:
    """The log first: the browser's other processes may still write into its profile for a moment."""
    (folder / NETLOG).unlink(missing_ok=True)
    for _ in range(20):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
