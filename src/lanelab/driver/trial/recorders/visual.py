"""How far a page was painted, from pictures of it. Pure.

Visual progress is by histograms of colours, as WebPageTest does it: how much of the way from the first picture's
histogram to the last one's is behind. Things that only move count for nothing, which is meant: text that shifts when a
font comes was there before. The Speed Index is the area above that curve: the mean time at which the page's pixels had
their last colours (WebPageTest, "Speed Index", 2012).
"""

import io
from collections.abc import Sequence

from PIL import Image

from lanelab.driver.record.evidence.trace import Frame

Histogram = list[int]


def progress(pictures: Sequence[bytes]) -> list[float]:
    """Return the progress of each picture, 0 to 1. Of the last it is 1, of one alone 0: nothing was seen to change."""
    histograms = [_histogram(each) for each in pictures]
    if len(histograms) < 2:
        return [0.0] * len(histograms)
    first, last = histograms[0], histograms[-1]
    shares = []
    for each in histograms[:-1]:
        shares.append(_progress(each, first, last))
    return [*(round(share, 4) for share in shares), 1.0]


def speed_index(frames: Sequence[Frame]) -> float:
    """Return milliseconds from the navigation's start. Before the first frame nothing is complete."""
    total, at, complete = 0.0, 0.0, 0.0
    for frame in frames:
        total += (frame.at_ms - at) * (1 - complete)
        at, complete = frame.at_ms, frame.complete
    return round(total, 3)


def visually_complete(frames: Sequence[Frame]) -> float:
    """When it looked as at the end for the first time, and did from then on."""
    at = frames[-1].at_ms
    for frame in reversed(frames):
        if frame.complete < 1:
            break
        at = frame.at_ms
    return at


def _histogram(jpeg: bytes) -> Histogram:
    """Return how many pixels have each level of red, then of green, then of blue."""
    with Image.open(io.BytesIO(jpeg)) as image:
        return image.convert("RGB").histogram()


def _progress(now: Histogram, first: Histogram, last: Histogram) -> float:
    """Return the share of the change from first to last that is behind, over all levels of all colours; nothing where
    there is no change to be made."""
    whole = sum(abs(a - b) for a, b in zip(last, first, strict=True))
    done = sum(min(abs(a - b), abs(c - b)) for a, b, c in zip(last, first, now, strict=True) if (a > b) == (c > b))
    return done / whole if whole else 0.0
