"""The gateways of page loads: each trial that goes through one has its own, in the client node.

A gateway remembers connections, names and TLS sessions, as a browser process does: so a trial gets a new one.
"""

import contextlib
from pathlib import Path

from lanelab.driver.arm.gateway import configuration
from lanelab.driver.arm.gateway.gateway import Gateway
from lanelab.driver.base.errors import GatewayError
from lanelab.driver.bed.node import Node
from lanelab.driver.record.evidence.gateway import GatewayLog
from lanelab.driver.record.reasons import Reason
from lanelab.driver.trial.page_load.current_load import UnderWay
from lanelab.driver.trial.serving import Serving
from lanelab.driver.trial.spec import TrialSpec

GATEWAY = "gateway"  # its name in TrialSpec.built
CERTIFICATE = "ecdsa-p256"  # whatever the arm's is: the browser's side is always alike
KEYS = "keys.log"  # TLS keys among the files of a trial, until they are put into its captures
FILES = {"configuration": "gateway.json", "log": "gateway.jsonl", "keys": KEYS}


class Gateways:
    """Starts gateways, and reads what they wrote."""

    def __init__(self, client: Node, serving: Serving, folder: Path) -> None:
        """Begin without a gateway. `folder` is in memory on the client node."""
        self._client, self._serving, self._folder = client, serving, folder
        self._programs: dict[Path, str] = {}  # on this machine -> on the client node

    def start(self, trial: UnderWay) -> None:
        """Start a new one, after the one that was there."""
        spec = trial.spec
        if trial.shown is None:
            return
        with trial.failing(Reason.GATEWAY_FAILED):
            if trial.gateway:
                trial.gateway.stop()
            trial.gateway = Gateway.start(
                self._client,
                self._program(spec),
                configuration.Spoken.of(spec.arm, spec.site, trial.addresses),
                self._folder / "gateway",
                trial.shown,
                (trial.leaf.spki_sha256_b64,) if trial.leaf else (),
            )

    def _program(self, spec: TrialSpec) -> str:
        """Return the program in the client node's memory, for as long as the bed lives."""
        built = spec.built.get(GATEWAY)
        if built is None:
            raise GatewayError(
                "this arm goes through the gateway, and there is none", "Build it: driver/base/programs/building"
            )
        if built not in self._programs:
            target = f"{self._folder}/lanelab-gateway-{len(self._programs)}"
            self._client.put(built, target, 0o755)
            self._programs[built] = target
        return self._programs[built]


def end_gateway(trial: UnderWay) -> GatewayLog | None:
    """End the trial's gateway and read its log. Only then it has written everything, and the server has nothing more to
    say of it."""
    if not trial.gateway:
        return None
    with trial.failing(Reason.GATEWAY_FAILED):
        trial.gateway.stop()
    for name, data in trial.gateway.files(FILES).items():
        (trial.folder / name).write_bytes(data)
    return trial.gateway.record()


def drop_gateway(trial: UnderWay) -> None:
    """End it without a word: a failure of it was recorded before."""
    if trial.gateway:
        with contextlib.suppress(GatewayError):
            trial.gateway.stop()
