"""The report: one HTML file that asks nothing of the network.

Its content security policy allows its own style sheet and its own script (by hash) and nothing else, so that whatever a
site or an experiment puts into a name or a URL stays text. Without the script all of it can be read.
"""

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from lanelab.analysis.results import palette
from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.analysis.results.layout.page import head_on_page, on_page, parts_on_page
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.report import figures, loads
from lanelab.analysis.results.report.atomic_files import write_whole
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.sections.head import head, tiles
from lanelab.analysis.results.sections.of_run import sections_of
from lanelab.analysis.results.sections.seen import Seen
from lanelab.driver.run.folder import format as run_format

_SECTION = re.compile(r'<section id="([\w-]+)"><h2>(.*?)</h2>')


def write_report(folder: Path, output: Path | None = None) -> Path:
    """Write the report of the run in this folder; returns where it is."""
    target = output or folder / run_format.REPORT
    text = page(read_run(folder))
    write_whole(target, text.encode())
    return target


@dataclass(frozen=True, slots=True)
class ReportParts:
    """These are what a report shows. `images`: it has some within itself."""

    title: str
    main: list[Html]
    footer: Html
    images: bool


def page(run: Run) -> str:
    """Return the whole page."""
    report = report_parts(run)
    skip = el("a", "Skip to the contents", href="#contents", class_="skip")
    body = el("body", skip, el("main", report.main), el("footer", report.footer))
    return document(f"{report.title} - lanelab report", body, images=report.images)


def report_parts(run: Run) -> ReportParts:
    """Return the parts of the report, for a page of their own or within another one."""
    seen = Seen(run)
    nothing, drawn = seen.nothing, loads.drawn_loads(run)
    of_run = {section.name: html for section in sections_of(seen) if (html := on_page(section))}

    def those(*names: str) -> list[Html]:
        return [of_run.pop(name) for name in names if name in of_run]

    begin = head(seen)
    parts = [
        head_on_page(begin),
        *parts_on_page([tiles(seen)]),
        *those("claims"),
        None if nothing else figures.figures(run, drawn),
        *those("results", "load", "objects", "comparisons", "beds", "machines", "gateway", "sites"),
        loads.filmstrips(drawn),
        loads.side_by_side(drawn),
        loads.loads(drawn),
        *those("failures", "witnesses", "machine", "proofs", "links", "noise"),
        *of_run.values(),
    ]
    first, second, *rest = [part for part in parts if part]
    guess = el("button", "Predict first: hide the results", id="predict", type="button", hidden=True)
    main = [first, *([guess] if drawn else []), second, contents([first, second, *rest]), *rest]
    return ReportParts(begin.title, main, _footer(run), any(each.film for each in drawn))


def document(title: str, body: Html, *, images: bool = False, style: str = "", script: str = "") -> str:
    """Return a page with the style of reports, and their script. `images`: it has some within itself; `style` and
    `script`: its own, after those of all reports."""
    style, script = style_of_reports() + style, script_of_reports() + script
    allowed = f"default-src 'none'; style-src 'sha256-{_digest(style)}'; script-src 'sha256-{_digest(script)}'"
    allowed += "; img-src data:" if images else ""
    policy = el("meta", http_equiv="Content-Security-Policy", content=allowed)
    head = page_head(title, el("style", Html(style)), policy=policy)
    whole = el("html", head, Html(body.removesuffix("</body>") + el("script", Html(script)) + "</body>"), lang="en")
    return f"<!doctype html>\n{whole}\n"


def page_head(title: str, *others: Html, policy: Html | None = None) -> Html:
    """Return the head of a page of ours, for any width, light and dark. `policy`: what the page may use, which a server
    may say in its place."""
    return el(
        "head",
        el("meta", charset="utf-8"),
        policy,
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("title", title),
        *others,
    )


def contents(parts: Sequence[Html]) -> Html:
    """Return links to the sections among these."""
    matches = (_SECTION.match(part) for part in parts)
    return el(
        "nav",
        [el("a", Html(match[2]), href=f"#{match[1]}") for match in matches if match],
        aria_label="Contents",
        id="contents",
    )


def _footer(run: Run) -> Html:
    version = run.meta.get("lanelab", "")
    left_out = (
        "Not printed: waterfalls, filmstrips, what the machine did, the self-tests' numbers, provenance, the "
        "experiment file and how to read this. All of it is in the report itself. "
    )
    return join(
        el("span", left_out, class_="on-paper"),
        f"Made by lanelab {version} from the run folder {run.folder.resolve().name}. ",
        "Nothing on this page is loaded from elsewhere.",
    )


def style_of_reports() -> str:
    """Return the style sheet, after the colours of charts for light and dark."""
    return f"{palette.style()}\n{resources.files('lanelab.analysis.results.report').joinpath('style.css').read_text()}"


def script_of_reports() -> str:
    return resources.files("lanelab.analysis.results.report").joinpath("script.js").read_text()


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
