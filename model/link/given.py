"""What the user wrote, each value read."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from model.errors import InputError
from model.link.fields import ALSO_CALLED, FIELD, FIELDS, SETTINGS, SIDES, Side
from model.units import LONGEST

LONGEST_VALUE, MOST = 200, 10**LONGEST  # characters and number that a setting may have: the absurd is not repeated


class Given:
    """What the user wrote, each value read: finds the setting for a side, else the one for both, else the default."""

    def __init__(self, mapping: Mapping[str, object]) -> None:
        self.values: dict[str, Any] = {}
        for key, value in mapping.items():
            setting = SETTINGS.get(key)
            if setting is None:
                raise _unknown_setting(key if key.isprintable() else repr(key))
            like = f"Write one like {setting.field.example}"
            if value is None:
                raise InputError("it has no value", f"{like}, or leave it out", key=key)
            if (isinstance(value, str) and len(value) > LONGEST_VALUE) or (
                isinstance(value, int) and abs(value) > MOST
            ):
                raise InputError("its value is far too long", like, key=key)
            self.values[key] = setting.field.read(value, key)

    def key(self, name: str, side: Side | None = None) -> str:
        """The key that decides: the one to name in an error."""
        specific = f"{name}_{side}"
        return specific if specific in self.values else name

    def value(self, name: str, side: Side | None = None) -> Any:  # noqa: ANN401 - what it is depends on the field
        field, key = FIELD[name], self.key(name, side)
        if key in self.values and not (field.needs and not self.value(field.needs, side)):
            return self.values[key]
        return field.read(field.default, name) if field.default else None

    def check_needs(self) -> None:
        """A setting that could have no effect is a mistake."""
        for key, value in self.values.items():
            setting, field = SETTINGS[key], SETTINGS[key].field
            sides: tuple[Side, ...] = (setting.side,) if setting.side else SIDES[field.per]
            if not field.needs or any(self.value(field.needs, side) for side in sides):
                continue
            if not field.default or value != field.read(field.default, key):
                where = f" {setting.side}" if setting.side else ""
                what = f"it means nothing without a {field.needs}{where}"
                raise InputError(what, f"Set {field.needs} too, or leave {key} out", key=key)


def _unknown_setting(key: str) -> InputError:
    name = key.lower().replace("-", "_")
    near = ALSO_CALLED.get(name) or next(iter(difflib.get_close_matches(name, SETTINGS, n=1)), "")
    names = (field.settings[0].key if field.general else f"{field.name}_down, {field.name}_up" for field in FIELDS)
    remedy = f"Did you mean {near}?" if near else f"Settings are {', '.join(names)}"
    return InputError("there is no such setting", remedy, key=key)
