"""The gateway's programs, built from native/gateway/ when they are first needed."""

from pathlib import Path
from typing import TextIO

from lanelab.driver.base.paths import build_folder
from lanelab.driver.base.programs.building import single_build
from lanelab.driver.base.programs.building.go import GATEWAY, Go, toolchain, toolchain_here

PROGRAM = "lanelab-gateway"
BUILDING_S = 40


def gateway_program(name: str = PROGRAM, *, out: TextIO | None = None) -> Path:
    """Build a program of native/gateway/cmd. It is static, so it runs on any node of this architecture."""
    go = toolchain(out=out)
    title = "the gateway" if name == PROGRAM else name

    def make(folder: Path, log: single_build.Log) -> None:
        log.run(
            [go.program, "build", "-o", folder / name, f"./cmd/{name}"], environment=go.environment(), folder=GATEWAY
        )

    build = single_build.made_once(
        f"building {title}", _folder(name), _key(name, go), make, about_s=BUILDING_S, out=out
    )
    return build / name


def is_built(name: str = PROGRAM) -> bool:
    """Return whether it is there, as it would be built now."""
    go = toolchain_here()
    return go is not None and single_build.is_made(_folder(name), _key(name, go))


def _folder(name: str) -> Path:
    return build_folder() / "gateway" / name


def _key(name: str, go: Go) -> str:
    return single_build.key_of(name, go.version, *single_build.sources(GATEWAY, without=irrelevant))


def irrelevant(path: Path) -> bool:
    """Return files that do not go into the program."""
    return path.name.endswith(("_test.go", ".md")) or "testdata" in path.parts
