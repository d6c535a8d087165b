"""`lanelab report`: one self-contained page."""

from lanelab.analysis.results.report.figures import save_figures
from lanelab.analysis.results.report.page import page, write_report

__all__ = ["page", "save_figures", "write_report"]
