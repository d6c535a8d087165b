"""Claims of an experiment file: read strictly, and resolved to the cells that they are about. Pure.

A claim that could not be judged as it stands is refused here, before the first trial: one that names no cell, names
cells of several places without saying `for`, or has a margin that takes the effect's direction away.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.base.settings.setting import Table
from lanelab.driver.base.settings.source import Written, read_yaml
from lanelab.driver.base.units import Duration
from lanelab.driver.experiment.claim import Claim, ClaimKind
from lanelab.driver.experiment.claim_contrasts import Contrast, read_contrast
from lanelab.driver.experiment.claim_places import Subject, Where, places_of, read_quantifier
from lanelab.driver.experiment.claim_regions import read_region
from lanelab.driver.experiment.courses import read_load_place
from lanelab.driver.experiment.dimensions import DIMENSIONS
from lanelab.driver.experiment.figures import is_number, read_only, require_optimum
from lanelab.driver.experiment.keys import (
    CLAIM,
    CLAIM_CHANGE,
    CLAIM_CONTRAST,
    CLAIM_LINE,
    CLAIM_SPIKE,
    CLAIM_TREND,
    CLAIM_VALUE,
    read_name,
)
from lanelab.driver.experiment.model import Cell, dimension_of, step_metrics
from lanelab.driver.record.metrics import PRIMARY, Metric, metrics_of, need_of
from lanelab.driver.trial.recorders.registry import RECORDERS


def lacking_setting(metric: Metric, recorders: Mapping[str, Coded]) -> str:
    """The setting without which no trial has the metric; "" where they will have it. `recorders`: the options of those
    that are on."""
    setting = need_of(metric)
    for name, written in read_yaml(setting, "NEEDS", "").entries().items() if setting else ():
        recorder = RECORDERS.get(name)
        if recorder is None:  # a setting of links, which is looked for in the cells
            continue
        if name not in recorders or not recorder.has(recorders[name], recorder.read(written)):
            return setting
    return ""


KINDS: Mapping[ClaimKind, Table] = {
    "change": CLAIM_CHANGE,
    "value": CLAIM_VALUE,
    "trend": CLAIM_TREND,
    "spike": CLAIM_SPIKE,
    "contrast": CLAIM_CONTRAST,
    "slope": CLAIM_LINE,
    "intercept": CLAIM_LINE,
    "straightness": CLAIM_LINE,
}
FOLLOWING = ("trend", "contrast")  # kinds that are about another claim's change or value


@dataclass(frozen=True, slots=True)
class About:
    """What of the experiment claims may be about."""

    cells: Sequence[Cell]
    workload: str
    recorders: Mapping[str, Coded]  # options of those that are on


def read_claims(written: Written, about: About) -> tuple[Claim, ...]:
    """Return the claims in the file's order."""
    if not written.entries():
        raise written.error("there are no claims", "Write at least one, or leave claims out")
    entries = {name: (entry, CLAIM.entries(entry)) for name, entry in written.entries().items()}
    for name, (entry, _) in entries.items():
        with entry.placed({}):
            read_name(name)
    subjects = {name: _subject(entry, keys, about) for name, (entry, keys) in entries.items()}
    claims = []
    for name, (entry, keys) in entries.items():
        claims.append(_read(name, entry, keys, _resolved(name, subjects, entries), about.cells))
    return tuple(claims)


def _subject(entry: Written, keys: Mapping[str, Written], about: About) -> Subject:
    """Return what the claim is about, before it is looked up in other claims."""
    kinds = [kind for kind in KINDS if kind in keys]
    if len(kinds) != 1:
        what = f"it has both {' and '.join(kinds)}" if kinds else f"it has none of {', '.join(KINDS)}"
        raise entry.error(what, "Write one: it says what the claim is about")
    kind = kinds[0]
    parts = KINDS[kind].entries(keys[kind])
    arms = list(dict.fromkeys(cell.arm.name for cell in about.cells))
    contrast = read_contrast(keys[kind], parts, about.cells) if kind == "contrast" else None
    of = _one_of(parts["of"], arms, "arm") if "of" in parts else None
    to = _one_of(parts["to"], arms, "arm") if "to" in parts and not contrast else None
    if of is not None and of == to:
        raise parts["to"].error(f"the arm {of!r} would be compared with itself", "Name another arm")
    references = [key for key in ("change_of", "value_of") if key in parts]
    if kind in FOLLOWING and len(references) + (of is not None) != 1:
        what = f"a {kind} is one of another claim, or of an arm"
        raise keys[kind].error(what, "Write one of change_of and value_of with a claim's name, or of with an arm's")
    if references and "metric" in parts:
        raise parts["metric"].error("it is that of the claim", "Leave it out, or write of with an arm's name")
    if to is not None and kind in ("intercept", "straightness"):
        raise parts["to"].error(f"{kind} is not compared with that of another arm", "Leave it out")
    metric = _metric(parts.get("metric"), about) if contrast else _metric_or_place(keys[kind], parts, about)
    over = _over(parts["over"], about.cells) if "over" in parts else None
    if kind == "slope":
        _refuse_other_slopes(parts, metric, str(over), about.cells)
    return Subject(
        kind=kind,
        of=of,
        to=to,
        metric=metric,
        over=over,
        at=parts.get("at") if kind == "spike" else None,
        claim=parts[references[0]] if references else None,
        claim_kind="change" if references == ["change_of"] else "value",
        contrast=contrast,
    )


def _refuse_other_slopes(parts: Mapping[str, Written], metric: Metric, over: str, cells: Sequence[Cell]) -> None:
    """A slope is a number of round trips: a time that grows with a time."""
    if metric.unit != "ms":
        raise parts["metric"].error(f"{metric.key} is no time, and a slope is a number of round trips", "Write a trend")
    values = filter(None, (dimension_of(cell, over) for cell in cells))  # a link without a router has none
    if not any(isinstance(DIMENSIONS.read(over, value), Duration) for value in values):
        raise parts["over"].error(f"{over} is no time, and a slope is a number of round trips", "Write a trend")


def _resolved(name: str, subjects: Mapping[str, Subject], entries: Mapping[str, object]) -> Subject:
    """Give trends and contrasts the arms and the metric of the claims that they name."""
    one = subjects[name]
    if one.claim is None:
        return one if one.contrast is None else replace(one, contrast=_within_arm(one.contrast, str(one.of)))
    first = _followed(one.claim, one.claim_kind, subjects, entries)
    contrast = one.contrast
    if contrast:
        other = _followed(contrast.other, one.claim_kind, subjects, entries) if contrast.other else first
        if contrast.other and other.metric != first.metric:
            what = f"one is about {first.metric.words}, the other about {other.metric.words}"
            raise contrast.other.error(what, "Name a claim about the same metric")
        contrast = replace(contrast, of=str(other.of), to=other.to)
    return replace(one, of=first.of, to=first.to, metric=first.metric, contrast=contrast)


def _within_arm(contrast: Contrast, arm: str) -> Contrast:
    """Return the contrast of an arm's metric in two places."""
    if contrast.other:
        raise contrast.other.error("to names a claim, and of an arm", "Write change_of or value_of instead of of")
    return replace(contrast, of=arm)


def _followed(written: Written, kind: str, subjects: Mapping[str, Subject], entries: Mapping[str, object]) -> Subject:
    """Return the claim of that name."""
    name = written.text().strip()
    if name not in subjects:
        remedy = f"{near_miss(name, entries)}There are {', '.join(entries)}"
        raise written.error(f"there is no claim {name[:60]!r}", remedy)
    if subjects[name].kind != kind:
        raise written.error(f"the claim {name} is about a {subjects[name].kind}", f"Name a claim that has {kind}:")
    return subjects[name]


def _read(name: str, entry: Written, keys: Mapping[str, Written], subject: Subject, cells: Sequence[Cell]) -> Claim:
    plain = CLAIM.values_of(keys)
    at_least = plain["at_least"].fraction
    region = read_region(entry, keys, subject, at_least)
    quantifier = read_quantifier(keys.get("for"))
    where = _where(entry, keys, cells)
    return Claim(
        name=name,
        says=plain["says"] or name,
        source=plain["source"] or "",
        kind=subject.kind,
        of=subject.words,
        metric=subject.metric.name,
        over=subject.over,
        published=region.published,
        margin=keys["margin"].text().strip() if "margin" in keys else "",
        because=plain["because"] or "",
        low=region.low,
        high=region.high,
        side=region.side,
        at_least=at_least,
        equivalent=region.equivalent,
        quantifier=quantifier.kind,
        exceptions=quantifier.exceptions,
        places=places_of(subject, quantifier, where, cells),
    )


# --- names


def _one_of(written: Written, known: Sequence[str], what: str, of: str = "") -> str:
    name = written.text().strip()
    if name not in known:
        remedy = f"{near_miss(name, known)}There are {', '.join(known)}"
        raise written.error(f"there is no {what} {name[:60]!r}{of}", remedy)
    return name


def _metric_or_place(where: Written, parts: Mapping[str, Written], about: About) -> Metric:
    """Read the metric of whole trials, or that of a series at one place."""
    if "series" not in parts:
        place = next((parts[key] for key in ("at", "since") if key in parts and "over" not in parts), None)
        if place:
            raise place.error("it says where to look at a series, and there is none", "Write series too")
        return _metric(parts.get("metric"), about)
    if "metric" in parts:
        raise parts["metric"].error("it has both metric and series", "Write one of them")
    return read_load_place(where, parts, about.workload, about.cells, about.recorders).metric


def _metric(written: Written | None, about: About) -> Metric:
    """One that trials of this experiment will have."""
    metrics = metrics_of(about.workload)
    known = {metric.key: metric for metric in (*metrics, *step_metrics(about.cells))}
    if written is None:
        return next(metric for metric in metrics if metric.name == PRIMARY[about.workload])
    metric = known[_one_of(written, list(known), "metric", of=f" of a {about.workload}")]
    require_optimum(written, metric.name, about.cells)
    if setting := lacking_setting(metric, about.recorders):
        raise written.error(f"no trial of this experiment will have {metric.key}", f"Write {setting} too")
    return metric


def _over(written: Written, cells: Sequence[Cell]) -> str:
    name = written.text().strip()
    numbers = [key for key in DIMENSIONS if is_number(key) and any(dimension_of(cell, key) for cell in cells)]
    if name not in numbers:
        remedy = f"{near_miss(name, numbers)}Write one of {', '.join(numbers)}"
        raise written.error(f"{name[:60]!r} is no number of these links", remedy)
    return name


def _where(entry: Written, keys: Mapping[str, Written], cells: Sequence[Cell]) -> Where:
    """A claim names its arms elsewhere."""
    if "where" in keys and "arm" in (entries := keys["where"].entries()):
        what = "a claim says which arms it is about with of and to"
        raise entries["arm"].error(what, "Write the site or settings of the link here, or leave it out")
    chosen = read_only(keys["where"], cells) if "where" in keys else ()
    return Where(entry, keys.get("where"), keys.get("for"), chosen)


def refuse_sequential(claims: Sequence[Claim], written: Written) -> None:
    """What is of one round needs its trials close together: pairs, and the mean of several places. Without interleaving
    they are hours apart."""
    of_rounds = (claim for claim in claims if claim.kind != "value" or len(claim.places[0].points) > 1)
    if claim := next(of_rounds, None):
        what = "with order: sequential arms are not interleaved, so it could not be judged"
        raise written.entries()[claim.name].error(what, "Write order: interleaved, or claim a count at each place")
