"""Answers with their time and digest. The experiment that is run has the digest in its first lines, and a run keeps its
experiment with a digest of its own: so whoever edits an answer afterwards has a sheet that the run does not know."""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import ChangedError, RecordError, StoreError

FORMAT = 1
SHEET = "predictions.json"
DIGEST = "sha256"
_STAMP = "# Predictions: sha256 {digest}, fixed {fixed}\n"
_STAMPS = re.compile(r"# Predictions: sha256 ([0-9a-f]{64}), fixed (\S+)\n")
_SEED = re.compile(r"\nseed: ([0-9]+)[^\n]*\n?\Z")


@dataclass(frozen=True, slots=True)
class Sheet(Coded):
    """The predictions of a student, with their time. `lab_sha256`: of the lab's description, which has the margins."""

    format: int
    lab: str
    lab_sha256: str
    student: str
    seed: int
    answers: dict[str, str]  # by the question's name, as they were written
    fixed_utc: str

    @property
    def canonical(self) -> str:
        """Return the text that the digest is of."""
        return json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    @property
    def digest(self) -> str:
        return digest_of(self.canonical)


@dataclass(frozen=True, slots=True)
class Stamp:
    """A line by which an experiment knows a sheet."""

    digest: str
    fixed_utc: str


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def text_of(sheet: Sheet) -> str:
    """Return what is in its file."""
    return json.dumps({**sheet.to_json(), DIGEST: sheet.digest}, indent=2, ensure_ascii=False) + "\n"


def read_sheet(folder: Path) -> Sheet | None:
    """Return the sheet there; None where nothing was fixed. ChangedError where it is another one than was fixed."""
    path = folder / SHEET
    if not path.exists():
        return None
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        digest = data.pop(DIGEST, "") if isinstance(data, dict) else ""
        sheet = Sheet.from_json(data, str(path))
    except (OSError, ValueError, RecursionError, RecordError) as error:
        raise StoreError(f"{path} cannot be read: {error}", "It has to stay as it was written") from error
    if sheet.format != FORMAT:
        raise StoreError(f"{path} was written by another version of lanelab", "Use that one")
    if digest != sheet.digest:
        raise ChangedError(f"the predictions in {path} were edited after they were fixed", "Put them back as they were")
    return sheet


def stamped(text: str, seed: int, sheets: Sequence[Sheet]) -> str:
    """Return an experiment with a seed, which has these sheets in its first lines."""
    stamps = "".join(_STAMP.format(digest=sheet.digest, fixed=sheet.fixed_utc) for sheet in sheets)
    return f"{stamps}{plain(text).rstrip()}\n\nseed: {seed}\n"


def plain(text: str) -> str:
    """Return an experiment as it was before it was stamped."""
    while match := _STAMPS.match(text):
        text = text[match.end() :]
    return _SEED.sub("\n", text).rstrip() + "\n"


def stamps_of(text: str) -> list[Stamp]:
    """Return the sheets that an experiment knows."""
    stamps = []
    while match := _STAMPS.match(text):
        stamps.append(Stamp(match[1], match[2]))
        text = text[match.end() :]
    return stamps


def seed_of(text: str) -> int | None:
    match = _SEED.search(text)
    return int(match[1]) if match else None
