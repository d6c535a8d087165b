"""The verdict on what a browser was told ahead: the 103 came and named what the arm asks for, links of the page made it
ask, and elements have the urgency that they say. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.site.hints import hints, urgencies
from lanelab.driver.site.push_plan import OFF
from lanelab.driver.site.site import Site
from lanelab.driver.trial.page_load.judges.judge import Judge, Needs
from lanelab.driver.trial.page_load.requests import few, target

# What Chromium calls how urgent a request is, where the page says that it is the opposite.
OPPOSITE = {"high": ("Medium", "Low", "VeryLow"), "low": ("VeryHigh", "High", "Medium")}


@dataclass(frozen=True, slots=True)
class HintsVerdict:
    arm: Arm
    site: Site
    requests: Sequence[Request]  # of the site's hosts, that were answered over the network
    broken_off: bool = False  # the load came to no end, so that what is missing may still have been to come

    def failures(self) -> Iterator[Failure]:
        wrong = [*self._early(), *self._preloaded(), *self._urgent()]
        if wrong:
            yield Failure(Reason.HINTS_IGNORED, "; ".join(wrong))

    def _early(self) -> Iterator[str]:
        """Yield the browser's word. (That the server sent it cannot be seen in its log.)"""
        page = self.site.entry_host + self.site.entry_path
        came = {target(each): each.early_links for each in self.requests if each.early_links is not None}
        strange = [name for name in came if name != page or self.arm.early_hints == OFF]
        if strange:
            yield f"a 103 came that nobody asked for, ahead of {few(strange)}"
        if self.arm.early_hints == OFF:
            return
        if page not in came:
            if not self.broken_off or any(target(each) == page for each in self.requests):  # it comes before the page
                yield "no 103 came ahead of the page"
            return
        wanted = {each.header for each in hints(self.site, self.arm.early_hints, "early_hints")}
        addresses = set(came[page] or ())
        if addresses != wanted:
            yield (
                f"the 103 did not name {few(sorted(wanted - addresses))}"
                if wanted - addresses
                else "the 103 named more"
            )

    def _preloaded(self) -> Iterator[str]:
        """What is named both in the page and ahead of it is asked for once."""
        if self.arm.preload == OFF:
            return
        wanted = {self.site.entry_host + each.path for each in hints(self.site, self.arm.preload, "preload")}
        preloaded = [each for each in self.requests if target(each) in wanted]
        if any(each.link_preload is None for each in preloaded):
            return  # this browser does not tell why it asked
        addresses = {target(each) for each in preloaded if each.link_preload}
        if self.arm.early_hints != OFF:
            ahead = hints(self.site, self.arm.early_hints, "early_hints")
            addresses |= {self.site.entry_host + each.path for each in ahead}
        if wanted - addresses and not self.broken_off:
            yield f"the browser did not preload {few(sorted(wanted - addresses))}"

    def _urgent(self) -> Iterator[str]:
        """Yield images and scripts with another urgency than the site says. What was asked for before the element was
        found, since a link said so, has its own."""
        if self.arm.fetchpriority == OFF:
            return
        wishes = urgencies(self.site)
        for each in self.requests:
            level = wishes.get(target(each))
            if level and not each.link_preload and not each.by_early_links and each.priority in OPPOSITE.get(level, ()):
                yield f"the page says that {target(each)} is {level}, and the browser asked with {each.priority}"


JUDGE = Judge(
    Needs.LOAD, lambda case: HintsVerdict(case.arm, case.site, case.requests, case.evidence.broken_off).failures()
)
