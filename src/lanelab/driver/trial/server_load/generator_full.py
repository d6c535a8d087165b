"""From when on the generator was what limited a load that changes. Pure.

As a whole it may have used few of its processors, and few of its timers may have been late: verdict.py judges that.
"""

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lanelab.driver.record.evidence.load import LoadReport
from lanelab.driver.record.load_spans import combined, spans, within
from lanelab.driver.record.reasons import Flag, FlagName
from lanelab.driver.record.series import Series
from lanelab.driver.trial.load_settings import LoadSettings
from lanelab.driver.trial.server_load.verdict import MOST_CPU, most_lag_ms

SPAN_MS = 30_000.0  # over which a course is read
CPU, LAG = "generator_cpu", "generator_lag_ms"


@dataclass(frozen=True, slots=True)
class GeneratorFull:
    """Says from when on the generator was the limit: the first span in which it was."""

    from_ms: float
    why: str

    @property
    def flag(self) -> Flag:
        detail = f"from {self.from_ms / 1000:.0f} s on {self.why}, so the course is read until there"
        return Flag(FlagName.GENERATOR_FULL, detail)


def generator_full(
    series: Mapping[str, Series], settings: LoadSettings, report: LoadReport | None
) -> GeneratorFull | None:
    """Return None where it was not the limit, does not tell, or where the load stays the same."""
    if report is None or report.use is None or settings.dimensions():
        return None
    begin_ms = settings.first_point_ms
    ends = [series[name].points[-1][0] for name in (CPU, LAG) if name in series and series[name].points]
    end_ms = max(ends, default=begin_ms)
    limits = _Limits(MOST_CPU * report.use.processors, most_lag_ms(report.requests.ms))
    every = spans(min(SPAN_MS, end_ms - begin_ms), begin_ms, end_ms)
    full = (GeneratorFull(begin, why) for begin, end in every for why in limits.reached(series, begin, end))
    return next(full, None)


@dataclass(frozen=True, slots=True)
class _Limits:
    processors: float
    lag_ms: float

    def reached(self, series: Mapping[str, Series], begin_ms: float, end_ms: float) -> Iterator[str]:
        """Yield why the generator was the limit in this span. A second has about 100 timers. So where the latest of a
        second is too late in half of the seconds, 1 of 100 is, and by 1 of 100 a whole load is judged."""
        used = combined(series, CPU, begin_ms, end_ms)
        if used is not None and used > self.processors:
            yield f"the generator used more than {MOST_CPU:.0%} of its processors"
        latest = [ms for _, ms in within(series[LAG].points, begin_ms, end_ms)] if LAG in series else []
        if latest and statistics.median(latest) > self.lag_ms:
            yield f"1 of 100 of the generator's timers was more than {self.lag_ms:.0f} ms late"
