"""The script of the guide, which reads a capture with pyshark, does what the guide says."""

from pathlib import Path

import pytest

from lanelab.driver.base.paths import PROJECT
from lanelab.driver.trial.packets.packets import summarise
from lanelab.driver.trial.packets.pcapng import embed_keys
from tests.kit import packet_tools, tshark
from tests.kit.frames import Recorder, Talk

SCRIPT = PROJECT / "docs" / "examples" / "packets_of_a_trial.py"


@tshark.needs_tshark
@pytest.mark.long  # pyshark is installed first
def test_the_script_of_the_guide_tells_connections_and_requests(tmp_path: Path) -> None:
    recorder = Recorder()
    talk = Talk(recorder)
    talk.open()
    talk.say("up", b"GET /page.html HTTP/1.1\r\nHost: a.test\r\n\r\n")
    talk.say("down", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
    talk.close()
    capture = tmp_path / "client.pcapng.gz"
    embed_keys(recorder.pcap(), "", capture)
    said = packet_tools.run(SCRIPT, capture)
    assert said.returncode == 0, said.stderr
    (connection,) = summarise(capture).by_connection
    assert f"connection 0: at 0.0 ms, {connection.payload_down} bytes down, 0 sent again" in said.stdout
    assert "200 for http://a.test/page.html" in said.stdout
    assert "1 requests" in said.stdout
