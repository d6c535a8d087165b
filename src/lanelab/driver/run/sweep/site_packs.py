"""Sites on their way to workers that lack them: each is packed once, and sent piece by piece.

What travels is the site as it is served, never the program or the recipe that makes it: a worker runs nothing of
whoever sends a site.
"""

import base64
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.base.errors import LanelabError
from lanelab.driver.base.writing import writing
from lanelab.driver.run.folder.store import SCRATCH
from lanelab.driver.run.served_sites import site_digest
from lanelab.driver.run.start import BegunRun
from lanelab.driver.run.sweep.cluster import Finished
from lanelab.driver.run.sweep.member import Member, Start
from lanelab.driver.run.sweep.messages import PIECE_BYTES, SiteDone, SitePiece
from lanelab.driver.run.sweep.packs import pack, part_of
from lanelab.driver.site.site import Site

TRIES = 3

Sent = Callable[[Member, str], None]  # "" or why not


@dataclass(frozen=True, slots=True)
class SitePack:
    """A site as it travels: its bodies are in an archive, by their sha256."""

    path: Path
    done: SiteDone

    @classmethod
    def of(cls, name: str, site: Site, path: Path) -> "SitePack":
        """Pack a site. `path` says where the archive goes."""
        files = {each.sha256: site.file(each) for each in site.objects}
        with writing("make room for a site"):
            path.parent.mkdir(parents=True, exist_ok=True)
        size, sha256 = pack(path, sorted(files.items()))
        digest = site_digest(site)
        return cls(path, SiteDone(name, digest, {**site.to_json(), "content": ""}, size, sha256))


class SitePacks:
    """The packs of a run's sites."""

    def __init__(self, begun: BegunRun) -> None:
        self._sites = begun.sites.archived
        self._folder = begun.store.folder / SCRATCH / "sites"
        self._packs: dict[str, SitePack] = {}

    def send(self, member: Member, name: str, start: Start, sent: Sent) -> None:
        """`sent` is told when it is there, or why it is not."""
        if name not in self._sites:
            sent(member, f"it asks for a site that the run does not have: {name}")
            return
        _Sending(member, self._pack_of(name), start, sent).begin()

    def _pack_of(self, name: str) -> SitePack:
        if name not in self._packs or not self._packs[name].path.is_file():
            self._packs[name] = SitePack.of(name, self._sites[name], self._folder / f"{len(self._packs)}.pack")
        return self._packs[name]


class _Sending:
    """One site to one worker. What comes damaged is sent again."""

    def __init__(self, member: Member, one: SitePack, start: Start, sent: Sent) -> None:
        self._member, self._pack, self._start, self._sent = member, one, start, sent
        self._tries = self._offset = 0

    def begin(self) -> None:
        self._offset = 0
        self._send()

    def _send(self) -> None:
        done = self._pack.done
        if self._offset >= done.bytes:
            self._start(self._member, "site_done", done, self._over)
            return
        data = part_of(self._pack.path, self._offset, min(PIECE_BYTES, done.bytes - self._offset))
        sha256 = hashlib.sha256(data).hexdigest()
        piece = SitePiece(done.digest, self._offset, base64.b64encode(data).decode(), sha256)
        self._offset += len(data)
        self._start(self._member, "site_piece", piece, self._over_piece)

    def _over_piece(self, member: Member, finished: Finished) -> None:
        if finished.error is not None:
            self._over(member, finished)
        else:
            self._send()

    def _over(self, member: Member, finished: Finished) -> None:
        if finished.error is None:
            self._sent(member, "")
            return
        self._tries += 1
        if self._tries < TRIES and isinstance(finished.error, LanelabError):
            self.begin()
            return
        self._sent(member, f"the site {self._pack.done.name} could not be sent: {finished.error}")
