"""The verdict on a journey: each step is judged as a page load whose browser has been on the way already. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from lanelab.driver.arm.third_parties import ThirdParties
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.page_load import PageLoadEvidence
from lanelab.driver.record.metrics import of_step
from lanelab.driver.record.reasons import Failure, Flag, FlagName, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.site import Site, SitePage
from lanelab.driver.trial.journey import Journey, pages_of
from lanelab.driver.trial.page_load.bound import physical_bound, quickest
from lanelab.driver.trial.page_load.expectation import Expected
from lanelab.driver.trial.page_load.judges.judge import Case
from lanelab.driver.trial.page_load.judges.objects import Objects
from lanelab.driver.trial.page_load.judges.refetched import Refetched
from lanelab.driver.trial.page_load.judges.router import RouterVerdict
from lanelab.driver.trial.page_load.requests import fetched, few, target
from lanelab.driver.trial.page_load.step_record import StepRecord, steps_of
from lanelab.driver.trial.page_load.step_vitals import wrong_vitals
from lanelab.driver.trial.recorders.vitals import Vitals, VitalsOptions

LATE_MS = 1_000.0  # by so much longer than asked for the browser may be left alone, on a busy machine
EARLY_MS = 5.0


@dataclass(frozen=True, slots=True)
class JourneyVerdict:
    """Judges the steps of a journey, one by one."""

    record: TrialRecord
    expected: Expected
    journey: Journey

    def failures(self) -> Iterator[Failure]:
        yield from self._uncounted()
        for each, page in self._steps():
            for failure in self._of(each, page):
                yield replace(failure, detail=f"step {each.step.name}: {failure.detail}")

    def flags(self) -> Iterator[Flag]:
        """Yield the doubt that a step fetched what the browser had, of the step itself or of those before it."""
        again = []
        for each, page in self._steps():
            until = each.asked_before + len(each.record.requests)
            of_step_alone, all_so_far = (self.record.requests[since:until] for since in (each.asked_before, 0))
            fetched_now = {target(request) for request in fetched(of_step_alone)}
            of_page = self.expected.site.of_page(page) if page else self.expected.site
            twice = dict(Refetched(replace(self.record, requests=of_step_alone), of_page).again())
            of_all = Refetched(replace(self.record, requests=all_so_far), self.expected.site).again()
            twice |= {url: times for url, times in of_all if url in fetched_now}
            again += [f"step {each.step.name}: {url} ({times} times)" for url, times in twice.items()]
        if again:
            yield Flag(FlagName.FETCHED_TWICE, few(again))

    def _steps(self) -> Iterator[tuple[StepRecord, SitePage | None]]:
        """Yield each step with the page that it leads to. A script may lead to what is no page of the site, or
        nowhere."""
        site, steps = self.expected.site, steps_of(self.record, self.journey)
        if not any(step.scripted for step in self.journey):
            yield from zip(steps, pages_of(self.journey, site), strict=False)
            return
        for each in steps:
            url = each.evidence.page.partition("://")[2].partition("#")[0]
            yield each, _page_at(site, url) if each.loaded_page else None

    def _uncounted(self) -> Iterator[Failure]:
        """Yield what the record has too few or too many of, unless the journey came to an early end."""
        steps, length = self.record.steps, len(self.journey)
        if self.record.failures:
            return
        if len(steps) < length:
            lacking = self.journey[len(steps)].name
            yield Failure(Reason.EVIDENCE_MISSING, f"the record lacks recordings.journey.steps of {lacking}")
        elif len(steps) > length:
            yield Failure(Reason.EVIDENCE_MISSING, f"step {steps[length].name}: the journey has no such step")
        counted = sum(each.requests for each in steps)
        if steps and counted != len(self.record.requests):
            what = f"with it steps have {counted} requests, and the record has {len(self.record.requests)}"
            yield Failure(Reason.EVIDENCE_MISSING, f"step {steps[-1].name}: {what}")

    def _of(self, step: StepRecord, page: SitePage | None) -> Iterator[Failure]:
        yield from _unlike(step, page)
        yield from self._missing(step, page)
        yield from self._thought(step)
        yield from self._of_vitals(step)
        if step.restored:
            return
        site = self.expected.site
        site = _due_in(site, page) if step.step.scripted or page is None else site.of_page(page)
        case = Case(step.record, _evidence(step.record), replace(self.expected, site=site))
        third_parties = ThirdParties.of(case.arm, case.site)
        yield from Objects(step.record, case.arm, site, case.tolerances, third_parties, step.held).failures()
        yield from RouterVerdict(case.evidence).failures()
        bound, plt_ms = bound_of(step, self.expected), step.evidence.times.plt_ms
        if plt_ms is not None and plt_ms < bound:
            what = f"the page loaded in {plt_ms:.1f} ms; the link allows {bound:.1f} ms or more"
            yield Failure(Reason.BELOW_BOUND, what)

    def _missing(self, step: StepRecord, page: SitePage | None) -> Iterator[Failure]:
        if self.record.failures:
            return  # what is missing is a consequence
        times, clock = step.evidence.times, step.evidence.clock
        pieces: dict[str, object] = {"times.plt_ms": times.plt_ms}
        if step.loaded_page or not (step.restored or step.step.scripted):
            pieces |= {"times.plt_navigation_ms": times.plt_navigation_ms, "times.ttfb_ms": times.ttfb_ms}
            pieces |= {"times.dcl_ms": times.dcl_ms, "navigation": step.evidence.navigation or None}
            pieces |= {"clock.navigation": clock.navigation, "clock.first_request": clock.first_request}
        elif page and any(target(each) == page.url for each in step.record.requests):
            pieces |= {"navigation, though it asked for its page": None}
        lacking = [name for name, value in pieces.items() if value is None]
        if lacking:
            yield Failure(Reason.EVIDENCE_MISSING, f"the record lacks {', '.join(lacking)}")

    def _of_vitals(self, step: StepRecord) -> Iterator[Failure]:
        options = self.expected.recorders.get(Vitals.name)
        if self.record.failures or not isinstance(options, VitalsOptions):
            return
        vitals = next((each for each in self.record.step_vitals if each.step == step.step.name), None)
        for wrong in wrong_vitals(step, vitals, options):
            yield Failure(Reason.EVIDENCE_MISSING, wrong)

    def _thought(self, step: StepRecord) -> Iterator[Failure]:
        late_ms = step.evidence.thought_ms - step.step.think_ms
        if step.step is not self.journey[0] and not step.step.scripted and not -EARLY_MS <= late_ms <= LATE_MS:
            what = f"it began {step.evidence.thought_ms:.0f} ms after the load before it, not {step.step.think_ms}"
            yield Failure(Reason.NAVIGATION_FAILED, what)


def _unlike(step: StepRecord, page: SitePage | None) -> Iterator[Failure]:
    """Yield where it is another step than the journey's."""
    evidence, wanted = step.evidence, step.step
    if evidence.name != wanted.name:
        yield Failure(Reason.NAVIGATION_FAILED, f"it is the step {evidence.name}")
    if wanted.scripted:
        return  # where it leads is the script's affair
    if page and evidence.page.partition("://")[2] != page.url:
        yield Failure(Reason.NAVIGATION_FAILED, f"it led to {evidence.page}, not to {page.url}")
    if evidence.back != wanted.back:
        ways = ("the page was asked for", "it went back")
        yield Failure(Reason.NAVIGATION_FAILED, f"{ways[evidence.back]}, and {ways[wanted.back]} in the journey")


def _page_at(site: Site, url: str) -> SitePage | None:
    """Return the site's page with that address; of a site with one page, that with all that is not late."""
    entry = site.entry_host + site.entry_path
    one = SitePage("", entry, tuple(each.url for each in site.objects if not each.late))
    return next((page for page in site.pages or (one,) if page.url == url), None)


def _due_in(site: Site, page: SitePage | None) -> Site:
    """Return the site of which that page's needs are due, and nothing else is."""
    needs = frozenset(page.needs if page else ())
    objects = tuple(replace(each, late=each.url not in needs) for each in site.objects)
    return replace(site, objects=objects)


def bound_of(step: StepRecord, expected: Expected) -> float:
    """Return what the step cannot be faster than. Later steps may have their connections; where the link moves they get
    its highest rates, since they begin at any time of its trace."""
    record = _until_its_end(step) if step.step.scripted else step.record
    if step.step.name == expected.first_step:
        return physical_bound(expected.link, expected.arm, record)
    still: Link = quickest(expected.link)
    return physical_bound(still, replace(expected.arm, start="warm"), record)


def _until_its_end(step: StepRecord) -> TrialRecord:
    """Return the record of a script's step as if its page had loaded when the step ended: what came later counts for
    nothing. Its requests may begin well after it."""
    evidence, clock, times = _evidence(step.record), step.evidence.clock, step.evidence.times
    waited_ms = max(0.0, ((clock.first_request or clock.asked or 0) - (clock.asked or 0)) / 1000)
    if evidence.browser is None or times.plt_ms is None:
        return step.record
    until = replace(times, plt_navigation_ms=times.plt_ms - waited_ms)
    return replace(step.record, evidence=replace(evidence, browser=replace(evidence.browser, times=until)))


def step_measures(record: TrialRecord, expected: Expected, journey: Journey) -> dict[str, float]:
    """Return the numbers of each step, by the names of their metrics."""
    measures: dict[str, float] = {}
    seen: set[int] = set()
    for each in steps_of(record, journey):
        times = {name: value for name, value in each.evidence.times.to_json().items() if value is not None}
        used = {request.connection for request in fetched(each.record.requests) if request.connection is not None}
        numbers: dict[str, float] = {
            **times,
            "bound_ms": bound_of(each, expected),
            "requests": len(each.record.requests),
            "connections_opened": len(used - seen),
            "connections_reused": len(used & seen),
            "from_cache": sum(request.from_cache for request in each.record.requests),
        }
        seen |= used
        measures |= {of_step(name, each.step.name): value for name, value in numbers.items()}
    return measures


def _evidence(record: TrialRecord) -> PageLoadEvidence:
    if record.page_load is None:
        raise ValueError("a step has the evidence of its journey")
    return record.page_load
