"""Loads whose generator reports well, and that are not the loads that were asked for: fewer requests, fewer
connections, or none that the server keeps."""

import dataclasses
from typing import Any

import pytest

from lanelab.driver.base.errors import RecordError
from lanelab.driver.record.reasons import Reason
from tests.kit.generator_reports import AB, AB_LOG, SPDY_LOAD, TARGETS, of_ab, of_spdy_load
from tests.kit.loads import target


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("apr_socket_recv: Connection reset by peer (104)", Reason.FAILED_REQUESTS),
        ("apr_pollset_poll: The timeout specified has expired (70007)", Reason.FAILED_REQUESTS),
        ("apr_socket_connect(): Cannot assign requested address (99)", None),
    ],
)
def test_a_load_breaks_as_well_where_ab_reports_what_it_had_until_then(words: str, reason: Reason | None) -> None:
    """That of httpd's trunk does: fewer requests than asked for, which no report of a whole load is."""
    output = of_ab(
        ("Complete requests:      4", "Complete requests:      3"), ("40960", "30720"),
        log="\n".join(AB_LOG.splitlines()[:-1]),
    )  # fmt: skip
    found = AB.read(TARGETS["ab"], dataclasses.replace(output, status=1, stderr=f"{words}\n"))
    if reason:
        assert (found.report, found.reason) == (None, reason)
        assert found.problem == f"it made 3 of 4 requests: {words}"
    else:  # what the client lacked is no result of the server's
        assert found.report
        assert found.report.stopped == "it made 3 of 4 requests"


def test_ab_that_made_all_of_its_requests_is_judged_by_its_report() -> None:
    output = dataclasses.replace(of_ab(), stderr="apr_socket_recv: Connection reset by peer (104)\n")
    found = AB.read(TARGETS["ab"], output).report
    assert found
    assert (found.requests.ended, found.stopped) == (4, "")


def test_spdy_load_that_lost_a_connection_broke_though_the_others_made_all_requests() -> None:
    """Its numbers would be those of fewer connections than were asked for."""
    errors = {"connecting to #.#.#.#:#: connection refused": {"count": 1, "p50_ms": 1.0, "max_ms": 1.0}}
    found = SPDY_LOAD.read(TARGETS["spdy-load"], of_spdy_load(errors=errors, connections=1, reconnections=0))
    assert (found.report, found.reason) == (None, Reason.FAILED_REQUESTS)
    assert "connection refused" in found.problem
    assert found.series


@pytest.mark.parametrize(
    ("arm", "connections", "kept", "fails"),
    [
        ({}, 1, 0, True),
        ({}, 1, 1, True),
        ({}, 1, 2, False),  # another server ends each second one
        ({}, 2, 0, False),  # too few to tell
        ({"keepalive": False}, 1, None, False),
        ({"keepalive_requests": 1}, 1, 0, False),
    ],
)
def test_ab_whose_connections_the_server_does_not_keep_measures_connecting(
    arm: dict[str, Any], connections: int, kept: int | None, *, fails: bool
) -> None:
    line = "" if kept is None else f"Keep-Alive requests:    {kept}\n"
    asked = target(AB, {"tls": "1.2", **arm}, requests=4, connections=connections)
    found = AB.read(asked, of_ab(("Keep-Alive requests:    4\n", line)))
    assert (found.report is None) == fails
    assert not fails or found.reason is Reason.KEEPALIVE_IGNORED


def test_ab_that_does_not_say_how_many_were_kept_is_no_evidence() -> None:
    asked = target(AB, {"tls": "1.2"}, requests=4, connections=1)
    with pytest.raises(RecordError, match="missing"):
        AB.read(asked, of_ab(("Keep-Alive requests:    4\n", "")))
