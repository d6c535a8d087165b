"""What hatchling calls for a wheel: puts the data of the checkout into it, and what it was built from."""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.append(str(Path(__file__).resolve().parents[2]))

from tools.git import git
from tools.wheel.shipped import DATA, MAN_FOLDER, man_pages, shipped_files

BUILT_FROM = "built-from.json"  # in a copy without git, lanelab wheel writes it


class DataOfCheckout(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        checkout = Path(self.root)
        for name in shipped_files(checkout):
            build_data["force_include"][str(checkout / name)] = f"{DATA}/{name}"
        # pip, uv and pipx put them under the environment that they install into.
        for page in man_pages(checkout):
            build_data["shared_data"][str(page)] = f"{MAN_FOLDER}/{page.name}"
        self._folder = tempfile.TemporaryDirectory()
        facts = Path(self._folder.name) / BUILT_FROM
        facts.write_text(_built_from(checkout))
        build_data["force_include"][str(facts)] = f"{DATA}/{BUILT_FROM}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        del build_data, artifact_path
        if version != "editable":
            self._folder.cleanup()


def _built_from(checkout: Path) -> str:
    written = checkout / BUILT_FROM
    return written.read_text() if written.is_file() else built_from_git(checkout)


def built_from_git(checkout: Path) -> str:
    """Return the commit as JSON, and how many files differ from it. Raises CalledProcessError outside git."""
    commit = git(checkout, "rev-parse", "HEAD").strip()
    changed = git(checkout, "status", "--porcelain", "--untracked-files=no")
    return json.dumps({"commit": commit, "changed_files": str(len(changed.splitlines()))}) + "\n"
