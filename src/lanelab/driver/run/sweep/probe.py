"""What is at an address: a Dask scheduler that we can work with, or why not, in words that a user can act on."""

import asyncio
import contextlib
import socket
import ssl
import threading
from dataclasses import dataclass

from lanelab.driver.base.errors import ClusterAway, ClusterError, LanelabError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.run.sweep.address import SchedulerAddress, divided
from lanelab.driver.run.sweep.dask_settings import CONNECT_S

HANDSHAKE_S = 5.0


@dataclass(frozen=True, slots=True)
class Scheduler:
    """The facts that a scheduler says of itself."""

    dashboard_port: int | None  # of its pages


def require_scheduler(where: SchedulerAddress) -> Scheduler:
    """Return the scheduler that is there. Raises ClusterAway where nothing answers, ClusterError where what answers is
    not a scheduler for us."""
    answers: list[Scheduler | BaseException] = []

    def ask() -> None:  # in a thread of its own: the caller may be within another event loop
        try:
            answers.append(asyncio.run(_ask(where)))
        except BaseException as error:  # noqa: BLE001 - raised again below
            answers.append(error)

    thread = threading.Thread(target=ask, name="probe")
    thread.start()
    thread.join()
    (answer,) = answers
    if isinstance(answer, BaseException):
        raise answer
    return answer


async def _ask(where: SchedulerAddress) -> Scheduler:
    await asyncio.to_thread(_require_handshake, where)
    from distributed.comm import connect  # noqa: PLC0415 - a run on one bed does not load it
    from distributed.core import send_recv  # noqa: PLC0415

    what = f"what answers at {where.address} is not a Dask scheduler"
    remedy = "Check the address: `dask scheduler` prints the one that it listens on"
    try:
        comm = await connect(where.address, timeout=scaled(CONNECT_S), **where.security().get_connection_args("client"))
        try:
            identity = await asyncio.wait_for(send_recv(comm, op="identity"), scaled(CONNECT_S))
            versions = await asyncio.wait_for(send_recv(comm, op="versions"), scaled(CONNECT_S))
        finally:
            comm.abort()
    except LanelabError:
        raise
    except Exception as error:
        raise ClusterError(f"{what} ({_in_short(error)})", remedy) from error
    if not isinstance(identity, dict) or identity.get("type") != "Scheduler":
        kind = identity.get("type", "something else") if isinstance(identity, dict) else "something else"
        raise ClusterError(f"{what}, but a {kind}", remedy)
    _require_same_version(where, versions)
    return Scheduler(identity.get("services", {}).get("dashboard"))


def _require_same_version(where: SchedulerAddress, versions: object) -> None:
    import distributed  # noqa: PLC0415

    packages = versions.get("packages", {}) if isinstance(versions, dict) else {}
    theirs = packages.get("distributed", "an unknown version")
    if theirs != distributed.__version__:
        what = f"the scheduler at {where.address} is Dask {theirs}, and lanelab's is {distributed.__version__}"
        raise ClusterError(what, f"Start it with that version: pip install distributed=={distributed.__version__}")


def _require_handshake(where: SchedulerAddress) -> None:
    """A scheduler of Dask speaks first, once the keys are right."""
    scheme, _, rest = where.address.partition("://")
    host, port = divided(rest)
    try:
        connection = socket.create_connection((host, port or 0), timeout=scaled(CONNECT_S))
    except OSError as error:
        remedy = "Is the scheduler running, and is its port open for this machine?"
        raise ClusterAway(f"nothing answers at {where.address}: {_in_short(error)}", remedy) from error
    with contextlib.closing(connection):
        connection.settimeout(scaled(HANDSHAKE_S))
        if scheme == "tls":
            _require_tls(where, connection)
        else:
            _require_plain(where, connection)


def _require_tls(where: SchedulerAddress, connection: socket.socket) -> None:
    arguments = where.security().get_connection_args("client")
    context: ssl.SSLContext | None = arguments.get("ssl_context")
    if context is None:
        raise ClusterError(
            f"there are no keys for {where.address}", "Give an invitation, or --tls-ca, --tls-cert and --tls-key"
        )
    try:
        with context.wrap_socket(connection) as encrypted:
            if encrypted.recv(1):
                return
        why = "it closed the connection"
    except ssl.SSLCertVerificationError as error:
        what = f"the scheduler at {where.address} has keys of another run ({error.verify_message})"
        raise ClusterError(
            what, "Use the invitation that the run under way has written, and compare both clocks"
        ) from error
    except ssl.SSLError as error:
        if "ALERT" in str(error).upper():
            what = f"the scheduler at {where.address} does not accept our keys ({_in_short(error)})"
            raise ClusterError(
                what, "Use the invitation that the run under way has written, and compare both clocks"
            ) from error
        why = _in_short(error)
    except OSError as error:
        why = _in_short(error)
    raise ClusterError(
        f"what answers at {where.address} does not speak TLS as a Dask scheduler does ({why})",
        "Check address and port; write tcp:// for a scheduler without TLS",
    )


def _require_plain(where: SchedulerAddress, connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        if connection.recv(1):
            return
    remedy = "Check address and port; write tls:// for a scheduler with TLS"
    raise ClusterError(f"what answers at {where.address} does not speak as a Dask scheduler without TLS does", remedy)


def _in_short(error: BaseException) -> str:
    if isinstance(error, TimeoutError | asyncio.TimeoutError):
        return "no answer in time"
    text = (
        error.strerror
        if isinstance(error, OSError) and error.strerror and not isinstance(error, ssl.SSLError)
        else str(error)
    )
    return " ".join((text or type(error).__name__).split())[:160]
