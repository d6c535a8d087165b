"""Every load generator by its name."""

from collections.abc import Mapping

from lanelab.driver.trial.server_load.generator import Generator
from lanelab.driver.trial.server_load.generators.ab import Ab
from lanelab.driver.trial.server_load.generators.h2load import H2load
from lanelab.driver.trial.server_load.generators.k6 import K6Generator
from lanelab.driver.trial.server_load.generators.spdy_load import SpdyLoad
from lanelab.driver.trial.server_load.generators.wrk import Wrk

_ALL: tuple[Generator, ...] = (K6Generator(), Wrk(), H2load(), Ab(), SpdyLoad())
DEFAULT = "k6"
GENERATORS: Mapping[str, Generator] = {each.name: each for each in _ALL}
