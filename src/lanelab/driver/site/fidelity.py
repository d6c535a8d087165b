"""How faithful the replay of a site is, as `lanelab site verify` found. docs/reference/site.md explains each number."""

from dataclasses import dataclass

from lanelab.driver.base.coded import Coded


@dataclass(frozen=True, slots=True)
class ProtocolFidelity(Coded):
    """The fidelity of the loads over one protocol. Counts are sums over all loads."""

    protocol: str
    loads: int
    wanted: int  # requests that a faithful replay asks for and answers exactly
    exact: int  # of these, answered exactly
    inexact: int  # answered with another request's answer
    missing: int  # recorded, not asked for or not answered
    extra: int  # asked for, not recorded
    bytes_recorded: int  # of the bodies of what was wanted
    bytes_off: int  # how far the received ones are off, added up
    always: int  # different requests that each load asked for
    ever: int  # different requests that some load asked for
    pixels_differ: float | None  # share of the picture's; None: there is no recorded one
    not_reproduced: tuple[str, ...]  # what the server cannot do as the recording has it
    problems: tuple[str, ...]  # why there is no score
    score: float | None  # 0 to 100


@dataclass(frozen=True, slots=True)
class Fidelity(Coded):
    score: float | None  # the least of all protocols; None: one has none
    at_utc: str
    lanelab: str  # version
    browser: str
    server: str
    digest: str  # of the site's objects: a site that has changed since has another one
    protocols: tuple[ProtocolFidelity, ...]
    archive: str | None = None  # sha256 of the recording; None: there is none, or nobody noted it

    @property
    def words(self) -> str:
        """The score for people."""
        return percent(self.score)


def percent(score: float | None) -> str:
    """Rounded down: 100% means nothing but that."""
    return "no score" if score is None else f"{int(score * 10 + 1e-9) / 10:.1f}%"


NOT_VERIFIED = "not verified"


def sentence_of(fidelity: Fidelity | None, digest: str | None, archive: str | None = None) -> str:
    """Say how faithful a site is, for a list or a report. `digest`: the site's, where it is known; `archive`: the
    sha256 of its recording, by which a list knows without reading it that it is another one."""
    if fidelity is None:
        return NOT_VERIFIED
    stale = digest is not None and digest != fidelity.digest
    stale = stale or (None not in (archive, fidelity.archive) and archive != fidelity.archive)
    if stale:
        return f"{fidelity.words} (stale: the site has changed since)"
    if digest is None and archive is not None and fidelity.archive is None:
        return f"{fidelity.words} (perhaps stale: it does not say of which recording)"
    return fidelity.words
