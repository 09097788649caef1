"""Options that change the numbers of a summary; all are part of its signature."""

from __future__ import annotations

from dataclasses import dataclass

from judge.analysis.options.agreement_options import ReplacementOptions
from judge.analysis.options.choices import Level
from judge.analysis.options.table_options import CorrelationOptions, DiagnoseOptions, from_words
from judge.base.choices import RESAMPLES
from judge.base.errors import OptionError


@dataclass(frozen=True, slots=True)
class EvidenceOptions:
    """`margin` is the difference of tau from the average person within which a judge counts as not below people.
    `epsilon` is the advantage that `judge replace` grants a judge over an annotator. `readings` of a judge are compared
    with one person's: ``mean`` of its repeats, or ``single``. With `positions`, columns of ratings by unknown people
    count as raters in the test. `own` and `no_own` name the judge's own systems for the test of self-preference, or
    state that there is none.
    """

    drop_systems: tuple[str, ...] = ()
    epsilon: float = 0.1
    margin: float = 0.1
    # Fewer than the tables', since a screen resamples for several analyses at once and is waited for.
    resamples: int = RESAMPLES
    readings: str = "mean"
    positions: bool = False
    seed: int = 1
    own: tuple[str, ...] = ()
    no_own: bool = False

    def __post_init__(self) -> None:
        if self.resamples < 1:
            raise OptionError("resamples", self.resamples, "must be 1 or more")
        if not 0 < self.margin <= 1:
            raise OptionError("margin", self.margin, "must lie above 0 and not above 1: it is a difference of tau")
        ReplacementOptions(epsilon=self.epsilon)  # refuses what is no share
        self.diagnosis()  # refuses what contradicts itself

    @property
    def signature_part(self) -> str:
        """The choices that the correlations' signature does not show."""
        own = f"|own:{','.join(self.own)}" if self.own else "|own:none" if self.no_own else ""
        positions = "|positions:yes" if self.positions else ""
        return f"epsilon:{self.epsilon:g}|margin:{self.margin:g}{positions}{own}"

    def diagnosis(self) -> DiagnoseOptions:
        return DiagnoseOptions(drop_systems=self.drop_systems, own=self.own, no_own=self.no_own)

    def correlation(self, level: Level = "overall") -> CorrelationOptions:
        return from_words(
            CorrelationOptions,
            level=level,
            drop_systems=self.drop_systems,
            resamples=self.resamples,
            readings=self.readings,
            seed=self.seed,
        )
