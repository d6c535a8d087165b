"""Colours, dashes and shapes of charts: for print, for the colour-blind, and for dark screens.

After Okabe and Ito, darkened where they were too light for lines on white. Series differ in dash and shape too, so that
a black-and-white print can be read. In the report each colour is a variable of the style sheet.
"""

from typing import NamedTuple

from lanelab.driver.record.evidence.parts import Part

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
PARTS = {  # of a load time: docs/reference/parts.md
    Part.DNS: Colour("#4f9c93", "#5fb8ac"),
    Part.CONNECT: Colour("#d9822b", "#eea04a"),
    Part.TLS: Colour("#96539a", "#c683ca"),
    Part.WAIT: Colour("#6aa860", "#7fbd75"),
    Part.SLOW_START: Colour("#c7b236", "#d8c650"),
    Part.REDUCED_WINDOW: Colour("#e08f86", "#b0554b"),
    Part.TRANSMISSION: Colour("#2f74ba", "#5b9ee0"),
    Part.RECOVERY: Colour("#bf3a2b", "#ef7565"),
    Part.MAIN_THREAD: Colour("#7a6a5c", "#b09c8a"),
    Part.IDLE: Colour("#c4cad2", "#454e58"),
}
PART_WORDS = {
    Part.DNS: "DNS",
    Part.CONNECT: "connections",
    Part.TLS: "TLS",
    Part.WAIT: "wait",
    Part.SLOW_START: "slow start",
    Part.REDUCED_WINDOW: "reduced window",
    Part.TRANSMISSION: "transmission",
    Part.RECOVERY: "loss recovery",
    Part.MAIN_THREAD: "main thread",
    Part.IDLE: "idle",
}
NEUTRAL = {INK: "--ink", MUTED: "--muted", GRID: "--grid", PAPER: "--paper"}

# Changes, from much faster to much slower: blue and orange, which the colour-blind tell apart.
FASTER, NO_CHANGE, SLOWER = Colour("#2166ac", "#4a94d8"), Colour("#f0f1f2", "#2b3239"), Colour("#c65102", "#e07b39")
CHANGES = {FASTER.light: "--faster", NO_CHANGE.light: "--no-change", SLOWER.light: "--slower"}


def style() -> str:
    """Return all colours as variables of a style sheet, for light and dark, and classes that have them."""
    named = {f"--s{number}": colour for number, colour in enumerate(SERIES)}
    named |= {f"--p-{name}": colour for name, colour in PHASES.items()}
    named |= {f"--q-{part}": colour for part, colour in PARTS.items()}
    named |= {"--faster": FASTER, "--no-change": NO_CHANGE, "--slower": SLOWER}
    light = "".join(f"{name}:{colour.light};" for name, colour in named.items())
    dark = "".join(f"{name}:{colour.dark};" for name, colour in named.items())
    classes = "".join(f".{name[2:]}{{fill:var({name});background:var({name})}}" for name in named)
    return f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{classes}"


def variables() -> dict[str, str]:
    """Return colour in a chart -> variable of the style sheet that has its place in the report."""
    series = {colour.light: f"--s{i}" for i, colour in enumerate(SERIES)}
    phases = {colour.light: f"--p-{name}" for name, colour in PHASES.items()}
    parts = {colour.light: f"--q-{part}" for part, colour in PARTS.items()}
    return {**NEUTRAL, **series, **phases, **parts, **CHANGES}


def of(number: int) -> Colour:
    return SERIES[number % len(SERIES)]


def dash(number: int) -> list[int]:
    return DASHES[number % len(DASHES)]


def shape(number: int) -> str:
    return SHAPES[number % len(SHAPES)]
