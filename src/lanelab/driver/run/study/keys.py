"""The keys of study.yaml. Those without a kind are read by code of their own."""

from collections.abc import Mapping

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import PROSE, Kind
from lanelab.driver.base.settings.setting import Setting, Table


def _words(value: object, key: str) -> str:
    text = str(value).strip()
    if not text:
        raise InputError("it has no words", "Write what it is", key=key)
    return text


WORDS = Kind("TEXT", "text", _words, PROSE.schema)
# fmt: off
STUDY = Table((
    Setting("title", WORDS, "", "what it is called", "SPDY vs HTTP page load times", required=True),
    Setting("source", WORDS, "", "the published work, as one would cite it",
        "'A. Author: A title. Proceedings of a conference, 2012'", required=True),
    Setting("description", PROSE, "", "what was done then, and what is done here", "Page loads over ten links",
        default_words="none"),
    Setting("variants", None, "", "the variants that each of its experiments has, and what each stands for; the first "
        "is run unless another is asked for", "{period: the software of 2012, today: that of today}",
        "a mapping of names, each with a text", "none"),
    Setting("figures", None, "", "the figures and tables that are reproduced",
        "{1: {file: figure-1.yaml, title: Page load times}}", "a mapping of numbers, each with [keys](#figures)",
        required=True),
    Setting("claims", None, "", "what the work says, which claims of the experiments refer to as `STUDY#NUMBER`",
        "{1: SPDY reduces PLT by 39%}", "a mapping of numbers, each with a text or with [keys](#claims)",
        required=True),
    Setting("differences", None, "", "what is not as it was in the published work",
        "[{what: browser, then: Chromium 20, now: Chromium 140, effect: none}]",
        "a list of [differences](#differences)", "none"),
))
FIGURE = Table((
    Setting("file", WORDS, "", "its experiment, in the study's folder", "figure-1.yaml", required=True),
    Setting("title", WORDS, "", "what it is called", "Page load times", required=True),
    Setting("caption", PROSE, "", "what the published figure shows, and what is not known of it",
        "Lines over RTT, without numbers", default_words="none"),
))
CLAIM = Table((
    Setting("says", WORDS, "", "the statement, in the work's own words", "SPDY reduces PLT by 39%", required=True),
    Setting("note", PROSE, "", "what of it cannot be checked, or how it is; needed where no experiment has a claim "
        "that refers to it", "its sites are not to be had any more", default_words="none"),
))
DIFFERENCE = Table((
    Setting("what", WORDS, "", "what differs", "browser", required=True),
    Setting("then", WORDS, "", "what it was in the published work", "Chromium 20", required=True),
    Setting("now", WORDS, "", "what it is here", "Chromium 140", required=True),
    Setting("effect", WORDS, "", "what that is likely to change, or was measured to", "fewer connections at once",
        required=True),
))
# fmt: on
SECTIONS: Mapping[str, Table] = {"study": STUDY, "figure": FIGURE, "published": CLAIM, "difference": DIFFERENCE}
