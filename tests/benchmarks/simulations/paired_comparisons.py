"""Do intervals of strengths and of the place hold what they estimate? Story-prompts favour systems of their own.

Comparisons of one story-prompt are then not independent, and the model fitted is not the one that drew them: the truth
is what the fit tends to with very many story-prompts.

    python -m tests.benchmarks.simulations.paired_comparisons --studies 1000 --jobs 1
"""

from __future__ import annotations

from functools import cache

import numpy as np

from judge.stats.comparing import davidson
from judge.stats.comparing.davidson import Fit
from judge.stats.comparing.strengths import Bootstrap, strengths
from tests.benchmarks.simulations.runner import Bar, Outcome, Scene, run, scene
from tests.stats.comparing.simulated import study

HELD = Bar(93, 97)


@cache
def _truth(taste: float) -> tuple[float, ...]:
    fit = davidson.fit(study(np.random.default_rng(99), 60_000, taste=taste))
    assert isinstance(fit, Fit)
    return tuple(fit.parameters)


def held(seed: int, prompts: int, taste: float, resamples: int) -> Outcome:
    """Whether each interval of one study holds what it estimates, and the planted .5."""
    bootstrap = Bootstrap(resamples, seed) if resamples else None
    found = strengths(study(np.random.default_rng(seed), prompts, taste=taste), bootstrap=bootstrap)
    named = {f"strength of s{k}": one for k, one in enumerate(found.strengths)}
    named |= {"place": found.position, "log nu": found.log_nu}
    out: Outcome = {}
    for (name, one), true in zip(named.items(), _truth(taste), strict=True):
        out[name] = None if one.low is None or one.high is None else float(one.low <= true <= one.high)
    place = found.position
    out["planted .5"] = None if place.low is None or place.high is None else float(place.low <= 0.5 <= place.high)
    return out


def main() -> int:
    """Simulate and print."""
    bars = {f"strength of s{k}": HELD for k in range(4)} | {"place": HELD, "log nu": HELD}
    scenes: list[Scene] = []
    for prompts in (100, 30, 10):
        for taste in (0.0, 0.6):
            # With tastes the logit averaged over story-prompts, which is what is estimated, lies nearer to 0 than .5.
            planted = {"planted .5": Bar(low=90)} if not taste else {}
            for resamples in (0, 400):
                how = "bootstrap" if resamples else "clustered"
                title = f"{prompts} story-prompts, tastes of {taste}, {how}"
                scenes.append(scene(title, held, bars | planted, prompts=prompts, taste=taste, resamples=resamples))
    return run(scenes, __doc__)


if __name__ == "__main__":
    raise SystemExit(main())
