"""The TLS keys within a capture, for programs that do not look there."""

import struct

from lanelab.driver.base.errors import CaptureError
from lanelab.driver.trial.packets.pcapng import SECRETS, SECTION, TLS_KEY_LOG

LEAST = 12  # bytes of a block


def key_log(capture: bytes) -> str:
    """Return the keys in a pcapng file of ours, in the format of SSLKEYLOGFILE; empty where it has none. CaptureError
    for a file that is cut, or is none: nobody knows then."""
    keys, at = [], 0
    while at < len(capture):
        if at + LEAST > len(capture):
            raise _broken(at)
        kind, length = struct.unpack_from("<II", capture, at)
        if length < LEAST or at + length > len(capture) or (at == 0 and kind != SECTION):
            raise _broken(at)
        if kind == SECRETS:
            of, size = struct.unpack_from("<II", capture, at + 8)
            keys += [capture[at + 16 : at + 16 + size].decode()] if of == TLS_KEY_LOG else []
        at += length
    return "".join(keys)


def _broken(at: int) -> CaptureError:
    return CaptureError(f"the capture is no whole pcapng file: byte {at} begins no block", "Copy the run folder again")
