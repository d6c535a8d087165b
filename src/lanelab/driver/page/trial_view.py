"""A trial: its waterfall, connections and packets, what its load time is made of, its requests, its files."""

import shlex
from urllib.parse import quote

from lanelab.analysis.results.export_files import HAR, TRACE
from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.layout.page import on_page, section_on_page
from lanelab.analysis.results.load_view import CAPTURE
from lanelab.analysis.results.report.loads import drawn_trial, filmstrips, packets_figure, step_drawings, trial_drawing
from lanelab.driver.api.opened_run import Run
from lanelab.driver.api.trial import Trial
from lanelab.driver.page.block_view import block_section
from lanelab.driver.page.documents import document
from lanelab.driver.page.explanation import explanation, others_of
from lanelab.driver.page.language import in_english, say, text
from lanelab.driver.page.requests_view import headers_section
from lanelab.driver.run.folder.trial_content import artifact_path

FOR = {
    CAPTURE: text("Wireshark opens it, decrypted"),
    HAR: text("unpacked: the network panel of DevTools"),
    TRACE: text("Perfetto, and the performance panel of DevTools"),
}


def trial_page(run: Run, trial: Trial, against: str = "") -> str:
    """Return the page of a trial. Where nothing was loaded it has numbers and reasons alone. `against`: the arm that
    its own is explained against."""
    drawn, record = drawn_trial(run.data, trial.data), trial.record()
    parts = [
        el(
            "header",
            _around(run, trial),
            el("h1", say("Trial {n}", n=trial.number)),
            el("p", trial.heading, class_="lead"),
        ),
        None
        if drawn is None
        else section_on_page(
            "load", say("How it loaded"), in_english(trial_drawing(drawn)), *map(in_english, step_drawings(drawn))
        ),
        None if drawn is None else in_english(packets_figure([drawn], say("Packets over time"))),
        None if drawn is None else in_english(filmstrips([drawn])),
        *(in_english(on_page(section)) for section in trial.result().sections),
        headers_section(record),
        block_section(run.data, record, trial.arm),
        *_why(run, trial, against),
        _files(trial),
    ]
    return document(say("Trial {n} of {name}", n=trial.number, name=run.name), *parts, up=4)


def _around(run: Run, trial: Trial) -> Html:
    """Return links to the run and to the trials beside this one."""
    last = run.data.trials[-1].number
    before = el("a", say("the one before"), href=f"../{trial.number - 1}/", rel="prev") if trial.number > 1 else None
    after = el("a", say("the next"), href=f"../{trial.number + 1}/", rel="next") if trial.number < last else None
    return el("p", el("a", run.name, href="../../"), " ", before, " ", after, class_="eyebrow")


def _why(run: Run, trial: Trial, against: str) -> list[Html]:
    """Return why its arm is faster or slower than another, and where another is chosen."""
    cell = trial.data.cell
    others = others_of(run, cell)
    if not others or not trial.data.ok:
        return []
    chosen = next((each for each in others if each.arm.name == against), others[0])
    options = [el("option", each.arm.name, selected=each.number == chosen.number) for each in others]
    form = el(
        "form",
        el("label", say("Against another arm"), el("select", options, name="against")),
        el("button", say("Explain"), type="submit"),
        class_="filter",
        action="#why",
    )
    return [explanation(run, chosen, cell), form] if len(others) > 1 else [explanation(run, chosen, cell)]


def _files(trial: Trial) -> Html:
    rows = [
        el(
            "li",
            el("a", name, href=f"files/{quote(name)}", download=True),
            f" - {say(FOR[name])}" if name in FOR else None,
        )
        for name in trial.files()
    ]
    shell = f"wireshark {shlex.quote(str(artifact_path(trial.folder, trial.number, CAPTURE)))}"
    command = el("pre", el("code", shell), tabindex=0) if CAPTURE in trial.files() else None
    return section_on_page("files", say("Files"), el("ul", rows), command)
