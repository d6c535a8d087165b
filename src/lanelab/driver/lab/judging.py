"""A sheet and a run: whether they belong together, and what the run says of each prediction. The verdicts are those of
claims."""

import hashlib
from dataclasses import dataclass

from lanelab.analysis.results.claims.judge import judge
from lanelab.analysis.results.claims.verdict import Judged, Verdict
from lanelab.analysis.results.claims.words import effect_words, effects_of, interval_words
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.run_folder import read_run
from lanelab.driver.base.amounts import counted
from lanelab.driver.base.clock import utc_now
from lanelab.driver.base.errors import ChangedError, InputError
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.lab.answers import Answer, claim_of, read_answer
from lanelab.driver.lab.description import Lab, Question, asked_of
from lanelab.driver.lab.folder import LabFolder
from lanelab.driver.lab.sheet import Sheet, digest_of, plain, seed_of, stamps_of
from lanelab.driver.run.folder.format import EXPERIMENT, ID


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one prediction. `low` and `high`: the 95% interval in words, as `measured` is."""

    question: Question
    answer: Answer | None
    verdict: Verdict
    words: str
    judged: Judged | None = None
    measured: str = ""
    interval: str = ""


@dataclass(frozen=True, slots=True)
class CheckedLab:
    """A student's lab after its run. `doubts`: what makes it another run than that of everybody else."""

    folder: LabFolder
    lab: Lab
    sheet: Sheet
    run: Run
    outcomes: tuple[Outcome, ...]
    doubts: tuple[str, ...]

    @property
    def run_id(self) -> str:
        return self.run.meta.get(ID, "")


def check_lab(folder: LabFolder, run: Run | None = None) -> CheckedLab:
    """Judge the predictions of a folder by its run, or by another one that knows them. InputError where something is
    not there yet, ChangedError where sheet and run do not belong together."""
    sheet = folder.sheet()
    if sheet is None:
        raise InputError(f"nothing was predicted in {folder.path}", "Fix predictions, then run: lanelab lab predict")
    _require_own(folder, sheet)
    if run is None and not folder.has_run():
        command = f"lanelab run {folder.experiment} --out {folder.run}"
        raise InputError(f"there is no run in {folder.path} yet", f"Run it: {command}")
    run = run or read_run(folder.run)
    _require_knows(run, sheet)
    lab = folder.lab()
    outcomes_of_run = outcomes(asked_of(lab, experiment_of(run)), sheet, run)
    return CheckedLab(folder, lab, sheet, run, outcomes_of_run, tuple(_doubts(lab, sheet, run)))


def _require_own(folder: LabFolder, sheet: Sheet) -> None:
    enrolment = folder.enrolment
    if (sheet.student, sheet.seed, sheet.lab) != (enrolment.student, enrolment.seed, enrolment.lab):
        what = f"the predictions in {folder.path} are those of {sheet.student}, and the lab is {enrolment.student}'s"
        raise ChangedError(what, "Put the sheet back into the folder that it is from")
    if sheet.fixed_utc > utc_now():
        what = f"the predictions in {folder.path} were fixed at {sheet.fixed_utc}, which is still to come"
        raise ChangedError(what, "A clock was moved: set this one right, or begin the lab again")


def _require_knows(run: Run, sheet: Sheet) -> None:
    """A run knows the sheets that were fixed when it began."""
    if hashlib.sha256(run.experiment.encode()).hexdigest() != run.meta.get("experiment_sha256"):
        what = f"{run.folder / EXPERIMENT} is not the experiment that the run began with"
        raise ChangedError(what, "Put it back as it was")
    stamps = stamps_of(run.experiment)
    if not stamps:
        what = f"the run in {run.folder} began without predictions, at {run.created_utc}"
        raise ChangedError(what, "What is predicted afterwards does not count: begin the lab again")
    if sheet.digest not in [stamp.digest for stamp in stamps]:
        whose = "edited since, or the run is somebody else's"
        what = f"the run in {run.folder} began with other predictions: these were {whose}"
        raise ChangedError(what, "Put back what was predicted, or the run")
    if sheet.fixed_utc > run.created_utc:
        times = f"fixed at {sheet.fixed_utc}, after the run had begun at {run.created_utc}"
        raise ChangedError(
            f"by the clock the predictions were {times}", "A clock was moved meanwhile: begin the lab again"
        )


def _doubts(lab: Lab, sheet: Sheet, run: Run) -> list[str]:
    """Say what makes it another run than the lab asks for."""
    doubts = []
    if plain(run.experiment) != plain(lab.experiment.text):
        doubts.append("the experiment of the run is not the lab's: somebody changed it")
    is_alone = len(stamps_of(run.experiment)) == 1
    if is_alone and run.meta.get("seed") != str(sheet.seed):
        doubts.append(f"the run has the seed {run.meta.get('seed')}, and not {sheet.seed}")
    elif seed_of(run.experiment) is None:
        doubts.append("the experiment of the run has no seed")
    if digest_of(lab.text) != sheet.lab_sha256:
        doubts.append("the lab asks something else by now, or with other margins, than when this was predicted")
    return doubts


def experiment_of(run: Run) -> Experiment:
    """Return the experiment that a run was of."""
    source = str(run.folder / EXPERIMENT)
    return parse_experiment(run.experiment, source, {cell.site for cell in run.cells}, run.variant or None)


def outcomes(lab: Lab, sheet: Sheet, run: Run) -> tuple[Outcome, ...]:
    """Return what came of each prediction, in the order of the lab. `lab`: asked of the run's own experiment."""
    answers = {name: read_answer(lab.question(name), text) for name, text in sheet.answers.items()}
    claims = [claim for answer in answers.values() if (claim := claim_of(answer))]
    judged = {one.claim.name: one for one in judge(run, claims)}
    return tuple(
        _outcome(question, answers.get(question.name), judged.get(question.name)) for question in lab.questions
    )


def _outcome(question: Question, answer: Answer | None, judged: Judged | None) -> Outcome:
    if answer is None:
        return Outcome(question, None, Verdict.NOT_TESTED, "nothing was predicted")
    if judged is None:
        return Outcome(question, answer, Verdict.NOT_TESTED, _worked_out(question, answer))
    effects = effects_of(judged.places)
    measured, interval = "", ""
    if len(effects) == 1:
        measured = effect_words(judged.claim, effects[0].value)
        interval = interval_words(judged.claim, effects[0].interval_95) if effects[0].interval_95 else ""
    return Outcome(question, answer, judged.verdict, _because(question, judged), judged, measured, interval)


def _worked_out(question: Question, answer: Answer) -> str:
    """Say how an answer compares that no run measures."""
    if question.calculated is None or answer.value is None:
        return "no run measures this: compare it with what you saw"
    unit = f" {question.unit}" if question.unit else ""
    right = f"{question.calculated:,.6g}{unit}"
    if answer.value == question.calculated:
        return f"no run measures this; worked out it is {right}, as you said"
    return f"no run measures this; worked out it is {right}"


def _because(question: Question, judged: Judged) -> str:
    """Say in words why a verdict is what it is."""
    place = judged.places[0] if len(judged.places) == 1 else None
    effect = place.effect if place else None
    if judged.verdict == Verdict.NOT_TESTED or effect is None:
        return judged.detail or _IN_SEVERAL[judged.verdict]
    if effect.interval_95 is None:
        return _EXACT[judged.verdict == Verdict.REPRODUCED]
    words = _OF_DIRECTION if judged.claim.published == () else _OF_NUMBER
    reach = _reach(question)
    rounds = place.rounds_needed if place else None
    more = f"; about {counted(rounds, 'round')} would probably settle it" if rounds else ""
    return words[judged.verdict].format(reach=reach) + more


def _reach(question: Question) -> str:
    margin = question.margin_words.replace("pp", " percentage points")
    return f"within {margin} of what you said"


_OF_NUMBER = {
    Verdict.REPRODUCED: "the whole 90% interval is {reach}",
    Verdict.DIRECTION_ONLY: "the direction is right, but the interval is not wholly {reach}",
    Verdict.NOT_REPRODUCED: "no part of the 95% interval is {reach}",
    Verdict.INCONCLUSIVE: "the interval lies partly {reach}, and partly not",
}
_OF_DIRECTION = {
    Verdict.REPRODUCED: "the whole interval lies where you said",
    Verdict.DIRECTION_ONLY: "the direction is right",
    Verdict.NOT_REPRODUCED: "the whole interval lies elsewhere",
    Verdict.INCONCLUSIVE: "the interval lies partly where you said, and partly not",
}
_IN_SEVERAL = {
    Verdict.REPRODUCED: "it holds in each place",
    Verdict.DIRECTION_ONLY: "the direction holds in each place",
    Verdict.NOT_REPRODUCED: "it does not hold in one place or more",
    Verdict.INCONCLUSIVE: "in one place or more the interval lies on both sides",
    Verdict.NOT_TESTED: "there is nothing to judge by",
}
_EXACT = {True: "every load has what you said", False: "there are loads that have something else"}
