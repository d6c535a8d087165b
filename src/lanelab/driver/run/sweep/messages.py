"""What a controller and its workers say to each other. All of it is JSON but the pieces of packs, which are bytes.

    controller                          worker (one bed of one machine)
    assign    Assignment            ->  Lacking: names of sites; it has read the experiment
    site_piece SitePiece            ->  nothing
    site_done SiteDone              ->  nothing: the site is there
    qualify   QualifyRequest        ->  Qualification: machine, versions, links that passed
    play      Portion               ->  Delivery: trials, self-tests, and a pack of artifacts, which stays on its disk
                                        until it is to play again; a small one comes with the delivery
    piece     PieceRequest          ->  bytes: sha256 of the piece, and the piece (packs.piece_of)
    end_run   EndRequest            ->  Delivery without trials: the last self-tests. All of the run is removed

A worker does one of these at a time and sends nothing by itself but events (driver/run/events.py), for whoever watches.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from lanelab.driver.base import version
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import InputError, RecordError
from lanelab.driver.experiment.model import Cell
from lanelab.driver.run.folder.copies import SelfTestCopy, TrialCopy
from lanelab.driver.run.machines import BedFacts, MachineFacts

VERSION = 2  # of these messages
PIECE_BYTES = 4 << 20
SMALL_BYTES = 256 << 10  # a pack of no more comes with its delivery: it is not worth a job of its own
SAME = "Use the same lanelab for `lanelab run` and `lanelab worker`"


@dataclass(frozen=True, slots=True)
class Assignment(Coded):
    """The run that a worker is to work for."""

    version: int
    run: str  # its identifier
    lanelab: str  # the controller's version
    measuring: str  # digest of the controller's measuring code
    files: Mapping[str, str]  # of the run folder, by name: the experiment and users' scripts
    meta: Mapping[str, str]  # of the run, as its database has it
    cells: str  # digest of their identifiers: cells_digest
    sites: Mapping[str, str]  # digest of each site by its name, as the controller has it, and of each variant
    asks: tuple[str, ...]  # what of it runs code of its author: directives, flags, scripts

    @classmethod
    def from_json(cls, data: object, where: str = "") -> Self:
        """Raises InputError for one of another version, whatever else it says."""
        spoken = data.get("version") if isinstance(data, Mapping) else None
        if spoken != VERSION:
            what = f"the controller speaks version {spoken} of the messages of a sweep, and this worker"
            raise InputError(f"{what} version {VERSION} (lanelab {version.VERSION})", SAME)
        return super(Assignment, cls).from_json(data, where)


@dataclass(frozen=True, slots=True)
class Lacking(Coded):
    """Sites that a worker has to be sent."""

    lacks: tuple[str, ...]


def cells_digest(cells: Iterable[Cell]) -> str:
    """Return a digest that is the same where both sides read the same cells from an experiment, in the same order."""
    return hashlib.sha256("\n".join(cell.id for cell in cells).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class SitePiece(Coded):
    """A part of the archive of a site's bodies. One at 0 begins it anew."""

    digest: str  # of the site
    offset: int
    data: str  # base64
    sha256: str  # of the bytes


@dataclass(frozen=True, slots=True)
class SiteDone(Coded):
    """All pieces of a site were sent."""

    name: str
    digest: str
    site: Mapping[str, Any]  # lanelab.driver.site.site.Site as JSON; its content is what was sent
    bytes: int
    sha256: str  # of the archive of its bodies


@dataclass(frozen=True, slots=True)
class QualifyRequest(Coded):
    utc: str  # the controller's clock when it asked
    measure_links: bool  # False: versions and machine alone


@dataclass(frozen=True, slots=True)
class RefusedLink(Coded):
    label: str
    why: str


@dataclass(frozen=True, slots=True)
class Qualification(Coded):
    """What a worker is, and which links its bed can have. `unfit`: why it can do nothing for this run; "": it can."""

    unfit: str
    remedy: str
    machine: MachineFacts
    processors: str  # of its bed, as taskset writes them
    utc: str  # its clock when it was asked
    versions: Mapping[str, str]  # of everything that a trial depends on: browser, servers, kernel, lanelab, …
    refused: tuple[RefusedLink, ...]
    beds: Mapping[str, BedFacts]  # that it made since the last answer, by their number at the worker
    self_tests: tuple[SelfTestCopy, ...]


@dataclass(frozen=True, slots=True)
class Portion(Coded):
    """The cells of one round that are compared with one another: one bed makes them, one after the other."""

    number: int  # of this session; the same portion begun anew has another one
    round: int
    block: int  # rounds of another block want a fresh bed; 0: any bed will do
    cells: tuple[str, ...]  # identifiers, in the order in which they are made
    tried: Mapping[str, int]  # identifier -> attempts that were made before
    used: Mapping[str, int]  # identifier -> attempts that used up a retry


@dataclass(frozen=True, slots=True)
class Pack(Coded):
    """Artifacts of a delivery, compressed, in one file on the worker's disk."""

    name: str
    bytes: int
    sha256: str
    data: str  # all of it where it is small, in base64; else "", and it is fetched


@dataclass(frozen=True, slots=True)
class PieceRequest(Coded):
    pack: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Delivery(Coded):
    """The outcome of a portion. Either all its trials, or `undone` says why the worker could not do it: then no trial
    is there, and another worker may do better."""

    portion: int
    undone: str
    remedy: str
    is_workers_fault: bool  # the worker gets no more work until it qualifies again: its disk is full, its bed is lost
    utc: str  # the worker's clock when it was done
    trials: tuple[TrialCopy, ...]
    refused: tuple[RefusedLink, ...]  # links that failed their self-test meanwhile
    beds: Mapping[str, BedFacts]  # all that the trials and self-tests name, by their number at the worker
    versions: Mapping[str, Mapping[str, str]]  # all that the trials name, by their digest
    self_tests: tuple[SelfTestCopy, ...]
    pack: Pack | None

    @classmethod
    def received(cls, data: object) -> Self:
        """Read a delivery as it came. Self-tests are told once, and hold whatever became of the trials: where one of
        those cannot be read, the portion is undone, and the self-tests are there. Raises RecordError where they are
        not, either."""
        try:
            return cls.from_json(data)
        except RecordError as error:
            without = {**data, "trials": [], "versions": {}, "pack": None} if isinstance(data, Mapping) else data
            return replace(cls.from_json(without), undone=of_another_lanelab(error), remedy="", is_workers_fault=True)


def of_another_lanelab(error: RecordError) -> str:
    return f"its answer is of another lanelab: {error}"


@dataclass(frozen=True, slots=True)
class EndRequest(Coded):
    run: str  # its identifier
    measure_links: bool
