"""What a new profile of Chromium holds before its first start. Pure."""

import json

FOLDER = "Default"  # below that of the user's data
STATE_VERSION = 5  # of the file of the network's state
# Builds differ in it, and it decides about connections: without their cookies third parties have some of their own.
PREFERENCES = {"profile": {"cookie_controls_mode": 1}}  # cookies of third parties are blocked


def files(quic_address: str | None) -> dict[str, str]:
    """Return the text of each file, by its path below the folder of the user's data. `quic_address`: the client's own,
    where QUIC is to have worked from it. Without that Chromium connects by TCP at the same time, and a first request
    goes by what is there first. Every browser that has been used knows it: then TCP has to wait for 300 ms."""
    texts = {f"{FOLDER}/Preferences": json.dumps(PREFERENCES)}
    if quic_address is not None:
        known = {"supports_quic": {"address": quic_address, "used_quic": True}, "servers": [], "version": STATE_VERSION}
        texts[f"{FOLDER}/Network Persistent State"] = json.dumps({"net": {"http_server_properties": known}})
    return texts


def listed() -> tuple[str, ...]:
    """Return preferences as the record has them, beside the flags."""
    return tuple(f"{of}.{name}={value}" for of, values in PREFERENCES.items() for name, value in values.items())
