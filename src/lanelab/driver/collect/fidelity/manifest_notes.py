"""Writing what was found into the site's manifest, and changing nothing else of it."""

import contextlib
import re
from dataclasses import replace
from pathlib import Path

import yaml

from lanelab.driver.base.errors import BedError, InputError
from lanelab.driver.site.fidelity import Fidelity
from lanelab.driver.site.manifest import MANIFEST, parse_manifest

KEY = "fidelity"
# The key at the beginning of a line, with everything below it: lines that are indented, list items, empty ones.
_BLOCK = re.compile(rf"^{KEY}:.*\n?(?:(?:[ \t-].*)?\n)*(?:[ \t-].*)?", re.MULTILINE)


def with_fidelity(text: str, fidelity: Fidelity, source: str) -> str:
    """Return the manifest with this fidelity; every other line as it was. Raises InputError where that cannot be."""
    before = parse_manifest(text, source)
    kept = _BLOCK.sub("", text, count=1)
    written = yaml.safe_dump({KEY: fidelity.to_json()}, sort_keys=False, allow_unicode=True, width=10_000)
    changed = kept.rstrip("\n") + "\n" + written
    if parse_manifest(changed, source) != replace(before, fidelity=fidelity):
        what = f"{source} is written in a way into which the fidelity cannot be put"
        raise InputError(what, f"Put the key {KEY} on lines of its own, or remove it")
    return changed


def keep(site: Path, fidelity: Fidelity) -> None:
    """Put it into the manifest of the site in this folder; the file is the old one or the new one at any moment."""
    file = site / MANIFEST
    part = site / f".{MANIFEST}.part"
    try:
        changed = with_fidelity(file.read_text(), fidelity, str(file))
        part.write_text(changed)
        part.chmod(file.stat().st_mode & 0o777)
        part.replace(file)
    except OSError as error:
        remedy = "Check whose file it is, or verify with --no-store"
        raise BedError(f"cannot write the fidelity into {file}: {error.strerror}", remedy) from error
    finally:
        with contextlib.suppress(OSError):  # says a read-only file system of no file, too
            part.unlink(missing_ok=True)
