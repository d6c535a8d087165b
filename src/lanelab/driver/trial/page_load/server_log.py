"""The server's log of a trial, read once it has every answer that the client has.

Apache's HTTP/2 writes the line of a stream when its connection next has something to do. A stream whose thread ends
after the connection has sent everything waits for that: a connection without requests does nothing until it is closed.
So the browser's connections are closed where a line is missing after a moment.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from lanelab.driver.arm.servers.life import RunningServer, requests_until
from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.evidence.gateway import GatewayLog
from lanelab.driver.record.evidence.server import Line, LoggedRequest, ServedRequest, ServerLog
from lanelab.driver.record.reasons import Reason
from lanelab.driver.trial.page_load.browser_log import must_be_logged
from lanelab.driver.trial.page_load.current_load import UnderWay
from lanelab.driver.trial.page_load.requests import fetched, target
from lanelab.driver.trial.page_load.witnesses import served_target
from lanelab.driver.trial.page_load.witnesses import target as target_of

LOGGED_WITHIN_S = 0.5  # while the connections are open
CLOSED_WITHIN_S = 5.0  # after they were closed: the server hears of that over the trial's link, which may lose packets

ACCESS_LOG = "access.log"
BESIDE = "beside-"  # before a number and the name of a file: of a server of `origins`

Complete = Callable[[Sequence[Line]], bool]


def read_server_log(trial: UnderWay, complete: Complete, close_connections: Callable[[], None]) -> ServerLog | None:
    """None: the server is not there, or has ended by itself."""
    if not trial.served:
        return None
    servers, log = trial.served.servers, None
    with trial.failing(Reason.SERVER_FAILED):
        for each in servers:
            each.require_alive()
        served = _served(servers, complete, close_connections)
        for number, server in enumerate(servers):
            for name, data in server.files().items():
                (trial.folder / f"{f'{BESIDE}{number}-' if number else ''}{name}").write_bytes(data)
        log = ServerLog(
            ", ".join(dict.fromkeys(each.version for each in servers)),
            "\n".join(each.configuration for each in servers),
            tuple(line for each in servers for line in each.error_lines()),
            tuple(each for each in served if isinstance(each, ServedRequest)),
            tuple(each for each in served if isinstance(each, LoggedRequest)),
        )
    return log  # noqa: RET504 - None after a failure


def _served(servers: Sequence[RunningServer], complete: Complete, close_connections: Callable[[], None]) -> list[Line]:
    served = requests_until(servers, complete, LOGGED_WITHIN_S)
    if complete(served):
        return served
    close_connections()
    return served + requests_until(servers, lambda more: complete([*served, *more]), CLOSED_WITHIN_S)


def has_every_answer(requests: Sequence[Request], gateway: GatewayLog | None) -> Complete:
    """Whether lines of the server's log are all that judges will look for."""
    if gateway is None:
        answered = [each for each in fetched(requests) if each.before_load]
        names = Counter(target(each) for each in answered if must_be_logged(each))
        least = len(answered)
    else:
        carried = [each for each in gateway.requests if each.status is not None and each.connection is not None]
        names = Counter("".join(target_of(each.url)) for each in carried)
        least = names.total()

    def complete(lines: Sequence[Line]) -> bool:
        if any(isinstance(each, LoggedRequest) and each.host is None for each in lines):
            paths = Counter(_path(name) for name in names.elements())
            return len(lines) >= least and not paths - Counter(str(each.path) for each in lines)
        return len(lines) >= least and not names - Counter("".join(served_target(each)) for each in lines)

    return complete


def _path(name: str) -> str:
    """Return the path of a host with a path."""
    return f"/{name.partition('/')[2]}"
