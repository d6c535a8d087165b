"""What this machine can do: every gap with its remedy."""

from lanelab.driver.run.doctor import BROWSER_START, administrators_command, examine

__all__ = ["BROWSER_START", "administrators_command", "examine"]
