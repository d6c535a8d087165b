"""Every load generator by its name."""

from __future__ import annotations

from collections.abc import Mapping

from driver.workloads.load.generator import Generator

GENERATORS: Mapping[str, Generator] = {}
