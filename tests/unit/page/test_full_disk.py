"""A disk without room: whoever changes something reads so, nothing is half written, and the server goes on."""

import subprocess
import sys
from pathlib import Path

from tests.kit.machine import ROOT, needs_namespaces, on_changed_machine

SCRIPT = 'mount -t tmpfs -o size=1m none "$1/disk"; LANELAB_BUILD="$1/disk/build" PYTHONPATH="$2" "$3" -c "$4" "$1"'
PROGRAM = """
import sys
from contextlib import suppress
from pathlib import Path

from lanelab.driver.api import run_apart
from lanelab.driver.lab import description
from tests.kit.classes import prediction, predicts
from tests.kit.made_lab import NAME, make_lab
from tests.kit.pages import Visitor, served
from tests.kit.wait import wait_until

place = Path(sys.argv[1])
make_lab(place / "labs")
description.LABS = place / "labs"
run_apart.PROGRAM = (sys.executable, "-c", "print('no bed here')")
run_apart.other_beds_here = lambda: 0  # on this machine others may measure
runs = place / "disk" / "runs"
runs.mkdir()


def files():
    return sorted((str(path), path.stat().st_size) for path in runs.rglob("*"))


with served(runs) as owner:
    student = Visitor(owner.port, owner.access)
    student.enter(owner.access.watcher)
    owner.enter(owner.access.owner)

    def enrol(name):
        return owner.post(f"/labs/{NAME}/enrol", {"name": [name]})

    ada = f"/labs/{NAME}/{enrol('Ada').headers['location']}"
    assert predicts(owner, ada, load="900").status == 303
    before = files()
    with (place / "disk" / "filling").open("wb", buffering=0) as filling, suppress(OSError):
        while True:
            filling.write(bytes(4096))
    labs = {f"/labs/{NAME}/enrol": {"name": ["Ben"]}, f"{ada}predict": prediction(load="2250")}
    for address, form in labs.items():
        answer = student.post(address, form)
        says = "The disk of the server is full. Tell the teacher." in answer.text
        print(answer.status, says, str(place) in answer.text, files() == before)
    forms = {
        **labs,
        "/race/": {},
        "/bench/": {},
        "/begin/": {"experiment": ["quickstart"], "trials": ["1"], "seed": [""]},
    }
    for address, form in forms.items():
        answer = owner.post(address, form)
        says = "No space left on device" in answer.text or "the disk is full" in answer.text
        print(answer.status, says, files() == before)
    owner.post(f"{ada}begin", {})
    wait_until(lambda: "the disk is full" in owner.ask(ada).text, 10)
    waits = student.ask(ada).text
    print("The disk of the server is full. Tell the teacher." in waits, str(place) in waits)
    print(owner.ask("/").status, owner.ask(ada).status)
    (place / "disk" / "filling").unlink()
    run_apart.ROOM_MIB = 0
    print(enrol("Ben").status)
    wait_until(lambda: "The run did not begin. <span>no bed here" in owner.ask(ada).text, 20)
    print(predicts(owner, ada, load="2250").status)
"""


@needs_namespaces
def test_whoever_changes_something_reads_that_the_disk_is_full(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    command = on_changed_machine(SCRIPT, tmp_path, ROOT, sys.executable, PROGRAM)
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.stdout.splitlines() == [
        "507 True False True",
        "507 True False True",
        "507 True True",
        "507 True True",
        "422 True True",
        "422 True True",
        "409 True True",
        "True False",
        "200 200",
        "303",
        "303",
    ], ended.stdout + ended.stderr
    told = [line for line in ended.stderr.splitlines() if line.startswith("a page: ")]
    assert all(str(tmp_path) in line for line in told), told
    assert len(told) >= len(("enrol", "predict", "begin")), ended.stderr
