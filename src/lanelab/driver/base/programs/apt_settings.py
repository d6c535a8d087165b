"""How this machine reaches Debian's packages: what makes a system of its own goes the same way."""

import subprocess


def settings_for_downloads() -> list[str]:
    """Return this machine's proxies and the like, as lines of apt's configuration; none where it has no apt."""
    try:
        dump = subprocess.run(["apt-config", "dump", "Acquire"], capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return []
    lines = (line.rstrip(";") for line in dump.splitlines())
    return [line for line in lines if line.startswith("Acquire::") and '"' in line and '""' not in line]
