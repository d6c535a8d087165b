"""Trials, from inside the bed: server, names, gateway, browser and capture of one trial at a time.

`prepare` does everything that may take its time; `go` is the page load and what must be read right after it. What was
started for a trial ends with it, except ChromeDriver and, for arms that ask for it, the browser.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from driver.bed.node import NODE_NAMES
from driver.bed.substrate import Substrate
from driver.browser.browser import Surroundings
from driver.browser.registry import BROWSERS, DEFAULT
from driver.gateway import configuration as gateway_side
from driver.gateway.gateway import Gateway
from driver.recorders.of_trial import TrialRecorders
from driver.recorders.recorder import NETLOG, Context
from driver.recorders.registry import wishes
from driver.recorders.tcpdump import Captures
from driver.servers.authority import Authority, Leaf
from driver.servers.resolver import Resolver, use_resolver
from driver.servers.server import Server, check_configuration
from driver.shaping.addresses import origin_addresses
from driver.workloads.page_load.spec import KEYS, TrialSpec
from driver.workloads.page_load.under_way import UnderWay
from model.clock import utc_now
from model.errors import BedError, GatewayError, InputError, StoreError
from model.reasons import Reason

WORK = Path("/run/lanelab-trials")  # in memory, here and on every node, gone with the bed
TLS = "https"
LOOPBACK_CERTIFICATE = "ecdsa-p256"  # what the gateway shows, whatever the arm's is: the browser's side is always alike
GATEWAY_FILES = {"configuration": "gateway.json", "log": "gateway.jsonl", "keys": KEYS}


class TrialMachine:
    """Runs trials on a bed, one after the other."""

    def __init__(self, substrate: Substrate, drain: Callable[[], None]) -> None:
        """`drain`: until the link is empty."""
        self._drain = drain
        self._substrate = substrate
        self._client, self._server = substrate.node("client"), substrate.node("server")
        self._lost_at_input = substrate.router.lost_at_input
        self._count = 0
        self._trial: UnderWay | None = None
        self._asks_resolver = False
        self._leaves: dict[tuple[Path, tuple[str, ...], str], Leaf] = {}
        self._programs: dict[Path, str] = {}  # gateways that are on the client node -> where
        WORK.mkdir(parents=True, exist_ok=True)
        for node in (self._client, self._server):
            node.run(["mkdir", "-p", f"{WORK}/captures"])
        self._browser = BROWSERS[DEFAULT].start(self._client, WORK / "browsers")

    # --- before the load

    def prepare(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Everything up to the load."""
        started = time.monotonic()
        trial = self._begin(data)
        spec, warm = trial.spec, trial.spec.arm.start == "warm"
        if spec.arm.dns == "resolver":
            self._ask_resolver()  # before a browser can read whom to ask
        # Neither a server nor a browser that starts sends anything: what the link still carries is the last trial's.
        # But a warm arm's browser loads the page while it is opened: it needs the server, and what it leaves goes, too.
        # A gateway remembers connections, names and TLS sessions, as a browser process does: another one after that.
        between = [lambda: self._begin_gateway(trial)] if spec.arm.via == "gateway" else []
        _together(
            lambda: self._serve(trial),
            *between,
            lambda: self._browse(trial),
            *(between if warm else []),
            self._drain,
            in_order=warm,
        )
        if not trial.failures:
            self._forget_first_visit(trial)
            self._start_recorders(trial)
        trial.prepare_s = time.monotonic() - started
        return {"failures": trial.failures}

    def serve(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """A trial's server alone, for a browser that is not ours; until the next trial."""
        trial = self._begin(data)
        self._serve(trial)
        return {"failures": trial.failures}

    def check(self, data: Mapping[str, Any]) -> None:
        """Whether the server takes its configuration: only it knows all directives."""
        spec = TrialSpec.from_json(data)
        try:
            check_configuration(
                self._server, spec.arm, spec.site, WORK / "check", self._server_leaf(spec), spec.spdy_module
            )
        except InputError as error:
            error.key = f"arms.{spec.arm.name}.{error.key or 'server_directives'}"
            raise

    def _begin(self, data: Mapping[str, Any]) -> UnderWay:
        """The last trial's things end; this one has its folder, addresses and certificate."""
        self.end()
        self._count += 1
        spec = TrialSpec.from_json(data)
        folder = WORK / f"{self._count:06d}"
        folder.mkdir()
        addresses = origin_addresses(spec.site.hosts, spec.arm.addresses)
        shown = self._leaf(spec, LOOPBACK_CERTIFICATE) if spec.arm.via == "gateway" else None
        self._trial = UnderWay(spec, folder, utc_now(), addresses, self._server_leaf(spec), shown)
        return self._trial

    def _server_leaf(self, spec: TrialSpec) -> Leaf | None:
        return self._leaf(spec, spec.arm.tls_certificate) if spec.arm.scheme == TLS else None

    def _leaf(self, spec: TrialSpec, kind: str) -> Leaf:
        key = (spec.authority, spec.site.hosts, kind)
        if key not in self._leaves:
            self._leaves[key] = Authority.make(spec.authority).leaf(spec.site.hosts, kind)
        return self._leaves[key]

    def _serve(self, trial: UnderWay) -> None:
        spec = trial.spec
        with trial.failing(Reason.SERVER_FAILED):
            if spec.arm.dns == "resolver":
                trial.resolver = Resolver.start(self._server, trial.addresses, WORK / "resolver")
            trial.server = Server.start(
                self._server, spec.arm, spec.site, WORK / "server", trial.leaf, spec.spdy_module
            )

    def _begin_gateway(self, trial: UnderWay) -> None:
        """A new one, after the one that was there."""
        spec = trial.spec
        if trial.shown is None:
            return
        with trial.failing(Reason.GATEWAY_FAILED):
            if trial.gateway:
                trial.gateway.stop()
            trial.gateway = Gateway.start(
                self._client,
                self._gateway_program(spec),
                spec.arm,
                gateway_side.Names(trial.addresses, spec.arm.dns),
                WORK / "gateway",
                trial.shown,
                (trial.leaf.spki_sha256_b64,) if trial.leaf else (),
            )

    def _gateway_program(self, spec: TrialSpec) -> str:
        """In the client node's memory, for as long as the bed lives."""
        if spec.gateway is None:
            raise GatewayError("this arm goes through the gateway, and there is none", "Build it: driver/build")
        if spec.gateway not in self._programs:
            target = f"{WORK}/lanelab-gateway-{len(self._programs)}"
            self._client.put(spec.gateway, target, 0o755)
            self._programs[spec.gateway] = target
        return self._programs[spec.gateway]

    def _ask_resolver(self) -> None:
        """For as long as the bed lives: trials that need no look-up make none."""
        if not self._asks_resolver:
            use_resolver(self._client)
            self._asks_resolver = True

    def _browse(self, trial: UnderWay) -> None:
        spec = trial.spec
        if spec.arm.start == "warm" and trial.failures:
            return
        with trial.failing(Reason.BROWSER_FAILED):
            around = self._surroundings(trial)
            trial.page = self._browser.open(spec.arm, around, spec.site.url(spec.arm.page_scheme))

    def _surroundings(self, trial: UnderWay) -> Surroundings:
        """For the browser the gateway is the server, and is where it is without being asked for: names, keys and TLS of
        the link are the gateway's affair."""
        spec = trial.spec
        around = Surroundings(
            hosts=trial.addresses,
            dns=spec.arm.dns,
            trusted=(trial.leaf.spki_sha256_b64,) if trial.leaf else (),
            keys=trial.leaf is not None,
            netlog=NETLOG in wishes(spec.recorders),
            timeout_s=spec.timeout_s,
        )
        if trial.shown is None:
            return around
        hosts = dict.fromkeys(trial.addresses, gateway_side.ADDRESS)
        return replace(around, hosts=hosts, dns="instant", trusted=(trial.shown.spki_sha256_b64,), keys=False)

    @staticmethod
    def _forget_first_visit(trial: UnderWay) -> None:
        """What server and resolver said of the load that warmed the browser is not the trial's."""
        if trial.spec.arm.start == "warm" and trial.server:
            trial.server.access_lines()
            trial.server.error_lines()
            if trial.resolver:
                trial.resolver.queries()

    def _start_recorders(self, trial: UnderWay) -> None:
        trial.recorders = TrialRecorders(trial.spec.recorders)
        trial.recorders.start(
            Context(
                nodes={name: self._substrate.node(name) for name in NODE_NAMES},
                apart=not self._substrate.traits.same_machine,
                scratch=WORK / "captures",
                folder=trial.folder,
                page=trial.page,
            )
        )
        trial.take_failures()

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
            **self._stop_recorders(trial, loaded=not loaded["failures"]),
            "gateway": self._gateway_said(trial),
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

    def _load(self, trial: UnderWay) -> dict[str, Any]:
        if trial.page is None or trial.recorders is None:
            return dict(_NOT_LOADED)
        spec = trial.spec
        trial.recorders.load_begins()
        trial.page.load(spec.site.url(spec.arm.page_scheme), spec.timeout_s)
        trial.recorders.load_ended()
        return trial.page.record()

    @staticmethod
    def _stop_recorders(trial: UnderWay, *, loaded: bool) -> dict[str, Any]:
        """What they add to the record."""
        if trial.page:
            with trial.failing(Reason.BROWSER_FAILED):
                trial.page.keys(trial.folder / KEYS)  # while the browser lives
        recordings = trial.recorders.stop(loaded=loaded) if trial.recorders else {}
        trial.take_failures()
        captures = recordings.pop("capture", None)
        evidence = captures.evidence if captures else None
        each = recordings.values()
        return {
            "capture": evidence.to_json()["by_node"] if isinstance(evidence, Captures) else {},
            "measures": {name: value for one in each for name, value in one.measures.items()},
            "series": {name: values.to_json() for one in each for name, values in one.series.items()},
            "flags": [flag.to_json() for one in each for flag in one.flags],
            "recordings": {name: one.evidence.to_json() for name, one in recordings.items() if one.evidence},
        }

    def _gateway_said(self, trial: UnderWay) -> dict[str, Any] | None:
        """It ends first: only then it has written everything, and the server has nothing more to say of it."""
        if not trial.gateway:
            return None
        with trial.failing(Reason.GATEWAY_FAILED):
            trial.gateway.stop()
        for name, data in trial.gateway.files(GATEWAY_FILES).items():
            (trial.folder / name).write_bytes(data)
        said = trial.gateway.record()
        trial.answered = sum(each.get("status") is not None for each in said["requests"])
        return said

    def _server_said(self, trial: UnderWay) -> dict[str, Any] | None:
        server, said = trial.server, None
        with trial.failing(Reason.SERVER_FAILED):
            if server:
                server.require_alive()
                requests = server.access_lines_of(trial.answered)
                for name, data in server.files().items():
                    (trial.folder / name).write_bytes(data)
                said = {
                    "program": server.version,
                    "configuration": server.configuration,
                    "error_lines": server.error_lines(),
                    "requests": requests,
                }
        return said

    def _keep_files(self, trial: UnderWay) -> None:
        """Out of memory, into the folder that the controller named."""
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
        if trial.recorders:
            trial.recorders.close()
        if trial.page:
            trial.page.close()
        if trial.gateway:
            with contextlib.suppress(GatewayError):  # told before
                trial.gateway.stop()
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
