"""mod_replay against a model of what docs/reference/replay.md says: any site, any requests, the same answers."""

import re
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lanelab.driver.site.site import StoredObject

from .replaying import ask, pack_of, replaying, site_of, stored

NAMES = ["a", "b", "c", "_", "v", "cb", "CB", "ts", "ord", "rnd", "x"]
VALUES = ["", "1", "2", "abc", "1353586800", "1353586800123", "1353586800123.5", "0.12345678", "0.1234567", "%20"]
PARAMETERS = st.one_of(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES)).map("=".join), st.sampled_from(["", "a", "1353586800"])
)
QUERIES = st.one_of(st.none(), st.lists(PARAMETERS, max_size=4).map("&".join))
TARGETS = st.builds(
    lambda path, query: path if query is None else f"{path}?{query}",
    st.sampled_from(["/", "/p", "/p/", "/%2f|"]),
    QUERIES,
)
HOSTS = st.sampled_from(["a.test", "b.test"])
TOKENS = st.text("!#$%&'*+-.^_`|~09AZaz", min_size=1, max_size=8).map(lambda name: "X-" + name)
FIELD_VALUES = st.text(st.characters(codec="latin-1", exclude_categories=["Cc"]), max_size=20).map(str.strip)
HEADERS = st.lists(st.tuples(TOKENS, FIELD_VALUES), min_size=1, max_size=4).map(tuple)
STATUSES = st.sampled_from([200, 200, 200, 201, 206, 301, 404, 418, 599, 999])
OBJECTS = st.builds(
    lambda host, target, body, headers, status, method: stored(
        host + target, body, headers, status=status, reason="Words", method=method
    ),
    HOSTS, TARGETS, st.binary(max_size=50), HEADERS, STATUSES, st.sampled_from(["GET", "GET", "GET", "POST"]),
)  # fmt: skip
BUSTERS = {"_", "_t", "_ts", "cb", "cachebuster", "cachebust", "cache_buster", "nocache", "no_cache", "uncache"}
BUSTERS |= {"rand", "random", "rnd", "ts", "timestamp", "ord", "correlator", "dc_rnd"}


def parameters(url: str) -> list[str]:
    return [each for each in url.partition("?")[2].split("&") if each]


def means_something(parameter: str) -> bool:
    name, mark, value = parameter.partition("=")
    if not mark:
        name, value = "", parameter
    if name.lower() in BUSTERS:
        return False
    return not re.fullmatch(r"1\d{9}|1\d{12}|1\d{12}\.\d+|0\.\d{8,}", value)


def expected(objects: list[StoredObject], method: str, url: str) -> tuple[str, StoredObject | None]:
    same_method = [each for each in objects if each.object.method == method]
    exact = [each for each in same_method if each.object.url == url]
    if exact:
        return "exact", exact[0]
    path = url.partition("?")[0]
    there = [each for each in same_method if each.object.url.partition("?")[0] == path]
    meant = [each for each in parameters(url) if means_something(each)]
    stripped = [each for each in there if [p for p in parameters(each.object.url) if means_something(p)] == meant]
    if stripped:
        return "stripped", stripped[0]
    if not there:
        return "none", None
    wanted = Counter(parameters(url))
    return "nearest", max(there, key=lambda each: (wanted & Counter(parameters(each.object.url))).total())


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(OBJECTS, min_size=1, max_size=12), st.lists(st.tuples(HOSTS, TARGETS), max_size=25))
def test_any_site_answers_as_the_reference_says(
    apache: Path, module_tools: None, objects: list[StoredObject], others: list[tuple[str, str]]
) -> None:
    assert module_tools is None
    urls = [*(each.object.url for each in objects), *(host + target for host, target in others)]
    asked = [(method, url) for url in urls for method in ("GET", "POST")]
    with replaying(apache, site_of(objects), pack_of(objects), {"keepalive_requests": 0}) as server:
        with server.connect() as line:
            for number, (method, url) in enumerate(asked):
                match, each = expected(objects, method, url)
                answer = ask(line, method, url)
                if each is None:
                    assert answer.line == "HTTP/1.1 404 Not Found", url
                    continue
                assert answer.line == f"HTTP/1.1 {each.object.status} Words", (number, method, url, match)
                assert answer.body == each.body, (number, method, url, match)
                sent = [pair for pair in answer.headers if pair[0].startswith("X-")]
                assert sent == list(each.object.headers), (number, method, url)
        matches = [each.match for each in server.served(len(asked))]
        assert matches == [expected(objects, method, url)[0] for method, url in asked]
        assert not server.unexpected()


def test_the_model_knows_its_words() -> None:
    one, two = stored("a.test/p?a=1&_=1"), stored("a.test/p?b=2")
    assert expected([one, two], "GET", "a.test/p?a=1&_=1") == ("exact", one)
    assert expected([one, two], "GET", "a.test/p?a=1") == ("stripped", one)
    assert expected([one, two], "GET", "a.test/p?b=2&a=2") == ("nearest", two)
    assert expected([one, two], "POST", "a.test/p?b=2") == ("none", None)
