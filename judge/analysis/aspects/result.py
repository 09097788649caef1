"""Result types of the analysis of aspects: rows and notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from judge.analysis.options.signed import Signed
from judge.analysis.options.table_options import AspectsOptions
from judge.base.estimate import Estimate

PLACES = (1, 3, 5)
"""How many of the aspects that a judge finds most to say about are looked at."""

Kind = Literal["judge", "floor"]

_ABOUT = ("dataset", "kind", "run", "judge", "eval_prompt", "aspect", "chosen", "incomplete")
_NUMBERS = (*(f"recall_{k}" for k in PLACES), "rho", "tau")


@dataclass(frozen=True, slots=True)
class AspectRow:
    """Results of one judge, or of one baseline that names the same aspects for every story.

    Attributes
    ----------
    kind, dataset, run, judge, eval_prompt
        Names of the judge or baseline (`kind` says which); `run` and `eval_prompt` are None for a baseline.
    aspect : str or None
        Name of the aspect; None = over all aspects.
    chosen : int
        Number of comments, that is of pairs of a story and an aspect that people chose.
    recall : mapping
        k -> share of the chosen aspects that are among the k most salient of their story.
    rho, tau : Estimate
        Spearman's rho and Kendall's tau-b with people's ratings of the aspects that they chose.
    incomplete : int
        Number of stories left out of recall because some aspect has no salience.
    """

    dataset: str
    kind: Kind
    run: str | None
    judge: str
    eval_prompt: str | None
    aspect: str | None
    chosen: int
    recall: Mapping[int, Estimate]
    rho: Estimate
    tau: Estimate
    incomplete: int

    @property
    def is_judge(self) -> bool:
        """Whether the row belongs to a judge; otherwise it belongs to a baseline, which names the same aspects for
        every story.
        """
        return self.kind == "judge"

    def numbers(self) -> dict[str, Estimate]:
        """Map from frame columns (``recall_1``..., ``rho``, ``tau``) to the row's estimates."""
        return {**{f"recall_{k}": self.recall[k] for k in PLACES}, "rho": self.rho, "tau": self.tau}


@dataclass(frozen=True, slots=True, eq=False)
class Aspects(Signed):
    """How well judges and baselines find the aspects of stories that people chose, and agree with people's ratings of
    them.

    The rows are sorted by dataset; in each dataset, baselines come first.
    """

    rows: tuple[AspectRow, ...]
    options: AspectsOptions

    @property
    def frame(self) -> pd.DataFrame:
        """A frame with recall of the aspects that people chose, and with correlations with people's ratings of them.

        It has one row per judge or baseline and aspect; the row over all aspects has a null aspect. Each estimate has
        further columns `_low`, `_high` and `_reason`.
        """
        ends = [f"{name}{end}" for name in _NUMBERS for end in ("", "_low", "_high", "_reason")]
        return self.signed([dict(_flat(row)) for row in self.rows], [*_ABOUT, *ends])


def _flat(row: AspectRow) -> Iterator[tuple[str, object]]:
    yield from ((name, getattr(row, name)) for name in _ABOUT)
    for name, estimate in row.numbers().items():
        yield from ((name, estimate.value), (f"{name}_low", estimate.low), (f"{name}_high", estimate.high))
        yield (f"{name}_reason", estimate.reason)
