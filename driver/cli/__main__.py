"""Where `python -m driver.cli` begins. Until everything is imported, Ctrl-C just ends the process."""

import signal
import sys

signal.signal(signal.SIGINT, signal.SIG_DFL)

from driver.cli.main import main  # noqa: E402 - after the line above on purpose

sys.exit(main())
