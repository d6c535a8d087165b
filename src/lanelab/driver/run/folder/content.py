"""What a run folder has stored, as a run that goes on, a sweep and a merge ask for it."""

import json
import sqlite3
from collections.abc import Collection, Iterable
from pathlib import Path

from lanelab.driver.experiment.schedule.results import Attempt
from lanelab.driver.record.metrics import PRIMARY
from lanelab.driver.record.reasons import Reason, timed_out
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.copies import SelfTestCopy, TrialCopy, self_test_copies, trial_copies
from lanelab.driver.run.machines import BedFacts, MachineFacts

NOT_THE_TRIALS = {Reason.BED_LOST, Reason.LINK_OUT_OF_TOLERANCE, Reason.STOPPED}  # no retry is used up by these


def attempt_of(ok: bool, value: float | None, reasons: Collection[str], machine: int = 1) -> Attempt:
    """Return an attempt as the schedule wants it."""
    return Attempt(ok, value if ok else None, not NOT_THE_TRIALS & set(reasons), timed_out(reasons), machine)


class Content:
    """Answers questions about a run folder that is open."""

    def __init__(self, folder: Path, database: sqlite3.Connection) -> None:
        self.folder = folder
        self._database = database

    def meta(self, key: str) -> str:
        row = self._database.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else ""

    def all_meta(self) -> dict[str, str]:
        return dict(self._database.execute("SELECT key, value FROM meta"))

    @property
    def run_id(self) -> str:
        """What tells this run from every other, wherever its folder is."""
        return self.meta(run_format.ID)

    def cell_ids(self) -> list[str]:
        return [str(row[0]) for row in self._database.execute("SELECT id FROM cells ORDER BY cell")]

    def history(self) -> dict[tuple[str, int], list[Attempt]]:
        """Return for each (cell id, round) its attempts so far, in order, as the schedule wants them."""
        history: dict[tuple[str, int], list[Attempt]] = {}
        query = """
            SELECT id, round, status, value, group_concat(reason), ifnull(machine, 1)
            FROM trials JOIN cells USING (cell) LEFT JOIN beds USING (bed)
            LEFT JOIN measures ON measures.trial = trials.trial AND name = ?
            LEFT JOIN failures ON failures.trial = trials.trial
            GROUP BY trials.trial ORDER BY cell, round, attempt
        """
        for cell, number, status, value, reasons, machine in self._database.execute(
            query, (PRIMARY[self.meta("workload")],)
        ):
            attempt = attempt_of(status == "ok", value, (reasons or "").split(","), machine)
            history.setdefault((cell, number), []).append(attempt)
        return history

    def reasons(self) -> dict[str, dict[str, int]]:
        """Return cell id -> reason -> how many of its trials failed for it, the most frequent first."""
        query = """
            SELECT id, reason, count(DISTINCT trial) FROM failures JOIN trials USING (trial) JOIN cells USING (cell)
            GROUP BY id, reason ORDER BY id, 3 DESC, reason
        """
        by_cell: dict[str, dict[str, int]] = {}
        for cell, reason, number in self._database.execute(query):
            by_cell.setdefault(cell, {})[reason] = number
        return by_cell

    def last_bed(self) -> int:
        """Return the number of the last bed that this run used; 0: none yet."""
        query = (
            "SELECT max(bed) FROM (SELECT bed FROM trials UNION SELECT bed FROM self_tests UNION SELECT bed FROM beds)"
        )
        (last,) = self._database.execute(query).fetchone()
        return int(last or 0)

    def beds(self) -> dict[int, BedFacts]:
        """Return all of this run, by number."""
        rows = self._database.execute("SELECT bed, facts FROM beds ORDER BY bed")
        return {bed: BedFacts.from_json(json.loads(facts)) for bed, facts in rows}

    def bed_that_refused(self, label: str) -> int:
        """Return the last bed whose self-test of this link failed; else the last one."""
        query = "SELECT max(bed) FROM self_tests JOIN links USING (link) WHERE label = ? AND NOT passed"
        (bed,) = self._database.execute(query, (label,)).fetchone()
        return int(bed or self.last_bed())

    def machines(self) -> dict[str, MachineFacts]:
        rows = self._database.execute("SELECT name, facts FROM machines")
        return {name: MachineFacts.from_json(json.loads(facts)) for name, facts in rows}

    def machine_number(self, name: str) -> int:
        """Return the number of a machine that was noted."""
        (number,) = self._database.execute("SELECT machine FROM machines WHERE name = ?", (name,)).fetchone()
        return int(number)

    def versions(self, digests: Collection[str]) -> dict[str, dict[str, str]]:
        """Return those that trials name, by digest."""
        rows = self._database.execute("SELECT versions, data FROM versions")
        return {digest: json.loads(data) for digest, data in rows if digest in digests}

    def versions_by_cell(self) -> dict[str, set[str]]:
        """Return the digests of what the trials of each cell were made with."""
        by_cell: dict[str, set[str]] = {}
        query = "SELECT DISTINCT id, versions FROM trials JOIN cells USING (cell)"
        for cell, versions in self._database.execute(query):
            by_cell.setdefault(cell, set()).add(versions)
        return by_cell

    def origins(self) -> set[str]:
        """Return the origins of all trials that were made by other runs."""
        return {origin for (origin,) in self._database.execute("SELECT origin FROM trials WHERE origin != ''")}

    def copies(self, trials: Iterable[int]) -> list[TrialCopy]:
        """Return trials as another run folder takes them."""
        return trial_copies(self._database, self.folder, trials)

    def trials_after(self, trial: int) -> list[int]:
        """Return the numbers of later trials, in order."""
        query = "SELECT trial FROM trials WHERE trial > ? ORDER BY trial"
        return [int(number) for (number,) in self._database.execute(query, (trial,))]

    def self_tested(self) -> set[tuple[int, str]]:
        """Return bed and label of every link that was tested."""
        return set(self._database.execute("SELECT DISTINCT bed, label FROM self_tests JOIN links USING (link)"))

    def self_test_copies(self, after: int = 0) -> list[SelfTestCopy]:
        return self_test_copies(self._database, after)

    def last_self_test(self) -> int:
        """The number of the last one; 0: there is none."""
        return int(self._database.execute("SELECT coalesce(max(self_test), 0) FROM self_tests").fetchone()[0])
