"""Plans refuse what no site of the experiment can have, at its line: before anything starts."""

from pathlib import Path

import pytest

from lanelab.driver.api.plans import plan
from lanelab.driver.base.errors import InputError

TEXT = """\
sites: third-parties
links: {rtt: 20ms}
timeout: 180s
arms:
  all well: {}
  ill:
    SETTING
"""


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("block: '*.addds.test'", "block: third-parties has no host like *.addds.test. Did you mean tag.ads.test?"),
        ("block: '*'", "block: * means the page of third-parties itself"),
        ("unreachable: cdn.test", "unreachable: third-parties has no host like cdn.test"),
        (
            "answer: {img.shop.test/nothing.jpg: 404}",
            "answer: third-parties has nothing like img.shop.test/nothing.jpg",
        ),
        ("answer_delay: recorded", "answer_delay: third-parties does not say how long its servers thought"),
    ],
)
def test_what_the_site_cannot_have_is_refused_at_its_line(tmp_path: Path, setting: str, says: str) -> None:
    file = tmp_path / "exp.yaml"
    file.write_text(TEXT.replace("SETTING", setting))
    with pytest.raises(InputError) as refused:
        plan(file)
    assert str(refused.value).startswith(f"{file}:7: arms.ill.{says}")


def test_what_it_has_is_planned(tmp_path: Path) -> None:
    file = tmp_path / "exp.yaml"
    file.write_text(TEXT.replace("SETTING", "unreachable: '*.ads.test'"))
    well, ill = plan(file).estimate.cells
    assert ill.plt_s - well.plt_s == pytest.approx(131)
