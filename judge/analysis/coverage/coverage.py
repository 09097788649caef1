"""Coverage as one result: repeats requested, answered and rated, and whether lost ratings differ from kept ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from judge.analysis.coverage import loss
from judge.analysis.coverage.bounds import Bound, bounds, scales_of
from judge.analysis.coverage.counts import Counts, count
from judge.analysis.coverage.loss import LossTest
from judge.analysis.frames import signed
from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.options.signature import joined, signature_parts
from judge.analysis.options.table_options import CoverageOptions
from judge.ratings.rating_matrix import build
from judge.stats.estimation.association import PERMUTATIONS

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable


@dataclass(frozen=True, slots=True)
class Coverage:
    """Numbers of repeats requested, answered and rated; tests of whether ratings are lost at random; bounds of mean
    ratings.

    Attributes
    ----------
    total : Counts
        One row, or none where no judge was asked.
    by_eval_prompt, by_criterion, by_system : Counts
        Counts by judge and Eval-Prompt, by judge and criterion, and by judge and system.
    tests : tuple of LossTest
        Tests of each run x judge x Eval-Prompt x criterion that lost a rating; p values are not adjusted.
    findings : tuple of str
        One sentence for each kind of loss that is associated with human ratings.
    bounds : tuple of Bound
        Lowest and highest possible mean rating, given the repeats without a rating.
    options : CoverageOptions
        The options that were chosen.
    signature_parts, tested_parts, bound_parts : tuple of str
        Parts of the signatures of counts, tests and bounds.
    notes : tuple of str
        Sentences for below the tables.
    """

    total: Counts
    by_eval_prompt: Counts
    by_criterion: Counts
    by_system: Counts
    tests: tuple[LossTest, ...]
    findings: tuple[str, ...]
    bounds: tuple[Bound, ...]
    options: CoverageOptions
    signature_parts: tuple[str, ...]
    tested_parts: tuple[str, ...]
    bound_parts: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def share(self) -> float | None:
        """Share of requested repeats that have a rating; None when nothing was requested."""
        return self.total.rows[0].share if self.total.rows else None

    @property
    def signature(self) -> str:
        """Signature line of the tables of counts, which lists each choice that can change their numbers."""
        return joined(self.signature_parts)

    @property
    def frame(self) -> pd.DataFrame:
        """A frame with one row per judge and Eval-Prompt, with the counts of its repeats requested, answered
        and rated.
        """
        return signed(self.by_eval_prompt.frame, self.signature, self.notes)


def coverage(table: RatingsTable, options: CoverageOptions | None = None) -> Coverage:
    """Coverage of all requests to judges: counts of repeats, tests of whether ratings are lost at random, and bounds of
    mean ratings.
    """
    options = options or CoverageOptions()
    matrices = build(table, drop_systems=options.drop_systems)

    def counted(*by: str) -> Counts:
        return count(table, by, drop_systems=options.drop_systems)

    def parts(*extra: str) -> tuple[str, ...]:
        return signature_parts(table, matrices, options, without=("seed",), extra=extra)

    # What goes with loss, and what a mean could be, is told of ratings that have a mean.
    averaged = numbers(table)
    of_numbers = matrices if averaged is table else build(averaged, drop_systems=options.drop_systems)
    tests = loss.tests(of_numbers, np.random.default_rng(options.seed))
    return Coverage(
        total=counted("source"),
        by_eval_prompt=counted("judge", "eval_prompt"),
        by_criterion=counted("judge", "criterion"),
        by_system=counted("judge", "system"),
        tests=tests,
        findings=loss.findings(tests),
        bounds=bounds(of_numbers, scales_of(table)),
        options=options,
        signature_parts=parts(),
        tested_parts=parts(f"perm:{PERMUTATIONS}/seed{options.seed}"),
        bound_parts=parts("bounds:worst-best"),
        notes=tuple(dict.fromkeys(note for fact in averaged.facts for note in fact.notes)),
    )
