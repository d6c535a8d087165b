"""How a process of ours begins that runs lanelab's code: with the lanelab of whoever starts it.

The environment may have another one, and a run's digest is of the code of who keeps it. The first argument is the
folder that lanelab is in; it goes behind all others, so that it hides no module.
"""

OWN_LANELAB = "import sys; sys.path.insert(0, sys.argv.pop(1)); import lanelab; sys.path.append(sys.path.pop(0)); "


def start_of(module: str) -> str:
    """Return the program that calls `main` of a module, for Python's -c."""
    return f"{OWN_LANELAB}from {module} import main; main()"
