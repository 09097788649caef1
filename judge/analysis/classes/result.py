"""Result types of the analysis of classes: rows with the p values of their tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from judge.analysis.inputs.candidates import Subject
from judge.analysis.options.signed import Signed
from judge.base.estimate import Estimate

Factor = Literal["author", "system", "dataset"]
Flag = Literal["signs differ", "outside its parts"]

LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class ClassPart:
    """The correlation within one class of stories, e.g. the stories of one system.

    It is not corrected for the smaller variation of ratings within a class.
    """

    name: str
    value: Estimate


@dataclass(frozen=True, slots=True)
class ClassRow:
    """One pooled correlation, and the correlations within the classes of stories that one factor defines.

    Attributes
    ----------
    subject : Subject
        The judge and its criterion.
    factor : ``author``, ``system`` or ``dataset``
        What defines the classes of stories.
    pooled : Estimate
        The correlation over all stories. For the factor ``dataset``, the mean of the datasets' correlations.
    parts : tuple of ClassPart
        The correlation within each class.
    inside : Estimate
        Mean of the correlations within classes, weighted by number of stories. Ratings vary less within a class, which
        lowers correlations; `inside` estimates the mean for the variation of ratings over all stories.
    signs, outside : float or None
        Adjusted p of the two tests; None where there was no test. `signs`: the correlation is above 0 in one class (or
        pooled) and below 0 in another. `outside`: the pooled value differs from `inside`, and no class is shown to
        differ from it even more in the same direction.
    """

    subject: Subject
    factor: Factor
    pooled: Estimate
    parts: tuple[ClassPart, ...]
    inside: Estimate
    signs: float | None = None
    outside: float | None = None

    @property
    def flag(self) -> Flag | None:
        """How the pooled correlation misleads according to the tests; None if no test is significant.

        ``signs differ`` means that classes have correlations of opposite sign, and takes precedence. ``outside its
        parts`` means that the pooled value differs from the correlations within classes.
        """
        if self.signs is not None and self.signs < LEVEL:
            return "signs differ"
        if self.outside is not None and self.outside < LEVEL:
            return "outside its parts"
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Classes(Signed):
    """Pooled correlations and the correlations within classes of stories, by author, system and dataset."""

    rows: tuple[ClassRow, ...]
    statistic: str

    @property
    def flagged(self) -> tuple[ClassRow, ...]:
        """Rows whose pooled correlation misleads according to the tests."""
        return tuple(row for row in self.rows if row.flag)

    @property
    def frame(self) -> pd.DataFrame:
        """A long frame: for each pooled correlation, one row over all stories and one row per class of stories.

        The row over all stories has a null `class`, and holds the p values and the flag.
        """
        return self.signed([dict(row) for row in self._rows()], _COLUMNS)

    def _rows(self) -> Iterator[Iterator[tuple[str, object]]]:
        for row in self.rows:
            yield _flat(row, None, row.pooled)
            yield from (_flat(row, part.name, part.value) for part in row.parts)


_COLUMNS = ["dataset", "run", "judge", "eval_prompt", "criterion", "against", "by", "class", "value", "low", "high"]
_COLUMNS += ["n", "method", "reason", "inside", "signs_p", "outside_p", "flag"]


def _flat(row: ClassRow, name: str | None, value: Estimate) -> Iterator[tuple[str, object]]:
    yield from ((key, label) for key, label in row.subject.labels.items() if key in _COLUMNS)
    yield from (("by", row.factor), ("class", name), ("value", value.value), ("low", value.low), ("high", value.high))
    yield from (("n", value.n), ("method", value.method), ("reason", value.reason))
    if name is None:
        yield from (("inside", row.inside.value), ("signs_p", row.signs), ("outside_p", row.outside))
        yield ("flag", row.flag)
