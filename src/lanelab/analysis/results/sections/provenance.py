"""Where the numbers come from: whatever the run noted, nested as it is; the experiment; how to read the results."""

from collections.abc import Mapping

from lanelab.analysis.results.layout.model import Fold, Part, Section, Tree, Verbatim, Words
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.sections.seen import Seen
from lanelab.driver.record.metrics import FETCH, PAGE_LOAD
from lanelab.driver.run.folder.format import ABOUT_SITES, CLAIMS

_ELSEWHERE = ("figures", "plan", "name", "description", "state", ABOUT_SITES, CLAIMS)


def provenance_section(seen: Seen) -> Section:
    return Section("provenance", "Provenance", provenance_parts(seen.run))


def provenance_parts(run: Run) -> tuple[Part, ...]:
    """Lay out whatever was noted when the run began, and in each of its sessions."""
    facts = {key.replace("_", " "): value for key, value in run.meta.items() if key not in _ELSEWHERE}
    folds: dict[str, Mapping[str, object]] = {
        f"Session {s.number}: {s.started_utc} to {s.ended_utc or '…'}, {s.ending or 'not ended'}": s.provenance
        for s in run.sessions
    }
    folds["Every setting of the arms"] = {arm.name: arm.settings for arm in run.arms}
    folds["Every setting of the links"] = {link.label: link.settings for link in run.links}
    return (Tree(facts), *(Fold(Words(title), (Tree(value),)) for title, value in folds.items()))


def experiment_section(seen: Seen) -> Section:
    return Section("experiment", "The experiment file", (experiment_fold(seen.run, "Verbatim"),))


def experiment_fold(run: Run, title: str) -> Fold:
    return Fold(Words(title), (Verbatim(run.experiment or "not in the run folder"),))


READING = {
    "Trial": """one page load by a browser with nothing cached. It counts only if it passes its verdict: the
        protocol was the arm's, every object came, nothing was asked of the world outside, no captured packet was
        lost.""",
    "Page load time": "how long the browser's navigation took, by the clock of the program that drives it.",
    "Median and interval": """the middle one of the trials, and the two trials between which the true median of this run
        lies in at least 95% of such runs, whatever load times are distributed like. With fewer than 6 trials there is
        no such interval: it is the whole range, and holds the true median in 75% of runs with 3 trials, in 93.7% with
        5. On a page, point at an interval for its share.""",
    "Against another arm": """a round makes every arm once, shortly after each other. Ratios are taken within
        rounds, so what slows the machine for a while slows both. The change is Hodges and Lehmann's estimate with the
        exact interval of the signed-rank test.""",
    "Waterfalls": """each request from the moment at which the page was asked for. Blocked: it waited for a connection
        or its turn. Connect, ssl: its connection was opened and TLS set up. Wait: sent, and no answer yet. Receive: the
        answer came; dark marks are the moments at which its bytes did.""",
    "What the time went to": """each moment of a load belongs to one part: nothing came yet (connections, TLS, wait),
        the server held back (slow start), the link delivered at its rate (transmission), a lost packet was missed (loss
        recovery), or nothing was asked for (main thread, idle).""",
    "Of bound": """the page load time divided by what handshakes and bytes need at the link's rate and round trip.
        1 would be perfect; below 1 is impossible and fails a trial.""",
    "Links": """each is measured from inside the bed before it is used. One that is out of tolerance is not used, unless
        the run was told to (--accept-links); the summary then says so.""",
}
OF_DRAWINGS = ("Waterfalls", "What the time went to")  # which pages alone have
OF_PAGE_LOADS = ("Trial", "Page load time", "Of bound", *OF_DRAWINGS)
OF_FETCHES = {
    "Trial": """one fetch of the objects by a program that shows nothing. It counts only if it passes its verdict: the
        protocol was the arm's, every object came whole and is the site's by its SHA-256, no captured packet was
        lost.""",
    "Time of an object": "from when it was asked for, its turn on a connection included, until its last byte.",
}


def reading_section(seen: Seen) -> Section:
    of_loads = seen.run.workload == PAGE_LOAD
    plain = {term: text for term, text in READING.items() if of_loads or term not in OF_PAGE_LOADS}
    plain = {**OF_FETCHES, **plain} if seen.run.workload == FETCH else plain
    terms = {term: " ".join(text.split()) for term, text in plain.items()}
    written = {term: text for term, text in terms.items() if term not in OF_DRAWINGS}
    return Section("reading", "How to read this", (Tree(terms, "page", "reading"), Tree(written, "markdown")))
