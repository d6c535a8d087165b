"""The pages of `lanelab docs`: made from docs/ on first use and after each change of it, and read without a network. A
wheel has them made."""

import os
import shutil
import sys
from pathlib import Path

from lanelab.driver.base.paths import PACKAGE, PROJECT, build_folder
from lanelab.driver.base.programs.building import single_build

LOCK, DOCS = PROJECT / "requirements-docs.lock", PROJECT / "docs"
SHIPPED = PACKAGE / "data" / "pages"
INSTALLING_S, MAKING_S = 20, 30


def documentation(docs: Path = DOCS) -> Path:
    """Return the folder with the pages of these files; the first is index.html. Raises BuildError."""
    if docs == DOCS and SHIPPED.is_dir():
        return SHIPPED
    tools = single_build.made_once(
        "installing what makes the documentation",
        build_folder() / "docs-tools",
        single_build.key_of(LOCK.read_bytes()),
        lambda folder, log: single_build.pip_install(LOCK, folder, log),
        about_s=INSTALLING_S,
    )
    return single_build.made_once(
        "making the documentation",
        build_folder() / "docs",
        single_build.key_of(LOCK.read_bytes(), *single_build.sources(docs, without=_is_made)),
        lambda folder, log: _make(tools, docs, folder, log),
        about_s=MAKING_S,
    )


def _is_made(file: Path) -> bool:
    return "__pycache__" in file.parts


def _make(tools: Path, docs: Path, folder: Path, log: single_build.Log) -> None:
    """A link that leads nowhere is an error."""
    environment = {**os.environ, "PYTHONPATH": str(tools), "PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--builder", "html"]
    trees = folder.with_name(f"{folder.name}-trees")
    log.run([*words, "--doctree-dir", trees, docs, folder], environment=environment)
    single_build.remove(trees)
    shutil.copy(folder / "README.html", folder / "index.html")  # other pages link to it by its own name
