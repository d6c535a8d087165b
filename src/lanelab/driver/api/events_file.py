"""The events of a run as lines of JSON in a file: for a program that follows a run which a person watches."""

from collections.abc import Iterator
from contextlib import contextmanager
from json import dumps
from pathlib import Path

from lanelab.driver.base.writing import writing
from lanelab.driver.run.events import Event, Listener, unheard


@contextmanager
def event_lines(path: str | Path, then: Listener = unheard) -> Iterator[Listener]:
    """Yield a listener that adds each event to the end of this file, at once. then: who is told of it besides.

    A line is one write: whoever reads the file sees whole lines, and Ctrl-C may come in the middle of another event.
    StoreError where the file cannot be written."""
    what = f"write events to {path}"
    with writing(what):
        file = Path(path).open("ab", buffering=0)  # noqa: SIM115 - closed below, where other errors are not its own
    with file:

        def listen(event: Event) -> None:
            with writing(what):
                file.write(f"{dumps(event.to_json())}\n".encode())
            then(event)

        yield listen
