"""Dask, set so that it leaves a bed alone: what it measures about itself every few milliseconds by default would be in
every page load time."""

import logging
from collections.abc import Mapping

# What a lost machine looks like: nothing arrives any more. The kernel finds it on each connection, and the scheduler.
SILENT_S = 20
CONNECT_S = 10
WORKER_LIFE_S = 20  # without a sign of life; looked at as often, so that it is noticed within twice that
HEARTBEAT_S = 5.0
SLOW = "10s"

QUIET: Mapping[str, bool | int | str] = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": SLOW,
    "distributed.admin.tick.cycle": SLOW,
    "distributed.admin.tick.limit": "60s",
    "distributed.admin.system-monitor.interval": SLOW,
    "distributed.admin.system-monitor.log-length": 10,
    "distributed.admin.system-monitor.disk": False,
    "distributed.admin.system-monitor.host-cpu": False,
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.admin.log-length": 200,
    "distributed.admin.low-level-log-length": 2,  # messages that each connection remembers, with all that was in them
    "distributed.diagnostics.nvml": False,
    "distributed.diagnostics.cudf": False,
    # A job belongs to the worker that it was given to, and is made anew by nobody but the controller.
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.allowed-failures": 0,
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.scheduler.worker-ttl": f"{WORKER_LIFE_S}s",
    "distributed.scheduler.events-cleanup-delay": "60s",
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.comm.timeouts.connect": f"{CONNECT_S}s",
    "distributed.comm.timeouts.tcp": f"{SILENT_S}s",
    "distributed.client.heartbeat": SLOW,
    "distributed.client.scheduler-info-interval": SLOW,
}

LOUD = ("distributed", "tornado", "asyncio")


def be_quiet() -> None:
    """Set Dask of this process. What the user has set about Dask otherwise stays: preloads, TLS, ports."""
    import dask  # noqa: PLC0415 - a run on one bed does not load it
    import distributed  # noqa: F401, PLC0415 - which reads the user's own settings first

    dask.config.set(QUIET)
    # What matters of it is told by us. Dask gives some of its loggers, such as distributed.client, levels of their own.
    for name in (*LOUD, *(each for each in logging.root.manager.loggerDict if each.partition(".")[0] in LOUD)):
        logging.getLogger(name).setLevel(logging.CRITICAL)
