"""The pictures of two loads, one over the other. A script shows it; without one the pictures are beside each other."""

from collections.abc import Sequence

from lanelab.analysis.results.film import Film
from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.layout.page import section_on_page
from lanelab.analysis.results.report.film import source_of
from lanelab.driver.page.language import say

STEP_MS = 10


def overlay(films: Sequence[tuple[str, Film]]) -> Html | None:
    """Return both, by the names of their arms; None where one has no pictures."""
    if len(films) != 2:
        return None
    (under, one), (over, other) = films
    stacks = [
        _stack(title, pictures)
        for title, pictures in (
            (say("While it loaded"), [_frames(one), _frames(other)]),
            (say("After the load"), [_screenshot(one), _screenshot(other)]),
        )
        if all(pictures)
    ]
    if not stacks:
        return None
    last = round(max((frame.at for film in (one, other) for frame in film.frames), default=0))
    opacity = el("input", type="range", min=0, max=100, step=5, value=50, class_="opacity")
    moment = el("input", type="range", min=0, max=last, step=STEP_MS, value=last, class_="moment")
    controls = el(
        "div",
        el("label", say("{over} over {under}", over=over, under=under), opacity),
        el("label", say("Moment"), moment, el("output", class_="at")) if one.frames and other.frames else None,
        class_="controls",
        role="group",
        aria_label=say("Pictures"),
    )
    section = section_on_page("over", say("One over the other"), controls, el("div", stacks, class_="stacks"))
    return el("div", section, id="overlay", hidden=True)


def _stack(title: str, pictures: Sequence[Sequence[Html]]) -> Html:
    layers = [el("div", each, class_=name) for each, name in zip(pictures, ("under", "over"), strict=True)]
    return el("figure", el("figcaption", title), el("div", layers, class_="stack"))


def _frames(film: Film) -> list[Html]:
    return [el("img", src=source_of(frame.jpeg), alt="", data_at=round(frame.at)) for frame in film.frames]


def _screenshot(film: Film) -> list[Html]:
    return [el("img", src=source_of(film.screenshot), alt="")] if film.screenshot else []
