"""The language of a page. A text is written in English where it is said, `say("Round {round}", round=3)`; german/ has
the tables of all of them, and a test compares them.

Who reads a page in which language, preference.py knows; what is a file, and no answer, is in English.
"""

import datetime
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from urllib.parse import urlencode

from lanelab.analysis.results.layout.markup import Html
from lanelab.analysis.results.sections.head import date_words
from lanelab.driver.page.german import GERMAN

FIELD = "lang"  # in addresses


@dataclass(frozen=True, slots=True)
class Language:
    """`texts`: what an English one is called in it. `swapped`: points and commas of its numbers. `moment`: the form of
    its dates."""

    tag: str
    name: str
    texts: Mapping[str, str] = field(default_factory=dict)
    swapped: Mapping[int, int] = field(default_factory=dict)
    moment: str = ""


ENGLISH = Language("en", "English")
LANGUAGES = {"en": ENGLISH, "de": Language("de", "Deutsch", GERMAN, str.maketrans(",.", ".,"), "%d.%m.%Y, %H:%M")}


@dataclass(frozen=True, slots=True)
class Reading:
    """The language in which a page is read, and the fields of its address; None where it has no other one."""

    language: Language = ENGLISH
    fields: tuple[tuple[str, str], ...] | None = None


ENGLISH_READING = Reading()
_reading: ContextVar[Reading] = ContextVar("reading", default=ENGLISH_READING)


@contextmanager
def read_as(reading: Reading) -> Iterator[None]:
    """Say everything within in a language."""
    before = _reading.set(reading)
    try:
        yield
    finally:
        _reading.reset(before)


def text(words: str) -> str:
    """Mark a text that is said later, by its name."""
    return words


def say(words: str, **values: object) -> str:
    """Return a text in the language of the page, with values in its places."""
    words = _reading.get().language.texts.get(words, words)
    return words.format(**values) if values else words


def spoken(language: str) -> Callable[..., str]:
    """Return what says texts in the language of this tag; in English where there is none."""
    reading = Reading(LANGUAGES.get(language, ENGLISH))

    def say_it(words: str, **values: object) -> str:
        with read_as(reading):
            return say(words, **values)

    return say_it


def many(number: int, one: str, several: str, **values: object) -> str:
    """Return the text for one, or that for several, with the number at {n}. Both languages have these two forms."""
    return say(one if number == 1 else several, n=whole(number), **values)


def whole(number: int) -> str:
    """Return a whole number in the language of the page."""
    return number_words(f"{number:,}")


def number_words(number: str) -> str:
    """Return a number, as English has it, with the points and commas of the language."""
    return number.translate(_reading.get().language.swapped)


def date(moment: str) -> str:
    """Return a moment, which is given as ISO 8601 has it."""
    if _reading.get().language is ENGLISH:
        return date_words(moment)
    try:
        when = datetime.datetime.fromisoformat(moment)
    except ValueError:
        return moment
    return f"{when:{_reading.get().language.moment}} {when.tzname() or ''}".strip()


def tag() -> str:
    """Return the language of the page, as HTML has it."""
    return _reading.get().language.tag


def in_english(part: Html | None) -> Html | None:
    """Return a part of a report, which is in English, so that a page in another language says so."""
    if not part or tag() == ENGLISH.tag:
        return part
    return Html(re.sub(r"^<\w+", rf'\g<0> lang="{ENGLISH.tag}"', part))


def other_languages() -> Iterable[tuple[Language, str]]:
    """Return the other languages, and the address of this page in each, relative to itself. None where it is a file, or
    the answer to a form."""
    reading = _reading.get()
    if reading.fields is not None:
        for language in LANGUAGES.values():
            if language is not reading.language:
                yield language, f"?{urlencode([*reading.fields, (FIELD, language.tag)])}"
