"""Builds one self-contained HTML page of a run's results, with the methods, references and checklist of a paper.
Sections take numbers from `analysis`, `contamination`, `explanations` and `audit`; `charts` draws them; `page`
assembles them."""

from judge.show.report.blocks import html
from judge.show.report.inputs import ReportInputs, ReportOptions
from judge.show.report.write import page_sections

__all__ = ["ReportInputs", "ReportOptions", "html", "page_sections"]
