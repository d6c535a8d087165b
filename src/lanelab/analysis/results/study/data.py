"""A study's numbers for other programs: a table of each figure, and one of the claims."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from lanelab.analysis.results.claims.words import places_words, published_words
from lanelab.analysis.results.conditions import in_tolerance
from lanelab.analysis.results.export_tables import write_csv, write_parquet, write_text
from lanelab.analysis.results.study.claim_verdicts import JudgedStudy, StudyVerdict
from lanelab.analysis.results.study.numbers import figure_rows
from lanelab.analysis.results.study.run import ReadStudyRun
from lanelab.analysis.results.text import visible_everywhere

CLAIMS = "claims"


def write_data(read: ReadStudyRun, judged: JudgedStudy, folder: Path, kind: Literal["csv", "parquet"]) -> list[Path]:
    """Write one file for each figure that has begun, and one of the claims; returns where they are."""
    tables = {f"figure-{number}": list(figure_rows(number, run)) for number, run in read.runs.items() if run}
    tables[CLAIMS] = list(claim_rows(judged, read))
    written = []
    for name, rows in tables.items():
        target = folder / f"{name}.{kind}"
        if kind == "csv":
            write_text(target, write_csv, rows)
        else:
            write_parquet(rows, target)
        written.append(target)
    return written


def claim_rows(judged: JudgedStudy, read: ReadStudyRun) -> Iterator[dict[str, Any]]:
    """One row for each place of each claim; a published claim that nobody checks has one without a verdict."""
    fit = {number: in_tolerance(run) for number, run in read.runs.items() if run}
    for claim, verdicts in judged.published:
        for verdict in verdicts:
            yield from _rows(verdict, claim.number, fit[verdict.figure])
        if not verdicts:
            yield {**dict.fromkeys(_COLUMNS), "number": claim.number, "says": claim.says, "verdict": judged.unchecked}
    for verdict in judged.further:
        yield from _rows(verdict, None, fit[verdict.figure])


_COLUMNS = (
    *("number", "figure", "claim", "says", "kind", "of", "metric", "published", "region_low", "region_high"),
    *("margin", "because", "holds_for", "verdict", "detail", "p", "p_holm", "changed_after_the_run", "why"),
    *("place", "place_verdict", "place_detail", "effect", "low_90", "high_90", "low_95", "high_95", "n", "beds"),
    *("between_beds", "rounds_needed", "trials", "trials_out_of_tolerance", "rounds_left_out", "rounds_broken"),
)


def _rows(verdict: StudyVerdict, number: int | None, fit: Mapping[int, bool]) -> Iterator[dict[str, Any]]:
    """Yield rows. `fit` says whether the link of each trial of the figure was in tolerance."""
    judged, claim = verdict.judged, verdict.judged.claim
    whole = (
        *(number, verdict.figure, claim.name, claim.says, claim.kind, claim.of, claim.metric),
        *(published_words(claim), claim.low, claim.high, claim.margin, claim.because, places_words(claim)),
        *(str(judged.verdict), judged.detail, judged.p, verdict.adjusted_p, judged.changed, judged.why),
    )
    for place in judged.places:
        effect = place.effect
        intervals = (effect.interval_90, effect.interval_95) if effect else (None, None)
        ends = [_finite(end) for each in intervals for end in ((each.low, each.high) if each else (None, None))]
        of_place = (
            *(place.place.words, str(place.verdict), place.detail, _finite(effect.value) if effect else None, *ends),
            *((effect.n, effect.beds, effect.between_beds) if effect else (0, 0, None)),
            *(place.rounds_needed, " ".join(map(str, place.trials))),
            *(sum(not fit.get(trial, True) for trial in place.trials), place.left_out, place.broken),
        )
        yield visible_everywhere(dict(zip(_COLUMNS, (*whole, *of_place), strict=True)))


def _finite(value: float | None) -> float | None:
    """Tables have no infinity that every program reads alike."""
    return value if value is not None and math.isfinite(value) else None
