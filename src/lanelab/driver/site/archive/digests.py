"""Digests that archives say of themselves, compared with what is there. Pure."""

import base64
import binascii
import hashlib

ALGORITHMS = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")


def agrees(written: str, *readings: bytes) -> bool | None:
    """Return whether it is the digest of one of these. None: it says nothing, or names what nobody here knows.

    `written` is an algorithm, a colon and the digest as hexadecimal digits, base32 or base64: tools differ.
    """
    name, _, text = written.strip().partition(":")
    algorithm, text = name.lower().replace("-", ""), text.strip()
    if algorithm not in ALGORITHMS or not text:
        return None
    return any(_is_written(text, _digest(algorithm, each)) for each in readings)


def _digest(algorithm: str, data: bytes) -> bytes:
    return hashlib.new(algorithm, data, usedforsecurity=False).digest()


def _is_written(text: str, digest: bytes) -> bool:
    base64_forms = (base64.b64encode(digest), base64.urlsafe_b64encode(digest))
    return (
        text.lower() == binascii.hexlify(digest).decode()
        or text.upper().rstrip("=") == base64.b32encode(digest).decode().rstrip("=")
        or text.rstrip("=") in {form.decode().rstrip("=") for form in base64_forms}
    )
