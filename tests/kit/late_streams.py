"""The module of late_streams.c, for the `server_directives` of an arm."""

import subprocess
from pathlib import Path

from lanelab.driver.base.programs.building.apache_module import apxs_program, environment


def late_streams(folder: Path) -> str:
    """The directive that loads it, once it is built there."""
    flags = [word for word in _apache("CFLAGS").split() if word.startswith(("-D", "-pthread"))]
    headers = [f"-I{_apache(name)}" for name in ("INCLUDEDIR", "APR_INCLUDEDIR", "APU_INCLUDEDIR")]
    module, source = folder / "late_streams.so", Path(__file__).with_suffix(".c")
    subprocess.run(["cc", "-shared", "-fPIC", *flags, *headers, "-o", str(module), str(source)], check=True)
    return f"LoadModule late_streams_module {module}"


def _apache(name: str) -> str:
    asked = [str(apxs_program()), "-q", name]
    return subprocess.run(asked, capture_output=True, text=True, check=True, env=environment()).stdout.strip()
