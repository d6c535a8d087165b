"""Runs a program of this folder that has parts, where only its file, its parts and this file are.

    start_program.py NAME [WORD …]    calls `main` of NAME.py, which finds the words in sys.argv

Python is started without the folder of its script on its path, so that nothing that lies there can take the place of a
module. This file makes the packages in which the program and its parts import one another.

Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import importlib
import sys
import types
from itertools import accumulate
from pathlib import Path

PACKAGE = "lanelab.driver.bed.remote"


def make_packages() -> None:
    """Let all modules of the package be in this folder."""
    for name in accumulate(PACKAGE.split("."), "{}.{}".format):
        package = types.ModuleType(name)
        package.__path__ = [str(Path(__file__).resolve().parent)]
        sys.modules[name] = package


def main() -> None:
    make_packages()
    del sys.argv[0]
    importlib.import_module(f"{PACKAGE}.{sys.argv[0]}").main()


if __name__ == "__main__":
    main()
