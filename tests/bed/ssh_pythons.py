"""Programs to be named as a machine's Python: a real one that first takes something away from itself."""

import sys
from pathlib import Path

BEGIN = f"#!{sys.executable} -IS\nimport ctypes, os, sys\nargv, libc = sys.argv, ctypes.CDLL(None)\n"
END = f"os.execv({sys.executable!r}, [{sys.executable!r}, *argv[1:]])\n"
NO_RIGHTS = "assert libc.prctl(47, 4, 0, 0, 0) == 0  # no ambient capabilities: none after the next line\n"
OLD = "argv = [word.replace('sys.version_info[1]', '6') for word in argv]\n"
HIDDEN = """
assert libc.unshare(0x20000) == 0
for path in {paths!r}:
    if os.path.exists(path):
        assert libc.mount(b"/dev/null", os.path.realpath(path).encode(), None, ctypes.c_ulong(0x1000), None) == 0
"""


def write(folder: Path) -> dict[str, str]:
    """name -> the program."""
    texts = {
        "powerless": NO_RIGHTS,
        "old": OLD,
        "without-tc": HIDDEN.format(paths=("/usr/sbin/tc",)),
        "without-routers": HIDDEN.format(paths=("/usr/bin/linux.uml", "/usr/sbin/tc")),  # whatever its kernel has
    }
    found = {}
    for name, text in texts.items():
        path = folder / f"python-{name}"
        path.write_text(BEGIN + text + END)
        path.chmod(0o755)
        found[name] = str(path)
    return found
