"""A site of a page of the world outside, recorded in Chromium."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace as with_changes

from lanelab.driver.api.arguments import argument
from lanelab.driver.arm.browsers import fields
from lanelab.driver.arm.browsers.devices import DEVICES, Device, device_named
from lanelab.driver.base.errors import ArgumentError, InputError
from lanelab.driver.base.programs import needs
from lanelab.driver.base.programs.install import prepare
from lanelab.driver.base.settings.setting import rows_of
from lanelab.driver.collect.new_site import Facts, NewSite, PageOf, add_site, read_pages, require_free, with_home
from lanelab.driver.collect.recording.record import Recording, Wish, record
from lanelab.driver.collect.recording.this_machine import ThisMachine
from lanelab.driver.site.archive.addresses import NotServedError, address_of, host_and_path
from lanelab.driver.trial.recorders.screenshot import FILE as PICTURE

__all__ = ["DEVICES", "record_site"]
BROWSER_SETTINGS = {setting.name: setting for setting in rows_of(fields.BrowserSettings)}


def record_site(  # noqa: PLR0913 - each is an option
    url: str,
    name: str,
    *,
    pages: Sequence[str] = (),
    device: str = "desktop",
    user_agent: str | None = None,
    viewport: str | None = None,
    scroll: bool = False,
    wait: float = 0.0,
    title: str | None = None,
    licence: str | None = None,
    keep_secrets: bool = False,
    replace: bool = False,
    tell: Callable[[str], None],
) -> NewSite:
    """Make the site `name` of all that a page's servers answer when Chromium loads it. pages: NAME=URL of further ones,
    each loaded in a browser of its own, so that what it needs alone is known. tell: hears how far it is, and
    what is not recorded as it was. The others are the options of `lanelab site record`."""
    require_free(name, replace=replace)
    wanted = _address(url)
    named = with_home(wanted, {page: _address(text) for page, text in read_pages(pages).items()})
    if math.isnan(wait):  # it is neither below nor above the range
        raise ArgumentError("'nan' is no time", "Write seconds, like 5", key="wait")
    shown_as = _device(device, user_agent, viewport)
    prepare(needs.programs(*needs.RECORDING))

    recordings: dict[str, Recording] = {}
    node = ThisMachine()
    try:
        for address in dict.fromkeys((wanted, *named.values())):
            recordings[address] = record(node, Wish(address, shown_as, scroll=scroll, wait_s=wait), tell=tell)
    finally:
        node.close()
    recording = recordings[wanted]
    _tell_doubts(recordings.values(), device, shown_as, tell)
    facts = Facts(
        title=title or recording.title or name,
        source=f"recorded from {recording.url.partition('?')[0]}",
        entry=recording.url,
        date=recording.date,
        user_agent=recording.user_agent,
        viewport=recording.viewport,
        licence=licence,
        pages=tuple(_page(page, recordings[address]) for page, address in named.items()),
        unanswered=_all(each.unanswered for each in recordings.values()),
        left_out=_all(each.left_out for each in recordings.values()),
    )
    files = {PICTURE: recording.screenshot}
    exchanges = [exchange for each in recordings.values() for exchange in each.exchanges]
    return add_site(name, exchanges, facts, replace=replace, keep_secrets=keep_secrets, files=files)


def _tell_doubts(recordings: Iterable[Recording], device: str, shown_as: Device, tell: Callable[[str], None]) -> None:
    for each in recordings:
        for words in each.notes:
            tell(words)
        if not each.whole_log:
            tell("the browser's log of its network has no end: what it had logged by then is recorded")
    if shown_as.pixel_ratio != 1 or shown_as.touch:
        tell(f"recorded as {device}; trials show pages with a pixel ratio of 1 and without touch")


def _page(name: str, recording: Recording) -> PageOf:
    """Return the page with what its load asked for by its load event."""
    in_time = (each.url for each in recording.exchanges if not each.late)
    targets = frozenset(filter(None, map(host_and_path, in_time)))
    return PageOf(name, recording.url, targets, is_whole=True)


def _all(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for listed in lists for each in listed))


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
    with argument("device"):
        device = device_named(name)
    if user_agent is not None:
        with argument("user_agent"):
            device = with_changes(device, user_agent=BROWSER_SETTINGS["user_agent"].read(user_agent))
    if viewport is not None:
        with argument("viewport"):
            size = BROWSER_SETTINGS["viewport"].read(viewport)
            device = with_changes(device, viewport=size or device.viewport)
    return device
