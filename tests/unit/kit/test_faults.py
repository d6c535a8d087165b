"""The table of faults in the reference is that of the tests: each fault once, with a name that there is."""

from lanelab.driver.record.reasons import FlagName, Reason
from tests.kit.faults import ALL as OTHERS
from tests.kit.faults import PAGE, TABLE
from tests.kit.http3_faults import HTTP3_FAULTS

ALL = (*OTHERS, *HTTP3_FAULTS)
OF_CELLS = {"link-loss"}  # lanelab.analysis.results.refusals


def test_the_reference_has_the_table_of_all_faults() -> None:
    assert TABLE + "".join(fault.row for fault in ALL) in PAGE.read_text()


def test_each_fault_is_named_once_and_found_under_names_that_there_are() -> None:
    assert len({fault.name for fault in ALL}) == len(ALL) >= 25
    known = {*map(str, Reason), *map(str, FlagName)} | OF_CELLS
    assert {name for fault in ALL for name in fault.found_as} <= known
