"""What this machine can do for beds in its namespaces, for `lanelab doctor`."""

from collections.abc import Iterator
from pathlib import Path

from lanelab.driver.base.programs import needs
from lanelab.driver.base.programs.finding import Finding
from lanelab.driver.bed import capabilities
from lanelab.driver.bed.remote import uml_boot
from lanelab.driver.bed.substrate import Remedy

ENOUGH_INPUT_BYTES = 1 << 20

LOAD_NETEM = "The router can be this machine's own kernel: an administrator can try modprobe sch_netem"


def findings(remedy: Remedy) -> Iterator[Finding]:
    yield from _namespaces()
    yield from _routers(remedy)
    yield from _congestion_control()


def _namespaces() -> Iterator[Finding]:
    refusal = capabilities.namespaces()
    if refusal:
        yield Finding("gap", "namespaces", refusal.what, refusal.remedy)
    else:
        yield Finding("ok", "namespaces", "user, network, mount and process namespaces work without root")


def _routers(remedy: Remedy) -> Iterator[Finding]:
    no_uml, no_kernel = capabilities.uml_router(), capabilities.kernel_router()
    missing = needs.missing(needs.programs("uml"))
    uml_remedy = remedy(missing) if missing else ""
    if no_uml and no_kernel:
        yield Finding(
            "gap", "router", f"uml: {no_uml}; kernel: {no_kernel}", f"{uml_remedy}. {LOAD_NETEM}".lstrip(". ")
        )
        return
    yield Finding("note" if no_uml else "ok", "router uml", no_uml or "works", uml_remedy if no_uml else "")
    yield Finding("note" if no_kernel else "ok", "router kernel", no_kernel or "works")
    if not no_uml:
        if uml_boot.has_large_registers():
            what = "this processor has AMX, so on its node AVX does not work: lanelab tells libc, OpenSSL and Go"
            yield Finding("note", "router uml", what, "Mind programs of your own there: docs/design.md")
        yield _input_buffer()


def _input_buffer() -> Finding:
    """What arrives while the UML router is kept from its processor waits in a socket's buffer, or is lost."""
    most = int(Path("/proc/sys/net/core/rmem_max").read_text())
    size = f"buffers of {most // 1024} KiB"
    if most >= ENOUGH_INPUT_BYTES:
        return Finding("ok", "router input", size)
    what = f"{size}: above some 50 Mbit/s a busy machine may lose packets before the link"
    return Finding(
        "note", "router input", what, "Run: sudo sysctl -w net.core.rmem_max=4194304 (self-tests show losses)"
    )


def _congestion_control() -> Iterator[Finding]:
    available = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    default = Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip()
    text = f"{', '.join(available)} (this machine's default: {default}; a bed's: cubic)"
    if "cubic" in available:
        yield Finding("ok", "congestion control", text)
    else:
        yield Finding("note", "congestion control", text, "For links with cubic, run: sudo modprobe tcp_cubic")
