"""An arm and a site as webfs's command line and its table of types. Pure. docs/reference/server.md says the same for
users."""

import shlex
from collections.abc import Mapping

from lanelab.driver.arm.servers.layout import HOSTS, INDEX
from lanelab.driver.arm.servers.server import Place, listens
from lanelab.driver.arm.servers.webfs.fields import WebfsSettings
from lanelab.driver.arm.wire import WireSettings, own_settings

FILE = "mime.types"
# It says what is wrong on standard error, which belongs to its error log.
INTO_ERROR_LOG = 'exec "$@" 2>>error.log'


def command(program: str, arm: WireSettings, place: Place, *, log_requests: bool = True) -> list[str]:
    """Return the command that runs it in the foreground, in its folder."""
    ((address, port, _),) = listens(arm)
    options = ["-F", "-4", "-i", address, "-p", str(port)]
    options += ["-v", "-r", f"{place.content}/{HOSTS}", "-f", INDEX, "-j"]  # a folder for each host, and no listings
    options += ["-c", str(own_settings(arm, WebfsSettings).max_connections), "-m", f"{place.folder}/{FILE}"]
    options += ["-L", f"{place.folder}/access.log"] if log_requests else []
    return [program, *options]


def configuration(argv: list[str], types: Mapping[str, str]) -> str:
    """The text of its table of types, with the options as a remark: there is no other file to read them in."""
    lines = [
        "# Made by lanelab for one arm and one site; docs/reference/server.md explains it.",
        f"# {shlex.join(argv)}",
        *(f"{mime}\t{extension}" for extension, mime in types.items()),
    ]
    return "".join(line + "\n" for line in lines)
