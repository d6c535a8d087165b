"""lanelab's own modules for Apache, mod_replay and mod_spdy, each built for the Apache of this machine when it is first
needed."""

import os
import platform
import re
import subprocess
from pathlib import Path
from typing import TextIO

from lanelab.driver.base.errors import BuildError
from lanelab.driver.base.paths import PROJECT, build_folder
from lanelab.driver.base.programs import install, needs
from lanelab.driver.base.programs.building import single_build
from lanelab.driver.base.programs.find_program import find, search_path

MODULES = ("mod_replay", "mod_spdy")
NATIVE = PROJECT / "native"
SHARED = NATIVE / "c_kit"  # how all of them are made, and what their tests share
BUILDING_S = 10
NOT_IN_THE_MODULE = ("tests", "fuzz")


def sources(name: str) -> Path:
    return NATIVE / name


def module(name: str, *, sanitize: bool = False, out: TextIO | None = None) -> Path:
    """Build the module; with `sanitize` one with the sanitizers inside (httpd needs libasan loaded before it)."""
    require_tools(name)
    apxs = apxs_program()
    apache = _apache_version(apxs)

    def make(folder: Path, log: single_build.Log) -> None:
        # A compiler that we do not know yet may warn of something new: that stops developers (check), not users.
        wanted = [f"OUT={folder}", f"APXS={apxs}", "CFLAGS_EXTRA=-Wno-error", *(["SANITIZE=1"] if sanitize else [])]
        log.run(["make", f"-j{len(os.sched_getaffinity(0))}", "-C", sources(name), *wanted], environment=environment())
        if not (folder / f"{name}.so").is_file():
            raise log.failure(f"it made no {name}.so")
        for product in folder.iterdir():
            if product.is_dir():  # what was compiled on the way
                single_build.remove(product)

    key = _key(name, apache, sanitize=sanitize)
    title = f"building {name} for {apache.splitlines()[0]}{' with sanitizers' if sanitize else ''}"
    return single_build.made_once(title, build_folder() / name, key, make, about_s=BUILDING_S, out=out) / f"{name}.so"


def is_built(name: str) -> bool:
    """Return whether it is there, as it would be built now. What builds it may not be there either."""
    if needs.missing(needs.programs("module")):
        return False
    key = _key(name, _apache_version(apxs_program()), sanitize=False)
    return single_build.is_made(build_folder() / name, key)


def _key(name: str, apache: str, *, sanitize: bool) -> str:
    made_from = (
        *single_build.sources(sources(name), without=_irrelevant),
        *single_build.sources(SHARED, without=_is_c),
    )
    return single_build.key_of(apache, _compiler_version(), platform.machine(), str(sanitize), *made_from)


def environment() -> dict[str, str]:
    """Return the environment of make: PATH with administrators' folders, and without make's own variables, which would
    change what it builds."""
    taken_out = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CFLAGS", "LDFLAGS", "CPPFLAGS")
    variables = {name: value for name, value in os.environ.items() if name not in taken_out}
    return {**variables, "PATH": search_path(), "LC_ALL": "C.UTF-8"}


def require_tools(name: str) -> None:
    """Raises BuildError where a program or header is missing that building a module takes."""
    missing = needs.missing(needs.programs("module"))
    if missing:
        names = ", ".join(program.name for program in missing)
        raise BuildError(f"{name} cannot be built: {names} missing", install.remedy(missing))


def apxs_program() -> Path:
    """Return the distribution's tool for building modules."""
    apxs = needs.program("apxs")
    path = apxs.path()
    if path is None:
        raise BuildError("no module for Apache can be built: apxs missing", install.remedy([apxs]))
    return path


def _apache_version(apxs: Path) -> str:
    """Return the Apache of the headers, with the interface number that a module has to agree with."""
    include = _query(apxs, "INCLUDEDIR")
    text = "\n".join(
        file.read_text() for file in (Path(include) / "ap_release.h", Path(include) / "ap_mmn.h") if file.is_file()
    )
    defined = dict(re.findall(r"^#define\s+(\w+)\s+(\w+)", text, re.MULTILINE))
    version = ".".join(
        defined.get(f"AP_SERVER_{part}_NUMBER", "?") for part in ("MAJORVERSION", "MINORVERSION", "PATCHLEVEL")
    )
    mmn = defined.get("MODULE_MAGIC_NUMBER_MAJOR", "?")
    return f"Apache {version}\n{mmn}"


def _query(apxs: Path, name: str) -> str:
    try:
        done = subprocess.run(
            [apxs, "-q", name], capture_output=True, text=True, check=False, env=environment(), cwd="/"
        )
    except OSError as error:
        raise BuildError(f"cannot run {apxs}: {error.strerror}", "Install it again") from error
    if done.returncode != 0 or not done.stdout.strip():
        raise BuildError(
            f"{apxs} does not say its {name}: {done.stderr.strip()}", install.remedy([needs.program("apxs")])
        )
    return done.stdout.strip()


def _compiler_version() -> str:
    compiler = find("cc") or find("gcc")
    if compiler is None:
        raise BuildError("no module for Apache can be built: there is no C compiler", "Install gcc")
    done = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False, cwd="/")
    return done.stdout.partition("\n")[0]


def _irrelevant(path: Path) -> bool:
    """Return files that do not go into the module."""
    return path.parts[0] in NOT_IN_THE_MODULE or path.suffix == ".md"


def _is_c(path: Path) -> bool:
    """Return whether a file is C. What modules share in C is for their tests."""
    return path.suffix in (".c", ".h")
