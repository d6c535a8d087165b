"""How a run keeps the way in which its beds were made: a type for its readers, without what makes beds."""

from collections.abc import Mapping
from typing import NotRequired, TypedDict


class KeptBed(TypedDict):
    """The way of making beds, in a run's folder. Options of substrates stand beside these keys, by their names."""

    router: str
    pinned: Mapping[str, str]
    substrate: NotRequired[str]
    accept_links: NotRequired[bool]
