"""What a run of the verifying experiment shows: the fidelity, and the pictures to look at."""

import io
from collections.abc import Iterable
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
from lanelab.driver.site.digest import digest_of
from lanelab.driver.site.fidelity import Fidelity
from lanelab.driver.site.site import Site
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


def verified(run: Path, site: Site, folder: Path, wish: Wish, archive: str | None) -> Verified:
    """Verify a site. `run` is the folder of the run, `folder` that of the archived site, `archive` the sha256 of its
    recording."""
    loads = read_loads(run)
    recorded = _recorded_picture(folder)
    protocols, shown, differences = [], [], []
    for protocol in wish.protocols:
        kept = loads.get(protocol, [])
        pictures = [(picture, compare(recorded, picture) if recorded else None) for picture in _pictures(kept)]
        compared = [each for _, each in pictures if each]
        protocols.append(
            fidelity_of(
                Loads(
                    protocol=protocol,
                    records=[each.record for each in kept],
                    pictures=[each.share for each in compared],
                    has_picture=recorded is not None,
                    not_reproduced=SERVERS[wish.server].not_reproduced(site),
                ),
                wish.loads,
                site,
            )
        )
        differences.append((protocol, differences_of((each.record for each in kept), site)))
        if pictures:
            picture, worst = max(pictures, key=lambda pair: pair[1].share if pair[1] else 0.0)
            shown.append(Shown(protocol, picture, worst))
    records = [each.record for kept in loads.values() for each in kept]
    evidence = [record.page_load for record in records if record.page_load]
    fidelity = Fidelity(
        score=least(each.score for each in protocols),
        at_utc=utc_now(),
        lanelab=VERSION,
        browser=_one(each.browser.facts.product for each in evidence if each.browser),
        server=_one(each.server.program.partition(" ")[0] for each in evidence if each.server),
        digest=digest_of(site.objects),
        protocols=tuple(protocols),
        archive=archive,
    )
    return Verified(fidelity, recorded, tuple(shown), tuple(differences))


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
