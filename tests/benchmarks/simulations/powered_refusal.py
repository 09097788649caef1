"""A judge that declines stories by their quality: do the means of systems that people and judge give hold the truth?

A population of 20,000 stories of one system is rated by three people and by a judge (one more person) that declines
either nothing, or bad stories, or middling ones, or none of these but at random. Studies draw stories from it and hide
people's ratings of all but some. The truth is people's mean over the population, whoever declined what. Through
`Replacement.means_frame`, the table that `judge replace` prints.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache

import numpy as np

from judge.analysis.agreement.replacement import replacement
from judge.analysis.options.agreement_options import ReplacementOptions
from tests.benchmarks.simulations.runner import Bar, Outcome, run, scene
from tests.benchmarks.simulations.worlds import Floats, Studies, Study, World

POPULATION, STORIES = 20_000, 300
COVERED = Bar(93.0, 97.0)


@cache
def population(people: int) -> tuple[Study, Floats]:
    """Stories of one system, each for a story-prompt of its own, and a judge's ratings of them."""
    studies = Studies(World(systems=1, story_prompts=POPULATION), np.random.default_rng(people))
    drawn = studies.study()
    return drawn, studies.one_more(drawn)


def declined(quality: Floats, rng: np.random.Generator, what: str) -> np.ndarray:
    """Which stories the judge declines."""
    if what == "nothing":
        return np.zeros(quality.shape, dtype=bool)
    steep = {"bad stories": -quality - 0.3, "middling stories": 0.6 - np.abs(quality), "any story": 0.0 * quality - 0.5}
    return np.asarray(rng.uniform(size=quality.shape) < 1 / (1 + np.exp(-3 * steep[what])), dtype=bool)


def study(seed: int, *, rated: int, what: str) -> Outcome:
    """Whether both intervals hold people's mean over the population."""
    rng = np.random.default_rng(seed)
    whole, judge = population(seed % 20)
    truth = float(whole.mean[0].mean())
    places = rng.choice(POPULATION, STORIES, replace=False)
    people = whole.people[:, places].copy()
    people[:, rng.permutation(STORIES)[rated:]] = np.nan
    part = replace(
        whole,
        story_prompt=np.arange(STORIES),
        system=whole.system[places],
        words=whole.words[places],
        quality=whole.quality[:, places],
        people=people,
    )
    said = np.where(declined(part.quality, rng, what), np.nan, judge[:, places])
    row = replacement(part.with_judges(judge=said).table(), ReplacementOptions()).means_frame.iloc[0]
    found: Outcome = {}
    for key, name in (("people", "people alone"), ("powered", "people + judge")):
        found[f"{name}, truth inside"] = float(row[f"{key}_low"] <= truth <= row[f"{key}_high"])
        found[f"{name}, error"] = float(row[key] - truth)
    return found | {"one human rating is worth": float(row["worth"]), "stories declined": float(row["lost"]) / STORIES}


SCENES = [
    scene(
        f"the judge declines {what}; people rated {rated} of {STORIES} stories",
        study,
        {f"{name}, truth inside": COVERED for name in ("people alone", "people + judge")},
        rated=rated,
        what=what,
    )
    for rated in (30, 60, 150)
    for what in ("nothing", "bad stories", "middling stories", "any story")
]

if __name__ == "__main__":
    sys.exit(run(SCENES, __doc__))
