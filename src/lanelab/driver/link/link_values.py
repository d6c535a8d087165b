"""What the user wrote for a link, each value read."""

from collections.abc import Mapping
from typing import Any

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.setting import Table
from lanelab.driver.base.units import LONGEST

# Characters and number that a setting may have: the absurd is not repeated.
LONGEST_VALUE, LONGEST_TRACE, MOST = 200, 1_000_000, 10**LONGEST


class WrittenLink:
    """The settings of one link as the user wrote them, each value read. A setting for one side wins over one for both,
    and that over the default."""

    def __init__(self, mapping: Mapping[str, object], table: Table) -> None:
        self._table = table
        self.values: dict[str, object] = {}
        for name, value in mapping.items():
            setting = self._table.key(name).setting
            like = f"Write one like {setting.example}"
            if value is None:
                raise InputError("it has no value", f"{like}, or leave it out", key=name)
            long = setting.name.endswith("_trace") or setting.name == "distances"
            most = LONGEST_TRACE if long else LONGEST_VALUE
            too_long = len(value) > most if isinstance(value, str) else False
            if too_long or (isinstance(value, int) and abs(value) > MOST):
                raise InputError("its value is far too long", like, key=name)
            self.values[name] = setting.read(value, name)

    def key(self, name: str, side: str | None = None) -> str:
        """Return the key that decides: the one to name in an error."""
        specific = f"{name}_{side}"
        return specific if specific in self.values else name

    def value(self, name: str, side: str | None = None) -> Any:  # noqa: ANN401 - what it is depends on the setting
        setting, key = self._table.by_name[name], self.key(name, side)
        if key in self.values and not (setting.needs and not self.value(setting.needs, side)):
            return self.values[key]
        return setting.default_value()

    def check_needs(self) -> None:
        """A setting that could have no effect is a mistake."""
        for name, value in self.values.items():
            key = self._table[name]
            setting, sides = (
                key.setting,
                [key.side] if key.side else list(key.setting.sides.words if key.setting.sides else ()),
            )
            if not setting.needs or any(self.value(setting.needs, side) for side in sides):
                continue
            if not setting.default or value != setting.default_value():
                where = f" {key.side}" if key.side else ""
                what = f"it means nothing without a {setting.needs}{where}"
                raise InputError(what, f"Set {setting.needs} too, or leave {name} out", key=name)
