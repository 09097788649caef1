"""Tau of judges' mean ratings with people's so far, with everybody and without some. Stories are matched by the hash of
text and prompt, not by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from judge.base.arrays import Codes, Floats
from judge.base.estimate import Estimate
from judge.lab.people.store import Study
from judge.stats.correlation import kendall

# Mean ratings of one judge by hash of story and criterion, in lower case.
Judged = Mapping[tuple[str, str], float]
# Stories with ratings by people below which no interval is said, and resamples of story-prompts.
_FEWEST, _RESAMPLES = 10, 200


@dataclass(frozen=True, slots=True)
class JudgeFound:
    """A judge's tau-b with people's means, mean over criteria: with everybody, and without those in doubt (None where
    nobody is)."""

    judge: str
    everybody: Estimate
    kept: Estimate | None


def with_judge(study: Study, judged: Judged, *, without: Collection[str] = ()) -> Estimate:
    """Kendall's tau-b of the judge with people's means of a study of ratings, mean over criteria, with its 95 %
    interval over story-prompts; `n` counts stories that both rated. Undefined, with the reason, for fewer than ten."""
    people: dict[tuple[str, str], list[float]] = {}
    prompt_of: dict[str, str] = {}
    for one in study.answered:
        if one.entry.use == "rating" and one.rater not in without:
            prompt_of[one.text.key] = one.text.story_prompt
            for name, value in one.state.values.items():
                people.setdefault((one.text.key, name.casefold()), []).append(value)
    both = [key for key in people if key in judged]
    stories, criteria = sorted({story for story, _ in both}), sorted({name for _, name in both})
    if len(stories) < _FEWEST:
        return Estimate.undefined(
            f"{len(stories)} stories that the judge rated too have one: too few for tau", len(stories)
        )
    pairs = np.full((len(stories), len(criteria), 2), np.nan)
    row = {story: i for i, story in enumerate(stories)}
    for story, name in both:
        pairs[row[story], criteria.index(name)] = np.mean(people[story, name]), judged[story, name]
    groups = np.unique([prompt_of[story] for story in stories], return_inverse=True)[1]
    rng, drawn = np.random.default_rng(1), []
    for _ in range(_RESAMPLES):
        picked = rng.integers(0, groups.max() + 1, groups.max() + 1)
        drawn.append(_tau(pairs, np.concatenate([np.flatnonzero(groups == g) for g in picked])))
    value = _tau(pairs, np.arange(len(stories)))
    if np.isnan(value):
        return Estimate.undefined("every story has one rating by people, or by the judge", len(stories))
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return Estimate(value, len(stories), float(low), float(high), f"bootstrap of story-prompts, {_RESAMPLES}")


def _tau(pairs: Floats, rows: Codes) -> float:
    values = []
    for c in range(pairs.shape[1]):
        x, y = pairs[rows, c].T
        here = ~np.isnan(x)
        values.append(kendall.tau_b(kendall.codes(x[here]), kendall.codes(y[here])))
    return float(np.nanmean(values)) if not np.isnan(values).all() else float("nan")
