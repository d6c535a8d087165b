"""Which of lanelab's own source files take part in measuring and judging a trial, and their digest.

Results that were made by other code of these may differ without anything else being different. What is left out has no
part in a trial, or shows itself in another part of its key: a site by its digest, an experiment by its settings, a
program of lanelab's own by what it is built from. A file counts also where git does not track it: Python imports it
all the same.
"""

import functools
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from lanelab.driver.base.paths import PACKAGE

# Folders and files of the package. The longest that fits a file decides; "": it takes part, else why not.
PARTS: Mapping[str, str] = {
    "__init__.py": "names of the library, none of which is imported before it is used",
    "driver/__init__.py": "",
    "driver/base": "",
    "driver/base/configuration.py": "where things are on this machine",
    "driver/base/extras.py": "says what has to be installed",
    "driver/base/paths.py": "where things are on this machine",
    "driver/base/programs": "what it installs and builds is among the versions",
    "driver/base/version.py": "a name; the code itself is here",
    "driver/base/writing.py": "how a run is stored",
    "driver/record": "",
    "driver/record/load_places.py": "judges runs, not trials",
    "driver/bed": "",
    "driver/bed/vagrant": "makes machines; what they are is among the versions",
    "driver/link": "",
    "driver/site": "what a site serves is in its digest",
    "driver/site/bodies.py": "",
    "driver/site/coding.py": "",
    "driver/site/composition.py": "",
    "driver/site/compressed_types.py": "",
    "driver/site/fidelity.py": "",
    "driver/site/freshness.py": "",
    "driver/site/hints.py": "",
    "driver/site/manifest.py": "",
    "driver/site/minify/html/nodes.py": "",
    "driver/site/minify/html/page.py": "",
    "driver/site/minify/html/split.py": "",
    "driver/site/push_plan.py": "",
    "driver/site/redirects.py": "",
    "driver/site/site.py": "",
    "driver/site/third_parties.py": "",
    "driver/arm": "",
    "driver/trial": "",
    "driver/experiment": "what it reads is in the settings of a trial",
    "driver/run": "asks for trials and stores them",
    "driver/run/channel": "",
    "driver/run/current_bed.py": "",
    "driver/run/link_keeper.py": "",
    "driver/run/runner.py": "",
    "driver/collect": "records sites, and makes trials of its own",
    "driver/api": "asks for trials and opens runs",
    "driver/lab": "asks about runs and judges answers",
    "driver/page": "shows runs",
    "driver/cli": "asks for trials and shows them",
    "analysis": "looks at trials that are made",
}
ROOMS = tuple(sorted({part.partition("/")[0] for part in PARTS}))
NOT_CODE = ("__pycache__", ".pyc")


def takes_part(name: str) -> bool:
    """Say whether a file, by its name within the package, takes part. Raises KeyError where it belongs to no part."""
    path = Path(name)
    for each in (path, *path.parents):
        if each.as_posix() in PARTS:
            return PARTS[each.as_posix()] == ""
    raise KeyError(name)


def measuring_files(package: Path = PACKAGE) -> list[str]:
    """Return the names of the files that take part, in order."""
    files = (path for room in ROOMS for path in _below(package / room) if path.is_file())
    names = (path.relative_to(package).as_posix() for path in files if not _is_left_over(path))
    return sorted(name for name in names if takes_part(name))


def _below(room: Path) -> Iterable[Path]:
    return room.rglob("*") if room.is_dir() else (room,)


def _is_left_over(path: Path) -> bool:
    return path.name.startswith(".") or path.name.endswith(NOT_CODE[1]) or NOT_CODE[0] in path.parts


@functools.cache
def measuring_digest() -> str:
    """Return the digest of this lanelab's measuring code, as it was when it was first asked for."""
    return digest_of_files(PACKAGE, measuring_files())


def digest_of_files(package: Path, names: Iterable[str]) -> str:
    whole = hashlib.sha256()
    for name in names:
        with (package / name).open("rb") as file:
            whole.update(f"{name}\n{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return whole.hexdigest()
