"""Every arm in gateway/ comes to exactly the gateway's configuration that its file shows. As
test_apache.py."""

import difflib
from pathlib import Path

import pytest
import yaml

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.gateway.configuration import Place, Spoken, configuration
from tests.kit.server_arms import made

FILES = sorted((Path(__file__).parent / "gateway").glob("*.txt"))
DASHES = "----\n"
SITE = made(("www.site.test", "/", "text/html"), ("img.site.test", "/a.png", "image/png"))
ADDRESSES = {"www.site.test": "10.10.2.2", "img.site.test": "10.10.2.2"}
KEY = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="


def arm_of(settings: dict[str, object]) -> Arm:
    return Arm.parse("arm", {key: str(v) if key == "tls" else v for key, v in settings.items()})


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_configuration(file: Path, update_golden: bool) -> None:
    head, _, expected = file.read_text().partition(DASHES)
    settings = yaml.safe_load(head)
    arm = arm_of(settings)
    assert arm.via == "gateway"
    found = configuration(Spoken.of(arm, SITE, ADDRESSES), Place("/run/lanelab-trials/gateway"), (KEY,))
    if update_golden:
        file.write_text(head + DASHES + found)
        return
    difference = list(difflib.unified_diff(expected.splitlines(), found.splitlines(), lineterm="", n=1))
    assert not difference, "\n".join([f"{file.name} has changed:", *difference])


def test_every_setting_of_the_gateway_is_in_a_file() -> None:
    written = {key for file in FILES for key in yaml.safe_load(file.read_text().partition(DASHES)[0])}
    assert {"via", "pipelining", "connections_per_host", "coalescing", "protocol", "tls", "tls_resumption"} <= written
    assert {"keepalive", "dns", "pipelining_policy", "backup_connections", "tls_key_share"} <= written
    assert {"spdy_header_compression", "stream_window", "connection_window", "max_concurrent_streams"} <= written
    assert {"priorities", "push", "origins"} <= written
