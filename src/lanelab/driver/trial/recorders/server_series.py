"""The recorder `server_series`: what happens on the server node during a load, once a second.
docs/reference/server-series.md explains its numbers.

The sampler is a program on the node, whatever the node is made of. What it says is kept as it comes, so that a load
that breaks off has its series until then.
"""

import contextlib
import json
import os
import threading
from dataclasses import dataclass

from lanelab.driver.arm.servers.server import BACK_END_PORT
from lanelab.driver.base.coded import Coded, JsonObject
from lanelab.driver.base.errors import BedError, RecordError
from lanelab.driver.base.settings.kinds import FLAG
from lanelab.driver.base.settings.setting import Setting
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.addresses import LINK_NETWORK
from lanelab.driver.bed.line_program import Program
from lanelab.driver.bed.node import Node, Stdio
from lanelab.driver.bed.remote import connections, node_counters, role_processes, scoreboard, server_sampler
from lanelab.driver.record.metrics import LOAD
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.trial.recorders.recorder import Context, Recorder, Recording, Weight
from lanelab.driver.trial.recorders.server_series_use import (
    Before,
    End,
    Sample,
    Watched,
    evidence_of,
    flags_of,
    measures_of,
    series_of,
)

ANSWER_TIMEOUT_S = 20.0
LAST_WORDS = 300  # bytes of what a sampler that failed said
EVIDENCE_BYTES = 600
BACK_END = "back_end"  # the role of a server behind a proxy
POINT_BYTES, SERIES_OF_A_SECOND = 86, 20  # in the run's database, with its index
PROGRAM = Program(server_sampler, (connections, node_counters, role_processes, scoreboard))


@dataclass(frozen=True, slots=True)
class ServerSeriesOptions(Coded):
    """It has none."""


class Sampler:
    """The program on the node. Whoever started it ends it."""

    def __init__(self, node: Node, settings: JsonObject) -> None:
        self._node = node
        self.lines: list[bytes] = []  # whole ones
        self._some = threading.Condition()
        self._over = False
        self._errors = os.memfd_create("sampler")
        ours, theirs = os.pipe(), os.pipe()
        (input_there, self._input), (self._output, output_there) = ours, theirs
        try:
            command = PROGRAM.command(node, json.dumps(settings))
            self._process = node.spawn(command, Stdio(input_there, output_there, self._errors))
        except BaseException:
            self._close_files()
            raise
        finally:
            os.close(input_there)
            os.close(output_there)
        self._reader = threading.Thread(target=self._read, name="server series", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with open(self._output, "rb", closefd=False) as output:
            for line in output:
                with self._some:
                    if line.endswith(b"\n"):
                        self.lines.append(line)
                    self._some.notify_all()
        with self._some:
            self._over = True
            self._some.notify_all()

    def await_first(self) -> bool:
        """It is ready. False: it is not, and why is in `last_words`."""
        with self._some:
            self._some.wait_for(lambda: self.lines or self._over, scaled(ANSWER_TIMEOUT_S))
            return bool(self.lines)

    def say(self, word: str) -> None:
        """To one that has ended by itself nothing can be said; its lines tell."""
        with contextlib.suppress(OSError):
            os.write(self._input, f"{word}\n".encode())

    def end(self) -> None:
        """When this returns, its lines are all that it will ever say."""
        self.say("end")
        self._reader.join(scaled(ANSWER_TIMEOUT_S))

    def last_words(self) -> str:
        size = os.fstat(self._errors).st_size
        words = os.pread(self._errors, LAST_WORDS, max(size - LAST_WORDS, 0)).decode(errors="replace").strip()
        return words.splitlines()[-1] if words else "it said nothing"

    def close(self) -> None:
        self._process.signal(9)
        self._reader.join(scaled(ANSWER_TIMEOUT_S))  # its output ends with it
        self._close_files()

    def _close_files(self) -> None:
        for end in (self._input, self._output, self._errors):
            with contextlib.suppress(OSError):
                os.close(end)


class ServerSeries(Recorder[ServerSeriesOptions]):
    name = "server_series"
    options_type = ServerSeriesOptions
    workloads = (LOAD,)
    second_bytes = POINT_BYTES * SERIES_OF_A_SECOND
    setting = Setting(
        "server_series",
        FLAG,
        "true",
        "record workers, connections, processor time and memory of the server once a second during each load: "
        "[how](server-series.md)",
        "off",
    )

    def __init__(self, options: ServerSeriesOptions) -> None:
        super().__init__(options)
        self._sampler: Sampler | None = None
        self._began = False

    @classmethod
    def disk_bytes(cls, options: ServerSeriesOptions, weight: Weight) -> float:  # noqa: ARG003 - see second_bytes
        return EVIDENCE_BYTES

    def start(self, context: Context) -> None:
        if not context.roles:  # no server could be started, and the trial has failed already
            return
        question: JsonObject = {
            "folders": {name: role.folder for name, role in context.roles.items()},
            "ports": sorted({port for role in context.roles.values() for port in role.ports}),
            "ports_behind": [BACK_END_PORT] if BACK_END in context.roles else [],
            "network": LINK_NETWORK,
        }
        self._sampler = Sampler(context.nodes["server"], question)
        if not self._sampler.await_first():
            words = self._sampler.last_words()
            self.close()
            raise BedError(f"on server, the program that looks at it does not answer: {words}")

    def load_begins(self) -> None:
        if self._sampler:
            self._sampler.say("begin")
            self._began = True

    def load_ended(self) -> None:
        if self._sampler:
            self._sampler.end()

    def stop(self) -> Recording:
        sampler = self._sampler
        if sampler is None or not self._began:  # the trial has failed already
            self.close()
            return Recording()
        try:
            sampler.end()
            watched = watched_of(sampler.lines, sampler.last_words())
        finally:
            self.close()
        series, evidence = series_of(watched), evidence_of(watched)
        return Recording(
            measures=measures_of(watched, series),
            series=series,
            flags=flags_of(evidence),
            evidence=evidence,
            failures=failures_of(watched),
        )

    def close(self) -> None:
        sampler, self._sampler = self._sampler, None
        if sampler:
            with contextlib.suppress(BedError, OSError):
                sampler.close()


def watched_of(lines: list[bytes], last_words: str) -> Watched:
    """Return what a sampler said. Raises RecordError where that makes no sense; that it broke off is no such thing."""
    try:
        messages = [json.loads(line) for line in lines]
    except ValueError as error:
        raise RecordError(f"what the sampler says is no JSON: {error}") from error
    if len(messages) < 2 or not isinstance(messages[1], dict) or set(messages[1]) != {"began_s"}:
        raise RecordError(f"the sampler did not begin: {last_words}")
    ended = isinstance(messages[-1], dict) and "ended_s" in messages[-1]
    samples = messages[2:-1] if ended else messages[2:]
    return Watched(
        before=Before.from_json(messages[0], "sampler"),
        began_s=float(messages[1]["began_s"]),
        samples=tuple(Sample.from_json(each, "sample") for each in samples),
        end=End.from_json(messages[-1], "sampler") if ended else None,
        stopped="" if ended else last_words,
    )


def failures_of(watched: Watched) -> tuple[Failure, ...]:
    """Return why the series cannot be what they should be."""
    failed = []
    if watched.end is None:
        failed.append(f"the program that looks at the server ended before the load: {watched.stopped}")
    if not watched.samples:
        failed.append("nobody looked at the server while it was under load")
    failed += [f"{what} of the server cannot be read: {why}" for what, why in watched.absent.items()]
    return tuple(Failure(Reason.RECORDER_FAILED, each) for each in failed)
