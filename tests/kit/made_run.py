"""Makes run folders that look like real ones, by writing the format directly: for tests of what reads them."""

import contextlib
import datetime
import gzip
import hashlib
import json
import random
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lanelab.driver.arm.arm import Arm
from lanelab.driver.experiment.claim import Claim, digest_of
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.digests import THE_RUN, note_digests
from lanelab.driver.run.machines import BedFacts, MachineFacts
from lanelab.driver.site.site_notes import AboutSite
from tests.kit.records import record as sound_record

BEGAN = datetime.datetime(2026, 11, 20, 9, 30, tzinfo=datetime.UTC)
ARMS: Mapping[str, Mapping[str, Any]] = {
    "http": {"protocol": "http/1.1", "tls": "off", "keepalive": False},
    "http keepalive": {"protocol": "http/1.1", "tls": "off", "keepalive": True},
    "https": {"protocol": "http/1.1", "tls": "1.3", "keepalive": True},
    "h2": {"protocol": "h2", "tls": "1.3", "keepalive": True},
}
ROUND_TRIPS = {"http": 10.4, "http keepalive": 6.2, "https": 7.4, "h2": 4.1}
TEXT = """\
# Made for tests
name: quickstart
description: The dummy page over 10 Mbit/s, four ways to ask for it
sites: [dummy]
links: {rate: 10mbit, rtt: [20ms, 100ms]}
trials: 5
"""


@dataclass(frozen=True)
class MadeMachine:
    """A machine of a made run: `pace` and `change` are factors, of all its times and of all times but the base's."""

    name: str
    pace: float = 1.0
    change: float = 1.0
    noise: float | None = None  # None: the run's
    versions: Mapping[str, str] = field(default_factory=lambda: {"chromium": "140.0.7339.80", "kernel": "6.1.176"})
    refused: Sequence[str] = ()  # labels of links
    clock_ahead_s: float = 0.0
    identity: str = ""  # "": made of its name

    def facts(self) -> MachineFacts:
        return MachineFacts(
            name=self.name, identity=self.identity or f"id of {self.name}", system="Debian GNU/Linux 12",
            kernel="6.1.0-30-amd64", processor="AMD EPYC 7B13", processors=4, memory_mib=16_000,
            clock_ahead_s=self.clock_ahead_s, clock_uncertainty_s=0.002, fixed_work_ms=10 * self.pace, noise=0.01,
        )  # fmt: skip

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps(dict(self.versions), sort_keys=True).encode()).hexdigest()


@dataclass
class Made:
    """What the run has; change what a test is about."""

    name: str = "quickstart"
    description: str = "The dummy page over 10 Mbit/s, four ways to ask for it"
    state: str = "finished"
    sites: Sequence[str] = ("dummy",)
    links: Sequence[Mapping[str, str]] = (
        {"rate": "10mbit", "rtt": "20ms"},
        {"rate": "10mbit", "rtt": "100ms"},
    )
    arms: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: ARMS)
    rounds: int = 5
    figures: Sequence[Mapping[str, Any]] = (
        {"title": "Page load time over the round trip", "x": "rtt", "y": "plt", "series": "arm", "kind": "line",
         "facet": None, "only": {}},
    )  # fmt: skip
    text: str = TEXT
    order: str = "interleaved"
    looks: Sequence[tuple[int, float]] = ()
    compared: Sequence[tuple[str, str]] | None = None  # (base, arm) by cell id; None: every arm with the first
    not_compared: Sequence[str] = ()
    seed: int = 7
    noise: float = 0.012
    drift: float = 0.0
    beds: int = 1  # the rounds are divided over them
    bed_noise: float = 0.0
    pace: float = 1.0  # of the machine: above 1 everything takes longer
    provenance: Mapping[str, Any] = field(default_factory=dict)  # beside what all made runs note
    fails: Callable[[int, int], bool] = lambda trial, attempt: trial % 19 == 7 and attempt == 1
    retries: int = 2
    reason: str = "protocol-fallback"
    detail: str = "https://dummy.test/i07.png came by http/1.1, the arm says h2"
    with_requests: bool = True
    machine: Mapping[str, float] = field(default_factory=dict)  # measures of the machine, of every trial
    about: Mapping[str, AboutSite] = field(default_factory=dict)  # by site
    flags: Mapping[int, Sequence[tuple[str, str]]] = field(default_factory=dict)  # by trial: name and detail
    claims: Sequence[Claim] = ()
    variant: str = ""
    id: str = ""  # of the run, for its beds too; "": one that comes from name and text
    asked: Callable[[int], str] = lambda _cell: ""  # digest of what was asked for in a cell
    repeat: Mapping[str, Any] | None = None  # of the plan
    machines: Sequence[MadeMachine] = ()  # beds are dealt to them in turn; none: a run that knows no machines
    origins: Mapping[int, str] = field(default_factory=dict)  # by round: the run that its trials were taken from
    trials_on: Mapping[tuple[int, int], int] = field(
        default_factory=dict
    )  # (cell, round) -> bed, where another made it


EVIDENCE: Mapping[str, Any] = sound_record(Arm.parse("http", {}))["evidence"]


def make_run(folder: Path, made: Made | None = None) -> Path:
    """The folder, with everything in it."""
    made = made or Made()
    folder.mkdir(parents=True)
    (folder / run_format.ARTIFACTS).mkdir()
    (folder / run_format.EXPERIMENT).write_text(made.text)
    database = sqlite3.connect(folder / run_format.DATABASE)
    database.executescript(run_format.SCHEMA)
    with database:
        _Writer(folder, database, made, random.Random(made.seed)).write()
        digest_all(database)
    database.close()
    return folder


@contextlib.contextmanager
def changing(folder: Path) -> Iterator[sqlite3.Connection]:
    """The database of a made run, which is digested anew with what a test changes in it: it was stored like that."""
    with contextlib.closing(sqlite3.connect(folder / run_format.DATABASE)) as database, database:
        yield database
        digest_all(database)


def change(folder: Path, statement: str, *values: object) -> None:
    with changing(folder) as database:
        database.execute(statement, values)


def digest_all(database: sqlite3.Connection) -> None:
    database.execute("DELETE FROM digests")
    note_digests(database, "run", THE_RUN)
    for (trial,) in database.execute("SELECT trial FROM trials").fetchall():
        note_digests(database, "trial", trial)
    for (test,) in database.execute("SELECT self_test FROM self_tests").fetchall():
        note_digests(database, "self-test", test)


def label(settings: Mapping[str, str]) -> str:
    return " ".join(str(value) for value in settings.values())


class _Writer:
    def __init__(self, folder: Path, database: sqlite3.Connection, made: Made, rng: random.Random) -> None:
        self.folder, self.database, self.made, self.rng = folder, database, made, rng
        chance = random.Random(f"beds {made.seed}")
        self.bed_factors = [chance.lognormvariate(0, made.bed_noise) for _ in range(made.beds)]
        self.trial = 0
        self.total = made.rounds * len(made.sites) * len(made.links) * len(made.arms)

    def add(self, table: str, *values: object) -> None:
        marks = ", ".join("?" * len(values))
        self.database.execute(f"INSERT INTO {table} VALUES ({marks})", values)  # noqa: S608 - names from here

    def write(self) -> None:
        made = self.made
        for key, value in self.meta().items():
            self.add("meta", key, value)
        told = {**PROVENANCE, **self.add_machines(), **made.provenance}
        self.add("sessions", 1, stamp(0), stamp(600), "finished", json.dumps(told))
        for number, settings in enumerate(made.links, 1):
            self.add("links", number, label(settings), json.dumps(Link.parse(settings).to_mapping()))
            self.add("self_tests", number, 1, 1, number, "before", stamp(number), 1, json.dumps(self_test(settings)))
        for number, (name, settings) in enumerate(made.arms.items(), 1):
            self.add("arms", number, name, json.dumps({"name": name, "server": "apache", **settings}))
        cells = [
            (site, link, arm)
            for site in made.sites
            for link in range(1, len(made.links) + 1)
            for arm in range(1, len(made.arms) + 1)
        ]
        for number, (site, link, arm) in enumerate(cells, 1):
            self.add("cells", number, f"{number:016x}", site, link, arm)
        for number in range(1, made.rounds + 1):
            for cell, (site, link, arm) in enumerate(cells, 1):
                self.attempts(cell, number, site, made.links[link - 1], list(made.arms)[arm - 1])

    def add_machines(self) -> dict[str, Any]:
        """All of them with their beds; what the session notes of their workers."""
        for number, machine in enumerate(self.made.machines, 1):
            self.add("machines", number, machine.name, json.dumps(machine.facts().to_json()))
        for digest, machine in {machine.digest: machine for machine in self.made.machines}.items():
            self.add("versions", digest, json.dumps(dict(machine.versions)))
        for bed in range(1, self.made.beds + 1):
            if own := self.machine(bed):
                facts = BedFacts(
                    f"{self.made.id} bed {bed}".strip(), own.name, "0-1", stamp(0), "namespace", "6.1.0-30-amd64", 2.0
                )
                self.add("beds", bed, self.made.machines.index(own) + 1, facts.uid, json.dumps(facts.to_json()))
        workers = {
            f"{machine.name} 1": {
                "machine": machine.name, "processors": "0-1", "versions": dict(machine.versions),
                "refused_links": [{"label": label, "why": "too noisy"} for label in machine.refused],
            }
            for machine in self.made.machines
        }  # fmt: skip
        return {"workers": workers} if workers else {}

    def machine(self, bed: int) -> MadeMachine | None:
        """That of a bed."""
        return self.made.machines[(bed - 1) % len(self.made.machines)] if self.made.machines else None

    def bed(self, cell: int, number: int) -> int:
        """The bed of a round, in this cell. One machine has its beds one after the other, several have them at once."""
        if known := self.made.trials_on.get((cell, number)):
            return known
        if self.made.machines:
            return (number - 1) % self.made.beds + 1
        return (number - 1) * self.made.beds // self.made.rounds + 1

    def meta(self) -> dict[str, str]:
        made = self.made
        about = {name: each.to_json() for name, each in made.about.items()}
        return {
            "format": run_format.VERSION,
            "workload": "page_load", "name": made.name, "description": made.description,
            "created_utc": stamp(0), "seed": "7", "lanelab": "0.1.0", "state": made.state,
            "figures": json.dumps([kept_figure(figure) for figure in made.figures]),
            "plan": json.dumps(self.plan()), "experiment_sha256": hashlib.sha256(made.text.encode()).hexdigest(),
            run_format.ID: made.id or hashlib.sha256(f"{made.name} {made.text}".encode()).hexdigest()[:16],
            **({run_format.ABOUT_SITES: json.dumps(about)} if about else {}),
            run_format.VARIANT: made.variant,
            run_format.CLAIMS: json.dumps([claim.to_json() for claim in made.claims]),
            run_format.CLAIMS_DIGEST: digest_of(made.claims),
        }  # fmt: skip

    def plan(self) -> dict[str, Any]:
        made, arms = self.made, len(self.made.arms)
        groups = range(0, len(made.sites) * len(made.links) * arms, arms)
        pairs = [[f"{group + 1:016x}", f"{group + 1 + arm:016x}"] for group in groups for arm in range(1, arms)]
        return {
            "order": made.order, "looks": made.looks or [[max(1, made.rounds), 0.05]], "timeout_s": 60,
            **({"repeat": made.repeat} if made.repeat else {}),
            "compared": pairs if made.compared is None else made.compared, "not_compared": list(made.not_compared),
        }  # fmt: skip

    def attempts(self, cell: int, number: int, site: str, link: Mapping[str, str], arm: str) -> None:
        for attempt in range(1, self.made.retries + 2):
            self.trial += 1
            failed = self.made.fails(self.trial, attempt)
            self.add_trial(cell, number, attempt, (site, link, arm), failed=failed)
            if not failed:
                return

    def add_trial(
        self, cell: int, number: int, attempt: int, what: tuple[str, Mapping[str, str], str], *, failed: bool
    ) -> None:
        site, settings, arm = what
        link = Link.parse(settings)
        size = 1_128_000 * (1 + 0.4 * self.made.sites.index(site))
        rate = link.down.rate.bps if link.down.rate else 1e9
        bound = link.rtt.milliseconds * 2 + size * 8.4 / rate * 1000
        trips = ROUND_TRIPS.get(arm, 5.0)
        drifted = 1 + self.made.drift * self.trial / max(1, self.total)
        bed = self.bed(cell, number)
        machine = self.machine(bed)
        factor = drifted * self.made.pace * self.bed_factors[bed - 1]
        noise = self.made.noise if machine is None or machine.noise is None else machine.noise
        factor *= self.rng.lognormvariate(0, noise)
        if machine:
            factor *= machine.pace * (machine.change if arm != next(iter(self.made.arms)) else 1.0)
        plt = (bound * 1.02 + trips * link.rtt.milliseconds + 45) * factor
        requests = made_requests(self.rng, plt, arm) if self.made.with_requests else []
        connections = 1 if arm == "h2" else 24 if arm == "http" else 6
        measures = {
            "plt_ms": plt, "plt_navigation_ms": plt - 6, "ttfb_ms": 2.1 * link.rtt.milliseconds + 3,
            "dcl_ms": plt * 0.4, "first_paint_ms": plt * 0.35, "fcp_ms": plt * 0.35, "lcp_ms": plt * 0.9,
            "bound_ms": bound, "requests": 24, "connections": connections, "bytes_down": int(size * 1.043),
            "bytes_up": 41_000 + 900 * connections, "retransmissions": self.rng.choice((0, 0, 0, 2)),
        }  # fmt: skip
        browser = {**EVIDENCE["browser"], "console": []}
        browser["facts"] = {**browser["facts"], "product": "Chromium/140.0", "flags": ["--headless=new"]}
        browser["times"] = {name: measures.get(name) for name in browser["times"]}
        record = {
            "workload": "page_load", "started_utc": stamp(2 + self.trial * 2), "artifacts": ["page.har.gz"],
            "marks": {"prepare_s": 0.31, "navigate_s": plt / 1000, "collect_s": 0.12},
            "evidence": {**EVIDENCE, "browser": browser, "packets": {}},
            "failures": [{"reason": self.made.reason, "detail": self.made.detail}] if failed else [],
            "series": {"load": {"unit": "processes", "points": []}}, "flags": [], "recordings": {},
        }  # fmt: skip
        self.add(
            "trials", self.trial, 1, bed, cell, number, attempt, stamp(2 + self.trial * 2),
            plt / 1000 + 0.6, "failed" if failed else "ok", json.dumps(record), self.made.asked(cell),
            machine.digest if machine else "", self.made.origins.get(number, ""),
        )  # fmt: skip
        for name, value in measures.items():
            self.add("measures", self.trial, name, value)
        for name, value in self.made.machine.items():
            self.add("measures", self.trial, name, value)
        for name, detail in self.made.flags.get(self.trial, ()):
            self.add("flags", self.trial, name, detail)
        for t_ms in (0.0, 100.0):
            self.add("series", self.trial, "load", t_ms, 0.5)
        if failed:
            self.add("failures", self.trial, self.made.reason, self.made.detail)
        for position, request in enumerate(requests, 1):
            keys = ("url", "status", "protocol", "connection", "priority", "started_ms", "ended_ms", "wire_bytes",
                    "body_bytes")  # fmt: skip
            self.add("requests", self.trial, position, *(request[key] for key in keys), json.dumps(request))
        self.artifact("page.har.gz", gzip.compress(json.dumps({"log": {"version": "1.2", "entries": []}}).encode()))

    def artifact(self, name: str, content: bytes) -> None:
        path = self.folder / run_format.ARTIFACTS / f"{self.trial:06d}" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        self.add("artifacts", self.trial, name, len(content), hashlib.sha256(content).hexdigest())


def kept_figure(figure: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a figure with every key that a run keeps of it."""
    keys = dict.fromkeys(("title", "y", "kind", "scale"), "") | dict.fromkeys(("x", "series", "facet", "published"))
    return {**keys, "only": {}, **figure}


def stamp(seconds: float) -> str:
    when = BEGAN + datetime.timedelta(seconds=seconds)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def loaded(requests: Sequence[Mapping[str, Any]], **measures: float) -> TrialRecord:
    """A page load of which nothing else is known."""
    asked = tuple(Request.from_json(each) for each in requests)
    return TrialRecord("page_load", "2026-01-01T00:00:00Z", measures, {}, asked, (), (), {}, None)


def made_requests(rng: random.Random, plt: float, arm: str) -> list[dict[str, Any]]:
    """One page, three style sheets, twenty images, as the arm would fetch them."""
    names = ["/", *(f"/s{i}.css" for i in range(1, 4)), *(f"/i{i:02}.png" for i in range(1, 21))]
    scheme, protocol = ("https" if arm in ("https", "h2") else "http"), ("h2" if arm == "h2" else "http/1.1")
    lanes = 20 if arm == "h2" else 6
    free = [plt * 0.12] * lanes
    found = []
    for i, name in enumerate(names):
        lane = min(range(lanes), key=lambda n: free[n]) if i else 0
        began = plt * 0.12 if i else 0.0
        took = plt * 0.11 if i == 0 else plt * (0.84 if arm == "h2" else 0.2) * rng.uniform(0.85, 1.02)
        ended = min(plt * 0.985, max(free[lane], began) + took)
        fresh = i == 0 or (arm == "http") or (free[lane] == plt * 0.12 and arm != "h2")
        blocked = max(0.0, free[lane] - began) if i else 0.4
        free[lane] = ended
        left = max(1.0, ended - began - blocked)
        timings = {
            "blocked": blocked, "dns": 0.2 if i == 0 else -1, "connect": left * 0.2 if fresh else -1,
            "ssl": left * 0.1 if fresh and scheme == "https" else -1, "send": 0.1, "wait": left * 0.25,
            "receive": left * 0.5,
        }  # fmt: skip
        found.append({
            "url": f"{scheme}://dummy.test{name}", "method": "GET", "status": 200,
            "type": "Document" if i == 0 else "Image" if i > 3 else "Stylesheet", "mime": "image/png",
            "protocol": protocol, "connection": lane + 1, "reused": not fresh,
            "priority": "VeryHigh" if i < 4 else "Low", "remote": "10.10.2.2:443", "from_cache": False,
            "started_ms": began, "ended_ms": ended, "timings": timings, "body_bytes": 55_000 if i > 3 else 440,
            "wire_bytes": 55_310 if i > 3 else 760, "request_headers": [["Accept", "*/*"]],
            "response_headers": [["Content-Type", "image/png"]], "error": None, "tls": None, "initiator": "parser",
            "before_load": True, "request_header_bytes": 400, "response_header_bytes": 250, "wire": None,
            "link_preload": False, "early_links": None, "by_early_links": False,
        })  # fmt: skip
    return found


def self_test(settings: Mapping[str, str]) -> dict[str, Any]:
    link = Link.parse(settings)
    rtt = link.rtt.milliseconds
    results = [
        {"name": "rtt", "unit": "ms", "target": rtt, "achieved": rtt + 0.11, "low": rtt - 0.5, "high": rtt + 0.5,
         "verdict": "ok", "note": "median of 40"},
        {"name": "rtt deviation", "unit": "ms", "target": None, "achieved": 0.05, "low": None, "high": None,
         "verdict": "shown", "note": ""},
    ]  # fmt: skip
    if link.down.rate:
        goodput = link.down.rate.mbit * 0.957
        results.append(
            {"name": "rate down", "unit": "Mbit/s", "target": goodput, "achieved": goodput * 0.998,
             "low": goodput * 0.98, "high": goodput * 1.02, "verdict": "ok", "note": "TCP goodput over 2.0 s"}
        )  # fmt: skip
    return {"passed": True, "took_s": 1.8, "failures": [], "results": results}


PROVENANCE: dict[str, Any] = {
    "lanelab": {"version": "0.1.0", "git_commit": "f03f996c0ffee", "git_dirty": False},
    "host": {"kernel": "6.1.0-30-amd64", "cpu": {"model": "AMD EPYC 7B13", "count": 2}, "load": [0.4, 0.3, 0.2]},
    "router": {"kind": "uml", "kernel": "6.1.176", "compensation_us": 310},
    "programs": {"chromium": "140.0.7339.80", "chromedriver": "140.0.7339.80", "apache": "Apache/2.4.62 (Debian)"},
    "sysctls": {"net.ipv4.tcp_congestion_control": "cubic", "net.ipv4.tcp_rmem": "4096 131072 6291456"},
    "browser_flags": ["--headless=new", "--no-first-run", "--disable-background-networking"],
    "seed": 7,
}
