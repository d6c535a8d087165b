"""Builds what of lanelab's own programs an image brings: the gateway, with the locked Go, which comes along since it is
asked for its version whenever the gateway is used. Run by itself, with LANELAB_BUILD as the folder:

    python -m tools.image.own_programs
"""

import shutil
import sys

from lanelab.driver.base.paths import build_folder
from lanelab.driver.base.programs.building import gateway, go

OF_BUILDING = ("cache", "modules", "path")  # below go/: what it takes to build, and nothing to run


def main() -> None:
    go.systems_go = lambda: None  # an image has no Go of its system, whatever the machine that makes it has
    gateway.gateway_program(out=sys.stderr)
    for name in OF_BUILDING:
        shutil.rmtree(build_folder() / "go" / name, ignore_errors=True)


if __name__ == "__main__":
    main()
