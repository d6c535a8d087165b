"""Colours, dashes and shapes of charts: for print, for the colour-blind, and for dark screens.

After Okabe and Ito, darkened where they were too light for lines on white. Series differ in dash and shape too, so that
a black-and-white print can be read. In the report each colour is a variable of the style sheet.
"""

from __future__ import annotations

from typing import NamedTuple

INK, MUTED, GRID, PAPER = "#1d2329", "#5d6772", "#e3e7eb", "#fefefe"


class Colour(NamedTuple):
    light: str
    dark: str


SERIES = (
    Colour("#0b66a8", "#5fb2f0"),
    Colour("#d1520a", "#ff9150"),
    Colour("#067a57", "#3fc79a"),
    Colour("#a8438a", "#e88fcb"),
    Colour("#8a6a00", "#e3bd3c"),
    Colour("#3f4a56", "#b4c0cc"),
    Colour("#2f9ac2", "#8bd6f5"),
    Colour("#8c2d19", "#f0836c"),
)
DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [12, 3], [4, 4], [1, 3], [6, 2, 1, 2])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "circle", "square")
PHASES = {  # of a request, in the order of time
    "blocked": Colour("#c9ced6", "#4a535e"),
    "dns": Colour("#5aa9a0", "#6cc4b9"),
    "connect": Colour("#e08a2e", "#f0a552"),
    "ssl": Colour("#a35a9c", "#cf8ac8"),
    "send": Colour("#6f7d8c", "#93a1b0"),
    "wait": Colour("#74b26a", "#86c47b"),
    "receive": Colour("#3d7fc4", "#6aa9ea"),
}
NEUTRAL = {INK: "--ink", MUTED: "--muted", GRID: "--grid", PAPER: "--paper"}


def variables() -> dict[str, str]:
    """Colour in a chart -> variable of the style sheet that has its place in the report."""
    series = {colour.light: f"--s{i}" for i, colour in enumerate(SERIES)}
    phases = {colour.light: f"--p-{name}" for name, colour in PHASES.items()}
    return {**NEUTRAL, **series, **phases}


def of(number: int) -> Colour:
    return SERIES[number % len(SERIES)]


def dash(number: int) -> list[int]:
    return DASHES[number % len(DASHES)]


def shape(number: int) -> str:
    return SHAPES[number % len(SHAPES)]
