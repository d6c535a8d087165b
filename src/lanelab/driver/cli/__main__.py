"""Where `python -m lanelab.driver.cli` begins."""

import sys

from lanelab.driver.cli.start import main

sys.exit(main())
