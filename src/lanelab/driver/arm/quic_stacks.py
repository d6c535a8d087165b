"""What the servers of arms send with by HTTP/3. TCP's congestion control is the kernel's, and a setting of the link;
that of QUIC is within each server, and none of lanelab's servers has a setting for it."""

from collections.abc import Iterable, Mapping

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.servers.registry import SERVERS

H3 = "h3"


def over_quic_alone(arm: Arm) -> bool:
    """Return whether no answer of the arm comes by TCP."""
    return arm.h3_discovery != "alt-svc" and all(each.protocol == H3 for each in arm.by_server)


def sending(arm: Arm) -> tuple[str, ...]:
    """Return the congestion control of each of its servers that speaks HTTP/3, in words."""
    stacks = [(SERVERS[each.server].title, SERVERS[each.server].quic) for each in arm.by_server if each.protocol == H3]
    words = (f"{quic.congestion_control} of {title} ({quic.library})" for title, quic in stacks if quic)
    return tuple(dict.fromkeys(words))


def sending_of_all(arms: Iterable[Arm]) -> tuple[str, ...]:
    """Return each once."""
    return tuple(dict.fromkeys(words for arm in arms for words in sending(arm)))


def quic_facts(arms: Iterable[Arm]) -> Mapping[str, Mapping[str, str]]:
    """Return what the provenance of a run has of it, by the names of arms; nothing where none speaks HTTP/3."""
    by_arm = {arm.name: ", ".join(words) for arm in arms if (words := sending(arm))}
    return {"quic_congestion_control": by_arm} if by_arm else {}
