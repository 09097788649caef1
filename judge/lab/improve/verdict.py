"""The verdict on a test part: two gains with their words, what else moved, and what the gain costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from judge.base.arrays import Codes, Floats
from judge.lab.improve.answers import Answers, part
from judge.lab.improve.material import AGAIN, BASE, MORE, ORIGINAL
from judge.stats.correlation import kendall
from judge.stats.estimation import prompt_gain
from judge.stats.estimation.prompt_gain import Gain
from judge.stats.regression.calibration import fit_calibration

Word = Literal["improved", "worse", "cannot tell", "not tested"]
# Points of the share of missing ratings by which a candidate may exceed the original.
MOST_MISSING = 0.02


@dataclass(frozen=True, slots=True)
class Moved:
    """One trait of the ratings by the original, and by the winner, on the test part."""

    trait: str
    original: float | None
    winner: float | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the test part says.

    `gain` is over the original's mean of two askings, `wording` over the paraphrase that won its race, `noise` the
    original's second asking minus its first, `doubled` the gain of twice its repeats. `promised` is the winners' gain
    on select. `criteria` are the gains by criterion, and `adjusted` their p, by Holm over them; `without` is the gain
    without each system; `repeats` how many repeats of the original would give the same, None: none would. `error` is
    the root mean square error of the original as it is, of the original recalibrated, which asks no model, and of the
    winner recalibrated. `fault` is a reason for which the gain does not count.
    """

    use: int
    gain: Gain
    wording: Gain | None
    noise: float | None
    doubled: Gain
    promised: float
    criteria: Mapping[str, Gain]
    adjusted: Mapping[str, float]
    without: Mapping[str, float]
    moved: Sequence[Moved]
    repeats: float | None
    error: tuple[float, float, float] | None
    fault: str | None = None

    @property
    def word(self) -> Word:
        """The verdict's word; one that names a direction needs the whole interval on one side of 0."""
        if self.gain.below:
            return "worse"
        return "improved" if self.gain.above and self.fault is None else "cannot tell"

    def on(self, criterion: str) -> Word:
        """The word of one criterion, at the level of the verdict for all of them together."""
        if self.adjusted.get(criterion, 1.0) > 1 - self.gain.confidence or self.fault is not None:
            return "cannot tell"
        return "improved" if (self.criteria[criterion].estimate.value or 0.0) > 0 else "worse"

    @property
    def more_than_rewording(self) -> bool:
        return self.word == "improved" and self.wording is not None and self.wording.above


@dataclass(frozen=True, slots=True, eq=False)
class Tested:
    """Answers of one test part: the original asked twice, the winner and, if there is one, a paraphrase."""

    answers: Answers
    winner: str
    paraphrase: str | None
    promised: float
    # Answers on the part that chose, for the recalibration.
    chosen_on: Answers


def verdict(tests: Sequence[Tested], use: int, repeats: int) -> Verdict:
    """The verdict on one test part or, after a swap, on both halves."""
    how: dict[str, Any] = {
        "confidence": prompt_gain.confidence_of_use(use),
        "factor": prompt_gain.SWAPPED if len(tests) > 1 else 1.0,
    }
    parts = [part(each.answers, BASE, each.winner) for each in tests]
    gain = prompt_gain.gain(parts, **how)
    reworded = [part(each.answers, [each.paraphrase], each.winner) for each in tests if each.paraphrase]
    criteria = _by_criterion(parts, tests[0].answers.criteria, how)
    return Verdict(
        use=use,
        gain=gain,
        wording=prompt_gain.gain(reworded, **how) if len(reworded) == len(tests) else None,
        noise=_mean([each.answers.score(AGAIN) - each.answers.score(ORIGINAL) for each in tests]),
        doubled=prompt_gain.gain([part(each.answers, BASE, MORE) for each in tests], **how),
        promised=float(np.mean([each.promised for each in tests])),
        criteria=criteria,
        adjusted=prompt_gain.adjusted(gain, criteria),
        without=_without(parts, tests[0].answers.systems),
        moved=_moved(tests),
        repeats=_repeats(tests, repeats),
        error=_error(tests),
        fault=_fault(tests),
    )


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values and np.isfinite(values).all() else None


def _by_criterion(
    parts: Sequence[prompt_gain.Part], criteria: Sequence[str], how: Mapping[str, Any]
) -> dict[str, Gain]:
    return {
        name: prompt_gain.gain(
            [
                prompt_gain.Part(
                    p.people[i : i + 1], p.base[:, i : i + 1], p.other[i : i + 1], p.story_prompt, p.system
                )
                for p in parts
            ],
            **how,
        )
        for i, name in enumerate(criteria)
    }


def _without(parts: Sequence[prompt_gain.Part], systems: Sequence[str]) -> dict[str, float]:
    """The gain without each system; systems without which it is undefined are left out."""
    present = sorted({int(code) for p in parts for code in np.unique(p.system)})
    if len(present) < 3:
        return {}
    gains = {code: prompt_gain.gain([p.without_system(code) for p in parts]).estimate.value for code in present}
    return {systems[code]: value for code, value in gains.items() if value is not None}


def _repeats(tests: Sequence[Tested], repeats: int) -> float | None:
    """Repeats of the original that would reach the winner's tau; both askings together have twice as many."""
    once = _mean([float(np.mean([each.answers.score(name) for name in BASE])) for each in tests])
    twice = _mean([each.answers.score(MORE) for each in tests])
    wanted = _mean([each.answers.score(each.winner) for each in tests])
    if once is None or twice is None or wanted is None:
        return None
    return prompt_gain.repeats_for(once, twice, wanted, repeats)


def _error(tests: Sequence[Tested]) -> tuple[float, float, float] | None:
    """Root mean square errors on test; isotonic recalibrations are fitted on the answers of each part that chose."""
    squares: list[list[Floats]] = [[], [], []]
    for each in tests:
        for i, people in enumerate(each.answers.people):
            squares[0].append((each.answers.ratings(ORIGINAL)[i] - people) ** 2)
            for side, name in enumerate((ORIGINAL, each.winner), 1):
                fitted = fit_calibration(each.chosen_on.ratings(name)[i], each.chosen_on.people[i], "isotonic")
                squares[side].append((fitted.predict(each.answers.ratings(name)[i]) - people) ** 2)
    sides = np.stack([np.concatenate(side) for side in squares])
    used = ~np.isnan(sides).any(axis=0)
    if not used.any():
        return None
    raw, first, second = map(float, np.sqrt(sides[:, used].mean(axis=1)))
    return raw, first, second


def _fault(tests: Sequence[Tested]) -> str | None:
    for each in tests:
        more = each.answers.missing(each.winner) - each.answers.missing(ORIGINAL)
        if more > MOST_MISSING:
            return f"{100 * more:.1f} % points more of its answers hold no rating than of the original's"
    return None


def _moved(tests: Sequence[Tested]) -> list[Moved]:
    traits = [_traits(each.answers, ORIGINAL) for each in tests]
    others = [_traits(each.answers, each.winner) for each in tests]
    return [
        Moved(trait, _mean([one[trait] for one in traits]), _mean([one[trait] for one in others]))
        for trait in traits[0]
    ]


def _traits(answers: Answers, name: str) -> dict[str, float]:
    x, people = answers.ratings(name), answers.people
    both = ~(np.isnan(x) | np.isnan(people))
    used = x[both]
    highest = float(np.nanmax(np.stack([x, people]))) if used.size else np.nan
    words = np.broadcast_to(answers.words, x.shape)[both]
    return {
        "mean rating minus people's": float((used - people[both]).mean()) if used.size else np.nan,
        "sd of ratings": float(used.std()) if used.size else np.nan,
        "ratings at the top, %": 100 * float((used > highest - 0.25).mean()) if used.size else np.nan,
        "distinct ratings": float(np.unique(used.round(6)).size),
        "tau with the number of words": _tau(used, words),
        "without a rating, %": 100 * answers.missing(name),
    }


def _tau(x: Floats, y: Floats) -> float:
    codes: tuple[Codes, Codes] = (kendall.codes(x), kendall.codes(y))
    return kendall.tau_b(*codes)
