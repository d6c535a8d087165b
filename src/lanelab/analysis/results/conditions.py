"""The conditions under which a run was made. Pure.

Some take the meaning from its numbers: links that were not what was asked for, processors that were emulated, a load
that is smaller than the experiment says. Others may have changed within it: browser, kernels, lanelab, options of the
bed. A run that goes on next week, after an update, is one run with two browsers. All of that may be what its user
wants, so it is reported and not refused.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from lanelab.analysis.results import link_drift
from lanelab.analysis.results.model import Run, SelfTest, Session
from lanelab.analysis.results.numbers import values_of
from lanelab.analysis.results.run_folder import browsers_of
from lanelab.driver.experiment.dimensions import words_of_scale

_WATCHED = ("lanelab", "machine", "bed_options", "gateway", "mod_replay", "mod_spdy", "spdy-load", "lanelab-fetcher")
_BED = re.compile(r"bed( \d+)?")  # the second one of a session is "bed 2"
_MAY_DIFFER = ("bed", "bring_up_s", "began_utc", "proven_bps", "routes", "changed_files")
_MOST = 6
NOT_NOTED = "not noted"


def sentences(run: Run) -> list[str]:
    """Return everything that a reader must know, the most important first."""
    return [*caveats(run), *changes(run)]


def caveats(run: Run) -> list[str]:
    """Sentences on what makes numbers of this run meaningless; none where nothing does."""
    return [*_emulated(run), *_scaled(run), *_accepted_links(run), *link_drift.sentences(run)]


def emulated(session: Session) -> bool | None:
    """Return whether the nodes' processors were emulated; None where nobody can tell, as in runs from before it was
    noted."""
    known = session.provenance.get("emulated_processors")
    return known if isinstance(known, bool) else None


def in_tolerance(run: Run) -> dict[int, bool]:
    """Return number of a trial -> whether the last self-test of its link before it passed: that of its own bed, or of
    another one where its bed made none. A link may fail on one bed, be used nevertheless, and pass on the next one, or
    on one that is used at the same time. Trials without such a test are not in the result."""
    tests: dict[tuple[int, int | None, frozenset[tuple[str, str]]], list[SelfTest]] = {}
    for test in run.self_tests:
        if test.moment == "before":
            for bed in (test.bed, None):
                tests.setdefault((test.session, bed, test.link.path), []).append(test)
    passed = {}
    for trial in run.trials:
        session, path = trial.session, trial.cell.link.path
        of_link = tests.get((session, trial.bed, path)) or tests.get((session, None, path), [])
        before = [test for test in of_link if test.at <= trial.started]
        if before:
            passed[trial.number] = before[-1].passed
    return passed


def used_out_of_tolerance(run: Run) -> dict[str, int]:
    """Return label of a link -> how many trials count that were made on it while it was out of tolerance."""
    fit = in_tolerance(run)
    return dict(Counter(trial.cell.link.label for trial in run.ok if not fit.get(trial.number, True)))


def trials_out_of_tolerance(run: Run) -> Counter[int]:
    """Return number of a cell -> the same."""
    fit = in_tolerance(run)
    return Counter(trial.cell.number for trial in run.ok if not fit.get(trial.number, True))


def _emulated(run: Run) -> list[str]:
    counting = {trial.session for trial in run.ok} or {session.number for session in run.sessions}
    sessions = [session for session in run.sessions if session.number in counting]
    slow = [str(session.number) for session in sessions if emulated(session)]
    if not slow:
        return []
    some = f" in session {', '.join(slow)}" if len(slow) < len(sessions) else ""
    return [
        (
            f"The nodes' processors were emulated{some}: {values_of(run.primary)} tell how slow these machines are, "
            "and nothing about links, protocols or servers."
        )
    ]


def _scaled(run: Run) -> list[str]:
    return [] if run.scale == 1 else [words_of_scale(run.scale)]


def _accepted_links(run: Run) -> list[str]:
    used, of = used_out_of_tolerance(run), Counter(trial.cell.link.label for trial in run.ok)
    if not used:
        return []
    counts = ", ".join(f"{label} ({number} of {of[label]} trials)" for label, number in used.items())
    return [f"These links were out of tolerance and used all the same (--accept-links): {counts}."]


def changes(run: Run) -> list[str]:
    """Return a sentence for each thing that changed within the run, and for browsers where arms differ in them; none
    where all stayed the same."""
    sentences = list(_browsers(run))
    differing = [(name, values) for name, values in _facts(run).items() if len(set(values.values())) > 1]
    for name, values in differing[:_MOST]:
        first: dict[str, str] = {}
        for where, value in values.items():
            first.setdefault(value, where)
        values_and_places = ", ".join(f"{value} in {where}" for value, where in first.items())
        sentences.append(f"{name[0].upper()}{name[1:]} changed within the run: {values_and_places}.")
    if len(differing) > _MOST:
        sentences.append(f"{len(differing) - _MOST} more facts changed within the run: see its provenance.")
    return sentences


def _browsers(run: Run) -> Iterator[str]:
    """Arms may differ in the browser. Another version of one is a change."""
    arm_of = {trial.number: trial.cell.arm for trial in run.trials}
    versions: dict[str, list[tuple[str, int]]] = {}  # of each browser, as arms name it
    for product, first in browsers_of(run):
        browser = str(arm_of[first].settings.get("browser", "chromium")) if first in arm_of else "chromium"
        versions.setdefault(browser, []).append((product, first))
    if len(versions) > 1:
        which = "; ".join(
            f"{' / '.join(product for product, _ in products)} in {', '.join(_arms_with(run, browser))}"
            for browser, products in versions.items()
        )
        yield f"Arms differ in the browser: {which}."
    for products in versions.values():
        if len(products) > 1:
            which = ", ".join(f"{product} from trial {first} on" for product, first in products)
            yield f"The browser changed within the run: {which}. Comparisons by round may mix them."


def _arms_with(run: Run, browser: str) -> list[str]:
    return [arm.name for arm in run.arms if arm.settings.get("browser", "chromium") == browser]


def differing(first: Run, other: Run) -> list[tuple[str, str, str]]:
    """Return what is not the same in two runs: its name, and its value in each."""
    ours, theirs = _values(first), _values(other)
    names = dict.fromkeys([*ours, *theirs])
    pairs = ((name, ours.get(name, NOT_NOTED), theirs.get(name, NOT_NOTED)) for name in names)
    return [(name, one, two) for name, one, two in pairs if one != two]


def _values(run: Run) -> dict[str, str]:
    """Return what is known of a run -> its value, or values where it changed within the run."""
    facts = {name: " / ".join(dict.fromkeys(values.values())) for name, values in _facts(run).items()}
    of_run = {
        "browser": " / ".join(name for name, _ in browsers_of(run)),
        "seed": run.meta.get("seed", ""),
        "beds": str(len({trial.bed for trial in run.trials})),
    }
    return {**{name: value for name, value in of_run.items() if value}, **facts}


def _facts(run: Run) -> dict[str, dict[str, str]]:
    """Return what is known -> where it was noted -> its value there."""
    facts: dict[str, dict[str, str]] = {}
    for session in run.sessions:
        for where, name, value in _of_session(session):
            facts.setdefault(name, {})[where] = value
    return facts


def _of_session(session: Session) -> Iterator[tuple[str, str, str]]:
    for key, value in session.provenance.items():
        bed = _BED.fullmatch(key)
        if key in _WATCHED or bed:
            where = f"session {session.number}" + (f" ({key})" if bed and bed[1] else "")
            name = "the bed" if bed else "option" if key == "bed_options" else key
            for path, leaf in _leaves(value, name, 1 if key == "bed_options" else 9):
                yield where, path, leaf


def _leaves(value: Any, path: str, depth: int) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - JSON
    if isinstance(value, Mapping) and depth:
        for key, below in value.items():
            if key not in _MAY_DIFFER:
                yield from _leaves(below, f"{path} {key}", depth - 1)
    elif isinstance(value, Mapping):
        yield path, ", ".join(f"{key} {below}" for key, below in value.items()) or "none"
    else:
        yield path, str(value) or "none"
