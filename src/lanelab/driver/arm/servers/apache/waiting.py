"""Room for answers that wait. Each holds one of Apache's workers, as a slow program behind it would: so there are that
many more, and other requests find as many as without. Pure."""

from collections import Counter
from collections.abc import Mapping

from lanelab.driver.arm.wire import WireSettings
from lanelab.driver.base.units import Duration

MOST_STREAMS = 100  # that a page has at once on one connection
# mod_http2 begins a connection with so many requests at once, whatever its settings say, and takes more when it sees
# that they end soon.
AT_ONCE_ON_HTTP2 = 6
OF_A_SESSION = 12  # threads that one session of mod_spdy has by itself
USUAL_WORKERS = 64  # of mod_http2 and mod_spdy, for what does not wait


def waiting_at_once(arm: WireSettings, delays: Mapping[str, Duration]) -> int:
    """Return how many answers can wait at the same time in one page load."""
    hosts = Counter(url.partition("/")[0] for url in delays)
    most = MOST_STREAMS if arm.multiplexed else arm.connections_per_host
    return sum(min(number, most) for number in hosts.values())


def streams(arm: WireSettings, waiting: int) -> list[str]:
    """Return the lines for the workers of streams, which are others than those of connections."""
    if not waiting:
        return []
    if arm.spdy:
        most = waiting + USUAL_WORKERS
        return [f"SpdyMaxThreadsPerProcess {most}", f"SpdyMaxThreadsPerSession {waiting + OF_A_SESSION}"]
    most = waiting + USUAL_WORKERS
    return [f"H2MinWorkers {most}", f"H2MaxWorkers {2 * most}"] if arm.protocol == "h2" else []
