"""What each kind of test needs, and what some of its tests are skipped without."""

from collections.abc import Mapping
from dataclasses import dataclass

from lanelab.driver.arm.servers.registry import other_servers
from lanelab.driver.base.programs.needs import BED, MAKING_A_BOX, PAGE_LOAD


@dataclass(frozen=True)
class Needs:
    """The needs of a kind of tests, in the words of playbooks/vars/packages.yml (`for`)."""

    needs: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()


def needs_of_tests() -> Mapping[str, Needs]:
    """Return the needs by the kind of tests."""
    servers = other_servers()
    return {
        "unit": Needs(uses=("minify",)),
        "golden": Needs(uses=servers),
        "wire": Needs(uses=("apache", "comparison", "module", "java", "back-end", "nginx", "nginx-lua")),
        "bed": Needs(
            (*BED, "capture", "apache", "module", "resolver"),
            uses=(*servers, "nginx-brotli", "back-end", "ssh", "sshd"),
        ),
        "e2e": Needs(
            (*PAGE_LOAD, "resolver", "screen"), uses=("firefox", *servers, "nginx-lua", "comparison", "minify")
        ),
        "vm": Needs(MAKING_A_BOX),
    }
