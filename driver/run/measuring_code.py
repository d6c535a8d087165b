"""Which of lanelab's own source files take part in measuring and judging a trial, and their digest.

Results that were made by other code of these may differ without anything else being different. What is left out has no
part in a trial, or shows itself in another part of its key: a site by its digest, an experiment by its settings, a
program of lanelab's own by what it is built from.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from model.paths import PROJECT

# Folders and files below the project's folder. The longest that fits a file decides; "": it takes part, else why not.
PARTS: Mapping[str, str] = {
    "model": "",
    "model/claims.py": "judges runs, not trials",
    "model/configuration.py": "where things are on this machine",
    "model/dimensions.py": "words of reports",
    "model/load_places.py": "judges runs, not trials",
    "model/looks.py": "judges runs, not trials",
    "model/machines.py": "how a run stores machines",
    "model/paths.py": "where things are on this machine",
    "model/run_format.py": "how a run is stored",
    "model/study.py": "judges runs, not trials",
    "model/version.py": "a name; the code itself is here",
    "model/writing.py": "how a run is stored",
    "captures": "",
    "decomposition": "",
    "sites": "what a site serves is in its digest",
    "sites/coding.py": "",
    "sites/pushed.py": "",
    "sites/hints.py": "",
    "sites/bodies.py": "",
    "sites/minify/html/nodes.py": "",
    "sites/minify/html/page.py": "",
    "sites/minify/html/split.py": "",
    "analysis": "looks at trials that are made",
    "driver/__init__.py": "",
    "driver/bed": "",
    "driver/bench": "makes trials of its own",
    "driver/browser": "",
    "driver/channel": "",
    "driver/cli": "asks for trials and shows them",
    "driver/doctor": "looks at the machine before a run",
    "driver/experiment": "what it reads is in the settings of a trial",
    "driver/experiment/arm.py": "",
    "driver/experiment/arm_fields.py": "",
    "driver/experiment/stream_fields.py": "",
    "driver/experiment/hint_fields.py": "",
    "driver/fidelity": "makes trials of its own",
    "driver/gateway": "",
    "driver/host": "what it installs and builds is among the versions",
    "driver/proxies": "",
    "driver/recorders": "",
    "driver/recording": "records sites",
    "driver/run": "asks for trials and stores them",
    "driver/run/current_bed.py": "",
    "driver/run/link_keeper.py": "",
    "driver/run/runner.py": "",
    "driver/schedule": "which trial comes next",
    "driver/selftest": "",
    "driver/servers": "",
    "driver/shaping": "",
    "driver/study": "asks for runs",
    "driver/sweep": "asks for trials and stores them",
    "driver/timeouts.py": "",
    "driver/workloads": "",
    "vm": "makes machines; what they are is among the versions",
    "devtools": "for who works on lanelab",
}
ROOMS = tuple(sorted({part.partition("/")[0] for part in PARTS}))
NOT_CODE = ("__pycache__", ".pyc")


def takes_part(name: str, parts: Mapping[str, str] = PARTS) -> bool:
    """Of a file by its name below the project's folder."""
    return parts[part_of(name, parts)] == ""


def part_of(name: str, parts: Mapping[str, str] = PARTS) -> str:
    """The part that a file belongs to. Raises KeyError where it belongs to none."""
    path = Path(name)
    for each in (path, *path.parents):
        if each.as_posix() in parts:
            return each.as_posix()
    raise KeyError(name)


def measuring_files(project: Path = PROJECT) -> list[str]:
    """The names of the files that take part, in order."""
    found = (path for room in ROOMS for path in (project / room).rglob("*") if path.is_file())
    names = (path.relative_to(project).as_posix() for path in found if not _is_left_over(path))
    return sorted(name for name in names if takes_part(name))


def _is_left_over(path: Path) -> bool:
    return path.name.startswith(".") or path.name.endswith(NOT_CODE[1]) or NOT_CODE[0] in path.parts


@functools.cache
def measuring_digest() -> str:
    """The digest of this lanelab's measuring code, as it was when it was first asked for."""
    return digest_of_files(PROJECT, measuring_files())


def digest_of_files(project: Path, names: Iterable[str]) -> str:
    whole = hashlib.sha256()
    for name in names:
        with (project / name).open("rb") as file:
            whole.update(f"{name}\n{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return whole.hexdigest()
