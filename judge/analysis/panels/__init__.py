"""Comparison of panels of human raters: agreement within and between them, and agreement of judges with each panel.

`panels` returns one value, from which the data frame and the printed tables are made.
"""

from judge.analysis.panels.compute import panels
from judge.analysis.panels.result import Against, Between, Difference, Panels, PanelSide, Within, tables

__all__ = ["Against", "Between", "Difference", "PanelSide", "Panels", "Within", "panels", "tables"]
