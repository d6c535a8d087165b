"""How faithful a replay was: each piece of evidence is changed or taken away in turn."""

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from PIL import Image

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.errors import InputError, RecordError
from lanelab.driver.collect.fidelity.experiment import experiment_text, wished
from lanelab.driver.collect.fidelity.manifest_notes import keep, with_fidelity
from lanelab.driver.collect.fidelity.measure import Loads, differences_of, fidelity_of, least, parts_of, score_of
from lanelab.driver.collect.fidelity.verify import compare
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.record.reasons import Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.fidelity import ProtocolFidelity
from lanelab.driver.site.manifest import parse_manifest, read_manifest
from lanelab.driver.site.site import Site
from tests.kit.fidelities import FOUND
from tests.kit.machine import ROOT
from tests.kit.records import SITE, Data, record, request, served

ARM = Arm.parse("one", {})
MANIFEST = ROOT / "tests" / "data" / "sites" / "two-origins" / "site.yaml"
LOADS = 2


def found(change: Callable[[Data], object] = lambda _data: None, *, site: Site = SITE) -> ProtocolFidelity:
    """Of two loads, the second of which is changed."""
    data = record(ARM)
    for each in data["evidence"]["server"]["requests"]:
        each["match"] = "exact"
    second = record(ARM)
    second["evidence"]["server"]["requests"] = [dict(each) for each in data["evidence"]["server"]["requests"]]
    change(second)
    records = [TrialRecord.from_json(data), TrialRecord.from_json(second)]
    return fidelity_of(Loads("http/1.1", records), LOADS, site)


def log(data: Data) -> list[Data]:
    lines: list[Data] = data["evidence"]["server"]["requests"]
    return lines


def ask(data: Data, url: str, **line: object) -> None:
    log(data).append({**served(request(url, 7, ARM), ARM), "match": "none", "status": 404, **line})


def counts(each: ProtocolFidelity) -> tuple[int, int, int, int]:
    return each.exact, each.inexact, each.missing, each.extra


def test_a_faithful_replay_has_100_percent() -> None:
    each = found()
    assert counts(each) == (6, 0, 0, 0)
    assert (each.loads, each.wanted, each.bytes_recorded, each.bytes_off) == (2, 6, 12_400, 0)
    assert (each.always, each.ever, each.score, each.problems) == (3, 3, 100.0, ())


def test_what_was_not_asked_for_is_missing() -> None:
    each = found(lambda data: log(data).pop())
    assert counts(each) == (5, 0, 1, 0)
    assert each.bytes_off == 5000
    assert parts_of(each) == {"requests": 5 / 6, "bytes": 1 - 5000 / 12_400, "stability": 2 / 3}
    assert each.score == pytest.approx(100 * (1 - 5000 / 12_400), abs=0.001)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"error": "net::ERR_ABORTED"}, "net::ERR_ABORTED"),
        ({"ended_ms": 9999.0}, "ended after the load event"),
        ({"from_cache": True, "connection": None}, "from the cache"),
    ],
)
def test_what_no_trial_may_count_with_is_missing_though_the_server_answered_it(
    change: dict[str, object], why: str
) -> None:
    """Else a site whose style sheet the browser refuses each time has a score of 100%."""
    each = found(lambda data: data["requests"][2].update(change))
    assert counts(each) == (5, 0, 1, 0)
    assert each.bytes_off == 5000
    assert each.score is not None
    assert each.score < 100
    data = record(ARM)
    data["requests"][2].update(change)
    assert differences_of([TrialRecord.from_json(data)], SITE) == (f"missing: b.test/logo.png ({why})",)


def test_what_differs_is_named() -> None:
    data = record(ARM)
    ask(data, "a.test/more.js")
    ask(data, "a.test/form", method="POST")
    log(data).pop(2)
    assert differences_of([TrialRecord.from_json(data)] * 2, SITE) == (
        "missing: b.test/logo.png",
        "extra: a.test/more.js",
        "extra: POST a.test/form",
    )


def test_a_websockets_handshake_is_nothing_that_differs() -> None:
    def opened(data: Data) -> None:
        data["evidence"]["browser"]["sockets"] = [{"url": "ws://a.test/live", "status": 404}]
        ask(data, "a.test/live")

    assert found(opened).score == 100.0


def test_what_was_not_recorded_is_extra() -> None:
    each = found(lambda data: ask(data, "a.test/more.js"))
    assert counts(each) == (6, 0, 0, 1)
    assert each.score == 75.0  # three of four requests are the same in each load


def test_a_near_answer_stands_for_what_it_is_near_to() -> None:
    def other_query(data: Data) -> None:
        log(data)[1] |= {"path": "/style.css?v=2", "match": "stripped"}

    each = found(other_query)
    assert counts(each) == (5, 1, 0, 0)


def test_an_answer_that_the_server_says_is_not_exact_does_not_count() -> None:
    each = found(lambda data: log(data)[1].update(match="nearest"))
    assert each.exact == 5
    assert each.score is not None
    assert each.score < 100


@pytest.mark.parametrize(("status", "exact"), [(200, 6), (206, 6), (404, 5), (500, 5)])
def test_without_the_servers_word_the_status_tells(status: int, exact: int) -> None:
    assert found(lambda data: log(data)[2].update(match=None, status=status)).exact == exact


def test_bytes_that_differ_are_counted() -> None:
    each = found(lambda data: log(data)[2].update(body_bytes=4000))
    assert (counts(each), each.bytes_off) == ((6, 0, 0, 0), 1000)
    assert each.score == pytest.approx(100 * (1 - 1000 / 12_400), abs=0.001)
    assert found(lambda data: log(data)[2].update(body_bytes=4000, status=206)).bytes_off == 0


def test_all_but_a_little_is_not_all() -> None:
    large = replace(SITE, objects=(*SITE.objects[:2], replace(SITE.objects[2], size=10**9)))
    each = found(lambda data: log(data)[2].update(body_bytes=10**9 - 1), site=large)
    log_of_first = 10**9 - 5000  # the first load has the small one
    assert each.bytes_off == log_of_first + 1
    counted = replace(each, bytes_recorded=10**9, bytes_off=1)
    assert score_of(counted) == 99.999
    assert score_of(replace(counted, bytes_off=0)) == 100.0


def test_what_went_to_other_hosts_is_extra() -> None:
    each = found(lambda data: data["requests"].append(request("elsewhere.test/x", 9, ARM)))
    assert counts(each) == (6, 0, 0, 1)


def test_what_may_come_or_not_does_not_count() -> None:
    late = replace(SITE, objects=(*SITE.objects[:2], replace(SITE.objects[2], late=True)))
    for change in (lambda _data: None, lambda data: log(data).pop()):
        each = found(change, site=late)
        assert (counts(each), each.wanted, each.score) == ((4, 0, 0, 0), 4, 100.0)
    unanswered = replace(SITE, unanswered=("a.test/dead.js", "dead.test/x"))
    assert found(lambda data: ask(data, "a.test/dead.js"), site=unanswered).score == 100.0
    dead = request("dead.test/x", 9, ARM)
    assert found(lambda data: data["requests"].append(dead), site=unanswered).score == 100.0
    assert found(lambda data: ask(data, "a.test/favicon.ico")).score == 100.0
    preflight = replace(SITE, objects=(*SITE.objects, replace(SITE.objects[0], method="OPTIONS")))
    assert found(site=preflight).score == 100.0


def test_a_method_is_a_part_of_what_is_asked() -> None:
    each = found(lambda data: log(data)[2].update(method="POST", match="none"))
    assert counts(each) == (5, 0, 1, 1)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda data: data["evidence"].update(server=None), "the server's log of requests is missing"),
        (lambda data: log(data).clear(), "the server's log has no request"),
        (lambda data: data.update(evidence=None), "the server's log of requests is missing"),
        (lambda data: fail(data, Reason.PROTOCOL_FALLBACK), "protocol-fallback: it was so"),
        (lambda data: fail(data, Reason.TIMEOUT), "timeout: it was so"),
        (lambda data: fail(data, Reason.EVIDENCE_MISSING), "evidence-missing: it was so"),
    ],
)
def test_absent_evidence_is_no_score(change: Callable[[Data], object], why: str) -> None:
    each = found(change)
    assert each.score is None
    assert each.problems == (why,)
    assert each.loads == 1


def fail(data: Data, reason: Reason) -> None:
    data["failures"] = [{"reason": reason.value, "detail": "it was so"}]


@pytest.mark.parametrize("reason", [Reason.MISSING_OBJECT, Reason.FAILED_OBJECT, Reason.EXTRA_REQUEST])
def test_a_trial_that_failed_for_what_is_counted_is_evidence(reason: Reason) -> None:
    assert found(lambda data: fail(data, reason)).score == 100.0


def test_loads_and_pictures_that_were_not_made_are_no_score() -> None:
    one = TrialRecord.from_json(record(ARM))
    each = fidelity_of(Loads("h2", [one]), LOADS, SITE)
    assert (each.score, each.problems) == (None, ("1 of 2 loads were not made",))
    assert fidelity_of(Loads("h2", []), LOADS, SITE).score is None
    both = [one, one]
    without = fidelity_of(Loads("h2", both, has_picture=True, pictures=[0.0]), LOADS, SITE)
    assert (without.score, without.problems) == (None, ("1 of 2 loads have no picture",))
    seen = fidelity_of(Loads("h2", both, has_picture=True, pictures=[0.0, 0.25]), LOADS, SITE)
    assert (seen.score, seen.pixels_differ) == (75.0, 0.25)


def test_the_score_of_all_is_the_least() -> None:
    assert least([100.0, 97.5]) == 97.5
    assert least([100.0, None]) is None
    assert least([]) is None


def picture(*red: tuple[int, int], size: tuple[int, int] = (10, 10), colour: int = 255) -> bytes:
    image = Image.new("RGB", size, "white")
    for place in red:
        image.putpixel(place, (colour, 0, 0))
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def test_pictures_are_compared_by_pixels() -> None:
    assert compare(picture(), picture()).share == 0.0
    assert compare(picture(), picture((1, 1), (9, 9))).share == 0.02
    assert compare(picture((1, 1)), picture((1, 1), colour=240)).share == 0.0  # nobody sees that
    assert compare(picture(), picture(size=(10, 20))).share == 0.5
    with Image.open(io.BytesIO(compare(picture(), picture((1, 1))).difference)) as drawn:
        assert drawn.getpixel((1, 1)) == (208, 0, 0)
        assert drawn.getpixel((2, 2)) == (255, 255, 255)
    with pytest.raises(RecordError, match="recorded picture"):
        compare(b"no picture", picture())


def test_a_manifest_gets_the_fidelity_and_stays_as_it_was() -> None:
    text = "# by hand\n" + MANIFEST.read_text()
    once = with_fidelity(text, FOUND, "it")
    assert once.startswith(text)
    again = with_fidelity(once, replace(FOUND, score=12.5), "it")
    assert again.startswith(text)
    assert parse_manifest(again, "it").fidelity == replace(FOUND, score=12.5)
    assert again.count("fidelity:") == 1


def test_a_fidelity_between_other_keys_is_replaced() -> None:
    written = yaml.safe_dump({"fidelity": FOUND.to_json()}, sort_keys=False)
    first, _, rest = MANIFEST.read_text().partition("entry:")
    text = f"{first}{written}# about the entry\nentry:{rest}"
    changed = with_fidelity(text, replace(FOUND, score=1.0), "it")
    assert changed.startswith(f"{first}# about the entry\nentry:{rest}")
    assert parse_manifest(changed, "it").fidelity == replace(FOUND, score=1.0)


def test_keeping_changes_one_file_at_once(tmp_path: Path) -> None:
    (tmp_path / "site.yaml").write_text(MANIFEST.read_text())
    keep(tmp_path, FOUND)
    assert read_manifest(tmp_path / "site.yaml").fidelity == FOUND
    assert [each.name for each in tmp_path.iterdir()] == ["site.yaml"]


def test_the_experiment_can_be_read() -> None:
    for server in ("apache", "nginx"):
        text = experiment_text("two-origins", read_manifest(MANIFEST), wished(None, 4, server))
        experiment = parse_experiment(text, "it", ["two-origins"])
        assert experiment.repeat.trials == 4
        assert {cell.arm.protocol: cell.arm.tls for cell in experiment.cells}["http/1.1"] == "off"
        assert all(cell.arm.server == server for cell in experiment.cells)
    secure = replace(read_manifest(MANIFEST), entry_scheme="https")
    text = experiment_text("two-origins", secure, wished("http/1.1", 1, "apache"))
    (cell,) = parse_experiment(text, "it", ["two-origins"]).cells
    assert cell.arm.tls == "1.3"


@pytest.mark.parametrize(("protocols", "server"), [("h3", "apache"), ("h2,spdy/3.1", "nginx"), ("", "apache")])
def test_protocols_that_cannot_be_are_refused(protocols: str, server: str) -> None:
    with pytest.raises(InputError, match="is no protocol that a site is verified over"):
        wished(protocols, 1, server)
