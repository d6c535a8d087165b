"""A race: two cells of a run, each pair of their trials on one clock. What is said above it are the paired statistics
of the run, from the same code as everywhere."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lanelab.analysis.results.comparisons import ComparisonRow, comparisons
from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.layout.model import Mood, Part, Section, Words, table, words
from lanelab.analysis.results.layout.page import on_page, scroll, section_on_page
from lanelab.analysis.results.model import Cell, Run, Trial
from lanelab.analysis.results.numbers import change_words, shown
from lanelab.analysis.results.report.film import source_of
from lanelab.analysis.results.report.loads import Drawn, drawn_trial, filmstrips, trial_drawing
from lanelab.analysis.results.sections.comparisons import ESTIMATE, columns, provisional
from lanelab.driver.page.documents import document
from lanelab.driver.page.language import in_english, number_words, say, text
from lanelab.driver.page.pages import Pages, reading
from lanelab.driver.page.run_view import commands_section

NOTE = text(
    "Both pages begin at the same moment here. When they were measured they took turns, one load at a time on one bed: "
    "neither has slowed the other. Times are in ms since the page was asked for."
)
SPEEDS = {
    "1": text("as fast as it was"),
    "0.5": text("half as fast"),
    "0.2": text("a fifth as fast"),
    "0.05": text("a twentieth as fast"),
}
NO_FILM = text("There are no pictures of these loads: an experiment with trace: filmstrip makes them.")
FILMED = text(
    "What was to be seen of each at these moments; a picture that is the same as the one before is pale. Speed Index: "
    "the mean time until the page's pixels had their last colours; visually complete: when all of them had."
)
APART = text("These two differ in more than their arm, so there is no verdict. The comparison says what differs.")
NOT_IN_TURNS = text("Arms were not interleaved.")
ONE_CELL = text("This run has one cell only.")
NONE_YET = text("No round has both yet. A pair is shown here when both its trials are finished.")


def routes(pages: Pages) -> list[Route]:
    """Return the address of the races of a run."""

    async def race(request: Request) -> Response:
        cells, number = request.query_params.getlist("cell"), request.query_params.get("round", "")
        return await pages.page(lambda: race_page(pages.run(request).data, cells, number))

    return [reading("/runs/{run}/race/", race)]


@dataclass(frozen=True, slots=True)
class Race:
    """Two cells of a run; `other` is measured against `one`."""

    run: Run
    one: Cell
    other: Cell

    @property
    def pairs(self) -> dict[int, tuple[Trial, Trial]]:
        """Return round -> the trials of both, where both have a result."""
        results = self.run.first_results()
        one, other = results[self.one.number], results[self.other.number]
        return {number: (one[number], other[number]) for number in sorted(one.keys() & other.keys())}

    @property
    def compared(self) -> ComparisonRow | None:
        """Return what the statistics say: as one of the run's comparisons, where it is one. None where the two differ
        in more than their arm, or were not interleaved."""
        if self.one.group != self.other.group:
            return None
        numbers = (self.one.number, self.other.number)
        plan = self.run.plan
        if numbers not in [(base.number, cell.number) for base, cell in plan.compared]:
            plan = replace(plan, compared=((self.one, self.other),))
        rows = comparisons(replace(self.run, plan=plan))
        return next((row for row in rows if (row.base_cell.number, row.cell.number) == numbers), None)


def race_of(run: Run, cells: Sequence[str]) -> Race | None:
    """Return the race of the cells with these numbers, else of the first two that the run compares. None where it has
    no two."""
    by_number = {str(cell.number): cell for cell in run.cells}
    chosen = [by_number[number] for number in cells if number in by_number]
    if len(chosen) == 2 and chosen[0] != chosen[1]:
        one, other = chosen
        turned = any((base.number, cell.number) == (other.number, one.number) for base, cell in run.plan.compared)
        return Race(run, other, one) if turned else Race(run, one, other)
    if run.plan.compared:
        return Race(run, *run.plan.compared[0])
    return Race(run, *run.cells[:2]) if len(run.cells) > 1 else None


def race_page(run: Run, cells: Sequence[str], wanted: str) -> str:
    """Return the page. wanted: a round; without one, the latest that is finished."""
    race = race_of(run, cells)
    if race is None:
        return document(say("Race"), el("header", el("h1", say("A race takes two"))), el("p", say(ONE_CELL)), up=3)
    pairs = race.pairs
    number = int(wanted) if wanted.isdecimal() and len(wanted) < 9 and int(wanted) in pairs else max(pairs, default=0)
    drawn = [drawn_trial(run, trial) for trial in pairs[number]] if pairs else []
    title = say("{arm} against {base}", arm=race.other.arm.name, base=race.one.arm.name)
    place = f"{race.one.site}, {race.one.link.label}"
    return document(
        title,
        el("header", el("p", el("a", run.name, href="../"), class_="eyebrow"), el("h1", title),
           el("p", place, class_="lead"), id="head"),
        el("p", latest_words(race), role="status", id="latest"),
        _verdict(race),
        _chooser(race, number),
        _stage(race, number, [each for each in drawn if each]),
        in_english(filmstrips([each for each in drawn if each], say(FILMED))),
        _rounds(race, number),
        commands_section(run),
        up=3,
        changes="../changes" if run.state == "running" else "",
    )  # fmt: skip


def latest_words(race: Race) -> str:
    """Say what the latest round came to: one sentence for each round, for who does not see it."""
    pairs = race.pairs
    if not pairs:
        return say(NONE_YET)
    number = max(pairs)
    one, other = (_outcome(race.run, trial) for trial in pairs[number])
    return say(
        "Round {round}: {base} {one}, {arm} {other}.",
        round=number, base=race.one.arm.name, one=one, arm=race.other.arm.name, other=other,
    )  # fmt: skip


def _outcome(run: Run, trial: Trial) -> str:
    return (
        say("timed out")
        if trial.value is None
        else number_words(f"{shown(run.primary, trial.value)} {run.primary.unit}".strip())
    )


def _verdict(race: Race) -> Html | None:
    """Return what may be said after so many rounds: the table of comparisons, of this one."""
    row = race.compared
    if row is None:
        apart = race.one.group != race.other.group
        return section_on_page("verdict", say("Verdict"), el("p", say(APART if apart else NOT_IN_TURNS)))
    one = row.comparison
    if one is None:
        return section_on_page("verdict", say("Verdict"), el("p", say("Not compared: {why}.", why=row.why)))
    mood: Mood = "good" if "faster" in one.verdict else "bad" if "slower" in one.verdict else ""
    rounds = f"{one.n} round" if one.n == 1 else f"{one.n} rounds"
    lead = f"{row.cell.arm.name} against {row.base.name}: {one.verdict} ({change_words(one.ratio.value)}, {rounds})."
    parts: tuple[Part, ...] = (
        Words(lead, mood or "strong"),
        table(columns([row]), [row]),
        *words([provisional([row]), ESTIMATE], "muted"),
    )
    return in_english(on_page(Section("verdict", say("Verdict"), parts)))


def _chooser(race: Race, number: int) -> Html:
    """Return the form with which other cells, or another round, are chosen."""
    cells = [
        el("label", title, el("select", [_option(cell, chosen) for cell in race.run.cells], name="cell"))
        for title, chosen in ((say("One"), race.one), (say("Against it"), race.other))
    ]
    rounds = [el("option", each, value=each, selected=each == number) for each in race.pairs]
    latest = el("option", say("the latest"), value="")
    return el(
        "form", *cells, el("label", say("Round"), el("select", latest, rounds, name="round")),
        el("button", say("Show"), type="submit"), class_="filter", id="choose",
    )  # fmt: skip


def _option(cell: Cell, chosen: Cell) -> Html:
    return el("option", str(cell), value=cell.number, selected=cell.number == chosen.number)


def _stage(race: Race, number: int, drawn: Sequence[Drawn]) -> Html:
    """Return both loads on one clock. The script moves it; without it they are as they were at the end."""
    if not drawn:
        return section_on_page("race", say("The pair"), el("p", say(NONE_YET)))
    end = max(max(each.view.end, each.trial.value or 0.0) for each in drawn) * 1.02
    film = None if any(each.film and each.film.frames for each in drawn) else el("p", say(NO_FILM), class_="note")
    lanes = el("div", [_lane(race, each, end) for each in drawn], class_="lanes")
    loads = el("div", [el("div", _title(each), in_english(trial_drawing(each, end))) for each in drawn], class_="pair")
    stage = el("div", _controls(end), film, lanes, loads, class_="replay", data_end=round(end))
    return section_on_page("race", say("Round {n}", n=number), el("p", say(NOTE), class_="note"), stage)


def _controls(end: float) -> Html:
    """Return what moves the clock. It is shown where there is a script for it."""
    speeds = [el("option", say(name), value=value) for value, name in SPEEDS.items()]
    return el(
        "div",
        el("button", say("Play"), type="button", class_="play", data_play=say("Play"), data_pause=say("Pause")),
        el("label", say("Moment"), el("input", type="range", min=0, max=round(end), step=10, value=round(end))),
        el("output", "", data_words="{ms} ms"),
        el("label", say("Speed"), el("select", speeds)),
        class_="controls", role="group", aria_label=say("Replay"), hidden=True,
    )  # fmt: skip


def _lane(race: Race, each: Drawn, end: float) -> Html:
    """Return the screen of an arm, and how long it took."""
    outcome = _outcome(race.run, each.trial)
    frames = each.film.frames if each.film else ()
    pictures = [el("img", src=source_of(frame.jpeg), alt="", data_at=round(frame.at)) for frame in frames]
    screen = el("div", pictures, class_="screen", hidden=True)
    lap = el("p", outcome, class_="lap", data_loading=say("loading"), data_loaded=outcome)
    return el("div", el("h3", each.cell.arm.name), lap, screen, data_done=round(each.trial.value or end))


def _title(each: Drawn) -> Html:
    link = el("a", say("trial {n}", n=each.trial.number), href=f"../trials/{each.trial.number}/")
    return el("h3", f"{each.title} ", link)


def _rounds(race: Race, number: int) -> Html | None:
    """Return a line for each pair, with a link that shows it."""
    if not race.pairs:
        return None
    titles = (say("round"), race.one.arm.name, race.other.arm.name, say("change"))
    head = el("thead", el("tr", [el("th", title, scope="col") for title in titles]))
    body = el("tbody", [_line(race, each, *trials, is_shown=each == number) for each, trials in race.pairs.items()])
    return section_on_page("rounds", say("All rounds"), scroll(el("table", head, body)))


def _line(race: Race, number: int, one: Trial, other: Trial, *, is_shown: bool) -> Html:
    cells = [("cell", race.one.number), ("cell", race.other.number), ("round", number)]
    link = el("a", number, href=f"?{urlencode(cells)}", aria_current="true" if is_shown else None)
    change = number_words(change_words(other.value / one.value)) if one.value and other.value else ""
    values = [_outcome(race.run, trial) for trial in (one, other)]
    return el("tr", el("td", link), [el("td", value) for value in values], el("td", change))
