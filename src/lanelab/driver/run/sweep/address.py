"""Where a scheduler is, as a user says it: tcp://HOST:PORT, tls://HOST:PORT, or the file of an invitation."""

import ipaddress
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import InputError
from lanelab.driver.run.sweep.keys import Keys, keys_of_files, read_invitation

if TYPE_CHECKING:
    import distributed

LIKE = "Write it like tls://HOST:PORT or tcp://HOST:PORT, or name the file of an invitation"
NAME_FREE_PORT = "Name an address of this machine and a port that is free"
LISTEN = "--listen"


@dataclass(frozen=True, slots=True)
class SchedulerAddress(Coded):
    """A scheduler, and what it takes to be let in."""

    address: str
    keys: Keys | None  # None: Dask's own settings say which, or there are none

    def security(self) -> "distributed.Security":
        import distributed  # noqa: PLC0415 - a run on one bed does not load it

        return self.keys.security() if self.keys else distributed.Security()


def address_of(
    text: str, files: tuple[Path | None, Path | None, Path | None] = (None, None, None), *, insecure: bool = False
) -> SchedulerAddress:
    """Return what the user means. `files`: --tls-ca, --tls-cert and --tls-key. Raises InputError, also where others on
    the network could read what is said and run code of theirs."""
    scheme, divider, rest = text.partition("://")
    if not divider:
        return _of_invitation(text, files)
    if scheme not in ("tcp", "tls"):
        raise InputError(f"'{text}' begins with neither tcp:// nor tls://", LIKE)
    host, port = divided(rest)
    if not host or port is None:
        raise InputError(f"'{text}' lacks a {'port' if host else 'host'}", LIKE)
    given = [each for each in files if each]
    if scheme == "tcp":
        if given:
            raise InputError(
                "keys are of no use for tcp://", "Write tls://, or leave --tls-ca, --tls-cert and --tls-key out"
            )
        if not insecure and not is_loopback(host):
            what = f"tcp:// to {host} is not encrypted: whoever is on that network could run programs on all parties"
            raise InputError(what, "Use a scheduler with TLS (tls://), or add --insecure where you trust the network")
        return SchedulerAddress(text, None)
    ca, certificate, key = files
    if ca and certificate and key:
        return SchedulerAddress(text, keys_of_files(ca, certificate, key))
    if given:
        raise InputError(
            "--tls-ca, --tls-cert and --tls-key belong together", "Give all three, or none to use Dask's own settings"
        )
    _require_settings_of_dask(text)
    return SchedulerAddress(text, None)


def divided(text: str) -> tuple[str, int | None]:
    """Host and port of HOST[:PORT]; a host of IPv6 is written in brackets. InputError for a port that is none."""
    bracketed = text.startswith("[") and "]" in text
    host, rest = text[1:].split("]", 1) if bracketed else (text.partition(":")[0], "".join(text.partition(":")[1:]))
    if not rest:
        return host, None
    number = rest.removeprefix(":")
    if not rest.startswith(":") or not number.isascii() or not number.isdigit() or int(number) >= 1 << 16:
        raise InputError(
            f"'{number}' is no port", "Ports are numbers up to 65535; an IPv6 address is written [LIKE::THIS]:PORT"
        )
    return host, int(number)


def listening(text: str) -> tuple[str, int | None]:
    """Host and port of --listen."""
    try:
        host, port = divided(text)
    except InputError as error:
        raise InputError(error.what, error.remedy, key=LISTEN) from None
    if not host:
        raise InputError(
            f"'{text}' lacks an address", "Name an address of this machine that the others reach", key=LISTEN
        )
    return host, port


def require_own(text: str) -> None:
    """Raises InputError where this machine cannot listen at the address of --listen, before anything is made for it."""
    host, port = listening(text)
    try:
        family, kind, _, _, where = socket.getaddrinfo(host, port or 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the scheduler does
            tried.bind(where)
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(f"this machine cannot listen at {text}: {why}", NAME_FREE_PORT, key=LISTEN) from error


def is_loopback(host: str) -> bool:
    """Return whether only this machine is there. Names are not looked up: what they stand for may change."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _of_invitation(text: str, files: tuple[Path | None, Path | None, Path | None]) -> SchedulerAddress:
    path = Path(text)
    if not path.exists():
        raise InputError(f"'{text}' is neither an address nor a file that is there", LIKE)
    if any(files):
        raise InputError("an invitation brings its keys", "Leave --tls-ca, --tls-cert and --tls-key out")
    invitation = read_invitation(path)
    return SchedulerAddress(invitation.address, invitation.keys)


def _require_settings_of_dask(text: str) -> None:
    import distributed  # noqa: PLC0415

    security = distributed.Security()
    if not (security.tls_ca_file and security.tls_client_cert):
        what = f"{text} wants keys, and there are none"
        raise InputError(
            what, "Give --tls-ca, --tls-cert and --tls-key, or set distributed.comm.tls in Dask's own settings"
        )
