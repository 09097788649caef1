"""Comparison of panels of human raters: agreement within and between them, and of judges with each panel."""

from judge.analysis.panels.compute import panels
from judge.analysis.panels.result import Against, Between, Difference, Panels, PanelSide, Within, tables

__all__ = ["Against", "Between", "Difference", "PanelSide", "Panels", "Within", "panels", "tables"]
