"""What is written where: a YAML file as a tree in which every value still has its text, its line and its path.

YAML itself would make `off` a boolean, `1:30` a number of seconds and `1.2` a float, and would let a key be written
twice. So the file is only taken apart here, and each value is read by the kind of its setting, as on the command line.
"""

import contextlib
import functools
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import yaml

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import near_miss

LARGEST_FILE = 1_000_000
MOST_VALUES = 50_000  # aliases may repeat values: a short file can mean a huge one
_TAGS = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "seq", "map")}
_NOTHING = ("", "~", "null", "Null", "NULL")
_NOWHERE = yaml.Mark("", 0, 0, 0, "", 0)


class PlacedError(InputError):
    """One that names its line already."""


@dataclass(frozen=True, slots=True)
class Written:
    """One value of the file. `line` is that of its key, where it has one."""

    source: str
    path: str
    line: int
    node: yaml.Node

    def error(self, what: str, remedy: str = "", *, place: str = "") -> InputError:
        """Return an error that names the place of this value, or another `place` that it names."""
        here = f"{self.source}:{self.line}"
        return PlacedError(what, remedy, key=f"{here}: {self.path}" if self.path else here, place=place)

    @property
    def absent(self) -> bool:
        """Return whether the key stands there with no value."""
        node = self.node
        return isinstance(node, yaml.ScalarNode) and node.style is None and node.value in _NOTHING

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.node, yaml.MappingNode)

    @property
    def is_list(self) -> bool:
        return isinstance(self.node, yaml.SequenceNode)

    def text(self) -> str:
        """Return a single value, as it was typed."""
        if not isinstance(self.node, yaml.ScalarNode):
            shape = "a list" if self.is_list else "a mapping"
            raise self.error(f"there is {shape} where one value is needed", "Write one value")
        if self.absent:
            raise self.error("it has no value", "Write one, or leave the key out")
        return str(self.node.value)

    def elements(self) -> "list[Written]":
        """Those of a list; a value alone is a list of one."""
        if not isinstance(self.node, yaml.SequenceNode):
            if self.absent:
                raise self.error("it has no value", "Write one, or leave the key out")
            return [self]
        if not self.node.value:
            raise self.error("the list is empty", "Write at least one value, or leave the key out")
        return [
            Written(self.source, f"{self.path}[{number}]", _line(node), node)
            for number, node in enumerate(self.node.value)
        ]

    def texts(self) -> list[str]:
        return [element.text() for element in self.elements()]

    def plain(self) -> Any:  # noqa: ANN401 - as JSON has it
        """The value as JSON would have it, for what another part reads: numbers and booleans where they look so."""
        if isinstance(self.node, yaml.MappingNode):
            return {key: entry.plain() for key, entry in self.entries().items()}
        if isinstance(self.node, yaml.SequenceNode):
            return [Written(self.source, self.path, _line(node), node).plain() for node in self.node.value]
        if not isinstance(self.node, yaml.ScalarNode) or self.node.style is not None:
            return str(self.node.value)
        with contextlib.suppress(ValueError):
            return json.loads(self.node.value)
        return None if self.absent else str(self.node.value)

    def entries(self, expected: Collection[str] = ()) -> "dict[str, Written]":
        """Return the entries of a mapping, each key once. `expected` names the usual keys, for the error; a `Table` of
        settings refuses others."""
        if not isinstance(self.node, yaml.MappingNode):
            keys = f" with {', '.join(expected)}" if expected else ""
            raise self.error("this must be a mapping", f"Write lines of 'key: value' below it{keys}")
        entries: dict[str, Written] = {}
        for key_node, node in self.node.value:
            key = self._key(key_node)
            entry = Written(self.source, f"{self.path}.{key}" if self.path else key, _line(key_node), node)
            if key in entries:
                raise entry.error(f"it is written twice, here and on line {entries[key].line}", "Remove one of them")
            if key == "<<":
                raise entry.error("merge keys are not supported", "Write what arms share under 'defaults'")
            entries[key] = entry
        return entries

    def _key(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode) or not node.value or not node.value.isprintable():
            where = Written(self.source, self.path, _line(node), node)
            raise where.error("a key must be one printable word", "Write lines of 'key: value'")
        return str(node.value)

    @contextlib.contextmanager
    def placed(self, entries: "Mapping[str, Written]") -> Iterator[None]:
        """Put the line of a setting into errors that name it; others get the line of this value."""
        try:
            yield
        except PlacedError:
            raise
        except InputError as error:
            raise entries.get(error.key, self).error(error.what, error.remedy, place=error.place) from None


def scalar(text: str) -> yaml.ScalarNode:
    """Return the node of a value that stands in no file."""
    return yaml.ScalarNode("tag:yaml.org,2002:str", text, _NOWHERE, _NOWHERE)


def error_at_its_line(error: InputError, text: str, source: str) -> InputError:
    """Return the error with the line of this file on which its key is written: there, among the defaults, or for all;
    else with the line of what it is below. As it is where the file has nothing of it. `text`: of a file that was read
    before."""
    whole = read_yaml(text, source, "")
    first, _, below = error.key.partition(".")
    last = error.key.rpartition(".")[2]
    ways = (error.key, f"defaults.{last}", last, first) if below and _at(whole, first) else (error.key,)
    places = [places[0] for way in ways if way and len(places := _at(whole, way)) == 1]
    if not places:
        return error
    return replace(places[0], path=error.key).error(error.what, error.remedy, place=error.place)


def _at(written: Written, key: str) -> list[Written]:
    """Return what is written at a key, whose names may have dots; in a list, in each element."""
    if not key:
        return [written]
    if isinstance(written.node, yaml.SequenceNode):
        return [place for each in (written.elements() if written.node.value else ()) for place in _at(each, key)]
    entries = written.entries() if written.is_mapping else {}
    ways = ((entry, key[len(name) + 1 :]) for name, entry in entries.items() if f"{key}.".startswith(f"{name}."))
    return [place for entry, rest in ways for place in _at(entry, rest)]


def read_known(written: Written, known: Collection[str], what: str) -> list[str]:
    """Return a name or a list of names, each of them known and there once."""
    names: list[str] = []
    for element in written.elements():
        name = element.text().strip()
        if name not in known:
            choices = f"There are {', '.join(known)}" if known else f"There is no {what} at all"
            raise element.error(f"there is no {what} {name!r}", near_miss(name, known) + choices)
        if name in names:
            raise element.error(f"the {what} {name!r} is there twice", "Remove one of them")
        names.append(name)
    return names


def read_yaml(text: str, source: str, example: str, *, scale: int = 1) -> Written:
    """Return the whole file, checked for what would surprise later: tags, loops, aliases that make it huge. `example`:
    where a right file can be seen, for errors. `scale`: by how much the file may be larger than an experiment."""
    largest, most_values = LARGEST_FILE * scale, MOST_VALUES * scale
    if len(text) > largest:
        raise InputError(f"the file is longer than {largest} characters", example, key=source)
    try:
        node = _composed(text)
    except yaml.MarkedYAMLError as error:
        raise _syntax(error, source, example) from None
    except yaml.YAMLError as error:
        what = "the file has a character that YAML does not allow"
        raise InputError(what, "Save it as UTF-8 text", key=source) from error
    except RecursionError:
        raise InputError("the file is nested too deeply", "Write fewer levels", key=source) from None
    if node is None:
        raise InputError("the file is empty", example, key=source)
    root = Written(source, "", _line(node), node)
    _check(root, most_values)
    return root


@functools.lru_cache(maxsize=4)
def _composed(text: str) -> yaml.Node | None:
    """Return the nodes of a text. A file is read once for each of its variants, and nobody changes nodes."""
    return yaml.compose(text, Loader=yaml.BaseLoader)


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


_HINTS = {
    "cannot start any token": "Indent with spaces, not tabs, and quote values that begin with % @ or `",
    "mapping values are not allowed here": "Is a key indented too far, or does a value with ': ' in it need quotes?",
    "expected <block end>": "Are the keys of one mapping indented alike?",
    "could not find expected ':'": "Is a colon missing after a key?",
    "undefined alias": "Define it with &name before it is used, or quote a value that begins with *",
    "expected a single document": "Remove the line ---: a file is one document",
}


def _syntax(error: yaml.MarkedYAMLError, source: str, example: str) -> InputError:
    mark = error.problem_mark or error.context_mark
    place = f"{source}:{mark.line + 1}" if mark else source
    problem = " ".join((error.problem or error.context or "it cannot be read").split())
    words = f"{error.context or ''} {problem}"
    hint = next((hint for part, hint in _HINTS.items() if part in words), example)
    return InputError(f"this is not YAML: {problem}", hint, key=place)


def _check(root: Written, most_values: int) -> None:
    seen = 0

    def walk(node: yaml.Node, above: tuple[int, ...]) -> None:
        nonlocal seen
        seen += 1
        where = Written(root.source, "", _line(node), node)
        if id(node) in above:
            raise where.error("this alias contains itself", "Write its value out")
        if seen > most_values:
            raise where.error(f"with its aliases the file has more than {most_values} values", "Write less")
        if node.tag not in _TAGS:
            raise where.error(f"the tag {node.tag} is not supported", "Write the value without a tag")
        if isinstance(node, yaml.MappingNode):
            below = [part for entry in node.value for part in entry]
        else:
            below = node.value if isinstance(node, yaml.SequenceNode) else []
        for part in below:
            walk(part, (*above, id(node)))

    try:
        walk(root.node, ())
    except RecursionError:
        raise root.error("the file is nested too deeply", "Write fewer levels") from None
