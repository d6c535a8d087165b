"""How a page appeared: the pictures that a trial has of it, small enough for a report."""

import base64
import gzip
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from lanelab.analysis.results.load_clock import page_shift
from lanelab.driver.base.errors import StoreError
from lanelab.driver.record.record import TrialRecord

FILMSTRIP, SCREENSHOT = "filmstrip.json.gz", "screenshot.png"
WIDTH, SCREEN_WIDTH = 150, 360  # pixels
TALLEST = 1.6  # of a screenshot: what is farther down is cut off
QUALITY = 72


@dataclass(frozen=True, slots=True)
class Frame:
    """The page as it looked from this moment on."""

    at: float  # ms since the page was asked for
    complete: float  # how much like the last one, 0 to 1
    jpeg: bytes
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Film:
    frames: tuple[Frame, ...]
    screenshot: bytes | None  # JPEG
    measures: Mapping[str, float]

    def at(self, moment: float) -> Frame:
        """Return what was to be seen then."""
        return next((frame for frame in reversed(self.frames) if frame.at <= moment), self.frames[0])


def film_of(folder: Path, record: TrialRecord) -> Film | None:
    """Return the pictures in a trial's folder; None where there are none."""
    strip, screen = folder / FILMSTRIP, folder / SCREENSHOT
    if not strip.is_file() and not screen.is_file():
        return None
    later = page_shift(record.page_load.clock if record.page_load else None)
    frames = _frames(strip, later) if strip.is_file() else ()
    shot = _picture(screen, screen.read_bytes(), SCREEN_WIDTH)[0] if screen.is_file() else None
    return Film(frames, shot, record.measures)


def _frames(path: Path, later: float) -> tuple[Frame, ...]:
    try:
        kept = json.loads(gzip.decompress(path.read_bytes()))["frames"]
        return tuple(
            Frame(each["at_ms"] + later, each["complete"], *_picture(path, base64.b64decode(each["jpeg"]), WIDTH))
            for each in kept
        )
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise _unreadable(path, error) from error


def _picture(path: Path, content: bytes, width: int) -> tuple[bytes, int, int]:
    """Return a small one of it: JPEG, width, height."""
    try:
        with Image.open(io.BytesIO(content)) as image:
            height = min(image.height, round(image.width * TALLEST))
            whole = image.convert("RGB").crop((0, 0, image.width, height))
            whole.thumbnail((width, round(width * TALLEST)))
            out = io.BytesIO()
            whole.save(out, "JPEG", quality=QUALITY)
            return out.getvalue(), whole.width, whole.height
    except (OSError, UnidentifiedImageError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> StoreError:
    return StoreError(f"{path} cannot be read: {error}", "Copy the run folder again from where it was made")
