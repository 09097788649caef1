"""Who gave the ratings that judges are compared with: people, or a rule that assigned labels.

Every page or caption that names the raters takes its wording from here. The analyses themselves always say "people";
`worded` and `table` replace these words where the ratings are labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from judge.analysis.inputs.bars import PEOPLE_NAME
from judge.analysis.reliability.consistency import PEOPLE
from judge.base.estimate import Estimate
from judge.base.late_pattern import late
from judge.base.printing.tables import Table
from judge.ratings.ratings_table import RatingsTable

NO_CEILING = "no person rated the stories"

# What the analyses say of people, and what holds of labels; longer phrases first.
_LABELLED = (
    ("one more person is undefined with fewer than 2 raters", NO_CEILING),
    ("control and people", "control and one more person"),
    ("judge minus people", "judge minus labels"),
    ("both judge and people rated", "the judge rated and that have labels"),
    ("people: undefined, no story was rated twice", NO_CEILING),
    ("two-way forms are undefined for people", "two-way forms are undefined for labels"),
    ("judge and people", "judge and labels"),
    ("people are", "the labels are"),
    ("people's ratings", "the labels"),
    ("people's", "the labels'"),
)

_OTHERWISE = late(r"\b(with|than|as|of|against|from) people(?![\w/'-])|(?<![\w/-])(people)(?![\w/'-])")
# Columns whose cells are the program's own words: names of judges, systems and criteria are left as they are.
_WORDS = ("diagnostic", "verdict", "sentence")


@dataclass(frozen=True, slots=True)
class Raters:
    """Who or what the ratings come from. `labels_note` describes labels that a rule assigned; else None."""

    labels_note: str | None = None

    @classmethod
    def of(cls, table: RatingsTable, dataset: str) -> Raters:
        """The raters of one dataset's stories."""
        return cls(next((fact.labels_note for fact in table.facts if fact.dataset == dataset), None))

    @classmethod
    def of_all(cls, table: RatingsTable) -> Raters:
        """The raters of all datasets in a table: a rule only if no dataset has human ratings."""
        notes = {fact.labels_note for fact in table.facts}
        return cls(None if None in notes else next(iter(sorted(note for note in notes if note)), None))

    @property
    def sentence(self) -> str:
        """Caption sentence that no person rated the stories, with a space before it; empty where people rated."""
        return f" No person rated these stories: {self.labels_note.partition(';')[0]}." if self.labels_note else ""

    @property
    def noun(self) -> str:
        """Noun for the raters within a sentence: ``people`` or ``the labels``."""
        return "the labels" if self.labels_note else "people"

    @property
    def name(self) -> str:
        """Noun for the raters as the name of a row or in brackets: ``people`` or ``labels``."""
        return "labels" if self.labels_note else PEOPLE

    @property
    def ratings(self) -> str:
        """Noun for the raters' ratings within a sentence: ``people's ratings`` or ``the labels``."""
        return "the labels" if self.labels_note else "people's ratings"

    def worded(self, text: str) -> str:
        """The text of a sentence or title, in which "people" is replaced if the ratings are labels."""
        if not self.labels_note:
            return text
        for people, labels in _LABELLED:
            text = text.replace(people, labels)
        return _OTHERWISE.sub(lambda found: f"{found[1]} the labels" if found[1] else "labels", text)

    def table(self, table: Table) -> Table:
        """The table of an analysis, in which "people" is replaced if the ratings are labels."""
        if not self.labels_note:
            return table
        return replace(
            table,
            title=self.worded(table.title),
            columns=[replace(column, title=self.worded(column.title)) for column in table.columns],
            rows=[{key: self._cell(key, value) for key, value in row.items()} for row in table.rows],
            notes=[self.worded(note) for note in table.notes],
        )

    def _cell(self, key: str, value: Any) -> Any:
        if isinstance(value, Estimate) and value.reason:
            return replace(value, reason=self.worded(value.reason))
        if isinstance(value, str) and (value in (PEOPLE, PEOPLE_NAME) or key in _WORDS):
            return self.worded(value)
        return value
