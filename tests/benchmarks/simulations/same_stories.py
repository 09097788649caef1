"""What a judge gains by not answering. Prints; never asserts.

    python -m tests.benchmarks.simulations.same_stories --studies 2000

Three persons rate 10 systems x 30 story-prompts. A judge that is one more person loses 41 % of the stories: at random,
those of middling quality, or the worst. Asked of each: is the loss found, and does the judge lie above people on the
stories that it kept? Then, of two judges who are alike but for more noise, the worse one refuses the middling stories:
is it named the closest to people? For comparison, how often its number is the higher one.
"""

from __future__ import annotations

import sys

import numpy as np

from judge.analysis.correlation import correlations
from judge.analysis.correlation.margins import CEILING, best_of, margins
from judge.analysis.coverage import coverage as loss
from judge.analysis.options.table_options import CorrelationOptions
from judge.ratings.rating_matrix import build
from tests.benchmarks.simulations.one_more_person import Alike
from tests.benchmarks.simulations.runner import Bar, Outcome, run, scene
from tests.benchmarks.simulations.worlds import Floats, Studies, Study, World

OPTIONS = CorrelationOptions(resamples=400, control=False)
SHARE = 0.41
FOUND, ABOVE, DISTANCE = "loss found", "wholly above people", "distance x100"
NAMED, HIGHER = "the refuser is named the closest", "the refuser's own number is the highest"


def kept(study: Study, judge: Floats, refuses: str, rng: np.random.Generator) -> Floats:
    """The judge's ratings (1, n) without those that it refuses; it knows the stories, not people's ratings."""
    quality = study.quality[0]
    order = {"at random": rng.random(study.n), "middling": np.abs(quality - quality.mean()), "worst": quality}[refuses]
    return np.where(order < np.quantile(order, SHARE), np.nan, judge)


def one_more(seed: int, *, refuses: str) -> Outcome:
    """A judge that is one more person, but for what it refuses."""
    rng = np.random.default_rng(seed)
    drawn = Studies(World(), rng)
    study = drawn.study()
    table = study.with_judges(refuser=kept(study, drawn.one_more(study), refuses, rng)).table()
    (lead,) = margins(correlations(table, OPTIONS, paired=True))
    over = lead.over[CEILING]
    return {
        FOUND: float(bool(loss.findings(loss.tests_against_people(build(table))))),
        ABOVE: None if over.low is None else float(over.low > 0),
        DISTANCE: None if over.value is None else 100 * over.value,
    }


def winner(seed: int) -> Outcome:
    """A better judge that answers all, and a worse one that refuses the middling stories."""
    rng = np.random.default_rng(seed)
    drawn = Alike(World(), rng)
    study = drawn.study()
    worse = drawn.person(study.quality + 0.5 * rng.standard_normal(study.quality.shape))
    table = study.with_judges(honest=drawn.one_more(study), refuser=kept(study, worse, "middling", rng)).table()
    found = margins(correlations(table, CorrelationOptions(ci="none", control=False), paired=True))
    best = best_of(found)
    if best is None:
        return {NAMED: None, HIGHER: None}
    higher = best.judge == "refuser"
    return {NAMED: float(higher and not any(rival.ahead for rival in best.rivals)), HIGHER: float(higher)}


SCENES = [
    scene("loses 41 % at random", one_more, {FOUND: Bar(high=5), ABOVE: Bar(1.5, 4)}, refuses="at random"),
    scene("refuses the middling 41 %", one_more, {FOUND: Bar(low=95), ABOVE: Bar(1.5, 4)}, refuses="middling"),
    scene("refuses the worst 41 %", one_more, {FOUND: Bar(low=95), ABOVE: Bar(1.5, 4)}, refuses="worst"),
    scene("a worse judge that refuses, beside a better one", winner, {}),
]

if __name__ == "__main__":
    sys.exit(run(SCENES, __doc__))
