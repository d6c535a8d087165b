"""Running a user's script beside a bed."""

import tempfile

from lanelab.driver.bed.node import Stdio
from tests.kit.handles import OpenBed


def run_script(bed: OpenBed, text: str) -> str:
    """What a script says, both ways; it must end well."""
    with tempfile.TemporaryFile() as said:
        status = bed.bed.script(["sh", "-c", text], Stdio(None, said.fileno(), said.fileno())).wait()
        said.seek(0)
        words = said.read().decode()
    assert status == 0, words
    return words
