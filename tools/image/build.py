"""Builds an image: wheels, the system package and mmdebstrap, then one file."""

import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

from lanelab.driver.base.errors import BuildError
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.base.programs.apt_settings import settings_for_downloads
from lanelab.driver.base.programs.find_program import find, search_path
from lanelab.driver.base.programs.system_package import ARCHITECTURES
from tools.commit_time import time_of_commit
from tools.image.archive import Layer, write_archive
from tools.image.locks import lock_for
from tools.image.targets import SYSTEMS, TARGETS, USER, bootstrap, config, image_name, wheels_command
from tools.system_package.build import build as build_package
from tools.system_package.content import packages
from tools.wheel.build import build_wheel
from tools.wheel.gateway import gateway_wheels


def build_image(target: str, family: str, out: Path, mirror: str | None = None) -> tuple[Path, int]:
    """Return the image's file, and how large its file system is. Raises BuildError."""
    if find("mmdebstrap") is None:
        raise BuildError("mmdebstrap is missing, which makes images", "Install the packages mmdebstrap and uidmap")
    machine = platform.machine()
    if machine not in ARCHITECTURES:
        raise BuildError(f"there is no image for {machine}", f"Build it on one of: {', '.join(ARCHITECTURES)}")
    out.mkdir(parents=True, exist_ok=True)
    name = image_name(target, family)
    file = out / f"{name.replace(':', '-')}.oci.tar"
    time_s = time_of_commit(PROJECT)
    # mmdebstrap of an ordinary user reads it as another one.
    with tempfile.TemporaryDirectory(prefix="lanelab-image-", dir=out) as folder:
        ingredients = Path(folder) / "ingredients"
        ingredients.mkdir()
        Path(folder).chmod(0o755)
        _gather(target, family, machine, ingredients, time_s)
        layer = _file_system(
            bootstrap(family, mirror, settings_for_downloads()), ingredients, Path(folder, "layer"), time_s
        )
        write_archive(Path(folder, "image"), name, ARCHITECTURES[machine], layer, config(target), time_s)
        Path(folder, "image").rename(file)
    return file, layer.size


def _gather(target: str, family: str, machine: str, folder: Path, time_s: int) -> None:
    """Put into the folder what the image is made from beside the distribution's own packages."""
    build_wheel(PROJECT, folder, with_pages=True)
    if TARGETS[target].programs:
        build_package(packages(family, machine, time_s)[0], folder, time_s)
        list(gateway_wheels(folder, machines=[machine]))
    for lock in TARGETS[target].locks:
        part = folder.parent / lock
        part.write_text(lock_for((PROJECT / lock).read_text(), SYSTEMS[family].python))
        argv = wheels_command(sys.executable, part, SYSTEMS[family], machine, folder)
        if subprocess.run(argv, check=False, stdout=sys.stderr).returncode != 0:
            raise BuildError(f"pip could not fetch the packages of {lock}", "What it says is above")


def _file_system(argv: list[str], ingredients: Path, file: Path, time_s: int) -> Layer:
    environment = {
        **os.environ,
        "PATH": search_path(),
        "LC_ALL": "C.UTF-8",
        "SOURCE_DATE_EPOCH": str(time_s),
        "LANELAB_INGREDIENTS": str(ingredients.resolve()),
        "LANELAB_USER": USER,
    }
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment) as making:
        layer = Layer(making.stdout, file) if making.stdout else None
    if making.returncode != 0 or layer is None:
        raise BuildError("mmdebstrap made no file system", "What it says is above")
    return layer
