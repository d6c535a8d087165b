"""The section with a drawing of each cell's median trial, all on one scale, and the one with any two side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

from lanelab.analysis.results import axes, tables
from lanelab.analysis.results.film import FILMSTRIP, SCREENSHOT, Film, film_of
from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.layout.page import section_on_page
from lanelab.analysis.results.load_parts import LoadView
from lanelab.analysis.results.load_view import CAPTURE, load_view, timeline_of
from lanelab.analysis.results.model import Cell, Run, Trial
from lanelab.analysis.results.numbers import seconds
from lanelab.analysis.results.report.film import MEDIAN_FILMS, films, progress_strip
from lanelab.analysis.results.report.part_strip import part_strip
from lanelab.analysis.results.report.sequence import sequence
from lanelab.analysis.results.report.waterfall import waterfall
from lanelab.analysis.results.step_views import views_of_steps
from lanelab.driver.run.folder.trial_content import unchanged_artifacts
from lanelab.driver.run.folder.trial_records import read_record

READ = (CAPTURE, FILMSTRIP, SCREENSHOT)  # files of a trial
NOTE = (
    "The trial nearest to each cell's median; all are on one time scale, in ms since the page was asked for. Point at "
    "a bar, tap it, or choose a drawing with the Tab key and go through it with the arrow keys: address, protocol, "
    "priority, connection."
)
ON_THE_LINK = (
    " Arms that go through the gateway are drawn by what was on the link; what was between browser and gateway is in "
    "the text of each bar."
)
CONNECTIONS = (
    " Below the requests: each TCP connection with its set-up (a thin line is idle), when bytes came, and how fast."
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A cell with the trial that is drawn of it."""

    cell: Cell
    trial: Trial
    view: LoadView
    film: Film | None
    outcome: str  # what came out, for the reader who has guessed
    steps: Sequence[tuple[str, LoadView]] = ()  # of a journey, each on its own clock

    @property
    def name(self) -> str:
        return f"load-{self.cell.number}"

    @property
    def title(self) -> str:
        return f"{self.cell.link.label}, {self.cell.arm.name}"


def drawn_loads(run: Run, *, pictures: bool = True) -> list[Drawn]:
    """Return what can be drawn, in the order of the cells. `pictures`: with those of the page while it loaded."""
    loads_drawn = []
    for row, trials in zip(tables.rows(run), run.by_cell().values(), strict=True):
        trial = tables.median_trial(trials)
        drawn = drawn_trial(run, trial, _outcome(row), pictures=pictures) if trial else None
        loads_drawn += [drawn] if drawn else []
    return loads_drawn


def drawn_trial(run: Run, trial: Trial, outcome: str = "", *, pictures: bool = True) -> Drawn | None:
    """Return what can be drawn of a trial; None where it made no request."""
    record = read_record(run.folder, trial.number)
    if not record.requests:
        return None
    rate = axes.link_numbers(dict(trial.cell.link.settings))["rate_down_mbit"]
    folder = unchanged_artifacts(run.folder, trial.number, READ)
    view = load_view(record, timeline_of(folder, record), rate)
    film = film_of(folder, record) if pictures else None
    return Drawn(trial.cell, trial, view, film, outcome, views_of_steps(record, view))


def drawn_cell(run: Run, cell: Cell) -> Drawn | None:
    """Return what can be drawn of the median trial of a cell; None where no trial of it counts."""
    row = next(row for row in tables.rows(run) if row.cell.number == cell.number)
    trial = tables.median_trial(run.by_cell()[cell.number])
    return drawn_trial(run, trial, _outcome(row)) if trial else None


def trial_drawing(drawn: Drawn, end: float | None = None) -> Html | None:
    """Draw a load, until `end` ms where others are on the same scale."""
    end = end or drawn.view.end
    return waterfall(drawn.view, end, part_strip(drawn.view.stretches, end), progress_strip(drawn.film, end))


def step_drawings(drawn: Drawn) -> list[Html]:
    """Draw the steps of a journey, all on one scale, each folded."""
    end = max((view.end for _, view in drawn.steps), default=0.0)
    return [
        el("details", el("summary", el("b", f"{number}. {name}")), waterfall(view, end), class_="step")
        for number, (name, view) in enumerate(drawn.steps, 1)
    ]


def _outcome(row: tables.Row) -> str:
    if row.summary is None:
        return ""
    estimate = row.summary.estimate
    ends = [row.shown(end) for end in (estimate.low, estimate.high) if end is not None]
    between = f" ({' to '.join(ends)})" if ends else ""
    return f"{row.cell}: median {row.shown(estimate.median)}{between} {row.primary.unit}, n = {estimate.n}"


def loads(drawn: list[Drawn]) -> Html | None:
    """Return each drawing, folded."""
    if not drawn:
        return None
    end = max(each.view.end for each in drawn)
    folds = [
        el(
            "details",
            el("summary", el("b", each.title), el("span", f" {each.cell.site}, "), *_times(each)),
            trial_drawing(each, end),
            *step_drawings(each),
            _packets(each, end),
            id=each.name,
            class_="trial",
            data_said=each.outcome,
            data_title=f"{each.cell.site}, {each.title}",
        )
        for each in drawn
    ]
    note = NOTE + (CONNECTIONS if any(each.view.lanes for each in drawn) else "")
    note += ON_THE_LINK if any(each.view.by_gateway for each in drawn) else ""
    return section_on_page("waterfalls", "Waterfalls", el("p", note), folds)


def filmstrips(drawn: Sequence[Drawn], note: str = MEDIAN_FILMS) -> Html | None:
    """Return the filmstrips; None where no trial has pictures. `note`: which loads they are of."""
    end = max((each.view.end for each in drawn), default=1.0)
    return films([(f"{each.cell.site}, {each.title}", each.film) for each in drawn if each.film], end, note)


def _packets(each: Drawn, end: float) -> Html | None:
    drawn = sequence(each.view.packets, len(each.view.lanes), end)
    return el("details", el("summary", "Packets over time"), drawn, class_="packets") if drawn else None


def packets_figure(drawn: Sequence[Drawn], title: str) -> Html | None:
    """Return the packets of these cells' median trials, as a figure of the experiment's."""
    end = max((each.view.end for each in drawn), default=0.0)
    folds = [
        el("details", el("summary", el("b", each.title)), picture)
        for each in drawn
        if (picture := sequence(each.view.packets, len(each.view.lanes), end))
    ]
    caption = el("figcaption", el("b", title), " Of the trial nearest to each cell's median.")
    return el("figure", caption, folds) if folds else None


def _times(each: Drawn) -> list[object]:
    return [f"trial {each.trial.number}", el("span", f": {seconds(each.trial.value or 0.0)}", class_="outcome")]


def side_by_side(drawn: list[Drawn]) -> Html | None:
    """Return where the reader chooses two cells. The script fills it; without it a list leads to the drawings."""
    if len(drawn) < 2:
        return None
    options = [el("option", f"{each.cell.site}, {each.title}", value=each.name) for each in drawn]
    chooser = el(
        "form",
        el("label", "One ", el("select", options, name="one")),
        el("label", "Another ", el("select", options, name="other")),
        class_="chooser",
        hidden=True,
    )
    links = [el("li", el("a", f"{each.cell.site}, {each.title}", href=f"#{each.name}")) for each in drawn]
    without = el("div", el("p", "Open any two of these; they are on one scale:"), el("ul", links), class_="without")
    guess = el(
        "details",
        el("summary", "Predict first: which of the two is faster, and by how much? Then open this."),
        el("ul"),
        class_="reveal",
        hidden=True,
    )
    return section_on_page("side-by-side", "Side by side", chooser, without, guess, el("div", class_="pair"))
