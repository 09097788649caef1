"""Runs every diagnostic test for biases of judges on a ratings table, with p adjusted over all tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from judge.analysis.diagnose.battery import Battery, points_of
from judge.analysis.diagnose.kinds import Finding
from judge.analysis.diagnose.result import Diagnosis
from judge.analysis.inputs.criterion_matching import match
from judge.analysis.options.signature import NO_INTERVAL, signature_parts
from judge.analysis.options.table_options import DiagnoseOptions
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.stats.estimation.paired_differences import holm
from judge.stats.resampling.jackknife import MIN_CLUSTERS

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable


def diagnose(table: RatingsTable, options: DiagnoseOptions | None = None) -> Diagnosis:
    """Results of all diagnostic tests for biases, for every judge, Eval-Prompt and criterion."""
    options = options or DiagnoseOptions()
    matrices, few = _clustered(build(table, drop_systems=options.drop_systems))
    clusters = [f"clusters:{name}:stories" for name in few]
    return Diagnosis(
        findings=tuple(_findings(table, matrices, options)),
        datasets=tuple(matrix.dataset for matrix in matrices),
        few=few,
        options=options,
        signature_parts=signature_parts(table, matrices, options, extra=clusters, intervals="jackknife"),
        counts_signature_parts=signature_parts(table, matrices, options, extra=clusters, intervals=NO_INTERVAL),
        notes=tuple(
            dict.fromkeys(
                [
                    *(note for fact in table.facts for note in fact.notes),
                    *(note for matrix in matrices for note in match(matrix, options.against).notes),
                ]
            )
        ),
    )


def _clustered(matrices: Sequence[RatingMatrix]) -> tuple[list[RatingMatrix], dict[str, int]]:
    """The datasets, prepared for the jackknife over story-prompts, and a map of those with too few story-prompts for
    it.

    In these, each story counts as its own story-prompt, so that the jackknife leaves out stories instead. The map gives
    the number of story-prompts by name of the dataset.
    """
    prompts = {matrix.dataset: int(np.unique(matrix.story_prompt).size) for matrix in matrices}
    few = {name: number for name, number in prompts.items() if number < MIN_CLUSTERS}
    changed = [
        replace(dataset_matrix, story_prompt=np.arange(dataset_matrix.n))
        if dataset_matrix.dataset in few
        else dataset_matrix
        for dataset_matrix in matrices
    ]
    return changed, few


def _findings(table: RatingsTable, matrices: Sequence[RatingMatrix], options: DiagnoseOptions) -> list[Finding]:
    """Findings of every test for every judge, Eval-Prompt and criterion, with p adjusted over the whole table."""
    scales = points_of(table)
    findings = [finding for matrix in matrices for finding in Battery(matrix, options, scales).all()]
    real = [i for i, finding in enumerate(findings) if finding.test.p is not None]
    adjusted = holm(np.array([findings[i].test.p for i in real], dtype=np.float64))
    for i, p in zip(real, adjusted, strict=True):
        findings[i] = replace(findings[i], adjusted=float(p))
    return findings
