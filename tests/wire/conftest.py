"""SPDY and the gateway on this machine's loopback: our own programs, and other people's to compare with.

No bed and no root. What cannot be had here is a skip with its reason; what does not build is an error.
"""

import os
from pathlib import Path

import pytest

from lanelab.driver.base.errors import BuildError
from lanelab.driver.base.programs import needs
from lanelab.driver.base.programs.building import apache_module, gateway
from lanelab.driver.base.programs.building.go import Go, toolchain
from lanelab.driver.base.programs.find_program import find

from .httpd import Module, sanitized
from .peers import JavaPeer, NodePeer, java_peer, node_peer


@pytest.fixture(scope="session")
def go() -> Go:
    """The Go toolchain, brought along where the system has none."""
    try:
        return toolchain()
    except BuildError as error:
        pytest.skip(f"there is no Go here, and none can be had: {error}")


@pytest.fixture(scope="session")
def gateway_program(go: Go) -> Path:
    """The gateway as users run it."""
    assert go
    return gateway.gateway_program()


@pytest.fixture(scope="session")
def spdy_load(go: Go) -> Path:
    """A client that loads a SPDY server, and counts."""
    assert go
    return gateway.gateway_program("spdy-load")


@pytest.fixture(scope="session")
def apache() -> Path:
    """The distribution's httpd."""
    program = needs.program("apache2").path()
    if program is None:
        pytest.skip("missing: apache2")
    return program


@pytest.fixture(scope="session")
def module_tools(apache: Path) -> None:
    """What it takes to build a module for that httpd."""
    assert apache
    if missing := needs.missing(needs.programs("module")):
        pytest.skip(f"missing to build modules: {', '.join(program.name for program in missing)}")


@pytest.fixture(scope="session")
def mod_spdy_so(module_tools: None) -> Path:
    """mod_spdy as users run it."""
    assert module_tools is None
    return apache_module.module("mod_spdy")


@pytest.fixture(scope="session")
def mod_spdy_sanitized(module_tools: None) -> Path:
    """mod_spdy under the address and undefined behaviour sanitizers."""
    assert module_tools is None
    return apache_module.module("mod_spdy", sanitize=True)


@pytest.fixture(scope="session")
def spdy_module(request: pytest.FixtureRequest) -> Module:
    """mod_spdy for tests/wire/httpd.py; LANELAB_TEST_SANITIZED=1 runs the same tests with the sanitizers' build."""
    if os.environ.get("LANELAB_TEST_SANITIZED") == "1":
        return sanitized(request.getfixturevalue("mod_spdy_sanitized"))
    return Module(request.getfixturevalue("mod_spdy_so"))


@pytest.fixture(scope="session")
def node() -> NodePeer:
    return node_peer()


@pytest.fixture(scope="session")
def java() -> JavaPeer:
    return java_peer()


@pytest.fixture(scope="session")
def tshark() -> Path:
    program = find("tshark")
    if program is None:
        pytest.skip("missing: tshark")
    return program
