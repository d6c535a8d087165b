"""Who may see the page: everything that another page, another program or another name may try."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import lanelab
from lanelab.driver.page.access import Access, Role
from tests.kit.pages import Visitor, served

TRIAL = "/runs/sample/trials/3/"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page") / "runs"
    shutil.copytree(lanelab.sample_run().folder, folder / "sample")
    (folder.parent / "secret").mkdir()
    shutil.copytree(lanelab.sample_run().folder, folder.parent / "secret" / "run")
    return folder


@pytest.fixture
def stranger(folder: Path) -> Iterator[Visitor]:
    with served(folder) as visitor:
        yield visitor


@pytest.fixture
def owner(stranger: Visitor) -> Visitor:
    assert stranger.enter(stranger.access.owner).status == 200
    return stranger


@pytest.mark.parametrize(
    "path", ["/", "/runs/sample/", TRIAL, f"{TRIAL}files/page.har.gz", "/runs/sample/changes", "/compare/"]
)
def test_nobody_comes_in_without_a_link(stranger: Visitor, path: str) -> None:
    stranger.role = Role.WATCH
    answer = stranger.ask(path)
    assert answer.status == 403
    assert "cricinfo" not in answer.text
    assert stranger.ask(path, Cookie=f"{stranger.access.cookie}=guess").status == 403
    assert stranger.ask_outside(path, Cookie=f"{stranger.access.cookie}=guess").status == 403


def test_the_owners_link_holds_once(stranger: Visitor) -> None:
    link = stranger.access.owner
    answer = stranger.enter(link)
    assert answer.status == 200
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"lanelab-{stranger.port}=")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Path" not in cookie, "it is for the folder of the link, which nobody else knows"
    assert stranger.ask("/").status == 200
    assert Visitor(stranger.port, stranger.access).enter(link).status == 403
    assert Visitor(stranger.port, stranger.access).enter(stranger.access.owner).status == 200


@pytest.mark.parametrize("token", ["", "x", "%00", "%C3%A9", "%ff", "a" * 9000])
def test_other_tokens_are_refused(stranger: Visitor, token: str) -> None:
    assert stranger.ask(f"/enter?token={token}").status == 403


def test_an_address_without_its_last_letter_leads_to_the_page_within_the_place(owner: Visitor) -> None:
    answer = owner.ask("/runs/sample?lang=de")
    assert (answer.status, answer.headers["location"]) == (303, "sample/?lang=de")
    assert owner.ask("/runs%2Fevil.example:1").headers["location"] == "evil.example%3A1/"
    assert owner.ask("/runs/sample/stop").headers["location"] == "./"
    for path in ("/nothing", "/runs/sample/files/x"):
        assert "location" not in owner.ask(path).headers


def test_who_asks_for_a_web_socket_is_refused_like_anybody(
    stranger: Visitor, capfd: pytest.CaptureFixture[str]
) -> None:
    wanted = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec_WebSocket_Version": "13"}
    stranger.role = Role.WATCH
    assert stranger.ask("/", Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==", **wanted).status == 403
    assert capfd.readouterr().err == ""


def test_the_cookie_alone_is_nothing(owner: Visitor) -> None:
    """Another program of this machine may have read it: browsers send cookies to every port."""
    for path in ("/", "/runs/sample/", f"/{'x' * 22}/", "//", f"/{owner.access.places[Role.RUN]}"):
        assert owner.ask_outside(path).status == 403
    assert owner.ask_outside("/runs/sample/", "POST", Sec_Fetch_Site="same-origin").status == 403
    owner.role = Role.WATCH
    assert owner.ask("/").status == 403


def test_the_place_alone_is_nothing(owner: Visitor) -> None:
    cookie = owner.headers.pop("Cookie")
    answer, watching = owner.ask("/runs/sample/?a=1"), owner.access.places[Role.WATCH]
    assert (answer.status, answer.headers["location"]) == (
        303,
        f"../../../{watching}/runs/sample/?a=1",
    )
    assert owner.ask("/runs/sample/", "POST", Sec_Fetch_Site="same-origin").status == 403
    watcher = Visitor(owner.port, owner.access, role=Role.WATCH)
    assert watcher.ask("/").status == 403
    assert watcher.ask("/", Cookie=cookie).status == 403, "the owner's cookie is for the owner's place"


def test_links_are_for_their_own_place(stranger: Visitor) -> None:
    access = stranger.access
    for role, token in ((Role.WATCH, access.owner), (Role.RUN, access.watcher)):
        path = f"/{access.places[role]}/enter?token={token}"
        assert stranger.ask_outside(path).status == 403
        assert stranger.ask_outside(f"/enter?token={token}").status == 403


def test_a_page_that_an_owner_sends_is_shown_to_who_watches(stranger: Visitor) -> None:
    assert stranger.enter(stranger.access.watcher).status == 200
    owner = Visitor(stranger.port, stranger.access, stranger.headers)
    location = owner.ask("/runs/sample/").headers["location"]
    assert stranger.ask_outside(location.replace("../", "", 2).replace("..", "")).status == 200


def test_the_cookie_of_another_port_means_nothing(owner: Visitor) -> None:
    value = owner.headers["Cookie"].partition("=")[2]
    other = Visitor(owner.port, owner.access, {"Cookie": f"lanelab-{owner.port + 1}={value}"})
    assert other.ask("/").status == 303, "to where who watches comes in"
    other.role = Role.WATCH
    assert other.ask("/").status == 403


@pytest.mark.parametrize(
    "host", ["evil.test", "evil.test:{port}", "127.0.0.1", "127.0.0.1:1", "localhost:{port}.evil.test", ""]
)
def test_a_name_that_was_made_to_lead_here_is_refused(owner: Visitor, host: str) -> None:
    assert owner.ask("/", Host=host.format(port=owner.port)).status == 403
    assert owner.ask("/", Host=f"LOCALHOST:{owner.port}").status == 200


@pytest.mark.parametrize(
    "headers",
    [{"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}, {"Sec_Fetch_Site": "none"},
     {"Origin": "http://evil.test"}, {"Origin": "null"}, {}],
)  # fmt: skip
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_another_page_changes_nothing(owner: Visitor, method: str, headers: dict[str, str]) -> None:
    answer = owner.ask("/runs/sample/", method, **headers)
    assert answer.status == 403
    assert "Another page" in answer.text


def test_who_watches_changes_nothing(stranger: Visitor) -> None:
    assert stranger.enter(stranger.access.watcher).status == 200
    assert stranger.ask("/runs/sample/").status == 200
    assert "may watch" in stranger.ask("/runs/sample/", "POST", Sec_Fetch_Site="same-origin").text


def test_a_page_of_ours_is_known_by_either_header() -> None:
    access = Access(frozenset({"127.0.0.1:80"}), 80)
    assert access.is_same_origin({"sec-fetch-site": "same-origin"})
    assert access.is_same_origin({"origin": "http://127.0.0.1:80", "host": "127.0.0.1:80"})
    assert not access.is_same_origin(
        {"origin": "http://127.0.0.1:80", "host": "127.0.0.1:80", "sec-fetch-site": "cross-site"}
    )
    session = access.enter(Role.WATCH, access.watcher)
    assert access.has_come_in(Role.WATCH, session)
    assert not access.has_come_in(Role.RUN, session)
    assert not access.has_come_in(Role.WATCH, None)


@pytest.mark.parametrize(
    "path",
    ["/runs/../secret/run/", "/runs/..%2Fsecret%2Frun/", "/runs/..~secret~run/", "/runs/%2e%2e/", "/runs/./",
     f"{TRIAL}files/../../../run.sqlite", f"{TRIAL}files/..%2F..%2F..%2Frun.sqlite", f"{TRIAL}files/%2Fetc%2Fpasswd",
     "/static/..%2Fapp.py", "/static/app.py", "/runs/sample/trials/999/", "/runs/sample/trials/0/",
     "/runs/sample/trials/99999999999999999999999/", "/runs/none/", "/nothing"],
)  # fmt: skip
def test_a_name_is_looked_up_and_never_a_path(owner: Visitor, path: str) -> None:
    assert owner.ask(path).status == 404


@pytest.mark.parametrize("path", ["/", "/enter", "/runs/sample/", TRIAL, "/static/style.css", "/nothing"])
def test_every_answer_tells_the_browser_what_it_may_not(owner: Visitor, path: str) -> None:
    headers = owner.ask(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "server" not in headers


def test_what_a_server_sent_is_kept_and_never_shown(owner: Visitor) -> None:
    answer = owner.ask(f"{TRIAL}files/page.har.gz")
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")
