"""Wheels of the gateway's programs, one for each processor. The name of each program's folder says of which sources
and by which Go it was built: driver/base/programs/building/gateway.py takes no other."""

import base64
import hashlib
import subprocess
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from lanelab.driver.base.errors import BuildError
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.base.programs.building.gateway import GO_VERSION, PACKAGE, PROGRAM, key_from
from lanelab.driver.base.programs.building.go import GATEWAY, Go, toolchain
from lanelab.driver.base.programs.system_package import ARCHITECTURES  # Go has the names that Debian has
from lanelab.driver.base.version import VERSION

PROGRAMS = (PROGRAM, "spdy-load", "lanelab-fetcher")
# Go as a Python package leaves its licence out; its authors' modules have the same text.
SAME_TEXT = "src/cmd/vendor/golang.org/x/sys/LICENSE"
LINKED = "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}"
LICENCES = ("LICENSE", "LICENSE.md")  # what modules call theirs
FILE, EXECUTABLE = 0o100644, 0o100755
BEGINNING = (1980, 1, 1, 0, 0, 0)  # the same programs make the same wheel
METADATA = """\
Metadata-Version: 2.1
Name: lanelab-gateway
Version: {version}
Summary: The programs of lanelab's gateway, built
License: Apache-2.0 AND BSD-3-Clause AND MIT
"""
WHEEL = "Wheel-Version: 1.0\nGenerator: lanelab\nRoot-Is-Purelib: false\n{tags}"


def gateway_wheels(out: Path, machines: Iterable[str] = ARCHITECTURES) -> Iterator[Path]:
    """Build one for each processor. The programs are static: any C library will do. Raises BuildError."""
    out.mkdir(parents=True, exist_ok=True)
    go = toolchain()
    version = f"{VERSION}+{key_from(PROGRAM, go.version)}"
    licences = licence_texts(go)
    for machine in machines:
        files = {f"{PACKAGE}/{GO_VERSION}": go.version.encode(), **licences}
        programs = {
            f"{PACKAGE}/{key_from(name, go.version)}/{name}": _built(name, go, ARCHITECTURES[machine])
            for name in PROGRAMS
        }
        yield write_wheel(out, version, machine, files, programs)


def _built(name: str, go: Go, processor: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="lanelab-gateway-") as folder:
        file = Path(folder) / name
        argv = [str(go.program), "build", "-ldflags=-s -w", "-o", str(file), f"./cmd/{name}"]
        _run(argv, {**go.environment(), "GOOS": "linux", "GOARCH": processor})
        return file.read_bytes()


def licence_texts(go: Go) -> dict[str, bytes]:
    """Return the texts: lanelab's, that of Go's own library, and those of the modules that are linked in."""
    root = Path(_run([str(go.program), "env", "GOROOT"], go.environment()).strip())
    of_go = root / "LICENSE"
    files = {"lanelab": PROJECT / "LICENSE", "go": of_go if of_go.is_file() else root / SAME_TEXT}
    programs = [f"./cmd/{name}" for name in PROGRAMS]
    for line in _run([str(go.program), "list", "-deps", "-f", LINKED, *programs], go.environment()).split("\n"):
        module, _, place = line.partition("\t")
        if module and not place:
            raise BuildError(f"Go says no folder of {module}, so its licence is not known", "Look at: go list -deps")
        if module:
            files[module.replace("/", "-")] = _licence_in(Path(place), module)
    return {f"{PACKAGE}/licences/{name}": file.read_bytes() for name, file in files.items()}


def _licence_in(folder: Path, module: str) -> Path:
    for name in LICENCES:
        if (folder / name).is_file():
            return folder / name
    raise BuildError(f"the module {module} has no file {' or '.join(LICENCES)}", "Name the one that has its licence")


def _run(argv: list[str], environment: Mapping[str, str]) -> str:
    done = subprocess.run(argv, cwd=GATEWAY, env=dict(environment), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"{' '.join(argv[1:3])} failed", "What it says is above", output=done.stderr[-2000:])
    return done.stdout


def write_wheel(
    out: Path, version: str, machine: str, files: Mapping[str, bytes], programs: Mapping[str, bytes]
) -> Path:
    """Return the wheel with these files, and these programs, which can be run."""
    platforms = (f"manylinux2014_{machine}", f"musllinux_1_1_{machine}")
    about = f"{PACKAGE}-{version}.dist-info"
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in platforms)
    described = {
        f"{about}/METADATA": METADATA.format(version=version).encode(),
        f"{about}/WHEEL": WHEEL.format(tags=tags).encode(),
    }
    whole = {**files, **programs, **described}
    record = "".join(f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in whole.items())
    wheel = out / f"{PACKAGE}-{version}-py3-none-{'.'.join(platforms)}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as opened:
        for name, data in {**whole, f"{about}/RECORD": f"{record}{about}/RECORD,,\n".encode()}.items():
            entry = zipfile.ZipInfo(name, BEGINNING)
            entry.external_attr = (EXECUTABLE if name in programs else FILE) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            opened.writestr(entry, data)
    return wheel


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
