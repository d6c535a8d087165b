"""What is posted, against servers that answer GET and HEAD alone: refused before any bed is made, and only where it is
needed."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.api.plans import plan
from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.model import Cell, LinkCase
from lanelab.driver.link import Link
from lanelab.driver.run.posts import require_posts
from lanelab.driver.site.load import load_site
from lanelab.driver.site.site import SitePage
from lanelab.driver.trial.journey import Script, Step
from tests.kit.records import OBJECTS, SITE

POSTED = replace(OBJECTS[0], path="/session", method="POST")
POSTING = replace(SITE, objects=(*OBJECTS, POSTED))
FILES = tuple(name for name, server in SERVERS.items() if server.for_page_loads and not server.answers_posts)
SCRIPT = Script("shop.py", "")


def cell(journey: tuple[Step, ...] = (), script: Script | None = None, **settings: object) -> Cell:
    arm = Arm.parse("a", settings)
    return Cell("tiny", LinkCase("link", Link.parse({"rtt": "20ms"})), arm, journey, script)


def test_apache_alone_answers_posts() -> None:
    assert FILES == ("nginx", "lighttpd", "caddy", "h2o", "webfs")
    require_posts(cell(), POSTING)


@pytest.mark.parametrize("server", FILES)
def test_a_page_that_posts_is_refused_to_the_others(server: str) -> None:
    with pytest.raises(
        InputError, match=r"^server: the page sends POST a\.test/session, and .* answers GET and HEAD"
    ) as no:
        require_posts(cell(server=server), POSTING)
    assert no.value.remedy == "Write server: apache for a.test"
    require_posts(cell(server=server), SITE)


def test_what_a_load_may_do_without_is_not_needed() -> None:
    late = replace(SITE, objects=(*OBJECTS, replace(POSTED, late=True)))
    require_posts(cell(server="nginx"), late)
    preflight = replace(SITE, objects=(*OBJECTS, replace(POSTED, method="OPTIONS")))
    require_posts(cell(server="nginx"), preflight)


def test_what_the_arm_blocks_is_not_needed() -> None:
    other = replace(SITE, objects=(*OBJECTS, replace(POSTED, host="b.test")))
    require_posts(cell(server="nginx", block=["b.test"]), other)
    with pytest.raises(InputError):
        require_posts(cell(server="nginx"), other)


def test_a_journey_needs_what_its_pages_need() -> None:
    pages = (
        SitePage("home", "a.test/index.html", ("a.test/index.html",)),
        SitePage("account", "a.test/session", ("a.test/session",)),
    )
    site = replace(POSTING, pages=pages)
    home, account = Step("home", "home", False, 0), Step("account", "account", False, 1000)
    require_posts(cell((home, home), server="nginx"), site)
    with pytest.raises(InputError, match="the page sends POST"):
        require_posts(cell((home, account), server="nginx"), site)


def test_a_script_may_send_whatever_the_site_answers() -> None:
    late = replace(SITE, objects=(*OBJECTS, replace(POSTED, late=True)))
    steps = (Step("login", "", False, 0),)
    with pytest.raises(InputError, match=r"^server: the script may send POST a\.test/session, and nginx"):
        require_posts(cell(steps, SCRIPT, server="nginx"), late)
    require_posts(cell(steps, SCRIPT), late)


def test_each_host_is_asked_of_its_own_server() -> None:
    other = replace(SITE, objects=(*OBJECTS, replace(POSTED, host="b.test")))
    own: dict[str, Any] = {"addresses": "per-origin", "origins": {"b.test": {"server": "apache"}}}
    require_posts(cell(server="nginx", **own), other)
    with pytest.raises(InputError, match=r"^origins: the page sends POST b\.test/session, and nginx"):
        require_posts(cell(addresses="per-origin", origins={"b.test": {"server": "nginx"}}), other)


def test_a_plan_names_file_line_and_key(tmp_path: Path) -> None:
    assert [each.url for each in load_site("small-shop").objects if each.method == "POST"] == ["shop.test/session"]
    (tmp_path / "shop.py").write_text('with step("home"):\n    driver.get(url)\n')
    file = tmp_path / "shop.yaml"
    file.write_text(
        "sites: small-shop\nscript: shop.py\nlinks: {rtt: 20ms}\narms:\n  a: {}\n  b:\n    server: nginx\ntrials: 3\n"
    )
    with pytest.raises(InputError) as refused:
        plan(file)
    assert f"{file}:7: arms.b.server: the script may send POST shop.test/session" in str(refused.value)
