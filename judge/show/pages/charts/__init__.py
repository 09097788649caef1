"""Charts as inline SVG: each function draws a specification of `judge.questions.charts`. Colours are variables of the
stylesheet, so dark mode works. Every chart has a title and a description, every mark a `<title>`, which browsers show
as a tooltip without a script. A page's author puts a table with the numbers beside it."""

from judge.show.pages.charts.cells import distributions, heat_map
from judge.show.pages.charts.dots import explanation_map, forest

__all__ = ["distributions", "explanation_map", "forest", "heat_map"]
