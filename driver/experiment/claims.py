"""Claims of an experiment file: read strictly, and resolved to the cells that they are about. Pure.

A claim that could not be judged as it stands is refused here, before the first trial: one that names no cell, names
cells of several places without saying `for`, or has a margin that takes the effect's direction away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from driver.experiment.claim_numbers import Margin, read_margin, read_percent, read_value
from driver.experiment.claim_places import Asked, Where, places_of, read_quantifier
from driver.experiment.figures import is_number, read_only
from driver.experiment.keys import CLAIM, CLAIM_CHANGE, CLAIM_SPIKE, CLAIM_TREND, CLAIM_VALUE, read_name
from driver.experiment.model import Cell, dimension_of
from model.claims import Claim, ClaimKind, Place
from model.metrics import Metric, metrics_of
from model.settings.kinds import near_miss
from model.settings.source import Written

KINDS: tuple[ClaimKind, ...] = ("change", "value", "trend", "spike")
SIDES = {"lower": -1, "decreasing": -1, "higher": 1, "increasing": 1}


@dataclass(frozen=True, slots=True)
class Region:
    """What counts as reproduced, and what was published."""

    published: tuple[float, ...] = ()
    low: float | None = None
    high: float | None = None
    side: int = 0
    equivalent: bool = False


def read_claims(written: Written, cells: Sequence[Cell], workload: str) -> tuple[Claim, ...]:
    """The claims in the file's order."""
    entries = {name: (entry, CLAIM.entries(entry)) for name, entry in written.entries().items()}
    for name, (entry, _) in entries.items():
        with entry.placed({}):
            read_name(name)
    asked = {name: _asked(entry, keys, cells, workload) for name, (entry, keys) in entries.items()}
    claims = []
    for name, (entry, keys) in entries.items():
        claims.append(_read(name, entry, keys, _resolved(name, asked, entries), cells))
    return tuple(claims)


def _asked(entry: Written, keys: Mapping[str, Written], cells: Sequence[Cell], workload: str) -> Asked:
    """What the claim is about, before it is looked up in other claims."""
    kinds = [kind for kind in KINDS if kind in keys]
    if len(kinds) != 1:
        what = f"it has both {' and '.join(kinds)}" if kinds else f"it has none of {', '.join(KINDS)}"
        raise entry.error(what, "Write one: it says what the claim is about")
    kind = kinds[0]
    table = {"change": CLAIM_CHANGE, "value": CLAIM_VALUE, "trend": CLAIM_TREND, "spike": CLAIM_SPIKE}[kind]
    parts = table.entries(keys[kind])
    arms = list(dict.fromkeys(cell.arm.name for cell in cells))
    of = _one_of(parts["of"], arms, "arm") if "of" in parts else None
    to = _one_of(parts["to"], arms, "arm") if "to" in parts else None
    if of is not None and of == to:
        raise parts["to"].error(f"the arm {of!r} would be compared with itself", "Name another arm")
    references = [key for key in ("change_of", "value_of") if key in parts]
    if kind == "trend" and len(references) != 1:
        raise keys[kind].error("a trend is one of another claim", "Write change_of: or value_of: with a claim's name")
    return Asked(
        kind=kind,
        of=of,
        to=to,
        metric=_metric(parts.get("metric"), workload),
        over=_over(parts["over"], cells) if "over" in parts else None,
        at=parts.get("at"),
        claim=parts[references[0]] if references else None,
        claim_kind="change" if references == ["change_of"] else "value",
    )


def _resolved(name: str, asked: Mapping[str, Asked], entries: Mapping[str, object]) -> Asked:
    """A trend takes its arms and its metric from the claim that it names."""
    one = asked[name]
    if one.claim is None:
        return one
    other = one.claim.text().strip()
    if other not in asked:
        remedy = f"{near_miss(other, entries)}There are {', '.join(entries)}"
        raise one.claim.error(f"there is no claim {other[:60]!r}", remedy)
    if asked[other].kind != one.claim_kind:
        remedy = f"Name a claim that has {one.claim_kind}:"
        raise one.claim.error(f"the claim {other} is about a {asked[other].kind}", remedy)
    return replace(one, of=asked[other].of, to=asked[other].to, metric=asked[other].metric)


def _read(name: str, entry: Written, keys: Mapping[str, Written], asked: Asked, cells: Sequence[Cell]) -> Claim:
    plain = CLAIM.values_of(keys)
    at_least = plain["at_least"].fraction
    region = _region(entry, keys, asked, at_least)
    quantifier = read_quantifier(keys.get("for"))
    chosen = read_only(keys["where"], cells) if "where" in keys else ()
    where = Where(entry, keys.get("where"), keys.get("for"), chosen)
    places: tuple[Place, ...] = places_of(asked, quantifier, where, cells)
    return Claim(
        name=name,
        says=plain["says"] or name,
        source=plain["source"] or "",
        kind=asked.kind,
        of=f"{asked.of} against {asked.to}" if asked.to else str(asked.of),
        metric=asked.metric.name,
        over=asked.over,
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
        places=places,
    )


# --- what counts as reproduced


def _region(entry: Written, keys: Mapping[str, Written], asked: Asked, at_least: float) -> Region:
    ways = [key for key in ("published", "expect", "equivalent") if key in keys]
    if len(ways) != 1:
        what = f"it has both {' and '.join(ways)}" if ways else "it does not say what was published"
        raise entry.error(what, "Write one of published, expect and equivalent")
    if "margin" in keys and ways != ["published"]:
        raise keys["margin"].error(f"it means nothing with {ways[0]}", "Leave it out")
    if ways == ["equivalent"]:
        return _equivalent(keys["equivalent"], asked)
    if ways == ["expect"]:
        return _expected(keys["expect"], asked, at_least)
    if "margin" not in keys:
        raise entry.error("published has no margin", "Write how far from it still counts, before the run, like 8pp")
    if asked.kind == "value":
        return _published_value(keys, asked.metric)
    return _published_change(keys, asked.metric)


def _equivalent(written: Written, asked: Asked) -> Region:
    if asked.kind == "value":
        raise written.error("a value is equivalent to nothing", "Write published and a margin")
    share = abs(read_percent(written))
    if not share:
        raise written.error("no two arms are the same to the last digit", "Write a margin like 5%")
    return Region(low=1 - share, high=1 + share, equivalent=True)


def _expected(written: Written, asked: Asked, at_least: float) -> Region:
    words = ("decreasing", "increasing") if asked.kind == "trend" else ("lower", "higher")
    word = written.text().strip()
    if asked.kind == "value":
        raise written.error("a value is neither higher nor lower than anything", "Write published and a margin")
    if word not in words:
        raise written.error(f"{word[:40]!r} is not one of them", f"Write {' or '.join(words)}")
    side = SIDES[word]
    return Region(side=side, low=1 + at_least) if side > 0 else Region(side=side, high=1 - at_least)


def _published_value(keys: Mapping[str, Written], metric: Metric) -> Region:
    values = _ends(keys["published"], [read_value(one, metric) for one in keys["published"].elements()])
    margin = read_margin(keys["margin"], metric, of_change=False)
    low, high = values[0], values[-1]
    return Region(
        published=values,
        low=max(0.0, low - margin.amount - low * margin.share),
        high=high + margin.amount + high * margin.share,
    )


def _published_change(keys: Mapping[str, Written], metric: Metric) -> Region:
    """The margin may not reach 0: then the region would hold effects of both directions, and of none."""
    written = keys["published"]
    values = _ends(written, [1 + read_percent(one) for one in written.elements()])
    margin: Margin = read_margin(keys["margin"], metric, of_change=True)
    low, high = values[0] - margin.points, values[-1] + margin.points
    if low <= 1 <= high:
        where = keys["margin"] if margin.points else written
        what = f"it reaches from {100 * (low - 1):+g}% to {100 * (high - 1):+g}%, so no effect at all would count"
        raise where.error(what, "Write less, or claim that there is no effect: equivalent: 5%")
    if low <= 0:
        raise keys["margin"].error("it reaches to -100% and below", "Write less")
    return Region(published=values, low=low, high=high, side=1 if low > 1 else -1)


def _ends(written: Written, values: Sequence[float]) -> tuple[float, ...]:
    if len(values) > 2 or list(values) != sorted(values) or len(set(values)) < len(values):
        raise written.error("this is neither a number nor a range", "Write one, or two with the lower one first")
    return tuple(values)


# --- names


def _one_of(written: Written, known: Sequence[str], what: str) -> str:
    name = written.text().strip()
    if name not in known:
        raise written.error(
            f"there is no {what} {name[:60]!r}", f"{near_miss(name, known)}There are {', '.join(known)}"
        )
    return name


def _metric(written: Written | None, workload: str) -> Metric:
    known = {metric.key: metric for metric in metrics_of(workload)}
    if written is None:
        return metrics_of(workload)[0]
    return known[_one_of(written, list(known), "metric")]


def _over(written: Written, cells: Sequence[Cell]) -> str:
    name = written.text().strip()
    if not is_number(name) or not any(dimension_of(cell, name) for cell in cells):
        raise written.error(f"{name[:60]!r} is no number of these links", "Write a setting of the link, like rtt")
    return name


def refuse_sequential(claims: Sequence[Claim], written: Written) -> None:
    """Pairs are of one round, and without interleaving a round's trials are hours apart."""
    paired = next((claim for claim in claims if claim.kind != "value"), None)
    if paired:
        what = f"with order: sequential arms are not interleaved, so the claim {paired.name} could not be judged"
        raise written.error(what, "Write order: interleaved")
