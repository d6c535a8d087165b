"""Requests of HTTP/3 in captures of Chromium: whom their compressed headers name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.analysis.results.qpack import request_of, target

HOST, PATH = b"a.test", b"/images/1.png?x=1"
METHOD = bytes([0x80 | 0x40 | 17])  # :method GET of the static table


def text(value: bytes, bits: int = 7, above: int = 0) -> bytes:
    assert len(value) < (1 << bits) - 1
    return bytes([above | len(value)]) + value


def section(*fields: bytes) -> bytes:
    return b"\0\0" + b"".join(fields)


AUTHORITY = bytes([0x50]) + text(HOST)


def test_names_of_the_static_table() -> None:
    assert target(section(METHOD, AUTHORITY, bytes([0x51]) + text(PATH))) == "a.test/images/1.png?x=1"
    assert target(section(AUTHORITY, bytes([0x80 | 0x40 | 1]))) == "a.test/", "the table's own entry"


def test_names_in_full_and_headers_of_others() -> None:
    other = text(b"other", 3, 0x20)[:1] + b"other" + text(b"value")
    own = text(b":path", 3, 0x20)[:1] + b":path" + text(PATH)
    assert target(section(other, AUTHORITY, own)) == "a.test/images/1.png?x=1"


def test_a_request_of_chromium() -> None:
    """Its first bytes, with Huffman's code: a host and a path."""
    stream = bytes.fromhex("011d0000d15087a4757a5d25427fd7518e60d48e62a18352398ab002bd754d")
    assert request_of(stream) == "many.test/images/image-01.png"
    assert request_of(bytes.fromhex("0703616263") + stream) == "many.test/images/image-01.png", (
        "behind a frame of other use"
    )
    assert request_of(bytes.fromhex("0003616263")) is None


@pytest.mark.parametrize("cut", range(1, 12))
def test_what_is_cut_off_names_nobody(cut: int) -> None:
    whole = section(AUTHORITY, bytes([0x51]) + text(PATH))
    assert target(whole[:-cut]) is None


@given(st.binary(max_size=60))
def test_whatever_comes_is_read_or_not(data: bytes) -> None:
    assert isinstance(target(data), str | None)
    assert isinstance(request_of(data), str | None)
