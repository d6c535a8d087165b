"""What a release consists of and is built of, as CycloneDX: packages of the locks, modules of Go, jars, and the sites
that are shipped, with their licences. The same commit makes the same text."""

import json
import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

from lanelab.driver.site.load import read_site_manifest, site_names
from tools.wheel.constraints import PIN, constraints

Component = dict[str, Any]
SPECIFICATION = "1.5"
LICENCE = "Apache-2.0"
UNSTATED = "not stated"
_HASH = re.compile(r"sha256:([0-9a-f]{64})")
_CLASSIFIER = "License :: OSI Approved :: "


def sbom(checkout: Path, version: str) -> str:
    """Return the document. Licences of Python packages are those that this environment's say of themselves."""
    components = [*_python(checkout), *_go(checkout), *_jars(checkout), *_sites(checkout)]
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
    for pin in PIN.finditer(constraints(checkout)):
        name, _, rest = pin[0].partition("==")
        version = rest.split()[0]
        yield {
            "type": "library", "name": name, "version": version, "purl": f"pkg:pypi/{name.lower()}@{version}",
            **_licence(_licence_of_package(name)),
            "hashes": [{"alg": "SHA-256", "content": digest} for digest in sorted(_HASH.findall(pin[0]))],
        }  # fmt: skip


def _licence_of_package(name: str) -> str:
    try:
        facts = metadata(name)
    except PackageNotFoundError:  # of another system, or only for notebooks
        return UNSTATED
    expression, text = (facts.get_all(key, [""])[0] for key in ("License-Expression", "License"))
    named = [line.removeprefix(_CLASSIFIER) for line in facts.get_all("Classifier", []) if line.startswith(_CLASSIFIER)]
    return expression or " or ".join(named) or (text if 0 < len(text) <= 60 else UNSTATED)


def _go(checkout: Path) -> Iterator[Component]:
    """Modules that a user's machine gets when it builds; go.sum has their hashes, in a form of Go's own."""
    files = (checkout / "native" / module / "go.sum" for module in ("gateway", "load"))
    for line in sorted({line for file in files for line in file.read_text().splitlines()}):
        name, version, digest = line.split()
        if not version.endswith("/go.mod"):
            yield {
                "type": "library", "name": name, "version": version, "purl": f"pkg:golang/{name}@{version}",
                "scope": "optional", "properties": [{"name": "go.sum", "value": digest}],
            }  # fmt: skip


def _jars(checkout: Path) -> Iterator[Component]:
    for file in sorted((checkout / "native" / "servlet").glob("*/jars.sha256")):
        for line in file.read_text().splitlines():
            digest, name = line.split()
            yield {
                "type": "library", "name": name, "group": file.parent.name, "scope": "optional",
                "hashes": [{"alg": "SHA-256", "content": digest}],
            }  # fmt: skip


def _sites(checkout: Path) -> Iterator[Component]:
    archive = checkout / "sites-archive"
    for name in site_names(archive):
        manifest = read_site_manifest(name, archive)
        yield {
            "type": "data", "name": f"sites-archive/{name}", "description": manifest.source,
            **_licence(manifest.licence or UNSTATED),
        }  # fmt: skip


def _licence(name: str) -> Component:
    return {"licenses": [{"license": {"name": name}}]}
