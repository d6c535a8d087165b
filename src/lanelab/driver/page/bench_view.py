"""The page of the link bench: dials, the curve, and what was measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from lanelab.analysis.results.axes import place
from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.analysis.results.layout.page import scroll, section_on_page
from lanelab.analysis.statistics import summarise
from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.page.bench import Bench, Sentence
from lanelab.driver.page.bench_chart import chart, ms, summary_words
from lanelab.driver.page.bench_numbers import DIALS, NAME, Curve, Dot, Measured, Results, curves
from lanelab.driver.page.choices import Choice, ForAll, accept_field, arm_field, as_whole, checked, refusal, site_field
from lanelab.driver.page.documents import document
from lanelab.driver.page.errors import TELL, detail, error_words, note
from lanelab.driver.page.language import number_words, say, text
from lanelab.driver.page.run_view import commands
from lanelab.driver.page.shelf import Shelf

LEAD = text("What a link asks at least, what a plan expects, and what is measured.")
NOTE = text(
    "Dashed: what the link asks at least, since no load can be faster over it. In full: what a plan expects, from "
    "round trips, rates and losses; it knows nothing of queues. Dots: medians of what was measured, with their "
    "intervals."
)
OF_BYTES = text("The least is of the bytes that {arm} had in its latest load.")
OF_NONE = text("The least of {arm} is of an empty page: what its bytes ask for is known when it has been loaded.")
KEPT = text("A bed is kept, with the links that were tested on it: going back to one of these costs nothing.")
NO_BED = text("There is no bed now. The first measurement makes one, which takes some seconds.")
MOST_ROUNDS = 30  # of a setting
USUAL_ARMS = ("quickstart: HTTP", "quickstart: HTTP/2")


@dataclass(frozen=True, slots=True)
class Setup:
    """This is what the form has: a site, one arm or two, a number for each dial, the dial that the curve goes along."""

    site: str
    arms: tuple[str, str]
    values: Mapping[str, str]
    along: str
    rounds: str
    accept: bool = False

    @classmethod
    def read(cls, fields: Mapping[str, Sequence[str]]) -> "Setup":
        def one(name: str, otherwise: str) -> str:
            return next(iter(fields.get(name, ())), otherwise)

        arms = [*fields.get("arm", USUAL_ARMS), "", ""]
        along = one("along", "rtt")
        values = {name: one(name, dial.usual) for name, dial in DIALS.items()}
        return cls(
            one("site", "dummy"),
            (arms[0], arms[1]),
            values,
            along if along in DIALS else "rtt",
            one("rounds", "1"),
            bool(fields.get("accept")),
        )

    @property
    def link(self) -> dict[str, str]:
        """Return the settings of the link, as text."""
        return {name: DIALS[name].text(value) for name, value in self.values.items()}

    @property
    def here(self) -> float:
        """Return where on the curve this setting is. Raises InputError."""
        value = self.values[self.along]
        try:
            return float(value)
        except ValueError:
            dial = DIALS[self.along]
            what, remedy = say("{text!r} is no number", text=value), say("Write it in {unit}", unit=dial.unit_words)
            raise ForAll(what, remedy, key=say(dial.title)) from None

    @property
    def query(self) -> str:
        pairs = [("site", self.site), *(("arm", arm) for arm in self.arms), *self.values.items()]
        accept = [("accept", "1")] if self.accept else []
        return urlencode([*pairs, ("along", self.along), ("rounds", self.rounds), *accept])

    def text(self) -> str:
        """Return the experiment of this setting. Raises InputError where an arm is none."""
        arms = [arm for arm in self.arms if arm]
        return Choice(self.site, arms, self.link, str(MOST_ROUNDS)).text(NAME)

    @property
    def more(self) -> int:
        """Return how many rounds are to be measured."""
        return as_whole(self.rounds, say("Rounds"), 1, MOST_ROUNDS)


def bench_page(
    setup: Setup, bench: Bench, shelf: Shelf, results: Results, *, may_run: bool, problem: Html | None = None
) -> str:
    """Return the page. problem: why nothing was begun."""
    every = results.all()
    drawn: Sequence[Html | None] = ()
    try:
        experiment = checked(setup.text())
        drawn = _drawn(setup, experiment, shelf, every)
    except InputError as error:
        if not isinstance(error, ForAll):
            note(error)
        problem = problem or error_words(error, may_run=may_run)
    return document(
        say("Link bench"),
        el("header", el("p", say("One link, as one likes"), class_="eyebrow"), el("h1", say("Link bench")),
           el("p", say(LEAD), class_="lead")),
        el("p", _latest(bench, every), role="status", id="latest"),
        el("div", refusal(problem or _problem(bench.problem, may_run=may_run)), id="refusal"),
        _form(setup, may_run=may_run),
        el("p", str(bench.at) or say(KEPT if bench.has_bed else NO_BED), class_="note", id="at",
           data_kept=say(KEPT), data_busy=bool(bench.at.text)),
        *drawn,
        _tested(setup, every),
        up=1,
    )  # fmt: skip


def _drawn(setup: Setup, experiment: Experiment, shelf: Shelf, every: Sequence[Measured]) -> list[Html | None]:
    dial = DIALS[setup.along]
    drawn = curves(experiment, setup.link, setup.along, shelf, every)
    here = setup.here
    table = _here(drawn, here)
    least, most = number_words(f"{dial.least:g}"), number_words(f"{dial.most:g}")
    title, unit = say(dial.title), dial.unit_words
    words = say("Load times along {dial}, {least} to {most} {unit}.", dial=title, least=least, most=most, unit=unit)
    of_bytes = [say(OF_NONE if each.bytes_of is None else OF_BYTES, arm=each.arm.name) for each in drawn]
    note = el("p", " ".join([say(NOTE), *of_bytes]), class_="note")
    runs = [run for curve in drawn if (dot := curve.dot_at(here)) for run in dot.runs]
    folder = shelf.names().get(runs[0]) if runs else None
    shell = el("pre", el("code", commands(folder)), tabindex=0) if folder else None
    query = urlencode([("site", setup.site), *(("arm", arm) for arm in setup.arms), *setup.link.items()])
    race = (
        el("p", el("a", say("Let the two race at this setting"), href=f"../race/?{query}")) if setup.arms[1] else None
    )
    return [
        section_on_page("curve", say("Along: {dial}", dial=title), chart(drawn, dial, here, words), table, note, race),
        section_on_page("commands", say("On a command line"), shell) if shell else None,
    ]


def _here(drawn: Sequence[Curve], here: float) -> Html:
    """Return the numbers at this setting."""
    titles = (say("arm"), say("the link asks at least"), say("a plan expects"), say("measured here"))
    head = el("thead", el("tr", [el("th", title, scope="col") for title in titles]))
    rows = []
    for number, curve in enumerate(drawn):
        least, expected = curve.here
        dot = curve.dot_at(here)
        name = el("td", el("i", class_=f"dot s{number}"), curve.arm.name)
        cells = (f"{ms(least)} ms", f"{ms(expected)} ms", summary_words(dot) if dot else say("not yet"))
        rows.append(el("tr", name, [el("td", cell) for cell in cells]))
    return scroll(el("table", head, el("tbody", rows)))


def _problem(problem: Sentence, *, may_run: bool) -> Html | None:
    """Return why the last measurement failed; what its process said of it is for who may run."""
    if not problem.text:
        return None
    words = detail(problem.detail) if may_run else say(TELL)
    return join(str(problem), " ", words) if problem.detail else join(str(problem))


def _latest(bench: Bench, every: Sequence[Measured]) -> str:
    """Say what the last measurement came to."""
    if bench.is_busy or not bench.measured or not every:
        return ""
    first = every[0].run
    loads = [f"{each.cell.arm.name} {_median(each)}" for each in every if each.run == first]
    return say("Measured over {link}: {loads}.", link=every[0].cell.link.label, loads="; ".join(loads))


def _median(each: Measured) -> str:
    summary = summarise(each.values)
    return summary_words(Dot(0.0, summary, ())) if summary else say("no load that counts")


def _form(setup: Setup, *, may_run: bool) -> Html:
    along = [el("option", say(dial.title), value=name, selected=name == setup.along) for name, dial in DIALS.items()]
    measure: list[Html] = []
    if may_run:
        measure = [
            el(
                "label",
                say("Rounds"),
                el("input", type="number", name="rounds", min=1, max=MOST_ROUNDS, value=setup.rounds),
            ),
            el("button", say("Measure here"), type="submit", formmethod="post", class_="measure"),
        ]
    return el(
        "form",
        el("div", site_field(setup.site), arm_field(say("Arm"), setup.arms[0]),
           arm_field(say("Another arm"), setup.arms[1], none=say("none")),
           el("label", say("Curve along"), el("select", along, name="along")), class_="filter"),
        el("div", [_dial(name, value) for name, value in setup.values.items()], class_="dials"),
        el("div", el("button", say("Show"), type="submit"), measure, class_="filter"),
        accept_field(setup.accept) if may_run else None,
        id="bench", action="./",
    )  # fmt: skip


def _dial(name: str, value: str) -> Html:
    """Return a slider and a field for one number. The slider is shown where there is a script for it."""
    dial = DIALS[name]
    limits = {"min": f"{dial.least:g}", "max": f"{dial.most:g}", "step": f"{dial.step:g}"}
    title = f"{say(dial.title)}, {dial.unit_words}"
    number = el("input", type="number", id=f"dial-{name}", name=name, value=value, min=0, step="any")
    slider = el("input", type="range", **limits, value=value, hidden=True, aria_label=say("{dial}, slider", dial=title))
    return el("div", el("label", title, for_=f"dial-{name}"), slider, number, class_="dial")


def _tested(setup: Setup, every: Sequence[Measured]) -> Html | None:
    """Return a line for each run of the bench: its link with its self-test, and what was measured over it."""
    by_run: dict[str, list[Measured]] = {}
    for each in every:
        by_run.setdefault(each.run, []).append(each)
    if not by_run:
        return None
    titles = (say("link"), say("site"), say("self-test"), say("measured"), say("run"))
    head = el("thead", el("tr", [el("th", title, scope="col") for title in titles]))
    rows = [_line(setup, name, cells) for name, cells in by_run.items()]
    return section_on_page(
        "tested", say("Links that were tested"), scroll(el("table", head, el("tbody", rows), class_="tested"))
    )


def _line(setup: Setup, name: str, cells: Sequence[Measured]) -> Html:
    first = cells[0]
    link = {dial: f"{number:g}" for dial in DIALS if (number := place(first.cell, dial).number) is not None}
    there = Setup(first.cell.site, setup.arms, {**setup.values, **link}, setup.along, setup.rounds)
    took = say("not passed")
    if first.self_test_s is not None:
        took = say("passed in {n} s", n=number_words(f"{first.self_test_s:.1f}"))
    loads = "; ".join(f"{each.cell.arm.name} {_median(each)}" for each in cells)
    run = el("td", el("a", name, href=f"../runs/{quote(name)}/"))
    setting = el("td", el("a", link_words(there.values), href=f"?{there.query}"))
    return el("tr", setting, [el("td", text) for text in (first.cell.site, took, loads)], run)


def link_words(values: Mapping[str, str]) -> str:
    """Say a setting of the dials."""
    dials = ((DIALS[name], number_words(value)) for name, value in values.items())
    return ", ".join(f"{say(dial.title)} {value} {dial.unit_words}" for dial, value in dials)
