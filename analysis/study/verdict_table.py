"""The first thing in a study's report: each published claim with its verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.claims.verdict import JudgedPlace
from analysis.claims.words import (
    MOODS,
    effect_words,
    effects_of,
    interval_words,
    measured_words,
    n_words,
    numbers_words,
    places_words,
    published_words,
    verdict_words,
)
from analysis.numbers import NONE, counted, probability
from analysis.report.markup import Html, el, join
from analysis.report.sections import scroll, section
from analysis.study.judged import JudgedStudy, StudyVerdict
from model.claims import Claim
from model.study import PublishedClaim

HEADS = ("claim", "verdict", "measured", "95% interval", "published", "where", "n", "p", "Holm")
PLACE_HEADS = ("place", "verdict", "effect", "90% interval", "95% interval", "n", "beds", "settled by", "trials")
NOTE = (
    "A claim is reproduced where the 90% interval of its effect lies within the published value and its margin. p is "
    "how likely data like these would be if the verdict were wrong; Holm's is for all tests of this table together. "
    "docs/reference/claims.md defines every verdict."
)


def verdict_section(study: JudgedStudy) -> Html:
    """The table, and how many of its verdicts may be wrong."""
    head = el("tr", [el("th", word, scope="col") for word in HEADS])
    groups = [_published(claim, verdicts) for claim, verdicts in study.published]
    if study.further:
        rows = [_verdict(each) for each in study.further]
        groups.append(el("tbody", _group("Further claims of the experiments", ""), rows))
    table = el("table", el("thead", head), groups, class_="verdicts")
    edited = [each.judged.claim.name for each in study.changed]
    changed = f"Changed after the run began, and so no test of what was foretold: {', '.join(edited)}."
    return section(
        "verdicts",
        "Verdicts",
        el("p", changed, class_="bad") if edited else None,
        scroll(table),
        el("p", study.expected_false()) if study.tested else None,
        el("p", NOTE, class_="note"),
    )


def _published(claim: PublishedClaim, verdicts: Sequence[StudyVerdict]) -> Html:
    rows = [_verdict(each) for each in verdicts]
    if not rows:
        rows = [el("tr", el("td", "not checked by any experiment of this study", colspan=len(HEADS), class_="muted"))]
    return el("tbody", _group(f"{claim.number}. {claim.says}", claim.note), rows, id=f"published-{claim.number}")


def _group(title: str, note: str) -> Html:
    words = join(el("b", title), el("span", note, class_="note") if note else None)
    return el("tr", el("th", words, colspan=len(HEADS), scope="rowgroup"), class_="group")


def _verdict(verdict: StudyVerdict) -> Html:
    judged = verdict.judged
    claim = judged.claim
    name = join(
        el("span", claim.says),
        el("a", f" figure {verdict.figure}", href=f"#figure-{verdict.figure}", class_="note"),
        el("b", " changed after the run", class_="bad") if judged.changed else None,
    )
    effects = effects_of(judged.places)
    only = effects[0] if len(effects) == 1 else None
    values: list[tuple[str, object]] = [
        ("verdict", join(el("b", judged.verdict, class_=MOODS[judged.verdict]), _detail(judged.detail))),
        ("measured", el("b", measured_words(judged))),
        ("95% interval", interval_words(claim, only.interval_95) if only else ("by place" if effects else NONE)),
        ("published", el("span", published_words(claim), title=claim.because or None)),
        ("where", places_words(claim)),
        ("n", n_words(effects)),
        ("p", NONE if judged.p is None else probability(judged.p)),
        ("Holm", NONE if verdict.adjusted_p is None else probability(verdict.adjusted_p)),
    ]
    cells = [el("td", value, data_label=label) for label, value in values]
    first = el("tr", el("td", name, data_label="claim"), cells, id=verdict.address)
    return join(first, el("tr", el("td", _below(verdict), colspan=len(HEADS)), class_="below"))


def _detail(words: str) -> Html | None:
    return el("span", words, class_="detail") if words else None


def _below(verdict: StudyVerdict) -> Html:
    """Why, and each place by itself."""
    judged = verdict.judged
    why = el("p", el("b", "Why: "), judged.why, class_="why") if judged.why else None
    margin = el("p", "Margin: ", judged.claim.because, class_="note") if judged.claim.because else None
    head = el("tr", [el("th", word, scope="col") for word in PLACE_HEADS])
    rows = [_place(judged.claim, each) for each in judged.places]
    table = scroll(el("table", el("thead", head), el("tbody", rows)))
    words = el("summary", f"{counted(len(judged.places), 'place')}, with the trials behind each")
    return join(why, el("details", words, margin, table))


def _place(claim: Claim, place: JudgedPlace) -> Html:
    effect = place.effect
    values: list[object] = [
        place.place.words,
        el("span", verdict_words(place.verdict, place.detail), class_=MOODS[place.verdict]),
        effect_words(claim, effect.value) if effect else NONE,
        interval_words(claim, effect.interval_90) if effect else NONE,
        interval_words(claim, effect.interval_95) if effect else NONE,
        effect.n if effect else 0,
        NONE if effect is None else str(effect.beds) if effect.between_beds else "this run alone",
        NONE if place.rounds_needed is None else counted(place.rounds_needed, "round"),
        numbers_words(place.trials) or NONE,
    ]
    return el("tr", [el("td", value) for value in values])
