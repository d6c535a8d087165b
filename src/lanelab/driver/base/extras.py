"""What an installed lanelab may lack: packages that only some commands need, in the extras of pyproject.toml."""

import importlib.util

EXTRAS = {
    "run": (
        "ansible", "selenium", "websocket", "warcio", "hyperframe", "idna", "brotlicffi", "zstandard", "rcssmin",
        "rjsmin", "oxipng", "urllib3",
    ),
    "sweep": ("distributed", "dask"),
    "serve": ("starlette", "uvicorn"),
    "tables": ("pyarrow", "altair"),
}  # fmt: skip


def require(module: str) -> None:
    """Raise ModuleNotFoundError, as importing it would: for what only a child process imports."""
    if importlib.util.find_spec(module) is None:
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)


def extra_with(module: str | None) -> str | None:
    """Return the extra that brings a module, by the name that is imported."""
    top = (module or "").partition(".")[0]
    return next((extra for extra, modules in EXTRAS.items() if top in modules), None)
