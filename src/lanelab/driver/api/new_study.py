"""The skeleton of a study, to be changed to a paper of one's own."""

from lanelab.driver.run.study.new import write_skeleton

__all__ = ["write_skeleton"]
