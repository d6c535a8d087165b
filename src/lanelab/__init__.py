"""A controlled network testbed. docs/python.md has all names of the library.

This file is sent to other machines, so it imports nothing until a name is used.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:  # for tools that read the code
    from lanelab.driver.api import (
        Agreement,
        BedOptions,
        Check,
        Claims,
        Comparison,
        Experiment,
        Explanation,
        InputError,
        LanelabError,
        Plan,
        Result,
        Run,
        Site,
        StopRequest,
        SweepOptions,
        Trial,
        event_lines,
        events,
        grid,
        merge,
        open_run,
        plan,
        resume,
        run,
        runs,
        sample_run,
        site,
        sites,
        sweep_events,
        verify,
    )

    __version__: str
__all__ = [
    "Agreement",
    "BedOptions",
    "Check",
    "Claims",
    "Comparison",
    "Experiment",
    "Explanation",
    "InputError",
    "LanelabError",
    "Plan",
    "Result",
    "Run",
    "Site",
    "StopRequest",
    "SweepOptions",
    "Trial",
    "event_lines",
    "events",
    "grid",
    "merge",
    "open_run",
    "plan",
    "resume",
    "run",
    "runs",
    "sample_run",
    "site",
    "sites",
    "sweep_events",
    "verify",
]


if not TYPE_CHECKING:  # for tools that read the code a misspelt name is an error

    def __getattr__(name):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202 - other machines may have Python 3.9
        if name == "__version__":
            from lanelab.driver.base.version import VERSION  # noqa: PLC0415 - that of a wheel is written into there

            return VERSION
        if name not in __all__:
            import difflib  # noqa: PLC0415

            near = difflib.get_close_matches(name, __all__, n=1)
            meant = f" Did you mean {near[0]}?" if near else ""
            raise AttributeError(f"lanelab has no {name!r}.{meant} It has: {', '.join(__all__)}")
        import importlib  # noqa: PLC0415

        return getattr(importlib.import_module("lanelab.driver.api"), name)


def __dir__():  # type: ignore[no-untyped-def] # noqa: ANN202
    return [*__all__, "__version__"]
