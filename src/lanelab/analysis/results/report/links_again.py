"""The part of the report on links that were measured again after their trials."""

from lanelab.analysis.results import link_drift
from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.link_drift import LinkDrift, PropertyDrift
from lanelab.analysis.results.model import Run


def links_again(run: Run) -> Html | None:
    drifts = link_drift.drifts(run)
    if not drifts:
        return None
    again = [drift for drift in drifts if drift.after]
    sentences = [el("p", el("b", sentence)) for sentence in link_drift.sentences(run)]
    missing = link_drift.not_measured_again(run)
    if missing:
        sentences.append(el("p", _missing(missing, len(drifts))))
    if not again:
        return el("div", sentences)
    words = "Measured again after their trials, links had changed by no more than this:"
    heads = ["property", "before", "after", "change", "unit", ""]
    body = [_row(each) for each in link_drift.largest(run)]
    head = el("tr", [el("th", word, scope="col", class_="num" if word in heads[1:4] else None) for word in heads])
    table = el("table", el("thead", head), el("tbody", body))
    return el("div", sentences, el("p", words), el("div", table, class_="scroll"))


def _missing(missing: list[LinkDrift], number: int) -> str:
    which = ", ".join(f"{drift.link.label} (bed {drift.bed})" for drift in missing[:6])
    more = f" and {len(missing) - 6} more" if len(missing) > 6 else ""
    whole = "No link was" if len(missing) == number else f"{len(missing)} of {number} were not"
    verb = " measured again after its trials" if len(missing) == number else " measured again after their trials"
    return f"{whole}{verb}: {which}{more}."


def _row(each: PropertyDrift) -> Html:
    return el(
        "tr",
        el("td", each.name),
        *(el("td", _figure(value), class_="num") for value in (each.before, each.after)),
        el("td", f"{each.change:+.3g}", class_="num"),
        el("td", each.unit),
        el("td", "out" if each.is_out else "ok", class_="bad" if each.is_out else "good"),
    )


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
