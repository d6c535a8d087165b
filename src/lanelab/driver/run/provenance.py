"""What a run was made with, as far as this side of a bed can tell; the bed adds its nodes' facts."""

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

from lanelab.driver.base.coded import JsonObject
from lanelab.driver.base.paths import CHECKOUT, PROJECT
from lanelab.driver.base.programs import install

BUILT_FROM = "built-from.json"  # beside the data of a wheel
NEW = "?? "  # how git marks a file that it does not track
LIBRARIES = ("selenium", "cryptography", "altair", "vl-convert-python", "ansible-core")


def host_facts(version: str) -> JsonObject:
    """Return the facts of this machine and of this lanelab."""
    return {
        "lanelab": {"version": version, **_sources()},
        "python": {"version": platform.python_version(), "program": sys.executable, **_libraries()},
        "machine": {
            "system": install.family(),
            "kernel": platform.release(),
            "architecture": platform.machine(),
            "processor": processor_name(),
            "processors": len(os.sched_getaffinity(0)),
            "frequency_governor": _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            "memory_mib": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20,
            "clock_source": _read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        },
        "load": load(),
    }


def load() -> dict[str, float]:
    """Return how busy this machine is."""
    one, five, fifteen = os.getloadavg()
    return {"1min": round(one, 2), "5min": round(five, 2), "15min": round(fifteen, 2)}


def _sources() -> dict[str, str]:
    """Return the commit that this lanelab is of. Where it is installed, git would tell of whatever folder is around."""
    if CHECKOUT is None:
        facts: dict[str, str] = json.loads((PROJECT / BUILT_FROM).read_text())
        return facts
    return commit_facts(CHECKOUT)


def commit_facts(folder: Path) -> dict[str, str]:
    """Return the commit of a checkout, and how many files are other ones: changed, or new code below src/."""

    def git(*words: str) -> str:
        argv = ["git", "-C", str(folder), "-c", "safe.directory=*", *words]
        try:
            done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return done.stdout.strip() if done.returncode == 0 else ""

    commit = git("rev-parse", "HEAD")
    if not commit:
        return {"commit": "unknown: not a git checkout"}
    status = git("status", "--porcelain", "--untracked-files=all").splitlines()
    changed = [line for line in status if not line.startswith(NEW) or _can_be_imported(line.removeprefix(NEW))]
    return {"commit": commit, "changed_files": str(len(changed))}


def _can_be_imported(name: str) -> bool:
    return name.startswith("src/") and name.endswith(".py")


def _libraries() -> dict[str, str]:
    versions = {}
    for name in LIBRARIES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return versions


def processor_name() -> str:
    for line in _read("/proc/cpuinfo").splitlines():
        if line.startswith(("model name", "Model", "cpu model")):
            return line.partition(":")[2].strip()
    return "unknown"


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
