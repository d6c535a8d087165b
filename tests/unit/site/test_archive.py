"""WARC files: what is written is what was recorded, to the byte; what others wrote is read, damaged or not."""

import base64
import gzip
import hashlib
import io
import re
import zlib
from typing import Any

import brotlicffi
import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from lanelab.driver.base.errors import InputError
from lanelab.driver.site.archive.http_text import chunked, dechunked
from lanelab.driver.site.archive.limits import Limits
from lanelab.driver.site.archive.read_warc import read_warc, read_warcs
from lanelab.driver.site.archive.write_warc import write_warc
from lanelab.driver.site.exchange import Exchange
from tests.kit.exchanges import DATE, HTML, PAGE, answer, exchange, record, zipped

URL = "http://a.test/"
NAMES = st.from_regex(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}", fullmatch=True).filter(
    lambda name: name.lower() not in ("transfer-encoding", "content-length", "content-encoding")
)
VALUES = st.text(st.characters(codec="latin-1", exclude_categories=["Cc"]), max_size=40).map(lambda text: text.strip())
VALUES = VALUES.filter(lambda text: text == text.strip(" \t"))
FIELDS = st.lists(st.tuples(NAMES, VALUES), max_size=8).map(tuple)
EXCHANGES = st.builds(
    Exchange,
    method=st.sampled_from(["GET", "POST", "HEAD", "OPTIONS"]),
    url=st.from_regex(r"https?://[a-z]{1,8}\.test/[a-z0-9/?=&%+]{0,30}", fullmatch=True),
    request_headers=FIELDS,
    request_body=st.binary(max_size=60),
    status=st.integers(200, 599),
    reason=st.sampled_from(["OK", "", "Caf\xe9 au lait"]),
    headers=FIELDS,
    body=st.binary(max_size=200),
    protocol=st.sampled_from(["http/1.0", "http/1.1", "h2", "spdy/3.1"]),
    at_utc=st.sampled_from([DATE, "2012-05-01T00:00:00.123456Z"]),
)


def written(*exchanges: Exchange) -> bytes:
    out = io.BytesIO()
    write_warc(out, exchanges)
    return out.getvalue()


def read(data: bytes, limits: Limits | None = None) -> tuple[Exchange, ...]:
    return read_warc(data, "a.warc", limits or Limits()).exchanges


@given(st.lists(EXCHANGES, min_size=1, max_size=4))
def test_everything_comes_back_as_it_was(exchanges: list[Exchange]) -> None:
    data = written(*exchanges)
    assert read(data) == tuple(exchanges)
    assert written(*exchanges) == data


@pytest.mark.parametrize(
    "headers",
    [
        (("content-type", "text/html"), ("X-Bytes", "caf\xe9 \xff\x80"), ("set-cookie", "a=1"), ("set-cookie", "b=2")),
        (("Transfer-Encoding", "chunked"), ("X-Empty", ""), ("x-colons", "a:b:c")),
    ],
)
def test_the_bytes_of_head_and_body_stand_in_the_record(headers: tuple[tuple[str, str], ...]) -> None:
    data = written(exchange(headers=headers, body=b"\x00\xff" * 500))
    blocks = [
        each.raw_stream.read()
        for each in ArchiveIterator(io.BytesIO(data), no_record_parse=True)
        if each.rec_type == "response"
    ]
    head = "HTTP/1.1 200 OK\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers) + "\r\n"
    body = b"\x00\xff" * 500
    framed = b"3e8\r\n" + body + b"\r\n0\r\n\r\n" if "chunked" in head else body
    assert blocks == [head.encode("latin-1") + framed]


def test_warcio_finds_every_digest_right() -> None:
    bodies = {"gzip": gzip.compress(PAGE), "br": brotlicffi.compress(PAGE), "identity": PAGE}
    coded = [
        exchange(f"http://a.test/{name}", headers=(*HTML, ("Content-Encoding", name), *more), body=body)
        for name, body in bodies.items()
        for more in ((), (("Transfer-Encoding", "chunked"),))
    ]
    checked = list[bool | None]()
    iterator = ArchiveIterator(
        io.BytesIO(written(*coded, exchange(method="POST", request_body=b"a=1"))), check_digests=True
    )
    for each in iterator:
        each.raw_stream.read()
        checked.append(each.digest_checker.passed)
    assert checked == [True] * (1 + 2 * 7)


def test_each_record_names_its_content_type() -> None:
    """In the bytes themselves: warcio is content without it, other readers pass such records over."""
    data = gzip.decompress(written(exchange(body=b"x"), exchange("http://b.test/", method="POST", request_body=b"a=1")))
    heads = re.findall(rb"WARC/1\.1\r\n(?:.+\r\n)+", data)
    types = [re.findall(rb"^Content-Type: (.*)\r$", head, re.MULTILINE) for head in heads]
    answers = [[b"application/http; msgtype=response"], [b"application/http; msgtype=request"]]
    assert types == [[b"application/warc-fields"], *answers * 2]


def test_each_record_is_a_member_of_its_own_and_names_its_protocol() -> None:
    data = written(exchange(protocol="h2"), exchange("http://b.test/"))
    members, rest = [], data
    while rest:
        member = zlib.decompressobj(31)
        members.append(member.decompress(rest))
        rest = member.unused_data
    assert [each[:10] for each in members] == [b"WARC/1.1\r\n"] * 5
    assert b"WARC-Protocol: h2\r\n" in members[1]
    assert b"WARC-Concurrent-To: " in members[2]


@pytest.mark.parametrize("coding", ["gzip, chunked", "identity", "chunked, chunked", "chunkedd"])
def test_another_transfer_coding_is_named_and_not_made(coding: str) -> None:
    odd = exchange(headers=(("Transfer-Encoding", coding), ("X", "1")))
    assert b"X-Archive-Orig-Transfer-Encoding: " + coding.encode() in gzip.decompress(written(odd))
    assert read(written(odd)) == (odd,)


@pytest.mark.parametrize(
    "changes",
    [
        {"headers": (("X", "a\r\nSet-Cookie: x"),)},
        {"headers": (("X\nY", "a"),)},
        {"request_headers": (("X", "a\0"),)},
        {"url": "http://a.test/\r\nWARC-Type: x"},
        {"reason": "OK\r\nX: y"},
        {"headers": (("X", "snow \u2603"),)},
    ],
)
def test_what_would_begin_another_field_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="no head can have"):
        written(exchange(**changes))


def test_a_request_is_found_by_the_answer_it_names_or_by_its_address() -> None:
    post = b"POST /f HTTP/1.1\r\nHost: a.test\r\n\r\nq=1"
    named = [
        record("request", URL + "f", post, ("WARC-Concurrent-To", "<urn:x:1>")),
        record("response", URL + "f", answer(b"one"), ("WARC-Record-ID", "<urn:x:1>")),
    ]
    unnamed = [
        record("response", URL + "g", answer(b"two")),
        record("request", URL + "g", post),
        record("response", URL + "g", answer(b"three")),
        record("request", URL + "g", post.replace(b"q=1", b"q=2")),
    ]
    read_back = read(zipped(*named, *unnamed))
    assert [(each.method, each.request_body, each.body) for each in read_back] == [
        ("POST", b"q=1", b"one"),
        ("POST", b"q=1", b"two"),
        ("POST", b"q=2", b"three"),
    ]


def _digest(body: bytes) -> tuple[str, str]:
    return "WARC-Payload-Digest", "sha1:" + base64.b32encode(hashlib.sha1(body).digest()).decode()  # noqa: S324


@pytest.mark.parametrize(
    "fields",
    [
        [_digest(PAGE)],
        [("WARC-Refers-To", "<urn:x:1>")],
        [("WARC-Refers-To-Target-URI", URL)],
        [
            ("WARC-Profile", "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"),
            _digest(PAGE),
            ("WARC-Truncated", "length"),
        ],
    ],
    ids=["digest", "id", "address", "as crawlers write it"],
)
@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
def test_a_revisit_has_its_own_head_and_the_body_of_another(fields: list[tuple[str, str]], *, first: bool) -> None:
    original = record("response", URL, answer(PAGE, "X: 1"), ("WARC-Record-ID", "<urn:x:1>"))
    again = record("revisit", URL + "again", answer(b"", "X: 2"), *fields)
    exchanges = read(zipped(original, again) if first else zipped(again, original))
    assert {(each.url, each.headers, each.body) for each in exchanges} == {
        (URL, (("X", "1"),), PAGE),
        (URL + "again", (("X", "2"),), PAGE),
    }


def test_answers_of_several_files_come_file_by_file() -> None:
    def file(*paths: str) -> bytes:
        return b"".join(record("response", f"http://a.test{path}", answer(b"x")) for path in paths)

    found = read_warcs([("one", file("/1", "/2", "/3")), ("two", file("/4", "/5"))])
    assert [each.url[-2:] for each in found.exchanges] == ["/1", "/2", "/3", "/4", "/5"]


def test_a_revisit_of_what_is_not_there_is_named() -> None:
    archive = read_warc(zipped(record("response", URL, answer(PAGE)), record("revisit", URL + "b", answer(b""))), "a")
    assert archive.left_out == ("record 2: http://a.test/b: what it repeats is not in the archive",)


def test_a_revisit_that_says_not_modified_is_the_original() -> None:
    original = record("response", URL, answer(PAGE, "X: 1"))
    same = record("revisit", URL, answer(b"", status="304 Not Modified"), ("WARC-Profile", "x/server-not-modified"))
    assert [(each.status, each.body) for each in read(zipped(original, same))] == [(200, PAGE)] * 2


def test_resources_and_arc_files_are_answers() -> None:
    resource = record("resource", URL + "r.json", b"{}", ("Content-Type", "application/json"))
    assert [(each.status, each.headers, each.body) for each in read(resource)] == [
        (200, (("Content-Type", "application/json"),), b"{}")
    ]
    block = answer(PAGE, "Content-Type: text/html")
    info = b"1 0 Some\nURL IP-address Archive-date Content-type Archive-length\n"
    arc = b"filedesc://a.arc 0.0.0.0 20140301000000 text/plain %d\n%s\n" % (len(info), info)
    arc += b"http://a.test/ 1.2.3.4 20140401000000 text/html %d\n%s\n" % (len(block), block)
    for data in (arc, gzip.compress(arc)):
        [found] = read(data)
        assert (found.url, found.body, found.at_utc) == (URL, PAGE, "2014-04-01T00:00:00Z")


# --- digests that archives say of themselves -----


@pytest.mark.parametrize(
    "said",
    ["sha1:{base32}", "SHA1:{hexadecimal}", "SHA-256:{sha256}", "sha256:{base64}", "md5:{md5}", "x-unknown:abc", ""],
)
def test_a_block_that_was_changed_is_left_out_and_named(said: str) -> None:
    def recorded(block: bytes, described: bytes) -> bytes:
        sha1 = hashlib.sha1(described, usedforsecurity=False).digest()
        sha256 = hashlib.sha256(described)
        text = said.format(
            base32=base64.b32encode(sha1).decode(),
            hexadecimal=sha1.hex(),
            sha256=sha256.hexdigest().upper(),
            base64=base64.b64encode(sha256.digest()).decode(),
            md5=hashlib.md5(described, usedforsecurity=False).hexdigest(),
        )
        return record("response", URL + "a", block, ("WARC-Block-Digest", text))

    block, changed = answer(b"color: red"), answer(b"color: tan")
    assert [each.body for each in read(GOOD + recorded(block, block))] == [PAGE, b"color: red"]
    archive = read_warc(GOOD + recorded(changed, block), "a.warc")
    words = "record 2: http://a.test/a: it was changed: its block has another digest than its head says"
    if "{" in said:
        assert ([each.url for each in archive.exchanges], archive.left_out) == ([URL], (words,))
    else:
        assert ([each.url for each in archive.exchanges], archive.left_out) == ([URL, URL + "a"], ())


def test_a_body_with_another_digest_is_doubtful_and_revisits_do_not_get_it() -> None:
    """Tools differ in what they hash: the body with its chunks or without, or the whole block. With another digest it
    is used, but nothing is known to be the same."""
    chunks = chunked(PAGE)
    for hashed in (PAGE, chunks, answer(chunks, "Transfer-Encoding: chunked")):
        sound = record("response", URL, answer(chunks, "Transfer-Encoding: chunked"), _digest(hashed))
        again = record("revisit", URL + "again", answer(b""), _digest(hashed))
        archive = read_warc(sound + again, "a")
        assert (archive.doubtful, [each.body for each in archive.exchanges]) == ((), [PAGE, PAGE])
    again = record("revisit", URL + "again", answer(b""), _digest(b"original"))
    archive = read_warc(record("response", URL, answer(PAGE), _digest(b"original")) + again, "a")
    assert [(each.url, each.body) for each in archive.exchanges] == [(URL, PAGE)]
    assert archive.doubtful == ("http://a.test/: its body has another digest than its record says",)
    assert archive.left_out == ("record 2: http://a.test/again: what it repeats is not in the archive",)


# --- bodies as tools store them -----


@given(st.binary(max_size=300))
def test_chunks_come_off(body: bytes) -> None:
    assert dechunked(chunked(body)) == body


@pytest.mark.parametrize(
    ("stored", "body"),
    [
        (b"5\r\nhello\r\n0\r\n\r\n", b"hello"),
        (b"3;x=y\r\nhel\r\n2 \r\nlo\r\n0\r\nTrailer: x\r\n\r\n", b"hello"),
        (b"5\nhello\n0\n\n", b"hello"),
        (b"5\r\nhello\r\n0\r\n\r\n\r\nmore", b"hello"),  # a browser reads as far as the last chunk
        (b"hello", b"hello"),  # a tool took the chunks off and left the field
        (b"add\r\nis a word and no length", b"add\r\nis a word and no length"),
        (b"", b""),
    ],
)
def test_bodies_in_chunks_and_those_that_only_say_so(stored: bytes, body: bytes) -> None:
    [found] = read(record("response", URL, answer(stored, "Transfer-Encoding: chunked")))
    assert found.body == body


@pytest.mark.parametrize("stored", [b"2000\r\n<html>half a page", b"5\r\nhello", b"add\r\nis a word and no length"])
def test_what_may_be_a_chunk_that_is_cut_off_is_doubtful(stored: bytes) -> None:
    archive = read_warc(record("response", URL, answer(stored, "Transfer-Encoding: chunked")), "a")
    assert archive.doubtful == ("http://a.test/: its body may be a chunk that is cut off",)
    assert read_warc(record("response", URL, answer(stored)), "a").doubtful == ()


@pytest.mark.parametrize("coding", ["gzip", "br", "deflate", "zstd"])
def test_a_body_that_was_stored_decoded_loses_the_field(coding: str) -> None:
    [found] = read(record("response", URL, answer(PAGE, f"Content-Encoding: {coding}", "Content-Length: 9", "X: 1")))
    assert (found.headers, found.body) == ((("X", "1"),), PAGE)


def test_heads_are_read_as_browsers_do() -> None:
    block = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404\nA:b\nFolded: one\n  two\nnonsense\nC : d \n\nbody"
    [found] = read(record("response", URL, block))
    assert (found.status, found.reason, found.body) == (404, "", b"body")
    assert found.headers == (("A", "b"), ("Folded", "one two"), ("C", "d"))


# --- damage -----

GOOD = record("response", URL, answer(PAGE))


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (record("response", URL, b"no head"), "does not begin with HTTP/"),
        (
            record("response", URL, answer(b"5\r\nhello\r\n9\r\nwor", "Transfer-Encoding: chunked")),
            "a chunk is cut off",
        ),
        (record("response", URL, answer(b"2\r\nhi\r\nno size", "Transfer-Encoding: chunked")), "a chunk is cut off"),
        (record("response", URL, answer(PAGE), date="yesterday"), "no date"),
        (record("response", URL, answer(PAGE), ("WARC-Truncated", "time")), "cut it off"),
        (record("response", URL, answer(PAGE), ("WARC-Segment-Number", "1")), "several pieces"),
        (record("response", URL, answer(PAGE)).replace(b"Content-Length", b"Content-Lengthh"), "no Content-Length"),
        (b"WARC/1.0\r\nContent-Length: -5\r\n\r\n\r\n\r\n", "negative"),
        (b"WARC/9.9\r\nContent-Length: 5\r\n\r\nhello\r\n\r\n", "none of WARC's"),
        (b"WARC/1.0\r\nX: " + b"y" * 2_000_000 + b"\r\n\r\n", "too long"),
    ],
)
@pytest.mark.parametrize("packed", [True, False], ids=["gzip", "plain"])
def test_one_bad_record_does_not_cost_the_others(bad: bytes, why: str, *, packed: bool) -> None:
    other = record("response", URL + "other", answer(PAGE))
    data = zipped(GOOD, bad, other) if packed else GOOD + bad + other
    archive = read_warc(data, "a.warc")
    assert [each.url for each in archive.exchanges] == [URL, URL + "other"]
    assert why in archive.left_out[0]


def test_compressed_bytes_that_are_damaged_cost_one_record() -> None:
    members = [gzip.compress(record("response", f"{URL}{name}", answer(PAGE * 9)), mtime=0) for name in "abc"]
    broken = members[1][:40] + bytes(byte ^ 0xFF for byte in members[1][40:80]) + members[1][80:]
    archive = read_warc(members[0] + broken + members[2], "a.warc.gz")
    assert [each.url for each in archive.exchanges] == [URL + "a", URL + "c"]
    assert "damaged" in archive.left_out[0]


def test_an_archive_that_was_cut_off_has_what_is_whole() -> None:
    data = zipped(GOOD, record("response", URL + "b", answer(PAGE)))
    archive = read_warc(data[:-20], "a.warc.gz")
    assert [each.url for each in archive.exchanges] == [URL]
    assert archive.left_out == ("record 2: the archive ends in the middle of a record",)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (zipped(record("response", URL, answer(b"\0" * 3_000_000))), "larger than 1,000,000 bytes"),
        (zipped(*[record("response", URL, answer(b"\0" * 900_000))] * 5), "more than 4,000,000 bytes"),
        (gzip.compress(b"\n" * 20_000_000), "more than 4,000,000 bytes"),
        (gzip.compress(b"\0" * 20_000_000), "no answer"),
        (GOOD * 12, "more than 10 answers"),
        (record("metadata", URL, b"") * 60, "more than 50 records"),
        (record("warcinfo", "", b""), "no answer"),
        (b"", "no answer"),
        (b"\x28\xb5\x2f\xfd rest", "zstd --decompress"),
        (GOOD.replace(b"http://a", b"ftp://a"), "no answer"),
        (b"\x1f\x8b\x08" * 5_000, "damaged in more than 30 places"),
    ],
    ids=["record", "total", "head", "zeros", "count", "records", "none", "empty", "zstd", "scheme", "damages"],
)
def test_what_would_fill_the_memory_is_refused(data: bytes, why: str) -> None:
    answers, records = (10 if "answers" in why else 1_000), (50 if "records" in why else 5_000)
    small = Limits(total_bytes=4_000_000, record_bytes=1_000_000, answers=answers, records=records, damages=30)
    with pytest.raises(InputError, match=why):
        read(data, small)
