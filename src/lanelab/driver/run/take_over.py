"""Taking trials over from another run folder, with the beds and machines that made them, their versions, the
self-tests of their links and their artifacts. What was taken names the run that made it."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lanelab.driver.base.errors import RecordError, StoreError
from lanelab.driver.base.writing import writing
from lanelab.driver.link import SETTINGS
from lanelab.driver.run.folder.copies import SelfTestCopy, TrialCopy
from lanelab.driver.run.folder.sources import SourceRun
from lanelab.driver.run.folder.store import SCRATCH, Store
from lanelab.driver.run.machines import BedFacts, MachineFacts


@dataclass(frozen=True, slots=True)
class Wanted:
    """A trial of another run, and what it is here."""

    trial: int
    identity: str
    cell: str
    round: int
    attempt: int


class Taker:
    """Takes trials from one run after the other into a store."""

    def __init__(self, store: Store, links: Mapping[str, Mapping[str, str]]) -> None:
        """Keep the run. `links` has the settings of each link of the run by its label."""
        self._store = store
        self._labels: dict[str, str] = {}
        for label, settings in links.items():
            self._labels.setdefault(_settings_of(settings), label)
        self._tested = store.self_tested()
        self._folder = store.folder / SCRATCH / "taken"

    def from_run(self, source: SourceRun) -> "From":
        return From(self, source)

    def machine_named(self, facts: MachineFacts) -> str:
        """What a machine is called here: a name that another machine has already gets a number."""
        return name_of(facts, self._store.machines())


class From:
    """What a run has besides trials, read once."""

    def __init__(self, taker: Taker, source: SourceRun) -> None:
        self._taker, self._store, self._source = taker, taker._store, source
        self._beds, self._machines, self._versions = source.beds(), source.machines(), source.versions()
        self._numbers: dict[int, int] = {}  # of beds there -> here
        self._noted: set[str] = set()  # versions
        self._tests: dict[int, list[SelfTestCopy]] = {}
        links = source.links()
        for test in source.self_tests():
            label = taker._labels.get(_settings_of(links[test.link]))
            if label:
                self._tests.setdefault(test.bed, []).append(replace(test, link=label))

    def take(self, wanted: Sequence[Wanted]) -> None:
        """Take all of them or none. Raises StoreError where artifacts are not those that the records name."""
        store, folder = self._store, self._taker._folder
        shutil.rmtree(folder, ignore_errors=True)
        try:
            copies = []
            for copy, one in zip(self._copies(wanted), wanted, strict=True):
                copies.append(replace(copy, cell=one.cell, round=one.round, attempt=one.attempt, origin=one.identity))
                with writing(f"copy the artifacts of trial {one.trial} of {self._source.folder}"):
                    self._source.copy_artifacts(one.trial, folder / f"{one.trial:06d}")
            beds = {copy.bed: self._number_of(copy.bed) for copy in copies}
            for digest in {copy.versions for copy in copies} - self._noted:
                if digest in self._versions:
                    store.add_versions(digest, self._versions[digest])
                self._noted.add(digest)
            tests = self._tests_of(beds)
            store.adopt(copies, folder, beds, tests)
            self._taker._tested |= {(beds[test.bed], test.link) for test in tests}
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _copies(self, wanted: Sequence[Wanted]) -> list[TrialCopy]:
        try:
            return self._source.copies(each.trial for each in wanted)
        except RecordError as error:
            what = f"a trial of the run in {self._source.folder} has a record of another lanelab: {error.what}"
            raise StoreError(what, "Use the lanelab that made it") from error

    def _tests_of(self, beds: Mapping[int, int]) -> list[SelfTestCopy]:
        """Return those of all links on these beds that are not here yet."""
        return [
            test
            for bed, number in beds.items()
            for test in self._tests.get(bed, ())
            if (number, test.link) not in self._taker._tested
        ]

    def _number_of(self, bed: int) -> int:
        if bed not in self._numbers:
            facts = self._beds.get(bed)
            if facts is None:
                what = f"the run in {self._source.folder} has no record of its bed {bed}"
                raise StoreError(what, "Leave this run out")
            self._numbers[bed] = self._store.add_bed(self._on_its_machine(facts))
        return self._numbers[bed]

    def _on_its_machine(self, facts: BedFacts) -> BedFacts:
        machine = self._machines[facts.machine]
        name = self._taker.machine_named(machine)
        if name not in self._store.machines():
            self._store.add_machine(replace(machine, name=name))
        return replace(facts, machine=name)


def name_of(facts: MachineFacts, known: Mapping[str, MachineFacts]) -> str:
    """Return the name of a machine. The same name and another identity is another machine."""
    name, number = facts.name, 1
    while name in known and known[name].identity != facts.identity:
        number += 1
        name = f"{facts.name} ({number})"
    return name


def _settings_of(link: Mapping[str, str]) -> str:
    """Return the settings of a link, without its name and without the load that goes over it."""
    return json.dumps({key: value for key, value in link.items() if key in SETTINGS}, sort_keys=True)
