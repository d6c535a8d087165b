"""What Dask's dashboard is drawn with: large, and only for those who ask for it."""

from pathlib import Path
from typing import TextIO

from lanelab.driver.base.paths import PROJECT, build_folder
from lanelab.driver.base.programs.building import single_build

LOCK = PROJECT / "requirements-dashboard.lock"
INSTALLING_S = 20


def installed(*, out: TextIO | None = None) -> Path:
    """Return the folder with the packages, which belongs at the end of sys.path. Installed on first use."""
    return single_build.made_once(
        "installing what Dask's dashboard is drawn with",
        build_folder() / "dashboard",
        single_build.key_of(LOCK.read_bytes()),
        lambda folder, log: single_build.pip_install(LOCK, folder, log),
        about_s=INSTALLING_S,
        out=out,
    )
