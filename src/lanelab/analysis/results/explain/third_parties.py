"""What an arm asked of third parties, in sentences. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from lanelab.analysis.results.numbers import listed, seconds
from lanelab.driver.base.coded import JsonObject
from lanelab.driver.base.units import Duration
from lanelab.driver.site.third_parties import ANSWER, ANSWER_DELAY, BLOCK, OTHERS, RECORDED, UNREACHABLE

ORIGINS = "origins"  # the setting of arms


def sentences(settings: JsonObject) -> Iterator[str]:
    """Yield what the settings of an arm ask for."""
    delays = _mapping(settings, ANSWER_DELAY)
    if delays:
        yield f"The server thinks before it answers, as the arm asks: {listed(_of(delays, '{} {}'))}."
    if settings.get(ANSWER_DELAY) == RECORDED:
        yield "The server thinks before it answers, as the arm asks: as long as when the site was recorded."
    dead, blocked = _names(settings, UNREACHABLE), _names(settings, BLOCK)
    if dead:
        yield f"Not reachable, as the arm asks: {listed(dead)}."
    if blocked:
        yield f"Blocked in the browser, as the arm asks: {listed(blocked)}."
    apart = list(_own_servers(settings))
    if apart:
        usual = _service({}, settings)
        yield f"By servers of their own, as the arm asks: {listed(apart)}; all other hosts by {usual}."
    answers = _mapping(settings, ANSWER)
    if answers:
        yield f"Answered otherwise than recorded, as the arm asks: {listed(_of(answers, '{} with {}'))}."


def _own_servers(settings: JsonObject) -> Iterator[str]:
    """Yield which hosts have servers of their own, and what these speak."""
    for name, service in _mapping(settings, ORIGINS).items():
        yield f"{name} by {_service(service if isinstance(service, Mapping) else {}, settings)}"


def _service(service: Mapping[str, object], settings: JsonObject) -> str:
    server, protocol = (service.get(name, settings.get(name)) for name in ("server", "protocol"))
    return f"{server} with {protocol}"


def limit(settings: JsonObject, connect_ms: float, wait_ms: float, due_ms: float) -> str | None:
    """Return what limits a load that hangs on round trips, where it is a third party: one that does not answer, or the
    server that thinks for most of that time. `due_ms`: of all that hangs on round trips."""
    if _names(settings, UNREACHABLE) and connect_ms > due_ms / 2:
        return f"A host that does not answer limits it most: for {seconds(connect_ms)} the browser tried to reach it."
    longest_ms = longest_wait_ms(settings)
    if min(longest_ms, wait_ms) > due_ms / 2:
        thought = f"an answer was to wait for {seconds(longest_ms)} of it"
        return f"The server's thinking limits it most: for {seconds(due_ms)} no answer arrived, and {thought}."
    return None


def longest_wait_ms(settings: JsonObject) -> float:
    waits = [Duration.parse(str(wait)) for wait in _mapping(settings, ANSWER_DELAY).values()]
    return max((wait.milliseconds for wait in waits), default=0)


def _of(named: Mapping[str, object], words: str) -> list[str]:
    return [words.format("all others" if name == OTHERS else name, value) for name, value in named.items()]


def _mapping(settings: JsonObject, name: str) -> Mapping[str, object]:
    value = settings.get(name)
    return value if isinstance(value, Mapping) else {}


def _names(settings: JsonObject, name: str) -> list[str]:
    value = settings.get(name)
    return [str(each) for each in value] if isinstance(value, Sequence) and not isinstance(value, str) else []
