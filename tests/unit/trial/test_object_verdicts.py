"""Which requests stand for which objects of a site, and which for none."""

import copy
from dataclasses import replace
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.reasons import Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.page_load.expectation import Expected
from lanelab.driver.trial.page_load.judges.registry import judge
from lanelab.driver.trial.recorders.tcpdump import CaptureOptions
from lanelab.driver.trial.tolerances import Tolerances
from tests.kit.falsified import H2, HTTP, add, change, connections, drop, judged, nearly
from tests.kit.judging import LINK, STRICT, reasons
from tests.kit.records import SITE, Data, agree, ask, record, request


def test_an_inexact_answer_that_is_tolerated_stands_for_its_object() -> None:
    data = record(HTTP)
    nearly("a.test/style.css?v=2", "nearest")(data)
    assert judged(data, packets=connections(3), allowed=Tolerances(inexact=1)) == []
    assert {each.reason for each in judged(data, packets=connections(3))} == {Reason.INEXACT_ANSWER}


def test_a_request_past_a_cache_gets_the_same_object() -> None:
    data = record(HTTP)
    nearly("a.test/style.css?v=1&_=9", "stripped")(data)
    assert judged(data, packets=connections(3)) == []


def test_objects_that_come_late_or_with_another_status_are_judged_as_they_were_recorded() -> None:
    def of(data: Data, **changed: Any) -> set[str]:
        objects = (SITE.objects[0], replace(SITE.objects[1], **changed), SITE.objects[2])
        expected = Expected(HTTP, replace(SITE, objects=objects), LINK, STRICT, {"capture": CaptureOptions()})
        return {str(each.reason) for each in judge(TrialRecord.from_json(data), expected)}

    absent = record(HTTP)
    drop(1)(absent)
    del absent["evidence"]["server"]["requests"][1]
    assert "missing-object" in of(absent)
    assert "missing-object" not in of(absent, late=True)
    gone = record(HTTP)
    change(1, status=404)(gone)
    assert "failed-object" in of(gone)
    assert "failed-object" not in of(gone, status=404)
    assert "failed-object" in of(record(HTTP), status=404)


@pytest.mark.parametrize(("status", "counts"), [(204, True), (205, True), (200, False)])
def test_an_answer_without_a_body_need_not_be_read(status: int, *, counts: bool) -> None:
    """Chromium says of it that it was given up, as of a load that was cut off."""
    data = record(HTTP)
    change(1, status=status, error="net::ERR_ABORTED", body_bytes=0)(data)
    agree(data, HTTP)
    objects = (SITE.objects[0], replace(SITE.objects[1], status=status, size=0), SITE.objects[2])
    expected = Expected(HTTP, replace(SITE, objects=objects), LINK, STRICT, {"capture": CaptureOptions()})
    failures = judge(TrialRecord.from_json(data), expected)
    assert (failures == []) is counts, failures


def test_what_nobody_answered_when_it_was_recorded_may_be_asked_for_again() -> None:
    data = record(HTTP)
    add("dead.test/ad.js", status=None, error="net::ERR_NAME_NOT_RESOLVED")(data)
    data["evidence"]["server"]["requests"].pop()
    site = replace(SITE, unanswered=("dead.test/ad.js",))
    expected = Expected(HTTP, site, LINK, STRICT, {"capture": CaptureOptions()})
    assert Reason.OUTSIDE_REQUEST in reasons(data)
    assert Reason.OUTSIDE_REQUEST not in {each.reason for each in judge(TrialRecord.from_json(data), expected)}


def test_a_site_that_answers_missing_objects_lets_them_be_asked_for() -> None:
    data = record(HTTP)
    add("a.test/other", status=404)(data)
    expected = Expected(HTTP, replace(SITE, answers_missing=True), LINK, STRICT, {"capture": CaptureOptions()})
    assert Reason.EXTRA_REQUEST in reasons(data)
    assert Reason.EXTRA_REQUEST not in {each.reason for each in judge(TrialRecord.from_json(data), expected)}


def test_what_is_still_under_way_after_the_load_event_is_no_evidence_of_anything() -> None:
    """Then the browser knows a status at most. Before the load event it would be a gap."""
    unknown: Any = {"connection": None, "remote": None, "wire_bytes": 0, "protocol": None, "response_headers": []}
    after, before = record(HTTP), record(HTTP)
    add("a.test/favicon.ico", before_load=False, **unknown)(after)
    assert reasons(after, packets=connections(4)) == []
    change(1, **unknown)(before)
    assert reasons(before, packets=connections(3))


def of_site(data: Data, arm: Arm = HTTP, allowed: Tolerances = STRICT, **changed: Any) -> list[Reason]:
    expected = Expected(arm, replace(SITE, **changed), LINK, allowed, {"capture": CaptureOptions()})
    data = copy.deepcopy(data)
    agree(data, arm)
    return [each.reason for each in judge(TrialRecord.from_json(data), expected)]


def test_each_thing_that_is_posted_to_one_address_has_an_answer_of_its_own() -> None:
    """Two answers with one address: each request got one of them, and both were asked for."""
    first = replace(SITE.objects[1], path="/api", method="POST", request_sha1="1" * 40, size=300)
    both = (*SITE.objects, first, replace(first, request_sha1="2" * 40, size=400))
    data = record(HTTP)
    for number, size in enumerate((300, 400), 8):
        ask(data, request("a.test/api", number, HTTP, body=size) | {"method": "POST"}, HTTP)
    assert of_site(data, objects=both) == []
    data["requests"][-1]["body_bytes"] = 401
    assert of_site(data, objects=both) == [Reason.FAILED_OBJECT]
    del data["requests"][-1]
    assert of_site(data, objects=both) == [Reason.MISSING_OBJECT]


@pytest.mark.parametrize("part", ["", "#top"])
def test_an_address_in_clear_may_lead_to_the_same_one_with_tls(part: str) -> None:
    arm = Arm.parse("as recorded", {"protocol": "h2", "tls": "1.3", "schemes": "recorded"})
    page = replace(SITE.objects[0], scheme="https")
    there = f"https://a.test/index.html{part}"
    step = replace(page, scheme="http", status=301, headers=(("Location", there),))
    data = record(arm)
    data["requests"][0] |= {"url": there, "tls": None}  # Chromium does not say it of what a redirect led to
    ask(
        data,
        request("a.test/index.html", 9, arm, body=0)
        | {
            "url": "http://a.test/index.html", "protocol": "http/1.1", "tls": None, "status": 301,
            "response_headers": [["Location", there]],
        },
        arm,
    )  # fmt: skip
    clear = {"tls": None, "tls_resumed": None, "local": "10.10.2.2:80", "remote": "10.10.1.2:40019"}
    data["evidence"]["server"]["requests"][-1] |= clear | {"protocol": "HTTP/1.1", "status": 301}
    assert of_site(data, arm, objects=(step, page, *SITE.objects[1:])) == []
    both = (*SITE.objects, *(replace(each, scheme="https") for each in SITE.objects))
    assert of_site(record(H2), H2, objects=both) == []


def test_a_known_address_asked_for_by_another_method_is_no_known_request() -> None:
    data = record(HTTP)
    ask(data, request("a.test/style.css?v=1", 9, HTTP) | {"method": "POST", "status": 404}, HTTP)
    assert reasons(data) == [Reason.EXTRA_REQUEST]
    data["requests"][-1] |= {"method": "HEAD", "status": 200}
    assert reasons(data) == []


def test_a_host_that_once_did_not_answer_may_not_be_asked_for_other_things() -> None:
    data = record(HTTP)
    add("dead.test/other.js", status=None, error="net::ERR_NAME_NOT_RESOLVED")(data)
    data["evidence"]["server"]["requests"].pop()
    assert of_site(data, unanswered=("dead.test/ad.js",)) == [Reason.OUTSIDE_REQUEST]


def test_where_missing_objects_are_answered_with_404_no_other_answer_is_theirs() -> None:
    data = record(HTTP)
    add("a.test/other", status=200)(data)
    assert of_site(data, answers_missing=True) == [Reason.EXTRA_REQUEST]


def test_a_late_object_may_be_given_up_and_not_fail() -> None:
    late = (*SITE.objects[:2], replace(SITE.objects[2], late=True))
    data = record(HTTP)
    data["evidence"]["server"]["requests"].pop()
    change(2, status=None, ended_ms=None, error="net::ERR_ABORTED")(data)
    assert of_site(data, objects=late) == []
    change(2, error="net::ERR_CONNECTION_RESET")(data)
    assert of_site(data, objects=late) == [Reason.FAILED_OBJECT]


def test_an_inexact_answer_stands_for_one_object_and_not_for_all_of_its_path() -> None:
    data = record(HTTP)
    nearly("a.test/style.css?v=2", "nearest")(data)
    more = (*SITE.objects, replace(SITE.objects[1], path="/style.css?v=3"))
    allowed = Tolerances(inexact=1)
    assert of_site(data, allowed=allowed) == []
    assert of_site(data, allowed=allowed, objects=more) == [Reason.MISSING_OBJECT]


def test_a_part_stands_for_the_whole_only_where_a_part_was_asked_for() -> None:
    data = record(HTTP)
    change(2, status=206, body_bytes=1)(data)
    assert reasons(data) == [Reason.FAILED_OBJECT]
    change(2, request_headers=[["Range", "bytes=0-0"]])(data)
    assert reasons(data) == []


def test_an_answer_of_which_the_server_does_not_say_how_it_was_found_is_no_evidence() -> None:
    data = record(HTTP)
    data["evidence"]["server"]["requests"][1]["match"] = None
    assert reasons(data) == [Reason.EVIDENCE_MISSING]
    assert reasons(data, Arm.parse("nginx", {"server": "nginx"})) == []


def test_an_address_may_end_with_its_question_mark() -> None:
    """As that of fonts in old style sheets: it is another address than the one without."""
    objects = (*SITE.objects[:2], replace(SITE.objects[2], path="/font.eot?"))
    site = replace(SITE, objects=objects)
    data = record(HTTP, site)
    assert of_site(data, objects=objects) == []
    change(2, url="http://b.test/font.eot?#iefix")(data)
    assert of_site(data, objects=objects) == []
    change(2, url="http://b.test/font.eot")(data)
    assert of_site(data, objects=objects) == [Reason.MISSING_OBJECT, Reason.EXTRA_REQUEST]


def test_what_is_asked_for_at_another_port_is_another_thing() -> None:
    """In a recording it got no answer, or one that no site has."""
    data = record(HTTP)
    for url in ("dead.test:8080/ad.js", "a.test:8080/index.html"):
        add(url, status=None, error="net::ERR_CONNECTION_REFUSED")(data)
        data["evidence"]["server"]["requests"].pop()
    assert of_site(data, unanswered=("dead.test:8080/ad.js", "a.test:8080/index.html")) == []
    assert of_site(data) == [Reason.OUTSIDE_REQUEST, Reason.EXTRA_REQUEST]
    data["requests"][-2]["url"] = "http://dead.test/ad.js"
    assert Reason.OUTSIDE_REQUEST in of_site(data, unanswered=("dead.test:8080/ad.js", "a.test:8080/index.html"))
