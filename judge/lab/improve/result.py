"""Result of an improvement: what was known before asking, the race, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from judge.lab.improve.material import Lost, Proposal
from judge.lab.improve.race import Race
from judge.lab.improve.split import Split
from judge.lab.improve.verdict import Verdict, Word


@dataclass(frozen=True, slots=True)
class Before:
    """What is known before anything is asked.

    `people` is tau of one more person with the mean of the others, mean over criteria (None with the `reason`);
    `criteria_without` are criteria on which it is not above 0. `spread` of a difference over story-prompts is
    `measured` in the run, or usual. `smallest` is the gain that 80 % of such tests find. `requests` and `dollars` are
    forecasts of everything asked; dollars None = not known or nothing to pay.
    """

    people: float | None
    reason: str | None
    criteria_without: tuple[str, ...]
    spread: float
    measured: bool
    smallest: float
    requests: int
    dollars: float | None


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for 1,000 stories, all criteria and repeats; None where no price is known."""

    original: float | None
    winner: float | None

    def per_point(self, gain: float | None) -> float | None:
        """Dollars more for 1,000 stories, for each hundredth of tau gained."""
        if self.original is None or self.winner is None or gain is None or gain <= 0:
            return None
        return (self.winner - self.original) / (100 * gain)


@dataclass(frozen=True, slots=True)
class Improvement:
    """An improvement of one Eval-Prompt of one judge, as far as it was asked.

    `dataset` has its number of rated stories. `races` and `winners` have one entry for each part that chose;
    `weights` are those of sub-scores, by candidate, for each criterion. `delivered` is the winner over all asked
    data, `file` its prompt, or the first of several, and `definition` the run.yaml that uses it; None where nothing
    was tested.
    """

    run: str
    dataset: str
    judge: str
    base: str
    base_source: str
    criteria: tuple[str, ...]
    split: Split
    repeats: int
    race_repeats: int
    before: Before
    proposals: Sequence[Proposal] = ()
    lost: Sequence[Lost] = ()
    races: Sequence[Race] = ()
    faults: Mapping[str, str] | None = None
    weights: Mapping[str, Sequence[Sequence[float]]] | None = None
    verdict: Verdict | None = None
    delivered: str | None = None
    price: Price | None = None
    spent: float | None = None
    folder: Path = Path()
    file: Path | None = None
    definition: Path | None = None
    page: Path | None = None
    notes: tuple[str, ...] = ()

    @property
    def asked(self) -> bool:
        """Whether anything was asked; without, only the plan is known."""
        return bool(self.races)

    @property
    def word(self) -> Word:
        return "not tested" if self.verdict is None else self.verdict.word

    @property
    def winners(self) -> tuple[str | None, ...]:
        """The winner of each part that chose."""
        return tuple(race.winner for race in self.races)

    def proposal(self, name: str) -> Proposal | None:
        """The candidate of this name."""
        return next((each for each in self.proposals if each.name == name), None)
