"""Examines machines as `lanelab hosts check` does, several times: JSON {case: hosts} in, {case: findings} out."""

import json
import sys

from lanelab.driver.bed.ssh.hosts import Hosts
from lanelab.driver.bed.ssh.machines import examine


def main() -> None:
    cases = json.load(sys.stdin)
    found = {}
    for case, hosts in cases.items():
        found[case] = [finding.to_json() for finding in examine(Hosts.from_json(hosts))]
    print(json.dumps(found))


main()
