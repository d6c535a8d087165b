"""Who may begin a lab, of those who may only watch: a browser once in each lab, and an address so many times. So one
who watches cannot take the places of a class. What is known of it ends with the server."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from lanelab.driver.page.language import say, text
from lanelab.driver.page.refusal import nothing_done

MOST_OF_ADDRESS = 60  # in one lab: a class may be behind one address
ONCE = text("Somebody has begun this lab in this browser.")
AGAIN = text("Open the link of the class once more, then begin.")
MANY = text("{n} have begun this lab from this address.")
ASK = text("Whoever may run the class can add you.")


@dataclass(frozen=True, slots=True)
class Browser:
    """A browser that may watch. `session`: its cookie; `network`: its address, as crowd.py has it."""

    session: str
    network: str


@dataclass(slots=True)
class Enrolments:
    """It knows who has begun which lab from here."""

    _browsers: dict[tuple[str, str], str] = field(default_factory=dict)  # lab, session -> key
    _networks: dict[tuple[str, str], list[str]] = field(default_factory=dict)  # lab, network -> keys
    _lock: Lock = field(default_factory=Lock)

    @contextmanager
    def of(self, lab: str, browser: Browser, there: list[str]) -> Iterator[list[str]]:
        """Yield where the key goes of who begins. Raises Refusal for one who may not. `there`: the keys of those who
        are in the class: who was removed may begin again."""
        with self._lock:
            if self._browsers.get((lab, browser.session)) in there:
                raise nothing_done(say(ONCE), say(AGAIN))
            known = [key for key in self._networks.get((lab, browser.network), []) if key in there]
            if len(known) >= MOST_OF_ADDRESS:
                raise nothing_done(say(MANY, n=len(known)), say(ASK))
            keys: list[str] = []
            yield keys
            self._browsers[lab, browser.session] = keys[0]
            self._networks[lab, browser.network] = known + keys
