"""Which settings of an experiment run code of its author: all that take any text are looked at, and those that can run
something are refused from the page unless the owner of the server allows them."""

from pathlib import Path

import pytest

from lanelab.driver.api import run_apart
from lanelab.driver.arm.fields import ARM
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.setting import Setting
from lanelab.driver.experiment.keys import EXPERIMENT
from lanelab.driver.experiment.load_tables import WORKLOAD
from lanelab.driver.run.sweep.permissions import DIRECTIVES, FLAGS, KINDS, SCRIPTS

RUN_CODE = {"server_directives": DIRECTIVES, "browser_flags": FLAGS, "script": SCRIPTS}
# What takes text, and why it runs nothing: it is a choice among what lanelab does, or stays one value of a header.
HARMLESS = {
    "push": "paths of the site", "preload": "paths of the site", "fetchpriority": "paths of the site",
    "early_hints": "paths of the site", "minify": "names of filters", "user_agent": "one argument, one header",
    "block": "hosts", "unreachable": "hosts", "answer_delay": "hosts and times", "name": "letters, digits and dashes",
    "description": "is shown", "most": "a size",
}  # fmt: skip
CLOSED = ("enum", "pattern", "integer", "number", "boolean")


def takes_text(setting: Setting) -> bool:
    """Whether it takes what is neither a number nor a choice. What has keys of its own has tables of its own."""
    return setting.kind is not None and not any(word in str(setting.kind.schema) for word in CLOSED)


TEXTS = [setting.name for table in (ARM, EXPERIMENT, WORKLOAD) for setting in table.settings if takes_text(setting)]


def test_every_setting_that_takes_text_was_looked_at() -> None:
    assert {"server_directives", "browser_flags", "user_agent"} <= set(TEXTS)
    assert set(TEXTS) - RUN_CODE.keys() - HARMLESS.keys() == set(), "does it run something?"
    assert set(RUN_CODE.values()) == set(KINDS)


ARMS = "sites: dummy\nlinks: {rtt: 20ms, rate: 10mbit}\narms: {A: {%s: %s}}\ntrials: 1\n"
LOADS = (
    "workload: {kind: load, script: %s, users: 2, duration: 10s}\n"
    "sites: dummy\nlinks: {rtt: 20ms, rate: 10mbit}\narms: {A: {}}\n"
)
WRITTEN = {
    "server_directives": ARMS % ("server_directives", "[Timeout 5]"),
    "browser_flags": ARMS % ("browser_flags", "[--disable-gpu]"),
    "script": LOADS % "mine.js",
}


@pytest.mark.parametrize("setting", RUN_CODE)
def test_what_runs_code_is_begun_where_it_is_allowed_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    begun = list[list[str]]()

    def start(words: list[str], folder: Path) -> run_apart.Apart:
        begun.append(words)
        return run_apart.Apart(folder, tmp_path, None)  # type: ignore[arg-type]

    monkeypatch.setattr(run_apart, "_start", start)
    (tmp_path / "mine.js").write_text("export default function () {}\n")
    file = tmp_path / "mine.yaml"
    file.write_text(WRITTEN[setting])
    for allowed in ((), [kind for kind in KINDS if kind != RUN_CODE[setting]]):
        with pytest.raises(InputError, match=f"lanelab serve --allow {RUN_CODE[setting]}"):
            run_apart.begin_apart(file, tmp_path, allowed)
    assert begun == []
    run_apart.begin_apart(file, tmp_path, [RUN_CODE[setting]])
    assert len(begun) == 1
