"""`lanelab report`: one self-contained page."""

from analysis.report.page import page, save_figures, write_report

__all__ = ["page", "save_figures", "write_report"]
