"""Results of made runs as terminals, pages, Markdown and JSON show them are exactly what these files have.

After a change that is meant, `pytest tests/golden --update-golden` writes them again: read the difference before you
commit it.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from lanelab.analysis.results.explain import explain
from lanelab.analysis.results.export import results
from lanelab.analysis.results.layout.data import data_of
from lanelab.analysis.results.layout.markdown import head_markdown, markdown
from lanelab.analysis.results.layout.model import Head, Section
from lanelab.analysis.results.layout.page import head_on_page, on_page
from lanelab.analysis.results.layout.terminal import on_terminal
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.sections.explained import explained_sections
from lanelab.analysis.results.sections.head import head
from lanelab.analysis.results.sections.of_run import sections_of
from lanelab.analysis.results.sections.seen import Seen
from tests.kit.made_parts import nothing, run_with_parts
from tests.kit.made_run import Made, MadeMachine, make_run
from tests.kit.made_study import claims

FOLDER = Path(__file__).parent / "layout"
GATEWAY = {
    "http": {"protocol": "http/1.1", "tls": "off"},
    "http by gateway": {"protocol": "http/1.1", "tls": "off", "via": "gateway"},
}
MACHINES = (MadeMachine("alpha"), MadeMachine("beta", pace=1.3), MadeMachine("gamma", refused=("10mbit 20ms",)))
RUNS = {
    "claims": Made(rounds=6, claims=claims(1)),
    "machines": Made(rounds=12, beds=4, machines=MACHINES, links=({"rate": "10mbit", "rtt": "20ms"},)),
    "beds": Made(rounds=9, beds=3, bed_noise=0.05, arms=GATEWAY),
}
DRAWING = re.compile(r"<svg.*?</svg>", re.DOTALL)


@pytest.mark.parametrize("name", list(RUNS))
def test_the_outputs_of_a_run(name: str, tmp_path: Path, *, update_golden: bool) -> None:
    run = read_run(make_run(tmp_path / "run", RUNS[name]))
    seen = Seen(run)
    check(name, sections_of(seen), results(run), head(seen), update_golden=update_golden)


def test_the_outputs_of_explanations(*, update_golden: bool) -> None:
    explained = explain(run_with_parts(rtts=("20ms", "100ms"), slow=5), (), nothing)
    check("explained", list(explained_sections(explained)), data_of(explained), update_golden=update_golden)


def check(
    name: str, sections: Sequence[Section], data: object, top: Head | None = None, *, update_golden: bool
) -> None:
    console = Console(width=150)
    with console.capture() as capture:
        console.print(on_terminal(sections))
    pages = [*([head_on_page(top)] if top else []), *filter(None, map(on_page, sections))]
    page = "\n".join(DRAWING.sub("<svg/>", html) for html in pages)
    made = {
        "txt": capture.get(),
        "html": re.sub(r"(</tr>|</p>|</li>|</dd>|</h[123]>)", r"\1\n", page) + "\n",
        "md": "\n\n".join([*([head_markdown(top)] if top else []), markdown(sections)]),
        "json": json.dumps(data, indent=1) + "\n",
    }
    for kind, text in made.items():
        file = FOLDER / f"{name}.{kind}"
        if update_golden:
            file.write_text(text)
        assert text == file.read_text()
