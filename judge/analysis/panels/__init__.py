"""Panels of people side by side: agreement within and between them, and judges against each.

`panels` computes one value; its frame and the printed tables are made from that.
"""

from judge.analysis.panels.compute import panels
from judge.analysis.panels.printed import tables
from judge.analysis.panels.result import Against, Between, Difference, Panels, PanelSide, Within

__all__ = ["Against", "Between", "Difference", "PanelSide", "Panels", "Within", "panels", "tables"]
