"""What a worker does when its controller asks: one job after the other, each with a message and an answer
(driver/run/sweep/messages.py). Nothing here knows how they come and go."""

import base64
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import InputError, PackError
from lanelab.driver.run.sweep.messages import (
    SAME,
    Assignment,
    Delivery,
    EndRequest,
    Lacking,
    PieceRequest,
    Portion,
    QualifyRequest,
    SiteDone,
    SitePiece,
)
from lanelab.driver.run.sweep.worker import assignment
from lanelab.driver.run.sweep.worker.context import WorkerContext
from lanelab.driver.run.sweep.worker.work import Work

Answer = Coded | bytes | None
Job = Callable[[object, WorkerContext], Answer]
Order = TypeVar("Order", bound=Coded)


@dataclass(frozen=True, slots=True)
class Kept:
    """The state that is kept from one job to the next: a run, and the session that assigned it."""

    work: Work
    session: str


def run(name: str, payload: object, context: WorkerContext) -> object:
    """Do a job; the JSON or the bytes that the controller gets. Raises LanelabError where it cannot be done."""
    if name not in JOBS:
        raise InputError(f"this worker knows no job {name[:60]!r}", SAME)
    answer = JOBS[name](payload, context)
    return answer.to_json() if isinstance(answer, Coded) else answer


def _assign(payload: object, context: WorkerContext) -> Lacking:
    """Assign the worker to a run. Whatever it worked for before is over."""
    _end(context)
    order = Assignment.from_json(payload)
    work = Work(assignment.take(order, context.scratch, context.allowed, context.machine), context)
    context.kept = Kept(work, context.session)
    context.closing.append(work.end)
    return Lacking(tuple(work.assigned.lacks))


def _of_run(order: type[Order], do: Callable[[Work, Order], Answer]) -> Job:
    """Return the context of a job of the run that was assigned."""
    return lambda payload, context: do(_work(context), order.from_json(payload))


def _keep_piece(work: Work, piece: SitePiece) -> None:
    data = base64.b64decode(piece.data)
    if hashlib.sha256(data).hexdigest() != piece.sha256:
        raise PackError("a piece of a site came damaged")
    work.assigned.cache.add_piece(piece.digest, piece.offset, data)


def _end_run(payload: object, context: WorkerContext) -> Delivery:
    work, order = _work(context), EndRequest.from_json(payload)
    if order.run != work.assigned.order.run:
        raise InputError("this worker works for another run", "Assign it anew")
    try:
        return work.last_words(measure_links=order.measure_links)
    finally:
        _end(context)


def _work(context: WorkerContext) -> Work:
    kept = context.kept
    if not isinstance(kept, Kept):
        raise InputError("this worker does not know the run: it began after the run was assigned", "Assign it anew")
    if kept.session != context.session:  # its cells may have the same names
        raise InputError("this worker works for another run now", "Let only one run at a time use a worker")
    return kept.work


def _end(context: WorkerContext) -> None:
    kept, context.kept = context.kept, None
    if isinstance(kept, Kept):
        context.closing.remove(kept.work.end)
        kept.work.end()


JOBS: Mapping[str, Job] = {
    "assign": _assign,
    "site_piece": _of_run(SitePiece, _keep_piece),
    "site_done": _of_run(SiteDone, lambda work, done: work.assigned.take_site(done)),
    "qualify": _of_run(QualifyRequest, Work.qualify),
    "play": _of_run(Portion, Work.play),
    "piece": _of_run(PieceRequest, lambda work, piece: work.outbox.piece(piece)),
    "end_run": _end_run,
}
