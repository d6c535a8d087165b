"""What a student takes home: one HTML file that asks nothing of the network, with text, predictions, numbers, verdicts,
answers and the figures of the run."""

from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.layout.page import section_on_page
from lanelab.analysis.results.report import loads
from lanelab.analysis.results.report.figures import figures
from lanelab.analysis.results.report.page import document
from lanelab.driver.lab import parts
from lanelab.driver.lab.judging import CheckedLab
from lanelab.driver.lab.text import LabText, Say, in_english

STYLE = """
.own{border-left:4px solid var(--accent);padding:2px 14px;margin:6px 0 14px}
.own p{margin:0}.own ul{margin:2px 0}
section>ol>li{margin:0 0 10px}
.number{white-space:nowrap}
.predictions td{white-space:normal;min-width:7em;vertical-align:top}
.predictions td:first-child{min-width:16em}
footer{overflow-wrap:anywhere}
section li{max-width:52em}
@media(max-width:640px){
main{padding-left:14px;padding-right:14px}
.predictions thead{display:none}
.predictions tr{display:block;border-bottom:1px solid var(--ink);padding:8px 0}
.predictions td{display:block;border:0;padding:2px 0;min-width:0}
.predictions td::before{content:attr(data-title) ": ";color:var(--muted)}
.predictions td:first-child::before{content:""}
}
"""


def take_home(checked: CheckedLab, text: LabText, say: Say = in_english) -> str:
    """Return the whole page. `say`: its words in the language of the text."""
    outcomes = parts.by_name(checked.outcomes)
    sheet, run = checked.sheet, checked.run
    who = el("p", say("{student}, seed {seed}", student=sheet.student, seed=sheet.seed), class_="eyebrow")
    main = [
        parts.title_and_lead(text, who),
        section_on_page("predictions", say("What you said, and what came out"), _facts(checked, say), _doubts(checked)),
        parts.verdict_table(text, checked.outcomes, say),
        parts.questions_with_numbers(checked.lab, text, outcomes, say=say),
        parts.answers(text),
        figures(run, loads.drawn_loads(run, pictures=False)),
        *parts.sections(text.sections[:2]),
        *parts.sections(text.seen),
        *parts.sections(text.further),
    ]
    footer = el(
        "footer",
        say(
            "Run {run}. sha256 of the predictions {digest}. Nothing here is loaded from elsewhere.",
            run=checked.run_id,
            digest=sheet.digest,
        ),
        lang=text.language,
    )
    body = el("body", el("main", main, lang=text.language), footer)
    return document(f"{text.title}: {sheet.student}", body, images=True, style=STYLE)


def _facts(checked: CheckedLab, say: Say) -> Html:
    run = checked.run
    words = say(
        "Predicted at {predicted}; the run began at {began}: {ok} trials count, {failed} failed.",
        predicted=checked.sheet.fixed_utc,
        began=run.created_utc,
        ok=len(run.ok),
        failed=len(run.failed),
    )
    return el("p", words)


def _doubts(checked: CheckedLab) -> Html | None:
    return (
        el("ul", [el("li", doubt) for doubt in checked.doubts], class_="warnings", lang="en")
        if checked.doubts
        else None
    )
