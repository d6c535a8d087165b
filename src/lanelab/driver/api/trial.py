"""One trial of a run: its numbers, its files, its packets."""

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from lanelab.analysis.results import axes
from lanelab.analysis.results import model as results
from lanelab.analysis.results.export_files import HAR
from lanelab.analysis.results.film import FILMSTRIP, SCREENSHOT, Film, film_of
from lanelab.analysis.results.first_packets import as_pcapng, unpacked
from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.layout.model import Section
from lanelab.analysis.results.load_view import CAPTURE, load_view, timeline_of
from lanelab.analysis.results.report.film import films, progress_strip
from lanelab.analysis.results.report.frame import framed
from lanelab.analysis.results.report.part_strip import part_strip
from lanelab.analysis.results.report.waterfall import waterfall
from lanelab.analysis.results.trial_table import heading, trial_section
from lanelab.driver.api import captures
from lanelab.driver.api.result import Result
from lanelab.driver.base.coded import Json
from lanelab.driver.base.errors import ArgumentError, InputError, StoreError
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.folder.trial_content import artifact_path, read_artifacts, unchanged_artifacts
from lanelab.driver.run.folder.trial_records import read_record
from lanelab.driver.trial.packets.key_log import key_log

if TYPE_CHECKING:
    import pyarrow
    from pyarrow.compute import Expression
    from pyshark.packet.packet import Packet

FIELDS = ("_ws.col.Protocol", "_ws.col.Info")


class HarLog(TypedDict):
    """The log of a HAR, as its format says."""

    version: str
    pages: list[dict[str, Json]]
    entries: list[dict[str, Json]]


class Har(TypedDict):
    """A HAR, as JSON."""

    log: HarLog


@dataclass(frozen=True, slots=True)
class Page:
    """The drawing of a page load: requests, connections and the page as it appeared."""

    title: str
    drawing: Html

    def __repr__(self) -> str:
        return f"<the page load of {self.title}>"

    def _repr_html_(self) -> str:
        return framed([self.drawing], images=True)


@dataclass(frozen=True, slots=True)
class Filmstrip:
    """The page as it appeared: `frames` with `at` (ms since the page was asked for), `complete` (0 to 1) and `jpeg`."""

    title: str
    film: Film

    @property
    def frames(self) -> Sequence[object]:
        return self.film.frames

    def __repr__(self) -> str:
        return f"<{len(self.frames)} frames of {self.title}>"

    def _repr_html_(self) -> str:
        end = max((frame.at for frame in self.film.frames), default=1.0)
        drawn = films([(self.title, self.film)], end)
        return framed([drawn] if drawn else [], images=True)


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial. `data` has what the table of trials says of it; records and files are read when they are wanted."""

    folder: Path
    data: results.Trial

    @property
    def number(self) -> int:
        return self.data.number

    @property
    def site(self) -> str:
        return self.data.cell.site

    @property
    def link(self) -> str:
        return self.data.cell.link.label

    @property
    def arm(self) -> str:
        return self.data.cell.arm.name

    @property
    def round(self) -> int:
        return self.data.round

    @property
    def attempt(self) -> int:
        return self.data.attempt

    @property
    def status(self) -> str:
        """ok or failed."""
        return "ok" if self.data.ok else "failed"

    @property
    def failures(self) -> tuple[tuple[str, str], ...]:
        """Each reason for which it does not count, with its detail."""
        return tuple((failure.reason, failure.detail) for failure in self.data.failures)

    @property
    def measures(self) -> Mapping[str, float]:
        return self.data.measures

    @property
    def heading(self) -> str:
        """Its number, its cell, and its outcome."""
        return heading(self.data)

    def record(self) -> TrialRecord:
        """Return everything that is recorded of it, its requests and its evidence included."""
        return read_record(self.folder, self.number)

    def to_json(self) -> dict[str, Json]:
        """Return what `lanelab show --trial --json` prints."""
        return dict(self.record().to_json())

    def files(self) -> tuple[str, ...]:
        """Return the names of its files, also of those that were removed since."""
        return tuple(name for name, _, _ in read_artifacts(self.folder, self.number))

    def file(self, name: str) -> Path:
        """Return the path of a file, which is what was stored. InputError where there is none."""
        if name not in self.files():
            raise ArgumentError(f"trial {self.number} has no file {name}", self._known_files(), key="name")
        path = unchanged_artifacts(self.folder, self.number, (name,)) / name
        if not path.is_file():
            raise ArgumentError(f"trial {self.number} has no file {name} any more", self._known_files(), key="name")
        return path

    def _known_files(self) -> str:
        there = (each for each in self.files() if artifact_path(self.folder, self.number, each).is_file())
        return f"It has {', '.join(there) or 'none'}"

    def har(self) -> Har:
        """Return its HAR, as JSON."""
        path = self.file(HAR)
        try:
            har: Har = json.loads(gzip.decompress(path.read_bytes()))
        except (OSError, EOFError, ValueError) as error:
            remedy = "Copy the run folder again from where it was made"
            raise StoreError(f"{path} cannot be read: {error}", remedy) from error
        return har

    def filmstrip(self) -> Filmstrip:
        """Return the page as it appeared. InputError where no pictures were taken."""
        film = self._film(self.record())
        if film is None:
            remedy = "Write `trace: filmstrip`, or `screenshot: true`, into the experiment"
            raise InputError(f"trial {self.number} has no pictures of its page", remedy)
        return Filmstrip(self.heading, film)

    def page(self) -> Page:
        """Return the drawing of its page load. InputError where it made no request."""
        record = self.record()
        if not record.requests:
            raise InputError(f"trial {self.number} made no request", f"print(run.trial({self.number})) says why")
        rate = axes.link_numbers(dict(self.data.cell.link.settings))["rate_down_mbit"]
        folder = unchanged_artifacts(self.folder, self.number, (CAPTURE,))
        view = load_view(record, timeline_of(folder, record), rate)
        strips = part_strip(view.stretches, view.end), progress_strip(self._film(record), view.end)
        return Page(self.heading, el("section", el("h2", self.heading), waterfall(view, view.end, *strips)))

    def _film(self, record: TrialRecord) -> Film | None:
        return film_of(unchanged_artifacts(self.folder, self.number, (FILMSTRIP, SCREENSHOT)), record)

    def packets(self, filter: "Expression | None" = None) -> "pyarrow.Table":  # noqa: A002 - as pyarrow calls it
        """Return a row for each packet of TCP and UDP. `filter`: an expression of pyarrow over the columns."""
        return captures.packets_table(self._capture(), self.record(), filter)

    def dissected(self, filter: str = "", fields: Sequence[str] = FIELDS) -> "pyarrow.Table":  # noqa: A002
        """Return a row for each packet that tshark's display filter takes, decrypted, with these fields of tshark's."""
        return captures.dissected_table(self._capture(), self.record(), filter, fields)

    def pyshark(self, filter: str = "") -> "list[Packet]":  # noqa: A002
        """Return the packets that the display filter takes as pyshark has them, decrypted."""
        return captures.pyshark_packets(self._capture(), self.record(), filter)

    def key_log(self) -> str:
        """Return the TLS keys of its capture in the format of SSLKEYLOGFILE, for programs that do not find them in it.
        Empty where nothing was encrypted."""
        return key_log(as_pcapng(unpacked(self._capture())))

    def _capture(self) -> Path:
        return captures.capture_of(self.folder, self.number)

    def result(self) -> Result:
        """Return its numbers, failures, requests and files, as `lanelab show --trial` prints them."""
        return Result((self._section(),))

    def _section(self) -> Section:
        return trial_section(self.data, self.record(), list(self._sizes()))

    def _sizes(self) -> Iterator[tuple[str, int | None]]:
        for name, length, _ in read_artifacts(self.folder, self.number):
            yield name, length if artifact_path(self.folder, self.number, name).exists() else None

    def __str__(self) -> str:
        return str(self.result())

    def __repr__(self) -> str:
        return f"<{self.heading}>"

    def _repr_html_(self) -> str:
        return self.result()._repr_html_()
