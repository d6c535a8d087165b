"""What a lab asks, and by what of its run an answer is judged: docs/labs/NAME.yaml, read strictly. The questions
themselves stand in the lab's text, once for each language."""

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import yaml

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.base.settings.kinds import PROSE, choice, near_miss
from lanelab.driver.base.settings.setting import Setting, Table
from lanelab.driver.base.settings.source import Written, read_yaml, scalar
from lanelab.driver.experiment.claim import Claim
from lanelab.driver.experiment.claim_numbers import Margin, read_margin, read_share
from lanelab.driver.experiment.claims import About, read_claims
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.read import read_experiment
from lanelab.driver.record.load_places import metric_of_claim
from lanelab.driver.record.metrics import Metric

LABS = PROJECT / "docs" / "labs"
EXAMPLE = "See docs/labs/1-slow-start.yaml"
NUMBER, DIRECTION = "number", "direction"
CLAIM_KEYS = ("change", "value", "where", "for")
# What a claim has in place of an answer, so that it can be read.
ALWAYS, ANY = [("expect", "lower")], [("published", "1000000"), ("margin", "50%")]
_ID = re.compile(r"[a-z][a-z0-9.-]{0,30}")
_CALCULATED = re.compile(r"[0-9]+(?:\.[0-9]+)?")

# fmt: off
LAB = Table((
    Setting("experiment", PROSE, "", "the experiment that is run, by its name or its file", "labs/1-slow-start",
            "a name or a file", required=True),
    Setting("predictions", None, "", "what is asked before the run, each by the name that its item of the text has",
            "{load: {value: {of: http}, margin: 10%}}", "[keys](#a-prediction) by name", required=True),
    Setting("numbers", None, "", "at which question of the text which of these stand with the student's own numbers",
            "{1: [load]}", "names by the question's number", "none"),
), of=" of a lab")
PREDICTION = Table((
    Setting("change", None, "", "it is about how much an arm changes a metric", "{of: h2, to: http}",
            "as in [a claim](claims.md#change)", "this, `value`, `calculated` or `unit`"),
    Setting("value", None, "", "it is about a metric itself", "{of: http, metric: plt}",
            "as in [a claim](claims.md#value)", "see above"),
    Setting("where", None, "", "the site and link that it is about", "{rtt: 100ms}", "as in a claim", "all"),
    Setting("for", None, "", "in how many places it has to hold", "every rtt", "as in a claim", "there is one"),
    Setting("answer", choice("ANSWER", NUMBER, DIRECTION), NUMBER,
            "what is asked: a number, or whether a change is `lower`, `higher` or `same`", "direction"),
    Setting("margin", None, "", "how far from an answer still counts; of a direction, what is no change yet", "10%",
            "of a change percentage points (`5pp`), of a value a share or an amount, of a direction a share",
            "needed with `change` and `value`"),
    Setting("calculated", None, "", "the answer, where it is worked out and no run measures it", "86", "a number",
            "see above"),
    Setting("unit", PROSE, "", "of an answer that no run measures; alone: students find it out by hand", "packets",
            default_words="none"),
), of=" of a prediction")
# fmt: on


@dataclass(frozen=True, slots=True)
class Question:
    """One prediction that is asked for. `claim`: what the run is asked, still without the answer; None where no run
    measures it."""

    name: str
    answer: str  # NUMBER or DIRECTION
    unit: str
    margin: Margin
    margin_words: str
    claim: Claim | None = None
    metric: Metric | None = None
    calculated: float | None = None

    @property
    def is_change(self) -> bool:
        return self.claim is not None and self.claim.kind == "change"


@dataclass(frozen=True, slots=True)
class Lab:
    """A lab, apart from its text."""

    name: str
    source: str
    text: str  # the file, verbatim
    experiment: Experiment
    questions: tuple[Question, ...]
    numbers: Mapping[int, tuple[str, ...]]

    @property
    def folder(self) -> Path:
        """Return where it is, with its texts beside it."""
        return Path(self.source).parent

    def question(self, name: str) -> Question:
        """Return the question of this name. Raises InputError."""
        for question in self.questions:
            if question.name == name:
                return question
        names = [question.name for question in self.questions]
        raise InputError(
            f"the lab {self.name} asks no {name[:60]!r}", f"{near_miss(name, names)}It asks {', '.join(names)}"
        )


def lab_names() -> list[str]:
    """Return the names of all labs."""
    return sorted(path.stem for path in LABS.glob("*.yaml") if path.with_suffix(".md").is_file())


def find_lab(named: str) -> str:
    """Return the name of the lab that is meant: its whole name, or its number."""
    names = lab_names()
    text = named.removeprefix("labs/")
    meant = [name for name in names if text in (name, name.partition("-")[0])]
    if meant:
        return meant[0]
    raise InputError(f"there is no lab {named[:60]!r}", f"{near_miss(text, names)}There are {', '.join(names)}")


def read_lab(name: str, folder: Path | None = None) -> Lab:
    """Return a lab by its whole name. folder: where it is, if it is none of lanelab's own."""
    path = (folder or LABS) / f"{name}.yaml"
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", EXAMPLE, key=str(path)) from error
    return _read(name, path, text)


@functools.lru_cache(maxsize=32)
def _read(name: str, path: Path, text: str) -> Lab:
    """Read a description once: a class of thirty begins at the same moment."""
    root = read_yaml(text, str(path), EXAMPLE)
    entries = LAB.entries(root)
    with entries["experiment"].placed({}):
        experiment = read_experiment(Path(entries["experiment"].text()))
    return parse_lab(root, name, text, experiment)


def parse_lab(root: Written, name: str, text: str, experiment: Experiment) -> Lab:
    """Return the lab that is written there, asked of this experiment, which may be a run's own copy."""
    entries = LAB.entries(root)
    questions = _questions(entries["predictions"], experiment)
    names = [question.name for question in questions]
    numbers = _numbers(entries["numbers"], names) if "numbers" in entries else {}
    return Lab(name, root.source, text, experiment, questions, numbers)


def asked_of(lab: Lab, experiment: Experiment) -> Lab:
    """Return the same lab, asked of another experiment: a student's own."""
    return parse_lab(read_yaml(lab.text, lab.source, EXAMPLE), lab.name, lab.text, experiment)


def _questions(written: Written, experiment: Experiment) -> tuple[Question, ...]:
    entries = {name: (entry, PREDICTION.entries(entry)) for name, entry in written.entries().items()}
    if not entries:
        raise written.error("nothing is asked", "Write one prediction or more")
    for name, (entry, _) in entries.items():
        if not _ID.fullmatch(name):
            raise entry.error(f"{name[:60]!r} is no name", "Write small letters, digits, dots and hyphens")
    measured = {name: pair for name, pair in entries.items() if "change" in pair[1] or "value" in pair[1]}
    claims = _claims(written, measured, experiment) if measured else {}
    return tuple(_question(name, entry, keys, claims.get(name)) for name, (entry, keys) in entries.items())


def _question(name: str, entry: Written, keys: Mapping[str, Written], claim: Claim | None) -> Question:
    plain = PREDICTION.values_of(keys)
    if claim is None:
        return _worked_out(name, entry, keys, plain["unit"] or "")
    for key in ("calculated", "unit"):
        if key in keys:
            raise keys[key].error("the run measures it", "Leave it out")
    metric = metric_of_claim(claim.metric)
    if metric is None:
        raise TypeError(f"{claim.metric} was read as a metric, and is none")
    is_change, is_direction = claim.kind == "change", plain["answer"] == DIRECTION
    if is_direction and not is_change:
        raise keys["answer"].error("a value has no direction", "Write a change, or leave it out")
    if "margin" not in keys:
        raise entry.error("margin is missing", "Write how far from an answer still counts, like margin: 10%")
    written = keys["margin"]
    margin = Margin(share=read_share(written)) if is_direction else read_margin(written, metric, of_change=is_change)
    unit = "" if is_direction else "%" if is_change else metric.unit
    return Question(name, plain["answer"], unit, margin, written.text().strip(), claim, metric)


def _worked_out(name: str, entry: Written, keys: Mapping[str, Written], unit: str) -> Question:
    for key in ("where", "for", "answer", "margin"):
        if key in keys:
            raise keys[key].error("no run measures this", "Write change or value, or leave it out")
    calculated = None
    if "calculated" in keys:
        text = keys["calculated"].text().strip()
        if not _CALCULATED.fullmatch(text):
            raise keys["calculated"].error(f"{text[:40]!r} is no number", "Write one, and its unit as unit")
        calculated = float(text)
    elif not unit:
        what = "it says neither what is measured nor what is worked out"
        raise entry.error(what, "Write change, value or calculated, or the unit of what students find out by hand")
    return Question(name, NUMBER, unit, Margin(), "", calculated=calculated)


def _claims(
    written: Written, measured: Mapping[str, tuple[Written, Mapping[str, Written]]], experiment: Experiment
) -> dict[str, Claim]:
    """Return what the run is asked, read as claims are. In place of an answer stands a direction, or a large value."""
    nodes = []
    for key, node in _pairs(written.node):
        if key.value not in measured:
            continue
        taken = [pair for pair in _pairs(node) if pair[0].value in CLAIM_KEYS]
        stand_in = ALWAYS if "change" in measured[key.value][1] else ANY
        nodes.append((key, _mapping(node, [*taken, *((scalar(name), scalar(text)) for name, text in stand_in)])))
    about = About(experiment.cells, experiment.workload, experiment.recorders)
    whole = Written(written.source, written.path, written.line, _mapping(written.node, nodes))
    return {claim.name: claim for claim in read_claims(whole, about)}


def _pairs(node: yaml.Node) -> Sequence[tuple[yaml.ScalarNode, yaml.Node]]:
    if not isinstance(node, yaml.MappingNode):
        raise TypeError("what has entries is a mapping")
    return cast(Sequence[tuple[yaml.ScalarNode, yaml.Node]], node.value)


def _mapping(at: yaml.Node, pairs: Sequence[tuple[yaml.ScalarNode, yaml.Node]]) -> yaml.MappingNode:
    return yaml.MappingNode("tag:yaml.org,2002:map", list(pairs), at.start_mark, at.end_mark)


def _numbers(written: Written, names: Sequence[str]) -> dict[int, tuple[str, ...]]:
    numbers = {}
    for key, entry in written.entries().items():
        if not key.isdecimal() or len(key) > 2 or key == "0":
            raise entry.error(f"{key[:40]!r} is no question's number", "Write the number that it has in the text")
        for element in entry.elements():
            if element.text() not in names:
                what = f"there is no prediction {element.text()[:60]!r}"
                raise element.error(what, f"{near_miss(element.text(), names)}There are {', '.join(names)}")
        numbers[int(key)] = tuple(entry.texts())
    return numbers
