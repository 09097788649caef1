"""Charts as inline SVG: heat map, intervals, distributions, scatter map. Each takes plain values and gives markup.

Colours are the page's variables, so that dark mode follows; every chart has a title, a description, and a `<title>` on
each mark, so that nothing needs a script. The numbers stand in a table beside, which the page's author puts there.
"""

from judge.pages.charts.distributions import Distribution, Distributions
from judge.pages.charts.heatmap import HeatCell, HeatMap, HeatRow
from judge.pages.charts.intervals import Interval, IntervalPanel, Intervals, Reference
from judge.pages.charts.scatter import Colouring, Point, ScatterMap

__all__ = [
    "Colouring",
    "Distribution",
    "Distributions",
    "HeatCell",
    "HeatMap",
    "HeatRow",
    "Interval",
    "IntervalPanel",
    "Intervals",
    "Point",
    "Reference",
    "ScatterMap",
]
