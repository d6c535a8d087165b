"""JSON Schema, draft 2020-12, of the types that JSON is written from: dataclasses, events, TypedDicts. Pure.

A dataclass has its fields, as `Coded` and `data_of` write them; one with a `to_json` of its own has what that returns,
which is a TypedDict then. Objects may have more keys than are listed: later versions add some.
"""

import dataclasses
import inspect
import types
import typing
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from lanelab.analysis.results.export import ExportedTrial
from lanelab.analysis.statistics import Change, Estimate, Summary
from lanelab.driver.base.coded import Coded, Json
from lanelab.driver.record.metrics import PRIMARY
from lanelab.driver.record.record import EVIDENCE, RECORDINGS
from lanelab.driver.run.events import EVENTS, Event, TrialStored
from lanelab.driver.site.composition import Part as SitePart

Schema = dict[str, Any]
PLAIN: Mapping[object, str] = {str: "string", int: "integer", bool: "boolean", types.NoneType: "null"}
NUMBER: Schema = {"type": "number"}
NUMBER_OR_NONE: Schema = {"type": ["number", "null"]}  # an end that time-outs leave open is null


NAMES: Mapping[object, str] = {SitePart: "SitePart"}  # where another type has the same


class Types:
    """The schemas of types, with a definition for each that has a name."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}
        self._kinds: dict[str, object] = {}

    def of(self, hint: Any, *, finite: bool = False) -> Schema:  # noqa: ANN401, C901, PLR0911 - a line for each kind
        """Return the schema of values of this type. `finite`: whether each float is a number in JSON, too."""
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if hint in (Any, object, Json) or isinstance(hint, typing.ForwardRef):
            return {}
        if hint in PLAIN:
            return {"type": PLAIN[hint]}
        if hint is float:
            return NUMBER if finite else NUMBER_OR_NONE
        if hint is Coded:  # a class that is known by what else the record says: its workload
            return {"anyOf": [self.of(each) for each in EVIDENCE.values()]}
        if hint is Path:
            return {"type": "string"}
        if origin in (types.UnionType, typing.Union):
            return _any_of([self.of(each, finite=finite) for each in arguments])
        if isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields"):
            return self._row(list(_hints(hint).values()), finite=finite)
        if origin is typing.Literal:
            return {"enum": list(arguments)}
        if origin is tuple and arguments[1:] != (Ellipsis,):
            return self._row(arguments, finite=finite)
        if origin is not None and issubclass(origin, Sequence):
            return {"type": "array", "items": self.of(arguments[0], finite=finite)}
        if origin is not None and issubclass(origin, Mapping) and arguments[1] is Coded:
            return _object({name: self.of(each) for name, each in RECORDINGS.items()}, frozenset())
        if origin is not None and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.of(arguments[1], finite=finite)}
        return self._named(hint)

    def _row(self, hints: Sequence[Any], *, finite: bool) -> Schema:
        row = [self.of(each, finite=finite) for each in hints]
        return {"type": "array", "prefixItems": row, "minItems": len(row), "maxItems": len(row)}

    def _named(self, kind: Any) -> Schema:  # noqa: ANN401
        """Return a reference to a type that has a definition."""
        name = NAMES.get(kind, kind.__name__)
        if self._kinds.setdefault(name, kind) is not kind:
            raise TypeError(f"two types are called {name}: {kind} and {self._kinds[name]}")
        if name not in self.definitions:
            self.definitions[name] = {}  # a type may have itself within
            self.definitions[name] = {**_about(kind), **self._defined(kind)}
        return {"$ref": f"#/$defs/{name}"}

    def _defined(self, kind: Any) -> Schema:  # noqa: ANN401, PLR0911
        if kind is Event:
            return {"oneOf": [self.of(each) for each in by_kind(EVENTS)]}
        if issubclass(kind, StrEnum):
            return {"enum": [each.value for each in kind]}
        if typing.is_typeddict(kind):
            hints = _hints(kind)
            whole = _object({key: self.of(hint) for key, hint in hints.items()}, kind.__required_keys__)
            return {**whole, "additionalProperties": NUMBER_OR_NONE} if kind is ExportedTrial else whole
        if not hasattr(kind, "__dataclass_fields__"):
            raise TypeError(f"{kind} has no form in JSON: name a dataclass or a TypedDict")
        if issubclass(kind, Event):
            return self._of_event(kind)
        if issubclass(kind, Change | Estimate):
            fields = self._fields(kind)
            return _object({**{key: fields[key] for key in fields if key != "looks"}, "meaning": {"type": "string"}})
        if issubclass(kind, Summary):
            return self._summary()
        writer = getattr(kind, "to_json", None)
        if writer and writer is not Coded.to_json:
            more = {"additionalProperties": self.of(kind.MORE)} if hasattr(kind, "MORE") else {}
            return {**self._resolved(self.of(_returned(writer))), **more}
        return _object(self._fields(kind)) if issubclass(kind, Coded) else self._keys(kind)

    def _of_event(self, kind: type[Event]) -> Schema:
        fields = {"event": {"const": kind.kind}, **self._fields(kind)}
        if not issubclass(kind, TrialStored):
            return _object(fields)
        del fields["value"]  # it has the name of the metric
        metrics = list(dict.fromkeys(PRIMARY.values()))
        whole = _object({**fields, "status": {"enum": ["ok", "failed"]}})
        whole["properties"] |= dict.fromkeys(metrics, NUMBER_OR_NONE)
        return {**whole, "oneOf": [{"required": [name]} for name in metrics]}

    def _fields(self, kind: Any) -> dict[str, Schema]:  # noqa: ANN401
        hints = _hints(kind)
        finite = issubclass(kind, Coded)
        return {one.name: self.of(hints[one.name], finite=finite) for one in dataclasses.fields(kind)}

    def _keys(self, kind: Any) -> Schema:  # noqa: ANN401
        """Return what `data_of` makes of a dataclass."""
        hints, keys, is_open = _hints(kind), dict[str, Schema](), False
        for one in dataclasses.fields(kind):
            of = one.metadata.get("of")
            schema = self.of(_returned(of) if of else hints[one.name])
            if "spread" in one.metadata:
                below = self._resolved(schema)
                keys |= below.get("properties", {})
                is_open |= "properties" not in below  # a mapping, whose keys are known when it is written
            elif name := one.metadata.get("key", one.name):
                keys[name] = schema
        for name in getattr(kind, "ALSO", ()):
            content = getattr(kind, name)
            keys[name] = self.of(_returned(content.fget if isinstance(content, property) else content))
        return {**_object(keys), **({"additionalProperties": {}} if is_open else {})}

    def _resolved(self, schema: Schema) -> Schema:
        """Return the object that a reference leads to, without what it says of itself."""
        name = schema["$ref"].rpartition("/")[2] if "$ref" in schema else ""
        whole = self.definitions[name] if name else schema
        return {key: value for key, value in whole.items() if key != "description"}

    def _summary(self) -> Schema:
        estimate = self._resolved(self.of(Estimate))["properties"]
        names = ("quartile_1", "quartile_3", "min", "max", "mean", "stdev", "stdev_percent")
        return _object({**estimate, **dict.fromkeys(names, NUMBER_OR_NONE)})


def _hints(of: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the types of a class or a function. `Json` is written as text, of names that not every module has."""
    return typing.get_type_hints(of, localns={"Sequence": Sequence, "Mapping": Mapping, "Json": object})


def by_kind(events: Sequence[type[Event]]) -> list[type[Event]]:
    """Return a class for each kind: trials that ran and trials that were refused are written alike."""
    kinds = {each.kind: TrialStored if issubclass(each, TrialStored) else each for each in events}
    return list(kinds.values())


def _about(kind: Any) -> Schema:  # noqa: ANN401
    """Return what a type says of itself. A dataclass without words says its own signature."""
    text = kind.__doc__ or ""
    return {} if not text or text.startswith(f"{kind.__name__}(") else {"description": " ".join(text.split())}


def _object(properties: Mapping[str, Schema], required: frozenset[str] | None = None) -> Schema:
    needed = [key for key in properties if required is None or key in required]
    return {"type": "object", "required": needed, "properties": dict(properties)}


def _any_of(schemas: Sequence[Schema]) -> Schema:
    """Return one of several: of plain types by their names."""
    each = list({str(schema): schema for schema in schemas}.values())
    if all(schema.keys() == {"type"} for schema in each):
        names = [
            name
            for schema in each
            for name in (schema["type"] if isinstance(schema["type"], list) else [schema["type"]])
        ]
        return {"type": list(dict.fromkeys(names))}
    return {"anyOf": each}


def _returned(function: Any) -> Any:  # noqa: ANN401
    hints = _hints(inspect.unwrap(function))
    if "return" not in hints:
        raise TypeError(f"{function} in {inspect.getsourcefile(function)} does not say what it returns")
    return hints["return"]
