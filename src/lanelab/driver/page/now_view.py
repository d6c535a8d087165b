"""What a run does now, and what may be done about it: stop it, go on with it."""

from dataclasses import dataclass

from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.layout.page import section_on_page
from lanelab.analysis.results.model import Run
from lanelab.driver.api.progress import Progress
from lanelab.driver.api.run_now import RunNow
from lanelab.driver.page.language import in_english, many, say, whole

AFTER_THIS_TRIAL, AT_ONCE = "trial", "now"  # how a run is to stop
UNKNOWN = "?"  # how long the rest takes
GOES_ON = ("stopped", "failed", "killed")  # the states from which it does


@dataclass(frozen=True, slots=True)
class Controls:
    """`may_run`: whether the reader may stop and go on. `of_study`: it is a figure's, which goes on with the others."""

    now: RunNow
    may_run: bool
    of_study: bool = False


def now_section(run: Run, controls: Controls) -> Html | None:
    """Return what a run that goes on does; of one that has not come to its end, how it goes on."""
    if run.state == "running":
        return section_on_page("now", say("Now"), *_running(controls))
    if controls.may_run and not why_not(run, of_study=controls.of_study):
        button = el("button", say("Go on with this run"), type="submit")
        words = el("p", say("What is stored is not measured again."))
        return section_on_page(
            "now", say("It is not at its end"), words, el("form", button, method="post", action="resume")
        )
    return None


def why_not(run: Run, *, of_study: bool) -> str:
    """Return why a run does not go on from here; nothing where it does."""
    if run.state == "running":
        return say("It goes on already.")
    if run.state not in GOES_ON:
        return say("It has come to its end.")
    return say("It is a figure of a study, which goes on with the others in a terminal.") if of_study else ""


def _running(controls: Controls) -> list[Html | None]:
    now = controls.now
    known = {test.words for test in now.tests.values()}
    tests = [el("li", test.words, class_=None if test.passed else "bad") for test in now.tests.values()]
    troubles = [el("li", words, class_="warn") for words in now.troubles]
    return [
        _how_far(now, now.progress) if now.progress else el("p", say("This run tells nothing of what it does now.")),
        in_english(el("p", "" if now.line in known else now.line, id="now-line")),
        in_english(el("ul", tests, class_="plain")) if tests else None,
        el("h3", say("What went wrong lately")) if troubles else None,
        in_english(el("ul", troubles, class_="plain")) if troubles else None,
        _stop(now) if controls.may_run else None,
    ]


def _how_far(now: RunNow, progress: Progress) -> Html:
    if now.sweep:
        return in_english(el("p", now.sweep.whole())) or el("p")
    words = [
        say("Round {round} of {rounds}", round=whole(now.round), rounds=whole(now.rounds)) if now.round else "",
        say("{done} of {trials} trials", done=whole(progress.done), trials=whole(progress.trials)),
        many(progress.failed, "{n} has failed", "{n} have failed") if progress.failed else "",
        many(progress.refused, "{n} refused with its link", "{n} refused with their link") if progress.refused else "",
        say("ends in about {time}", time=progress.eta) if progress.eta != UNKNOWN else "",
    ]
    label = say("{done} of {trials} trials", done=whole(progress.done), trials=whole(progress.trials))
    bar = el("progress", max=progress.trials, value=min(progress.done, progress.trials), aria_label=label)
    return el("div", bar, el("p", ", ".join(filter(None, words))))


def _stop(now: RunNow) -> Html:
    words, how = (say("Stop at once"), AT_ONCE) if now.is_stopping else (say("Stop after this trial"), AFTER_THIS_TRIAL)
    field = el("input", type="hidden", name="how", value=how)
    notice = el("p", say("It was asked to stop: what is under way is finished first.")) if now.is_stopping else None
    return el("form", notice, field, el("button", words, type="submit"), method="post", action="stop")
