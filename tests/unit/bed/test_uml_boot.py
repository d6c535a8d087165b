"""What the UML router's kernel is started with."""

import errno
import json
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from lanelab.driver.bed.remote import uml_boot

# A process traces its child, and says which errors it gets for the old registers, and for all of them, both ways.
TRACER = """
import ctypes, json, os, signal, struct
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
child = os.fork()
if child == 0:
    libc.ptrace(0, 0, None, None)
    os.kill(os.getpid(), signal.SIGSTOP)
os.waitpid(child, 0)
said = {}
registers = ctypes.create_string_buffer(65536)
for name, kind in (("old", 2), ("all", 0x202)):
    length = len(registers)
    for request in (0x4204, 0x4205):
        vector = ctypes.create_string_buffer(struct.pack("QQ", ctypes.addressof(registers), length))
        failed = libc.ptrace(request, child, kind, ctypes.addressof(vector))
        said[f"{name} {request:x}"] = ctypes.get_errno() if failed else 0
        length = struct.unpack("QQ", vector.raw[:16])[1]
os.kill(child, signal.SIGKILL)
print(json.dumps(said))
"""


def traced(*before: str) -> dict[str, int]:
    argv = [*before, sys.executable, "-c", TRACER]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="registers of x86-64")
def test_what_traces_sees_the_old_registers_only() -> None:
    assert set(traced().values()) == {0}
    said = traced(sys.executable, "-I", "-S", uml_boot.__file__, "--")
    assert said == {"old 4204": 0, "old 4205": 0, "all 4204": errno.EINVAL, "all 4205": errno.EINVAL}


@pytest.mark.parametrize(("flags", "large"), [("fpu avx512f amx_bf16 amx_tile amx_int8", True), ("fpu avx512f", False)])
def test_registers_that_the_kernel_has_no_room_for(
    flags: str, large: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "cpuinfo"
    info.write_text(f"model name : some\nflags : {flags}\n")
    monkeypatch.setattr(uml_boot, "CPU_INFO", info)
    (tmp_path / "router").mkdir()
    words = uml_boot.command("linux.uml", tmp_path, [], sys.executable)
    assert uml_boot.has_large_registers() is large
    assert any(word.startswith("GLIBC_TUNABLES=") for word in words) is large
    assert not any(" " in word for word in words)
