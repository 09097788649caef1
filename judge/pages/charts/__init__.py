"""Charts as inline SVG: each function paints a specification of `judge.charts` and gives markup.

Colours are the page's variables, so that dark mode follows; every chart has a title, a description, and a `<title>` on
each mark, so that nothing needs a script. The numbers stand in a table beside, which the page's author puts there.
"""

from judge.pages.charts.distributions import distributions
from judge.pages.charts.explanation_map import explanation_map
from judge.pages.charts.forest import forest
from judge.pages.charts.heatmap import heat_map

__all__ = ["distributions", "explanation_map", "forest", "heat_map"]
