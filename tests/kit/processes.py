"""What runs on this machine. Not `ps`: a bare system has none."""

import contextlib
from pathlib import Path


def command_lines() -> list[str]:
    """Every process's command, its words with a space between."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                found.append(
                    (entry / "cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ").decode(errors="replace")
                )
    return found
