"""Examines what this machine can do for lanelab, with a remedy for whatever it cannot."""

import os
import platform
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from lanelab.driver.arm.servers.registry import other_servers
from lanelab.driver.base import paths
from lanelab.driver.base.errors import LanelabError
from lanelab.driver.base.programs import install, needs
from lanelab.driver.base.programs.building import gateway, go
from lanelab.driver.base.programs.finding import Finding, State
from lanelab.driver.base.programs.needs import Program
from lanelab.driver.bed import registry
from lanelab.driver.bed.substrate import BedSettings
from lanelab.driver.run.channel.client import Bed

LITTLE_SPACE_GIB = 1
MODULES = "modules of Apache"
LITTLE_MEMORY_MIB = 1024
BROWSER_START = "browser start"
# What Chromium says where something keeps its sandbox from it, and what to do.
SANDBOX_REMEDIES = (
    ("sys_chroot", "Let the container call chroot (--cap-add sys_chroot, or a filter that allows it)"),
    ("No usable sandbox", "Let programs make user namespaces of their own: docs/guide.md, Where beds run"),
)


def examine() -> list[Finding]:
    """Look at everything; at the end, where nothing is in the way, make a bed."""
    findings = [finding for check in LOOKS for finding in check()]
    if all(finding.state != "gap" for finding in findings):
        findings.extend(_bed())
    return findings


def administrators_command() -> str:
    """What installs all that is missing; empty where nothing is, or nothing can be installed by a package."""
    missing = needs.missing(needs.asked_for_at_once())
    return install.administrators_command(missing) if install.packages_for(missing) else ""


def _system() -> Iterator[Finding]:
    yield Finding("ok", "system", f"{install.family()}, kernel {platform.release()}, {platform.machine()}")
    yield Finding("ok", "python", f"{platform.python_version()} ({sys.executable})")


def _programs() -> Iterator[Finding]:
    missing = needs.missing(needs.programs("bed"))
    if missing:
        yield Finding("gap", "programs", f"missing: {_names(missing)}", _remedy(missing))
    else:
        yield Finding("ok", "programs", "all that a bed needs")
    for what, purpose, use in optional():
        wanted = needs.programs(purpose)
        if missing := needs.missing(wanted):
            yield Finding("note", what, f"missing for {use}: {_names(missing)}", _remedy(missing))
        else:
            yield Finding("ok", what, ", ".join(str(program.path()) for program in wanted))


def optional() -> Iterator[tuple[str, str, str]]:
    """Yield programs that a bed does without: what to call them, for which purpose, and what is not possible without
    them."""
    yield "browser", "chromium", "page loads"
    yield "firefox", "firefox", "arms with browser: firefox"
    yield "server", "apache", "page loads"
    yield from ((name, name, f"arms with server: {name}") for name in other_servers())
    yield "capture", "capture", "page loads"
    yield "resolver", "resolver", "arms with dns: resolver"
    yield "screen", "screen", "arms with display: headful"


def _own_protocols() -> Iterator[Finding]:
    """Yield what it takes to build the gateway, which only some arms need, and Apache's modules."""
    yield Finding("ok", "go, for the gateway", _go())
    if missing := needs.missing(needs.programs("module")):
        what = f"missing to build them, without which Apache serves nothing: {_names(missing)}"
        yield Finding("gap", MODULES, what, _remedy(missing))
    else:
        yield Finding("ok", MODULES, "all that it takes to build them")


def _go() -> str:
    if gateway.shipped():
        return "not needed: the package lanelab-gateway has the gateway built"
    if go_here := go.toolchain_here():
        return f"{go_here.version} ({go_here.program})"
    return f"{go.locked_version()}, installed when it is first needed"


def _substrates() -> Iterator[Finding]:
    for kind in registry.KINDS:
        yield from kind.findings(_remedy)


def _resources() -> Iterator[Finding]:
    cpus = len(os.sched_getaffinity(0))
    load = os.getloadavg()[0]
    busy = load > 0.5 * cpus
    remedy = "Measure when the machine is idle" if busy else ""
    yield Finding("note" if busy or cpus < 2 else "ok", "processors", f"{cpus}, load {load:.2f}", remedy)
    memory = {
        line.split(":")[0]: int(line.split()[1]) // 1024 for line in Path("/proc/meminfo").read_text().splitlines()
    }
    free = memory.get("MemAvailable", 0)
    enough = free > LITTLE_MEMORY_MIB
    yield Finding("ok" if enough else "note", "memory", f"{free} MiB free", "" if enough else "Close something")
    yield _disk()


def _disk() -> Finding:
    build = paths.build_folder()
    nearest = next(folder for folder in (build, *build.parents) if folder.exists())
    if not os.access(nearest, os.W_OK):
        return Finding("gap", "disk", f"{nearest} is not writable", "Set LANELAB_BUILD to a folder that is")
    gib = shutil.disk_usage(nearest).free / 2**30
    state: State = "ok" if gib > LITTLE_SPACE_GIB else "note"
    return Finding(state, "disk", f"{gib:.1f} GiB free for {build}", "" if state == "ok" else "Free some space")


def _bed() -> Iterator[Finding]:
    try:
        with paths.bed_folder() as folder, Bed(BedSettings(folder=folder)) as bed:
            info = bed.info
            yield Finding("ok", "bed", f"came up in {info.bring_up_s:.1f} s, router {info.router} {info.kernel}")
            if not needs.missing(needs.programs("chromium")):  # else its own line names it
                yield _browser_start(bed)
    except LanelabError as error:
        yield Finding("gap", "bed", error.what, error.remedy)


def _browser_start(bed: Bed) -> Finding:
    """Start Chromium on the bed's client, as each page load does: its sandbox takes more rights than a bed."""
    try:
        facts = bed.check_browser()
    except LanelabError as error:
        return _browser_gap(error)
    confined = " in its sandbox" if facts.sandbox else ""
    return Finding("ok", BROWSER_START, f"{facts.product} starts on a bed's client{confined}")


def _browser_gap(error: LanelabError) -> Finding:
    """Return what keeps the browser from starting: of its last words those that tell, where they are known."""
    for sign, remedy in SANDBOX_REMEDIES:
        for words in error.what.split("; "):
            if sign in words:
                return Finding("gap", BROWSER_START, words, remedy)
    return Finding("gap", BROWSER_START, error.what, error.remedy)


def _names(programs: Sequence[Program]) -> str:
    return ", ".join(program.name for program in programs)


def _remedy(missing: Sequence[Program]) -> str:
    """The packages; the command that installs them comes once, below all findings."""
    packages = install.packages_for(missing)
    if len(packages) < len({program.package for program in missing}):
        return " ".join(install.remedy(missing).split())  # some cannot be installed so easily
    return f"An administrator can install {', '.join(packages)}: see below"


LOOKS = (_system, _programs, _own_protocols, _substrates, _resources)
