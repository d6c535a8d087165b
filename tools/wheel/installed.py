"""An environment in which lanelab is installed from its wheel, beside the packages of this environment: without a
network, in a second or two."""

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path


def install_wheel(wheel: Path, folder: Path) -> Path:
    """Make the environment; returns its bin folder. Raises CalledProcessError."""
    venv.create(folder, with_pip=False, symlinks=True, clear=True)
    python = folder / "bin" / "python"
    install = ["install", "--quiet", "--no-deps", "--no-index", "--no-compile", "--disable-pip-version-check"]
    argv = [sys.executable, "-I", "-m", "pip", "--python", str(python), *install, str(wheel)]
    subprocess.run(argv, check=True)
    # Of a folder that a .pth file names no .pth file is read, so the checkout's sources are not there.
    packages = Path(subprocess.run([python, "-I", "-c", PURELIB], capture_output=True, text=True, check=True).stdout)
    (packages / "beside.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return folder / "bin"


PURELIB = "import sysconfig; print(sysconfig.get_path('purelib'), end='')"
