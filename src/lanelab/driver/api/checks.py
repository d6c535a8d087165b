"""Whether what a run claims holds, or whether runs agree, for a program that has to decide: an exit status, JUnit XML,
and a page of Markdown. What is inconclusive neither holds nor fails, and counts as its own. What nobody measured is not
tested, which no option makes pass."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from xml.etree import ElementTree as Xml

from lanelab.analysis.results.against import TITLES, Against, CellRow, ChangeRow
from lanelab.analysis.results.against import Verdict as Agreed
from lanelab.analysis.results.claims.rules import REFUTED
from lanelab.analysis.results.claims.verdict import Judged, Verdict
from lanelab.analysis.results.claims.words import verdict_words
from lanelab.analysis.results.conditions import caveats
from lanelab.analysis.results.layout.markdown import markdown, plain
from lanelab.analysis.results.layout.model import Section
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.report.atomic_files import write_whole
from lanelab.analysis.results.sections.claims import behind
from lanelab.analysis.results.sections.compare import median_words
from lanelab.driver.base.amounts import counted
from lanelab.driver.base.errors import EXIT_DOES_NOT_HOLD, EXIT_INCOMPLETE

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Outcome(StrEnum):
    HOLDS = "holds"
    FAILS = "does not hold"
    INCONCLUSIVE = "inconclusive"
    UNTESTED = "not tested"


WORDS = {
    Outcome.FAILS: ("does not hold", "do not hold"),
    Outcome.UNTESTED: ("was not tested", "were not tested"),
    Outcome.INCONCLUSIVE: ("is inconclusive", "are inconclusive"),
}
_OF_AGREEMENT: dict[Agreed, Outcome] = {
    "agree": Outcome.HOLDS,
    "differ": Outcome.FAILS,
    "not told": Outcome.INCONCLUSIVE,
}


@dataclass(frozen=True, slots=True)
class Case:
    """One statement that was checked. `words`: its verdict; `details`: what that rests on."""

    group: str  # of which run, or of which runs
    name: str
    outcome: Outcome
    words: str
    details: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """Statements that were checked together."""

    title: str
    cases: tuple[Case, ...]
    sections: tuple[Section, ...]

    @property
    def outcome(self) -> Outcome:
        """Return what is so of all together: one that fails decides, then one that was not tested, then one that is
        inconclusive."""
        outcomes = {case.outcome for case in self.cases} or {Outcome.UNTESTED}
        order = (Outcome.FAILS, Outcome.UNTESTED, Outcome.INCONCLUSIVE, Outcome.HOLDS)
        return next(outcome for outcome in order if outcome in outcomes)

    def exit_status(self, *, allow_inconclusive: bool = False) -> int:
        """Return 0 where all holds, 4 where something does not, 3 where something was not tested or, unless it is
        allowed, is inconclusive."""
        if self.outcome == Outcome.FAILS:
            return EXIT_DOES_NOT_HOLD
        passes = self.outcome == Outcome.HOLDS or (self.outcome == Outcome.INCONCLUSIVE and allow_inconclusive)
        return 0 if passes else EXIT_INCOMPLETE

    def of(self, outcome: Outcome) -> list[Case]:
        return [case for case in self.cases if case.outcome == outcome]

    def sentence(self) -> str:
        """Say how many hold, and name those that do not."""
        parts = [f"{len(self.of(Outcome.HOLDS))} of {counted(len(self.cases), 'statement')} hold"]
        for outcome, (one, several) in WORDS.items():
            if cases := self.of(outcome):
                words = one if len(cases) == 1 else several
                parts.append(f"{len(cases)} {words} ({', '.join(case.name for case in cases)})")
        return f"{', '.join(parts)}."

    # --- for others

    def markdown(self) -> str:
        """Write what came of it as Markdown: the outcome, then what is behind it."""
        head = [f"# {plain(self.title)}: {self.outcome}", plain(self.sentence())]
        return "\n\n".join([*head, markdown(self.sections)])

    def junit(self, *, allow_inconclusive: bool = False) -> str:
        """Write what came of it as JUnit XML: what does not hold is a failure; what was not tested is an error; what is
        inconclusive is one too, or skipped where that is allowed."""
        undecided = "skipped" if allow_inconclusive else "error"
        elements = {Outcome.FAILS: "failure", Outcome.INCONCLUSIVE: undecided, Outcome.UNTESTED: "error"}
        kinds = [elements.get(case.outcome, "") for case in self.cases]
        counts = {
            "tests": str(len(kinds)),
            "failures": str(kinds.count("failure")),
            "errors": str(kinds.count("error")),
        }
        whole = Xml.Element("testsuites", {"name": "lanelab", **counts, "time": "0"})
        about = {"name": _in_xml(self.title), **counts, "skipped": str(kinds.count("skipped")), "time": "0"}
        suite = Xml.SubElement(whole, "testsuite", about)
        for case, kind in zip(self.cases, kinds, strict=True):
            named = {"classname": _in_xml(case.group), "name": _in_xml(case.name), "time": "0"}
            test = Xml.SubElement(suite, "testcase", named)
            if kind:
                why = {"message": _in_xml(case.words), **({} if kind == "skipped" else {"type": case.outcome})}
                Xml.SubElement(test, kind, why).text = _in_xml(case.details)
            elif case.details:
                Xml.SubElement(test, "system-out").text = _in_xml(f"{case.words}\n{case.details}")
        Xml.indent(whole)
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{Xml.tostring(whole, encoding="unicode")}\n'

    def write_junit(self, path: str | Path, *, allow_inconclusive: bool = False) -> None:
        write_whole(Path(path), self.junit(allow_inconclusive=allow_inconclusive).encode())

    def write_markdown(self, path: str | Path) -> None:
        write_whole(Path(path), self.markdown().encode())


def _in_xml(text: str) -> str:
    """Return a text without what XML has no way to write."""
    return _NOT_IN_XML.sub("\ufffd", text)


# --- claims


def check_of_claims(run: Run, judged: Sequence[Judged], sections: tuple[Section, ...]) -> Check:
    cases = [
        Case(f"claims.{run.name}", one.claim.name, outcome_of(one), _words(one), "\n".join(behind(one)))
        for one in judged
    ]
    return Check(f"claims of {run.name}", (*cases, *_sound(run)), sections)


def outcome_of(judged: Judged) -> Outcome:
    """Return whether a claim holds. One whose direction alone was shown does not where its magnitude is refuted; where
    that is open, nobody can tell. One that was written or edited after its run was not tested by it."""
    if judged.changed and judged.verdict != Verdict.NOT_REPRODUCED:
        return Outcome.UNTESTED
    match judged.verdict:
        case Verdict.NOT_TESTED:
            return Outcome.UNTESTED
        case Verdict.REPRODUCED:
            return Outcome.HOLDS
        case Verdict.NOT_REPRODUCED:
            return Outcome.FAILS
        case Verdict.DIRECTION_ONLY if REFUTED in judged.detail:
            return Outcome.FAILS
    return Outcome.INCONCLUSIVE


def _words(judged: Judged) -> str:
    changed = ", and the claim was changed after the run" if judged.changed else ""
    return f"{judged.claim.says}: {verdict_words(judged.verdict, judged.detail)}{changed}"


def _sound(run: Run) -> Iterator[Case]:
    """Yield what takes the meaning from a run's numbers: it has not come to its end, so that verdicts may turn, or what
    it measured is not what was asked for."""
    if not run.is_finished:
        words = f"the run {run.folder} is {run.state}: what it says is so far"
        yield Case(f"run.{run.name}", "the run has come to its end", Outcome.UNTESTED, words)
    for number, words in enumerate(caveats(run), 1):
        name = "the run measured what was asked for" + (f", {number}" if number > 1 else "")
        yield Case(f"run.{run.name}", name, Outcome.UNTESTED, words)


# --- runs that agree


def check_of_agreements(compared: Sequence[Against], sections: tuple[Section, ...]) -> Check:
    first = compared[0].first
    others = ", ".join(str(each.other.folder) for each in compared)
    cases = [case for each in compared for case in _cases(each)]
    return Check(f"{others} against {first.folder}", (*_sound(first), *cases), sections)


def _cases(against: Against) -> Iterator[Case]:
    group = f"{against.other.folder.name} against {against.first.folder.name}"
    for row in against.cells:
        yield Case(group, str(row.cell), _OF_AGREEMENT[row.verdict], _cell_words(against, row))
    for change in against.changes:
        name = f"{change.cell}: change against {change.base}"
        yield Case(group, name, _OF_AGREEMENT[change.verdict], _change_words(against, change))
    for cell in against.refused:
        yield Case(group, str(cell), Outcome.UNTESTED, "it is refused in one of the runs")
    for cell in against.without_trials:
        yield Case(group, str(cell), Outcome.UNTESTED, "one of the runs has no trial of it that counts")
    for cell in (*against.only_first, *against.only_other):
        yield Case(group, str(cell), Outcome.UNTESTED, "only one of the runs has it")
    for pair in against.unlike:
        name = f"{pair.first}: settings are the same"
        yield Case(group, name, Outcome.UNTESTED, "; ".join(pair.settings) or "neither run notes what differs")
    for name in against.changes_not_compared:
        yield Case(group, name, Outcome.UNTESTED, "the other run has no such comparison")
    yield from _sound(against.other)


def _cell_words(against: Against, row: CellRow) -> str:
    medians = " and ".join(median_words(against.first.primary, median) for median in (row.first, row.other))
    return f"medians of {medians} {TITLES[row.verdict]}{_margin(row.verdict, f'{100 * against.margin:g}%')}"


def _change_words(against: Against, row: ChangeRow) -> str:
    changes = " and ".join(f"{100 * (change.value - 1):+.1f}%" for change in (row.first, row.other))
    return f"changes of {changes} {TITLES[row.verdict]}{_margin(row.verdict, f'{100 * against.margin:g} points')}"


def _margin(verdict: Agreed, margin: str) -> str:
    return "" if verdict == "not told" else f" {margin}"
