"""Mean cost, tokens and time of a pilot's answers, from its result folders."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from judge.analysis.planning.price_of_validity import Usage
from judge.answers.journal import JournalReader
from judge.asking.run_folder.cost import folder_cost
from judge.asking.run_folder.layout import ResultFolder

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable


def usage_of(table: RatingsTable, dataset: str, left_out: Collection[tuple[str, str]]) -> Usage:
    """Mean dollars, tokens and hours per answer over the journals of a dataset's runs.

    `left_out` holds (run, judge) pairs to leave out. A field of the result is None where a journal lacks the data.
    """
    answers = 0
    dollars: list[float | None] = []
    tokens: list[float | None] = []
    hours: list[float | None] = []
    basis: dict[str, None] = {}
    for fact in table.facts:
        folder = ResultFolder(fact.path)
        if fact.dataset != dataset or (fact.run, fact.judge) in left_out:
            continue
        cost = folder_cost(folder)
        basis[cost.basis] = None
        if not folder.journal.is_file():
            dollars.append(None)
            continue
        with JournalReader(folder.journal) as journal:
            spent, totals, seconds = journal.spending(), journal.totals(), journal.seconds_of_work()
        answers += spent.answers - spent.reused
        dollars.append(cost.dollars)
        both = (totals.prompt_tokens, totals.completion_tokens)
        counts = [count for count in both if count is not None]
        tokens.append(float(sum(counts)) if counts else None)
        hours.append(seconds / 3600)

    def each(parts: list[float | None]) -> float | None:
        counted = [part for part in parts if part is not None]
        return sum(counted) / answers if answers and parts and len(counted) == len(parts) else None

    return Usage(each(dollars), each(tokens), each(hours), "; ".join(basis))
