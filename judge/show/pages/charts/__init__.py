"""Charts as inline SVG: each function draws a chart specification of `judge.questions.charts` and returns markup.

Colours are variables of the page's stylesheet, so dark mode works. Every chart has a title and a description, and every
mark has a `<title>`, which browsers show as a tooltip without a script. The author of a page puts a table with the
numbers beside each chart.
"""

from judge.show.pages.charts.forest import explanation_map, forest
from judge.show.pages.charts.heatmap import distributions, heat_map

__all__ = ["distributions", "explanation_map", "forest", "heat_map"]
