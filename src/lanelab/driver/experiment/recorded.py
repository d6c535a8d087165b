"""Which metrics the trials of an experiment will have: some need a recorder, which may be off. Pure."""

from collections.abc import Mapping

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.settings.source import read_yaml
from lanelab.driver.record.metrics import NEEDS, Metric
from lanelab.driver.trial.recorders.registry import RECORDERS


def lacking_setting(metric: Metric, recorders: Mapping[str, Coded]) -> str:
    """The setting without which no trial has the metric; "" where they will have it. `recorders`: the options of those
    that are on."""
    setting = NEEDS.get(metric.name, "")
    for name, written in read_yaml(setting, "NEEDS", "").entries().items() if setting else ():
        recorder = RECORDERS[name]
        if name not in recorders or not recorder.has(recorders[name], recorder.read(written)):
            return setting
    return ""
