"""A site of a page of the world outside, recorded in Chromium."""

import math
from collections.abc import Callable
from dataclasses import replace as with_changes

from lanelab.driver.api.arguments import argument
from lanelab.driver.arm.browsers import fields
from lanelab.driver.arm.browsers.devices import DEVICES, Device, device_named
from lanelab.driver.base.errors import ArgumentError, InputError
from lanelab.driver.base.programs import needs
from lanelab.driver.base.programs.install import prepare
from lanelab.driver.base.settings.setting import rows_of
from lanelab.driver.collect.new_site import Facts, NewSite, add_site, require_free
from lanelab.driver.collect.recording.record import Wish, record
from lanelab.driver.collect.recording.this_machine import ThisMachine
from lanelab.driver.site.archive.addresses import NotServedError, address_of
from lanelab.driver.trial.recorders.screenshot import FILE as PICTURE

__all__ = ["DEVICES", "record_site"]
BROWSER_SETTINGS = {setting.name: setting for setting in rows_of(fields.BrowserSettings)}


def record_site(  # noqa: PLR0913 - each is an option
    url: str,
    name: str,
    *,
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
    """Make the site `name` of all that a page's servers answer when Chromium loads it. tell: hears how far it is, and
    what is not recorded as it was. The others are the options of `lanelab site record`."""
    require_free(name, replace=replace)
    wanted = _address(url)
    if math.isnan(wait):  # it is neither below nor above the range
        raise ArgumentError("'nan' is no time", "Write seconds, like 5", key="wait")
    shown_as = _device(device, user_agent, viewport)
    prepare(needs.programs(*needs.RECORDING))

    node = ThisMachine()
    try:
        recording = record(node, Wish(wanted, shown_as, scroll=scroll, wait_s=wait), tell=tell)
    finally:
        node.close()
    for words in recording.notes:
        tell(words)
    if shown_as.pixel_ratio != 1 or shown_as.touch:
        tell(f"recorded as {device}; trials show pages with a pixel ratio of 1 and without touch")
    if not recording.whole_log:
        tell("the browser's log of its network has no end: what it had logged by then is recorded")
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
    return add_site(name, recording.exchanges, facts, replace=replace, keep_secrets=keep_secrets, files=files)


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
