"""Options that change numbers of a summary; its signature holds each."""

from __future__ import annotations

from dataclasses import dataclass

from judge.analysis.options.agreement_options import ReplacementOptions
from judge.analysis.options.table_options import CorrelationOptions, Level, from_words
from judge.errors import OptionError


@dataclass(frozen=True, slots=True)
class EvidenceOptions:
    """Options that change the numbers of a summary: excluded systems, number of resamples and their seed, and the
    allowance `epsilon` of the replacement test.

    `epsilon` is the advantage that a judge is granted over an annotator (`judge replace`), `readings` what of a judge
    stands beside one person; `positions` lets columns of unknown people pass for persons in the test.
    """

    drop_systems: tuple[str, ...] = ()
    epsilon: float = 0.1
    # Fewer than the tables', since a screen resamples for several analyses at once and is waited for.
    resamples: int = 300
    readings: str = "mean"
    positions: bool = False
    seed: int = 1

    def __post_init__(self) -> None:
        if self.resamples < 1:
            raise OptionError("resamples", self.resamples, "must be 1 or more")
        ReplacementOptions(epsilon=self.epsilon)  # refuses what is no share

    def correlation(self, level: Level = "overall") -> CorrelationOptions:
        """The options of the summary's correlations at a level."""
        return from_words(
            CorrelationOptions,
            level=level,
            drop_systems=self.drop_systems,
            resamples=self.resamples,
            readings=self.readings,
            seed=self.seed,
        )
