"""What an editor marks in an experiment file, by the schema that is shipped."""

import re
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import yaml

from lanelab.driver.experiment.schema import schema

VALIDATOR = jsonschema.Draft7Validator(schema())


class Editor(yaml.BaseLoader):
    """YAML 1.2, as editors read it: true, false, numbers and null, and nothing else."""


Editor.yaml_implicit_resolvers = {}
Editor.add_implicit_resolver("bool", re.compile(r"(true|false)\Z"), list("tf"))
Editor.add_implicit_resolver("int", re.compile(r"-?[0-9]+\Z"), list("-0123456789"))
Editor.add_implicit_resolver("float", re.compile(r"-?[0-9]*\.[0-9]+\Z"), list("-.0123456789"))
Editor.add_implicit_resolver("null", re.compile(r"(null|~|)\Z"), ["n", "~", ""])
Editor.add_constructor("bool", lambda _loader, node: node.value == "true")
Editor.add_constructor("int", lambda _loader, node: int(node.value))
Editor.add_constructor("float", lambda _loader, node: float(node.value))
Editor.add_constructor("null", lambda _loader, _node: None)


def complaints(text: str) -> list[str]:
    data: Any = yaml.load(text, Loader=Editor)  # noqa: S506 - makes nothing but plain values
    return [error.message for error in VALIDATOR.iter_errors(data)]
