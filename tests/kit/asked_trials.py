"""What a trial of the tests of judges is asked for, and what the machine said meanwhile."""

from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.machine import MachineEvidence, MachineUse

LINK = Link.parse({"rtt": "40ms", "rate": "10mbit"})
EXPERIMENT = parse_experiment(
    "sites: [dummy]\nlinks: {rtt: 40ms}\narms: {one: {}}\ntrials: 1\n", "made.yaml", ["dummy"]
)
MACHINE = MachineEvidence(
    machines=(
        MachineUse(("client",), 2, 1.0, {"client": 0.5}, {"client": 0.1}, 0.5, 0.0, 0.4, None, 0, 0.0, None, None, {}),
    ),
    own_cpu_s=0.01,
)
