"""k6 with lanelab's transports, built from native/load when it is first needed. k6 is AGPL-3.0: it is built where
it is used, and no part of lanelab's other programs."""

from pathlib import Path
from typing import TextIO

from lanelab.driver.base.paths import build_folder
from lanelab.driver.base.programs.building import gateway, single_build
from lanelab.driver.base.programs.building.go import GATEWAY, LOAD, Go, toolchain, toolchain_here

PROGRAM = "lanelab-k6"
BUILDING_S = 120


def load_generator(*, out: TextIO | None = None) -> Path:
    """Build it. It is static, so it runs on any node of this architecture."""
    go = toolchain(out=out)

    def make(folder: Path, log: single_build.Log) -> None:
        argv: list[str | Path] = [go.program, "build", "-ldflags=-s -w", "-o", folder / PROGRAM, f"./cmd/{PROGRAM}"]
        log.run(argv, environment=go.environment(), folder=LOAD)

    what = "building the load generator k6 (downloads 100 MB, takes 1 GB)"
    build = single_build.made_once(what, program_folder(), _key(go), make, about_s=BUILDING_S, out=out)
    return build / PROGRAM


def is_built() -> bool:
    """Return whether it is there, as it would be built now."""
    go = toolchain_here()
    return go is not None and single_build.is_made(program_folder(), _key(go))


def program_folder() -> Path:
    return build_folder() / "gateway" / PROGRAM


def was_built() -> bool:
    """Return whether any version of it was built here: then what it takes was downloaded."""
    return any(path.is_dir() and not path.name.endswith(single_build.UNFINISHED) for path in program_folder().glob("*"))


def _key(go: Go) -> str:
    """It has the gateway's protocols in it."""
    mine = single_build.sources(LOAD, without=gateway.irrelevant)
    return single_build.key_of(PROGRAM, go.version, *mine, *single_build.sources(GATEWAY, without=gateway.irrelevant))
