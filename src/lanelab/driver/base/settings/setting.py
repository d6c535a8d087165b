"""One class for everything that a user may set: of links, arms, experiments, sites, servers, browsers and recorders.

A `Setting` is a row, and a `Table` is the rows that may stand together. Strict reading, the Markdown of the reference,
the JSON schema and the options of the command line derive from a table. To add a setting is to add a row.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

from lanelab.driver.base.coded import JsonObject
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import Kind, near_miss

if TYPE_CHECKING:  # links are read from runs without YAML
    from lanelab.driver.base.settings.source import Written

Values: TypeAlias = dict[str, Any]  # by name: each setting's, of the type that its kind reads


@dataclass(frozen=True, slots=True)
class Sides:
    """The sides of a setting that may differ from one to the other: directions of a link, or its two hosts."""

    words: Mapping[str, str]  # of each side, for the help of `name_side`
    both: str  # for the help of the plain name


@dataclass(frozen=True, slots=True)
class DefaultBy:
    """A default that depends on the value of another setting."""

    setting: str
    values: Mapping[str, str]

    def __str__(self) -> str:
        usual = next(iter(self.values.values()))
        others = (f"{value}: `{default}`" for value, default in self.values.items() if default != usual)
        return "; ".join([f"`{usual}`", ", ".join(others)])


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that can be set."""

    name: str
    kind: Kind | None  # None: it has parts, and code of its own reads them
    default: str | DefaultBy  # as a user would write it; "" where there is none, or where it is worked out
    help: str
    example: str
    written: str = ""  # of the reference, where `kind` does not say it
    default_words: str = ""  # of the reference, where `default` does not say it
    meaningless_with: tuple[tuple[str, object], ...] = ()  # (setting, value): beside that value, this one does nothing
    needs: str = ""  # the setting without which this one does nothing
    aliases: tuple[str, ...] = ()  # names that people try instead
    sides: Sides | None = None
    both_sides: bool = True  # whether the plain name exists, and sets both sides
    required: bool = False

    def read(self, value: object, key: str = "") -> Any:  # noqa: ANN401 - what it is depends on the kind
        if self.kind is None:
            raise TypeError(f"{self.name} is not a single value")
        return self.kind.parse(value, key or self.name)

    def default_value(self, chosen: Values | None = None) -> Any:  # noqa: ANN401
        """The default, read; `chosen` are the values on which it may depend."""
        default = self.default
        if isinstance(default, DefaultBy):
            default = default.values[str((chosen or {}).get(default.setting, next(iter(default.values))))]
        if not default:
            return () if self.metavar in ("LIST", "MAPPING") else None
        return self.read(default)

    @property
    def metavar(self) -> str:
        return self.kind.metavar if self.kind else ""

    @property
    def schema(self) -> JsonObject:
        return self.kind.schema if self.kind else {}

    @property
    def numeric(self) -> bool:
        """Return whether values lie on an axis."""
        return self.kind is not None and self.kind.numeric

    @property
    def keys(self) -> "tuple[Key, ...]":
        """Return what a user may write for it."""
        sides = tuple(Key(f"{self.name}_{side}", self, side) for side in (self.sides.words if self.sides else ()))
        return (Key(self.name, self), *sides) if self.both_sides else sides

    @property
    def default_text(self) -> str:
        """The default in words, as Markdown."""
        if self.default_words or not self.default:
            return self.default_words or "must be given"
        return str(self.default) if isinstance(self.default, DefaultBy) else f"`{self.default}`"


ROW = "row"  # key of a field's metadata


def rows_of(kind: type) -> tuple[Setting, ...]:
    """Return the settings that a dataclass declares with its fields: `field(metadata={ROW: Setting(…)})`."""
    return tuple(each.metadata[ROW] for each in fields(kind) if ROW in each.metadata)


def option_of(name: str) -> str:
    return "--" + name.replace("_", "-")


@dataclass(frozen=True, slots=True)
class Key:
    """One name that a user may write: a setting, or one side of it."""

    name: str
    setting: Setting
    side: str | None = None

    @property
    def help(self) -> str:
        sides = self.setting.sides
        if sides is None:
            return self.setting.help
        return self.setting.help + (sides.words[self.side] if self.side else sides.both)

    @property
    def option(self) -> str:
        """The option of the command line."""
        return option_of(self.name)

    @property
    def option_help(self) -> str:
        return f"{self.help}, like {self.setting.example} (default: {self.setting.default_text.replace('`', '')})"

    @property
    def description(self) -> str:
        """Return the help and the default, for editors."""
        default = self.setting.default or self.setting.default_words
        return f"{self.help} (default: {self.setting.default_text})".replace("`", "") if default else self.help


class Table(Mapping[str, Key]):
    """The settings that may stand together: a mapping from what a user may write, in the order of the reference."""

    def __init__(
        self,
        settings: Iterable[Setting],
        *,
        noun: str = "key",
        all_are: str = "Keys here are",
        of: str = "",
        elsewhere: Mapping[str, tuple[str, str]] | None = None,
    ) -> None:
        """Keep the settings. `noun` and `of` name what is unknown: "there is no such setting of an arm". `elsewhere`:
        error and remedy for names that belong to another table."""
        self.settings = tuple(settings)
        self.by_name = {setting.name: setting for setting in self.settings}
        self._keys = {key.name: key for setting in self.settings for key in setting.keys}
        self._noun, self._of, self._all_are, self._elsewhere = noun, of, all_are, dict(elsewhere or {})
        self._aliases = {
            alias + key.name.removeprefix(setting.name): key.name
            for setting in self.settings
            for alias in setting.aliases
            for key in setting.keys
        }

    def __getitem__(self, name: str) -> Key:
        return self._keys[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def key(self, name: str) -> Key:
        """The key of that name; an unknown one is the user's mistake."""
        if name in self._keys:
            return self._keys[name]
        shown = name if name.isprintable() else repr(name)
        raise InputError(*self._unknown(name), key=shown)

    def _unknown(self, name: str) -> tuple[str, str]:
        """Return what is wrong with a name that is not in the table, and the remedy."""
        if name in self._elsewhere:
            return self._elsewhere[name]
        plain = name.lower().replace("-", "_")
        near = f"Did you mean {self._aliases[plain]}?" if plain in self._aliases else near_miss(plain, self).strip()
        usual = (
            key.name for setting in self.settings for key in setting.keys if not key.side or not setting.both_sides
        )
        return f"there is no such {self._noun}{self._of}", near or f"{self._all_are} {', '.join(usual)}"

    def read(self, name: str, value: object) -> Any:  # noqa: ANN401 - what it is depends on the kind
        """Return one value, by the name that the user wrote."""
        return self.key(name).setting.read(value, name)

    def entries(self, written: "Written") -> "dict[str, Written]":
        """Return the entries of a mapping in a file: known keys, each once, and every required one."""
        entries = written.entries(expected=list(self))
        for name, entry in entries.items():
            if name not in self:
                raise entry.error(*self._unknown(name))
        for setting in self.settings:
            if setting.required and setting.name not in entries:
                remedy = f"Write one like {setting.name}: {setting.example}"
                raise written.error(f"{setting.name} is missing", remedy)
        return entries

    def values_of(self, entries: "Mapping[str, Written]") -> Values:
        """Return the single values of a mapping in a file, else their defaults. Errors name file, line and key."""
        read: Values = {}
        for setting in self.settings:
            entry = entries.get(setting.name)
            if setting.kind is None:
                continue
            if entry is None:
                read[setting.name] = setting.default_value(read)
            else:
                with entry.placed({}):
                    read[setting.name] = setting.kind.parse(entry.text(), "")
        return read

    def _beside(self, setting: Setting) -> Iterator[str]:
        """Say beside which values of others a setting does nothing, or beside which alone it does something."""
        for name, pairs in groupby(setting.meaningless_with, key=lambda pair: pair[0]):
            idle = [str(value).lower() for _, value in pairs]
            others = self.by_name[name].schema.get("enum") if name in self.by_name else None
            useful = [str(value) for value in others if value not in idle] if isinstance(others, list) else []
            words = ("only", useful) if 0 < len(useful) < len(idle) else ("not", idle)
            yield f"{words[0]} with `{name}: {words[1][0]}`" + "".join(f", `{value}`" for value in words[1][1:])

    def markdown(self) -> str:
        """Return the table of the reference."""
        rows = [f"| {self._noun} | written as | default | meaning | example |", "| --- | --- | --- | --- | --- |"]
        for setting in self.settings:
            keys = ", ".join(f"`{key.name}`" for key in setting.keys)
            written = setting.written or (setting.kind.written if setting.kind else "")
            needs = f"; needs `{setting.needs}`" if setting.needs else ""
            meaning = "; ".join([setting.help + needs, *self._beside(setting)])
            chosen = setting.schema.get("enum") or setting.schema.get("type") == "boolean"  # `written` has them all
            example = "" if chosen else f"`{setting.keys[0].name}: {setting.example}`"
            rows.append(f"| {keys} | {written} | {setting.default_text} | {meaning} | {example} |")
        return "\n".join(rows)
