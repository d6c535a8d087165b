"""What self-tests say of the links: asked, measured, tolerated. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lanelab.analysis.results import conditions
from lanelab.analysis.results.model import Run, SelfTest
from lanelab.driver.link.results import ResultData


@dataclass(frozen=True, slots=True)
class TestRow:
    """One property of one link, as text."""

    link: str
    is_first: bool  # of its link
    name: str
    target: str
    measured: str
    tolerated: str
    unit: str
    verdict: str
    note: str


def tests_before(run: Run) -> list[SelfTest]:
    """Return for each link the last test; of one that was used while it was out of tolerance, the last that says so."""
    labels = conditions.used_out_of_tolerance(run)
    used = {cell.link.path for cell in run.cells if cell.link.label in labels}
    before = (test for test in run.self_tests if test.moment == "before")
    tests = (test for test in before if not (test.passed and test.link.path in used))
    return list({test.link.path: test for test in tests}.values())


def test_rows(tests: Sequence[SelfTest]) -> Iterator[TestRow]:
    """Yield property by property, without those that nothing was measured of."""
    for test in tests:
        for place, result in enumerate(test.data["results"]):
            if result["verdict"] == "shown" and place > 0 and not result["achieved"]:
                continue
            yield _test_row(test.link.label, result, is_first=place == 0)


def _test_row(link: str, result: ResultData, *, is_first: bool) -> TestRow:
    low, high = result["low"], result["high"]
    return TestRow(
        link,
        is_first,
        result["name"],
        _figure(result["target"]),
        _figure(result["achieved"]),
        "-" if low is None else f"{_figure(low)} to {_figure(high)}",
        result["unit"],
        result["verdict"],
        result["note"],
    )


def outcome(tests: Sequence[SelfTest]) -> str:
    failed = sorted({test.link.label for test in tests if not test.passed})
    return f"Out of tolerance: {', '.join(failed)}." if failed else _as_asked(tests)


def _as_asked(tests: Sequence[SelfTest]) -> str:
    """Say that links were as asked for, and no more than was measured."""
    untold: dict[str, list[str]] = {}
    for test in tests:
        for result in test.data["results"]:
            if result["verdict"] == "not measured":
                untold.setdefault(result["name"], []).append(test.link.label)
    whole = f"All {len(tests)} links were" if len(tests) > 1 else "The link was"
    if not untold:
        return f"{whole} what was asked for."
    names = ", ".join(
        name if len(labels) == len(tests) else f"{name} ({', '.join(labels)})" for name, labels in untold.items()
    )
    return f"{whole} what was asked for as far as it was measured. Not measured: {names}."


def _figure(value: Any) -> str:  # noqa: ANN401 - JSON
    return "-" if value is None else f"{value:.4g}" if isinstance(value, int | float) else str(value)
