"""Options that change the numbers of a summary. All of them are part of the signature of the summary."""

from __future__ import annotations

from dataclasses import dataclass

from judge.analysis.options.agreement_options import ReplacementOptions
from judge.analysis.options.table_options import CorrelationOptions, Level, from_words
from judge.errors import OptionError


@dataclass(frozen=True, slots=True)
class EvidenceOptions:
    """Options that change the numbers of a summary: excluded systems, number of resamples and their seed, and settings
    of the replacement test.

    `epsilon` is the advantage that the replacement test (`judge replace`) grants a judge over an annotator. `readings`
    says which ratings of a judge are compared with those of one person: ``mean``, the mean of its repeats, or
    ``single``, each repeat. With `positions`, columns of ratings by unknown people count as raters in the test.
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
        """The options with which the summary computes correlations over stories or, at level "system", over system
        means.
        """
        return from_words(
            CorrelationOptions,
            level=level,
            drop_systems=self.drop_systems,
            resamples=self.resamples,
            readings=self.readings,
            seed=self.seed,
        )
