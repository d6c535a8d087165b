"""lanelab doctor where a container's filter keeps Chromium's sandbox from starting: Podman's own, without chroot."""

import json
import subprocess
import sys

import pytest

from tests.kit import denied_calls

EXAMINE = """
import json
from lanelab.driver.base.coded import encoded
from lanelab.driver.run.doctor import examine
from tests.kit.denied_calls import deny
deny({calls})
print(json.dumps(encoded(examine())))
"""


@pytest.mark.skipif(not denied_calls.knows_this_machine(), reason="the numbers of this machine's system calls")
@pytest.mark.parametrize(("calls", "state"), [(["sethostname"], "ok"), (["chroot", "sethostname"], "gap")])
def test_it_starts_the_browser_and_says_what_keeps_it_from_starting(calls: list[str], state: str) -> None:
    code = EXAMINE.format(calls=calls)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    findings = {finding["what"]: finding for finding in json.loads(done.stdout)}
    assert findings["bed"]["state"] == "ok"
    assert findings["browser start"]["state"] == state
    if state == "gap":
        assert "sys_chroot" in findings["browser start"]["found"]
        assert "cap-add sys_chroot" in findings["browser start"]["remedy"]
    else:
        assert "in its sandbox" in findings["browser start"]["found"]
