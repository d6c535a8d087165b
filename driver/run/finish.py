"""From what the bed brought back to a trial that can be stored: capture read, verdict given, artifacts packed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from captures.packets import PacketSummary, summarise
from captures.pcapng import embed_keys
from driver.browser.har import har
from driver.experiment.arm import Arm
from driver.experiment.model import Experiment
from driver.run.store import writing
from driver.shaping.addresses import ADDRESSES
from driver.workloads.page_load.bound import physical_bound
from driver.workloads.page_load.requests import with_wire
from driver.workloads.page_load.spec import KEYS
from driver.workloads.page_load.verdict import judge
from driver.workloads.page_load.witnesses import Witnesses
from model.errors import LanelabError
from model.link import Link
from model.metrics import PAGE_LOAD, metrics_of
from model.reasons import Reason
from model.record import TrialRecord
from model.site.site import Site

PACKED = ("netlog.json", "access.log", "gateway.jsonl")


@dataclass(frozen=True, slots=True)
class Finished:
    """A trial with its verdict."""

    measures: Mapping[str, float]
    record: Mapping[str, Any]


def not_started(workload: str, started_utc: str, reason: Reason, detail: str) -> Finished:
    """A trial that never got as far as its workload."""
    return Finished({}, TrialRecord.not_started(workload, started_utc, reason, detail).to_json())


def finish(
    record: Mapping[str, Any], arm: Arm, site: Site, link: Link, experiment: Experiment, folder: Path
) -> Finished:
    """Read the capture, judge, pack. Leaves in the folder exactly what is to be kept."""
    failures = list(record["failures"])
    summaries: dict[str, PacketSummary] = {}
    for node, capture in record["capture"].items():
        try:
            summaries[node] = summarise(folder / capture["file"], client=ADDRESSES["client"])
        except LanelabError as error:
            detail = f"the capture of the {node} cannot be read: {error}"
            failures.append({"reason": Reason.CAPTURE_LOST_PACKETS.value, "detail": detail})
    packets = summaries.get("client")
    if record.get("gateway"):
        record = {**record, "requests": with_wire(record)}
    finished = {
        **record,
        "failures": failures,
        "bound_ms": physical_bound(link, arm, record, packets),
        "packets": {node: summary.to_json() for node, summary in summaries.items()},
    }
    if record.get("gateway"):
        heard = Witnesses.of(finished, packets).heard(tls=arm.tls != "off")
        finished["gateway"] = {**record["gateway"], "witnesses": heard}
    verdict = judge(finished, arm, site, link, experiment.tolerances, packets)
    finished["failures"] = [failure.to_json() for failure in verdict]
    with writing("store the files of a trial"):
        _pack(finished, folder, [node for node, capture in record["capture"].items() if node in summaries])
    artifacts = sorted(path.name for path in folder.iterdir())
    return Finished(_measures(finished, packets), _as_stored(finished, artifacts))


def _measures(finished: Mapping[str, Any], packets: PacketSummary | None) -> dict[str, float]:
    measures = {metric.name: finished.get(metric.name) for metric in metrics_of(PAGE_LOAD)}
    measures |= {"requests": len(finished["requests"])}
    if packets:
        names = ("connections", "bytes_down", "bytes_up", "retransmissions")
        measures |= {name: getattr(packets, name) for name in names}
    known = {name: float(value) for name, value in measures.items() if value is not None}
    return {**finished["measures"], **known}


def _as_stored(finished: Mapping[str, Any], artifacts: Sequence[str]) -> dict[str, Any]:
    gateway = finished.get("gateway")
    names = ("facts", "console", "navigation")
    browser = dict(zip(names, (finished.get(key) for key in ("browser", "console", "navigation")), strict=True))
    evidence = {
        "browser": browser,
        "resolver": finished.get("dns"),
        "gateway": gateway,
        "witnesses": gateway and gateway["witnesses"],
        **{key: finished.get(key) for key in ("server", "router", "capture", "packets")},
    }
    own = {key: finished[key] for key in ("started_utc", "requests", "failures")}
    marks = finished.get("marks", {})
    return {
        "workload": PAGE_LOAD,
        **own,
        "artifacts": artifacts,
        "marks": marks,
        **{key: finished[key] for key in ("series", "flags", "recordings")},
        "evidence": evidence,
    }


def _pack(record: Mapping[str, Any], folder: Path, readable: Sequence[str]) -> None:
    """Captures with their keys, everything that is text compressed. What cannot be read stays as it is."""
    keys = folder / KEYS
    secrets = keys.read_text() if keys.is_file() else ""
    for node in readable:
        raw = folder / record["capture"][node]["file"]
        embed_keys(raw, secrets, folder / f"{node}.pcapng.gz")
        raw.unlink()
    keys.unlink(missing_ok=True)
    _compress(folder / "page.har.gz", json.dumps(har(record)).encode())
    for name in PACKED:
        path = folder / name
        if path.is_file():
            _compress(folder / f"{name}.gz", path.read_bytes())
            path.unlink()


def _compress(path: Path, data: bytes) -> None:
    with path.open("wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=6) as out:
        out.write(data)
