"""The bytes of an archive, expanded where it is compressed: never more than the limits say, and going on after damage.

A compressed archive is a row of gzip members, usually one a record. Where one of them is damaged the next one is found
by its first bytes, so that one bad record does not cost the others.
"""

import zlib

from lanelab.driver.site.archive.limits import Limits

GZIP = b"\x1f\x8b\x08"
NEXT_RECORD = b"\nWARC/"  # where the next record of an archive begins that is not compressed
PIECE = 65_536  # bytes that are expanded at once: at most 1,032 times as many come out
MOST_AT_ONCE = 1 << 20
GZIP_WINDOW = zlib.MAX_WBITS + 16


class DamagedError(Exception):
    """Something in the archive is not as it should be. The next record may be."""


class Expanded:
    """Like a file that is read forward: what warcio needs to read heads."""

    def __init__(self, data: bytes, limits: Limits, what: str) -> None:
        self._data, self._limits, self._what = data, limits, what
        self.compressed = data[:2] == GZIP[:2]
        self._at = 0  # what was consumed of `data`
        self._begun = 0  # where the member or the record begins that is read
        self._member: zlib._Decompress | None = None
        self._ready = b""
        self._ready_at = 0
        self._total = 0
        self._head_left = limits.head_bytes

    def read(self, length: int | None = None) -> bytes:
        parts = []
        while (length is None or length > 0) and self._fill():
            part = self._ready[self._ready_at :] if length is None else self._take(length)
            self._ready_at += len(part)
            if length is not None:
                length -= len(part)
            parts.append(part)
        return b"".join(parts)

    def readline(self, length: int | None = None) -> bytes:
        """Return a line of a record's head, of which there are only so many bytes."""
        parts: list[bytes] = []
        while self._fill():
            end = self._ready.find(b"\n", self._ready_at) + 1
            part = self._ready[self._ready_at : end or len(self._ready)]
            self._ready_at += len(part)
            parts.append(part)
            self._head_left -= len(part)
            if self._head_left < 0:
                raise DamagedError("the head of a record is too long")
            if end or (length is not None and sum(map(len, parts)) >= length):
                break
        return b"".join(parts)

    def tell(self) -> int:
        return self._total - (len(self._ready) - self._ready_at)

    def begin_record(self) -> bool:
        """Skip what separates records. False: there is none left."""
        self._head_left = self._limits.head_bytes
        while self._fill():
            rest = self._ready[self._ready_at :].lstrip(b"\r\n")
            self._ready_at = len(self._ready) - len(rest)
            if rest:
                if not self.compressed:
                    self._begun = self.tell()
                return True
        return False

    def go_on(self) -> bool:
        """Go on after damage to where the next record seems to begin. False: nowhere."""
        mark = GZIP if self.compressed else NEXT_RECORD
        at = self._data.find(mark, self._begun + 1)
        if at < 0:
            return False
        self._begun = self._at = at if self.compressed else at + 1
        self._member, self._ready, self._ready_at = None, b"", 0
        if not self.compressed:
            self._total = self._at
        return True

    def _take(self, length: int) -> bytes:
        return self._ready[self._ready_at : self._ready_at + length]

    def _fill(self) -> bool:
        """Return whether there is something to read."""
        while self._ready_at >= len(self._ready):
            if self._at >= len(self._data):
                if self._member is not None:
                    raise DamagedError("the archive ends in the middle of a record")
                return False
            self._ready, self._ready_at = self._expand() if self.compressed else self._copy(), 0
            self._total += len(self._ready)
            self._limits.require_total(self._total, self._what)
        return True

    def _copy(self) -> bytes:
        piece = self._data[self._at : self._at + MOST_AT_ONCE]
        self._at += len(piece)
        return piece

    def _expand(self) -> bytes:
        if self._member is None:
            if not self._next_member():
                return b""
            self._member = zlib.decompressobj(GZIP_WINDOW)
        piece = self._data[self._at : self._at + PIECE]
        try:
            out = self._member.decompress(piece, MOST_AT_ONCE)
        except zlib.error as error:
            self._member = None
            raise DamagedError("compressed bytes are damaged") from error
        left = len(self._member.unused_data) if self._member.eof else len(self._member.unconsumed_tail)
        self._at += len(piece) - left
        if self._member.eof:
            self._member = None
        return out

    def _next_member(self) -> bool:
        """Go on to the next member of the file, past the zeros with which some tools fill up."""
        while self._at < len(self._data) and self._data[self._at] == 0:
            self._at += 1
        if self._at >= len(self._data):
            return False
        self._begun = self._at
        if self._data[self._at : self._at + len(GZIP)] != GZIP:
            raise DamagedError("between compressed records there is something else")
        return True
