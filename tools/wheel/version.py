"""The version of a build, from the tags of git: of a tag that one, and of a later commit one that says which."""

import re
import subprocess
from pathlib import Path

from lanelab.driver.base.errors import BuildError
from tools.git import git

TAGS = "v[0-9]*"
_DESCRIBED = re.compile(r"v(?P<tag>\d+(?:\.\d+)*)-(?P<later>\d+)-g(?P<commit>[0-9a-f]+)(?P<changed>-changed)?")


def version_of(checkout: Path, declared: str) -> str:
    """Return the version. Without any tag it is one before the first release, `declared`. Raises BuildError where a
    tag says another one than the files."""
    description = _description(checkout)
    if not description:
        changed = ".changed" if git(checkout, "status", "--porcelain", "--untracked-files=no") else ""
        return f"{declared}.dev0+g{git(checkout, 'rev-parse', '--short=8', 'HEAD').strip()}{changed}"
    version = version_from(description)
    if "+" not in version and version != declared:
        raise BuildError(f"the tag says {version}, and driver/base/version.py {declared}", "Correct one of them")
    return version


def version_from(description: str) -> str:
    """Return the version of what git describe says. Raises BuildError."""
    match = _DESCRIBED.fullmatch(description)
    if match is None:
        raise BuildError(f"{description!r} is no tag like v1.0 with what came after it", "Give the commit another tag")
    if match["later"] == "0" and not match["changed"]:
        return match["tag"]
    return f"{match['tag']}.post{match['later']}+g{match['commit']}{'.changed' if match['changed'] else ''}"


def _description(checkout: Path) -> str:
    """Return what git calls the checkout by its last tag; empty where it has none."""
    try:
        return git(checkout, "describe", "--tags", "--match", TAGS, "--long", "--dirty=-changed", "--abbrev=8").strip()
    except subprocess.CalledProcessError:
        return ""
