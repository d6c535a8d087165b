"""The libraries and the one program that read and write images. Each gives the same bytes for the same input.

A failure of any of them is Undecodable: whoever asks keeps the image as it is.
"""

import io
import shutil
import subprocess
import warnings
from functools import cache

import oxipng
from PIL import Image, JpegImagePlugin, UnidentifiedImageError

from lanelab.driver.base.errors import MissingProgram
from lanelab.driver.base.system_path import SYSTEM_PATH
from lanelab.driver.site.minify.image_files import Box, Kind, kind_of, png_chunks, size_of

PIXELS_MAX = 8 * 1024 * 1024  # the last release's limit of 32 MiB, four bytes each; larger images stay as they are
JPEGTRAN = "jpegtran"
JPEGTRAN_TIMEOUT_S = 60
RESIZED_JPEG_QUALITY = 95  # what the library had that the releases of 2012 resized with
WEBP_METHOD = 3
ORIENTATION = 0x0112  # the tag of EXIF that says how to turn the image
UPRIGHT = 1
# The tries of the module: all filters of PNG by their smallest sum, and none. libdeflate at 7 comes closest to zlib
# at 9, which the module used: over 150 images of icon themes and documentation 500,785 bytes against 501,218.
PNG_FILTERS = (oxipng.RowFilter.NoOp, oxipng.RowFilter.MinSum)
PNG_DEFLATE_LEVEL = 7

_TROUBLE = (OSError, ValueError, SyntaxError, IndexError, KeyError, TypeError, OverflowError, EOFError, MemoryError)

# Tables K.1 and K.2 of the JPEG standard, in the order of rows. A quality scales them.
_LUMINANCE = (
    *(16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29),
    *(51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121),
    *(120, 101, 72, 92, 95, 98, 112, 100, 103, 99),
)
_CHROMINANCE = (
    *(17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99, 47, 66),
    *(99,) * 38,
)


class Undecodable(Exception):
    """This image cannot be read or written; the words say why."""


def decode(body: bytes) -> Image.Image:
    """Return every pixel of it. What is cut short, damaged or too large is Undecodable."""
    box = size_of(body)
    if box is None:
        raise Undecodable("its head has no size")
    if box.area > PIXELS_MAX:
        raise Undecodable(f"{box.width} x {box.height} pixels are more than {PIXELS_MAX:,}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = Image.open(io.BytesIO(body))
            image.load()
    except (*_TROUBLE, UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise Undecodable("it is damaged") from error
    if image.size != (box.width, box.height):
        raise Undecodable("its head has another size than its pixels")
    return image


def frames_of(image: Image.Image) -> int:
    try:
        return int(getattr(image, "n_frames", 1))
    except _TROUBLE as error:
        raise Undecodable("its frames cannot be counted") from error


def is_opaque(image: Image.Image) -> bool:
    """Return whether no pixel can be transparent: there is neither an alpha channel nor a transparent colour."""
    return "A" not in image.getbands() and "transparency" not in image.info


def is_turned(image: Image.Image) -> bool:
    """Its EXIF data has it turned or mirrored. Browsers of today obey that; those of 2012 did not."""
    try:
        return int(image.getexif().get(ORIENTATION, UPRIGHT)) != UPRIGHT
    except _TROUBLE:
        return False


def is_animated_png(body: bytes) -> bool:
    return b"acTL" in png_chunks(body)


def optimize_png(body: bytes) -> bytes:
    """Pack the same pixels into fewer bytes. All that goes along but the gamma is dropped, as the module did."""
    try:
        return bytes(
            oxipng.optimize_from_memory(
                body,
                level=2,
                strip=oxipng.StripChunks.keep([b"gAMA"]),
                interlace=oxipng.Interlacing.Off,
                filter=list(PNG_FILTERS),
                deflate=oxipng.Deflaters.libdeflater(PNG_DEFLATE_LEVEL),
                force=True,
            )
        )
    except (oxipng.PngError, ValueError) as error:
        raise Undecodable("it is damaged") from error


def to_png(image: Image.Image) -> bytes:
    return optimize_png(_saved(image, "PNG"))


def optimize_jpeg(body: bytes, *, progressive: bool = False) -> bytes:
    """The same coefficients with Huffman codes made for them, without metadata: no pixel changes."""
    argv = [str(_jpegtran()), "-copy", "none", "-optimize", *(["-progressive"] if progressive else [])]
    try:
        done = subprocess.run(argv, input=body, capture_output=True, timeout=JPEGTRAN_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise Undecodable(f"{JPEGTRAN} did not end within {JPEGTRAN_TIMEOUT_S} s") from error
    # Status 2 is a warning: data was missing, and grey stands for it.
    if done.returncode or kind_of(done.stdout) is not Kind.JPEG:
        raise Undecodable("it is damaged")
    return done.stdout


def to_jpeg(image: Image.Image, quality: int, *, progressive: bool = False, subsampled: bool = True) -> bytes:
    """Convert to JPEG, with losses. `subsampled`: a colour for four pixels."""
    plain = image if image.mode in ("L", "RGB", "CMYK") else image.convert("RGB")
    return _saved(
        plain, "JPEG", quality=quality, optimize=True, progressive=progressive, subsampling=2 if subsampled else 0
    )


def to_webp(image: Image.Image, quality: int | None) -> bytes:
    """Convert to WebP. A quality of None is without losses."""
    mode = "RGB" if is_opaque(image) else "RGBA"
    plain = image if image.mode == mode else image.convert(mode)
    lossless = quality is None
    return _saved(plain, "WEBP", quality=75 if quality is None else quality, lossless=lossless, method=WEBP_METHOD)


def resized(image: Image.Image, box: Box) -> Image.Image:
    """By the average of the area that each new pixel covers; a transparent pixel's colour counts for nothing."""
    size = (box.width, box.height)
    if not is_opaque(image):
        return image.convert("RGBA").convert("RGBa").resize(size, Image.Resampling.BOX).convert("RGBA")
    plain = image if image.mode in ("L", "RGB", "CMYK") else image.convert("RGB")
    return plain.resize(size, Image.Resampling.BOX)


def jpeg_quality(image: Image.Image) -> int | None:
    """Return the quality, up to 100, at which it was saved, as far as its tables tell; None where it has none."""
    if not isinstance(image, JpegImagePlugin.JpegImageFile):
        return None
    shares = []
    for index, standard in enumerate((_LUMINANCE, _CHROMINANCE)):
        table = image.quantization.get(index)
        if table is not None and len(table) == len(standard):
            shares += [_share(step, usual) for step, usual in zip(table, standard, strict=True)]
    return round(100 * sum(shares) / len(shares)) if shares else None


def _share(step: int, usual: int) -> float:
    """Return the quality, from 0 to 1, that turns the standard's step into this one."""
    if step <= 1:
        return 1.0
    percent = 100 * step / usual
    return 50 / percent if percent > 100 else (200 - percent) / 200


def _saved(image: Image.Image, form: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    if image.size == (0, 0):
        raise Undecodable("it has no pixels")
    try:
        clean = image.copy()
        clean.info = {key: value for key, value in image.info.items() if key == "transparency"}
        clean.save(buffer, form, **options)
    except _TROUBLE as error:
        raise Undecodable(f"it cannot be written as {form}") from error
    return buffer.getvalue()


@cache
def _jpegtran() -> str:
    """Return where it is. Raises MissingProgram."""
    path = shutil.which(JPEGTRAN) or shutil.which(JPEGTRAN, path=SYSTEM_PATH)
    if path is None:
        what = f"JPEG images cannot be recompressed: the program {JPEGTRAN} is not installed"
        raise MissingProgram(
            what, "Install libjpeg-turbo-progs (./lanelab doctor says how), or leave out recompress_jpeg"
        )
    return path
