"""How a container of lanelab's image is run with the least rights, and the files that Docker takes for it.

seccomp.json is the list of Podman's own filter (containers-common, Apache-2.0) without its conditions on nine calls:
those of beds, and of Chromium's sandbox. container.apparmor is Docker's own profile (moby, Apache-2.0), which denies
mounts, without that.
"""

from pathlib import Path

from lanelab.driver.base.version import RELEASE

FOLDER = Path(__file__).parent
SECCOMP, APPARMOR = "lanelab-seccomp.json", "lanelab-container"
USERNS_RULE = "  userns,\n"  # AppArmor before version 4 does not know it


def how() -> str:
    """Return the flags for Podman and for Docker."""
    return (FOLDER / "how.txt").read_text().format(version=RELEASE)


def files(*, userns_rule: bool) -> dict[str, str]:
    """Return the files for Docker, by their names."""
    profile = (FOLDER / "container.apparmor").read_text()
    return {
        SECCOMP: (FOLDER / "seccomp.json").read_text(),
        APPARMOR: profile if userns_rule else profile.replace(USERNS_RULE, ""),
    }
