"""The TLS keys within a capture, for programs that do not look there."""

import struct

from lanelab.driver.trial.packets.pcapng import SECRETS, TLS_KEY_LOG


def key_log(capture: bytes) -> str:
    """Return the keys in a pcapng file of ours, in the format of SSLKEYLOGFILE; empty where it has none."""
    keys, at = [], 0
    while at + 12 <= len(capture):
        kind, length = struct.unpack_from("<II", capture, at)
        if length < 12:
            break
        if kind == SECRETS:
            of, size = struct.unpack_from("<II", capture, at + 8)
            keys += [capture[at + 16 : at + 16 + size].decode()] if of == TLS_KEY_LOG else []
        at += length
    return "".join(keys)
