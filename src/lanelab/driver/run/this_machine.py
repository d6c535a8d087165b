"""This machine, as runs know it."""

import hashlib
import os
import platform
from pathlib import Path

from lanelab.driver.base.programs import install
from lanelab.driver.run.machines import MachineFacts
from lanelab.driver.run.provenance import processor_name

IDENTITIES = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))


def this_machine(name: str = "") -> MachineFacts:
    """Return the facts of this machine. `name` is what its owner calls it; else its host name."""
    return MachineFacts(
        name=name or platform.node() or "this machine",
        identity=_identity(),
        system=install.family(),
        kernel=platform.release(),
        processor=processor_name(),
        processors=len(os.sched_getaffinity(0)),
        memory_mib=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20,
        clock_ahead_s=0.0,
        clock_uncertainty_s=0.0,
        fixed_work_ms=None,
        noise=None,
    )


def _identity() -> str:
    """Return a digest, since the identifier itself is nobody else's business."""
    for path in IDENTITIES:
        try:
            return hashlib.sha256(f"lanelab {path.read_text().strip()}".encode()).hexdigest()[:16]
        except OSError:
            continue
    return ""
