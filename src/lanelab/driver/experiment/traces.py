"""From what a user writes of a moving link to the texts that a link is made of: traces are read, mappings become
text."""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.base.settings.source import Written
from lanelab.driver.base.units import Duration
from lanelab.driver.link.cross import PARTS as CROSS_PARTS
from lanelab.driver.link.fields import SETTINGS
from lanelab.driver.link.impairments.loss import PARTS as LOSS_PARTS
from lanelab.driver.link.kinds import DIRECTIONS
from lanelab.driver.link.moving.files import CSV_LIKE, read_trace, what_is_told
from lanelab.driver.link.moving.radio import Radio
from lanelab.driver.link.moving.trace import Trace, What

LIBRARY = PROJECT / "experiments" / "traces"
MOST_BYTES = 50_000_000
TRACE_KEYS, OUTAGE_KEYS = ("trace", "step"), ("for", "every")
RADIO_KEYS = tuple(Radio.__dataclass_fields__)
FOLLOWS = ("rate", "delay")  # what a trace may give


def library() -> dict[str, Path]:
    """Return the traces that come with lanelab, by name."""
    return {path.stem: path for path in sorted(LIBRARY.glob("*.csv"))}


def trace_from(where: str, what: What | None, folder: Path, *, key: str, step: Duration | None = None) -> Trace:
    """Return the trace of that file, or of that name in the library. A path is one from `folder` on. `what`: of what it
    has to be; None: as its header says. `step`: None unless the user chose one."""
    path = library().get(where) or (folder / Path(where).expanduser())
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"the trace {where!r} is no file", CSV_LIKE, key=key)
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{where} is larger than {MOST_BYTES} bytes", "Take a part of it", key=key)
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{where} is not UTF-8 text", CSV_LIKE, key=key) from None
    except (OSError, ValueError) as error:
        known = f"{near_miss(where, library())}Those of lanelab: {', '.join(library())}"
        why = (getattr(error, "strerror", None) or str(error)).lower()
        raise InputError(f"the trace {where!r} cannot be read: {why}", known, key=key) from None
    try:
        return read_trace(text, _name_of(path), what or what_is_told(text), source=where, step=step)
    except InputError as error:
        error.key = error.key or key
        raise


def _name_of(path: Path) -> str:
    name = "".join(
        letter if letter.isascii() and (letter.isalnum() or letter in "._-") else "-" for letter in path.stem
    )
    return name.lstrip("._-")[:40] or "trace"


def what_of(key: str) -> What | None:
    """Of what a setting is the trace; None: it is none."""
    name = SETTINGS[key].setting.name if key in SETTINGS else ""
    return cast("What", name.removesuffix("_trace")) if name.endswith("_trace") else None


def with_traces(values: Mapping[str, object], folder: Path) -> dict[str, object]:
    """Return the settings of a link with each trace's content in place of its file."""
    read: dict[str, object] = {}
    for key, value in values.items():
        what = what_of(key)
        named = isinstance(value, str) and not value.startswith("trace(")
        read[key] = str(trace_from(cast("str", value), what, folder, key=key)) if what and named else value
    return read


def plain_settings(values: Mapping[str, Written]) -> tuple[dict[str, object], dict[str, Written]]:
    """The settings of a link in a file as single texts, and where each stands: `rate: {trace: FILE}` is `rate_trace`,
    an outage or a radio may be a mapping. Traces are read."""
    texts: dict[str, object] = {}
    places: dict[str, Written] = {}
    for key, value in values.items():
        name, text = _as_text(key, value) if value.is_mapping else (key, value.text())
        if name in texts:
            raise value.error(f"{name} is there twice", "Leave one of them out")
        places[name] = value
        if name == "distances" and value.is_mapping:
            places |= {f"{name}.{host}": trip for host, trip in value.entries().items()}
        texts[name] = text
        what = what_of(name)
        if what and not text.startswith("trace("):
            step = _step(value)
            with value.placed(value.entries() if value.is_mapping else {}):
                texts[name] = str(trace_from(text, what, Path(value.source).parent, key="", step=step))
    return texts, places


def _step(value: Written) -> Duration | None:
    if not value.is_mapping or "step" not in value.entries(TRACE_KEYS):
        return None
    entry = value.entries(TRACE_KEYS)["step"]
    with entry.placed({}):
        return Duration.parse(entry.text())


def mapping_keys(name: str) -> tuple[str, ...]:
    """The keys that a mapping may have in place of a setting's text; none: it has to be a text."""
    base, _, side = name.partition("_")
    if side and side not in DIRECTIONS.words:
        return ()
    return {**dict.fromkeys(FOLLOWS, TRACE_KEYS), "outage": OUTAGE_KEYS, "radio": RADIO_KEYS}.get(base, ())


def _as_text(key: str, value: Written) -> tuple[str, str]:
    if key in ("distances", "cross"):
        entries = value.entries(CROSS_PARTS) if key == "cross" else value.entries()
        return key, "{" + ", ".join(f"{name}: {part.text()}" for name, part in entries.items()) + "}"
    base, _, side = key.partition("_")
    if side and side not in DIRECTIONS.words:
        base = key
    if base in FOLLOWS:
        parts = _parts(value, TRACE_KEYS, ("trace",), f"Write {key}: {{trace: FILE}}")
        return f"{base}_trace{'_' + side if side else ''}", parts["trace"]
    if base == "loss":
        parts = _parts(value, LOSS_PARTS, LOSS_PARTS, f"Write {key}: {{rate: 1%, burst: 4}}")
        return key, f"bursts({parts['rate']}, {parts['burst']})"
    if base == "outage":
        parts = _parts(value, OUTAGE_KEYS, OUTAGE_KEYS, f"Write {key}: {{for: 500ms, every: 10s}}")
        return key, f"{parts['for']} every {parts['every']}"
    if key == "radio":
        like = "Write radio: {promotion: 2s, resume: 1.5s, inactive: 5s, release: 12s}, or a name: 3g, lte"
        parts = _parts(value, RADIO_KEYS, RADIO_KEYS, like)
        return key, "radio(" + ", ".join(f"{name}={text}" for name, text in parts.items()) + ")"
    return key, value.text()  # which says what is wrong


def _parts(value: Written, known: tuple[str, ...], needed: tuple[str, ...], like: str) -> dict[str, str]:
    entries = value.entries(known)
    for name, entry in entries.items():
        if name not in known:
            raise entry.error("there is no such key here", like)
    for name in needed:
        if name not in entries:
            raise value.error(f"{name} is missing", like)
    return {name: entry.text() for name, entry in entries.items()}
