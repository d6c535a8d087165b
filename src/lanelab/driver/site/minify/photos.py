"""Whether an image is a photo, which loses little as a JPEG, or drawn, which would get smears around its edges."""

from itertools import groupby

from PIL import Image, ImageChops, ImageFilter, ImageMath

LEAST_SHARE = 0.01  # of the fullest bin: fuller bins count
LEAST_WIDTH = 16  # bins in a row that make a photo
_DOWN = (1, 2, 1, 0, 0, 0, -1, -2, -1)
_RIGHT = (1, 0, -1, 2, 0, -2, 1, 0, -1)
_GAIN = 4  # of these weights


def is_photo(image: Image.Image) -> bool:
    """A photo has edges of every strength; a drawing has none, and some very strong ones."""
    if image.width < 3 or image.height < 3:
        return False
    grey = image.convert("L")
    strengths = _magnitude(_strength(grey, _DOWN), _strength(grey, _RIGHT))
    bins = strengths.crop((1, 1, image.width - 1, image.height - 1)).histogram()
    least = LEAST_SHARE * max(bins)
    runs = (len(list(run)) for full, run in groupby(bins, key=lambda count: count >= least) if full)
    return max(runs, default=0) >= LEAST_WIDTH


def _strength(grey: Image.Image, weights: tuple[int, ...]) -> Image.Image:
    """Return how steep it is in one direction. A filter cuts off what is below 0, so both signs are asked for."""
    up = grey.filter(ImageFilter.Kernel((3, 3), weights, scale=_GAIN))
    down = grey.filter(ImageFilter.Kernel((3, 3), tuple(-each for each in weights), scale=_GAIN))
    return ImageChops.add(up, down)


def _magnitude(one: Image.Image, other: Image.Image) -> Image.Image:
    return ImageMath.lambda_eval(  # type: ignore[no-any-return]
        lambda args: args["convert"](args["min"]((args["a"] ** 2 + args["b"] ** 2) ** 0.5 + 0.5, 255.0), "L"),
        a=one.convert("F"),
        b=other.convert("F"),
    )
