"""Explanations that say nothing but what their story is about: does their "agreement with the rating" stay at 0?

The vectors of texts hold a mark of the story-prompt, and noise; people-like ratings go with the quality of stories, of
which the story-prompt has a part. Through `rating_agreement.agreement`, a row of `judge explain`'s table. Beside it
stand texts that do say something of the rating.
"""

from __future__ import annotations

import sys

import numpy as np

from judge.explanations.corpus.corpus import frame_of
from judge.explanations.options import NumbersOptions
from judge.explanations.quality.measures import agreement
from tests.benchmarks.simulations.runner import Bar, Outcome, run, scene
from tests.benchmarks.simulations.worlds import Studies, World

OPTIONS = NumbersOptions(resamples=300)
DIMENSIONS = 48


def study(seed: int, *, story_prompts: int, says: float) -> Outcome:
    """One judge's explanations of all stories: rho with its rating, out of fold."""
    rng = np.random.default_rng(seed)
    studies = Studies(World(story_prompts=story_prompts, systems=8, prompt_sd=0.9), rng)
    drawn = studies.study()
    rating = studies.one_more(drawn)[0]
    rows = [
        {
            "dataset": "simulated",
            "story": f"s{i}",
            "story_prompt": f"prompt {drawn.story_prompt[i]}",
            "rating": rating[i],
            "explanation": "text",
        }
        for i in range(drawn.n)
    ]
    vectors = rng.standard_normal((story_prompts, DIMENSIONS))[drawn.story_prompt]
    vectors = vectors + 0.5 * rng.standard_normal((drawn.n, DIMENSIONS))
    vectors[:, 0] += says * (rating - rating.mean())
    found, _ = agreement(frame_of(rows), vectors, OPTIONS)
    rho, gain = found.rho, found.gain
    return {
        "rho x100": None if rho.value is None else 100 * rho.value,
        "rho wholly above 0": None if rho.low is None else float(rho.low > 0),
        "less error, wholly above 0": None if gain.low is None else float(gain.low > 0),
    }


SCENES = [
    scene(
        f"texts that {'say something' if says else 'only tell their story-prompt'}, {count} story-prompts x 8 systems",
        study,
        {} if says else {"rho wholly above 0": Bar(high=5.0), "rho x100": Bar(-5.0, 5.0)},
        story_prompts=count,
        says=says,
    )
    for count in (10, 20, 40)
    for says in (0.0, 2.0)
]

if __name__ == "__main__":
    sys.exit(run(SCENES, __doc__))
