"""Which published claim each claim of a study's experiments refers to. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.base.settings.source import Written
from lanelab.driver.run.study.study import REFERENCE, Study, StudyFigure


@dataclass(frozen=True, slots=True)
class FigureFile:
    """A figure, and the claims of its experiment as they are written."""

    figure: StudyFigure
    claims: Mapping[str, Written]


def check_claims(study: Study, files: Sequence[FigureFile], published: Mapping[int, Written]) -> None:
    """Raises InputError where a claim's name is there twice in the study, where a source names nothing, and where a
    published claim is neither checked nor said why. `published`: these claims, as they are written."""
    seen: dict[str, Written] = {}
    checked: set[int] = set()
    for file in files:
        for name, written in file.claims.items():
            if name in seen:
                other = seen[name]
                what = f"the study has a claim of this name in {other.source}, line {other.line}, too"
                raise written.error(what, "Give one of them another name: a study's table lists all of them")
            seen[name] = written
            where = written.entries().get("source")
            if where is not None and (number := _referred(where, study)) is not None:
                checked.add(number)
    for claim in study.claims:
        if claim.number not in checked and not claim.note:
            remedy = (
                f"Write source: {study.name}#{claim.number} at the claim that checks it, or say here why there is "
                "none: {says: …, note: …}"
            )
            raise published[claim.number].error("no experiment has a claim that refers to it", remedy)


def _referred(written: Written, study: Study) -> int | None:
    """Return the number of the published claim; None where the source is no reference to a study."""
    text = written.text().strip()
    match = REFERENCE.fullmatch(text)
    if not match:
        return None
    if match["study"] != study.name:
        what = f"it refers to the study {match['study'][:60]!r}, and this one is {study.name}"
        raise written.error(what, f"Write {study.name}#{match['number']}, or a source without #")
    known = [str(claim.number) for claim in study.claims]
    if match["number"] not in known:
        remedy = f"{near_miss(match['number'], known)}There are {', '.join(known)}"
        raise written.error(f"the study has no claim {match['number'][:20]!r}", remedy)
    return int(match["number"])
