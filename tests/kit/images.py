"""Images for tests, made from nothing: every byte follows from the arguments."""

import io
from typing import Any

from PIL import Image


def drawing(size: tuple[int, int] = (64, 48), mode: str = "RGB") -> Image.Image:
    """Few colours, hard edges; with `RGBA` or `LA` a part is transparent."""
    image = Image.new("RGB", size, (250, 250, 250))
    image.paste((200, 30, 30), (4, 4, size[0] // 2, size[1] // 2))
    image.paste((20, 60, 160), (size[0] // 2, size[1] // 3, size[0] - 3, size[1] - 3))
    made = image.convert(mode)
    if "A" in mode:
        alpha = Image.new("L", size, 255)
        alpha.paste(0, (0, 0, size[0], 6))
        alpha.paste(128, (0, 6, size[0], 9))
        made.putalpha(alpha)
    return made


def photo(size: tuple[int, int] = (96, 80)) -> Image.Image:
    """Edges of every strength, as photos have them: gradients of different steepness, and a pattern over them."""
    width, height = size
    pixels = bytes(
        value
        for y in range(height)
        for x in range(width)
        for value in (
            (x * x * 7 // width + y * 3) % 256,
            (x * y * 5 // height + x) % 256,
            ((x * 31 + y * 17) * (x + y) // 40) % 256,
        )
    )
    return Image.frombytes("RGB", size, pixels)


def saved(image: Image.Image, form: str, **options: Any) -> bytes:
    made = io.BytesIO()
    image.save(made, form, **options)
    return made.getvalue()


def animated_gif() -> bytes:
    frames = [Image.new("L", (8, 8), shade) for shade in (10, 120, 250)]
    return saved(frames[0], "GIF", save_all=True, append_images=frames[1:], duration=50)


def pixels(body: bytes) -> Image.Image:
    """What it shows, with transparency. Raises where it cannot be decoded."""
    image = Image.open(io.BytesIO(body))
    image.load()
    return image.convert("RGBA")
