"""The scheduler that a run starts itself: a process of its own, so that neither takes the other's time."""

import asyncio
import contextlib
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanelab.driver.base.coded import Coded
from lanelab.driver.run.sweep.children import say
from lanelab.driver.run.sweep.dask_settings import be_quiet
from lanelab.driver.run.sweep.keys import Keys

DASHBOARD = "127.0.0.1:8787"  # another port where this one is taken


@dataclass(frozen=True, slots=True)
class SchedulerSettings(Coded):
    host: str
    port: int  # 0: any
    keys: Keys
    scratch: Path  # what Dask keeps on its disk; whoever starts this process removes it
    dashboard: Path | None  # the folder of what it is drawn with; None: there is none


@dataclass(frozen=True, slots=True)
class SchedulerSaid(Coded):
    """A message of a scheduler to the run: where it is, or why it is nowhere."""

    address: str = ""
    dashboard: str = ""  # its page; "": it has none
    error: str = ""


def serve(data: object) -> None:
    """Be a scheduler until SIGTERM, or until the run's process ends."""
    asyncio.run(_serve(SchedulerSettings.from_json(data)))


async def _serve(settings: SchedulerSettings) -> None:
    be_quiet()
    import dask  # noqa: PLC0415
    import distributed  # noqa: PLC0415

    dask.config.set({"temporary-directory": str(settings.scratch)})
    if settings.dashboard:
        sys.path.append(str(settings.dashboard))  # last: what both have is the environment's
    else:
        dask.config.set({"distributed.scheduler.http.routes": ["distributed.http.health"]})
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    try:
        scheduler = await distributed.Scheduler(
            host=settings.host,
            port=settings.port,
            protocol="tls",
            security=settings.keys.security(),
            dashboard=settings.dashboard is not None,
            dashboard_address=DASHBOARD if settings.dashboard else "127.0.0.1:0",
            extensions=_extensions(),
        )
    except (OSError, RuntimeError, ValueError) as error:
        say(SchedulerSaid(error=_root(error)))
        return
    port = scheduler.http_server and scheduler.http_server.port if settings.dashboard else 0
    say(SchedulerSaid(scheduler.address, f"http://127.0.0.1:{port}/status" if port else ""))
    finished = asyncio.create_task(scheduler.finished())
    await asyncio.wait([finished, asyncio.create_task(ended.wait())], return_when=asyncio.FIRST_COMPLETED)
    with contextlib.suppress(asyncio.TimeoutError, TimeoutError):
        await asyncio.wait_for(scheduler.close(), 3)


def _extensions() -> dict[str, type]:
    """Those of Dask, with spans that remember nothing: else something stays of each job until the scheduler ends."""
    from distributed.scheduler import DEFAULT_EXTENSIONS  # noqa: PLC0415
    from distributed.spans import SpansSchedulerExtension  # noqa: PLC0415

    class NoSpans(SpansSchedulerExtension):  # type: ignore[misc]
        def observe_tasks(self, *_tasks: Any, **_about: Any) -> dict[Any, Any]:  # noqa: ANN401 - of Dask
            return {}

        def heartbeat(self, *_report: Any) -> None:  # noqa: ANN401 - of Dask
            return

    return {**DEFAULT_EXTENSIONS, "spans": NoSpans}


def _root(error: BaseException) -> str:
    while error.__cause__ or error.__context__:
        error = error.__cause__ or error.__context__ or error
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error) or type(error).__name__
