"""Record the page of thirty origins anew, in place of sites-archive/thirty-origins:

PYTHONPATH=. build/env/bin/python -m tests.kit.origins.record
"""

import sys
import tempfile
from pathlib import Path

from lanelab.driver.base.paths import sites_folder
from tests.kit.inside import call

LINK = {"rtt": "5ms", "rate": "50mbit"}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = call("recordings", "thirty_origins_site", Path(folder), LINK, archive=str(sites_folder()))
    sys.stdout.write(f"{made}\n")


if __name__ == "__main__":
    main()
