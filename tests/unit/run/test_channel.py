"""The line between controller and bed process."""

import errno
import os
import socket
import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.base import errors
from lanelab.driver.base.errors import BedError, InputError, LanelabError
from lanelab.driver.run.channel.bed_start import handle_of
from lanelab.driver.run.channel.protocol import Channel, error_from_message, error_to_message


def pair() -> tuple[Channel, Channel]:
    ours, theirs = socket.socketpair()
    return Channel(ours), Channel(theirs)


KEYS = st.text().filter(lambda key: key != "fds")  # that one counts descriptors


@given(st.lists(st.dictionaries(KEYS, st.text()), max_size=8))
def test_messages_arrive_in_order(messages: list[dict[str, object]]) -> None:
    one, other = pair()
    for message in messages:
        one.send(message)
    assert [other.receive() for _ in messages] == [(message, []) for message in messages]
    one.close()
    assert other.receive() is None
    other.close()


def test_each_message_brings_its_own_descriptors() -> None:
    """However many messages the reader finds at once."""
    one, other = pair()
    files = [os.memfd_create(f"file {number}") for number in range(6)]
    for number, fd in enumerate(files):
        os.write(fd, str(number).encode())
    one.send({"name": "none"})
    one.send({"name": "first three"}, files[:3])
    one.send({"name": "none again"})
    one.send({"name": "last three"}, files[3:])
    received = []
    for _ in range(4):
        message, fds = other.receive() or ({}, [])
        received.append((message["name"], [os.pread(fd, 9, 0) for fd in fds]))
        assert not any(os.get_inheritable(fd) for fd in fds)
        for fd in fds:
            os.close(fd)
    assert received == [
        ("none", []),
        ("first three", [b"0", b"1", b"2"]),
        ("none again", []),
        ("last three", [b"3", b"4", b"5"]),
    ]
    for fd in files:
        os.close(fd)


def test_a_large_message_passes() -> None:
    one, other = pair()
    text = "x" * 3_000_000
    threading.Thread(target=one.send, args=({"text": text},)).start()
    assert other.receive() == ({"text": text}, [])


@pytest.mark.parametrize(
    "kind", [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, LanelabError)]
)
def test_every_error_arrives_as_what_it_was(kind: type[LanelabError]) -> None:
    error = error_from_message(error_to_message(kind("what went wrong", "what to do")))
    assert type(error) is kind
    assert str(error) == "what went wrong. what to do"
    assert error.exit_status == kind.exit_status


def test_an_input_error_keeps_its_key() -> None:
    error = error_from_message(error_to_message(InputError("bad", "mend it", key="rtt")))
    assert str(error) == "rtt: bad. mend it"


def refuse(number: int) -> Callable[[int], int]:
    def pidfd_open(_pid: int) -> int:
        raise OSError(number, os.strerror(number))

    return pidfd_open


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EPERM])
def test_a_kernel_that_watches_no_process_is_named(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Before Linux 5.3, or in a container that forbids it."""
    monkeypatch.setattr(os, "pidfd_open", refuse(number))
    with pytest.raises(BedError, match="pidfd_open") as caught:
        handle_of(os.getppid())
    assert "Linux 5.3" in caught.value.remedy


def test_a_bed_whose_controller_has_ended_ends_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "pidfd_open", refuse(errno.ESRCH))
    with pytest.raises(SystemExit) as caught:
        handle_of(os.getppid())
    assert caught.value.code == 0
