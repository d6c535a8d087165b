"""Where `python -m driver.cli` begins. Until everything is imported, Ctrl-C just ends the process."""

import signal
import sys

if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from driver.cli.main import main  # noqa: E402 - after the lines above on purpose

sys.exit(main())
