"""Images that style sheets name: smaller where they can be, part of the sheet where they are small, else named by
their content and kept for a year."""

from lanelab.driver.site.minify.addresses import Address
from lanelab.driver.site.minify.css.scan import Reference, with_addresses
from lanelab.driver.site.minify.extend import extended
from lanelab.driver.site.minify.image_resources import written_in_css
from lanelab.driver.site.minify.work import Work


def rewritten_images(work: Work, text: str, address: Address) -> str:
    """Return the text with other addresses of images of the page's own host."""

    def change(reference: Reference) -> str | None:
        if reference.imports or "#" in reference.address:
            return None
        image = work.find(reference.address, address)
        if image is None or not image.is_image:
            return None
        new = written_in_css(work, reference.address, address)
        if new is not None:
            return new
        longer = extended(work, image)
        if longer is None:
            return None
        work.use(image, longer)
        return work.written(longer, address)

    return with_addresses(text, change)
