"""How pages appeared: filmstrips of all cells on one time scale, and how they looked at the end."""

import base64
from collections.abc import Sequence

from lanelab.analysis.results.film import Film, Frame
from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.analysis.results.layout.page import scroll, section_on_page
from lanelab.analysis.results.load_view import round_step
from lanelab.analysis.results.numbers import milliseconds
from lanelab.analysis.results.report.waterfall import Scale, grid, panel

MOMENTS = 10  # about as many pictures in a row
COLUMN, GAP, LABEL = 150, 10, 34  # in the drawing's own coordinates
STRIP = 30
MEDIAN_FILMS = (
    "What was to be seen at these moments, in the trial nearest to each cell's median; a picture that is the same as "
    "the one before is pale. Speed Index: the mean time until the page's pixels had their last colours; visually "
    "complete: when all of them had (docs/reference/trace.md)."
)


def films(shown: Sequence[tuple[str, Film]], end: float, note: str = MEDIAN_FILMS) -> Html | None:
    """Show the films. `shown` has cells by name, with what there is of each; `note` says which loads they are of."""
    strips = [(name, film) for name, film in shown if film.frames]
    screens = [(name, film.screenshot) for name, film in shown if film.screenshot]
    if not strips and not screens:
        return None
    last = max((frame.at for _, film in strips for frame in film.frames), default=end)
    step = round_step(min(end, last) / MOMENTS)
    moments = [step * number for number in range(int(min(end, last) / step) + 2)]
    rows = [_strip(number, name, film, moments) for number, (name, film) in enumerate(strips, 1)]
    pictures = [
        el("figure", el("figcaption", name), _image(jpeg, f"The page after its load: {name}")) for name, jpeg in screens
    ]
    return section_on_page(
        "filmstrips",
        "How the page appeared",
        el("p", note, class_="note") if strips else None,
        rows,
        el("h3", "After the load") if screens else None,
        el("div", pictures, class_="screens") if screens else None,
    )


def progress_strip(film: Film | None, end: float) -> Html | None:
    """Return how far the page was painted, on the scale of its waterfall."""
    if film is None or not film.frames:
        return None
    scale, drawn = Scale(end), []
    for frame, after in zip(film.frames, [*film.frames[1:], None], strict=True):
        until = after.at if after else film.measures.get("plt_ms", end)
        height = (STRIP - 4) * frame.complete
        if height > 0:
            drawn.append(
                el("rect", el("title", f"{frame.complete:.0%} painted from {frame.at:.0f} ms on"), x=scale.at(frame.at),
                   width=scale.width(frame.at, until), y=round(STRIP - height, 1), height=round(height, 1),
                   class_="painted")
            )  # fmt: skip
    words = _measures(film)
    return panel(["visual progress"], STRIP, [*grid(scale), *drawn], f"Visual progress. {words}", kind="strip")


def _measures(film: Film) -> str:
    named = (("Speed Index", "speed_index_ms"), ("visually complete", "visually_complete_ms"))
    return ", ".join(f"{name} {milliseconds(film.measures[key])} ms" for name, key in named if key in film.measures)


def _strip(number: int, name: str, film: Film, moments: Sequence[float]) -> Html:
    """Return a picture for each moment. Each is in the page once, however often it is shown."""
    at = [film.at(moment) for moment in moments]
    height = max(_height(frame) for frame in film.frames)
    used = list(dict.fromkeys(at))
    names = {frame: f"film-{number}-{place}" for place, frame in enumerate(used)}
    kept = [
        el("image", id=names[frame], href=source_of(frame.jpeg), width=COLUMN, height=_height(frame)) for frame in used
    ]
    drawn: list[Html] = []
    before: Frame | None = None
    for column, (moment, frame) in enumerate(zip(moments, at, strict=True)):
        x = column * (COLUMN + GAP)
        drawn.append(el("text", f"{moment:,.0f} ms", x=x, y=LABEL - 12))
        words = f"{name} at {moment:,.0f} ms: {frame.complete:.0%} painted"
        same = "same" if frame is before else None
        edge = el("rect", x=x, y=LABEL, width=COLUMN, height=height)
        drawn.append(el("g", el("title", words), el("use", href=f"#{names[frame]}", x=x, y=LABEL), edge, class_=same))
        before = frame
    width = len(moments) * (COLUMN + GAP)
    picture = el(
        "svg", el("defs", kept), drawn, viewBox=f"0 0 {width} {LABEL + height + 2}", role="img",
        aria_label=f"Filmstrip of {name}. {_measures(film)}", class_="film",
    )  # fmt: skip
    caption = el("figcaption", join(el("b", name), el("span", _measures(film), class_="outcome")))
    return el("figure", caption, scroll(picture))


def _height(frame: Frame) -> int:
    """Return the height of a picture that is as wide as a column."""
    return round(COLUMN * frame.height / frame.width)


def _image(jpeg: bytes, words: str) -> Html:
    return el("img", src=source_of(jpeg), alt=words)


def source_of(jpeg: bytes) -> str:
    """Return a picture as an address that has all of it."""
    return f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}"
