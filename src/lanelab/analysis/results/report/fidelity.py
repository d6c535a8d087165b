"""The page of a verified site: its score, the evidence by protocol, and the pictures side by side."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.layout.model import Head, Points, Section, Words, text_table, words
from lanelab.analysis.results.layout.page import head_on_page, on_page
from lanelab.analysis.results.report.atomic_files import write_whole
from lanelab.analysis.results.report.page import document
from lanelab.driver.site.fidelity import Fidelity, ProtocolFidelity, percent

PAGE = "fidelity.html"


@dataclass(frozen=True, slots=True)
class ComparedPicture:
    """A picture of the load over this protocol that differs most. PNG."""

    protocol: str
    loaded: bytes
    difference: bytes | None  # None: there is no recorded picture
    share: float | None


def write_fidelity(
    folder: Path,
    name: str,
    title: str,
    fidelity: Fidelity,
    recorded: bytes | None,
    pictures: Sequence[ComparedPicture],
    differences: Sequence[tuple[str, Sequence[str]]] = (),
) -> Path:
    """Write the page into this folder; returns where it is."""
    sections = (
        _evidence(fidelity),
        _lists("differences", "What differed", differences),
        _lists("problems", "Why there is no score", [(each.protocol, each.problems) for each in fidelity.protocols]),
        _pictures(recorded, pictures),
        _lists(
            "not-reproduced",
            "What the server does not reproduce",
            [(each.protocol, each.not_reproduced) for each in fidelity.protocols],
        ),
    )
    body = el(
        "body",
        el("main", head_on_page(_head(name, title, fidelity)), [on_page(section) for section in sections]),
        el("footer", f"Made by lanelab {fidelity.lanelab}. Nothing on this page is loaded from elsewhere."),
    )
    target = folder / PAGE
    write_whole(target, document(f"{name} - fidelity", body, images=True).encode())
    return target


def _head(name: str, title: str, fidelity: Fidelity) -> Head:
    scores = (f"{each.protocol}: {percent(each.score)}" for each in fidelity.protocols)
    return Head(
        "lanelab: fidelity of a site",
        name,
        title,
        f"{fidelity.at_utc}, {fidelity.browser}, {fidelity.server}, digest {fidelity.digest}",
        (Points(words([f"Score: {fidelity.words}, the least of its protocols.", *scores]), style="said"),),
    )


def _evidence(fidelity: Fidelity) -> Section:
    note = "Counts are sums over all loads; a score is the least of requests, bytes, stability and picture."
    evidence = text_table(EVIDENCE, map(_row, fidelity.protocols), right=EVIDENCE[1:])
    return Section("evidence", "By protocol", (evidence, Words(note, "muted")))


EVIDENCE = (
    *("protocol", "score", "loads", "wanted", "exact", "inexact", "missing", "extra"),
    *("bytes recorded", "bytes off", "same in each load", "pixels that differ"),
)


def _row(each: ProtocolFidelity) -> tuple[str, ...]:
    picture = "-" if each.pixels_differ is None else f"{each.pixels_differ:.2%}"
    counts = (each.loads, each.wanted, each.exact, each.inexact, each.missing, each.extra)
    sizes = (each.bytes_recorded, each.bytes_off)
    numbers = [f"{number:,}" for number in (*counts, *sizes)]
    return each.protocol, percent(each.score), *numbers, f"{each.always:,} of {each.ever:,}", picture


def _lists(name: str, title: str, of_protocols: Sequence[tuple[str, Sequence[str]]]) -> Section:
    lists = [
        part for protocol, lines in of_protocols if lines for part in (Words(protocol, "strong"), Points(words(lines)))
    ]
    return Section(name, title, tuple(lists))


def _pictures(recorded: bytes | None, pictures: Sequence[ComparedPicture]) -> Section:
    note = "Of each protocol the load that differs most. In the third picture, what differs is red."
    if recorded is None:
        note = "The recording has no picture of the page, so the replay's are compared with nothing."
    figures = []
    for each in pictures:
        columns = [("recorded", recorded), ("replayed", each.loaded), ("difference", each.difference)]
        shown = [(label, png) for label, png in columns if png and (recorded or label == "replayed")]
        share = f": {each.share:.2%} of the pixels differ" if recorded and each.share is not None else ""
        figures.append(_figure(f"{each.protocol}{share}", shown))
    return Section("pictures", "Pictures", (Words(note, "muted"), *figures))


def _figure(caption: str, columns: Sequence[tuple[str, bytes]]) -> Html:
    shown = [el("div", el("p", label, class_="note"), _image(label, png)) for label, png in columns]
    return el("figure", el("figcaption", el("b", caption)), el("div", shown, class_="side-by-side"))


def _image(label: str, png: bytes) -> Html:
    return el("img", src=f"data:image/png;base64,{base64.b64encode(png).decode()}", alt=label)
