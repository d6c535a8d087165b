"""The records of a WARC or ARC file, one after the other. warcio reads their heads; nothing else of it is used, since
it would decode and mend what has to stay as it is."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field

from warcio.exceptions import ArchiveLoadFailed
from warcio.recordloader import ArcWarcRecordLoader
from warcio.statusandheaders import StatusAndHeadersParserException

from lanelab.driver.base.errors import InputError
from lanelab.driver.site.archive.digests import agrees
from lanelab.driver.site.archive.expanding import DamagedError, Expanded
from lanelab.driver.site.archive.limits import LIMITS, REFERENCE, Limits

logging.getLogger("warcio").addHandler(logging.NullHandler())  # it warns of what is named here anyway
# What warcio raises where a head is not one. Besides its own, what Python says of numbers, dates and texts.
_NO_HEAD = (ArchiveLoadFailed, StatusAndHeadersParserException, ValueError, LookupError, TypeError, AttributeError)
_ZSTD = (b"\x28\xb5\x2f\xfd", b"\x5d\x2a\x4d\x18")
ANSWERS = ("response", "revisit", "resource")


@dataclass(frozen=True, slots=True)
class Record:
    """One record: its head as names in lower case, and what it holds."""

    number: int  # from 1
    kind: str  # response, request, revisit, resource, …
    fields: dict[str, str]
    block: bytes

    def get(self, name: str) -> str:
        """Empty where there is none."""
        return self.fields.get(name, "")

    @property
    def id(self) -> str:
        return self.get("warc-record-id")

    @property
    def url(self) -> str:
        return self.get("warc-target-uri")


@dataclass(slots=True)
class Damages:
    """Counts what could not be read."""

    limits: Limits
    words: list[str] = field(default_factory=list)

    def add(self, number: int, why: object) -> None:
        self.words.append(f"record {number}: {why}")
        if len(self.words) > self.limits.damages:
            what = f"the archive is damaged in more than {self.limits.damages} places"
            raise InputError(what, "Get a whole copy of it")


def is_zstd(data: bytes) -> bool:
    return data[:4] in _ZSTD


def is_archive(data: bytes) -> bool:
    """Return whether it begins as a WARC or ARC file does, compressed or not."""
    try:
        start = Expanded(data[:8_192], LIMITS, "").read(64)
    except DamagedError:
        return False
    return start.lstrip().startswith((b"WARC/", b"filedesc://"))


def read_records(data: bytes, what: str, damages: Damages) -> Iterator[Record]:
    """Yield every record that can be read. `what`: names the file, for errors."""
    if is_zstd(data):
        raise InputError(f"{what} is compressed with zstd", "Expand it: zstd --decompress FILE")
    limits = damages.limits
    stream = Expanded(data, limits, what)
    loader = ArcWarcRecordLoader(arc2warc=True)
    number = answers = 0
    while True:
        number += 1
        limits.require_records(number, what)
        try:
            if not stream.begin_record():
                return
            record = _read(stream, loader, number, limits)
            answers += record.kind in ANSWERS
            limits.require_answers(answers, what)
            yield record
        except DamagedError as error:
            damages.add(number, error)
            if not stream.go_on():
                return


def _read(stream: Expanded, loader: ArcWarcRecordLoader, number: int, limits: Limits) -> Record:
    try:
        loaded = loader.parse_record_stream(stream, no_record_parse=True)
        fields = {str(name).lower(): str(value) for name, value in reversed(loaded.rec_headers.headers)}
        length = int(fields["content-length"])
    except EOFError as error:
        raise DamagedError("it has no head") from error
    except KeyError as error:
        raise DamagedError("its head has no Content-Length") from error
    except _NO_HEAD as error:
        raise DamagedError("its head is none of WARC's") from error
    # What warcio took off: in ARC files the first record's own lines count as a part of it.
    length = loaded.length if loaded.length is not None and 0 <= loaded.length < length else length
    if length < 0:
        raise DamagedError("its length is negative")
    if length > limits.record_bytes:
        raise InputError(f"record {number} is larger than {limits.record_bytes:,} bytes", REFERENCE)
    block = loaded.raw_stream.read(length)
    if len(block) < length:
        raise DamagedError("the archive ends in the middle of a record")
    record = Record(number, fields.get("warc-type", "").lower(), fields, block)
    if agrees(record.get("warc-block-digest"), block) is False:
        raise DamagedError(f"{record.url[:200]}: it was changed: its block has another digest than its head says")
    return record
