"""The experiment file: read strictly, resolved completely. Pure, except for reading the file itself.

source      YAML as text, lines and paths
kinds       kinds of values that only experiments have
arm_fields  the one table of what an arm says
arm         an arm
keys        the one table of all other keys
model       what an experiment is, once read
links       grids of links, and their names
cells       which site, link and arm go together
figures     what the charts show
read        from a file to an Experiment
schema      the JSON schema for editors
"""

from lanelab.driver.arm.arm import Arm
from lanelab.driver.experiment.model import Cell, Experiment, Figure, LinkCase, Repeat
from lanelab.driver.experiment.read import parse_experiment, read_experiment
from lanelab.driver.trial.tolerances import Tolerances

__all__ = [
    "Arm",
    "Cell",
    "Experiment",
    "Figure",
    "LinkCase",
    "Repeat",
    "Tolerances",
    "parse_experiment",
    "read_experiment",
]
