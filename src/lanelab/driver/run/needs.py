"""The programs that an experiment needs on the machines that it runs on."""

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.browsers.registry import BROWSERS
from lanelab.driver.arm.proxies.registry import proxy_of
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.base.programs.needs import BED, BROWSING, Program, programs
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.record.metrics import LOAD
from lanelab.driver.trial.server_load.registry import GENERATORS


def needs_of(experiment: Experiment) -> frozenset[Program]:
    """Return everything that its beds, browsers and servers call. The gateway is not among it: lanelab builds that
    itself."""
    served = [each for arm in experiment.arms for each in arm.by_server]
    purposes = {need for arm in served for need in SERVERS[arm.server].needs(arm.back_end())}
    purposes |= {need for arm in served if arm.answer_delay for need in SERVERS[arm.server].needs_for_delays}
    purposes |= {need for arm in experiment.arms for need in _of_proxy(arm)}
    if any(_calls_jpegtran(arm.minify) for arm in experiment.arms):
        purposes.add("minify")
    if experiment.workload == LOAD:
        loads = {cell.link.load.generator for cell in experiment.cells if cell.link.load}
        purposes |= {need for name in loads for need in GENERATORS[name].needs}
        return frozenset(programs(*BED, "capture", *purposes))
    if any(cell.arm.dns == "resolver" for cell in experiment.cells):
        purposes.add("resolver")
    for cell in () if experiment.fetches else experiment.cells:
        purposes |= set(BROWSERS[cell.arm.browser].needs)
        if cell.arm.display == "headful":
            purposes.add("screen")
    return frozenset(programs(*BROWSING, *purposes))


def _of_proxy(arm: Arm) -> tuple[str, ...]:
    proxy = proxy_of(arm)
    return proxy.needs if proxy else ()


def _calls_jpegtran(minify: str) -> bool:
    if minify == "off":
        return False
    from lanelab.driver.site.minify.minify_options import parse_minify  # noqa: PLC0415 - most experiments need none of its libraries

    wish = parse_minify(minify)
    return wish is not None and wish.calls_jpegtran
