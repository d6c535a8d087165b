"""How much of an archive is read. Whoever made it may have wanted to fill this machine's memory."""

from dataclasses import dataclass

from lanelab.driver.base.errors import InputError

MEGABYTE = 1_000_000
REFERENCE = "See 'Limits' in docs/reference/import.md"


@dataclass(frozen=True, slots=True)
class Limits:
    file_bytes: int = 1_000 * MEGABYTE  # of the archive as it lies there
    total_bytes: int = 500 * MEGABYTE  # of all records, expanded; while a site is made there are several copies of them
    record_bytes: int = 200 * MEGABYTE  # of one record, or one file of a mirror; of one body, decoded
    json_bytes: int = 200 * MEGABYTE  # of a HAR file, which takes many times as much in memory
    head_bytes: int = 1 * MEGABYTE  # of one record's head; of one answer's
    directory_bytes: int = 50 * MEGABYTE  # of a zip file's list of contents
    answers: int = 200_000  # in an archive; files in a folder or a zip file
    records: int = 700_000  # of any kind: beside an answer there may be its request, and what crawlers note of it
    damages: int = 1_000  # places where an archive may be damaged

    def require_record(self, size: int, what: str) -> None:
        if size > self.record_bytes:
            raise InputError(f"{what} is larger than {self.record_bytes:,} bytes", REFERENCE)

    def require_total(self, size: int, what: str) -> None:
        if size > self.total_bytes:
            raise InputError(f"{what} holds more than {self.total_bytes:,} bytes when it is expanded", REFERENCE)

    def require_answers(self, count: int, what: str, kind: str = "answers") -> None:
        if count > self.answers:
            raise InputError(f"{what} has more than {self.answers:,} {kind}", REFERENCE)

    def require_records(self, count: int, what: str) -> None:
        if count > self.records:
            raise InputError(f"{what} has more than {self.records:,} records", REFERENCE)


LIMITS = Limits()
# Of what was within those limits when lanelab wrote it: requests and heads came on top.
OF_LANELAB = Limits(file_bytes=4_000 * MEGABYTE, total_bytes=4_000 * MEGABYTE, records=10_000_000, answers=5_000_000)
