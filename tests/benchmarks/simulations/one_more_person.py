"""How often a judge that is exactly one more person is found above people, or below. Prints; never asserts.

    python -m tests.benchmarks.simulations.one_more_person --studies 2000

A study has 10 systems x 30 story-prompts. Of a *panel* every person rates all stories; persons differ in noise,
leniency and use of the scale as in `worlds`, or are alike. Of a *pool* 20 workers share the stories, so many ratings
each, and the judge is one rating more of the same pool. The judge gives one reading, as a person does. The figures are
of `judge.analysis.correlation.margins`, with 400 resamples of story-prompts.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from judge.analysis.correlation import correlations
from judge.analysis.correlation.margins import CEILING, margins
from judge.analysis.options.table_options import CorrelationOptions
from tests.benchmarks.simulations.runner import Bar, Outcome, run, scene
from tests.benchmarks.simulations.worlds import THRESHOLDS, Floats, Studies, Study, World

OPTIONS = CorrelationOptions(resamples=400, control=False)
ABOVE, BELOW, DISTANCE = "wholly above people", "wholly below people", "distance x100"
BARS = {ABOVE: Bar(1.5, 4), DISTANCE: Bar(-0.5, 0.5)}
WORKERS = 20


class Alike(Studies):
    """Persons with the same noise and the same thresholds."""

    def person(self, quality: Floats, repeats: int | None = None) -> Floats:
        """As the other worlds' persons, without what they differ in."""
        noise = self.world.noise
        opinion = quality + 0.5 * noise * self._heavy(quality.shape[-1:]) + 0.5 * noise * self._heavy(quality.shape)
        readings = [
            1.0 + np.searchsorted(THRESHOLDS, opinion + 0.7 * noise * self._heavy(quality.shape))
            for _ in range(repeats or 1)
        ]
        return np.asarray(np.stack(readings, axis=2) if repeats else readings[0], dtype=np.float64)


def outcome(study: Study) -> Outcome:
    """Where the judge's distance from people lies."""
    (lead,) = margins(correlations(study.table(), OPTIONS, paired=True))
    over = lead.over[CEILING]
    if over.value is None or over.low is None or over.high is None:
        return dict.fromkeys((ABOVE, BELOW, DISTANCE))
    return {ABOVE: float(over.low > 0), BELOW: float(over.high < 0), DISTANCE: 100 * over.value}


def panel(seed: int, *, people: int, alike: bool) -> Outcome:
    """Every person rates every story."""
    drawn = (Alike if alike else Studies)(World(people=people), np.random.default_rng(seed))
    study = drawn.study()
    return outcome(study.with_judges(one_more=drawn.one_more(study)))


def pool(seed: int, *, ratings: int) -> Outcome:
    """So many of the workers rate each story; one more of them stands for the judge there."""
    rng = np.random.default_rng(seed)
    study = Studies(World(people=WORKERS), rng).study()
    turn = np.argsort(np.argsort(rng.random((study.n, WORKERS)), axis=1), axis=1)
    judge = np.where(turn == ratings, study.people, 0).sum(axis=2)
    people = np.where(turn < ratings, study.people, np.nan)
    return outcome(replace(study, people=people).with_judges(one_more=judge))


SCENES = [
    *(scene(f"panel of {r}", panel, BARS, people=r, alike=False) for r in (2, 3, 5)),
    *(scene(f"panel of {r} who are alike", panel, BARS, people=r, alike=True) for r in (2, 3, 5)),
    *(scene(f"pool of {WORKERS}, {r} ratings a story", pool, BARS, ratings=r) for r in (2, 3, 5)),
]

if __name__ == "__main__":
    sys.exit(run(SCENES, __doc__))
