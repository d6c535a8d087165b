"""Values as editors read them: YAML 1.2, which has true, false, numbers and null, and nothing else."""

import re
from typing import Any

import yaml

from lanelab.driver.base.coded import Json


class _Editor(yaml.BaseLoader):
    """Makes plain values of YAML 1.2."""


_Editor.yaml_implicit_resolvers = {}
_Editor.add_implicit_resolver("bool", re.compile(r"(true|false)\Z"), list("tf"))
_Editor.add_implicit_resolver("int", re.compile(r"-?[0-9]+\Z"), list("-0123456789"))
_Editor.add_implicit_resolver("float", re.compile(r"-?[0-9]*\.[0-9]+\Z"), list("-.0123456789"))
_Editor.add_implicit_resolver("null", re.compile(r"(null|~|)\Z"), ["n", "~", ""])
_Editor.add_constructor("bool", lambda _loader, node: node.value == "true")
_Editor.add_constructor("int", lambda _loader, node: int(node.value))
_Editor.add_constructor("float", lambda _loader, node: float(node.value))
_Editor.add_constructor("null", lambda _loader, _node: None)


def as_editors_read(text: str) -> Json:
    value: Any = yaml.load(text, Loader=_Editor)  # noqa: S506 - makes nothing but plain values
    return value  # type: ignore[no-any-return]
