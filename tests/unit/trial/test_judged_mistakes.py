"""Why a trial does not count: a sound record, what makes it unsound, and what a judge says. The cases are in
tests/bad/records."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit.judging import FOLDER, Case, cases, judged
from tests.kit.records import record

FILES = sorted(file.stem for file in FOLDER.glob("*.yaml"))
CASES = [(f"{name}: {case.reason} {case.says}"[:90], case) for name in FILES for case in cases(name)]


@pytest.mark.parametrize("case", [case for _, case in CASES], ids=[name for name, _ in CASES])
def test_a_mistake_has_its_reason(case: Case) -> None:
    failures = {failure.reason: failure.detail for failure in case.failures()}
    assert case.says in failures.get(case.reason, ""), failures
    assert set(failures) == {case.reason} | case.along


@given(st.lists(st.sampled_from(cases("page-loads")), max_size=4))
def test_several_mistakes_are_each_said_once(several: list[Case]) -> None:
    arm = cases("page-loads")[1].arm
    data = record(arm)
    for case in several:
        if len(data["requests"]) > 2:
            case.apply(data)
    reasons = [failure.reason for failure in judged(data, arm)]
    assert len(reasons) == len(set(reasons))
