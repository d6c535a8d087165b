"""The first packets of a load: what `lanelab packets`, `lanelab export` and the library make of them."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

import lanelab
from lanelab.analysis.results.first_packets import NAMES, as_pcapng, first_packets
from lanelab.driver.base.errors import ChangedError, InputError, LanelabError
from lanelab.driver.cli.main import lanelab as command
from lanelab.driver.run.folder.trial_content import artifact_path
from lanelab.driver.trial.packets.key_log import key_log
from lanelab.driver.trial.packets.packets import summarise
from lanelab.driver.trial.server_load.first_packets import FILE, WITH_KEYS
from tests.kit.frames import Recorder, Talk
from tests.kit.machine import ROOT
from tests.kit.made_load_run import make_load_run
from tests.kit.made_run import Made, make_run

WITH_QUIC, WITH_TCP = NAMES
QUIC = ROOT / "tests" / "data" / "quic"  # one connection by HTTP/3, with its keys in it
PORTS = (40000, 40001)


def two_connections() -> bytes:
    """Of one there is a request and the beginning of its answer, of the other a handshake alone."""
    recorder = Recorder()
    first, second = (Talk(recorder, port=port) for port in PORTS)
    first.open()
    first.say("up", b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
    second.open()
    first.say("down", b"HTTP/1.1 200 OK\r\n\r\n" + bytes(1000))
    return recorder.pcap()


@pytest.fixture(scope="module")
def tcp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "tcp"
    return make_load_run(folder, rounds=1, files={WITH_TCP: gzip.compress(two_connections())})


@pytest.fixture(scope="module")
def quic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "quic"
    return make_load_run(folder, rounds=1, files={WITH_QUIC: (QUIC / "chromium.pcapng.gz").read_bytes()})


def called(*words: object) -> tuple[str, str]:
    done = CliRunner().invoke(command, [str(word) for word in words], catch_exceptions=False)
    return done.stdout, done.stderr


def refused(*words: object) -> str:
    done = CliRunner().invoke(command, [str(word) for word in words])
    assert isinstance(done.exception, LanelabError), done.exception
    return str(done.exception)


def test_they_are_the_files_that_loads_keep() -> None:
    assert (WITH_KEYS, f"{FILE}.gz") == NAMES


# --- lanelab packets


def test_connections_over_tcp_are_shown_with_their_beginnings(tcp: Path) -> None:
    shown = json.loads(called("packets", tcp, "--trial", 1, "--json")[0])
    assert (shown["file"], shown["packets"], shown["incomplete"]) == (WITH_TCP, 8, None)
    first, second = shown["connections"]
    assert [each["client_port"] for each in (first, second)] == list(PORTS)
    assert (first["over"], first["spoken"], first["tls"], first["packets"]) == ("tcp", "http/1.1", None, 5)
    assert (second["spoken"], second["handshake"], second["packets"]) == (None, True, 3)
    assert first["handshake_ms"] == pytest.approx(40, abs=1)
    assert first["first_ms"] == 0 < second["first_ms"] < first["last_ms"]


def test_connections_over_quic_are_opened_with_the_keys_in_the_file(quic: Path) -> None:
    (one,) = json.loads(called("packets", quic, "--trial", 2, "--json")[0])["connections"]
    assert (one["over"], one["spoken"], one["tls"], one["handshake"]) == ("quic", "h3", "TLS 1.3", True)
    assert one["server_port"] == 8443


def test_people_are_told_what_it_is_and_where_to_look_further(tcp: Path) -> None:
    shown, said = called("packets", tcp, "--trial", 1)
    assert [str(port) in shown for port in PORTS] == [True, True]
    assert "http/1.1" in shown
    assert "the first 8 packets of the load" in said
    assert "--format pcapng" in said


def test_a_cell_is_its_median_trial(tcp: Path) -> None:
    shown, said = called("packets", tcp, "--cell", "SPDY", "--json")
    assert "its median is trial 2" in said
    assert len(json.loads(shown)["connections"]) == 2


def test_there_is_no_request_to_be_shown_alone(tcp: Path) -> None:
    assert "keeps no requests one by one" in refused("packets", tcp, "--trial", 1, "--request", 1)
    assert "has no trial 9" in refused("packets", tcp, "--trial", 9)


def test_a_load_without_them_says_so(tmp_path: Path) -> None:
    run = make_load_run(tmp_path / "run", rounds=1)
    assert "trial 1 has no first packets" in refused("packets", run, "--trial", 1)


def test_a_page_load_has_others(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="trial 1 was no load of a server"):
        first_packets(make_run(tmp_path / "run", Made(rounds=1)), 1)


def remove(file: Path) -> None:
    file.unlink()


def change(file: Path) -> None:
    file.write_bytes(gzip.compress(two_connections()[:-1]))


@pytest.mark.parametrize(
    ("falsify", "error", "says"),
    [(remove, InputError, "has no first packets"), (change, ChangedError, f"its file {WITH_TCP} was changed")],
)
def test_files_that_were_removed_or_changed_are_told(
    tmp_path: Path, falsify: Callable[[Path], None], error: type[LanelabError], says: str
) -> None:
    run = make_load_run(tmp_path / "run", rounds=1, files={WITH_TCP: gzip.compress(two_connections())})
    falsify(artifact_path(run, 1, WITH_TCP))
    with pytest.raises(error, match=says):
        first_packets(run, 1)


@pytest.mark.parametrize(
    "content",
    [b"no gzip", gzip.compress(b""), gzip.compress(b"no capture at all")],
    ids=[
        "no gzip",
        "empty",
        "no capture",
    ],  # a compressed file has its time in it, and would be named otherwise each time
)
def test_what_is_no_capture_is_told(tmp_path: Path, content: bytes) -> None:
    run = make_load_run(tmp_path / "run", rounds=1, files={WITH_TCP: content})
    assert refused("packets", run, "--trial", 1)
    assert refused("export", run, "--format", "pcapng", "--output", tmp_path / "out")
    assert not list((tmp_path / "out").glob("*"))


def test_a_capture_that_is_cut_says_what_is_missing(tmp_path: Path) -> None:
    run = make_load_run(tmp_path / "run", rounds=1, files={WITH_TCP: gzip.compress(two_connections()[:-1])})
    found = first_packets(run, 1)
    assert (found.packets, found.incomplete) == (7, "the file ends within packet 8")
    assert "a part of them could not be read" in called("packets", run, "--trial", 1)[1]


# --- lanelab export


def test_they_are_exported_for_wireshark(tcp: Path, tmp_path: Path) -> None:
    _, said = called("export", tcp, "--format", "pcapng", "--output", tmp_path / "out")
    assert "2 files written" in said
    assert "keeps its first packets alone" in said
    written = sorted((tmp_path / "out").iterdir())
    assert [each.name for each in written] == ["000001.first.pcapng", "000002.first.pcapng"]
    for each in written:
        assert summarise(each) == summarise(two_connections())
        assert key_log(each.read_bytes()) == ""


def test_those_by_quic_have_their_key_log_beside_them(quic: Path, tmp_path: Path) -> None:
    exported = lanelab.open_run(str(quic)).export_files("pcapng", tmp_path / "out", median=True)
    assert exported.lacking == 0
    names = [f"00000{number}.first.{kind}" for number in (1, 2) for kind in ("pcapng", "key_log.txt")]
    assert [each.name for each in exported.files] == names
    assert exported.files[0].read_bytes() == gzip.decompress((QUIC / "chromium.pcapng.gz").read_bytes())
    keys = exported.files[1].read_text()
    assert "CLIENT_TRAFFIC_SECRET_0" in keys
    assert keys == lanelab.open_run(str(quic)).trial(1).key_log()


def test_trials_without_them_are_counted(tmp_path: Path) -> None:
    run = make_load_run(tmp_path / "run", rounds=1)
    _, said = called("export", run, "--format", "pcapng", "--output", tmp_path / "out")
    assert "2 trials without a capture" in said


@pytest.mark.parametrize("kind", ["har", "trace"])
def test_what_a_browser_alone_leaves_is_refused_with_what_there_is(tcp: Path, kind: str) -> None:
    assert "Write --format csv, parquet, json or pcapng" in refused("export", tcp, "--format", kind)


def test_a_capture_stays_as_it_is_where_it_is_pcapng() -> None:
    whole = gzip.decompress((QUIC / "chromium.pcapng.gz").read_bytes())
    assert as_pcapng(whole) == whole


# --- the library


def test_the_library_has_a_row_for_each_packet(tcp: Path) -> None:
    run = lanelab.open_run(str(tcp))
    packets = run.trial(1).packets()
    assert len(packets) == 8
    assert set(packets.column("client_port").to_pylist()) == set(PORTS)
    assert packets.column("at_ms").to_pylist() == [None] * 8, "no page was asked for"
    assert run.packets().column("trial").to_pylist() == [1] * 8 + [2] * 8
    assert run.trial(1).key_log() == ""
