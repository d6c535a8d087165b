"""What every impairment has. A new one overrides what it needs; the rest says that it does nothing."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, Self

from lanelab.driver.base.settings.setting import Setting
from lanelab.driver.base.units import Duration, Ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lanelab.driver.link.arrivals import Arrivals
    from lanelab.driver.link.link_values import WrittenLink
    from lanelab.driver.link.results import Result

NOTHING, NEVER = Duration(0), Ratio(0)


def tc_time(duration: Duration) -> str:
    """tc takes no part of a microsecond, and what is there must not become nothing."""
    return f"{max(1, round(duration.ns / 1000))}us"


class Words(NamedTuple):
    """Words for tc, and what they do in plain words."""

    text: str
    meaning: str


class Chance(NamedTuple):
    """An event that happens to a packet by chance. `bunched`: how many such packets come together on average."""

    share: float
    bunched: float = 1.0


class Way(Protocol):
    """The facts of its direction by which an impairment judges what arrived there."""

    @property
    def delay(self) -> Duration: ...

    @property
    def jitter(self) -> Duration: ...

    @property
    def jitter_reorders(self) -> bool: ...

    @property
    def mean_loss(self) -> float:
        """The part of all packets that is lost in the long run."""
        ...

    @property
    def extra_delay(self) -> Duration:
        """The most by which a packet is later, or earlier, than the delay."""
        ...

    @property
    def skips_delay(self) -> bool:
        """Return whether some packets arrive without the delay."""
        ...


class Impairment(ABC):
    """One thing that a direction does to packets. A subclass is a frozen dataclass with an attribute for each of its
    settings, of the same name."""

    __slots__ = ()
    SETTINGS: ClassVar[tuple[Setting, ...]]
    VARIES_DELAY: ClassVar[bool] = False  # whether its words must stand right behind those of the delay

    # ----------------------------------------------------------------------------------------------------- settings

    @classmethod
    def read(cls, written: "WrittenLink", side: str, delay: Duration) -> Self:
        """Return the impairment of one direction, as the user wrote it."""
        impairment = cls(**{setting.name: written.value(setting.name, side) for setting in cls.SETTINGS})
        impairment.check(written, side, delay)
        return impairment

    def check(self, written: "WrittenLink", side: str, delay: Duration) -> None:  # noqa: B027 - most can always be
        """Raises an InputError where it cannot be with this delay."""

    def texts(self) -> dict[str, str | None]:
        """Return each setting as a user would write it; None where it means nothing."""
        shown: dict[str, str | None] = {}
        for setting in self.SETTINGS:
            value = getattr(self, setting.name)
            text = str(value).lower() if isinstance(value, bool) else str(value)
            shown[setting.name] = text if not setting.needs or getattr(self, setting.needs) else None
        return shown

    def note(self) -> str:
        """Return what its value comes to, where that is not plain."""
        return ""

    # ------------------------------------------------------------------------------------------------------ shaping

    @abstractmethod
    def netem(self) -> list[Words]:
        """Return words for netem; none where it does nothing."""

    @property
    def extra_delay(self) -> Duration:
        """The most by which a packet is later, or earlier, than the delay."""
        return NOTHING

    @property
    def copies(self) -> Ratio:
        """The packets that are sent once more."""
        return NEVER

    @property
    def lost(self) -> float:
        """The part of all packets that is lost in the long run."""
        return 0.0

    @property
    def skips_delay(self) -> bool:
        """Return whether some packets arrive without the delay."""
        return False

    # ---------------------------------------------------------------------------------------------------- measuring

    @property
    def deviation_ms(self) -> float:
        """The standard deviation that it gives to the delay."""
        return 0.0

    @property
    def mean_shift_ms(self) -> float:
        """Return by how much it moves the mean of the delay."""
        return 0.0

    @property
    def skewed(self) -> bool:
        """Return whether delays are so unsymmetrical that their mean tells more than their median."""
        return False

    @property
    def chance(self) -> Chance | None:
        """Return what the self-test must see often enough: it lengthens the train of small packets."""
        return None

    def measure(self, way: Way, name: str, trains: "Sequence[Arrivals]") -> "list[Result]":  # noqa: ARG002
        """Results from trains of small packets, all of them together; `name` is that of the direction."""
        return []
