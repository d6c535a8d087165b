"""Every load generator by its name."""

from __future__ import annotations

from collections.abc import Mapping

from driver.workloads.load.generator import Generator
from driver.workloads.load.generators.ab import Ab
from driver.workloads.load.generators.h2load import H2load
from driver.workloads.load.generators.k6 import K6Generator
from driver.workloads.load.generators.spdy_load import SpdyLoad
from driver.workloads.load.generators.wrk import Wrk

_ALL: tuple[Generator, ...] = (K6Generator(), Wrk(), H2load(), Ab(), SpdyLoad())
GENERATORS: Mapping[str, Generator] = {each.name: each for each in _ALL}
