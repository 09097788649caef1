"""A control whose features say nothing, and a judge that says nothing: how often does the judge lie above the control?

The control reads four features that go with the story-prompt and have nothing to do with the stories' quality, through
the program's own refit out of fold, `correlate` and `margins`. Beside it stand the control's mean tau (0 where nothing
runs against people's order), and a control that does read something of quality, so that no mending of the empty one
takes from the other unseen.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

from judge.analysis.correlation import correlations
from judge.analysis.correlation.margins import margins
from judge.analysis.inputs.bars import ControlPredictions, Predict
from judge.analysis.inputs.control import Surface
from judge.analysis.options.table_options import CorrelationOptions
from tests.benchmarks.simulations.runner import Bar, Outcome, run, scene
from tests.benchmarks.simulations.worlds import Floats, Studies, Study, World

FEATURES = 4


def features(study: Study, rng: np.random.Generator, told: float) -> Floats:
    """Features (n, 4): partly of the story-prompt, partly of the story; the first holds `told` of quality."""
    of_prompt = rng.standard_normal((study.world.story_prompts, FEATURES))[study.story_prompt]
    rows = 0.7 * of_prompt + 0.7 * rng.standard_normal((study.n, FEATURES))
    rows[:, 0] += told * study.quality[0]
    return rows


def control(rows: Floats) -> Predict:
    """What `judge correlate` calls, with these features in place of the text's."""

    def predict(stories: pd.DataFrame, people: pd.Series[float], criterion: str) -> ControlPredictions:
        nothing = np.zeros(len(stories), dtype=bool)
        prompts = tuple(stories["story_prompt"])
        names = tuple(f"feature {i}" for i in range(FEATURES))
        surface = Surface(stories.index, tuple(stories["text"]), prompts, rows, nothing, names, imported=True)
        return surface.predictions(people, criterion)

    return predict


def study(seed: int, *, story_prompts: int, told: float) -> Outcome:
    """One study: a judge of noise, or one that is one more person, beside the control."""
    rng = np.random.default_rng(seed)
    studies = Studies(World(story_prompts=story_prompts), rng)
    drawn = studies.study()
    said = studies.noise_judge(drawn) if told == 0 else studies.one_more(drawn)
    table = drawn.with_judges(judge=said).table(texts=True)
    (lead,) = margins(
        correlations(table, CorrelationOptions(resamples=400), predict=control(features(drawn, rng, told)), paired=True)
    )
    over, bar = lead.over["control"], lead.bars["control"]
    found: Outcome = {"control, tau x100": None if bar.value is None else 100 * bar.value}
    if told == 0:
        found["judge wholly above the control"] = None if over.low is None else float(over.low > 0)
        found["judge wholly below the control"] = None if over.high is None else float(over.high < 0)
    return found


SCENES = [
    *(
        scene(
            f"features and judge say nothing, {count} story-prompts x 10 systems",
            study,
            {"judge wholly above the control": Bar(high=4.0)},
            story_prompts=count,
            told=0.0,
        )
        for count in (10, 20, 40, 96)
    ),
    *(
        scene(
            f"a feature tells something, {count} story-prompts x 10 systems", study, {}, story_prompts=count, told=0.5
        )
        for count in (10, 40)
    ),
]

if __name__ == "__main__":
    sys.exit(run(SCENES, __doc__))
