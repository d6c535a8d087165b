"""Where the numbers come from: whatever the run noted, nested as it is; the experiment; how to read the page."""

from collections.abc import Mapping

from lanelab.analysis.results.layout.markup import Html, el, join
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.report.sections import section
from lanelab.driver.record.metrics import PAGE_LOAD
from lanelab.driver.run.folder.format import ABOUT_SITES, CLAIMS

LARGE = 12  # entries from which a part is folded
_ELSEWHERE = ("figures", "plan", "name", "description", "state", ABOUT_SITES, CLAIMS)


def provenance(run: Run) -> Html:
    return section("provenance", "Provenance", provenance_parts(run))


def provenance_parts(run: Run) -> Html:
    """Return whatever was noted when the run began, and in each of its sessions."""
    facts = {key.replace("_", " "): value for key, value in run.meta.items() if key not in _ELSEWHERE}
    sessions = [
        el(
            "details",
            el("summary", f"Session {s.number}: {s.started_utc} to {s.ended_utc or '…'}, {s.ending or 'not ended'}"),
            tree(s.provenance),
        )
        for s in run.sessions
    ]
    arms = el("details", el("summary", "Every setting of the arms"), tree({a.name: a.settings for a in run.arms}))
    links = el("details", el("summary", "Every setting of the links"), tree({x.label: x.settings for x in run.links}))
    return join(tree(facts), sessions, arms, links)


def tree(value: object) -> Html:
    """Any JSON: mappings as lists of terms, short lists in a line."""
    if isinstance(value, Mapping):
        pairs = [el("div", el("dt", str(key)), el("dd", tree(below))) for key, below in value.items()]
        return el("dl", pairs, class_="tree")
    if isinstance(value, list | tuple):
        if all(not isinstance(one, Mapping | list | tuple) for one in value) and len(value) <= LARGE:
            return el("span", ", ".join(_plain(one) for one in value) or "none")
        return el("ul", [el("li", tree(one)) for one in value])
    return el("span", _plain(value))


def _plain(value: object) -> str:
    if value is None:
        return "-"
    return str(value).lower() if isinstance(value, bool) else str(value)


def experiment(run: Run) -> Html:
    text = el("pre", el("code", run.experiment or "not in the run folder"))
    return section("experiment", "The experiment file", el("details", el("summary", "Verbatim"), text))


READING = {
    "Trial": """one page load by a browser with nothing cached. It counts only if it passes its verdict: the
        protocol was the arm's, every object came, nothing was asked of the world outside, no captured packet was
        lost.""",
    "Page load time": "how long the browser's navigation took, by the clock of the program that drives it.",
    "Median and interval": """the middle one of the trials, and the two trials between which the true median of this run
        lies in at least 95% of such runs, whatever load times are distributed like. With fewer than 6 trials there is
        no such interval: it is the whole range, and holds the true median in 75% of runs with 3 trials, in 93.7% with
        5. Point at an interval for its share.""",
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
OF_PAGE_LOADS = ("Trial", "Page load time", "Of bound", "Waterfalls", "What the time went to")


def reading(run: Run) -> Html:
    shown = {term: words for term, words in READING.items() if run.workload == PAGE_LOAD or term not in OF_PAGE_LOADS}
    terms = [(el("dt", term), el("dd", meaning)) for term, meaning in shown.items()]
    return section("reading", "How to read this", el("dl", terms, class_="reading"))
