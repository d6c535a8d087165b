"""What main.js makes of a script of a user's, without k6."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.trial.server_load.generators.k6 import MAIN, SCENARIOS, SCRIPT, K6Generator
from tests.kit.k6_loads import k6_settings, k6_target

STAND_IN = """\
globalThis.__VU = 0;
export default { begin() { return globalThis.scenario ?? 'load'; }, connect() {}, over() {} };
"""


def tried(script: str, tmp_path: Path, show: str, changes: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    """main.js with a script, by node with a stand-in for the module that only k6 has."""
    node = shutil.which("node")
    if not node:
        pytest.skip("there is no node here")
    settings = k6_settings(script="users.js", **changes)
    files = K6Generator().invocation(k6_target(settings, Arm.parse("HTTP", {}), script=script.encode())).files
    main = files[MAIN].decode().replace("from 'k6/x/lab'", "from './lab.mjs'")
    for name, text in ((SCRIPT, script), (SCENARIOS, files[SCENARIOS].decode())):
        main = main.replace(f"./{name}", f"./{name}.mjs")
        (tmp_path / f"{name}.mjs").write_text(text)
    (tmp_path / "main.mjs").write_text(main)
    (tmp_path / "lab.mjs").write_text(STAND_IN)
    (tmp_path / "show.mjs").write_text(f"import * as main from './main.mjs';\nconsole.log(JSON.stringify({show}));\n")
    return subprocess.run([node, str(tmp_path / "show.mjs")], capture_output=True, text=True, check=False)


def evaluated(script: str, tmp_path: Path, show: str, **changes: Any) -> Any:
    """What main.js makes of a script."""
    done = tried(script, tmp_path, show, changes)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
