"""What doctor says of this machine's routers."""

from collections.abc import Sequence

import pytest

from lanelab.driver.base.programs import needs
from lanelab.driver.base.programs.needs import Program
from lanelab.driver.bed import capabilities
from lanelab.driver.bed.netns import findings


def no_package(_missing: Sequence[Program]) -> str:
    return "this system has no package for linux.uml"


@pytest.mark.parametrize(
    ("missing", "begin"), [(needs.programs("uml"), "this system has no package for linux.uml. "), ((), "")]
)
def test_without_any_router_the_kernels_module_is_a_remedy(
    monkeypatch: pytest.MonkeyPatch, missing: tuple[Program, ...], begin: str
) -> None:
    monkeypatch.setattr(needs, "missing", lambda _wanted: list(missing))
    monkeypatch.setattr(capabilities, "namespaces", lambda: None)
    monkeypatch.setattr(capabilities, "uml_router", lambda: "not installed")
    monkeypatch.setattr(capabilities, "kernel_router", lambda: "no sch_netem")
    told = {each.what: each for each in findings.findings(no_package)}
    assert told["router"].state == "gap"
    assert told["router"].found == "uml: not installed; kernel: no sch_netem"
    assert told["router"].remedy == begin + findings.LOAD_NETEM
    assert "modprobe sch_netem" in findings.LOAD_NETEM
