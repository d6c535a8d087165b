"""A controlled network testbed. As a library: `lanelab.run`, `lanelab.resume`, `lanelab.open_run`, and what
docs/reference/api.md names besides. This file is sent to other machines, so it imports nothing until it is asked."""

_LIBRARY = (
    *("run", "resume", "plan", "Plan", "open_run", "OpenRun"),
    *("BedOptions", "SweepOptions", "StopRequest", "events", "sweep_events"),
)


def __getattr__(name):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202 - other machines may have Python 3.9
    if name not in _LIBRARY:
        raise AttributeError(f"lanelab has no {name!r}. It has: {', '.join(_LIBRARY)}")
    import importlib  # noqa: PLC0415

    return getattr(importlib.import_module("lanelab.driver.api"), name)
