"""The experiments and studies that lanelab brings, by name, for completion: nothing of them is read."""

from lanelab.driver.experiment.shipped import EXPERIMENTS, STUDY_FILE, experiment_file, shipped_names, studies

__all__ = ["EXPERIMENTS", "STUDY_FILE", "experiment_file", "shipped_names", "studies"]
