"""The process that measures for the bench: it keeps a bed, measures what it is asked for, and says what happens.

A line of JSON asks: {"experiment": text, "folder": where its run goes, "rounds": so many more}. Lines of JSON answer:
events of the run, at the end {"done": folder} or {"problem": words}, and {"rests": true} when nothing is left to do. It
ends when nobody can ask any more, and when nobody has for a while. What is under way is finished first.
"""

import json
import queue
import sys
import threading
from contextlib import suppress
from pathlib import Path

from lanelab.driver.api.link_bench import LinkBench
from lanelab.driver.base.errors import BedError, LanelabError
from lanelab.driver.base.writing import writing
from lanelab.driver.page.choices import checked

SETTLES_S = 5.0  # without a question: then there is time to measure links again
IDLE_S = 900.0
COMMAND = ("lanelab", "serve")


def main() -> None:
    questions: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(questions,), daemon=True).start()
    with LinkBench(lambda event: _say(event.to_json()), command=COMMAND) as bench:
        patience = SETTLES_S
        while True:
            try:
                line = questions.get(timeout=patience)
            except queue.Empty:
                if patience == IDLE_S:
                    return
                bench.measure_again()
                _say({"rests": True})
                patience = IDLE_S
                continue
            if not line or not _answer(bench, line):
                return
            patience = SETTLES_S


def _read(questions: "queue.SimpleQueue[str]") -> None:
    for line in sys.stdin:
        questions.put(line)
    questions.put("")


def _answer(bench: LinkBench, line: str) -> bool:
    """Measure, and say how it ended. Whether the bed can do more."""
    request = json.loads(line)
    folder = Path(request["folder"])
    try:
        with writing(f"measure in {folder}"):
            folder = bench.measure(
                checked(request["experiment"]), folder, request["rounds"], accept_links=request["accept"]
            )
    except LanelabError as error:
        _say({"problem": str(error)})
        return not isinstance(error, BedError)
    _say({"done": str(folder)})
    return True


def _say(answer: object) -> None:
    with suppress(OSError):  # nobody listens any more
        print(json.dumps(answer), flush=True)
