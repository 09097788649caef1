"""Counts planned repeats of comparisons that are neither answered nor given up after failed attempts."""

from __future__ import annotations

from collections.abc import Sequence

from judge.answers.journal import JournalReader
from judge.asking.run_folder import ResultFolder
from judge.ratings.preferences_table.journaled import ComparisonFacts


def unasked(facts: Sequence[ComparisonFacts]) -> int:
    """Planned repeats of comparisons, neither answered nor given up, over all result folders."""
    left = 0
    for fact in facts:
        with JournalReader(ResultFolder(fact.path).journal) as journal:
            planned = journal.subject_count() * len(fact.criteria) * len(fact.eval_prompts) * fact.repeats
            left += max(0, planned - journal.settled_total())
    return left
