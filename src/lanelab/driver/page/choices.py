"""What a form asks for, and the experiment file that it makes: a site, a link, arms that lanelab's own experiments use.

What is typed goes into the file as text, and is refused in the words of whoever reads experiment files. Of arms only
names come from a browser: no setting of an arm, which may be code.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import yaml

from lanelab.analysis.results.layout.markup import Html, el
from lanelab.driver.api.arm_presets import arm_presets
from lanelab.driver.api.site_names import sites_here
from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.page.language import say, text
from lanelab.driver.site.load import site_names

SEPARATOR = ": "  # between an experiment and an arm of it
LINK = {  # setting -> its title, and what it is at first
    "rtt": (text("Round trip"), "100ms"),
    "rate_down": (text("Rate down"), "10mbit"),
    "rate_up": (text("Rate up"), "10mbit"),
    "loss": (text("Loss"), "0%"),
    "queue": (text("Queue"), "1bdp"),
}
SITE, ARM, ROUNDS = text("Site"), text("Arm"), text("Rounds")
FILE = "form"  # what refusals would call the file


class ForAll(InputError):
    """A refusal of what was sent that says nothing of the server: who watches may read it, too. `key`: what the form
    calls the field. `is_english`: the rest of its words are in English, and not in the language of the page."""

    def __init__(self, what: str, remedy: str = "", *, key: str = "", is_english: bool = False) -> None:
        super().__init__(what, remedy, key=key)
        self.is_english = is_english


def another_run(name: str) -> ForAll:
    """Return the refusal to measure beside a run of this name."""
    remedy = say("Wait until it has ended, or stop it: two would disturb each other")
    return ForAll(say("the run {name} goes on", name=name), remedy)


@dataclass(frozen=True, slots=True)
class Choice:
    """A site, arms by `EXPERIMENT: NAME`, settings of a link as text, and how many rounds."""

    site: str
    arms: Sequence[str]
    link: Mapping[str, str]
    rounds: str

    @classmethod
    def read(cls, fields: Mapping[str, Sequence[str]], usual: "Choice") -> "Choice":
        """Return what was filled in; of what was not there, the usual."""

        def one(name: str, otherwise: str) -> str:
            return next(iter(fields.get(name, ())), otherwise)

        link = {key: one(key, value) for key, value in usual.link.items()}
        return cls(one("site", usual.site), fields.get("arm") or usual.arms, link, one("rounds", usual.rounds))

    def text(self, name: str, **more: object) -> str:
        """Return the experiment file. `more`: further keys of it. Raises InputError where an arm is none."""
        arms = self._named_arms()
        link = {key: value.strip() for key, value in self.link.items() if value.strip()}
        if "rtt" in self.link and "rtt" not in link:
            raise ForAll(say("nothing is written there"), say("Write a time like 100ms, or 0ms"), key=_label("rtt"))
        whole = {
            "name": name,
            "sites": self.site,
            "links": link or {"rtt": "0ms"},
            "arms": {title: arm.changed() for title, arm in arms.items()},
            "trials": self.rounds.strip(),
            **more,
        }
        return yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, width=100)

    def _named_arms(self) -> dict[str, Arm]:
        """Return the arms by their names; what has the name of another one, with its experiment."""
        named: dict[str, Arm] = {}
        for chosen in dict.fromkeys(self.arms):
            experiment, _, name = chosen.partition(SEPARATOR)
            arm = arm_presets().get(experiment, {}).get(name)
            if arm is None:
                raise ForAll(say("there is no arm {name!r}", name=chosen), say("Choose one of the list"), key=say(ARM))
            named[f"{name} ({experiment})" if name in named else name] = arm
        return named


def as_whole(text: str, name: str, least: int, most: int) -> int:
    """Return the whole number that was typed into the field of this name. Raises InputError."""
    if text.isascii() and text.isdecimal() and len(text) <= len(str(most)) and least <= int(text) <= most:
        return int(text)
    remedy = say("Write a whole number from {least} to {most}", least=least, most=most)
    raise ForAll(say("{value!r} cannot be used", value=text), remedy, key=name)


def checked(text: str) -> Experiment:
    """Return the experiment of that file. Raises InputError, which names the setting alone: nobody wrote the file. It
    is for all where it is of the form, and of no file of the server that a setting leads to."""
    try:
        return parse_experiment(text, FILE, site_names())
    except InputError as error:
        key = _label(error.key)
        if error.place or not error.key.startswith(f"{FILE}:"):
            raise InputError(error.what, error.remedy, key=key, place=error.place) from error
        raise ForAll(error.what, error.remedy, key=key, is_english=True) from error


def _label(key: str) -> str:
    """Return what the form calls a key of the experiment file; the key itself, where the form has no such field."""
    key = re.sub(rf"^{FILE}(:\d+)?(: )?", "", key)
    labels = {"sites": SITE, "trials": ROUNDS} | {name: title for name, (title, _) in LINK.items()}
    return say(labels.get(key.removeprefix("links."), key))


def site_field(chosen: str) -> Html:
    options = [el("option", name, value=name, selected=name == chosen) for name in sites_here()]
    return el("label", say(SITE), el("select", options, name="site"))


def arm_field(title: str, chosen: str, *, none: str = "") -> Html:
    """Return the list of arms, below the experiments that they are of. none: what it is called to choose none."""
    groups = [
        el("optgroup", [_arm_option(experiment, name, chosen) for name in arms], label=experiment)
        for experiment, arms in arm_presets().items()
    ]
    empty = el("option", none, value="") if none else None
    return el("label", title, el("select", empty, groups, name="arm"))


def _arm_option(experiment: str, name: str, chosen: str) -> Html:
    value = f"{experiment}{SEPARATOR}{name}"
    return el("option", name, value=value, selected=value == chosen)


def accept_field(accept: bool = False) -> Html:
    """Return a box for a machine that has other work: without it, such a link is refused."""
    words = say("Go on where the link is not what was asked for: on a busy machine. All outputs then say so.")
    box = el("input", type="checkbox", name="accept", value="1", checked=accept)
    return el("p", el("label", box, " ", words))


def refusal(words: Html | None) -> Html | None:
    """Return why nothing was begun."""
    return el("p", words, role="alert", class_="bad") if words else None
