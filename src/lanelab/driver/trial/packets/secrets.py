"""The secrets of TLS that a client logged, in the format of SSLKEYLOGFILE (draft-ietf-tls-keylogfile). Pure."""

from collections.abc import Mapping

Secrets = Mapping[bytes, Mapping[str, bytes]]  # by the client's random number, then by their names
WORDS = 3  # of a line


def read_secrets(text: str) -> dict[bytes, dict[str, bytes]]:
    """Read the lines that are secrets: a browser that was killed may leave half of one."""
    secrets: dict[bytes, dict[str, bytes]] = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == WORDS and not line.startswith("#"):
            try:
                secrets.setdefault(bytes.fromhex(words[1]), {})[words[0]] = bytes.fromhex(words[2])
            except ValueError:
                continue
    return secrets
