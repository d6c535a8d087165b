"""A bed where a container's filter denies system calls, as Podman's own does."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit import denied_calls

MAKE_A_BED = """
import json, sys
from pathlib import Path
from lanelab.driver.bed.substrate import BedSettings
from lanelab.driver.run.channel.client import Bed
from tests.kit.denied_calls import deny
deny(["sethostname"])
with Bed(BedSettings(folder=Path(sys.argv[1]))) as bed:
    print(json.dumps(bed.facts()))
"""


@pytest.mark.skipif(not denied_calls.knows_this_machine(), reason="the numbers of this machine's system calls")
def test_a_bed_that_may_not_name_its_hosts_comes_up_and_says_so(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", MAKE_A_BED, tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    here = subprocess.run(["uname", "-n"], capture_output=True, text=True, check=True).stdout.strip()
    assert [facts[host]["host_name"] for host in ("client", "server")] == [here, here]
