"""Options that all readers of ratings share, as they are typed."""

from __future__ import annotations

from dataclasses import dataclass

from judge.analysis.options.alternatives import option
from judge.base.errors import DataError
from judge.base.records import Criterion
from judge.base.wording import Advice
from judge.inputs.criteria import load_criteria
from judge.inputs.datasets import Dataset, open_dataset
from judge.inputs.datasets.files.column_words import column_options


@dataclass(frozen=True, kw_only=True)
class NotedWords:
    """Options of a reader whose files are given notes."""

    notes: tuple[str, ...] = option(
        "note printed under every table; may be given several times", default=(), metavar="TEXT"
    )


@dataclass(frozen=True, kw_only=True)
class TableWords(NotedWords):
    """Options of a reader whose files hold ratings."""

    dataset: str | None = option("dataset whose texts, systems and people's ratings are joined by the story's id")
    criteria: str | None = option("criteria set that gives abbreviations, scales and labels")
    columns: tuple[str, ...] = option(
        "column (of a log: path in a record) that holds a field; FIELD==TEXT is a constant",
        default=(),
        metavar="FIELD=COLUMN",
    )
    labels: tuple[str, ...] = option(
        "labels of scores that are words, lowest first", default=(), metavar="[CRITERION=]WORD,WORD"
    )
    leave_out: tuple[str, ...] = option(
        "columns of a table, or criteria of a log, that are left out", default=(), metavar="NAME,..."
    )

    @property
    def known_criteria(self) -> tuple[Criterion, ...]:
        """The criteria of the set that was named."""
        return tuple(load_criteria(self.criteria).criteria) if self.criteria else ()

    @property
    def column_map(self) -> dict[str, str]:
        """Field -> column, with the labels."""
        return column_options(self.columns, self.labels) or {}

    @property
    def left_out(self) -> list[str]:
        """Names of what is left out."""
        return [name.strip() for names in self.leave_out for name in names.split(",")]

    def opened(self) -> Dataset | None:
        """The dataset that was named. If it is a table that needs a column map, the error's hint says how to register
        the table and its columns.
        """
        if self.dataset is None:
            return None
        try:
            return open_dataset(self.dataset, criteria=self.known_criteria)
        except DataError as error:
            if error.hint and "columns" in error.hint:
                words = "give the table a name with its columns: judge data add NAME {} OPTIONS; {}"
                error.hint = Advice(words, self.dataset, error.hint)
            raise
