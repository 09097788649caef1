"""Printed table of pairwise accuracies."""

from __future__ import annotations

from judge.analysis.agreement.accuracy import Accuracies
from judge.analysis.inputs.candidates import first_columns, last_columns
from judge.analysis.inputs.subject_rows import cells
from judge.analysis.options.agreement_options import AccuracyOptions
from judge.analysis.options.choices import LEVELS
from judge.base.printing.tables import Column, Table
from judge.base.wording import Advice, Note
from judge.stats.ordering.soft_pairwise_accuracy import DEALT


def tables(result: Accuracies) -> list[Table]:
    """List with one printed table: the pairwise accuracies of judges, human ceiling and control judge."""
    rows = [cells(row) for row in result.rows]
    columns = [
        *first_columns(rows),
        Column("half", "right order %, ties 1/2", digits=1, factor=100),
        Column("strict", "ties wrong", digits=1, factor=100),
        Column("comparable", "pairs"),
        Column("ties_people", "ties people %", digits=1, factor=100),
        Column("ties_judge", "ties judge %", digits=1, factor=100),
        Column("acc_eq", "acc_eq %", digits=1, factor=100),
        Column("epsilon", "epsilon"),
        Column("spa", "SPA %", digits=1, factor=100),
        Column("spa_chance", "SPA by chance %", digits=1, factor=100),
        Column("spa_chance_high", "95 % below", digits=1, factor=100),
        Column("system_pairs", "system pairs"),
        Column("stories", "stories"),
        *last_columns(),
    ]
    level = result.options.level
    averaged = LEVELS[level].grouping == "within"
    where = "pairs of stories for one story-prompt, averaged" if averaged else "all pairs of stories"
    notes = tuple(dict.fromkeys([*result.notes, *_explained(result.options)]))
    return [Table(f"Pairwise accuracy against people, {where}", columns, rows, result.signature, notes)]


def _explained(options: AccuracyOptions) -> list[str]:
    pairs: str
    averaged = LEVELS[options.level].grouping == "within"
    if averaged:
        pairs = "accuracies are means over story-prompts with such a pair; pairs counts all of them"
    else:
        pairs = Note(
            "stories for different story-prompts are compared too", Advice("{level} does not", level="by-item")
        )
    acc_eq = (
        "acc_eq %: share of all pairs on which judge and people agree, ties included (Deutsch et al. 2023); the "
        "judge's ratings that differ by epsilon or less count as tied, with epsilon fitted on other folds of "
        f"story-prompts ({options.folds}), median shown"
    )
    chance = (
        "SPA by chance %: SPA of an uninformed judge, mean over "
        f"{DEALT} random assignments of the same ratings to the systems within each story-prompt; 95 % below: the "
        "value that 95 % of these assignments "
        "do not exceed, or, where higher, that of as many assignments of whole systems; an SPA that is no higher "
        "is no evidence"
    )
    spa = (
        "SPA %: 100 - mean |p people - p judge| over pairs of systems, p of one-sided paired permutation tests on the "
        "same story-prompts (Thompson et al. 2024); it has no interval"
    )
    right = (
        "right order %: share of the pairs that people order; 50 is guessing; a pair that the judge ties counts "
        "as half right, or as wrong (guessing then gets 50 less half of the share of pairs that it ties)"
    )
    tied = f"a judge that ties every pair gets {'about ' if averaged else ''}ties people %"
    return [right, f"{acc_eq}; {tied}", spa, chance, pairs]
