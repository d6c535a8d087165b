"""What lanelab doctor says of a bed and of the browser in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from lanelab.driver.base.errors import BedError, LanelabError
from lanelab.driver.base.programs import needs
from lanelab.driver.base.programs.building import gateway, go
from lanelab.driver.base.programs.finding import Finding
from lanelab.driver.cli.doctor import doctor as command
from lanelab.driver.record.evidence.browser import BrowserFacts
from lanelab.driver.run import doctor

FACTS = BrowserFacts("Chromium 150.0", "ChromeDriver 150.0", "/usr/bin/chromium", None, (), "fresh-process", 0, True, 0)
NO_CHROOT = BedError(
    "Chromium did not start: it began; Check failed: sys_chroot(/proc) == 0; much more", "Run it by hand"
)


def findings(monkeypatch: pytest.MonkeyPatch, answer: BrowserFacts | LanelabError) -> dict[str, Finding]:
    """Return the findings of an able machine whose bed answers so to a look at its browser."""

    def check_browser() -> BrowserFacts:
        if isinstance(answer, LanelabError):
            raise answer
        return answer

    @contextmanager
    def bed(_settings: object) -> Iterator[SimpleNamespace]:
        info = SimpleNamespace(bring_up_s=1.0, router="uml", kernel="6.1")
        yield SimpleNamespace(info=info, check_browser=check_browser)

    monkeypatch.setattr(doctor, "LOOKS", ())
    monkeypatch.setattr(doctor, "Bed", bed)
    return {finding.what: finding for finding in doctor.examine()}


@pytest.fixture(autouse=True)
def all_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needs, "missing", lambda _wanted: [])


def test_it_says_which_browser_starts_and_whether_it_is_confined(monkeypatch: pytest.MonkeyPatch) -> None:
    found = findings(monkeypatch, FACTS)
    assert (found["bed"].state, found["browser start"].state) == ("ok", "ok")
    assert found["browser start"].found == "Chromium 150.0 starts on a bed's client in its sandbox"
    open_one = findings(monkeypatch, replace(FACTS, sandbox=False))["browser start"]
    assert open_one.found == "Chromium 150.0 starts on a bed's client"


def test_a_sandbox_that_cannot_start_is_a_gap_with_its_own_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    found = findings(monkeypatch, NO_CHROOT)
    assert found["bed"].state == "ok"
    assert (found["browser start"].state, found["browser start"].found) == (
        "gap",
        "Check failed: sys_chroot(/proc) == 0",
    )
    assert "--cap-add sys_chroot" in found["browser start"].remedy
    failed = CliRunner().invoke(command, [])
    assert "no page can be loaded here yet; to mend: browser start" in str(failed.exception)


def test_another_failure_keeps_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    found = findings(monkeypatch, BedError("ChromeDriver is older", "Install both"))["browser start"]
    assert (found.state, found.found, found.remedy) == ("gap", "ChromeDriver is older", "Install both")


def test_without_a_browser_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needs, "missing", list)
    assert list(findings(monkeypatch, NO_CHROOT)) == ["bed"]


def test_where_the_gateway_comes_built_no_go_is_promised(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(go, "toolchain_here", lambda: go.Go(tmp_path / "go", "go1.99"))
    monkeypatch.setattr(gateway, "shipped", lambda: None)
    monkeypatch.setattr(doctor, "LOOKS", (doctor._own_protocols,))
    monkeypatch.setattr(doctor, "_bed", lambda: ())
    assert "go1.99" in {each.what: each.found for each in doctor.examine()}["go, for the gateway"]
    monkeypatch.setattr(gateway, "shipped", lambda: tmp_path / "lanelab-gateway")
    assert "not needed" in {each.what: each.found for each in doctor.examine()}["go, for the gateway"]
