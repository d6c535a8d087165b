"""Who could say what was on the link of page loads and fetches, and where not all of them could.

docs/reference/verdicts.md says who the witnesses are. A trial stores in `evidence.witnesses` those its verdict used.
"""

from collections.abc import Mapping, Sequence

from lanelab.analysis.results.model import Run, Trial
from lanelab.driver.record.metrics import FETCH, OVER_LINK
from lanelab.driver.run.folder.trial_content import each_witnesses

WHO = {"server": "the server's log", "capture": "the capture"}
WHAT = {"protocol": "the protocol", "tls": "the version of TLS", "connections": "the connections"}
MOST_ARMS = 3
# What arms' `via` comes to; in a fetch nobody but the fetcher speaks.
WAYS = {"browser": "by the browser itself", "gateway": "through the gateway", "fetcher": "by the fetcher"}
Known = Mapping[int, Mapping[str, Sequence[str]] | None]


def sentences(run: Run) -> tuple[list[str], list[str]]:
    """Say of the trials that count, for each way to the server, that all agree, or who was silent; and by themselves
    the sentences about those who could not speak or were not noted."""
    known = _known(run)
    texts, silences = [], []
    for way, trials in _by_way(run).items():
        silent = _silences(trials, way, known)
        silences += silent
        agree = f"In {_of(trials, trials, way)} the records of {way}, server's log and capture agree."
        texts += silent or [agree]
    return texts, silences


def _known(run: Run) -> Known:
    return dict(each_witnesses(run.folder)) if _by_way(run) else {}


def _by_way(run: Run) -> dict[str, list[Trial]]:
    """Return trials by what spoke to the server; none of another workload."""
    by_way: dict[str, list[Trial]] = {}
    for trial in run.ok if run.workload in OVER_LINK else ():
        via = "fetcher" if run.workload == FETCH else str(trial.cell.arm.settings.get("via", "browser"))
        by_way.setdefault(via, []).append(trial)
    return {way: by_way[way] for way in WAYS if way in by_way}


def _silences(trials: Sequence[Trial], way: str, known: Known) -> list[str]:
    silent_in: dict[tuple[str, tuple[str, ...]], list[Trial]] = {}
    unnoted = []
    for trial in trials:
        parties = known.get(trial.number)
        if parties is None:
            unnoted.append(trial)
            continue
        for who in WHO:
            silent = tuple(what for what in WHAT if who not in parties.get(what, ()))
            if silent:
                silent_in.setdefault((who, silent), []).append(trial)
    texts = [
        f"In {_of(some, trials, way)} {WHO[who]} could not tell {_and([WHAT[what] for what in silent])}: the others "
        "were heard alone."
        for (who, silent), some in silent_in.items()
    ]
    if unnoted:
        texts.append(f"In {_of(unnoted, trials, way)} it was not noted who could tell what was on the link.")
    return texts


def _of(some: Sequence[Trial], trials: Sequence[Trial], way: str) -> str:
    arms = list(dict.fromkeys(trial.cell.arm.name for trial in some))
    more = f" and {len(arms) - MOST_ARMS} more" if len(arms) > MOST_ARMS else ""
    count = f"all {len(trials)}" if len(some) == len(trials) else f"{len(some)} of {len(trials)}"
    return f"{count} trials {WAYS[way]} ({', '.join(arms[:MOST_ARMS])}{more})"


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
