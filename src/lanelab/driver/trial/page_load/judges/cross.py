"""The link's own cross traffic was there while the page loaded."""

from lanelab.driver.trial.cross_verdict import cross_failures
from lanelab.driver.trial.page_load.judges.judge import Judge, Needs

JUDGE = Judge(Needs.TRIAL, lambda case: cross_failures(case.record, case.link))
