"""The events of a run as lines of JSON in a file: for a program that follows a run which a person watches."""

from collections.abc import Iterator
from contextlib import contextmanager
from json import dumps
from pathlib import Path

from lanelab.driver.base.writing import write_all, writing
from lanelab.driver.run.events import Event, Listener, unheard


@contextmanager
def event_lines(path: str | Path, then: Listener = unheard) -> Iterator[Listener]:
    """Yield a listener that adds each event to the end of this file, at once. then: who is told of it besides.

    A line is one write where the disk takes it whole: whoever reads the file sees whole lines, and Ctrl-C may come in
    the middle of another event.
    StoreError where the file cannot be written."""
    what = f"write events to {path}"
    with writing(what):
        file = Path(path).open("ab", buffering=0)  # noqa: SIM115 - closed below, where other errors are not its own
    with file:
        with writing(what):
            if _is_cut(Path(path)):  # by a disk that was full
                write_all(file.fileno(), b"\n")

        def listen(event: Event) -> None:
            with writing(what):
                write_all(file.fileno(), f"{dumps(event.to_json())}\n".encode())
            then(event)

        yield listen


def _is_cut(path: Path) -> bool:
    """Return whether the last line of the file has no end."""
    if not path.is_file() or not path.stat().st_size:  # a pipe cannot be read again
        return False
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) != b"\n"
