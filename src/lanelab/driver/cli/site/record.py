"""lanelab site record: a page of the world outside becomes a site."""

import contextlib
import signal
import sys
from collections.abc import Iterator
from types import FrameType

import click

from lanelab.driver.api.record_site import DEVICES
from lanelab.driver.api.record_site import record_site as add_recorded
from lanelab.driver.cli.output import note
from lanelab.driver.cli.site.import_site import tell

LONGEST_WAIT_S = 600.0
STATUS_OF_SIGNAL = 128


@click.command("record", epilog=f"Devices: {', '.join(each.name for each in DEVICES)}")
@click.argument("url")
@click.option("--name", required=True, metavar="NAME", help="What the site is to be called: a to z, 0 to 9 and '-'")
@click.option("--page", "pages", metavar="NAME=URL", multiple=True, help="A further page of the site, by this name")
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
    pages: tuple[str, ...],
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

    With --page the site has several pages: each is loaded in a browser of its own, and URL is the page `home` unless
    one of them is it.

    Goes out by this machine's own network. The browser has a new profile: no cookie, no cache, nobody is logged in.
    What cannot be kept is named: WebSockets, answers that were cut short, other ports than 80 and 443.
    """
    with _ended_by_signals():
        site = add_recorded(
            url, name, pages=pages, device=device, user_agent=user_agent, viewport=viewport, scroll=scroll,
            wait=wait_s, title=title, licence=licence, keep_secrets=keep_secrets, replace=replace, tell=note,
        )  # fmt: skip
    tell(site)


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
