"""HAR files become what was recorded: bodies with their bytes, what is missing by name, and times that are servers'."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.collect.importers.importer import Imported
from lanelab.driver.collect.importers.registry import import_from
from lanelab.driver.collect.importers.think_times import Waited, think_times
from lanelab.driver.collect.measured_distances import measured_distances
from lanelab.driver.site.archive.limits import Limits
from tests.kit import recordings
from tests.kit.recordings import PAGE, PIXEL


def read(path: Path, limits: Limits | None = None) -> Imported:
    return import_from(path, "files.test", limits or Limits())[1]


def urls(imported: Imported) -> list[str]:
    return [each.url for each in imported.exchanges]


def _har(tmp_path: Path, **changes: Any) -> Path:
    data: Any = recordings.har()
    data["log"].update(changes)
    (tmp_path / "x.har").write_text(json.dumps(data))
    return tmp_path / "x.har"


def test_a_har_file_without_its_page_says_so(tmp_path: Path) -> None:
    whole = recordings.har()
    (tmp_path / "whole").write_text(json.dumps(whole))
    assert read(tmp_path / "whole").doubtful == ()
    first = whole["log"]["entries"][1]  # type: ignore[index]
    del first["response"]["content"]["text"]
    (tmp_path / "part").write_text(json.dumps(whole))
    assert read(tmp_path / "part").doubtful == (
        "https://a.test/: the recording's own page is not there; see the entry",
    )


def test_a_har_file_says_how_long_servers_thought(tmp_path: Path) -> None:
    """Beyond a round trip, which is what opening a connection took without its TLS."""
    data: Any = recordings.har()
    timings = [
        {"wait": 41, "connect": 100, "ssl": 60},
        {"wait": 150.4, "connect": -1},
        {"wait": 45, "connect": 0, "ssl": -1},
        {},
        {},
        {"wait": "long", "connect": True},
    ]
    for entry, known in zip(data["log"]["entries"], timings, strict=False):
        entry["timings"] = known
    (tmp_path / "x.har").write_text(json.dumps(data))
    found = {each.url: each.think_ms for each in read(tmp_path / "x.har").exchanges}
    assert found == {
        "http://a.test/": 1,
        "https://a.test/": 110,
        "https://a.test/x.gif": 5,
        "https://a.test/beacon": None,
    }


def test_a_har_file_says_how_far_hosts_were(tmp_path: Path) -> None:
    """As long as TCP took to open, at its quickest; TLS is a part of that in HAR."""
    data: Any = recordings.har()
    for entry in data["log"]["entries"]:
        entry["timings"] = {"wait": 41, "connect": 100, "ssl": 60}
    data["log"]["entries"][1]["timings"] = {"wait": 41, "connect": 35.4, "ssl": -1}
    (tmp_path / "x.har").write_text(json.dumps(data))
    assert measured_distances(read(tmp_path / "x.har").exchanges) == (("a.test", "35ms"),)


def test_a_host_of_which_nobody_knows_it_is_as_far_as_half_of_the_others(tmp_path: Path) -> None:
    data: Any = recordings.har()
    (tmp_path / "x.har").write_text(json.dumps(data))
    one = read(tmp_path / "x.har").exchanges[0]
    measured = [("near.test", 0.2), ("far.test", 180.0), ("far.test", 171.6), ("mid.test", 40.0), ("new.test", None)]
    exchanges = [replace(one, url=f"http://{host}/", connect_ms=ms) for host, ms in measured]
    assert measured_distances(exchanges) == (
        ("near.test", "1ms"), ("far.test", "172ms"), ("mid.test", "40ms"), ("default", "40ms"),
    )  # fmt: skip
    assert measured_distances([replace(each, connect_ms=None) for each in exchanges]) == ()


def test_without_connections_the_quickest_answer_is_a_round_trip() -> None:
    answers = [
        Waited("a.test", 30, None),
        Waited("a.test", 95.5, 0),
        Waited("b.test", 200_000, 20),
        Waited("c.test", None, 9),
    ]
    assert think_times(answers) == [None, 66, 60_000, None]


def test_a_har_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="larger than 100 bytes"):
        read(_har(tmp_path), Limits(json_bytes=100))


def test_a_har_file_has_decoded_bodies_and_what_is_missing(tmp_path: Path) -> None:
    imported = read(_har(tmp_path))
    assert urls(imported) == ["http://a.test/", "https://a.test/", "https://a.test/x.gif", "https://a.test/beacon"]
    page, picture, beacon = imported.exchanges[1:]
    assert (page.body, page.headers, page.request_headers) == (PAGE, (("x-two", "1"), ("x-two", "2")), ())
    assert (page.at_utc, page.protocol) == ("2026-11-22T10:00:00Z", "h2")
    assert picture.body == PIXEL
    assert [page.late, beacon.late] == [False, True]
    assert imported.unanswered == ("dead.test/ad.js",)
    assert imported.left_out == (
        "https://a.test/lost.png: the file has no body of it",
        "data:image/png;base64,AAAA: it was not fetched over HTTP",
        "compression, of 1 of the answers: the file has their bodies decoded",
    )
    assert imported.entry == "https://a.test/"


def _with_content(tmp_path: Path, content: dict[str, object], content_type: str = "text/html") -> Imported:
    """A HAR file whose page has that content."""
    data: Any = recordings.har()
    page = data["log"]["entries"][1]["response"]
    page.update(content=content, headers=[{"name": "Content-Type", "value": content_type}])
    (tmp_path / "x.har").write_text(json.dumps(data))
    return read(tmp_path / "x.har")


@pytest.mark.parametrize(
    ("text", "charset", "coding"),
    [
        ("<p>caf\xe9 \u201cau lait\u201d", "; charset=ISO-8859-1", "cp1252"),  # as browsers read that name
        ("<p>\u65e5\u672c\u8a9e", "; charset=Shift_JIS", "shift_jis"),
        ("<p>\u65e5\u672c\u8a9e", "; charset=utf-8", "utf-8"),
        ("<meta charset=euc-jp><p>\u65e5\u672c\u8a9e", "", "euc-jp"),
        ("<p>caf\xe9", "", "utf-8"),
        ("<p>caf\xe9", "", "cp1252"),
        ("<p>caf\xe9", "; charset=utf-8", "utf-8-sig"),
        ("<p>caf\xe9", "; charset=no-such", "utf-8"),
        ("<p>caf\xe9", "; charset=hex", "utf-8"),
    ],
)
def test_a_text_of_a_har_file_has_the_bytes_that_it_had(text: str, charset: str, coding: str, tmp_path: Path) -> None:
    """A HAR file has characters. Written in another charset they would be another page, of another size."""
    body = text.encode(coding)
    imported = _with_content(tmp_path, {"text": text, "size": len(body)}, f"text/html{charset}")
    assert (imported.exchanges[1].body, imported.doubtful) == (body, ())


def test_without_its_size_a_text_of_a_har_file_has_the_charset_that_it_names(tmp_path: Path) -> None:
    imported = _with_content(tmp_path, {"text": "caf\xe9"}, "text/html; charset=iso-8859-1")
    assert (imported.exchanges[1].body, imported.doubtful) == (b"caf\xe9", ())


def test_a_size_in_characters_turns_no_text_into_another_charset(tmp_path: Path) -> None:
    imported = _with_content(tmp_path, {"text": "caf\xe9", "size": 4}, "text/html; charset=utf-8")
    assert imported.exchanges[1].body == b"caf\xc3\xa9"
    assert imported.doubtful == ("https://a.test/: its body has 5 bytes, and by its size 4",)


@pytest.mark.parametrize(
    "content", [{"text": "half", "size": 9}, {"text": "aGFsZg==", "encoding": "base64", "size": 9}]
)
def test_a_body_of_a_har_file_that_is_cut_off_is_doubtful(content: dict[str, object], tmp_path: Path) -> None:
    imported = _with_content(tmp_path, content)
    assert imported.exchanges[1].body == b"half"
    assert imported.doubtful == ("https://a.test/: its body has 4 bytes, and by its size 9",)
    compressed = _with_content(tmp_path, content | {"size": 3, "compression": 1})  # as mitmproxy counts
    assert compressed.doubtful == ()


def test_an_empty_text_of_what_was_not_empty_is_left_out(tmp_path: Path) -> None:
    imported = _with_content(tmp_path, {"text": "", "size": 9})
    assert "https://a.test/" not in urls(imported)
    assert "https://a.test/: the file has no body of it" in imported.left_out
    assert _with_content(tmp_path, {"text": "", "size": 0}).exchanges[1].body == b""


def test_what_a_cache_answered_says_nothing_of_a_server(tmp_path: Path) -> None:
    """Else a round trip would be as short as the cache's answer, and each server would have thought for the rest."""
    data: Any = recordings.har()
    known: list[dict[str, float]] = [{"wait": 60}, {"wait": 95}, {"wait": 0.3}, {}, {}, {"wait": 0}]
    for entry, timings in zip(data["log"]["entries"], known, strict=False):
        entry["timings"] = timings | {"connect": -1}
    data["log"]["entries"][2]["_fromCache"] = "memory"
    (tmp_path / "x.har").write_text(json.dumps(data))
    assert [each.think_ms for each in read(tmp_path / "x.har").exchanges] == [None, 35, None, None]


def test_an_address_that_is_none_costs_its_own_entry_alone(tmp_path: Path) -> None:
    data: Any = recordings.har()
    data["log"]["entries"][2]["request"]["url"] = "http://[::1/x.gif"
    (tmp_path / "x.har").write_text(json.dumps(data))
    assert "https://a.test/" in urls(read(tmp_path / "x.har"))


@pytest.mark.parametrize(
    "text", ['{"log": ', '{"log": 1}', '{"log": {"entries": 5}}', '{"log"' + ":[" * 9_999, '{"log":{}}']
)
def test_a_har_file_that_is_none_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.har").write_text(text)
    with pytest.raises(InputError, match=r"HAR file|no JSON|no answer"):
        read(tmp_path / "x.har")


@pytest.mark.parametrize("junk", [None, 5, "x", [], {}, [[]], {"url": 5}, -1, 1e99, True, "\ud800\n\0"])
def test_whatever_stands_in_a_har_file_is_read_or_refused(junk: object, tmp_path: Path) -> None:
    """Each value of an entry in turn."""

    def changed(value: object) -> list[object]:
        if isinstance(value, dict):
            inside = [value | {key: other} for key, part in value.items() for other in changed(part)]
            return [junk, *inside]
        return [junk]

    data: Any = recordings.har()
    for entry in changed(data["log"]["entries"][1]):
        with_junk = _har(tmp_path, entries=[entry, data["log"]["entries"][0]])
        assert len(read(with_junk).exchanges) in (1, 2)
