"""What a worker does when its controller asks: one job after the other, each with a message and an answer
(driver/run/sweep/messages.py). Nothing here knows how they come and go."""

import base64
import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from lanelab.driver.base.errors import InputError, PackError
from lanelab.driver.run.sweep.messages import SAME, PieceRequest, Portion, QualifyRequest, SiteDone, SitePiece
from lanelab.driver.run.sweep.worker import assigned
from lanelab.driver.run.sweep.worker.context import WorkerContext
from lanelab.driver.run.sweep.worker.work import Work

WORK, WHOSE = "work", "whose"  # what is kept from one job to the next: a run, and the session that assigned it
Job = Callable[[Mapping[str, Any], WorkerContext], Any]


def run(name: str, payload: Mapping[str, Any], context: WorkerContext) -> Any:  # noqa: ANN401 - JSON, or bytes
    """Do a job; what the controller gets. Raises LanelabError where it cannot be done."""
    if name not in JOBS:
        raise InputError(f"this worker knows no job {name[:60]!r}", SAME)
    return JOBS[name](payload, context)


def _assign(payload: Mapping[str, Any], context: WorkerContext) -> dict[str, Any]:
    """Whatever it worked for before is over."""
    _end(context)
    context.kept[WORK] = work = Work(assigned.take(payload, context.scratch, context.allowed, context.machine), context)
    context.kept[WHOSE] = context.session
    context.closing.append(work.end)
    return {"lacks": work.assigned.lacks}


def _site_piece(payload: Mapping[str, Any], context: WorkerContext) -> None:
    piece = SitePiece.from_json(payload)
    data = base64.b64decode(piece.data)
    if hashlib.sha256(data).hexdigest() != piece.sha256:
        raise PackError("a piece of a site came damaged")
    _work(context).assigned.cache.add_piece(piece.digest, piece.offset, data)


def _site_done(payload: Mapping[str, Any], context: WorkerContext) -> None:
    _work(context).assigned.take_site(SiteDone.from_json(payload))


def _qualify(payload: Mapping[str, Any], context: WorkerContext) -> dict[str, Any]:
    return _work(context).qualify(QualifyRequest.from_json(payload)).to_json()


def _play(payload: Mapping[str, Any], context: WorkerContext) -> dict[str, Any]:
    return _work(context).play(Portion.from_json(payload)).to_json()


def _piece(payload: Mapping[str, Any], context: WorkerContext) -> bytes:
    return _work(context).outbox.piece(PieceRequest.from_json(payload))


def _drop_pack(payload: Mapping[str, Any], context: WorkerContext) -> None:
    _work(context).outbox.drop(payload["name"])


def _end_run(payload: Mapping[str, Any], context: WorkerContext) -> dict[str, Any]:
    work = _work(context)
    if payload["run"] != work.assigned.order.run:
        raise InputError("this worker works for another run", "Assign it anew")
    try:
        return work.last_words(measure_links=payload["measure_links"]).to_json()
    finally:
        _end(context)


def _work(context: WorkerContext) -> Work:
    work = context.kept.get(WORK)
    if not isinstance(work, Work):
        raise InputError("this worker does not know the run: it began after the run was assigned", "Assign it anew")
    if context.kept[WHOSE] != context.session:  # its cells may have the same names
        raise InputError("this worker works for another run now", "Let only one run at a time use a worker")
    return work


def _end(context: WorkerContext) -> None:
    work = context.kept.pop(WORK, None)
    if isinstance(work, Work):
        context.closing.remove(work.end)
        work.end()


JOBS: Mapping[str, Job] = {
    "assign": _assign,
    "site_piece": _site_piece,
    "site_done": _site_done,
    "qualify": _qualify,
    "play": _play,
    "piece": _piece,
    "drop_pack": _drop_pack,
    "end_run": _end_run,
}
