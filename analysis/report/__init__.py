"""`lanelab report`: one self-contained page."""

from analysis.report.figures import save_figures
from analysis.report.page import page, write_report

__all__ = ["page", "save_figures", "write_report"]
