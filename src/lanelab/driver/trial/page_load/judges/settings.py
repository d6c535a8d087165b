"""The verdict on what the nodes were set to while a page loaded: the link's own settings, and what holds for every
link. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from lanelab.driver.base.units import Duration
from lanelab.driver.bed.addresses import CLIENT, SERVER, route_lines
from lanelab.driver.bed.addresses import Host as BedHost
from lanelab.driver.link import Host, Link
from lanelab.driver.link.shaping.expected_tc import asked_queues, differences
from lanelab.driver.link.shaping.shaping import DEVICES
from lanelab.driver.record.evidence.settings import HostSettings, SettingsEvidence
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.trial.page_load.judges.judge import Case, Judge, Needs
from lanelab.driver.trial.page_load.requests import few

# The steady clock is led like the wall clock, but for steps. What is left is the time between two readings of them.
LARGEST_STEP_US = 5_000


@dataclass(frozen=True, slots=True)
class SettingsVerdict:
    link: Link
    settings: SettingsEvidence

    def failures(self) -> Iterator[Failure]:
        for reason, faults in (
            (Reason.LINK_SETTINGS, [*self._queues(), *self._changed_meanwhile(), *self._hosts()]),
            (Reason.SETTINGS_CHANGED, [*self._offloads(), *self._changed()]),
        ):
            if faults:
                yield Failure(reason, few(faults, 4))
        if self.settings.content_changed:
            yield Failure(Reason.CONTENT_CHANGED, few(list(self.settings.content_changed)))
        step_us = self.settings.clock_step_us
        if abs(step_us) > LARGEST_STEP_US:
            way = "forward" if step_us > 0 else "back"
            yield Failure(
                Reason.CLOCK_STEPPED, f"the clock was set {way} by {abs(step_us) / 1000:.1f} ms during the load"
            )

    def _queues(self) -> Iterator[str]:
        compensation = Duration(self.settings.compensation_us * 1000)
        yield from differences(asked_queues(self.link, compensation), self.settings.queues)
        for device in DEVICES:
            mtu = self.settings.mtus.get(device)
            if mtu != self.link.mtu:
                yield f"the MTU of {device} is {mtu} instead of {self.link.mtu}"

    def _changed_meanwhile(self) -> Iterator[str]:
        """What is as it should be now, and was set in between, may have been something else."""
        changed = self.settings.queues_changed
        if changed:
            yield f"during the load somebody set the {few(list(changed))}"
        if changed is None and not self.link.moves:
            yield "the router does not tell whether its queues were set during the load"

    def _hosts(self) -> Iterator[str]:
        for host, settings, present in (
            (CLIENT, self.link.client, self.settings.client),
            (SERVER, self.link.server, self.settings.server),
        ):
            if present.mtu != self.link.mtu:
                yield f"the MTU of the {host.name} is {present.mtu} instead of {self.link.mtu}"
            yield from _routes(host, settings, present)
            yield from (f"the {host.name}'s {each}" for each in settings.kernel_differences(present.kernel))
            others = sorted({*present.used_controls} - {settings.congestion_control})
            if others:
                used = " and ".join(others)
                yield f"connections of the {host.name} used {used} instead of {settings.congestion_control}"

    def _offloads(self) -> Iterator[str]:
        for name, host in (("client", self.settings.client), ("server", self.settings.server)):
            if host.offloads:
                yield f"on the {name} {few(list(host.offloads))} is on"

    def _changed(self) -> Iterator[str]:
        hosts = {"client": self.link.client, "server": self.link.server}
        for each in self.settings.changed:
            if each.name in hosts[each.node].own_files():
                continue  # compared with the link above
            yield f"on the {each.node} {each.name} is {each.now}, and was {each.was}"


def _routes(host: BedHost, settings: Host, present: HostSettings) -> Iterator[str]:
    """Yield what is wrong with the routes to the link. Both have TCP's settings, since either may be used."""
    wanted = [line.split()[2] for line in route_lines(host)]
    by_target = {route.to: route for route in present.routes}
    for to in wanted:
        if to in by_target:
            yield from (f"the {host.name}'s {each}" for each in settings.route_differences(by_target[to].metrics))
        else:
            yield f"the {host.name} has no route to {to}"
    for to in sorted(by_target.keys() - set(wanted)):
        yield f"the {host.name} has a route to {to}, which nobody asked for"


def _failures(case: Case) -> Iterator[Failure]:
    if case.evidence.settings:
        yield from SettingsVerdict(case.link, case.evidence.settings).failures()


JUDGE = Judge(Needs.TRIAL, _failures)
