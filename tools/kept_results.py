"""What runs of studies gave, as the project keeps it: experiments/NAME/results.VARIANT.json, one for each study and
variant.

A file has the figures of one run or of several: a run that has some figures replaces what is kept of these alone.
Verdicts and numbers are in words, as reports have them.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from lanelab.analysis.results import machine
from lanelab.analysis.results.claims.verdict import Judged, Verdict
from lanelab.analysis.results.claims.words import interval_words, measured_words, published_words
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.study.claim_verdicts import StudyVerdict
from lanelab.analysis.results.study.page import judge_study
from lanelab.analysis.results.study.run import ReadStudyRun, read_study_run
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.run.study.decisive import decisive
from lanelab.driver.run.study.run_folder import begun_with, experiment_of

EXPERIMENTS = PROJECT / "experiments"
AS_IT_IS = "only"  # in the name of a file: the study has no variants


class KeptFigure(TypedDict):
    """A figure that was run. `minutes`: from its first trial's beginning to its last one's end."""

    run: str
    experiment_sha256: str  # of the figure's file when it was run
    decisive: NotRequired[Mapping[str, Any]]  # what that decided; results that were kept before do not have it
    trials_asked: int | None  # of each cell, instead of the file's
    begun_utc: str
    lanelab: str
    trials: int  # that count
    flagged: int
    failed: int
    minutes: int


class KeptCheck(TypedDict):
    statement: int  # of the work; 0: the claim is about none of them
    says: str  # the statement in its words: a study may number them anew
    figure: int
    claim: str
    verdict: str
    detail: str
    published: str
    measured: str
    rounds_needed: int | None  # of an inconclusive one: so many in all would probably settle it


class KeptResults(TypedDict):
    """The results of one variant of one study. Figures by their numbers, as JSON has keys."""

    study: str
    variant: str
    figures: dict[str, KeptFigure]
    checks: list[KeptCheck]


def results_of(folder: Path) -> KeptResults:
    """Return what the run of a study in this folder gave."""
    read = read_study_run(folder)
    if read.about.scale is not None:
        raise InputError(f"{folder} is a run of scaled loads, which judge nothing", "Keep a run of the whole loads")
    finished = {number: run for number, run in read.runs.items() if run and run.is_finished}
    if not finished:
        raise InputError(f"no figure of {folder} is finished", f"Go on with lanelab study run --resume {folder}")
    return {
        "study": read.about.study.name,
        "variant": read.about.variant,
        "figures": {str(number): _figure(read, number, run) for number, run in finished.items()},
        "checks": [check for check in _checks(read) if check["figure"] in finished],
    }


def _figure(read: ReadStudyRun, number: int, run: Run) -> KeptFigure:
    first = min(trial.started for trial in run.trials)
    last = max(run.trials, key=lambda trial: trial.started)
    return {
        "run": read.folder.resolve().name,
        "experiment_sha256": begun_with(read.about, number).experiment_sha256,
        "decisive": decisive(experiment_of(read.folder, read.about, number)).to_json(),
        "trials_asked": read.about.trials,
        "begun_utc": first.isoformat(timespec="seconds"),
        "lanelab": read.about.lanelab,
        "trials": len(run.ok),
        "flagged": len(machine.flagged(run)),
        "failed": len(run.trials) - len(run.ok),
        "minutes": round(((last.started - first).total_seconds() + last.wall_s) / 60),
    }


def _checks(read: ReadStudyRun) -> Iterator[KeptCheck]:
    judged = judge_study(read)
    for claim, several in judged.published:
        yield from (_check(claim.number, claim.says, each) for each in several)
    yield from (_check(0, "", each) for each in judged.further)


def _check(statement: int, says: str, verdict: StudyVerdict) -> KeptCheck:
    judged = verdict.judged
    return {
        "statement": statement,
        "says": says,
        "figure": verdict.figure,
        "claim": judged.claim.name,
        "verdict": str(judged.verdict),
        "detail": judged.detail,
        "published": published_words(judged.claim),
        "measured": _measured(judged),
        "rounds_needed": _rounds_needed(judged),
    }


def _rounds_needed(judged: Judged) -> int | None:
    """Return with how many rounds each place would be settled; None where that is not known of one of them."""
    if judged.verdict is not Verdict.INCONCLUSIVE:
        return None
    needed = [place.rounds_needed for place in judged.places if place.verdict is Verdict.INCONCLUSIVE]
    known = [rounds for rounds in needed if rounds is not None]
    return max(known, default=None) if len(known) == len(needed) else None


def _measured(judged: Judged) -> str:
    """Return the effect: of one place with its interval, of several the least and the greatest."""
    effects = [place.effect for place in judged.places if place.effect]
    interval = effects[0].interval_95 if len(effects) == 1 else None
    words = measured_words(judged)
    if interval is None or interval.low == interval.high:
        return words
    return f"{words} ({interval_words(judged.claim, interval)})"


def merged(kept: KeptResults | None, new: KeptResults) -> KeptResults:
    """Return both, each figure of the run that began last."""
    if kept is None:
        return new
    figures = {
        number: max((each["figures"][number] for each in (new, kept) if number in each["figures"]), key=_begun)
        for number in sorted({*kept["figures"], *new["figures"]}, key=int)
    }
    checks = [
        check
        for each in (kept, new)
        for check in each["checks"]
        if each["figures"].get(str(check["figure"])) is figures[str(check["figure"])]
    ]
    return {**new, "figures": figures, "checks": sorted(checks, key=lambda each: (each["statement"], each["figure"]))}


def _begun(figure: KeptFigure) -> str:
    return figure["begun_utc"]


def path_of(study: str, variant: str, experiments: Path = EXPERIMENTS) -> Path:
    return experiments / study / f"results.{variant or AS_IT_IS}.json"


def read_results(path: Path) -> KeptResults:
    kept: KeptResults = json.loads(path.read_text(encoding="utf-8"))
    return kept


def keep(new: KeptResults, experiments: Path = EXPERIMENTS) -> Path:
    """Write what is new over what is kept of its study and variant. Returns the file."""
    path = path_of(new["study"], new["variant"], experiments)
    whole = merged(read_results(path) if path.is_file() else None, new)
    path.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def all_results(experiments: Path = EXPERIMENTS) -> list[KeptResults]:
    return [read_results(path) for path in sorted(experiments.glob("*/results.*.json"))]
