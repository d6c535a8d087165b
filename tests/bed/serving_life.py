"""Checks of how a web server of a bed starts, complains, crashes and ends."""

import os
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.servers.life import RunningServer, check_configuration
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.base.errors import InputError, ServerError
from lanelab.driver.bed.node import Command, Stdio
from tests.bed.serving import assigned, await_end, fetch, name_of, pids, plain, served
from tests.kit.inside import InsideBed
from tests.kit.wait import wait_until


def awaited_error_lines(server: RunningServer) -> list[str]:
    """A parent looks at its children once a second."""
    lines: list[str] = []

    def some_came() -> bool:
        lines.extend(server.error_lines())
        return bool(lines)

    wait_until(some_came)
    return lines


def bad_lines_in_its_error_log_are_seen(bed: InsideBed) -> None:
    directives = ["Redirect 500 /broken"]
    with served(bed, server_directives=directives, max_workers=25, start_servers=1) as server:
        assert server.error_lines() == []
        error_log = bed.memory / "server" / "apache" / "error.log"
        with error_log.open("a") as file:
            file.write("[Fri Nov 20 15:14:46.340115 2026] [core:error] [pid 1:tid 1] AH00999: something\n[half a line")
        assert [line.partition("AH")[2] for line in server.error_lines()] == ["00999: something"]
        assert server.error_lines() == []


def a_child_that_dies_is_an_unexpected_line(bed: InsideBed) -> None:
    with served(bed) as server:
        os.kill(max(pids()), signal.SIGSEGV)
        lines = awaited_error_lines(server)
        assert "exit signal Segmentation fault" in lines[0], lines
        server.require_alive()
        (found,) = fetch(bed, {"name": "a.test", "get": ["/"]})
        assert found["responses"][0]["status"] == 200


def it_is_first_stopped_gracefully(bed: InsideBed) -> None:
    """It has 30 ms for that, which on a busy machine it may sleep through: once is enough."""
    for _ in range(20):
        with served(bed):
            pass
        if "shutting down gracefully" in (bed.memory / "server" / "apache" / "error.log").read_text():
            return
    raise AssertionError("it was never stopped gracefully")


def a_denied_file_is_an_unexpected_line(bed: InsideBed) -> None:
    with served(bed, server_directives=['<Location "/pic.png">', "Require all denied", "</Location>"]) as server:
        (found,) = fetch(bed, {"name": "a.test", "get": ["/pic.png"]})
        assert found["responses"][0]["status"] == 403
        assert "AH01630" in server.error_lines()[0]


def a_directive_that_apache_does_not_take_is_named(bed: InsideBed) -> None:
    for directive in ("Tiemout 10", "UseCanonicalName Perhaps", "Header set X-Y z", '<Location "/x">', "</Location>"):
        named = rf"(?s)server_directives.*{re.escape(directive)}"
        with pytest.raises(InputError, match=named), served(bed, server_directives=["HostnameLookups On", directive]):
            pass
        arm = Arm.parse("arm", {"server_directives": [directive]})
        with pytest.raises(InputError, match=named):
            check_configuration(bed.server, assigned(bed, arm))
    with served(bed, server_directives=["LoadModule headers_module ${MODULES}/mod_headers.so", "Header set X-Y z"]):
        (found,) = fetch(bed, {"name": "a.test", "get": ["/"]})
        assert found["responses"][0]["headers"]["X-Y"] == "z"


def a_port_in_use_is_named(bed: InsideBed) -> None:
    with served(bed), pytest.raises(ServerError, match="something else answers at port 80"):
        RunningServer.start(bed.server, assigned(bed, plain(bed), folder="other"))
    silent = "import socket, time; s = socket.create_server(('', 80)); print(1, flush=True); time.sleep(60)"
    seen, said = os.pipe()
    process = bed.server.spawn(Command([*bed.server.python, "-c", silent]), Stdio(None, said, None))
    os.read(seen, 1)
    with pytest.raises(ServerError, match="port is in use"):
        RunningServer.start(bed.server, assigned(bed, plain(bed)))
    process.signal(signal.SIGKILL)
    process.wait(60)


def assert_all_gone() -> None:
    """What was killed may need a moment on a busy machine."""
    wait_until(lambda: not pids(), what=pids)


def nothing_is_left(bed: InsideBed) -> None:
    arms: list[dict[str, Any]] = [
        {},
        *([{"tls": "1.3", "protocol": "h2"}] if SERVERS[name_of(bed)].speaks_tls else []),
        *([{"mpm": "prefork"}] if name_of(bed) == "apache" else []),
    ]
    for settings in arms:
        with served(bed, **settings):
            assert pids()
        assert_all_gone()


def a_crash_is_told_and_cleared_away(bed: InsideBed) -> None:
    with served(bed) as server:
        server.require_alive()
        os.kill(min(pids()), signal.SIGKILL)  # the parent alone: its children live on
        with pytest.raises(ServerError, match="signal 9"):
            await_end(server)
    assert_all_gone()
    with served(bed):
        pass


def many_starts_are_quick(bed: InsideBed) -> None:
    """No limit: the figures are for people (docs/reference/server.md)."""
    more = [{"mpm": "prefork"}] if name_of(bed) == "apache" else []
    arms: list[dict[str, Any]] = [{}, {"tls": "1.3"}, {"tls": "1.3", "protocol": "h2"}, *more]
    for settings in arms:
        starts, stops = [], []
        for _ in range(5):
            began = time.monotonic()
            with served(bed, **settings):
                ready = time.monotonic()
            stops.append(time.monotonic() - ready)
            starts.append(ready - began)
        medians = [sorted(values)[2] * 1000 for values in (starts, stops)]
        print(settings, "start {:.0f} ms, stop {:.0f} ms".format(*medians))
    assert_all_gone()


def a_worker_of_nginx_that_dies_is_an_unexpected_line(bed: InsideBed) -> None:
    with served(bed, worker_processes=1) as server:
        os.kill(max(pids()), signal.SIGSEGV)
        lines = awaited_error_lines(server)
        assert "exited on signal 11" in lines[0], lines
        server.require_alive()


def a_file_that_nginx_cannot_open_is_an_unexpected_line(bed: InsideBed) -> None:
    with served(bed) as server:
        host = Path(server.content) / "hosts/a.test"
        loop = host / "loop.png"
        loop.symlink_to(loop)
        try:
            (found,) = fetch(bed, {"name": "a.test", "get": ["/loop.png"]})
        finally:
            loop.unlink()
        assert found["responses"][0]["status"] == 404
        assert "Too many levels of symbolic links" in server.error_lines()[0]


def a_directive_that_nginx_does_not_take_is_named(bed: InsideBed) -> None:
    for directive in ("sendfiel on;", "sendfile perhaps;", "proxy_pass http://x;", "sendfile on off;"):
        arm = Arm.parse("arm", {"server": "nginx", "server_directives": ["server_tokens off;", directive]})
        with pytest.raises(InputError, match=rf"(?s)server_directives.*{re.escape(directive)}"):
            check_configuration(bed.server, assigned(bed, arm))
    with served(bed, server_directives=["add_header X-Y z;"]):
        (found,) = fetch(bed, {"name": "a.test", "get": ["/"]})
        assert found["responses"][0]["headers"]["X-Y"] == "z"
