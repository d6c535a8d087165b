"""Text from anywhere, made fit to be shown."""

import re
from typing import Any

# Control characters, halves of surrogate pairs, and what is no character: not allowed in HTML and XML. The renderer of
# charts does not refuse them but ends the whole process.
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def visible(text: str) -> str:
    """Return a text with a replacement character for each that cannot be shown."""
    return _UNFIT.sub("\N{REPLACEMENT CHARACTER}", text)


def visible_everywhere(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Make every text within JSON visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(str(key)): visible_everywhere(below) for key, below in value.items()}
    return [visible_everywhere(one) for one in value] if isinstance(value, list | tuple) else value
