"""What makes numbers mean less: trials that failed, a busy machine, noise and drift, who could not witness the wire."""

import json
from collections.abc import Mapping, Sequence

from lanelab.analysis.results import conditions, drift, machine, render, tables, witnesses
from lanelab.analysis.results.charts_of_trials import drift_chart
from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.analysis.results.layout.model import (
    Cell,
    Column,
    Drawing,
    Fold,
    Part,
    Points,
    Section,
    Words,
    table,
    words,
)
from lanelab.analysis.results.layout.page import scroll
from lanelab.analysis.results.machine import SHARES, TIMES, MachineRow
from lanelab.analysis.results.model import Run, Trial
from lanelab.analysis.results.numbers import percent
from lanelab.analysis.results.sections.cells import groups, place
from lanelab.analysis.results.sections.seen import Seen
from lanelab.analysis.results.tables import Row
from lanelab.driver.base.amounts import counted
from lanelab.driver.run.folder.format import ABOUT_SITES
from lanelab.driver.site.site_notes import AboutSite

MOST_DETAILS = 8
MOST_OUTLIERS = 12


def failures_section(seen: Seen) -> Section | None:
    """Lay out every reason why trials failed, with its count and examples."""
    run = seen.run
    if not run.failed:
        return None
    counts = ", ".join(f"{reason} {number}" for reason, number in tables.failure_counts(run).most_common())
    fail = "1 trial failed and does" if len(run.failed) == 1 else f"{len(run.failed)} trials failed and do"
    text = words([f"{fail} not count: {counts}"], "warn", "terminal")
    return Section("failures", "Failures", (Words("", where="terminal"), *text, *failure_parts(run)))


def failure_parts(run: Run) -> tuple[Part, ...]:
    """Return the same for the page of a study."""
    folds: list[Part] = []
    for reason, number in tables.failure_counts(run).most_common():
        hits = [(trial, one.detail) for trial in run.failed for one in trial.failures if one.reason == reason]
        items = [_failure(trial, detail) for trial, detail in hits[:MOST_DETAILS]]
        more = words([f"and {len(hits) - MOST_DETAILS} more"] if len(hits) > MOST_DETAILS else [], "muted")
        title = f"{reason} {counted(number, 'trial')}"
        head = Words(title, page=join(el("code", reason), f" {counted(number, 'trial')}"))
        folds.append(Fold(head, (Points((*items, *more)),), is_open=number <= 3 or not folds))
    late = "; a trial that timed out counts as slower" if any(trial.timed_out for trial in run.failed) else ""
    note = f"{len(run.failed)} of {len(run.trials)} trials failed a check. They are kept, but not used{late}."
    return (*words([note], where="long"), *folds)


def _failure(trial: Trial, detail: str) -> Words:
    where = f" ({trial.cell}, round {trial.round}): {detail}"
    return Words(f"trial {trial.number}{where}", page=join(el("b", f"trial {trial.number}"), where))


# --- the wire


def witnesses_section(seen: Seen) -> Section | None:
    """Lay out who could say what was on the link; None where no page was loaded."""
    texts, silences = witnesses.sentences(seen.run)
    parts: tuple[Part, ...] = (*words(texts, where="long"), *words(silences, "warn", "terminal"))
    return Section("witnesses", "Records of the wire: do they agree?", parts) if texts else None


# --- the machine

MOST_FLAGGED = 12  # trials whose flags are listed
MACHINE = (
    "Medians of the trials that count, from just before each load to just after it. Processor time is in seconds; the "
    "bar has its parts. Busy, stolen: shares of all processors' time. Waiting: the share of the load's time in which "
    f"something waited for a processor. A flag says why a trial's numbers may be the machine's: {machine.REFERENCE}."
)
TITLES = {
    "cpu_client_s": "browser",
    "cpu_server_s": "server",
    "cpu_gateway_s": "gateway",
    "cpu_router_s": "router",
    "cpu_capture_s": "capture",
    "cpu_harness_s": "lanelab",
    "cpu_other_s": "all else",
    "cpu_busy": "busy",
    "pressure_cpu_some": "waiting",
    "cpu_steal": "stolen",
}
BAR_WIDTH, BAR_HEIGHT = 160, 10


def machine_section(seen: Seen) -> Section | None:
    """Lay out whether the machines had time for the trials; None where none was watched."""
    rows = machine.rows(seen.run)
    if not rows:
        return None
    text = machine.sentence(seen.run)
    parts: tuple[Part, ...] = (
        *words([text or ""], "warn", "terminal"),
        *words([f"{text or 'No trial that counts is flagged'}."], where="long"),
        *_flags(machine.flagged(seen.run)),
        table(_of_machine(rows), rows, groups=groups(seen), group=lambda row: place(row.cell, seen), where="long"),
        *words([MACHINE], "muted", "page"),
    )
    return Section("machine", "Machine", parts)


def _of_machine(rows: Sequence[MachineRow]) -> Sequence[Column[MachineRow]]:
    most = max((sum(row.medians.get(name, 0.0) for name in TIMES) for row in rows), default=0.0)
    return (
        Column("arm", lambda row: row.cell.arm.name),
        Column("", lambda row: Words("", page=_bar(row, most)), where="page"),
        *(_median(name) for name in (*TIMES, *SHARES) if any(name in row.medians for row in rows)),
        Column("flagged", lambda row: f"{row.flagged} of {row.trials}", number=True),
    )


def _median(name: str) -> Column[MachineRow]:
    """Return a column with the colour that the bar has for it."""

    def cell(row: MachineRow) -> Cell:
        value = row.medians.get(name)
        return None if value is None else percent(value * 100) if name in SHARES else f"{value:.2f}"

    title = TITLES[name]
    dot = join(el("i", class_=f"dot s{TIMES.index(name)}"), title) if name in TIMES else None
    return Column(title, cell, number=True, page_title=dot)


def _bar(row: MachineRow, most: float) -> Html:
    """Draw processor time, in a colour for each part."""
    parts, left = [], 0.0
    for number, name in enumerate(TIMES):
        width = row.medians.get(name, 0.0) / most * BAR_WIDTH if most else 0.0
        title = el("title", f"{TITLES[name]}: {row.medians.get(name, 0.0):.2f} s")
        parts.append(
            el("rect", title, x=round(left, 2), y=0, width=round(width, 2), height=BAR_HEIGHT, fill=f"var(--s{number})")
        )
        left += width
    label = "Processor time by part"
    return el("svg", parts, class_="spark", width=BAR_WIDTH, height=BAR_HEIGHT, role="img", aria_label=label)


def _flags(trials: Sequence[Trial]) -> tuple[Part, ...]:
    listed = [
        Words(f"{name}: {flag.detail}", page=join(el("b", name), f": {flag.detail}"))
        for trial in trials[:MOST_FLAGGED]
        for flag in trial.flags
        for name in [f"trial {trial.number}, {flag.name}"]
    ]
    more = len(trials) - MOST_FLAGGED
    rest = words([f"and {more} more: lanelab show RUN --trial N"] if more > 0 else [])
    return (Fold(Words("What flagged them"), (Points(tuple(listed)), *rest)),) if trials else ()


# --- noise and drift


def noise_section(seen: Seen) -> Section:
    """Lay out how much trials of a cell differ, and whether the run got slower or faster."""
    run, shift = seen.run, tables.run_drift(seen.run)
    far = [f"trial {number} ({row.cell})" for row in seen.rows for number in row.outliers]
    outliers = f"Far from their cell's median, and kept: {', '.join(far[:MOST_OUTLIERS])}."
    parts: tuple[Part, ...] = (
        *words([noise_sentence(seen.rows, run.over), shift.words()], where="long"),
        *words([shift.words()] if shift.is_shown else [], "warn", "terminal"),
        Drawing(lambda: _drift_picture(run)),
        *words([outliers if far else "No trial is far from its cell's median."], where="long"),
    )
    return Section("noise", "Noise and drift", parts)


def _drift_picture(run: Run) -> Html | None:
    chart = drift_chart(run, drift.points(tables.timed(run)))
    return None if chart is None else scroll(Html(render.inline_svg(chart, "Deviations over time", "d")))


def noise_sentence(rows: Sequence[Row], over: str = "") -> str:
    """Say how much trials of one cell differ. `over`: so many machines, where there are several."""
    noise = tables.noise_percent(rows)
    if noise is None:
        return "No cell has two trials that count, so nothing can be said about noise."
    worst = max((row for row in rows if row.summary and row.summary.stdev_percent is not None), key=_deviation)
    return (
        f"The standard deviation within a cell is {noise:.1f}% over all cells, and at most "
        f"{_deviation(worst):.1f}% ({worst.cell})."
        + (f" That is {over}: what trials on one bed differ by is said with the machines." if over else "")
    )


def _deviation(row: Row) -> float:
    return (row.summary.stdev_percent or 0.0) if row.summary else 0.0


# --- sites and conditions

GOOD_ENOUGH = 95.0  # below that, numbers of this site are to be doubted
FIDELITY = (
    "Fidelity: how far the replay is the same as the recording, over each protocol: requests, bytes, stability and "
    "picture, of which the least is the score. A site that was not verified may load otherwise than it did."
)
SITES: Sequence[Column[tuple[str, AboutSite]]] = (
    Column("site", lambda each: Words(each[0], "strong")),
    Column("what it is", lambda each: _kind(each[1])),
    Column("objects", lambda each: f"{each[1].objects:,}", number=True),
    Column("bytes", lambda each: f"{each[1].bytes:,}", number=True),
    Column("origins", lambda each: f"{each[1].origins:,}", number=True),
    Column("types", lambda each: ", ".join(f"{kind} {part.objects:,}" for kind, part in each[1].composition.items())),
    Column("fidelity", lambda each: _fidelity(each[1])),
)


def _kind(site: AboutSite) -> Words:
    source = f"{kind_words(site)}: {site.source}"
    return Words(f"{site.title} ({source})", page=join(site.title, el("br"), el("span", source, class_="muted")))


def _fidelity(site: AboutSite) -> Words:
    return Words(site.fidelity, "warn" if site.score is None or site.score < GOOD_ENOUGH else "")


def sites_section(seen: Seen) -> Section | None:
    """Lay out the sites that were loaded; None where nothing was noted of them."""
    about = about_sites(seen.run)
    if not about:
        return None
    parts: tuple[Part, ...] = (
        *words(fidelity_sentences(seen.run), "muted", "terminal"),
        table(SITES, about.items(), where="long"),
        *words([FIDELITY], "muted", "page"),
    )
    return Section("sites", "Site" if len(about) == 1 else "Sites", parts)


def conditions_section(seen: Seen) -> Section | None:
    """Lay out what changed within the run and what takes the meaning from it. A page says so at its head."""
    texts = words(conditions.sentences(seen.run), "warn", "text")
    return Section("conditions", "Conditions", texts) if texts else None


def cautions_section(run: Run) -> Section | None:
    """Lay out what takes the meaning from the run's numbers, for a part of it that is shown by itself."""
    texts = words(conditions.caveats(run), "warn")
    return Section("cautions", "Cautions", texts) if texts else None


def about_sites(run: Run) -> Mapping[str, AboutSite]:
    """Return sites by name."""
    noted = json.loads(run.meta.get(ABOUT_SITES) or "{}")
    return {name: AboutSite.from_json(data, f"{ABOUT_SITES}.{name}") for name, data in noted.items()}


def fidelity_sentences(run: Run) -> list[str]:
    """Return one for each site: how faithful its replay is."""
    return [f"site {name}: {kind_words(about)}, fidelity {about.fidelity}" for name, about in about_sites(run).items()]


def kind_words(about: AboutSite) -> str:
    when = f" on {about.date.partition('T')[0]}" if about.kind == "recorded" and about.date else ""
    return f"{about.kind}{when}{', synthetic' if about.synthetic else ''}"
