"""Two Apaches on this machine's loopback with the same objects: one answers through mod_replay as in a trial, the other
from plain files. The configuration with files lives here alone: it is what mod_replay is compared with."""

import contextlib
import hashlib
import os
import pwd
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.servers.apache import pack
from lanelab.driver.arm.servers.apache.configuration import Modules, configuration
from lanelab.driver.arm.servers.apache.installation import MODULE_FOLDERS
from lanelab.driver.arm.servers.server import PORTS, Place
from lanelab.driver.base.errors import BedError, MissingProgram
from lanelab.driver.base.programs.building.apache_module import module
from lanelab.driver.base.programs.find_program import find
from lanelab.driver.bed.open_files import with_open_files
from lanelab.driver.site.site import Site, SiteObject

OBJECT_BYTES = 10_000
STARTS_WITHIN_S = 20
REPLAY, STATIC = "mod_replay", "files"
PACK_LINE = "ReplayPack"


@dataclass(frozen=True, slots=True)
class Server:
    name: str
    port: int
    session: int = 0  # of its processes, once it runs

    def processor_s(self) -> float:
        """Return the processor time that its processes have taken until now."""
        ticks = 0
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit():
                    # What follows the name, which may have spaces: the third field and those after it.
                    fields = (entry / "stat").read_text().rpartition(")")[2].split()
                    ticks += int(fields[11]) + int(fields[12]) if int(fields[3]) == self.session else 0
        return ticks / os.sysconf("SC_CLK_TCK")


def made_site(folder: Path, objects: int, hosts: int, size_bytes: int = OBJECT_BYTES) -> Site:
    """Make a site whose objects have one size and different bodies. Its hosts take turns to have one."""
    content = folder / "content"
    content.mkdir(parents=True)
    listed = []
    for number in range(objects):
        body = hashlib.shake_128(str(number).encode()).digest(size_bytes)
        digest = hashlib.sha256(body).hexdigest()
        (content / digest).write_bytes(body)
        host, path = f"h{number % hosts}.test", f"/{number // hosts}.bin"
        listed.append(SiteObject(host, path, len(body), "application/octet-stream", digest))
    return Site("bench", "objects of one size", listed[0].host, listed[0].path, tuple(listed), content)


@contextlib.contextmanager
def both(folder: Path, site: Site, protocol: str) -> Iterator[tuple[Server, Server]]:
    """Start the server with mod_replay and the one with files, and wait until both answer."""
    with contextlib.ExitStack() as stack:
        started = [stack.enter_context(_running(folder / name, site, protocol, name)) for name in (REPLAY, STATIC)]
        yield started[0], started[1]


@contextlib.contextmanager
def _running(folder: Path, site: Site, protocol: str, name: str) -> Iterator[Server]:
    folder.mkdir()
    folder.chmod(0o755)
    program = find("apache2") or find("httpd")
    if program is None:
        raise MissingProgram("Apache cannot be found", "Run: ./lanelab doctor")
    server = Server(name, free_port())
    (folder / "httpd.conf").write_text(_configured(folder, site, protocol, server))
    argv = with_open_files([str(program), "-d", str(folder), "-f", str(folder / "httpd.conf"), "-DFOREGROUND"])
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
    try:
        _await(server, site.objects[0], process, folder)
        yield replace(server, session=process.pid)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(STARTS_WITHIN_S)


def _configured(folder: Path, site: Site, protocol: str, server: Server) -> str:
    """Return the configuration of a trial's server at another port. The one for files has no mod_replay."""
    modules = next(Path(name) for name in MODULE_FOLDERS.split() if Path(name).is_dir())
    there = frozenset(each.stem.removeprefix("mod_") for each in modules.glob("mod_*.so"))
    arm = Arm.parse(server.name, _settings(protocol))
    modules_there = Modules(str(modules), there, str(module(REPLAY)), str(module("mod_spdy")) if arm.spdy else "")
    text = configuration(arm, site, Place(str(folder), str(folder)), modules_there)
    text = text.replace(f"0.0.0.0:{PORTS['http']} ", f"127.0.0.1:{server.port} ")
    if server.name == REPLAY:
        (folder / pack.FILE).write_bytes(pack.pack(site.objects, lambda each: site.file(each).read_bytes()))
        return text.replace(f"*:{PORTS['http']}>", f"*:{server.port}>") + user_lines()
    for each in site.objects:
        file = folder / "hosts" / f"{each.host}{each.path}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(site.file(each).read_bytes())
    head = text[: text.index("<VirtualHost")].replace("LoadModule replay_module", "#").replace(PACK_LINE, "#")
    return head + _files(folder, site, server, modules) + user_lines()


def _settings(protocol: str) -> dict[str, object]:
    """Return settings of the arm. SPDY needs the gateway, since no browser speaks it, and has no limit of requests."""
    return {"protocol": protocol, **({"via": "gateway"} if protocol.startswith("spdy") else {"keepalive_requests": 0})}


def _files(folder: Path, site: Site, server: Server, modules: Path) -> str:
    lines = [
        *(f'LoadModule {name}_module "{modules}/mod_{name}.so"' for name in ("mime", "dir")),
        "TypesConfig /dev/null", "DirectorySlash Off", '<Directory "/">', "AllowOverride None",
        "Options FollowSymLinks", "Require all granted", "</Directory>",
    ]  # fmt: skip
    for host in site.hosts:
        lines += [f"<VirtualHost *:{server.port}>", f"ServerName {host}", f'DocumentRoot "{folder}/hosts/{host}"']
        lines += ["AddType application/octet-stream .bin", "</VirtualHost>"]
    return "\n".join([*lines, ""])


def user_lines() -> str:
    """Return lines that name another user: Apache does not serve as root."""
    if os.geteuid() != 0:
        return ""
    names = {entry.pw_name for entry in pwd.getpwall()}
    user = "www-data" if "www-data" in names else "nobody"
    return f"User {user}\nGroup #{pwd.getpwnam(user).pw_gid}\n"


def free_port() -> int:
    """Not one that the kernel gives to connections: any of them could take it before the server does. Chosen by no
    generator that others have seeded alike."""
    while True:
        port = 10_000 + secrets.randbelow(20_000)
        with socket.socket() as sock, contextlib.suppress(OSError):
            sock.bind(("127.0.0.1", port))
            return port


def _await(server: Server, each: SiteObject, process: subprocess.Popen[bytes], folder: Path) -> None:
    """Wait until the server answers with the object."""
    request = f"GET {each.path} HTTP/1.1\r\nHost: {each.host}\r\nConnection: close\r\n\r\n".encode()
    until = time.monotonic() + STARTS_WITHIN_S
    while process.poll() is None and time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", server.port), 1) as line:
            line.sendall(request)
            if line.recv(12).endswith(b" 200"):
                return
        time.sleep(0.02)
    output = (folder / "output").read_text(errors="replace").strip()
    with contextlib.suppress(OSError):
        output += (folder / "error.log").read_text(errors="replace")[-500:]
    raise BedError(f"the Apache with {server.name} did not answer: {output}", "See what it says")
