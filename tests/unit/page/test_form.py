"""What a form may send, and how: the server reads no file, nothing long, nothing that is not text."""

from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from lanelab.driver.page import app, form, server
from lanelab.driver.page.access import Access
from lanelab.driver.page.form import Form
from lanelab.driver.page.pages import Pages, posting, see
from lanelab.driver.page.shelf import Shelf
from tests.kit.pages import serving

KIND = form.KIND
LONG = b"a=" + b"x" * form.LARGEST


async def deed(_request: Request, sent: Form) -> Response:
    return see(f"./?{sent.one('a')}") if "b" not in sent.fields else PlainTextResponse(",".join(sent.some("b")))


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    application = Starlette(routes=[posting("/do", deed)], exception_handlers=app.REFUSALS)
    config = uvicorn.Config(application, log_level="error", lifespan="off")
    with server.HERE.socket(0) as bound, serving(uvicorn.Server(config), bound):
        yield int(bound.getsockname()[1])


def send(port: int, body: bytes, kind: str = KIND, method: str = "POST") -> tuple[int, str, str]:
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request(method, "/do", body, {"Content-Type": kind})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, answer.getheader("Location") or "", text


def test_fields_are_text_by_name(port: int) -> None:
    assert send(port, b"a=1%202", f"{KIND}; charset=UTF-8")[:2] == (303, "./?1%202")
    assert send(port, b"b=x&b=%C3%A9&b=")[::2] == (200, "x,é,")


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"", 400), (b"a=1&a=2", 400), (b"a=%ff", 400), (b"a=\xff", 400), (b"&".join([b"c=1"] * 999), 400), (LONG, 413)],
)
def test_what_is_malformed_or_long_is_refused(port: int, body: bytes, status: int) -> None:
    answer, _, text = send(port, body)
    assert answer == status
    assert form.TITLE in text


@pytest.mark.parametrize("kind", ["", "text/plain", "multipart/form-data; boundary=x", "application/json"])
def test_another_kind_is_refused(port: int, kind: str) -> None:
    assert send(port, b"a=1", kind)[0] == 415


def test_what_is_not_a_form_changes_nothing(port: int) -> None:
    assert send(port, b"", method="GET")[0] == 405


def test_a_form_that_does_not_arrive_is_not_waited_for(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(form, "WITHIN_S", 0.2)
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    connection.putrequest("POST", "/do")
    connection.putheader("Content-Type", KIND)
    connection.putheader("Content-Length", "9")
    connection.endheaders(b"a=")
    assert connection.getresponse().status == 408
    connection.close()


def test_every_group_has_addresses_of_its_own(tmp_path: Path) -> None:
    pages = Pages(Shelf(tmp_path), Access(frozenset(), 1))
    paths = [(route.path, method) for group in app.GROUPS for route in group(pages) for method in route.methods or ()]
    assert len(paths) == len(set(paths))
    assert all(method in ("GET", "HEAD", "POST") for _, method in paths)
