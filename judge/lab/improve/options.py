"""Options of an improvement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from judge.analysis.options.alternatives import option
from judge.analysis.options.table_options import Bounds, Options


@dataclass(frozen=True, slots=True)
class ImproveOptions(Options):
    """Choices of an improvement. `budget` is in dollars for everything asked; 0 = nothing is asked, and the plan is
    shown; None = no limit, for a judge that costs nothing. `writer` None = the judge itself. `candidates` are those
    beside paraphrases, `test_repeats` None = the run's. `called` is the name of the improvement's folder.
    """

    LEAST: ClassVar[Mapping[str, int]] = {**Options.LEAST, "candidates": 2, "test_repeats": 1}
    OWN_BOUNDS: ClassVar[Bounds] = {"budget": (lambda value: value >= 0, "must be 0 or more")}

    budget: float | None = option("dollars for all requests; 0: nothing is asked, and the plan is shown")
    writer: str | None = option(
        "model that writes candidates (provider/model); default: the judge; none: nothing is written", metavar="JUDGE"
    )
    candidates: int | None = option(
        "number of candidates beside paraphrases and more repeats; default: 10, with fewer than 40 story-prompts 5"
    )
    test_repeats: int | None = option(
        "number of repeats of the test; default: the run's, with fewer than 40 story-prompts 5"
    )
    design: Literal["auto", "split", "swap"] = option(
        "parts of the story-prompts; auto: by their number", default="auto"
    )
    comments: bool = option("people's comments are sent to the writer too", default=False)
    called: str | None = option("name of the improvement; default: the Eval-Prompt's")
    split_seed: int = option("seed of the split and of the order of examples", default=1)
