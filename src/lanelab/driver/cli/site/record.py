"""lanelab site record: a page of the world outside becomes a site."""

import contextlib
import math
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace as with_changes
from types import FrameType

import click

from lanelab.driver.arm.browsers import fields
from lanelab.driver.arm.browsers.devices import DEVICES, Device, device_named
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.programs import needs
from lanelab.driver.base.programs.install import prepare
from lanelab.driver.base.settings.setting import rows_of
from lanelab.driver.cli.link_options import as_typed
from lanelab.driver.cli.output import note
from lanelab.driver.cli.site.import_site import tell
from lanelab.driver.collect.new_site import Facts, add_site, require_free
from lanelab.driver.collect.recording.record import Wish, record
from lanelab.driver.collect.recording.this_machine import ThisMachine
from lanelab.driver.site.archive.addresses import NotServedError, address_of
from lanelab.driver.trial.recorders.screenshot import FILE as PICTURE

LONGEST_WAIT_S = 600.0
BROWSER_SETTINGS = {setting.name: setting for setting in rows_of(fields.BrowserSettings)}
STATUS_OF_SIGNAL = 128


@click.command("record", epilog=f"Devices: {', '.join(each.name for each in DEVICES)}")
@click.argument("url")
@click.option("--name", required=True, metavar="NAME", help="What the site is to be called: a to z, 0 to 9 and '-'")
@click.option("--device", metavar="NAME", default="desktop", show_default=True, help="A well-known device to pass for")
@click.option("--user-agent", metavar="TEXT", help="What the browser says it is; without it as the device does")
@click.option("--viewport", metavar="WxH", help="Size of the page's view; without it the device's")
@click.option("--scroll", is_flag=True, help="Scroll through the page, for what comes when it is seen")
@click.option(
    "--wait",
    "wait_s",
    metavar="SECONDS",
    type=click.FloatRange(0, LONGEST_WAIT_S),
    default=0.0,
    help="Go on recording for so long when the page is quiet",
)
@click.option("--title", metavar="TEXT", help="What the site is, for lists and reports; without it the page's own")
@click.option("--licence", metavar="TEXT", help="What one may do with the content")
@click.option("--keep-secrets", is_flag=True, help="Keep cookies and authorisation, which are left out otherwise")
@click.option("--replace", is_flag=True, help="Replace the site of that name")
def record_site(  # noqa: PLR0913 - each is an option
    url: str,
    *,
    name: str,
    device: str,
    user_agent: str | None,
    viewport: str | None,
    scroll: bool,
    wait_s: float,
    title: str | None,
    licence: str | None,
    keep_secrets: bool,
    replace: bool,
) -> None:
    """Load the page at URL in Chromium and make a site of all that its servers answered, byte by byte.

    Goes out by this machine's own network. The browser has a new profile: no cookie, no cache, nobody is logged in.
    What cannot be kept is named: WebSockets, answers that were cut short, other ports than 80 and 443.
    """
    require_free(name, replace=replace)
    wanted = _address(url)
    if math.isnan(wait_s):  # it is neither below nor above the range
        raise InputError("'nan' is no time", "Write seconds, like 5", key="--wait")
    shown_as = _device(device, user_agent, viewport)
    prepare(needs.programs(*needs.RECORDING))

    node = ThisMachine()
    with _ended_by_signals():
        try:
            recording = record(node, Wish(wanted, shown_as, scroll=scroll, wait_s=wait_s), tell=note)
        finally:
            node.close()
    for words in recording.notes:
        note(words)
    if shown_as.pixel_ratio != 1 or shown_as.touch:
        note(f"recorded as {device}; trials show pages with a pixel ratio of 1 and without touch")
    if not recording.whole_log:
        note("the browser's log of its network has no end: what it had logged by then is recorded")
    facts = Facts(
        title=title or recording.title or name,
        source=f"recorded from {recording.url.partition('?')[0]}",
        entry=recording.url,
        date=recording.date,
        user_agent=recording.user_agent,
        viewport=recording.viewport,
        licence=licence,
        unanswered=recording.unanswered,
        left_out=recording.left_out,
    )
    files = {PICTURE: recording.screenshot}
    tell(add_site(name, recording.exchanges, facts, replace=replace, keep_secrets=keep_secrets, files=files))


def _address(url: str) -> str:
    """One that a site can have, before a browser is started for it."""
    text = url if "://" in url else f"https://{url}"
    try:
        address_of(text)
    except NotServedError as why:
        remedy = "Write it like https://www.example.org/, with a name and without a port"
        raise InputError(f"{url!r} cannot be recorded: {why}", remedy, key="URL") from why
    return text


def _device(name: str, user_agent: str | None, viewport: str | None) -> Device:
    try:
        device = device_named(name)
        if user_agent is not None:
            device = with_changes(device, user_agent=BROWSER_SETTINGS["user_agent"].read(user_agent))
        if viewport is not None:
            size = BROWSER_SETTINGS["viewport"].read(viewport)
            device = with_changes(device, viewport=size or device.viewport)
    except InputError as error:
        raise as_typed(error) from None
    return device


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Whoever ends us gets the browser and its log cleared away first."""

    def end(number: int, _: FrameType | None) -> None:
        sys.exit(STATUS_OF_SIGNAL + number)

    numbers = [each for each in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(each) != signal.SIG_IGN]
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
