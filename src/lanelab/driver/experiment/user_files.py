"""Users' own scripts beside an experiment file."""

from pathlib import Path, PurePosixPath

from lanelab.driver.base.settings.source import Written

LARGEST_SCRIPT_BYTES = 1_000_000


def read_script(written: Written, name: str) -> str:
    """Return the text of a script that is below the experiment file's folder."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        remedy = "Put the script beside the file or below it: the run folder keeps a copy of it"
        raise written.error("a script has to be below the folder of the experiment file", remedy)
    try:
        data = (Path(written.source).parent / path).read_bytes()
        text = data[: LARGEST_SCRIPT_BYTES + 1].decode("utf-8")
    except OSError as error:
        raise written.error(f"the script {name} cannot be read: {error.strerror}", "Mind its path") from None
    except UnicodeDecodeError:
        raise written.error(f"the script {name} is not UTF-8 text", "Save it as UTF-8") from None
    if len(data) > LARGEST_SCRIPT_BYTES:
        raise written.error(f"the script {name} is larger than {LARGEST_SCRIPT_BYTES} bytes", "Make it smaller")
    return text
