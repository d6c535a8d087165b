"""The server's log is complete when it is read, also where the server writes lines late."""

from pathlib import Path

import pytest

from lanelab.driver.bed.substrate import BedSettings
from lanelab.driver.run.channel.client import Bed
from tests.kit.bench import Bench, Wanted
from tests.kit.late_streams import late_streams

LINK = {"rtt": "40ms", "rate": "10mbit"}
OF_THE_LOG = ("evidence-missing", "wire-mismatch")


@pytest.mark.parametrize("via", ["browser", "gateway"])
def test_lines_that_mod_http2_writes_when_the_connection_ends_are_read(tmp_path: Path, via: str) -> None:
    """The trial may be refused for its link on a busy machine, and not for the log."""
    arm = {"protocol": "h2", "tls": "1.3", "via": via, "server_directives": [late_streams(tmp_path)]}
    with Bed(BedSettings(folder=tmp_path)) as bed:
        record = Bench(bed, tmp_path / "trials").trial(Wanted(arm, LINK))
    assert record.page_load is not None
    assert record.page_load.server is not None
    assert len(record.page_load.server.requests) >= len(record.requests) > 1
    assert [each for each in record.failures if str(each.reason) in OF_THE_LOG] == []
