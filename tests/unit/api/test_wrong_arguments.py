"""What callers get wrong is an InputError with the name of the argument, and with what is near."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lanelab
from lanelab.driver.base.errors import StoreError

ANY: Any = lanelab  # callers without a type checker
GRID = {"sites": "dummy", "arms": {"HTTP": {}}, "rtt": "20ms", "trials": 3}
RUN: Any = lanelab.sample_run()


def experiment() -> Any:
    return ANY.grid(**GRID)


@pytest.mark.parametrize(
    ("call", "key", "words"),
    [
        (lambda: RUN.export_files("hra", "x"), "kind", "Did you mean har?"),
        (lambda: RUN.against("nope"), "other", "there is no run 'nope'"),
        (lambda: RUN.against(3), "other", "3 is no run"),
        (lambda: RUN.median("plt", by=None), "by", "link.rtt"),
        (lambda: RUN.median("plt", by="rtt"), "by", "Did you mean link.rtt?"),
        (lambda: RUN.trial("3"), "trial", "'3' cannot be used. Write a whole number"),
        (lambda: RUN.trial(True), "trial", "whole number"),
        (lambda: RUN.chart(y="plr"), "y", "Did you mean plt?"),
        (lambda: RUN.chart(kind="heatmpa"), "kind", "Did you mean heatmap?"),
        (lambda: RUN.explain("HTPP"), "arm", "Did you mean HTTP?"),
        (lambda: RUN.explain("HTTP", "HTPP"), "against", "Did you mean HTTP?"),
        (lambda: RUN.explain("HTPP", "HTTP"), "arm", "Did you mean HTTP?"),
        (lambda: experiment().plan(workers=-1), "workers", "Write 1 or more"),
        (lambda: experiment().run(bed={"router": "x"}), "bed", "lanelab.BedOptions"),
        (lambda: experiment().run(sweep=3), "sweep", "lanelab.SweepOptions"),
        (lambda: experiment().run(seed="abc"), "seed", "whole number"),
        (lambda: experiment().run(beds="two"), "beds", "whole number"),
        (lambda: ANY.merge("s2", out="x"), "names", "Write a list"),
        (lambda: ANY.grid(**{**GRID, "rt": "5ms"}), "rt", "Did you mean rtt?"),
        (lambda: ANY.grid(**{**GRID, "rtt": ["5ms", "zz"]}), "rtt[1]", "duration"),
        (lambda: ANY.grid(**{**GRID, "trials": "x"}), "trials", "whole number"),
    ],
)
def test_the_argument_is_named(call: Callable[[], object], key: str, words: str) -> None:
    with pytest.raises(lanelab.InputError) as raised:
        call()
    assert raised.value.key == key
    assert raised.value.place == ""
    assert words in str(raised.value)


def test_a_report_that_cannot_be_written_says_where(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"cannot write .*file/report.*name another place"):
        RUN.report(tmp_path / "file" / "report.html")


def test_another_run_may_be_named_by_its_folder() -> None:
    with pytest.raises(lanelab.InputError, match="is the same run"):
        RUN.against(str(RUN.folder))


def test_a_name_that_is_not_there_has_one_that_is_near() -> None:
    with pytest.raises(AttributeError, match="Did you mean open_run"):
        _ = ANY.openrun


class Array:
    """An array of numpy, as far as it matters."""

    def __init__(self, *values: object) -> None:
        self.values = list(values)

    def tolist(self) -> object:
        return self.values if len(self.values) > 1 else self.values[0]

    def item(self) -> object:
        return self.values[0]


def test_a_grid_takes_arrays_numbers_of_numpy_and_whatever_can_be_gone_through() -> None:
    plain = ANY.grid(**{**GRID, "loss": ["0%", "1%"], "rtt": ["20ms", "40ms"], "trials": 3})
    other = ANY.grid(
        **{**GRID, "loss": Array("0%", "1%"), "rtt": (f"{rtt}ms" for rtt in (20, 40)), "trials": Array(3)},
    )
    assert other.text == plain.text
