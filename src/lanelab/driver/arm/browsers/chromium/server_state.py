"""What a Chromium forgets between two loads when it is to keep its TLS sessions, and nothing else, of the first."""

from lanelab.driver.arm.browsers.chromium import flags
from lanelab.driver.arm.browsers.chromium.chromedriver import Session

# Chromium's own page for this: only it reaches connections and names.
PAGE = "chrome://net-internals/#sockets"
CLOSE_CONNECTIONS, FORGET_NAMES = "flushSocketPools", "clearHostResolverCache"


def forget_all_but_sessions(session: Session, *, cache: bool) -> None:
    """Connections are closed and names forgotten; the HTTP cache, too, where `cache` says so."""
    session.get(PAGE)
    for word in (CLOSE_CONNECTIONS, FORGET_NAMES):
        session.execute_script(f"chrome.send('{word}')")
    if cache:
        session.cdp("Network.clearBrowserCache")
    session.get(flags.START_PAGE)
