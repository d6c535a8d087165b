"""The gateway's programs, built from native/gateway/ when they are first needed. Where the package lanelab-gateway is
installed and has them, built of these very sources, they are taken from there, and no Go is needed."""

import importlib.util
from pathlib import Path
from typing import TextIO

from lanelab.driver.base.paths import build_folder
from lanelab.driver.base.programs.building import single_build
from lanelab.driver.base.programs.building.go import GATEWAY, toolchain, toolchain_here

PROGRAM = "lanelab-gateway"
PACKAGE, GO_VERSION = "lanelab_gateway", "go-version"
BUILDING_S = 40


def gateway_program(name: str = PROGRAM, *, out: TextIO | None = None) -> Path:
    """Build a program of native/gateway/cmd. It is static, so it runs on any node of this architecture."""
    ready = shipped(name)
    if ready:
        return ready
    go = toolchain(out=out)
    title = "the gateway" if name == PROGRAM else name

    def make(folder: Path, log: single_build.Log) -> None:
        log.run(
            [go.program, "build", "-o", folder / name, f"./cmd/{name}"], environment=go.environment(), folder=GATEWAY
        )

    build = single_build.made_once(
        f"building {title}", _folder(name), key_from(name, go.version), make, about_s=BUILDING_S, out=out
    )
    return build / name


def is_built(name: str = PROGRAM) -> bool:
    """Return whether it is there, as it would be built now."""
    if shipped(name):
        return True
    go = toolchain_here()
    return go is not None and single_build.is_made(_folder(name), key_from(name, go.version))


def shipped(name: str = PROGRAM) -> Path | None:
    """Return the program in the installed package, where it was built of the sources that are here."""
    package = importlib.util.find_spec(PACKAGE)
    for folder in map(Path, (package and package.submodule_search_locations) or ()):
        version = folder / GO_VERSION
        program = folder / key_from(name, version.read_text().strip()) / name if version.is_file() else None
        if program and program.is_file():
            return program
    return None


def _folder(name: str) -> Path:
    return build_folder() / "gateway" / name


def key_from(name: str, go_version: str) -> str:
    """Return the name of what that Go makes of the sources."""
    return single_build.key_of(name, go_version, *single_build.sources(GATEWAY, without=irrelevant))


def irrelevant(path: Path) -> bool:
    """Return files that do not go into the program."""
    return path.name.endswith(("_test.go", ".md")) or "testdata" in path.parts
