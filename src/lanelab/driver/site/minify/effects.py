"""What minify did, and what it gives."""

from dataclasses import dataclass

from lanelab.driver.base.coded import Coded
from lanelab.driver.site.site import StoredObject


@dataclass(frozen=True, slots=True)
class Effect(Coded):
    """One thing that one filter did. The sizes are of the body or the text that it did it to."""

    filter: str
    url: str  # host and path of what was changed
    what: str
    bytes_before: int
    bytes_after: int


@dataclass(frozen=True, slots=True)
class Minified:
    objects: tuple[StoredObject, ...]
    effects: tuple[Effect, ...]
