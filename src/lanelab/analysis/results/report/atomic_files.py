"""Files of the report appear whole or not at all."""

from pathlib import Path

from lanelab.driver.base.errors import StoreError


def write_whole(target: Path, content: bytes) -> None:
    """Whole or not at all: someone may be looking at the last one."""
    part = target.with_name(f".{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise StoreError(
            f"cannot write {target}: {error.strerror}",
            "Name another place for it",
        ) from error
