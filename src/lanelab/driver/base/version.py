"""The version of lanelab."""

VERSION = "0.1.0"


def release_of(version: str) -> str:
    """Return the version that the sources declare. A wheel that was built between two releases has a longer one, such
    as 0.1.0.dev0+g0123abcd, which images and system packages do not have in their names."""
    return version.partition(".dev")[0].partition(".post")[0]


RELEASE = release_of(VERSION)
