"""Trials, from inside the bed: server, names, browser and capture of one trial at a time.

`prepare` does everything that may take its time; `go` is the page load and what must be read right after it. What was
started for a trial ends with it, except ChromeDriver and, for arms that ask for it, the browser.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from driver.bed.node import Node
from driver.bed.substrate import Substrate
from driver.browser.browsers import Browsers
from driver.browser.failures import BrowserError
from driver.browser.flags import Surroundings
from driver.browser.page import Page
from driver.capture import Capture
from driver.clock import utc_now
from driver.errors import BedError, InputError, StoreError
from driver.servers.authority import Authority, Leaf
from driver.servers.resolver import Resolver, use_resolver
from driver.servers.server import Server, check_configuration
from driver.topology import origin_addresses
from driver.trial.reasons import Reason
from driver.trial.spec import KEYS, TrialSpec

WORK = Path("/run/lanelab-trials")  # in memory, seen from every node, gone with the bed
TLS = "https"


@dataclass
class _Trial:
    """What is up for the trial that was prepared, and what has failed of it."""

    spec: TrialSpec
    folder: Path
    started_utc: str
    prepare_s: float = 0.0
    server: Server | None = None
    resolver: Resolver | None = None
    page: Page | None = None
    captures: dict[str, Capture] = field(default_factory=dict)
    failures: list[dict[str, str]] = field(default_factory=list)

    @contextlib.contextmanager
    def failing(self, reason: Reason) -> Iterator[None]:
        """What goes wrong in here is this trial's failure and not the bed's. What the user wrote wrongly, as a server
        directive that Apache does not know, is no failure of a trial: that error goes on."""
        try:
            yield
        except BrowserError as error:
            self.fail(Reason(error.reason), str(error))
        except BedError as error:
            self.fail(reason, str(error))

    def fail(self, reason: Reason, detail: str) -> None:
        self.failures.append({"reason": reason.value, "detail": detail})


class TrialMachine:
    """Runs trials on a bed, one after the other."""

    def __init__(self, substrate: Substrate, drain: Callable[[], None]) -> None:
        """`drain`: until the link is empty."""
        self._drain = drain
        self._client, self._server = substrate.node("client"), substrate.node("server")
        self._lost_at_input = substrate.router.lost_at_input
        self._count = 0
        self._trial: _Trial | None = None
        self._asks_resolver = False
        self._leaves: dict[tuple[Path, tuple[str, ...], str], Leaf] = {}
        WORK.mkdir(parents=True, exist_ok=True)
        self._browsers = Browsers(self._client, substrate.addresses()["client"], WORK / "browsers")

    # --- before the load

    def prepare(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Everything up to the load."""
        started = time.monotonic()
        trial, addresses, leaf = self._begin(data)
        spec = trial.spec
        if spec.dns == "resolver":
            self._ask_resolver()  # before a browser can read whom to ask
        # Neither a server nor a browser that starts sends anything: what the link still carries is the last trial's.
        # But a warm arm's browser loads the page while it is opened: it needs the server, and what it leaves goes, too.
        _together(
            lambda: self._serve(trial, addresses, leaf),
            lambda: self._browse(trial, addresses, leaf),
            self._drain,
            in_order=spec.arm.start == "warm",
        )
        if not trial.failures:
            self._forget_first_visit(trial)
            with trial.failing(Reason.CAPTURE_LOST_PACKETS):
                self._record(trial)
        trial.prepare_s = time.monotonic() - started
        return {"failures": trial.failures}

    def serve(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """A trial's server alone, for a browser that is not ours; until the next trial."""
        trial, addresses, leaf = self._begin(data)
        self._serve(trial, addresses, leaf)
        return {"failures": trial.failures}

    def check(self, data: Mapping[str, Any]) -> None:
        """Whether the server takes its configuration: only it knows all directives."""
        spec = TrialSpec.from_json(data)
        leaf = self._leaf(spec) if spec.arm.scheme == TLS else None
        try:
            check_configuration(self._server, spec.arm, spec.site, WORK / "check", leaf)
        except InputError as error:
            error.key = f"arms.{spec.arm.name}.{error.key or 'server_directives'}"
            raise

    def _begin(self, data: Mapping[str, Any]) -> tuple[_Trial, dict[str, str], Leaf | None]:
        """The last trial's things end; this one has its folder, addresses and certificate."""
        self.end()
        self._count += 1
        spec = TrialSpec.from_json(data)
        folder = WORK / f"{self._count:06d}"
        folder.mkdir()
        trial = self._trial = _Trial(spec, folder, utc_now())
        leaf = self._leaf(spec) if spec.arm.scheme == TLS else None
        return trial, origin_addresses(spec.site.hosts, spec.addresses), leaf

    def _leaf(self, spec: TrialSpec) -> Leaf:
        key = (spec.authority, spec.site.hosts, spec.arm.tls_certificate)
        if key not in self._leaves:
            self._leaves[key] = Authority.make(spec.authority).leaf(spec.site.hosts, spec.arm.tls_certificate)
        return self._leaves[key]

    def _serve(self, trial: _Trial, addresses: Mapping[str, str], leaf: Leaf | None) -> None:
        with trial.failing(Reason.SERVER_FAILED):
            if trial.spec.dns == "resolver":
                trial.resolver = Resolver.start(self._server, addresses, WORK / "resolver")
            trial.server = Server.start(self._server, trial.spec.arm, trial.spec.site, WORK / "server", leaf)

    def _ask_resolver(self) -> None:
        """For as long as the bed lives: trials that need no look-up make none."""
        if not self._asks_resolver:
            use_resolver(self._client)
            self._asks_resolver = True

    def _browse(self, trial: _Trial, addresses: Mapping[str, str], leaf: Leaf | None) -> None:
        spec = trial.spec
        if spec.arm.start == "warm" and trial.failures:
            return
        around = Surroundings(
            hosts=addresses,
            dns=spec.dns,
            trusted=(leaf.spki_sha256_b64,) if leaf else (),
            keys=leaf is not None,
            netlog=spec.netlog,
            timeout_s=spec.timeout_s,
        )
        with trial.failing(Reason.BROWSER_FAILED):
            trial.page = self._browsers.open(spec.arm, around, spec.site.url(spec.arm.scheme))

    @staticmethod
    def _forget_first_visit(trial: _Trial) -> None:
        """What server and resolver said of the load that warmed the browser is not the trial's."""
        if trial.spec.arm.start == "warm" and trial.server:
            trial.server.access_lines()
            trial.server.error_lines()
            if trial.resolver:
                trial.resolver.queries()

    def _record(self, trial: _Trial) -> None:
        for name in trial.spec.capture.nodes:
            node: Node = self._client if name == "client" else self._server
            capture = Capture(node, str(trial.folder / f"{name}.pcap"), trial.spec.capture.snaplen)
            trial.captures[name] = capture.start()

    # --- the load

    def go(self) -> dict[str, Any]:
        """Load the page; the record. What was started for the trial ends, and its files are in the trial's folder."""
        trial = self._trial
        if trial is None:
            raise BedError("no trial was prepared")
        trial.started_utc = utc_now()
        self._lost_at_input()  # what was lost before is not this trial's
        loaded = self._load(trial) if not trial.failures and trial.page else dict(_NOT_LOADED)
        navigated = time.monotonic()
        record = {
            "version": 1,
            "started_utc": trial.started_utc,
            **loaded,
            "capture": self._stop_captures(trial),
            "server": self._server_said(trial),
            "router": {"lost_at_input": self._lost_at_input()},
            "dns": {"queries": trial.resolver.queries()} if trial.resolver else None,
        }
        self._keep_files(trial)
        record["artifacts"] = sorted(path.name for path in trial.spec.folder.iterdir())
        record["failures"] = [*trial.failures, *loaded["failures"]]
        record["marks"] = {
            **loaded.get("marks", {}),
            "prepare_s": round(trial.prepare_s, 4),
            "after_load_s": round(time.monotonic() - navigated, 4),
        }
        return record

    def _load(self, trial: _Trial) -> dict[str, Any]:
        if trial.page is None:
            return dict(_NOT_LOADED)
        spec = trial.spec
        screenshot = trial.folder / "screenshot.png" if spec.screenshot else None
        return trial.page.load(spec.site.url(spec.arm.scheme), spec.timeout_s, screenshot)

    def _stop_captures(self, trial: _Trial) -> dict[str, Any]:
        found = {}
        for name, capture in trial.captures.items():
            with trial.failing(Reason.CAPTURE_LOST_PACKETS):
                found[name] = {"file": f"{name}.pcap", **capture.stop()}
        trial.captures.clear()
        return found

    def _server_said(self, trial: _Trial) -> dict[str, Any] | None:
        server, said = trial.server, None
        with trial.failing(Reason.SERVER_FAILED):
            if server:
                for name, data in server.files().items():
                    (trial.folder / name).write_bytes(data)
                server.require_alive()
                said = {
                    "program": server.version,
                    "configuration": server.configuration,
                    "error_lines": server.error_lines(),
                    "requests": server.access_lines(),
                }
        return said

    def _keep_files(self, trial: _Trial) -> None:
        """Out of memory, into the folder that the controller named."""
        if trial.page:
            with trial.failing(Reason.BROWSER_FAILED):
                trial.page.keys(trial.folder / KEYS)
                trial.page.netlog(trial.folder / "netlog.json")
        try:
            for path in sorted(trial.folder.iterdir()):
                shutil.copyfile(path, trial.spec.folder / path.name)
        except OSError as error:
            what = f"cannot write the trial's files to {trial.spec.folder}: {error.strerror}"
            raise StoreError(
                what, "Free some space, and go on with --resume: what was stored before is intact"
            ) from error

    def end(self) -> None:
        """What the last trial still has."""
        trial, self._trial = self._trial, None
        if trial is None:
            return
        for capture in trial.captures.values():
            with contextlib.suppress(BedError):
                capture.stop()
        if trial.page:
            trial.page.close()
        if trial.server:
            trial.server.stop()
        if trial.resolver:
            trial.resolver.stop()
        shutil.rmtree(trial.folder, ignore_errors=True)


_NOT_LOADED: Mapping[str, Any] = {"plt_ms": None, "requests": [], "console": [], "failures": []}


def _together(*steps: Callable[[], None], in_order: bool) -> None:
    """All at the same time, or one after the other; the error of an earlier one before a later one's."""
    with ThreadPoolExecutor(1 if in_order else len(steps), "prepare") as threads:
        for done in [threads.submit(step) for step in steps]:
            done.result()
