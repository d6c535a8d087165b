"""What a run of the verifying experiment shows: the fidelity, and the pictures to look at."""

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageChops

from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.base.clock import utc_now
from lanelab.driver.base.errors import RecordError, StoreError
from lanelab.driver.base.version import VERSION
from lanelab.driver.collect.fidelity.experiment import Wish
from lanelab.driver.collect.fidelity.measure import Loads, differences_of, fidelity_of, least
from lanelab.driver.collect.fidelity.read import KeptLoad, read_loads
from lanelab.driver.site.fidelity import Fidelity
from lanelab.driver.site.site import PAGE_MARK, Site
from lanelab.driver.trial.recorders.screenshot import FILE as PICTURE

SEEN = 24  # of 255, in one of the colours: less than that nobody sees, and fonts are drawn so differently
DARKER = 3  # where nothing differs, the picture of differences shows the page so many times fainter


@dataclass(frozen=True, slots=True)
class Compared:
    share: float  # of the pixels that differ
    difference: bytes  # as PNG: the page faintly, with what differs in red


def compare(recorded: bytes, loaded: bytes) -> Compared:
    """Compare pixel by pixel, from the upper left corner. What only one of them has differs. Raises RecordError."""
    old, new = _read(recorded, "recorded"), _read(loaded, "loaded")
    size = max(old.width, new.width), max(old.height, new.height)
    both = min(old.width, new.width), min(old.height, new.height)
    off = ImageChops.difference(old.crop((0, 0, *both)), new.crop((0, 0, *both)))
    red, green, blue = off.split()
    most = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    mask = Image.new("L", size, 255)
    mask.paste(most.point(lambda value: 255 if value > SEEN else 0), (0, 0))
    differing = mask.histogram()[255]
    return Compared(differing / (size[0] * size[1]), _drawn(new, mask))


def _read(data: bytes, which: str) -> Image.Image:
    try:
        with Image.open(io.BytesIO(data)) as image:
            return image.convert("RGB")
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise RecordError(f"the {which} picture of the page cannot be read: {error}") from error


def _drawn(page: Image.Image, mask: Image.Image) -> bytes:
    canvas = Image.new("RGB", mask.size, "white")
    canvas.paste(page.convert("L").point(lambda value: 255 - (255 - value) // DARKER).convert("RGB"), (0, 0))
    canvas.paste((208, 0, 0), (0, 0), mask)
    out = io.BytesIO()
    canvas.save(out, "PNG")
    return out.getvalue()


UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Shown:
    """The picture of the load that differs most from the recorded one, or of the first."""

    protocol: str
    picture: bytes
    compared: Compared | None  # None: there is no recorded one


@dataclass(frozen=True, slots=True)
class Verified:
    fidelity: Fidelity
    recorded: bytes | None
    shown: tuple[Shown, ...]
    differences: tuple[tuple[str, tuple[str, ...]], ...]  # of each protocol: words on what is inexact, missing or extra


@dataclass(frozen=True, slots=True)
class VerifiedAs:
    """The site that a verification is of."""

    entry: str  # address of the page that was recorded with a picture
    digest: str  # of all its objects
    archive: str | None  # sha256 of its recording


def verified(run: Path, pages: Mapping[str, Site], folder: Path, wish: Wish, verified_as: VerifiedAs) -> Verified:
    """Verify a site. `run` is the folder of the run, `pages` what it loaded by name, `folder` that of the archived
    site."""
    loads = read_loads(run)
    protocols, shown, differences = [], [], []
    for name, page in pages.items():
        is_entry = page.url(page.entry_scheme) == verified_as.entry
        recorded = _recorded_picture(folder) if is_entry else None
        for protocol in wish.protocols:
            kept = loads.get((name, protocol), [])
            label = f"{name.partition(PAGE_MARK)[2]} {protocol}".strip()
            pictures = [(picture, compare(recorded, picture) if recorded else None) for picture in _pictures(kept)]
            of_page = Loads(
                protocol=label,
                records=[each.record for each in kept],
                pictures=[each.share for _, each in pictures if each],
                has_picture=recorded is not None,
                not_reproduced=SERVERS[wish.server].not_reproduced(page),
            )
            protocols.append(fidelity_of(of_page, wish.loads, page))
            differences.append((label, differences_of((each.record for each in kept), page)))
            if pictures:
                picture, worst = max(pictures, key=lambda pair: pair[1].share if pair[1] else 0.0)
                shown.append(Shown(label, picture, worst))
    records = [each.record for kept in loads.values() for each in kept]
    evidence = [record.page_load for record in records if record.page_load]
    fidelity = Fidelity(
        score=least(each.score for each in protocols),
        at_utc=utc_now(),
        lanelab=VERSION,
        browser=_one(each.browser.facts.product for each in evidence if each.browser),
        server=_one(each.server.program.partition(" ")[0] for each in evidence if each.server),
        digest=verified_as.digest,
        protocols=tuple(protocols),
        archive=verified_as.archive,
    )
    return Verified(fidelity, _recorded_picture(folder), tuple(shown), tuple(differences))


def _one(words: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(words)) or UNKNOWN


def _pictures(loads: Iterable[KeptLoad]) -> list[bytes]:
    return [picture for each in loads if (picture := each.picture) is not None]


def _recorded_picture(folder: Path) -> bytes | None:
    try:
        return (folder / PICTURE).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"cannot read {folder / PICTURE}: {error.strerror}", "Bring it back, or remove it") from error
