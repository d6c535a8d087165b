"""Each object comes with the coding that it has in this arm, and nothing comes with another one."""

from collections.abc import Iterator

from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.trial.page_load.judges.judge import Case, Judge, Needs
from lanelab.driver.trial.page_load.requests import RequestKey, asked_for, asked_of, encoding, few, target

OK = 200  # other answers have no content, or none that is compressed


def _failures(case: Case) -> Iterator[Failure]:
    """Each object comes with the coding that it has in this arm, and nothing comes with another one."""
    wanted_of: dict[RequestKey, set[str | None]] = {}
    for each in case.site.objects:
        wanted_of.setdefault(asked_for(each), set()).add(each.compressed or each.encoding)
    wrong = [
        each
        for each in case.requests
        if each.status == OK and encoding(each) not in wanted_of.get(asked_of(each), {encoding(each)})
    ]
    if wrong:
        used = ", ".join(sorted({encoding(each) or "no compression" for each in wrong}))
        wanted = ", ".join(sorted({name or "none" for each in wrong for name in wanted_of[asked_of(each)]}))
        what = f"{len(wrong)} of {len(case.requests)} answers came with {used} instead of {wanted}"
        yield Failure(Reason.COMPRESSION_IGNORED, f"{what}: {few([target(each) for each in wrong])}")


JUDGE = Judge(Needs.LOAD, _failures)
